// throng: the hits of rays.
//
// Public: include it in a shader that traces rays against a crowd, with ray queries or in a ray
// tracing pipeline. Set THRONG_HIT_SET is RayCrowd::set, of the layout Crowd::ray_set_layout. A
// shader may define before:
//   THRONG_HIT_SET  number of the set (default 1)
//
// All functions take the instance's custom index of a hit or a candidate, in the lower 20 bits. The
// others are the engine's. The file declares what throng.glsl does, so a shader includes one of
// them.
//
// In a loop over candidates, which are triangles of masked materials and of parts that can be
// hidden:
//
//   while (rayQueryProceedEXT(query)) {
//       uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, false);
//       uint geometry = rayQueryGetIntersectionGeometryIndexEXT(query, false);
//       if (throng_ray_accepts(index, geometry)) {
//           rayQueryConfirmIntersectionEXT(query);
//       }
//   }

#ifndef THRONG_HIT_GLSL
#define THRONG_HIT_GLSL

#ifndef THRONG_HIT_SET
#define THRONG_HIT_SET 1
#endif
#define THRONG_SET THRONG_HIT_SET
#define THRONG_NO_VIEW
#define THRONG_NO_RING
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

uvec2 throng_hit_mesh;
#define THRONG_MESH_ADDRESS throng_hit_mesh
#include "throng.glsl"

// The person that a record is of: the table of its character, the palette of the structure, its
// morph weights, what follows in the table for the level of the structure, the error in metres of
// level and pose, and where its actor says what it hides.
struct ThrongMet {
    uvec2 table;
    uvec2 palette;
    uint morphs;
    uint geometries;
    float error_m;
    uint hidden;
};

layout(set = THRONG_HIT_SET, binding = 0, std430) readonly buffer ThrongAllMet {
    ThrongMet throng_met[];
};

const uint THRONG_INDEX_BITS = 0xFFFFFu;
// In the table of a character.
const uint THRONG_TABLE_MESH = 8u, THRONG_TABLE_MATERIAL = 14u;

// A hit, in world space.
struct ThrongHit {
    vec3 position;
    vec3 normal;    // unit, smooth, of the side that the triangle faces
    vec4 tangent;   // unit, and the sign of the bitangent; 0 if there is none
    vec2 uv;
    vec2 uv1;
    vec4 color;     // linear: material x vertex colour x tint, without textures
    uint user;      // the engine's own word of the instance
    uint material;  // of the character
    uint primitive;
};

// Words of a geometry: the first byte of its indices, which is odd if they have 16 bits, and the
// bit of its part that instances hide, or THRONG_NONE.
uvec2 throng_hit_geometry(const ThrongMet met, const uint geometry) {
    uint at = met.geometries + geometry * 2u;
    return uvec2(ThrongWords(met.table).words[at], ThrongWords(met.table).words[at + 1u]);
}

void throng_hit_begin(const ThrongMet met) {
    throng_hit_mesh = uvec2(ThrongWords(met.table).words[THRONG_TABLE_MESH],
                            ThrongWords(met.table).words[THRONG_TABLE_MESH + 1u]);
}

// The vertices of a triangle.
uvec3 throng_hit_vertices(const uint first_byte, const uint triangle) {
    uvec3 vertices;
    bool narrow = (first_byte & 1u) != 0u;
    uint byte = (first_byte & ~1u) + triangle * (narrow ? 6u : 12u);
    for (uint corner = 0u; corner < 3u; ++corner) {
        uint at = byte + corner * (narrow ? 2u : 4u);
        uint word = throng_mesh[at >> 2];
        vertices[corner] = narrow ? word >> ((at & 2u) * 8u) & 0xFFFFu : word;
    }
    return vertices;
}

// False if a person hides what a ray would meet. Textures of masked materials are the engine's.
bool throng_ray_accepts(const uint custom_index, const uint geometry) {
    uint instance = custom_index & THRONG_INDEX_BITS;
    ThrongMet met = throng_met[instance];
    uint bit = throng_hit_geometry(met, geometry).y;
    return bit == THRONG_NONE
           || !throng_hides(instance, met.hidden + (bit >> 5), 1u << (bit & 31u));
}

// Metres along a ray by which it should start away from the surface of a person that was drawn, so
// that it does not meet that person at once: what rays meet may differ from it by that much.
float throng_ray_start(const uint custom_index) {
    return throng_met[custom_index & THRONG_INDEX_BITS].error_m;
}

// The surface that a ray has met: geometry, triangle and barycentrics are those of the hit.
ThrongHit throng_hit(const uint custom_index, const uint geometry, const uint triangle,
                     const vec2 barycentrics) {
    uint instance = custom_index & THRONG_INDEX_BITS;
    ThrongMet met = throng_met[instance];
    throng_hit_begin(met);
    uvec3 vertices = throng_hit_vertices(throng_hit_geometry(met, geometry).x, triangle);
    vec3 weights = vec3(1.0 - barycentrics.x - barycentrics.y, barycentrics);
    ThrongPose pose = ThrongPose(met.palette, met.morphs, false);
    vec3 position = vec3(0.0), normal = vec3(0.0), corners[3];
    ThrongHit hit = ThrongHit(vec3(0.0), vec3(0.0), vec4(0.0), vec2(0.0), vec2(0.0), vec4(0.0), 0u,
                              0u, geometry);
    for (uint corner = 0u; corner < 3u; ++corner) {
        uint vertex = vertices[corner];
        float weight = weights[corner];
        ThrongVertex own = throng_skin(pose, geometry, vertex);
        corners[corner] = own.position;
        position += own.position * weight;
        normal += own.normal * weight;
        hit.tangent += own.tangent * weight;
        hit.uv += throng_uv(geometry, vertex) * weight;
        hit.uv1 += throng_uv1(geometry, vertex) * weight;
        hit.color += throng_base(instance, geometry, vertex) * weight;
    }
    if (!throng_has(geometry, THRONG_HAS_NORMALS)) {
        normal = cross(corners[1] - corners[0], corners[2] - corners[0]);
    }
    vec4 world[3] = throng_instances[instance].world_from_model;
    hit.position = throng_transform_point(world, position);
    hit.normal = throng_unit(vec3(dot(throng_instances[instance].normal_x, normal),
                                  dot(throng_instances[instance].normal_y, normal),
                                  dot(throng_instances[instance].normal_z, normal)));
    hit.tangent.xyz = throng_unit(throng_transform_direction(world, hit.tangent.xyz));
    hit.tangent.w = hit.tangent.w < 0.0 ? -throng_instances[instance].side
                                        : throng_instances[instance].side;
    hit.tangent *= throng_has(geometry, THRONG_HAS_TANGENTS) ? 1.0 : 0.0;
    hit.user = throng_instances[instance].user;
    hit.material = throng_primitives[geometry].material
                   - ThrongWords(met.table).words[THRONG_TABLE_MATERIAL];
    return hit;
}

#endif
