// throng: what every shader that touches the crowd shares. Public: include it in your own vertex
// or compute shader and call throng_deform().
//
// Set 0 is throng's. Before including, a shader may define
//   THRONG_SET       the set's number (default 0)
//   THRONG_NO_VIEW   leaves out the view block and the base colour texture (compute shaders)
//
// Spaces: mesh space (as modelled, at bind time) -> character space (the asset's scene) -> world.
// Matrices are three rows of a 3x4 row-major matrix: out[r] = dot(row[r], vec4(in, 1)).

#ifndef THRONG_GLSL
#define THRONG_GLSL

#ifndef THRONG_SET
#define THRONG_SET 0
#endif

// Where an instance's palette is (ThrongInstance.source).
const uint THRONG_SOURCE_RING = 0u;      // written by the CPU, this frame's slot of the ring
const uint THRONG_SOURCE_RESIDENT = 1u;  // persists in the character's own device memory

// ThrongPrimitive.flags
const uint THRONG_JOINTS_U16 = 1u;   // joint indices have 16 bits, else 8
const uint THRONG_HAS_NORMALS = 2u;  // else the primitive is shaded flat
const uint THRONG_HAS_UVS = 4u;
const uint THRONG_HAS_COLORS = 8u;
const uint THRONG_WEIGHTS_U8 = 16u;  // weights have 8 bits, else 16
const uint THRONG_TINT_BY_ALPHA = 32u;  // the vertex colour's alpha weighs the instance's tint

struct ThrongInstance {
    vec4 world_from_model[3];
    vec4 tint;          // linear, multiplies the base colour
    uint palette_base;  // first palette entry in its source
    uint source;        // THRONG_SOURCE_*
    uint character;     // index of its character
    uint user;          // the caller's
};

// Offsets are in 32-bit words from the start of the geometry buffer.
struct ThrongPrimitive {
    uint vertex_count;
    uint palette_offset;  // first entry in the character's palette
    uint influences;      // per vertex
    uint flags;           // THRONG_*
    uint positions;       // 3 words a vertex: f32 x, y, z
    uint joints;          // influences indices a vertex, tightly packed
    uint weights;         // influences unorm16 or unorm8 a vertex, tightly packed; none if influences is 1
    uint normals;         // 1 word a vertex: octahedral snorm16 x 2
    uint uvs;             // 2 words a vertex: f32 u, v
    uint colors;          // 2 words a vertex: unorm16 r, g, b, a
    uint material;        // index of its material
    uint reserved;
    vec4 base_color;      // linear
};

struct ThrongView {
    mat4 clip_from_world;
    vec4 eye;            // xyz: world; w: 1 a position, 0 the direction towards an orthographic eye
    vec4 sun_direction;  // xyz: world, towards the sun, unit
    vec4 sun_color;      // linear, includes intensity
    vec4 sky_color;      // linear, light from straight above
    vec4 ground_color;   // linear, light from straight below
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
#ifndef THRONG_NO_VIEW
layout(set = THRONG_SET, binding = 7) uniform sampler2D throng_base_color;
#endif

struct ThrongMatrix {
    vec4 rows[3];
};

// The palette's entry: the one place that knows where palettes come from.
ThrongMatrix throng_palette(uint source, uint entry) {
    uint row = entry * 3u;
    if (source == THRONG_SOURCE_RING) {
        return ThrongMatrix(vec4[3](throng_ring_rows[row], throng_ring_rows[row + 1u], throng_ring_rows[row + 2u]));
    }
    return ThrongMatrix(
        vec4[3](throng_resident_rows[row], throng_resident_rows[row + 1u], throng_resident_rows[row + 2u]));
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

// The blended skinning matrix of a vertex: sum of weight x palette entry.
ThrongMatrix throng_skinning_matrix(ThrongInstance instance, ThrongPrimitive primitive, uint vertex) {
    uint first = instance.palette_base + primitive.palette_offset;
    uint at = vertex * primitive.influences;
    if (primitive.influences == 1u) {
        return throng_palette(instance.source, first + throng_joint(primitive, at));
    }
    ThrongMatrix sum = ThrongMatrix(vec4[3](vec4(0.0), vec4(0.0), vec4(0.0)));
    for (uint end = at + primitive.influences; at < end; ++at) {
        ThrongMatrix entry = throng_palette(instance.source, first + throng_joint(primitive, at));
        float weight = throng_weight(primitive, at);
        for (int r = 0; r < 3; ++r) {
            sum.rows[r] += weight * entry.rows[r];
        }
    }
    return sum;
}

vec3 throng_transform_point(vec4 rows[3], vec3 point) {
    vec4 p = vec4(point, 1.0);
    return vec3(dot(rows[0], p), dot(rows[1], p), dot(rows[2], p));
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
    float length2 = dot(n, n);
    if (length2 == 0.0) {
        return normal;
    }
    return n * (inversesqrt(length2) * (dot(a, bc) < 0.0 ? -1.0 : 1.0));
}

vec3 throng_position(ThrongPrimitive primitive, uint vertex) {
    uint at = primitive.positions + vertex * 3u;
    return vec3(uintBitsToFloat(throng_geometry[at]), uintBitsToFloat(throng_geometry[at + 1u]),
                uintBitsToFloat(throng_geometry[at + 2u]));
}

// Octahedral decoding, after Cigolle et al., "A Survey of Efficient Representations for Independent
// Unit Vectors", 2014.
vec3 throng_normal(ThrongPrimitive primitive, uint vertex) {
    vec2 e = unpackSnorm2x16(throng_geometry[primitive.normals + vertex]);
    vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
    float fold = max(-n.z, 0.0);
    n.xy += mix(vec2(fold), vec2(-fold), greaterThanEqual(n.xy, vec2(0.0)));
    return normalize(n);
}

vec2 throng_uv(ThrongPrimitive primitive, uint vertex) {
    uint at = primitive.uvs + vertex * 2u;
    return vec2(uintBitsToFloat(throng_geometry[at]), uintBitsToFloat(throng_geometry[at + 1u]));
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

struct ThrongVertex {
    vec3 position;  // world
    vec3 normal;    // world, unit; zero where the primitive has none
};

// A vertex's position in the world, by its blended skinning matrix.
vec3 throng_deform_position(ThrongInstance instance, ThrongPrimitive primitive, ThrongMatrix skin, uint vertex) {
    vec3 model = throng_transform_point(skin.rows, throng_position(primitive, vertex));
    return throng_transform_point(instance.world_from_model, model);
}

// A vertex of an instance, skinned and placed.
ThrongVertex throng_deform(ThrongInstance instance, ThrongPrimitive primitive, uint vertex) {
    ThrongMatrix skin = throng_skinning_matrix(instance, primitive, vertex);
    ThrongVertex result;
    result.position = throng_deform_position(instance, primitive, skin, vertex);
    result.normal = vec3(0.0);
    if ((primitive.flags & THRONG_HAS_NORMALS) != 0u) {
        vec3 normal = throng_transform_normal(skin.rows, throng_normal(primitive, vertex));
        result.normal = throng_transform_normal(instance.world_from_model, normal);
    }
    return result;
}

#endif
