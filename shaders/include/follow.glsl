// Stage compact, in frames with histories: motion vectors of instances that views hid in the frame
// before. They move by the history's transform, as if they had been shown. So does a shared pose,
// which is noted while they are hidden. One with a pose of its own, or with deformed vertices, has
// none from then: its present pose stands in for that.

const uint INSTANCE_SKINNED = 31u;

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Records { uint words[]; };

// Notes an instance that is hidden. `own` says that it would need a palette of its own.
void pass_over(const uint instance, const uint character, const uint flags, const uint plays,
               const bool own) {
    bool posed = (flags & ACTOR_POSED) != 0u;
    if (posed && (own || (flags & ACTOR_SKINS) != 0u)) {
        table_words[shown_at + instance * SHOWN_WORDS] = ~frame;
        return;
    }
    show(instance);
    if (posed) {
        set_palette(instance, shared_pose(character, plays));
    }
}

// Gives the records of histories that have another stamp than the instance, but for its return, the
// present palette.
void stand_in(const uint instance) {
    uint at = instance * INSTANCE_WORDS, stamp = table_words[at + INSTANCE_STAMP];
    uvec2 palette = uvec2(table_words[at + INSTANCE_PALETTE],
                          table_words[at + INSTANCE_PALETTE + 1u]);
    uint views = LATE ? chunks_end : view_count;
    for (uint view = 0u; view < views; ++view) {
        uint flags = floatBitsToUint(view_rows[view * VIEW_ROWS + 11u].y);
        uvec4 history = floatBitsToUint(view_rows[occlusion_in_views(view) + OCCLUSION_HISTORY]);
        Records past = Records(history.xy);
        if ((flags & VIEW_HISTORY) == 0u || past.words[at + INSTANCE_STAMP] != stamp - 1u
            || past.words[at + INSTANCE_MORPHS] != NO_ADDRESS) {
            continue;
        }
        uvec2 present = palette.y == NO_ADDRESS ? sum(history.zw, uvec2(palette.x, 0u)) : palette;
        past.words[at + INSTANCE_STAMP] = stamp;
        past.words[at + INSTANCE_PALETTE] = present.x;
        past.words[at + INSTANCE_PALETTE + 1u] = present.y;
        past.words[at + INSTANCE_SKINNED] = NO_ADDRESS;
    }
}
