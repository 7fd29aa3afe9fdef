// throng: the surface of a character, for fragment shaders.
//
// Public: include it in a fragment shader of your own (MaterialDesc) and call throng_surface().
//
// Set 0 is throng's. Sets 1 and up are yours. A shader may define these before it includes the
// file:
//   THRONG_SET        number of the set (default 0)
//   THRONG_BINDLESS   descriptor indexing is enabled, and all textures of a character are in one
//                     array (SetLayout::is_bindless). It needs GL_EXT_nonuniform_qualifier.
//   THRONG_MULTIVIEW  the pass has a view mask (PassDesc::view_mask): THRONG_EYE is the eye of
//                     gl_ViewIndex. Without it, THRONG_EYE is the view.
//   THRONG_PUSH       members of your own push constants, from offset 16 on:
//                     #define THRONG_PUSH layout(offset = 32) vec4 rim;
//   THRONG_NO_TINTS   throng_base_color() leaves out what a tint mask adds, and the file does not
//                     declare its inputs
//   THRONG_NO_VARIANTS  the file does not declare the input of material variants: for vertex
//                     shaders of your own that do not write it. The material is then that of the
//                     primitive.
//   THRONG_PRIMITIVE  the index of the primitive, the same for a whole draw. By default it is the
//                     first word of the push constants, where the passes of a crowd have it. If you
//                     define it, the file declares no push constants.
//
// Specialization constant 1000 is throng's, all others are yours. A crowd sets it for each material
// to what that material has, and the compiler leaves out the rest. In a pipeline of your own, set
// it to PrimitiveDraw::surface, or leave it out: then everything is read from the material.
//
// Instances, palettes and deformed vertices are for vertex and compute shaders: the file leaves
// them out (THRONG_NO_INSTANCES).

#ifndef THRONG_SURFACE_GLSL
#define THRONG_SURFACE_GLSL

#define THRONG_NO_INSTANCES
#include "throng.glsl"

// The materials in the mesh buffer.
layout(set = THRONG_SET, binding = 1, std430) readonly buffer ThrongMaterials {
    ThrongMaterial throng_materials[];
};
#ifdef THRONG_BINDLESS
layout(set = THRONG_SET, binding = 5) uniform sampler2D throng_textures[];
#else
layout(set = THRONG_SET, binding = 5) uniform sampler2D throng_textures[6];
#endif

// By default THRONG_NONE: what a surface has is read from the material and the primitive.
layout(constant_id = 1000) const uint throng_surface_constant = 0xFFFFFFFFu;

// False in the pipelines of materials without a mask, which then contain no discard.
const bool throng_masked = (throng_surface_constant & THRONG_ALPHA_MASK) != 0u;

#ifndef THRONG_PUSH
#define THRONG_PUSH
#endif
#ifndef THRONG_PRIMITIVE
layout(push_constant) uniform ThrongDraw {
    layout(offset = 0) uint throng_primitive;
    layout(offset = 8) uint throng_level;  // the level of detail of the draw, 0 for the full one
    THRONG_PUSH
};
#define THRONG_PRIMITIVE throng_primitive
#endif

layout(location = 0) in vec3 throng_in_position;   // world
layout(location = 1) in vec3 throng_in_normal;     // world
layout(location = 2) in vec4 throng_in_tangent;    // world; zero if the primitive has none
layout(location = 3) in vec4 throng_in_uv;         // both sets
layout(location = 4) in vec4 throng_in_color;      // linear: material x vertex colour x tints
layout(location = 5) flat in uint throng_in_user;  // ThrongInstance.user
#ifndef THRONG_NO_TINTS
// With a tint mask, throng_in_color has no tints but their alpha, and these are for
// throng_masked_tint. Otherwise they are 1.
layout(location = 6) in vec3 throng_in_tint;
layout(location = 7) in vec3 throng_in_second_tint;
#endif
#ifndef THRONG_NO_VARIANTS
// The material in draws of several (THRONG_MANY), as throng_material has it.
layout(location = 8) flat in uint throng_in_material;
#endif

// A point of a surface: everything linear, in the world.
struct ThrongSurface {
    vec3 position;
    vec3 normal;     // unit, towards the viewer
    vec3 to_eye;     // unit
    vec4 base_color; // alpha: 1 where the material is opaque
    vec3 emissive;
    float metallic;
    float roughness;
    float occlusion;
    bool unlit;
};

// The material is read member by member: it has 272 bytes.
uint throng_material_index() {
#ifndef THRONG_NO_VARIANTS
    if ((throng_surface_constant & THRONG_MANY) != 0u && throng_surface_constant != THRONG_NONE) {
        return throng_in_material;
    }
#endif
    return throng_primitives[THRONG_PRIMITIVE].material;
}
#define THRONG_MATERIAL throng_materials[throng_material_index()]

bool throng_material_has(const uint flag) {
    if ((throng_surface_constant & flag) == 0u) {
        return false;
    }
    return (throng_surface_constant & THRONG_MANY) == 0u || (THRONG_MATERIAL.variant & flag) != 0u;
}

