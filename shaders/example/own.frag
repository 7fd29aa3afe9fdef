// Colours by direction: examples/own_pipeline.rs.
#version 460

layout(location = 0) in vec3 in_normal;
layout(location = 1) in vec3 in_color;

layout(location = 0) out vec4 out_color;

void main() {
    vec3 normal = normalize(in_normal);
    float light = 0.55 + 0.45 * dot(normal, normalize(vec3(0.5, 0.7, 0.5)));
    out_color = vec4(in_color * light + 0.12 * (normal * 0.5 + 0.5), 1.0);
}
