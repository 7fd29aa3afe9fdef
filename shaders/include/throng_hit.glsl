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
// In a closest-hit shader, with its hit attribute:
//
//   ThrongHit hit = throng_hit(gl_InstanceCustomIndexEXT, gl_GeometryIndexEXT, gl_PrimitiveID,
//                              barycentrics);
//
// Candidates are triangles of masked materials and of parts that can be hidden. An any-hit shader
// ignores those that are not met, and a loop over a ray query confirms the others. Here the
// textures of all characters are in an array of the engine (Crowd::ray_textures), six for each
// material, and the place of a character's first one is its CharacterDesc::sbt_offset:
//
//   while (rayQueryProceedEXT(query)) {
//       uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, false);
//       uint geometry = rayQueryGetIntersectionGeometryIndexEXT(query, false);
//       if (!throng_ray_accepts(index, geometry)) {
//           continue;
//       }
//       uint triangle = rayQueryGetIntersectionPrimitiveIndexEXT(query, false);
//       ThrongMask mask = throng_ray_mask(index, geometry, triangle,
//                                         rayQueryGetIntersectionBarycentricsEXT(query, false));
//       float alpha = mask.alpha;
//       if (mask.cutoff > 0.0) {
//           uint first = rayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetEXT(query,
//                                                                                         false);
//           uint at = first + mask.material * 6u + THRONG_BASE_COLOR;
//           alpha *= textureLod(textures[nonuniformEXT(at)], mask.uv, 0.0).a;
//       }
//       if (alpha >= mask.cutoff) {
//           rayQueryConfirmIntersectionEXT(query);
//       }
//   }

#ifndef THRONG_HIT_GLSL
#define THRONG_HIT_GLSL

#ifndef THRONG_HIT_SET
#define THRONG_HIT_SET 1
#endif
#define THRONG_SET THRONG_HIT_SET
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

// The person that a record is of: the table of its character, the palette of the structure, its
// morph weights, what follows in the table for the level of the structure, the error in metres of
// level and pose, and whether that palette is not the one that is drawn.
struct ThrongMet {
    uvec2 table;
    uvec2 palette;
    uint morphs;
    uint geometries;
    float error_m;
    uint approximated;
};

layout(set = THRONG_HIT_SET, binding = 0, std430) readonly buffer ThrongAllMet {
    uvec2 throng_met_view;   // device address of the view
    uint throng_met_hidden;  // where the first actor says what it hides
    uint throng_met_unused;
    ThrongMet throng_met[];
};

uvec2 throng_hit_mesh;
#define THRONG_MESH_ADDRESS throng_hit_mesh
#define THRONG_VIEW_ADDRESS throng_met_view
#include "throng.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer ThrongMaterials {
    ThrongMaterial all[];
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
    vec4 color;     // linear: material x vertex colour x tints, without textures
    vec3 tints[2];  // 1 without a tint mask. Otherwise `color` has no tints, and the engine
                    // multiplies it by throng_masked_tint(tints, texel of THRONG_TINT_MASK)
    uint user;      // the engine's own word of the instance
    uint material;  // of the character
    uint primitive;
    uint record;    // of the material, as throng_material has it
    uvec2 mesh;     // device address of the character's mesh buffer
};

