// The least for a vertex with normal, tangent and texture coordinates: see include/plain.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/plain.glsl"

layout(push_constant) uniform View { mat4 clip_from_world; };

layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec4 out_tangent;
layout(location = 2) out vec2 out_uv;
layout(location = 3) out vec3 out_position;

void main() {
    PlainInstance instance = instances[gl_InstanceIndex];
    uvec4 a = vertices[2 * gl_VertexIndex], b = vertices[2 * gl_VertexIndex + 1];
    vec4 skin[3] = blended(instance.palette, b);
    vec3 position = point(instance.world_from_model, point(skin, uintBitsToFloat(a.xyz)));
    out_normal = normalize(turn(instance.world_from_model, turn(skin, octahedral(a.w))));
    vec3 tangent = turn(instance.world_from_model, turn(skin, octahedral(b.x)));
    out_tangent = vec4(normalize(tangent), 1.0);
    out_uv = unpackHalf2x16(b.w);
    out_position = position;
    gl_Position = clip_from_world * vec4(position, 1.0);
}
