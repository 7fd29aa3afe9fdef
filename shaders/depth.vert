// The draw stage of passes that write only depth. It reads positions and influences.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/draw.glsl"

void main() {
    uint instance = throng_instance(list, gl_InstanceIndex);
    vec3 position = throng_deform_position(instance, primitive, uint(gl_VertexIndex));
    gl_Position = place(instance, throng_clip(position));
}
