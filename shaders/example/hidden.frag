// Shades in red: who is hidden, with --hidden-view of the crowd example.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/throng_surface.glsl"

layout(location = 0) out vec4 out_color;

void main() {
    out_color = vec4(vec3(0.9, 0.05, 0.03) * (0.6 + 0.4 * throng_in_normal.y), 1.0);
}
