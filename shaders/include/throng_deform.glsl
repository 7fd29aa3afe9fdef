// Morph targets, skinning and deformed vertices. A part of throng.glsl.

#ifndef THRONG_NO_INSTANCES

// A vertex in mesh or character space. Normal and tangent are unit vectors if the primitive has
// them, otherwise zero. The tangent's w is the sign of the bitangent cross(normal, tangent) * w.
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
    if (throng_primitives[primitive].target_count == 0u || pose.morphs == THRONG_NONE) {
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

// A vertex as modelled, morphed.
ThrongVertex throng_modelled(const ThrongPose pose, const uint primitive, const uint vertex) {
    vec3 position = throng_modelled_position(pose, primitive, vertex);
    if (!throng_has(primitive, THRONG_HAS_NORMALS)) {
        return ThrongVertex(position, vec3(0.0), vec4(0.0));
    }
    vec3 own_normal = throng_normal(primitive, vertex);
    vec4 own_tangent = vec4(0.0);
    if (throng_has(primitive, THRONG_HAS_TANGENTS)) {
        own_tangent = throng_tangent(primitive, vertex);
    }
    vec3 normal = own_normal;
    vec3 tangent = own_tangent.xyz;
    uint count = throng_morph_count(pose, primitive);
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
    if (count > 0u) {
        normal = throng_unit_or(normal, own_normal);
        tangent = throng_unit_or(tangent, own_tangent.xyz);
    }
    return ThrongVertex(position, normal, vec4(tangent, own_tangent.w));
}

// ---- Skinning ---------------------------------------------------------------------------------

// A vertex, morphed and skinned, in character space.
ThrongVertex throng_skin(const ThrongPose pose, const uint primitive, const uint vertex) {
    ThrongVertex result = throng_modelled(pose, primitive, vertex);
    bool has_normals = throng_has(primitive, THRONG_HAS_NORMALS);
    bool has_tangents = has_normals && throng_has(primitive, THRONG_HAS_TANGENTS);
    if (throng_is_dual_quat(throng_method(primitive))) {
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
            vec3 tangent = throng_unit_or(s * result.tangent.xyz, result.tangent.xyz);
            result.tangent.xyz = throng_rotate(q.real, tangent);
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

// A vertex of an instance in character space. It is read if the instance has deformed vertices, and
// skinned here otherwise.
ThrongVertex throng_deform_model(const ThrongInstance instance, const uint primitive,
                                 const uint vertex) {
    if (instance.skinned == THRONG_NONE) {
        return throng_skin(throng_pose(instance), primitive, vertex);
    }
    uint base = instance.skinned;
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

// A vertex of an instance in the world.
ThrongVertex throng_deform(const ThrongInstance instance, const uint primitive, const uint vertex) {
    ThrongVertex result = throng_deform_model(instance, primitive, vertex);
    result.position = throng_transform_point(instance.world_from_model, result.position);
    if (throng_has(primitive, THRONG_HAS_NORMALS)) {
        result.normal = throng_transform_normal(instance.world_from_model, result.normal);
        if (throng_has(primitive, THRONG_HAS_TANGENTS)) {
            vec3 tangent = result.tangent.xyz;
            result.tangent.xyz = throng_transform_direction(instance.world_from_model, tangent);
            result.tangent.w *= throng_handedness(instance.world_from_model);
        }
    }
    return result;
}

// The position alone, with the bits of throng_deform: for passes that write only depth.
vec3 throng_deform_position(const ThrongInstance instance, const uint primitive,
                            const uint vertex) {
    vec3 model;
    if (instance.skinned == THRONG_NONE) {
        model = throng_skin_position(throng_pose(instance), primitive, vertex);
    } else {
        uint positions = throng_primitives[primitive].skinned_positions;
        model = throng_skinned_vec3(instance.skinned + positions + vertex * 3u);
    }
    return throng_transform_point(instance.world_from_model, model);
}

#endif
