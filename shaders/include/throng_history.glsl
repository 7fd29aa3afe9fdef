// The last frame of a view, for motion vectors. A part of throng.glsl.

#if !defined(THRONG_NO_VIEW) && !defined(THRONG_NO_INSTANCES)

// An instance as it was in the last frame of the view.
struct ThrongPast {
    ThrongInstance instance;
    bool known;  // false if the present stands in for it
};

// The present stands in if there was no last frame, or if the instance was spawned or teleported
// since.
ThrongPast throng_previous(const uint index, const ThrongInstance now) {
    if (index >= throng_view.history_instances) {
        return ThrongPast(now, false);
    }
    ThrongInstance then = ThrongRecords(throng_view.history[0].xy).records[index];
    if (then.stamp != now.stamp) {
        return ThrongPast(now, false);
    }
    return ThrongPast(then, true);
}

vec3 throng_history_vec3(const uint at) {
    ThrongWords skinned = ThrongWords(throng_view.history[1].zw);
    return vec3(uintBitsToFloat(skinned.words[at]), uintBitsToFloat(skinned.words[at + 1u]),
                uintBitsToFloat(skinned.words[at + 2u]));
}

// A vertex's position in the world in the last frame of the view.
vec3 throng_previous_position(const ThrongPast then, const uint primitive, const uint vertex) {
    if (!then.known) {
        return throng_deform_position(then.instance, primitive, vertex);
    }
    vec3 model;
    if (then.instance.skinned != THRONG_NONE) {
        uint positions = throng_primitives[primitive].skinned_positions;
        model = throng_history_vec3(then.instance.skinned + positions + vertex * 3u);
    } else {
        bool in_ring = then.instance.source == THRONG_SOURCE_RING;
        uvec2 base = in_ring ? throng_view.history[0].zw : uvec2(0u);
        uvec2 palette = throng_add(base, then.instance.palette);
        ThrongPose pose = ThrongPose(palette, then.instance.morphs, true);
        model = throng_skin_position(pose, primitive, vertex);
    }
    return throng_transform_point(then.instance.world_from_model, model);
}

#endif
