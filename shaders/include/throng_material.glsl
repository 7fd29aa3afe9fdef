// Materials. A part of throng.glsl.

// The variant of a surface: ThrongMaterial.variant, with the last four bits constant 1000.
const uint THRONG_ALPHA_MASK = 1u;
const uint THRONG_ALPHA_BLEND = 2u;
const uint THRONG_UNLIT = 4u;
const uint THRONG_TURNS_UVS = 8u;            // a texture's coordinates are transformed
const uint THRONG_SECOND_UVS = 16u;          // a texture uses the second set of coordinates
const uint THRONG_TEXTURE_SHIFT = 8u;        // six bits: which textures exist, in the order below
const uint THRONG_SURFACE_NORMALS = 16384u;  // of the primitive, not of the material
const uint THRONG_SURFACE_TANGENTS = 32768u;
const uint THRONG_TWO_SIDED = 65536u;        // back faces are drawn
const uint THRONG_MANY = 131072u;            // of several materials, which have these at most

// ThrongTexture.uv_set
const uint THRONG_UV_SECOND = 1u;       // the second set of coordinates; otherwise the first
const uint THRONG_UV_TRANSFORMED = 2u;  // otherwise matrix and offset change nothing

// The textures of a material.
const uint THRONG_BASE_COLOR = 0u;
const uint THRONG_METALLIC_ROUGHNESS = 1u;
const uint THRONG_NORMAL = 2u;
const uint THRONG_OCCLUSION = 3u;
const uint THRONG_EMISSIVE = 4u;
const uint THRONG_TINT_MASK = 5u;

struct ThrongTexture {
    vec4 uv_matrix;  // columns
    vec2 uv_offset;
    uint uv_set;
    uint slot;       // in the array of textures
};

// Rows of 16 bytes of a material.
const uint THRONG_MATERIAL_ROWS = 17u;

struct ThrongMaterial {
    vec4 base_color;
    vec3 emissive;  // linear, strength included
    float alpha_cutoff;
    float metallic;
    float roughness;
    float normal_scale;
    float occlusion_strength;
    uint variant;
    float second_tint_weight;
    uint reserved[2];
    vec4 tint;      // 1 / the reference colour; weight of the first tint
    ThrongTexture textures[6];
};

// The factor of a base colour for tints behind a mask. Red and green of its texel are `mask`.
vec3 throng_masked_tint(const vec3 tints[2], const vec2 mask) {
    return mix(vec3(1.0), tints[0], mask.r) * mix(vec3(1.0), tints[1], mask.g);
}
