// Reads everything that plain.vert passes on but the tangent and the position.
#version 460

layout(location = 0) in vec3 in_normal;
layout(location = 2) in vec2 in_uv;

layout(location = 0) out vec4 out_color;

void main() {
    out_color = vec4(in_normal, 1.0) + vec4(in_uv, 0.0, 0.0);
}
