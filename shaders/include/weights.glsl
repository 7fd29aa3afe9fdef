// Morph weights of clips. A part of animate.comp. src/gpu/animation/weights.rs makes their tables.

// Rows of the header of weights at even times: those of a clip, and the length of the clip.
const uint WEIGHTS_SPAN = 3u;

// The value of a weight at one of two frames.
float weight_key(const Words all, const uint frame, const uvec4 column) {
    uint at = frame + (column.z >> 5), shift = column.z & 31u;
    uint low = all.words[at] >> shift;
    uint high = shift == 0u ? 0u : all.words[at + 1u] << (32u - shift);
    uint field = (low | high) & ((1u << column.w) - 1u);
    return uintBitsToFloat(column.x) + uintBitsToFloat(column.y) * float(field);
}

// A weight of a clip. `position` is that of the clip.
float weight_of_clip(const Rows tables, const Words all, const uint track, const Play play,
                     const uvec2 now, const uvec2 position) {
    uint kind = track & 3u, row = track >> 2;
    uvec4 column = tables.rows[row];
    if (kind == TRACK_CONSTANT) {
        return uintBitsToFloat(column.x);
    }
    if (kind == TRACK_MOVES) {
        // It has frames of its own.
        uint header = tables.rows[row + 1u].x;
        uvec2 at = position_at(play, now, tables.rows[header + WEIGHTS_SPAN].xy);
        Moment moment = moment_at(tables, all, header, at);
        float from = weight_key(all, moment.from, column);
        float to = weight_key(all, moment.to, column);
        return from + (to - from) * moment.u;
    }
    // One of the weights of a curve: row of the curve, number of the weight, and of all of them.
    uvec4 curve = tables.rows[column.x];
    Spot spot = spot_of(all, curve, position);
    uint at = curve.w + column.y;
    if (curve.x == CURVE_CUBIC) {
        vec4 parts = hermite(spot.u);
        uint from = at + spot.from * 3u * column.z, to = at + spot.to * 3u * column.z;
        return uintBitsToFloat(all.words[from + column.z]) * parts.x
               + uintBitsToFloat(all.words[from + 2u * column.z]) * parts.y
               + uintBitsToFloat(all.words[to + column.z]) * parts.w
               + uintBitsToFloat(all.words[to]) * parts.z;
    }
    float a = uintBitsToFloat(all.words[at + spot.from * column.z]);
    float b = uintBitsToFloat(all.words[at + spot.to * column.z]);
    return curve.x == CURVE_STEP ? a : a * (1.0 - spot.u) + b * spot.u;
}
