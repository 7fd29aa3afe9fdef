// The views of examples/viewer that show data instead of materials.
#version 460
#extension GL_GOOGLE_include_directive : require
#define THRONG_NO_INSTANCES
#include "include/throng.glsl"

const uint NORMALS = 0u;
const uint WEIGHTS = 1u;

layout(push_constant) uniform Draw {
    uint primitive;
    uint flip;
    uint joint;
    uint mode;  // NORMALS, WEIGHTS, or else influences
};

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in float in_weight;
layout(location = 3) in float in_influences;

layout(location = 0) out vec4 out_color;

// Colours are linear.
vec3 heat(const float weight) {
    const vec3 colors[5] = vec3[](vec3(0.01, 0.02, 0.12), vec3(0.0, 0.15, 0.8),
                                  vec3(0.0, 0.6, 0.15), vec3(0.95, 0.75, 0.0),
                                  vec3(0.9, 0.03, 0.0));
    float at = clamp(weight, 0.0, 1.0) * 4.0;
    int below = min(int(at), 3);
    return mix(colors[below], colors[below + 1], at - float(below));
}

vec3 influences(const float count) {
    const vec3 colors[6] = vec3[](vec3(0.4, 0.4, 0.4), vec3(0.02, 0.15, 0.7),
                                  vec3(0.0, 0.5, 0.1), vec3(0.9, 0.7, 0.0),
                                  vec3(0.9, 0.25, 0.0), vec3(0.8, 0.0, 0.05));
    float at = count <= 4.0 ? count - 1.0 : count <= 8.0 ? 4.0 : 5.0;
    return colors[clamp(int(at + 0.5), 0, 5)];
}

void main() {
    // A mesh without normals is flat.
    vec3 normal = in_normal;
    vec3 to_eye = normalize(THRONG_EYE.eye.xyz - in_position * THRONG_EYE.eye.w);
    if (dot(normal, normal) < 0.25) {
        normal = cross(dFdx(in_position), dFdy(in_position));
        normal *= dot(normal, to_eye) < 0.0 ? -1.0 : 1.0;
    }
    normal = normalize(normal);
    if (mode == NORMALS) {
        vec3 encoded = normal * 0.5 + 0.5;
        // The colours of a normal map, which are not sRGB.
        out_color = vec4(pow(max(encoded, vec3(0.0)), vec3(2.2)), 1.0);
        return;
    }
    vec3 color = mode == WEIGHTS ? heat(in_weight) : influences(in_influences);
    out_color = vec4(color * (0.45 + 0.55 * abs(dot(normal, to_eye))), 1.0);
}
