// Test only: a shading of an engine's own, with push constants and the instance's word.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_PUSH layout(offset = 32) vec4 pushed;
#include "include/throng_surface.glsl"

layout(location = 0) out vec4 out_color;

void main() {
    float user = float(throng_in_user & 0xFFu) / 255.0;
    out_color = vec4(user, pushed.y, throng_surface().base_color.b, 1.0);
}
