// throng: what every shader that touches the crowd shares. Public: include it in your own vertex
// or compute shader and call throng_deform().
//
// Set 0 is throng's. Before including, a shader may define
//   THRONG_SET             the set's number (default 0)
//   THRONG_NO_VIEW         leaves out the view block and the history (compute shaders)
//   THRONG_WRITES_SKINNED  makes the deformed vertices writable (the skin stage)
//   THRONG_METHOD          the skinning method as a constant, THRONG_LINEAR and its neighbours, where it is
//                          known; else it is read from the primitive
//   THRONG_RIGID           true where every vertex is known to have one influence (a constant)
//
// Spaces: mesh space (as modelled, at bind time) -> character space (the asset's scene) -> world.
// Matrices are three rows of a 3x4 row-major matrix: out[r] = dot(row[r], vec4(in, 1)).

#ifndef THRONG_GLSL
#define THRONG_GLSL

#ifndef THRONG_SET
#define THRONG_SET 0
#endif
#ifndef THRONG_RIGID
#define THRONG_RIGID false
#endif

// Where an instance's palette is (ThrongInstance.source).
const uint THRONG_SOURCE_RING = 0u;      // written by the CPU, this frame's slot of the ring
const uint THRONG_SOURCE_RESIDENT = 1u;  // persists in the character's own device memory
const uint THRONG_SOURCE_HISTORY = 2u;   // as it was in the view's last frame: not in a record, for motion vectors

// Skinning methods: what an entry of the palette is, in rows of 16 bytes, and how entries are blended.
const uint THRONG_LINEAR = 0u;             // 3 rows of a matrix
const uint THRONG_DUAL_QUAT = 1u;          // 2 rows: real, dual
const uint THRONG_DUAL_QUAT_STRETCH = 2u;  // 3 rows: real, dual, stretch
const uint THRONG_QUAT_OFFSET = 3u;        // 2 rows: rotation; offset and scale

// ThrongPrimitive.flags
const uint THRONG_JOINTS_U16 = 1u;   // joint indices have 16 bits, else 8
const uint THRONG_HAS_NORMALS = 2u;  // else the primitive is shaded flat
const uint THRONG_HAS_UVS = 4u;
const uint THRONG_HAS_COLORS = 8u;
const uint THRONG_WEIGHTS_U8 = 16u;  // weights have 8 bits, else 16
const uint THRONG_TINT_BY_ALPHA = 32u;  // the vertex colour's alpha weighs the instance's tint
const uint THRONG_HAS_TANGENTS = 64u;
const uint THRONG_HAS_UVS1 = 128u;
const uint THRONG_METHOD_SHIFT = 8u;  // two bits: the character's method

// An offset that leads nowhere.
const uint THRONG_NONE = 0xFFFFFFFFu;

struct ThrongInstance {
    vec4 world_from_model[3];
    vec4 tint;          // linear, multiplies the base colour
    uint palette_base;  // first row (16 bytes) in its source
    uint source;        // THRONG_SOURCE_*
    uint character;     // index of its character
    uint user;          // the caller's
    uint stamp;         // differs from the previous frame's where motion does not connect the two
    uint morphs;        // first word of its active morph weights, or THRONG_NONE
    uint skinned;       // first word of its deformed vertices, or THRONG_NONE
    uint reserved;
};

// Offsets are in 32-bit words from the start of the geometry buffer, unless said otherwise.
struct ThrongPrimitive {
    uint vertex_count;
    uint palette_offset;  // first entry in the character's palette
    uint influences;      // per vertex, strongest first
    uint flags;           // THRONG_*
    uint positions;       // 3 words a vertex: f32 x, y, z
    uint joints;          // influences indices a vertex, tightly packed
    uint weights;         // influences unorm16 or unorm8 a vertex, tightly packed; none if influences is 1
    uint normals;         // 1 word a vertex: octahedral snorm16 x 2
    uint uvs;             // 2 words a vertex: f32 u, v
    uint colors;          // 2 words a vertex: unorm16 r, g, b, a
    uint material;        // index of its material
    uint tangents;        // 1 word a vertex: octahedral snorm15 + sign of the bitangent, snorm16
    uint uvs1;            // as uvs
    uint targets;         // 4 words a morph target: mask, positions, normals, tangents (see throng_morph)
    uint target_count;
    uint first_weight;       // the morph weight that drives the first target
    uint skinned_positions;  // in an instance's deformed vertices: 3 words a vertex
    uint skinned_normals;    // likewise
    uint skinned_tangents;   // likewise: 4 words a vertex
    uint reserved;
    vec4 base_color;         // linear
};

