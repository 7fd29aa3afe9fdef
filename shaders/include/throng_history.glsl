// The last frame of a view, for motion vectors. A part of throng.glsl.

#if !defined(THRONG_NO_VIEW) && !defined(THRONG_NO_INSTANCES)

// What places the vertices of an instance in the last frame of the view.
struct ThrongPast {
    vec4 world_from_model[3];
    ThrongPose pose;
    uint skinned;  // first word of its deformed vertices in that frame, or THRONG_NONE
};

// The present stands in if there was no last frame, or if the instance was spawned or teleported
// since. Transforms are in the world space of that frame: see throng_view.history_origin.
ThrongPast throng_previous(const uint instance) {
    ThrongPast past = ThrongPast(throng_instances[instance].world_from_model,
                                 throng_pose(instance), throng_instances[instance].skinned);
    for (uint row = 0u; row < 3u; ++row) {
        past.world_from_model[row].w += throng_view.history_origin[row];
    }
    if (instance < throng_view.history_instances) {
        ThrongRecords table = ThrongRecords(throng_view.history[0].xy);
        if (table.records[instance].stamp == throng_instances[instance].stamp) {
            uvec2 palette = table.records[instance].palette;
            past.world_from_model = table.records[instance].world_from_model;
            past.pose.palette = throng_palette_address(palette, throng_view.history[0].zw);
            past.pose.morphs = table.records[instance].morphs;
            past.pose.past = true;
            past.skinned = table.records[instance].skinned;
        }
    }
    return past;
}

// A word of the deformed vertices, of the present or of the last frame of the view.
float throng_past_skinned(const ThrongPast past, const uint at) {
    if (past.pose.past) {
        return uintBitsToFloat(ThrongWords(throng_view.history[1].zw).words[at]);
    }
    return uintBitsToFloat(throng_skinned[at]);
}

// A vertex's position in the world in the last frame of the view, in the world space of that frame.
vec3 throng_previous_position(const ThrongPast past, const uint primitive, const uint vertex) {
    vec3 model;
    if (throng_has(primitive, THRONG_READS_SKINNED) && past.skinned != THRONG_NONE) {
        uint at = past.skinned + throng_primitives[primitive].skinned_positions + vertex * 3u;
        model = vec3(throng_past_skinned(past, at), throng_past_skinned(past, at + 1u),
                     throng_past_skinned(past, at + 2u));
    } else {
        model = throng_skin_position(past.pose, primitive, vertex);
    }
    return throng_transform_point(past.world_from_model, model);
}

#endif
