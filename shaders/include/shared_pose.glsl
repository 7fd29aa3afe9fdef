// Poses that stand in for those of instances.

// The shared pose next to what an instance plays with the most weight, or else its rest palette.
uvec2 shared_pose(const uint character, const uint plays) {
    Rows records = Rows(uvec2(plays_low, plays_high));
    uvec2 directory = uvec2(work[character + CHARACTER_SHARED],
                            work[character + CHARACTER_SHARED + 1u]);
    uvec2 palette = uvec2(work[character + CHARACTER_REST], work[character + CHARACTER_REST + 1u]);
    if (directory == uvec2(0u)) {
        return palette;
    }
    uvec2 now = uvec2(now_low, now_high);
    uint first = plays >> PLAY_COUNT_BITS, count = plays & ((1u << PLAY_COUNT_BITS) - 1u);
    float most = 0.0;
    for (uint number = 0u; number < count; ++number) {
        Play play = played_at(records, first + number);
        // First row, steps, and the length.
        uvec4 entry = Rows(directory).rows[play.clip & 0xFFFFu];
        float weight = weight_at(play, now);
        if (entry.x == 0u || weight <= most) {
            continue;
        }
        most = weight;
        uvec2 span = entry.zw;
        uvec2 position = position_at(play, now, span);
        float length = float(span.y) * 4294967296.0 + float(span.x);
        float part = length > 0.0 ? (float(position.y) * 4294967296.0 + float(position.x)) / length
                                  : 0.0;
        uint step = min(uint(part * float(entry.y) + 0.5), entry.y);
        uint row = entry.x + step * work[character + CHARACTER_PALETTE_ROWS];
        palette = sum(directory, uvec2(row << 4, row >> 28));
    }
    return palette;
}