const uint THRONG_SHADOW_LAYERS = 4u;

struct ThrongView {
    mat4 clip_from_world;           // jittered, for drawing
    mat4 steady_clip_from_world;    // without jitter
    mat4 previous_clip_from_world;  // the same in the view's last frame
    vec4 eye;            // xyz: world; w: 1 a position, 0 the direction towards an orthographic eye
    vec4 sun_direction;  // xyz: world, towards the sun, unit
    vec4 sun_color;      // linear, includes intensity
    vec4 sky_color;      // linear, light from straight above
    vec4 ground_color;   // linear, light from straight below
    uvec4 history;       // first words of the last frame's instances, palettes, morph weights, deformed vertices
    uint history_instances;  // how many that table has; 0 where there was no last frame
    uint shadow_layers;  // of the shadow map
    float shadow_texel;  // 1 / edge of the shadow map
    float shadow_bias;   // texels by which a point is moved off its surface
    mat4 shadow_from_world[THRONG_SHADOW_LAYERS];  // xy 0..1, z depth
};

#ifndef THRONG_NO_VIEW
layout(set = THRONG_SET, binding = 0, std140) uniform ThrongViewBlock { ThrongView throng_view; };
#endif
layout(set = THRONG_SET, binding = 1, std430) readonly buffer ThrongRingPalettes { vec4 throng_ring_rows[]; };
layout(set = THRONG_SET, binding = 2, std430) readonly buffer ThrongResidentPalettes { vec4 throng_resident_rows[]; };
layout(set = THRONG_SET, binding = 3, std430) readonly buffer ThrongInstances { ThrongInstance throng_instances[]; };
layout(set = THRONG_SET, binding = 4, std430) readonly buffer ThrongVisible { uint throng_visible[]; };
layout(set = THRONG_SET, binding = 5, std430) readonly buffer ThrongGeometry { uint throng_geometry[]; };
layout(set = THRONG_SET, binding = 6, std430) readonly buffer ThrongPrimitives { ThrongPrimitive throng_primitives[]; };
// Binding 7, materials, is in throng_surface.glsl.
layout(set = THRONG_SET, binding = 8, std430) readonly buffer ThrongMorphs { uint throng_morphs[]; };
#ifdef THRONG_WRITES_SKINNED
layout(set = THRONG_SET, binding = 9, std430) buffer ThrongSkinned { uint throng_skinned[]; };
#else
layout(set = THRONG_SET, binding = 9, std430) readonly buffer ThrongSkinned { uint throng_skinned[]; };
#endif
#ifndef THRONG_NO_VIEW
layout(set = THRONG_SET, binding = 10, std430) readonly buffer ThrongHistory { uint throng_history[]; };
// The same by rows of 16 bytes: all sections start at one, and so do records.
layout(set = THRONG_SET, binding = 10, std430) readonly buffer ThrongHistoryRows { vec4 throng_history_rows[]; };
#endif

// ---- Streams ----------------------------------------------------------------------------------

vec3 throng_vec3(uint at) {
    return vec3(uintBitsToFloat(throng_geometry[at]), uintBitsToFloat(throng_geometry[at + 1u]),
                uintBitsToFloat(throng_geometry[at + 2u]));
}

vec3 throng_position(ThrongPrimitive primitive, uint vertex) {
    return throng_vec3(primitive.positions + vertex * 3u);
}

