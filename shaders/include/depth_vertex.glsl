// The draw stage of passes that write only depth. It reads positions and influences.
#include "draw.glsl"

void main() {
    uint instance = drawn();
    vec3 position = throng_deform_position(instance, primitive, uint(gl_VertexIndex));
    gl_Position = place(instance, position);
}
