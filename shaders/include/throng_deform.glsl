// Morph targets, skinning and deformed vertices. A part of throng.glsl.

#ifndef THRONG_NO_INSTANCES

// A vertex. Its normal and tangent are zero if the primitive has none. throng_deform and
// throng_skin return unit vectors; what leads to them keeps no length. The tangent's w is the sign
// of the bitangent cross(normal, tangent) * w.
struct ThrongVertex {
    vec3 position;
    vec3 normal;
    vec4 tangent;
};

// ---- Morph targets ----------------------------------------------------------------------------

uint throng_morph_word(const ThrongPose pose, const uint at) {
#ifndef THRONG_NO_VIEW
    if (pose.past) {
        return ThrongWords(throng_view.history[1].xy).words[at];
    }
#endif
    return throng_morphs[at];
}

// The number of active morph weights. The list has this count first, then the index and the value
// of each weight that is not 0.
uint throng_morph_count(const ThrongPose pose, const uint primitive) {
    if (!throng_has(primitive, THRONG_HAS_TARGETS) || pose.morphs == THRONG_NONE) {
        return 0u;
    }
    return throng_morph_word(pose, pose.morphs);
}

// The index of a vertex among the deltas of a target, or THRONG_NONE. The mask has two words for
// every 32 vertices: which of them the target moves, and how many it moves before them.
uint throng_delta(const uint mask, const uint vertex) {
    uint at = mask + (vertex >> 5) * 2u;
    uint bits = throng_mesh[at];
    uint bit = 1u << (vertex & 31u);
    if ((bits & bit) == 0u) {
        return THRONG_NONE;
    }
    return throng_mesh[at + 1u] + uint(bitCount(bits & (bit - 1u)));
}

// An active morph weight of a vertex.
struct ThrongMorph {
    uint record;   // first word of the target, THRONG_NONE if it does not move the vertex
    uint delta;    // index of the vertex among the target's deltas
    float weight;
};

ThrongMorph throng_morph(const ThrongPose pose, const uint primitive, const uint vertex,
                         const uint number) {
    uint at = pose.morphs + 1u + number * 2u;
    uint target = throng_morph_word(pose, at) - throng_primitives[primitive].first_weight;
    if (target >= throng_primitives[primitive].target_count) {
        return ThrongMorph(THRONG_NONE, 0u, 0.0);
    }
    uint record = throng_primitives[primitive].targets + target * 4u;
    uint delta = throng_delta(throng_mesh[record], vertex);
    if (delta == THRONG_NONE) {
        return ThrongMorph(THRONG_NONE, 0u, 0.0);
    }
    return ThrongMorph(record, delta, uintBitsToFloat(throng_morph_word(pose, at + 1u)));
}

// A vertex's position as modelled, morphed.
vec3 throng_modelled_position(const ThrongPose pose, const uint primitive, const uint vertex) {
    precise vec3 position = throng_position(primitive, vertex);
    uint count = throng_morph_count(pose, primitive);
    for (uint number = 0u; number < count; ++number) {
        ThrongMorph morph = throng_morph(pose, primitive, vertex, number);
        if (morph.record != THRONG_NONE) {
            uint at = throng_mesh[morph.record + 1u] + morph.delta * 3u;
            position += morph.weight * throng_vec3(at);
        }
    }
    return position;
}