// Octahedral decoding, after Cigolle et al., "A Survey of Efficient Representations for Independent
// Unit Vectors", 2014.
vec3 throng_octahedral(vec2 e) {
    vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
    float fold = max(-n.z, 0.0);
    n.xy += mix(vec2(fold), vec2(-fold), greaterThanEqual(n.xy, vec2(0.0)));
    return normalize(n);
}

vec3 throng_normal(ThrongPrimitive primitive, uint vertex) {
    return throng_octahedral(unpackSnorm2x16(throng_geometry[primitive.normals + vertex]));
}

// The lowest bit is the sign of the bitangent: 0 for 1, 1 for -1. What is left of x has 15 bits.
vec4 throng_tangent(ThrongPrimitive primitive, uint vertex) {
    uint word = throng_geometry[primitive.tangents + vertex];
    float x = max(float(bitfieldExtract(int(word), 1, 15)) / 16383.0, -1.0);
    float y = unpackSnorm2x16(word).y;
    return vec4(throng_octahedral(vec2(x, y)), (word & 1u) != 0u ? -1.0 : 1.0);
}

vec2 throng_vec2(uint at) {
    return vec2(uintBitsToFloat(throng_geometry[at]), uintBitsToFloat(throng_geometry[at + 1u]));
}

vec2 throng_uv(ThrongPrimitive primitive, uint vertex) {
    return (primitive.flags & THRONG_HAS_UVS) != 0u ? throng_vec2(primitive.uvs + vertex * 2u) : vec2(0.0);
}

vec2 throng_uv1(ThrongPrimitive primitive, uint vertex) {
    return (primitive.flags & THRONG_HAS_UVS1) != 0u ? throng_vec2(primitive.uvs1 + vertex * 2u) : vec2(0.0);
}

vec4 throng_color(ThrongPrimitive primitive, uint vertex) {
    uint at = primitive.colors + vertex * 2u;
    return vec4(unpackUnorm2x16(throng_geometry[at]), unpackUnorm2x16(throng_geometry[at + 1u]));
}

// The linear base colour of a vertex, without texture: material x vertex colour x tint.
vec4 throng_base(ThrongInstance instance, ThrongPrimitive primitive, uint vertex) {
    vec4 color = primitive.base_color;
    vec4 tint = instance.tint;
    if ((primitive.flags & THRONG_HAS_COLORS) != 0u) {
        vec4 own = throng_color(primitive, vertex);
        if ((primitive.flags & THRONG_TINT_BY_ALPHA) != 0u) {
            tint.rgb = mix(vec3(1.0), tint.rgb, own.a);
            own.a = 1.0;
        }
        color *= own;
    }
    return color * tint;
}

uint throng_joint(ThrongPrimitive primitive, uint at) {
    if ((primitive.flags & THRONG_JOINTS_U16) != 0u) {
        return bitfieldExtract(throng_geometry[primitive.joints + (at >> 1)], int(at & 1u) * 16, 16);
    }
    return bitfieldExtract(throng_geometry[primitive.joints + (at >> 2)], int(at & 3u) * 8, 8);
}

float throng_weight(ThrongPrimitive primitive, uint at) {
    if ((primitive.flags & THRONG_WEIGHTS_U8) != 0u) {
        return float(bitfieldExtract(throng_geometry[primitive.weights + (at >> 2)], int(at & 3u) * 8, 8)) / 255.0;
    }
    return float(bitfieldExtract(throng_geometry[primitive.weights + (at >> 1)], int(at & 1u) * 16, 16)) / 65535.0;
}

// ---- Palettes ---------------------------------------------------------------------------------

// Positions are computed by `precise` variables all the way: whatever pass a shader belongs to, and whatever else it
// computes, their bits are the same. A depth prepass and motion vectors rely on it.
struct ThrongMatrix {
    vec4 rows[3];
};

#ifdef THRONG_METHOD
uint throng_method(ThrongPrimitive primitive) { return THRONG_METHOD; }
#else
uint throng_method(ThrongPrimitive primitive) { return (primitive.flags >> THRONG_METHOD_SHIFT) & 3u; }
#endif

