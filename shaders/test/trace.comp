// Test only: what rays meet first. Candidates count. Textures of masks have stripes of alpha 0.2.
#version 460
#extension GL_EXT_ray_query : require
#extension GL_GOOGLE_include_directive : require

#include "../include/throng_hit.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) uniform accelerationStructureEXT people;
// Two rows each: origin, and the mask; direction, and the largest distance.
layout(set = 0, binding = 1, std430) readonly buffer Rays { vec4 rays[]; };
// Distance or -1, custom index, geometry, triangle; then candidates, offset of the binding table,
// whether the front face was met, and the number of the record. Then what throng_hit says:
// position, normal, texture coordinates, colour, where a ray should start, user word, material, the
// position in the frame before, and the coordinates of the texture of the base colour.
layout(set = 0, binding = 2, std430) writeonly buffer Hits { uint hits[]; };

layout(push_constant) uniform Push { uint count; };

void main() {
    uint ray = gl_GlobalInvocationID.x;
    if (ray >= count) {
        return;
    }
    vec4 origin = rays[ray * 2u], direction = rays[ray * 2u + 1u];
    rayQueryEXT query;
    rayQueryInitializeEXT(query, people, gl_RayFlagsNoneEXT, floatBitsToUint(origin.w), origin.xyz,
                          0.0, direction.xyz, direction.w);
    uint candidates = 0u;
    while (rayQueryProceedEXT(query)) {
        ++candidates;
        uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, false);
        uint geometry = rayQueryGetIntersectionGeometryIndexEXT(query, false);
        if (!throng_ray_accepts(index, geometry)) {
            continue;
        }
        uint triangle = rayQueryGetIntersectionPrimitiveIndexEXT(query, false);
        ThrongMask mask = throng_ray_mask(index, geometry, triangle,
                                          rayQueryGetIntersectionBarycentricsEXT(query, false));
        if (mask.alpha * (fract(mask.uv.x) < 0.5 ? 0.2 : 1.0) >= mask.cutoff) {
            rayQueryConfirmIntersectionEXT(query);
        }
    }
    uint at = ray * 28u;
    bool met = rayQueryGetIntersectionTypeEXT(query, true)
               == gl_RayQueryCommittedIntersectionTriangleEXT;
    hits[at + 4u] = candidates;
    if (!met) {
        hits[at] = floatBitsToUint(-1.0);
        return;
    }
    hits[at] = floatBitsToUint(rayQueryGetIntersectionTEXT(query, true));
    uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, true);
    uint geometry = rayQueryGetIntersectionGeometryIndexEXT(query, true);
    uint triangle = rayQueryGetIntersectionPrimitiveIndexEXT(query, true);
    vec2 barycentrics = rayQueryGetIntersectionBarycentricsEXT(query, true);
    hits[at + 1u] = index;
    hits[at + 2u] = geometry;
    hits[at + 3u] = triangle;
    hits[at + 5u] = rayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetEXT(query, true);
    hits[at + 6u] = rayQueryGetIntersectionFrontFaceEXT(query, true) ? 1u : 0u;
    hits[at + 7u] = uint(rayQueryGetIntersectionInstanceIdEXT(query, true));
    ThrongHit hit = throng_hit(index, geometry, triangle, barycentrics);
    float numbers[12] = float[](hit.position.x, hit.position.y, hit.position.z, hit.normal.x,
                                hit.normal.y, hit.normal.z, hit.uv.x, hit.uv.y, hit.color.r,
                                hit.color.g, hit.color.b, throng_ray_start(index));
    for (uint i = 0u; i < 12u; ++i) {
        hits[at + 8u + i] = floatBitsToUint(numbers[i]);
    }
    hits[at + 20u] = hit.user;
    hits[at + 21u] = hit.material;
    vec3 past = throng_hit_previous(index, geometry, triangle, barycentrics);
    for (uint i = 0u; i < 3u; ++i) {
        hits[at + 22u + i] = floatBitsToUint(past[i]);
    }
    vec2 uv = throng_hit_uv(hit, THRONG_BASE_COLOR);
    hits[at + 25u] = floatBitsToUint(uv.x);
    hits[at + 26u] = floatBitsToUint(uv.y);
}
