// A vertex shader of an engine that uses throng.glsl with a camera of its own:
// examples/own_pipeline.rs.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Draw {
    mat4 clip_from_world;
    uint primitive;
};

// What the primitives of this pipeline have. The compiler leaves out the rest.
layout(constant_id = 0) const uint variant = 0xFFFFFFFFu;
#define THRONG_VARIANT variant

// The camera is in the push constants, so set 0 needs no view. All palettes are at device
// addresses.
#define THRONG_NO_VIEW
#define THRONG_NO_RING
#include "include/throng.glsl"

layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec3 out_color;

void main() {
    uint instance = uint(gl_InstanceIndex);
    uint vertex = uint(gl_VertexIndex);
    ThrongVertex deformed = throng_deform(instance, primitive, vertex);
    out_normal = deformed.normal;
    out_color = throng_base(instance, primitive, vertex).rgb;
    gl_Position = throng_transform_clip(clip_from_world, deformed.position);
}
