// Records, constants and bindings of set 0. A part of throng.glsl.

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#ifdef THRONG_MULTIVIEW
#extension GL_EXT_multiview : require
#endif

#ifndef THRONG_SET
#define THRONG_SET 0
#endif

// Skinning methods. Each has a format of palette entries, in rows of 16 bytes, and a way to blend.
const uint THRONG_LINEAR = 0u;             // 3 rows of a matrix
const uint THRONG_DUAL_QUAT = 1u;          // 2 rows: real, dual
const uint THRONG_DUAL_QUAT_STRETCH = 2u;  // 3 rows: real, dual, stretch
const uint THRONG_QUAT_OFFSET = 3u;        // 2 rows: rotation; offset and scale

// The variant of a primitive: ThrongPrimitive.variant, and THRONG_VARIANT in a pipeline.
const uint THRONG_JOINTS_U16 = 1u;      // joint indices have 16 bits; otherwise 8
const uint THRONG_HAS_NORMALS = 2u;     // otherwise the primitive is shaded flat
const uint THRONG_HAS_UVS = 4u;
const uint THRONG_HAS_COLORS = 8u;
const uint THRONG_HAS_TARGETS = 16u;    // morph targets
const uint THRONG_TINT_BY_ALPHA = 32u;  // alpha of the vertex colour is the weight of the tint
const uint THRONG_HAS_TANGENTS = 64u;
const uint THRONG_HAS_UVS1 = 128u;
const uint THRONG_METHOD_SHIFT = 8u;    // two bits: the skinning method
const uint THRONG_ONE_INFLUENCE = 1024u;     // every vertex follows one joint
const uint THRONG_MANY_INFLUENCES = 2048u;   // some vertices follow more than four
const uint THRONG_READS_SKINNED = 4096u;     // instances may have deformed vertices
const uint THRONG_MAY_FLIP = 8192u;          // throng_faces decides
const uint THRONG_EXTREME_SCALES = 16384u;   // products of scales could overflow or vanish
const uint THRONG_VARIES = 32768u;           // throng_material decides
const uint THRONG_LIST_STARTS = 65536u;      // draws do not have the starts of their lists
const uint THRONG_TINT_WEIGHTS = 131072u;    // tints have weights and a reference colour
const uint THRONG_TINT_BY_MASK = 262144u;    // the fragment shader applies tints, through a mask

// An offset that refers to nothing.
const uint THRONG_NONE = 0xFFFFFFFFu;

// 128 bytes. The rows of normal_from_model are the cofactors of world_from_model times the sign of
// its determinant, up to a positive factor, and a little of the identity, which counts only where
// an instance is scaled to nothing.
struct ThrongInstance {
    vec4 world_from_model[3];
    vec3 normal_x;
    float side;     // sign of the determinant of world_from_model: 1 or -1
    vec3 normal_y;
    uint user;      // the engine's own
    vec3 normal_z;
    uint stamp;     // changes if motion vectors must ignore the last frame
    uvec4 colors;   // see throng_tint, throng_second_tint and throng_material_variant
    uvec2 palette;  // a device address, low word first; or, if y is THRONG_NONE, x is an offset in
                    // bytes in this frame's part of the ring
    uint morphs;    // first word of its active morph weights, or THRONG_NONE
    uint skinned;   // first word of its deformed vertices, or THRONG_NONE
};

// Offsets of streams are in 32-bit words from the start of the mesh buffer.
struct ThrongPrimitive {
    uint vertex_count;
    uint palette_offset;     // first entry in the palette of the character
    uint influence_count;    // per vertex, strongest first
    uint variant;            // THRONG_*
    uint positions;          // 4 words a vertex, aligned to 4: f32 x, y, z; normal as octahedral
                             // snorm16 x 2
    uint influences;         // 4 words a vertex, aligned to 4: four joints; the weights of the
                             // second to fourth as unorm16. See throng_influences.
    uint more_influences;    // blocks of four, 4 words each, aligned to 4: joints as u16, weights
                             // as unorm16
    uint uvs;                // 2 words a vertex, aligned to 2: f32 u, v
    uint colors;             // 2 words a vertex, aligned to 2: unorm16 r, g, b, a
    uint material;           // index of its material
    uint tangents;           // 1 word a vertex, with 16-bit joints: see throng_tangent
    uint uvs1;               // as uvs
    uint targets;            // 4 words a morph target: mask, positions, normals, tangents
    uint target_count;
    uint first_weight;       // the morph weight of the first target
    uint skinned_positions;  // in the deformed vertices of an instance: 3 words a vertex
    uint skinned_normals;    // likewise
    uint skinned_tangents;   // likewise: 4 words a vertex
    uint variants;           // 2 words for no variant and for each one: material, and its class;
                             // or THRONG_NONE: see throng_material
    float second_tint_weight;
    vec4 base_color;         // linear
    vec4 tint;               // 1 / the reference colour; weight of the first tint
};