// What says whether a candidate is a hole of a masked material.
struct ThrongMask {
    uint material;  // of the character
    vec2 uv;        // of the texture of its base colour
    float alpha;    // without that texture
    float cutoff;   // 0 if the material has no mask
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

// The number of a material among those of its character. `record` is as throng_material has it.
uint throng_hit_material(const ThrongMet met, const uint record) {
    return record - ThrongWords(met.table).words[THRONG_TABLE_MATERIAL];
}

// The coordinates of a texture of a material, from both sets.
vec2 throng_hit_turn(const uint record, const uint which, const vec4 sets) {
    ThrongTexture own = ThrongMaterials(throng_hit_mesh).all[record].textures[which];
    vec2 uv = (own.uv_set & THRONG_UV_SECOND) != 0u ? sets.zw : sets.xy;
    mat2 turn = mat2(own.uv_matrix.xy, own.uv_matrix.zw);
    return (own.uv_set & THRONG_UV_TRANSFORMED) != 0u ? turn * uv + own.uv_offset : uv;
}

// The coordinates of a texture of the material that was met: THRONG_BASE_COLOR and so on.
vec2 throng_hit_uv(const ThrongHit hit, const uint which) {
    throng_hit_mesh = hit.mesh;
    return throng_hit_turn(hit.record, which, vec4(hit.uv, hit.uv1));
}

// False if a person hides what a ray would meet.
bool throng_ray_accepts(const uint custom_index, const uint geometry) {
    uint instance = custom_index & THRONG_INDEX_BITS;
    ThrongMet met = throng_met[instance];
    uint bit = throng_hit_geometry(met, geometry).y;
    return bit == THRONG_NONE
           || !throng_hides(instance, throng_met_hidden + (bit >> 5), 1u << (bit & 31u));
}

// The mask of what a ray would meet. The texture of the base colour is the engine's to sample: see
// the loop above.
ThrongMask throng_ray_mask(const uint custom_index, const uint geometry, const uint triangle,
                           const vec2 barycentrics) {
    uint instance = custom_index & THRONG_INDEX_BITS;
    ThrongMet met = throng_met[instance];
    throng_hit_begin(met);
    uint record = throng_material(instance, geometry);
    ThrongMask mask = ThrongMask(throng_hit_material(met, record), vec2(0.0), 1.0, 0.0);
    if ((ThrongMaterials(throng_hit_mesh).all[record].variant & THRONG_ALPHA_MASK) == 0u) {
        return mask;
    }
    uvec3 vertices = throng_hit_vertices(throng_hit_geometry(met, geometry).x, triangle);
    vec3 weights = vec3(1.0 - barycentrics.x - barycentrics.y, barycentrics);
    vec4 sets = vec4(0.0);
    mask.alpha = 0.0;
    for (uint corner = 0u; corner < 3u; ++corner) {
        uint vertex = vertices[corner];
        sets += vec4(throng_uv(geometry, vertex), throng_uv1(geometry, vertex)) * weights[corner];
        mask.alpha += throng_base(instance, geometry, vertex).a * weights[corner];
    }
    mask.uv = throng_hit_turn(record, THRONG_BASE_COLOR, sets);
    mask.cutoff = ThrongMaterials(throng_hit_mesh).all[record].alpha_cutoff;
    return mask;
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
    ThrongHit hit = ThrongHit(vec3(0.0), vec3(0.0), vec4(0.0), vec2(0.0), vec2(0.0), vec4(0.0),
                              vec3[2](vec3(0.0), vec3(0.0)), 0u, 0u, geometry,
                              throng_material(instance, geometry), throng_hit_mesh);
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
        vec3 tints[2];
        hit.color += throng_base(instance, geometry, vertex, tints) * weight;
        hit.tints[0] += tints[0] * weight;
        hit.tints[1] += tints[1] * weight;
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
    hit.material = throng_hit_material(met, hit.record);
    return hit;
}

// Where the surface that a ray has met was in the last frame of the view's history, in the world
// space of that frame. Without a history, or if the person is new, it is where it is now. A person
// whom rays meet in another pose than the one that is drawn moves without changing that pose.
vec3 throng_hit_previous(const uint custom_index, const uint geometry, const uint triangle,
                         const vec2 barycentrics) {
    uint instance = custom_index & THRONG_INDEX_BITS;
    ThrongMet met = throng_met[instance];
    throng_hit_begin(met);
    uvec3 vertices = throng_hit_vertices(throng_hit_geometry(met, geometry).x, triangle);
    vec3 weights = vec3(1.0 - barycentrics.x - barycentrics.y, barycentrics);
    ThrongPast past = throng_previous(instance);
    if (!past.pose.past || met.approximated != 0u) {
        past.pose = ThrongPose(met.palette, met.morphs, false);
    }
    if (met.morphs == THRONG_NONE) {
        // Structures of shared poses have no morph targets.
        past.pose.morphs = THRONG_NONE;
    }
    vec3 position = vec3(0.0);
    for (uint corner = 0u; corner < 3u; ++corner) {
        position += throng_skin_position(past.pose, geometry, vertices[corner]) * weights[corner];
    }
    return throng_transform_point(past.world_from_model, position);
}

#endif