// A vertex as modelled, morphed. Normal and tangent have any length.
ThrongVertex throng_modelled(const ThrongPose pose, const uint primitive, const uint vertex) {
    ThrongVertex result = ThrongVertex(throng_modelled_position(pose, primitive, vertex),
                                       vec3(0.0), vec4(0.0));
    if (!throng_has(primitive, THRONG_HAS_NORMALS)) {
        return result;
    }
    result.normal = throng_normal_direction(primitive, vertex);
    if (throng_has(primitive, THRONG_HAS_TANGENTS)) {
        result.tangent = throng_tangent_direction(primitive, vertex);
    }
    uint count = throng_morph_count(pose, primitive);
    if (count == 0u) {
        return result;
    }
    vec3 own_normal = throng_unit(result.normal), own_tangent = throng_unit(result.tangent.xyz);
    vec3 normal = own_normal, tangent = own_tangent;
    for (uint number = 0u; number < count; ++number) {
        ThrongMorph morph = throng_morph(pose, primitive, vertex, number);
        if (morph.record == THRONG_NONE) {
            continue;
        }
        uint normals = throng_mesh[morph.record + 2u];
        if (normals != THRONG_NONE) {
            normal += morph.weight * throng_vec3(normals + morph.delta * 3u);
        }
        uint tangents = throng_mesh[morph.record + 3u];
        if (tangents != THRONG_NONE) {
            tangent += morph.weight * throng_vec3(tangents + morph.delta * 3u);
        }
    }
    result.normal = throng_unit_or(normal, own_normal);
    result.tangent.xyz = throng_unit_or(tangent, own_tangent);
    return result;
}

// ---- Skinning ---------------------------------------------------------------------------------

// Turns a vertex by a blended dual quaternion. Stretches of more than a few powers of ten either
// way need THRONG_EXTREME_SCALES.
void throng_turn(const ThrongDualQuat q, const uint primitive, inout ThrongVertex vertex) {
    vec3 normal = vertex.normal, tangent = vertex.tangent.xyz;
    if (throng_method(primitive) == THRONG_DUAL_QUAT_STRETCH) {
        vec3 s = q.stretch;
        if (throng_has(primitive, THRONG_EXTREME_SCALES)) {
            float largest = max(max(abs(s.x), abs(s.y)), abs(s.z));
            s = largest > 0.0 ? s / largest : s;
            normal = throng_unit_or(s.yzx * s.zxy * normal, normal);
            tangent = throng_unit_or(s * tangent, tangent);
        } else {
            normal *= s.yzx * s.zxy;
            tangent *= s;
        }
    }
    vertex.normal = throng_rotate(q.real, normal);
    vertex.tangent.xyz = throng_rotate(q.real, tangent);
}

// Turns a vertex by a blended matrix.
void throng_turn(const ThrongMatrix skin, const uint primitive, inout ThrongVertex vertex) {
    vec3 a = skin.rows[0].xyz, b = skin.rows[1].xyz, c = skin.rows[2].xyz;
    bool extreme = throng_has(primitive, THRONG_EXTREME_SCALES);
    if (extreme) {
        throng_scale_to_one(a, b, c);
    }
    vec4 normal = throng_transform_normal(a, b, c, vertex.normal);
    vec3 t = vertex.tangent.xyz;
    vec3 tangent = vec3(dot(a, t), dot(b, t), dot(c, t));
    vertex.normal = extreme ? throng_unit_or(normal.xyz, vertex.normal) : normal.xyz;
    vertex.tangent.xyz = extreme ? throng_unit_or(tangent, t) : tangent;
    vertex.tangent.w = throng_switch_sign(vertex.tangent.w, normal.w);
}

// A vertex, morphed and skinned, in character space. Normal and tangent have any length.
ThrongVertex throng_skin_any(const ThrongPose pose, const uint primitive, const uint vertex) {
    ThrongVertex result = throng_modelled(pose, primitive, vertex);
    if (throng_is_dual_quat(throng_method(primitive))) {
        ThrongDualQuat q = throng_blend_dual_quat(pose, primitive, vertex);
        result.position = throng_transform_point(q, result.position);
        throng_turn(q, primitive, result);
    } else {
        ThrongMatrix skin = throng_blend_matrix(pose, primitive, vertex);
        result.position = throng_transform_point(skin.rows, result.position);
        throng_turn(skin, primitive, result);
    }
    return result;
}