uint throng_rows(uint method) {
    return method == THRONG_DUAL_QUAT || method == THRONG_QUAT_OFFSET ? 2u : 3u;
}

// A row of a palette: the one place that knows where palettes come from.
vec4 throng_palette_row(uint source, uint row) {
    if (source == THRONG_SOURCE_RING) {
        return throng_ring_rows[row];
    }
#ifndef THRONG_NO_VIEW
    if (source == THRONG_SOURCE_HISTORY) {
        return throng_history_rows[(throng_view.history.y >> 2) + row];
    }
#endif
    return throng_resident_rows[row];
}

// Three rows of a palette from `row`: an entry of the linear method.
ThrongMatrix throng_palette(uint source, uint row) {
    return ThrongMatrix(vec4[3](throng_palette_row(source, row), throng_palette_row(source, row + 1u),
                                throng_palette_row(source, row + 2u)));
}

// The matrix of a rotation (unit quaternion), a uniform scale and an offset.
ThrongMatrix throng_quat_offset_matrix(vec4 q, vec4 offset_scale) {
    vec3 d = q.xyz + q.xyz;
    vec3 xx = q.x * d, yy = q.y * d, w = q.w * d;
    float zz = q.z * d.z, s = offset_scale.w;
    precise vec3 a = s * vec3(1.0 - (yy.y + zz), xx.y - w.z, xx.z + w.y);
    precise vec3 b = s * vec3(xx.y + w.z, 1.0 - (xx.x + zz), yy.z - w.x);
    precise vec3 c = s * vec3(xx.z - w.y, yy.z + w.x, 1.0 - (xx.x + yy.y));
    return ThrongMatrix(vec4[3](vec4(a, offset_scale.x), vec4(b, offset_scale.y), vec4(c, offset_scale.z)));
}

// An entry of a palette as a matrix, for the methods that blend matrices.
ThrongMatrix throng_entry_matrix(uint method, uint source, uint row) {
    if (method == THRONG_QUAT_OFFSET) {
        return throng_quat_offset_matrix(throng_palette_row(source, row), throng_palette_row(source, row + 1u));
    }
    return throng_palette(source, row);
}

// Which palette a vertex is deformed by.
struct ThrongPose {
    uint source;   // THRONG_SOURCE_*
    uint row;      // its first row
    uint morphs;   // the first word of the active morph weights, or THRONG_NONE
    bool past;     // the morph weights are those of the view's last frame
};

ThrongPose throng_pose(ThrongInstance instance) {
    return ThrongPose(instance.source, instance.palette_base, instance.morphs, false);
}

// The first row of the palette's entry that influence `at` names.
uint throng_entry_row(ThrongPose pose, ThrongPrimitive primitive, uint at) {
    uint entry = primitive.palette_offset + throng_joint(primitive, at);
    return pose.row + entry * throng_rows(throng_method(primitive));
}

// The blended skinning matrix of a vertex: M0 + sum of weight x (Mi - M0), M0 being the strongest influence's.
// So weights need not sum to exactly 1 in floating point, and joints that move alike move a vertex exactly alike.
ThrongMatrix throng_blend_matrix(ThrongPose pose, ThrongPrimitive primitive, uint vertex) {
    uint method = throng_method(primitive);
    uint at = vertex * primitive.influences;
    ThrongMatrix first = throng_entry_matrix(method, pose.source, throng_entry_row(pose, primitive, at));
    if (THRONG_RIGID || primitive.influences == 1u) {
        return first;
    }
    precise ThrongMatrix sum = first;
    for (uint end = at + primitive.influences; ++at < end;) {
        float weight = throng_weight(primitive, at);
        if (weight == 0.0) {
            break;
        }
        ThrongMatrix entry = throng_entry_matrix(method, pose.source, throng_entry_row(pose, primitive, at));
        for (int r = 0; r < 3; ++r) {
            sum.rows[r] += weight * (entry.rows[r] - first.rows[r]);
        }
    }
    return sum;
}

