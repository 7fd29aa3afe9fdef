// Test only: a shading of an engine's own that depends on the eye.
#include "include/throng_surface.glsl"

layout(location = 0) out vec4 out_color;

void main() {
    vec3 to_eye = normalize(throng_to_eye());
    out_color = vec4(to_eye * 0.5 + 0.5, 1.0);
}