const uint THRONG_SHADOW_LAYERS = 4u;

// Eyes of a view.
const uint THRONG_EYES = 4u;

#ifdef THRONG_MULTIVIEW
// An eye of a view with several: what its members of these names are in a view with one.
struct ThrongEye {
    mat4 clip_from_world;
    vec4 eye;
    float jitter_x;
    float jitter_y;
    mat4 steady_clip_from_world;
    mat4 previous_clip_from_world;
};
#endif

// Read clip matrices, eye and jitter from THRONG_EYE.
struct ThrongView {
    mat4 clip_from_world;  // with jitter, for drawing
    vec4 eye;             // xyz: world; w: 1, or 0 for the direction to an orthographic eye
    vec3 sun_direction;   // world, towards the sun, unit
    float shadow_texel;   // 1 / edge of the shadow map
    vec3 sun_color;       // linear, includes intensity
    float shadow_bias;    // texels by which a point is moved off its surface
    vec3 sky_color;       // linear, light from straight above
    float jitter_x;       // in normalised device coordinates
    vec3 ground_color;    // linear, light from straight below
    float jitter_y;
    // Device addresses, two in a vector: instances and palettes of the last frame of the view, then
    // its morph weights and deformed vertices. For vertex and compute shaders.
    uvec4 history[2];
    uvec2 ring_palettes;     // device address of this frame's palettes in the ring
    uint history_instances;  // number of instances in the last frame; 0 if there was none
    uint shadow_layers;      // of the shadow map
    // These three have their values in views with a history, and in all views of a crowd that has a
    // motion pass.
    mat4 steady_clip_from_world;    // without jitter
    mat4 previous_clip_from_world;  // without jitter, of the last frame of the view
    // xyz: the present origin in the world space of that frame, in which its positions are. It is
    // 0 unless Crowd::shift_origin was called since.
    vec4 history_origin;
    mat4 shadow_from_world[THRONG_SHADOW_LAYERS];  // xy 0..1, z depth; those of the shadow map
    // These have their values if a pass reads the environment (PassDesc::environment): rows of the
    // rotation to it, with the intensity of the map and its last level as the last numbers, and the
    // factors of 1, y, z, x, xy, yz, 3zz - 1, xz and xx - yy for what a rough white surface
    // reflects.
    vec4 environment_from_world[3];
    vec4 environment[9];
#ifdef THRONG_MULTIVIEW
    ThrongEye eyes[THRONG_EYES];  // by gl_ViewIndex
#endif
};

#ifndef THRONG_NO_VIEW
#ifdef THRONG_VIEW_ADDRESS
layout(buffer_reference, std140, buffer_reference_align = 16) readonly buffer ThrongViewBlock {
    ThrongView view;
};
#define throng_view ThrongViewBlock(THRONG_VIEW_ADDRESS).view
#else
layout(set = THRONG_SET, binding = 0, std140) uniform ThrongViewBlock { ThrongView throng_view; };
#endif
#ifdef THRONG_MULTIVIEW
#define THRONG_EYE throng_view.eyes[gl_ViewIndex]
#else
#define THRONG_EYE throng_view
#endif
#endif