// A rotation, a translation and, before both, a stretch along the axes of mesh space.
struct ThrongDualQuat {
    vec4 real;
    vec4 dual;
    vec3 stretch;
};

ThrongDualQuat throng_dual_quat(uint method, uint source, uint row) {
    vec3 stretch = vec3(1.0);
    if (method == THRONG_DUAL_QUAT_STRETCH) {
        stretch = throng_palette_row(source, row + 2u).xyz;
    }
    return ThrongDualQuat(throng_palette_row(source, row), throng_palette_row(source, row + 1u), stretch);
}

// The blended dual quaternion of a vertex, of unit length; each entry on the strongest one's side of the sphere.
// After Kavan, Collins, Zara, O'Sullivan, "Geometric Skinning with Approximate Dual Quaternion Blending", 2008.
ThrongDualQuat throng_blend_dual_quat(ThrongPose pose, ThrongPrimitive primitive, uint vertex) {
    uint method = throng_method(primitive);
    uint at = vertex * primitive.influences;
    ThrongDualQuat first = throng_dual_quat(method, pose.source, throng_entry_row(pose, primitive, at));
    if (THRONG_RIGID || primitive.influences == 1u) {
        return first;
    }
    precise ThrongDualQuat sum = first;
    for (uint end = at + primitive.influences; ++at < end;) {
        float weight = throng_weight(primitive, at);
        if (weight == 0.0) {
            break;
        }
        ThrongDualQuat entry = throng_dual_quat(method, pose.source, throng_entry_row(pose, primitive, at));
        precise float cosine = dot(entry.real, first.real);
        float side = cosine < 0.0 ? -1.0 : 1.0;
        sum.real += weight * (side * entry.real - first.real);
        sum.dual += weight * (side * entry.dual - first.dual);
        sum.stretch += weight * (entry.stretch - first.stretch);
    }
    precise float length2 = dot(sum.real, sum.real);
    if (length2 > 1e-12) {
        precise float scale = 1.0 / sqrt(length2);
        sum.real *= scale;
        sum.dual *= scale;
    } else {
        // Opposite rotations cancel out: the strongest stands for all.
        sum.real = first.real;
        sum.dual = first.dual;
    }
    return sum;
}

// ---- Deformation ------------------------------------------------------------------------------

vec3 throng_transform_point(vec4 rows[3], vec3 point) {
    precise vec3 result = vec3(
        rows[0].x * point.x + rows[0].y * point.y + rows[0].z * point.z + rows[0].w,
        rows[1].x * point.x + rows[1].y * point.y + rows[1].z * point.z + rows[1].w,
        rows[2].x * point.x + rows[2].y * point.y + rows[2].z * point.z + rows[2].w);
    return result;
}

vec3 throng_unit_or(vec3 direction, vec3 otherwise) {
    // Scaled to a largest element of 1 first: squares of small numbers would underflow.
    float largest = max(max(abs(direction.x), abs(direction.y)), abs(direction.z));
    return largest > 0.0 ? normalize(direction / largest) : otherwise;
}

// Directions go by the matrix itself.
vec3 throng_transform_direction(vec4 rows[3], vec3 direction) {
    vec3 image = vec3(dot(rows[0].xyz, direction), dot(rows[1].xyz, direction), dot(rows[2].xyz, direction));
    return throng_unit_or(image, direction);
}

// The sign of the determinant: -1 where the matrix mirrors.
float throng_handedness(vec4 rows[3]) {
    vec3 a = rows[0].xyz, b = rows[1].xyz, c = rows[2].xyz;
    vec3 m = max(max(abs(a), abs(b)), abs(c));
    float largest = max(max(max(m.x, m.y), m.z), 1e-37);
    return dot(a / largest, cross(b / largest, c / largest)) < 0.0 ? -1.0 : 1.0;
}

