// Palettes and how their entries are blended. A part of throng.glsl.
//
// All variables on the way to a position are `precise`: whichever pass a shader belongs to, and
// whatever else it computes, the bits of a position are the same. Depth prepasses and motion
// vectors rely on it. dot() and cross() cannot be precise, so they are written out. A precise fma()
// gives equal results everywhere (GLSL 4.60, section 8.3). glslang and shaderc forget to say so in
// SPIR-V, so the build of this crate adds the decoration NoContraction to each fma().

#ifndef THRONG_NO_INSTANCES

struct ThrongMatrix {
    vec4 rows[3];
};

uint throng_method(const uint primitive) {
    return throng_variant(primitive) >> THRONG_METHOD_SHIFT & 3u;
}

bool throng_is_dual_quat(const uint method) {
    return method == THRONG_DUAL_QUAT || method == THRONG_DUAL_QUAT_STRETCH;
}

// Bytes of a palette entry.
uint throng_entry_bytes(const uint method) {
    return method == THRONG_DUAL_QUAT || method == THRONG_QUAT_OFFSET ? 32u : 48u;
}

// Adds bytes to a device address.
uvec2 throng_add(const uvec2 address, const uint bytes) {
    uint carry;
    uint low = uaddCarry(address.x, bytes, carry);
    return uvec2(low, address.y + carry);
}

// The palette and the morph weights that deform a vertex.
struct ThrongPose {
    uvec2 palette;  // device address
    uint morphs;    // first word of the active morph weights, or THRONG_NONE
    bool past;      // true if the morph weights are those of the view's last frame
};

// The device address of a palette, with the address of the palettes of its frame in the ring.
uvec2 throng_palette_address(const uvec2 palette, const uvec2 ring) {
    uvec2 in_ring = throng_add(ring, palette.x);
    return palette.y == THRONG_NONE ? in_ring : palette;
}

// The pose of an instance, given by its index in the table.
ThrongPose throng_pose(const uint instance) {
    uvec2 palette = throng_instances[instance].palette;
#ifdef THRONG_RING_PALETTES
    palette = throng_palette_address(palette, THRONG_RING_PALETTES);
#endif
    return ThrongPose(palette, throng_instances[instance].morphs, false);
}

// Three rows at a device address: an entry of the linear method.
ThrongMatrix throng_palette_matrix(const uvec2 at) {
    return ThrongMatrix(ThrongRows3(at).rows);
}

// The matrix of a rotation (unit quaternion), a uniform scale and an offset.
ThrongMatrix throng_quat_offset_matrix(const vec4 q, const vec4 offset_scale) {
    precise vec3 d = q.xyz + q.xyz;
    precise vec3 xx = q.x * d;
    precise vec3 yy = q.y * d;
    precise vec3 w = q.w * d;
    precise float zz = q.z * d.z;
    float s = offset_scale.w;
    precise vec3 a = s * vec3(1.0 - (yy.y + zz), xx.y - w.z, xx.z + w.y);
    precise vec3 b = s * vec3(xx.y + w.z, 1.0 - (xx.x + zz), yy.z - w.x);
    precise vec3 c = s * vec3(xx.z - w.y, yy.z + w.x, 1.0 - (xx.x + yy.y));
    return ThrongMatrix(vec4[3](vec4(a, offset_scale.x), vec4(b, offset_scale.y),
                                vec4(c, offset_scale.z)));
}

// The device address of the first entry of a primitive's range of a palette.
uvec2 throng_first_entry(const uint primitive, const uvec2 palette) {
    uint bytes = throng_entry_bytes(throng_method(primitive));
    return throng_add(palette, throng_primitives[primitive].palette_offset * bytes);
}

// The device address of an entry of that range.
uvec2 throng_entry(const uint primitive, const uvec2 first, const uint joint) {
    return throng_add(first, joint * throng_entry_bytes(throng_method(primitive)));
}

// An entry of a palette as a matrix, for the methods that blend matrices.
ThrongMatrix throng_entry_matrix(const uint primitive, const uvec2 first, const uint joint) {
    uvec2 at = throng_entry(primitive, first, joint);
    if (throng_method(primitive) == THRONG_QUAT_OFFSET) {
        vec4 rows[2] = ThrongRows2(at).rows;
        return throng_quat_offset_matrix(rows[0], rows[1]);
    }
    return throng_palette_matrix(at);
}

// Adds the weighted difference of an entry from the strongest one.
void throng_add_matrix(inout ThrongMatrix sum, const ThrongMatrix first, const ThrongMatrix entry,
                       const float weight) {
    precise ThrongMatrix result = sum;
    for (int row = 0; row < 3; ++row) {
        result.rows[row] = fma(vec4(weight), entry.rows[row] - first.rows[row], sum.rows[row]);
    }
    sum = result;
}