// A vertex, morphed and skinned, in character space.
ThrongVertex throng_skin(const ThrongPose pose, const uint primitive, const uint vertex) {
    ThrongVertex result = throng_skin_any(pose, primitive, vertex);
    result.normal = throng_unit(result.normal);
    result.tangent.xyz = throng_unit(result.tangent.xyz);
    return result;
}

// The position alone, with the bits of throng_skin.
vec3 throng_skin_position(const ThrongPose pose, const uint primitive, const uint vertex) {
    vec3 position = throng_modelled_position(pose, primitive, vertex);
    if (throng_is_dual_quat(throng_method(primitive))) {
        return throng_transform_point(throng_blend_dual_quat(pose, primitive, vertex), position);
    }
    return throng_transform_point(throng_blend_matrix(pose, primitive, vertex).rows, position);
}

// ---- Instances --------------------------------------------------------------------------------

vec3 throng_skinned_vec3(const uint at) {
    return vec3(uintBitsToFloat(throng_skinned[at]), uintBitsToFloat(throng_skinned[at + 1u]),
                uintBitsToFloat(throng_skinned[at + 2u]));
}

// Whether an instance has deformed vertices.
bool throng_is_skinned(const uint instance, const uint primitive) {
    return throng_has(primitive, THRONG_READS_SKINNED)
           && throng_instances[instance].skinned != THRONG_NONE;
}

// The deformed vertex of an instance that has some.
ThrongVertex throng_skinned_vertex(const uint base, const uint primitive, const uint vertex) {
    uint at = base + throng_primitives[primitive].skinned_positions + vertex * 3u;
    ThrongVertex result = ThrongVertex(throng_skinned_vec3(at), vec3(0.0), vec4(0.0));
    if (throng_has(primitive, THRONG_HAS_NORMALS)) {
        at = base + throng_primitives[primitive].skinned_normals + vertex * 3u;
        result.normal = throng_skinned_vec3(at);
        if (throng_has(primitive, THRONG_HAS_TANGENTS)) {
            at = base + throng_primitives[primitive].skinned_tangents + vertex * 4u;
            float side = uintBitsToFloat(throng_skinned[at + 3u]);
            result.tangent = vec4(throng_skinned_vec3(at), side);
        }
    }
    return result;
}

// A vertex in the world of an instance, given by its index in the table. It is read if the instance has deformed vertices, and
// skinned here otherwise.
ThrongVertex throng_deform(const uint instance, const uint primitive, const uint vertex) {
    ThrongVertex result;
    if (throng_is_skinned(instance, primitive)) {
        result = throng_skinned_vertex(throng_instances[instance].skinned, primitive, vertex);
    } else {
        result = throng_skin_any(throng_pose(instance), primitive, vertex);
    }
    vec4 world[3] = throng_instances[instance].world_from_model;
    vec3 n = result.normal;
    vec3 normal = vec3(dot(throng_instances[instance].normal_x, n),
                       dot(throng_instances[instance].normal_y, n),
                       dot(throng_instances[instance].normal_z, n));
    vec3 tangent = throng_transform_direction(world, result.tangent.xyz);
    result.position = throng_transform_point(world, result.position);
    result.normal = throng_unit(normal);
    float side = result.tangent.w * throng_instances[instance].side;
    result.tangent = vec4(throng_unit(tangent), side);
    return result;
}

// The position alone, with the bits of throng_deform: for passes that write only depth.
vec3 throng_deform_position(const uint instance, const uint primitive, const uint vertex) {
    vec3 model;
    if (throng_is_skinned(instance, primitive)) {
        uint positions = throng_primitives[primitive].skinned_positions;
        uint base = throng_instances[instance].skinned;
        model = throng_skinned_vec3(base + positions + vertex * 3u);
    } else {
        model = throng_skin_position(throng_pose(instance), primitive, vertex);
    }
    return throng_transform_point(throng_instances[instance].world_from_model, model);
}

#endif