// Normals go by the cofactor matrix times the sign of the determinant: the inverse transpose up to
// a positive factor, without a division, right under mirroring and non-uniform scale. The matrix is
// scaled to a largest element of 1 first, so that small scales don't underflow.
vec3 throng_transform_normal(vec4 rows[3], vec3 normal) {
    vec3 a = rows[0].xyz, b = rows[1].xyz, c = rows[2].xyz;
    vec3 m = max(max(abs(a), abs(b)), abs(c));
    float largest = max(max(m.x, m.y), m.z);
    if (largest == 0.0) {
        return normal;
    }
    a /= largest;
    b /= largest;
    c /= largest;
    vec3 bc = cross(b, c);
    vec3 n = vec3(dot(bc, normal), dot(cross(c, a), normal), dot(cross(a, b), normal));
    return throng_unit_or(n * (dot(a, bc) < 0.0 ? -1.0 : 1.0), normal);
}

// The built-in cross() can't be made precise.
vec3 throng_cross(vec3 a, vec3 b) {
    precise vec3 result = a.yzx * b.zxy - a.zxy * b.yzx;
    return result;
}

vec3 throng_rotate(vec4 q, vec3 v) {
    precise vec3 inner = throng_cross(q.xyz, v) + q.w * v;
    precise vec3 result = v + 2.0 * throng_cross(q.xyz, inner);
    return result;
}

vec3 throng_transform_point(ThrongDualQuat q, vec3 point) {
    precise vec3 offset = 2.0 * (q.real.w * q.dual.xyz - q.dual.w * q.real.xyz + throng_cross(q.real.xyz, q.dual.xyz));
    precise vec3 result = throng_rotate(q.real, q.stretch * point) + offset;
    return result;
}

// A vertex in mesh or character space. Normal and tangent are unit vectors where the primitive has them,
// else zero; the tangent's w is the sign of the bitangent cross(normal, tangent) * w.
struct ThrongVertex {
    vec3 position;
    vec3 normal;
    vec4 tangent;
};

uint throng_morph_word(ThrongPose pose, uint at) {
#ifndef THRONG_NO_VIEW
    if (pose.past) {
        return throng_history[throng_view.history.z + at];
    }
#endif
    return throng_morphs[at];
}

// Which of a target's deltas is a vertex's, or THRONG_NONE. The mask has two words for every 32 vertices: which of
// them the target moves, and how many it moves before them.
uint throng_delta(uint mask, uint vertex) {
    uint at = mask + (vertex >> 5) * 2u;
    uint bits = throng_geometry[at];
    uint bit = 1u << (vertex & 31u);
    if ((bits & bit) == 0u) {
        return THRONG_NONE;
    }
    return throng_geometry[at + 1u] + uint(bitCount(bits & (bit - 1u)));
}

// Adds what the active morph targets add: the list is a count, then the number and value of each weight that is not 0.
void throng_morph(ThrongPose pose, ThrongPrimitive primitive, uint vertex, bool shading, inout ThrongVertex result) {
    if (primitive.target_count == 0u || pose.morphs == THRONG_NONE) {
        return;
    }
    uint count = throng_morph_word(pose, pose.morphs);
    precise vec3 position = result.position;
    vec3 normal = result.normal;
    vec3 tangent = result.tangent.xyz;
    for (uint active_weight = 0u; active_weight < count; ++active_weight) {
        uint at = pose.morphs + 1u + active_weight * 2u;
        uint target = throng_morph_word(pose, at) - primitive.first_weight;
        if (target >= primitive.target_count) {
            continue;
        }
        uint record = primitive.targets + target * 4u;
        uint delta = throng_delta(throng_geometry[record], vertex);
        if (delta == THRONG_NONE) {
            continue;
        }
        float weight = uintBitsToFloat(throng_morph_word(pose, at + 1u));
        position += weight * throng_vec3(throng_geometry[record + 1u] + delta * 3u);
        if (shading && throng_geometry[record + 2u] != THRONG_NONE) {
            normal += weight * throng_vec3(throng_geometry[record + 2u] + delta * 3u);
        }
        if (shading && throng_geometry[record + 3u] != THRONG_NONE) {
            tangent += weight * throng_vec3(throng_geometry[record + 3u] + delta * 3u);
        }
    }
    result.position = position;
    if (shading) {
        result.normal = throng_unit_or(normal, result.normal);
        result.tangent.xyz = throng_unit_or(tangent, result.tangent.xyz);
    }
}