// The mesh buffer, seen as its records and as words. Materials are in throng_surface.glsl.
#ifdef THRONG_MESH_ADDRESS
#define THRONG_MESH_BLOCK buffer_reference, buffer_reference_align = 16
#else
#define THRONG_MESH_BLOCK set = THRONG_SET, binding = 1
#endif
layout(THRONG_MESH_BLOCK, std430) readonly buffer ThrongPrimitives {
    ThrongPrimitive throng_primitives[];
};
layout(THRONG_MESH_BLOCK, std430) readonly buffer ThrongMesh { uint throng_mesh[]; };
layout(THRONG_MESH_BLOCK, std430) readonly buffer ThrongMesh2 { uvec2 throng_mesh2[]; };
layout(THRONG_MESH_BLOCK, std430) readonly buffer ThrongMesh4 { uvec4 throng_mesh4[]; };
#ifdef THRONG_MESH_ADDRESS
#define throng_primitives ThrongPrimitives(THRONG_MESH_ADDRESS).throng_primitives
#define throng_mesh ThrongMesh(THRONG_MESH_ADDRESS).throng_mesh
#define throng_mesh2 ThrongMesh2(THRONG_MESH_ADDRESS).throng_mesh2
#define throng_mesh4 ThrongMesh4(THRONG_MESH_ADDRESS).throng_mesh4
#endif

#ifndef THRONG_NO_INSTANCES
layout(set = THRONG_SET, binding = 2, std430) readonly buffer ThrongInstances {
    ThrongInstance throng_instances[];
};

// The lists of this frame: indices of visible instances, and active morph weights. See
// throng_instance.
layout(set = THRONG_SET, binding = 3, std430) readonly buffer ThrongVisible {
    uint throng_visible[];
};
layout(set = THRONG_SET, binding = 3, std430) readonly buffer ThrongMorphs {
    uint throng_morphs[];
};

// The state that decides who is drawn, behind the instances in their buffer.
layout(set = THRONG_SET, binding = 2, std430) readonly buffer ThrongActors {
    uint throng_actors[];
};

#ifdef THRONG_WRITES_SKINNED
layout(set = THRONG_SET, binding = 4, std430) buffer ThrongSkinned { uint throng_skinned[]; };
#else
layout(set = THRONG_SET, binding = 4, std430) readonly buffer ThrongSkinned {
    uint throng_skinned[];
};
#endif
#endif

// Binding 5, textures, is in throng_surface.glsl.

#ifndef THRONG_NO_INSTANCES
// The first colour of an instance: linear RGBA. See throng_base.
vec4 throng_tint(const uint instance) {
    uvec2 words = throng_instances[instance].colors.xy;
    return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y));
}

// The second colour of an instance: linear RGB. See throng_base.
vec3 throng_second_tint(const uint instance) {
    uvec2 words = throng_instances[instance].colors.zw;
    return vec3(unpackHalf2x16(words.x), unpackHalf2x16(words.y).x);
}

// The material variant of an instance, or 0 for the materials of the file.
uint throng_material_variant(const uint instance) {
    return throng_instances[instance].colors.w >> 16;
}

// The instance of a draw. `list` says where the draw's list starts: it comes with the draw
// (DrawBindings::list, IndirectDraw::list). `number` is gl_InstanceIndex.
uint throng_instance(const uint list, const int number) {
    return throng_visible[throng_visible[list] + uint(number)];
}

// True if an instance hides a part, by a word of its actor and the bit in it.
bool throng_hides(const uint instance, const uint at, const uint bit) {
    return (throng_actors[at + instance * 12u] & bit) != 0u;
}

// Memory behind a device address. An entry of a palette is read through one address.
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer ThrongRows3 {
    vec4 rows[3];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer ThrongRows2 {
    vec4 rows[2];
};
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer ThrongWords {
    uint words[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer ThrongRecords {
    ThrongInstance records[];
};

// The material of a primitive in the variant of an instance, as in ThrongPrimitive.
uint throng_material(const uint instance, const uint primitive) {
    uint at = throng_primitives[primitive].variants;
    if (at == THRONG_NONE) {
        return throng_primitives[primitive].material;
    }
    return throng_mesh[at + 2u * throng_material_variant(instance)];
}

#if !defined(THRONG_RING_PALETTES) && !defined(THRONG_NO_RING)
#ifdef THRONG_NO_VIEW
#error "define THRONG_RING_PALETTES, or THRONG_NO_RING if no instance has its palette in the ring"
#else
#define THRONG_RING_PALETTES throng_view.ring_palettes
#endif
#endif
#endif

// The variant of a primitive. With a constant, the compiler leaves out what the variant has not.
uint throng_variant(const uint primitive) {
#ifdef THRONG_VARIANT
    if (THRONG_VARIANT != THRONG_NONE) {
        return THRONG_VARIANT;
    }
#endif
    return throng_primitives[primitive].variant;
}

bool throng_has(const uint primitive, const uint flag) {
    return (throng_variant(primitive) & flag) != 0u;
}