// The blended matrix of a vertex: the strongest entry, and weighted differences of the others from
// it. So equal entries give that entry exactly, whatever the rounding of the weights.
ThrongMatrix throng_blend_matrix(const ThrongPose pose, const uint primitive, const uint vertex) {
    uvec2 range = throng_first_entry(primitive, pose.palette);
    ThrongInfluences four = throng_first_influences(primitive, vertex);
    ThrongMatrix first = throng_entry_matrix(primitive, range, four.joints.x);
    ThrongMatrix sum = first;
    if (throng_has(primitive, THRONG_ONE_INFLUENCE)) {
        return sum;
    }
    for (uint at = 0u; at < 3u; ++at) {
        ThrongMatrix entry = throng_entry_matrix(primitive, range, four.joints[at + 1u]);
        throng_add_matrix(sum, first, entry, four.weights[at]);
    }
    if (throng_has(primitive, THRONG_MANY_INFLUENCES)) {
        uint count = throng_primitives[primitive].influence_count;
        for (uint block = 1u; block * 4u < count; ++block) {
            uvec4 words = throng_more_influences(primitive, vertex, block);
            uvec4 joints = throng_unpack_u16(words.xy);
            vec4 weights = throng_unpack_weights(words.zw);
            for (uint at = 0u; at < 4u; ++at) {
                ThrongMatrix entry = throng_entry_matrix(primitive, range, joints[at]);
                throng_add_matrix(sum, first, entry, weights[at]);
            }
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

ThrongDualQuat throng_dual_quat(const uint primitive, const uvec2 first, const uint joint) {
    uvec2 at = throng_entry(primitive, first, joint);
    if (throng_method(primitive) == THRONG_DUAL_QUAT_STRETCH) {
        vec4 rows[3] = ThrongRows3(at).rows;
        return ThrongDualQuat(rows[0], rows[1], rows[2].xyz);
    }
    vec4 rows[2] = ThrongRows2(at).rows;
    return ThrongDualQuat(rows[0], rows[1], vec3(1.0));
}

float throng_dot(const vec4 a, const vec4 b) {
    precise float result = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    return result;
}

// Adds the weighted difference of an entry from the strongest one. Each entry is taken with the
// sign that puts it on the side of the strongest one.
void throng_add_dual_quat(inout ThrongDualQuat sum, const ThrongDualQuat first,
                          const ThrongDualQuat entry, const float weight) {
    float side = throng_dot(entry.real, first.real) < 0.0 ? -1.0 : 1.0;
    precise ThrongDualQuat result = sum;
    result.real = fma(vec4(weight), side * entry.real - first.real, sum.real);
    result.dual = fma(vec4(weight), side * entry.dual - first.dual, sum.dual);
    result.stretch = fma(vec3(weight), entry.stretch - first.stretch, sum.stretch);
    sum = result;
}

// The blended dual quaternion of a vertex, of unit length. After Kavan, Collins, Zara, O'Sullivan,
// "Geometric Skinning with Approximate Dual Quaternion Blending", 2008.
ThrongDualQuat throng_blend_dual_quat(const ThrongPose pose, const uint primitive,
                                      const uint vertex) {
    uvec2 range = throng_first_entry(primitive, pose.palette);
    ThrongInfluences four = throng_first_influences(primitive, vertex);
    ThrongDualQuat first = throng_dual_quat(primitive, range, four.joints.x);
    if (throng_has(primitive, THRONG_ONE_INFLUENCE)) {
        return first;
    }
    ThrongDualQuat sum = first;
    for (uint at = 0u; at < 3u; ++at) {
        ThrongDualQuat entry = throng_dual_quat(primitive, range, four.joints[at + 1u]);
        throng_add_dual_quat(sum, first, entry, four.weights[at]);
    }
    if (throng_has(primitive, THRONG_MANY_INFLUENCES)) {
        uint count = throng_primitives[primitive].influence_count;
        for (uint block = 1u; block * 4u < count; ++block) {
            uvec4 words = throng_more_influences(primitive, vertex, block);
            uvec4 joints = throng_unpack_u16(words.xy);
            vec4 weights = throng_unpack_weights(words.zw);
            for (uint at = 0u; at < 4u; ++at) {
                ThrongDualQuat entry = throng_dual_quat(primitive, range, joints[at]);
                throng_add_dual_quat(sum, first, entry, weights[at]);
            }
        }
    }
    float length2 = throng_dot(sum.real, sum.real);
    if (length2 > 1e-12) {
        precise float scale = 1.0 / sqrt(length2);
        precise vec4 real = sum.real * scale;
        precise vec4 dual = sum.dual * scale;
        sum.real = real;
        sum.dual = dual;
    } else {
        // Opposite rotations cancel out. The strongest is used.
        sum.real = first.real;
        sum.dual = first.dual;
    }
    return sum;
}

#endif