bool throng_surface_has_normals() {
    if (throng_surface_constant != THRONG_NONE) {
        return (throng_surface_constant & THRONG_SURFACE_NORMALS) != 0u;
    }
    return throng_has(THRONG_PRIMITIVE, THRONG_HAS_NORMALS);
}

// True also if it is not known.
bool throng_surface_may_have(const uint flag) {
    return (throng_surface_constant & flag) != 0u;
}

bool throng_is_transformed(const uint which) {
    return throng_material_has(THRONG_TURNS_UVS)
           && (THRONG_MATERIAL.textures[which].uv_set & THRONG_UV_TRANSFORMED) != 0u;
}

// Texture coordinates before the offset, from both sets. Those that need no transform are used as
// they are, because in helper invocations lavapipe reads zeros from buffers.
vec2 throng_turn_uv(const uint which, const vec4 sets) {
    vec2 uv = sets.xy;
    if (throng_material_has(THRONG_SECOND_UVS)) {
        uint uv_set = THRONG_MATERIAL.textures[which].uv_set;
        uv = mix(sets.xy, sets.zw, bvec2((uv_set & THRONG_UV_SECOND) != 0u));
    }
    if (throng_material_has(THRONG_TURNS_UVS)) {
        vec4 matrix = THRONG_MATERIAL.textures[which].uv_matrix;
        vec2 turned = mat2(matrix.xy, matrix.zw) * uv;
        uv = mix(uv, turned, bvec2(throng_is_transformed(which)));
    }
    return uv;
}

vec2 throng_texture_uv(const uint which) {
    vec2 uv = throng_turn_uv(which, throng_in_uv);
    if (throng_material_has(THRONG_TURNS_UVS)) {
        uv += THRONG_MATERIAL.textures[which].uv_offset;
    }
    return uv;
}

// The change of the texture coordinates from pixel to pixel, taken before all branches.
vec4 throng_uv_dx = dFdx(throng_in_uv);
vec4 throng_uv_dy = dFdy(throng_in_uv);

// With the change stated where the coordinates are transformed: helper invocations on lavapipe do
// not transform theirs, and the level of detail would be wrong at the edges of triangles.
#define THRONG_SAMPLE_FROM(image, which) \
    (throng_is_transformed(which) \
        ? textureGrad(image, throng_texture_uv(which), throng_turn_uv(which, throng_uv_dx), \
                      throng_turn_uv(which, throng_uv_dy)) \
        : texture(image, throng_texture_uv(which)))

bool throng_has_texture(const uint which) {
    return throng_material_has(1u << (THRONG_TEXTURE_SHIFT + which));
}

// A texture of the material; white if it has none. `which` is a literal, so that the index of the
// six samplers is a constant: other indices need a device feature.
#ifdef THRONG_BINDLESS
#define THRONG_SAMPLE(which) \
    THRONG_SAMPLE_FROM(throng_textures[nonuniformEXT(THRONG_MATERIAL.textures[which].slot)], which)
#else
#define THRONG_SAMPLE(which) THRONG_SAMPLE_FROM(throng_textures[which], which)
#endif

// Linear RGBA with the tints of the instance, not yet masked.
vec4 throng_base_color() {
    vec4 color = throng_in_color;
    if (throng_has_texture(THRONG_BASE_COLOR)) {
        color *= THRONG_SAMPLE(THRONG_BASE_COLOR);
    }
#ifndef THRONG_NO_TINTS
    if (throng_has_texture(THRONG_TINT_MASK)) {
        vec3 tints[2] = vec3[2](throng_in_tint, throng_in_second_tint);
        color.rgb *= throng_masked_tint(tints, THRONG_SAMPLE(THRONG_TINT_MASK).rg);
    }
#endif
    return color;
}

// Whether the material's mask has a hole where the base colour has this alpha.
bool throng_is_hole(const float alpha) {
    if (!throng_masked) {
        return false;
    }
    return throng_material_has(THRONG_ALPHA_MASK) && alpha < THRONG_MATERIAL.alpha_cutoff;
}

vec3 throng_to_eye() {
    return THRONG_EYE.eye.xyz - throng_in_position * THRONG_EYE.eye.w;
}

// The change of the inputs from pixel to pixel, along x and y of the framebuffer. A shader takes
// them at its start, because derivatives inside of branches are undefined. lavapipe's are wrong
// there at edges even if all pixels take the same branch.
struct ThrongSlopes {
    vec3 position[2];
    vec4 uv[2];
};

ThrongSlopes throng_slopes() {
    return ThrongSlopes(vec3[2](dFdx(throng_in_position), dFdy(throng_in_position)),
                        vec4[2](dFdx(throng_in_uv), dFdy(throng_in_uv)));
}

// The triangle's own normal, turned towards the eye, so that it depends neither on the sign of the
// viewport nor on winding.
vec3 throng_facet(const ThrongSlopes slopes) {
    vec3 facet = throng_unit_or(cross(slopes.position[0], slopes.position[1]), vec3(0.0));
    return dot(facet, throng_to_eye()) < 0.0 ? -facet : facet;
}

