// throng: what a fragment shader sees of a character's surface. Public: include it in your own
// fragment shader (MaterialDesc) and call throng_surface().
//
// Set 0 is throng's; sets 1 and up are yours. Before including, a shader may define
//   THRONG_SET       the set's number (default 0)
//   THRONG_BINDLESS  the device has descriptor indexing and the engine enabled it: all textures of a character
//                    are in one array (SetLayout::is_bindless); needs GL_EXT_nonuniform_qualifier

#ifndef THRONG_SURFACE_GLSL
#define THRONG_SURFACE_GLSL

#include "throng.glsl"

// ThrongMaterial.flags
const uint THRONG_ALPHA_MASK = 1u;
const uint THRONG_ALPHA_BLEND = 2u;
const uint THRONG_UNLIT = 4u;
const uint THRONG_TEXTURE_SHIFT = 8u;  // five bits: which textures there are, in the order below

// ThrongTexture.uv_set
const uint THRONG_UV_SECOND = 1u;       // the second set of texture coordinates, else the first
const uint THRONG_UV_TRANSFORMED = 2u;  // else matrix and offset change nothing

// The textures of a material.
const uint THRONG_BASE_COLOR = 0u;
const uint THRONG_METALLIC_ROUGHNESS = 1u;
const uint THRONG_NORMAL = 2u;
const uint THRONG_OCCLUSION = 3u;
const uint THRONG_EMISSIVE = 4u;

struct ThrongTexture {
    vec4 uv_matrix;  // columns
    vec2 uv_offset;
    uint uv_set;
    uint slot;       // in the array of textures
};

struct ThrongMaterial {
    vec4 base_color;
    vec3 emissive;  // linear, strength included
    float alpha_cutoff;
    float metallic;
    float roughness;
    float normal_scale;
    float occlusion_strength;
    uint flags;
    uint reserved[3];
    ThrongTexture textures[5];
};

layout(set = THRONG_SET, binding = 7, std430) readonly buffer ThrongMaterials { ThrongMaterial throng_materials[]; };
#ifdef THRONG_BINDLESS
layout(set = THRONG_SET, binding = 11) uniform sampler2D throng_textures[];
#else
layout(set = THRONG_SET, binding = 11) uniform sampler2D throng_textures[5];
#endif

layout(location = 0) in vec3 throng_in_position;  // world
layout(location = 1) in vec3 throng_in_normal;    // world
layout(location = 2) in vec4 throng_in_tangent;   // world; zero where the primitive has none
layout(location = 3) in vec4 throng_in_uv;        // both sets
layout(location = 4) in vec4 throng_in_color;     // linear: material x vertex colour x tint
layout(location = 5) flat in uint throng_in_primitive;  // index of the primitive
layout(location = 6) flat in uint throng_in_instance;   // index in the instance table

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

ThrongMaterial throng_material() {
    return throng_materials[throng_primitives[throng_in_primitive].material];
}

// Texture coordinates before the offset, from both sets of them. Those that need no transform are taken as they are: in pixels
// that only help with derivatives lavapipe reads zeros from buffers.
vec2 throng_turn_uv(ThrongTexture where, vec4 sets) {
    vec2 uv = mix(sets.xy, sets.zw, bvec2((where.uv_set & THRONG_UV_SECOND) != 0u));
    vec2 turned = mat2(where.uv_matrix.xy, where.uv_matrix.zw) * uv;
    return mix(uv, turned, bvec2((where.uv_set & THRONG_UV_TRANSFORMED) != 0u));
}

vec2 throng_texture_uv(ThrongTexture where) {
    return throng_turn_uv(where, throng_in_uv) + where.uv_offset;
}

bool throng_has_texture(ThrongMaterial material, uint which) {
    return (material.flags >> (THRONG_TEXTURE_SHIFT + which) & 1u) != 0u;
}

// A texture of the material; white where it has none. The material is the same for a whole draw.
vec4 throng_sample(ThrongMaterial material, uint which) {
    ThrongTexture where = material.textures[which];
#ifdef THRONG_BINDLESS
    return texture(throng_textures[nonuniformEXT(where.slot)], throng_texture_uv(where));
#else
    return texture(throng_textures[which], throng_texture_uv(where));
#endif
}

// Linear RGBA, not yet masked.
vec4 throng_base_color(ThrongMaterial material) {
    vec4 color = throng_in_color;
    if (throng_has_texture(material, THRONG_BASE_COLOR)) {
        color *= throng_sample(material, THRONG_BASE_COLOR);
    }
    return color;
}

// Whether the material's mask leaves a hole here.
bool throng_is_hole(ThrongMaterial material, float alpha) {
    return (material.flags & THRONG_ALPHA_MASK) != 0u && alpha < material.alpha_cutoff;
}

vec3 throng_to_eye() {
    return throng_view.eye.xyz - throng_in_position * throng_view.eye.w;
}

