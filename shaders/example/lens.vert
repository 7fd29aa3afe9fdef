// The views of examples/viewer that show data instead of materials.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/throng.glsl"

layout(push_constant) uniform Draw {
    uint primitive;
    uint flip;   // see throng_faces
    uint joint;  // the joint whose weights are shown
    uint mode;   // of the fragment shader
};

// Set 1: the joint of each entry of the character's palette.
layout(set = 1, binding = 0, std430) readonly buffer Joints { uint joint_of_entry[]; };

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out float out_weight;
layout(location = 3) out float out_influences;

// The joint's weight, and the number of influences with a weight above 0.
vec2 weight_and_influences(const uint vertex) {
    uint first = throng_primitives[primitive].palette_offset;
    uint most = throng_primitives[primitive].influence_count;
    if (most == 1u) {
        uint entry = first + throng_joints(primitive, vertex, 0u).x;
        return vec2(joint_of_entry[entry] == joint ? 1.0 : 0.0, 1.0);
    }
    vec2 sum = vec2(0.0);
    for (uint block = 0u; block * 4u < most; ++block) {
        uvec4 joints = throng_joints(primitive, vertex, block);
        vec4 weights = throng_weights(primitive, vertex, block);
        for (uint i = 0u; i < 4u; ++i) {
            if (weights[i] > 0.0) {
                bool is_joint = joint_of_entry[first + joints[i]] == joint;
                sum += vec2(is_joint ? weights[i] : 0.0, 1.0);
            }
        }
    }
    return sum;
}

void main() {
    uint instance = throng_visible[gl_InstanceIndex];
    uint vertex = uint(gl_VertexIndex);
    ThrongVertex deformed = throng_deform(instance, primitive, vertex);
    vec2 shown = weight_and_influences(vertex);
    out_position = deformed.position;
    out_normal = deformed.normal;
    out_weight = shown.x;
    out_influences = shown.y;
    // All vertices of an instance that this draw leaves out meet in one point.
    gl_Position = throng_faces(instance, flip)
                      ? throng_clip(deformed.position)
                      : vec4(0.0, 0.0, 0.0, 1.0);
}