// A vertex as modelled, morphed.
ThrongVertex throng_modelled(ThrongPose pose, ThrongPrimitive primitive, uint vertex, bool shading) {
    ThrongVertex result = ThrongVertex(throng_position(primitive, vertex), vec3(0.0), vec4(0.0));
    if (shading && (primitive.flags & THRONG_HAS_NORMALS) != 0u) {
        result.normal = throng_normal(primitive, vertex);
        if ((primitive.flags & THRONG_HAS_TANGENTS) != 0u) {
            result.tangent = throng_tangent(primitive, vertex);
        }
    }
    throng_morph(pose, primitive, vertex, shading, result);
    return result;
}

// A vertex, morphed and skinned, in character space. Without `shading` only its position.
ThrongVertex throng_skin(ThrongPose pose, ThrongPrimitive primitive, uint vertex, bool shading) {
    ThrongVertex result = throng_modelled(pose, primitive, vertex, shading);
    bool has_normals = shading && (primitive.flags & THRONG_HAS_NORMALS) != 0u;
    bool has_tangents = has_normals && (primitive.flags & THRONG_HAS_TANGENTS) != 0u;
    uint method = throng_method(primitive);
    if (method == THRONG_DUAL_QUAT || method == THRONG_DUAL_QUAT_STRETCH) {
        ThrongDualQuat q = throng_blend_dual_quat(pose, primitive, vertex);
        vec3 s = q.stretch;
        result.position = throng_transform_point(q, result.position);
        if (has_normals) {
            float largest = max(max(abs(s.x), abs(s.y)), abs(s.z));
            s = largest > 0.0 ? s / largest : s;
            vec3 normal = throng_unit_or(s.yzx * s.zxy * result.normal, result.normal);
            result.normal = throng_rotate(q.real, normal);
        }
        if (has_tangents) {
            result.tangent.xyz = throng_rotate(q.real, throng_unit_or(s * result.tangent.xyz, result.tangent.xyz));
        }
        return result;
    }
    ThrongMatrix skin = throng_blend_matrix(pose, primitive, vertex);
    result.position = throng_transform_point(skin.rows, result.position);
    if (has_normals) {
        result.normal = throng_transform_normal(skin.rows, result.normal);
    }
    if (has_tangents) {
        result.tangent.xyz = throng_transform_direction(skin.rows, result.tangent.xyz);
        result.tangent.w *= throng_handedness(skin.rows);
    }
    return result;
}

vec3 throng_skinned_vec3(uint at) {
    return vec3(uintBitsToFloat(throng_skinned[at]), uintBitsToFloat(throng_skinned[at + 1u]),
                uintBitsToFloat(throng_skinned[at + 2u]));
}

// A vertex of an instance in character space: from its deformed vertices where it has some, else skinned here.
ThrongVertex throng_deform_model(ThrongInstance instance, ThrongPrimitive primitive, uint vertex, bool shading) {
    if (instance.skinned == THRONG_NONE) {
        return throng_skin(throng_pose(instance), primitive, vertex, shading);
    }
    uint base = instance.skinned;
    ThrongVertex result;
    result.position = throng_skinned_vec3(base + primitive.skinned_positions + vertex * 3u);
    result.normal = vec3(0.0);
    result.tangent = vec4(0.0);
    if (shading && (primitive.flags & THRONG_HAS_NORMALS) != 0u) {
        result.normal = throng_skinned_vec3(base + primitive.skinned_normals + vertex * 3u);
        if ((primitive.flags & THRONG_HAS_TANGENTS) != 0u) {
            uint at = base + primitive.skinned_tangents + vertex * 4u;
            result.tangent = vec4(throng_skinned_vec3(at), uintBitsToFloat(throng_skinned[at + 3u]));
        }
    }
    return result;
}