// How the inputs change from pixel to pixel, along the framebuffer's x and y. Taken at the start of a shader: inside of
// branches derivatives are not defined, not even where all pixels take the same one (lavapipe's are wrong at edges).
struct ThrongSlopes {
    vec3 position[2];
    vec4 uv[2];
};

ThrongSlopes throng_slopes() {
    return ThrongSlopes(vec3[2](dFdx(throng_in_position), dFdy(throng_in_position)),
                        vec4[2](dFdx(throng_in_uv), dFdy(throng_in_uv)));
}

// The triangle's own normal, turned towards the eye, which makes it independent of the viewport's sign
// and of winding.
vec3 throng_facet(ThrongSlopes slopes) {
    vec3 facet = throng_unit_or(cross(slopes.position[0], slopes.position[1]), vec3(0.0));
    return dot(facet, throng_to_eye()) < 0.0 ? -facet : facet;
}

// The tangent frame where the primitive has none, from derivatives: after Schueler, "Normal Mapping
// Without Precomputed Tangents", 2006.
mat3 throng_derived_frame(ThrongSlopes slopes, vec3 normal, ThrongTexture where) {
    vec3 dp1 = slopes.position[0], dp2 = slopes.position[1];
    vec2 duv1 = throng_turn_uv(where, slopes.uv[0]), duv2 = throng_turn_uv(where, slopes.uv[1]);
    vec3 dp2perp = cross(dp2, normal), dp1perp = cross(normal, dp1);
    // The sign of the screen's own handedness, so that a flipped viewport changes nothing.
    float side = dot(normal, cross(dp1, dp2)) < 0.0 ? -1.0 : 1.0;
    vec3 tangent = side * (dp2perp * duv1.x + dp1perp * duv2.x);
    vec3 bitangent = side * (dp2perp * duv1.y + dp1perp * duv2.y);
    // Scaled to a largest element of 1 first: squares of small numbers would underflow.
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

// The surface here, the hole of a mask included: call it in uniform control flow, before any discard.
ThrongSurface throng_surface() {
    ThrongSlopes slopes = throng_slopes();
    ThrongMaterial material = throng_material();
    ThrongSurface surface;
    surface.position = throng_in_position;
    vec3 to_eye = throng_to_eye();
    surface.to_eye = to_eye * inversesqrt(max(dot(to_eye, to_eye), 1e-30));
    vec3 facet = throng_facet(slopes);
    bool has_normals = (throng_primitives[throng_in_primitive].flags & THRONG_HAS_NORMALS) != 0u;
    // Seen from behind, where the material is double-sided: the surface's other side.
    bool behind = has_normals && dot(throng_in_normal, facet) < 0.0 && !gl_FrontFacing;
    vec3 normal = has_normals ? throng_in_normal : facet;
    normal *= inversesqrt(max(dot(normal, normal), 1e-30));
    if (throng_has_texture(material, THRONG_NORMAL)) {
        vec3 detail = throng_sample(material, THRONG_NORMAL).xyz * 2.0 - 1.0;
        detail.xy *= material.normal_scale;
        mat3 frame;
        if (dot(throng_in_tangent.xyz, throng_in_tangent.xyz) > 0.0) {
            vec3 tangent = throng_in_tangent.xyz;
            frame = mat3(tangent, cross(normal, tangent) * throng_in_tangent.w, normal);
        } else {
            frame = throng_derived_frame(slopes, normal, material.textures[THRONG_NORMAL]);
            // Texture coordinates grow downwards, normals upwards.
            frame[1] = -frame[1];
        }
        vec3 bent = frame * detail;
        float length2 = dot(bent, bent);
        normal = length2 > 0.0 ? bent * inversesqrt(length2) : normal;
    }
    surface.normal = behind ? -normal : normal;
    surface.base_color = throng_base_color(material);
    surface.metallic = material.metallic;
    surface.roughness = material.roughness;
    if (throng_has_texture(material, THRONG_METALLIC_ROUGHNESS)) {
        vec4 texel = throng_sample(material, THRONG_METALLIC_ROUGHNESS);
        surface.roughness *= texel.g;
        surface.metallic *= texel.b;
    }
    surface.occlusion = 1.0;
    if (throng_has_texture(material, THRONG_OCCLUSION)) {
        surface.occlusion = mix(1.0, throng_sample(material, THRONG_OCCLUSION).r, material.occlusion_strength);
    }
    surface.emissive = material.emissive;
    if (throng_has_texture(material, THRONG_EMISSIVE)) {
        surface.emissive *= throng_sample(material, THRONG_EMISSIVE).rgb;
    }
    surface.unlit = (material.flags & THRONG_UNLIT) != 0u;
    if (throng_is_hole(material, surface.base_color.a)) {
        surface.base_color.a = 0.0;
    } else if ((material.flags & THRONG_ALPHA_BLEND) == 0u) {
        surface.base_color.a = 1.0;
    }
    return surface;
}

// Whether nothing is here: what a mask cuts out.
bool throng_is_hole(ThrongSurface surface) {
    return surface.base_color.a == 0.0 && (throng_material().flags & THRONG_ALPHA_MASK) != 0u;
}

#endif
