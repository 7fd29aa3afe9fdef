// Palettes and how their entries are blended. A part of throng.glsl.
//
// All variables on the way to a position are `precise`: whichever pass a shader belongs to, and
// whatever else it computes, the bits of a position are the same. Depth prepasses and motion
// vectors rely on it. dot() and cross() cannot be precise, so they are written out.

#ifndef THRONG_NO_INSTANCES

struct ThrongMatrix {
    vec4 rows[3];
};

#ifdef THRONG_METHOD
uint throng_method(const uint primitive) { return THRONG_METHOD; }
#else
uint throng_method(const uint primitive) {
    return throng_primitives[primitive].flags >> THRONG_METHOD_SHIFT & 3u;
}
#endif

bool throng_is_dual_quat(const uint method) {
    return method == THRONG_DUAL_QUAT || method == THRONG_DUAL_QUAT_STRETCH;
}

// Rows of a palette entry.
uint throng_entry_rows(const uint method) {
    return method == THRONG_DUAL_QUAT || method == THRONG_QUAT_OFFSET ? 2u : 3u;
}

// Adds an offset in bytes to a device address.
uvec2 throng_add(const uvec2 address, const uvec2 bytes) {
    uint carry;
    uint low = uaddCarry(address.x, bytes.x, carry);
    return uvec2(low, address.y + bytes.y + carry);
}

// The palette and the morph weights that deform a vertex.
struct ThrongPose {
    uvec2 palette;  // device address
    uint morphs;    // first word of the active morph weights, or THRONG_NONE
    bool past;      // true if the morph weights are those of the view's last frame
};

ThrongPose throng_pose(const ThrongInstance instance) {
    uvec2 ring = THRONG_RING_PALETTES;
    uvec2 base = instance.source == THRONG_SOURCE_RING ? ring : uvec2(0u);
    return ThrongPose(throng_add(base, instance.palette), instance.morphs, false);
}

// A row of a palette.
vec4 throng_row(const uvec2 palette, const uint row) {
    return ThrongRows(palette).rows[row];
}

// Three rows of a palette from `row`: an entry of the linear method.
ThrongMatrix throng_palette(const uvec2 palette, const uint row) {
    return ThrongMatrix(vec4[3](throng_row(palette, row), throng_row(palette, row + 1u),
                                throng_row(palette, row + 2u)));
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

// The first row of an entry of the palette.
uint throng_entry_row(const uint primitive, const uint joint) {
    uint entry = throng_primitives[primitive].palette_offset + joint;
    return entry * throng_entry_rows(throng_method(primitive));
}

// An entry of a palette as a matrix, for the methods that blend matrices.
ThrongMatrix throng_entry_matrix(const uint primitive, const uvec2 palette, const uint joint) {
    uint row = throng_entry_row(primitive, joint);
    if (throng_method(primitive) == THRONG_QUAT_OFFSET) {
        return throng_quat_offset_matrix(throng_row(palette, row), throng_row(palette, row + 1u));
    }
    return throng_palette(palette, row);
}

// The blended matrix of a vertex: the strongest entry, and weighted differences of the others from
// it. So equal entries give that entry exactly, whatever the rounding of the weights.
ThrongMatrix throng_blend_matrix(const ThrongPose pose, const uint primitive, const uint vertex) {
    uvec4 joints = throng_joints(primitive, vertex, 0u);
    ThrongMatrix first = throng_entry_matrix(primitive, pose.palette, joints.x);
    precise ThrongMatrix sum = first;
    uint count = throng_influences(primitive);
    if (count < 2u) {
        return sum;
    }
    vec4 weights = throng_weights(primitive, vertex, 0u);
    for (uint at = 1u; at < count; ++at) {
        // The next influence is shifted into x, so that no variable indexes a vector.
        if ((at & 3u) == 0u) {
            joints = throng_joints(primitive, vertex, at >> 2);
            weights = throng_weights(primitive, vertex, at >> 2);
        } else {
            joints = joints.yzww;
            weights = weights.yzww;
        }
        float weight = weights.x;
        if (weight == 0.0) {
            break;
        }
        ThrongMatrix entry = throng_entry_matrix(primitive, pose.palette, joints.x);
        sum.rows[0] += weight * (entry.rows[0] - first.rows[0]);
        sum.rows[1] += weight * (entry.rows[1] - first.rows[1]);
        sum.rows[2] += weight * (entry.rows[2] - first.rows[2]);
    }
    return sum;
}

// A rotation, a translation and, before both, a stretch along the axes of mesh space.
struct ThrongDualQuat {
    vec4 real;
    vec4 dual;
    vec3 stretch;
};

ThrongDualQuat throng_dual_quat(const uint primitive, const uvec2 palette, const uint joint) {
    uint row = throng_entry_row(primitive, joint);
    vec3 stretch = vec3(1.0);
    if (throng_method(primitive) == THRONG_DUAL_QUAT_STRETCH) {
        stretch = throng_row(palette, row + 2u).xyz;
    }
    return ThrongDualQuat(throng_row(palette, row), throng_row(palette, row + 1u), stretch);
}

float throng_dot(const vec4 a, const vec4 b) {
    precise float result = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    return result;
}

// The blended dual quaternion of a vertex, of unit length. Each entry is taken with the sign that
// puts it on the side of the strongest one. After Kavan, Collins, Zara, O'Sullivan, "Geometric
// Skinning with Approximate Dual Quaternion Blending", 2008.
ThrongDualQuat throng_blend_dual_quat(const ThrongPose pose, const uint primitive,
                                      const uint vertex) {
    uvec4 joints = throng_joints(primitive, vertex, 0u);
    ThrongDualQuat first = throng_dual_quat(primitive, pose.palette, joints.x);
    uint count = throng_influences(primitive);
    if (count < 2u) {
        return first;
    }
    vec4 weights = throng_weights(primitive, vertex, 0u);
    precise ThrongDualQuat sum = first;
    for (uint at = 1u; at < count; ++at) {
        // The next influence is shifted into x, so that no variable indexes a vector.
        if ((at & 3u) == 0u) {
            joints = throng_joints(primitive, vertex, at >> 2);
            weights = throng_weights(primitive, vertex, at >> 2);
        } else {
            joints = joints.yzww;
            weights = weights.yzww;
        }
        float weight = weights.x;
        if (weight == 0.0) {
            break;
        }
        ThrongDualQuat entry = throng_dual_quat(primitive, pose.palette, joints.x);
        float side = throng_dot(entry.real, first.real) < 0.0 ? -1.0 : 1.0;
        sum.real += weight * (side * entry.real - first.real);
        sum.dual += weight * (side * entry.dual - first.dual);
        sum.stretch += weight * (entry.stretch - first.stretch);
    }
    float length2 = throng_dot(sum.real, sum.real);
    if (length2 > 1e-12) {
        precise float scale = 1.0 / sqrt(length2);
        sum.real *= scale;
        sum.dual *= scale;
    } else {
        // Opposite rotations cancel out. The strongest is used.
        sum.real = first.real;
        sum.dual = first.dual;
    }
    return sum;
}

#endif