// A vertex of an instance in the world.
ThrongVertex throng_deform(ThrongInstance instance, ThrongPrimitive primitive, uint vertex) {
    ThrongVertex result = throng_deform_model(instance, primitive, vertex, true);
    result.position = throng_transform_point(instance.world_from_model, result.position);
    if ((primitive.flags & THRONG_HAS_NORMALS) != 0u) {
        result.normal = throng_transform_normal(instance.world_from_model, result.normal);
        if ((primitive.flags & THRONG_HAS_TANGENTS) != 0u) {
            result.tangent.xyz = throng_transform_direction(instance.world_from_model, result.tangent.xyz);
            result.tangent.w *= throng_handedness(instance.world_from_model);
        }
    }
    return result;
}

// The same position alone: what depth passes need, bit for bit that of throng_deform.
vec3 throng_deform_position(ThrongInstance instance, ThrongPrimitive primitive, uint vertex) {
    vec3 model = throng_deform_model(instance, primitive, vertex, false).position;
    return throng_transform_point(instance.world_from_model, model);
}

vec4 throng_transform_clip(mat4 clip_from_world, vec3 p) {
    precise vec4 clip = clip_from_world[0] * p.x + clip_from_world[1] * p.y + clip_from_world[2] * p.z + clip_from_world[3];
    return clip;
}

// Whether, of a draw for the triangles that follow one mirroring joint, this is the one with the right front
// face for the instance. `flip` is THRONG_NONE for all other draws, else the palette's entry that decides, times 2,
// and 1 if the draw is for those that mirror.
bool throng_faces(ThrongInstance instance, uint flip) {
    if (flip == THRONG_NONE) {
        return true;
    }
    ThrongMatrix entry = throng_palette(instance.source, instance.palette_base + (flip >> 1) * 3u);
    return (throng_handedness(entry.rows) < 0.0) == ((flip & 1u) != 0u);
}

#ifndef THRONG_NO_VIEW
// ---- The view's last frame --------------------------------------------------------------------

// The instance as it was in the view's last frame; as it is now where there was none, or where it was spawned
// or teleported since.
ThrongInstance throng_previous(uint index, ThrongInstance now) {
    if (index >= throng_view.history_instances) {
        return now;
    }
    uint at = throng_view.history.x + index * 24u;
    if (throng_history[at + 20u] != now.stamp) {
        return now;
    }
    ThrongInstance then = now;
    for (int r = 0; r < 3; ++r) {
        then.world_from_model[r] = throng_history_rows[(at >> 2) + uint(r)];
    }
    then.palette_base = throng_history[at + 16u];
    then.source = throng_history[at + 17u] == THRONG_SOURCE_RING ? THRONG_SOURCE_HISTORY : THRONG_SOURCE_RESIDENT;
    then.morphs = throng_history[at + 21u];
    then.skinned = throng_history[at + 22u];
    // Says to throng_previous_position that this is not the present.
    then.reserved = 1u;
    return then;
}

// A vertex's position in the world in the view's last frame.
vec3 throng_previous_position(ThrongInstance then, ThrongPrimitive primitive, uint vertex) {
    if (then.reserved == 0u) {
        return throng_deform_position(then, primitive, vertex);
    }
    vec3 model;
    if (then.skinned != THRONG_NONE) {
        uint at = throng_view.history.w + then.skinned + primitive.skinned_positions + vertex * 3u;
        model = vec3(uintBitsToFloat(throng_history[at]), uintBitsToFloat(throng_history[at + 1u]),
                     uintBitsToFloat(throng_history[at + 2u]));
    } else {
        ThrongPose pose = ThrongPose(then.source, then.palette_base, then.morphs, true);
        model = throng_skin(pose, primitive, vertex, false).position;
    }
    return throng_transform_point(then.world_from_model, model);
}
#endif

#endif