// The tangent frame from derivatives, for primitives without tangents: after Schueler, "Normal
// Mapping Without Precomputed Tangents", 2006.
mat3 throng_derived_frame(const ThrongSlopes slopes, const vec3 normal, const uint which) {
    vec3 dp1 = slopes.position[0], dp2 = slopes.position[1];
    vec2 duv1 = throng_turn_uv(which, slopes.uv[0]), duv2 = throng_turn_uv(which, slopes.uv[1]);
    vec3 dp2perp = cross(dp2, normal), dp1perp = cross(normal, dp1);
    // The sign of the screen's own handedness, so that a flipped viewport changes nothing.
    float side = dot(normal, cross(dp1, dp2)) < 0.0 ? -1.0 : 1.0;
    vec3 tangent = side * (dp2perp * duv1.x + dp1perp * duv2.x);
    vec3 bitangent = side * (dp2perp * duv1.y + dp1perp * duv2.y);
    // Scaled to a largest element of 1 first, because squares of small numbers would underflow.
    vec3 m = max(abs(tangent), abs(bitangent));
    float largest = max(max(m.x, m.y), m.z);
    if (largest == 0.0) {
        return mat3(vec3(0.0), vec3(0.0), normal);
    }
    tangent /= largest;
    bitangent /= largest;
    float scale = inversesqrt(max(dot(tangent, tangent), dot(bitangent, bitangent)));
    return mat3(tangent * scale, bitangent * scale, normal);
}

// The surface at this fragment, also in the hole of a mask. Call it in uniform control flow, before
// any discard.
ThrongSurface throng_surface() {
    ThrongSlopes slopes = throng_slopes();
    ThrongSurface surface;
    surface.position = throng_in_position;
    vec3 to_eye = throng_to_eye();
    surface.to_eye = to_eye * inversesqrt(max(dot(to_eye, to_eye), 1e-30));
    bool has_normals = throng_surface_has_normals();
    // A double-sided surface seen from behind uses the opposite normal.
    bool behind = has_normals && throng_surface_may_have(THRONG_TWO_SIDED) && !gl_FrontFacing
                  && dot(throng_in_normal, throng_facet(slopes)) < 0.0;
    vec3 normal = has_normals ? throng_in_normal : throng_facet(slopes);
    normal *= inversesqrt(max(dot(normal, normal), 1e-30));
    if (throng_has_texture(THRONG_NORMAL)) {
        vec3 texel = THRONG_SAMPLE(THRONG_NORMAL).xyz;
        vec3 detail = texel * 2.0 - 1.0;
        // A map of two channels has no blue. One of three is not 0 there: normals point outwards.
        if (texel.b == 0.0) {
            detail.z = sqrt(max(1.0 - dot(detail.xy, detail.xy), 0.0));
        }
        detail.xy *= THRONG_MATERIAL.normal_scale;
        mat3 frame;
        bool has_tangent = throng_surface_may_have(THRONG_SURFACE_TANGENTS)
                           && dot(throng_in_tangent.xyz, throng_in_tangent.xyz) > 0.0;
        if (has_tangent) {
            vec3 tangent = throng_in_tangent.xyz;
            frame = mat3(tangent, cross(normal, tangent) * throng_in_tangent.w, normal);
        } else {
            frame = throng_derived_frame(slopes, normal, THRONG_NORMAL);
            // Texture coordinates grow downwards, normals upwards.
            frame[1] = -frame[1];
        }
        vec3 bent = frame * detail;
        float length2 = dot(bent, bent);
        normal = length2 > 0.0 ? bent * inversesqrt(length2) : normal;
    }
    surface.normal = behind ? -normal : normal;
    surface.base_color = throng_base_color();
    surface.metallic = THRONG_MATERIAL.metallic;
    surface.roughness = THRONG_MATERIAL.roughness;
    if (throng_has_texture(THRONG_METALLIC_ROUGHNESS)) {
        vec4 texel = THRONG_SAMPLE(THRONG_METALLIC_ROUGHNESS);
        surface.roughness *= texel.g;
        surface.metallic *= texel.b;
    }
    surface.occlusion = 1.0;
    if (throng_has_texture(THRONG_OCCLUSION)) {
        float occlusion = THRONG_SAMPLE(THRONG_OCCLUSION).r;
        surface.occlusion = mix(1.0, occlusion, THRONG_MATERIAL.occlusion_strength);
    }
    surface.emissive = THRONG_MATERIAL.emissive;
    if (throng_has_texture(THRONG_EMISSIVE)) {
        surface.emissive *= THRONG_SAMPLE(THRONG_EMISSIVE).rgb;
    }
    // Read from the material: a variant of its own would save one branch.
    surface.unlit = (THRONG_MATERIAL.variant & THRONG_UNLIT) != 0u;
    if (throng_is_hole(surface.base_color.a)) {
        surface.base_color.a = 0.0;
    } else if (!throng_material_has(THRONG_ALPHA_BLEND)) {
        surface.base_color.a = 1.0;
    }
    return surface;
}

// Whether the surface is a hole of a mask.
bool throng_is_hole(const ThrongSurface surface) {
    if (!throng_masked) {
        return false;
    }
    return surface.base_color.a == 0.0 && throng_material_has(THRONG_ALPHA_MASK);
}

#endif
