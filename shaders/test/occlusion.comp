// Test only: which volumes are hidden.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer Rows { vec4 view_rows[]; };
layout(set = 0, binding = 1, std430) readonly buffer Pyramids { float pyramids[]; };
// Four rows each: the center and the record's number, then half edges, or a radius.
layout(set = 0, binding = 2, std430) readonly buffer Volumes { vec4 volumes[]; };
layout(set = 0, binding = 3, std430) writeonly buffer Hidden { uint hidden[]; };

#include "../include/occlusion.glsl"

layout(push_constant) uniform Push { uint count; };

const uint OCCLUSION_ROWS = 21u;

void main() {
    uint volume = gl_GlobalInvocationID.x;
    if (volume >= count) {
        return;
    }
    vec4 center = volumes[volume * 4u], a = volumes[volume * 4u + 1u];
    vec4 b = volumes[volume * 4u + 2u], c = volumes[volume * 4u + 3u];
    uint at = floatBitsToUint(center.w) * OCCLUSION_ROWS;
    mat3 edges = mat3(a.xyz, b.xyz, c.xyz);
    bool found = depth_hides(at, center.xyz, edges, a.w > 0.0 ? a.w : -1.0);
    hidden[volume] = found ? 1u : 0u;
}
