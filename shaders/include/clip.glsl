// The tables of a character's animation, and the keys of its clips. A part of animate.comp and
// attach.comp.
// src/gpu/animation/tables.rs makes them.

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Words {
    uint words[];
};

// Rows of the header: counts of joints, entries, masks and clips, where each begins, and then the
// number of joints from the deepest one to the root, and the number and first word of the morph
// weights at rest.
const uint HEADER_COUNTS = 0u;
const uint HEADER_STARTS = 1u;
const uint HEADER_DEPTH = 2u;

const uint JOINT_ROWS = 3u;   // rotation; translation and parent; scale
const uint ENTRY_ROWS = 4u;   // rows of the inverse bind matrix; joint
const uint CLIP_ROWS = 3u;    // frames, words of a frame, flags, word of its offsets; span and
                              // start; reserved, first word, row of the first track, first word of
                              // the tracks of weights
const uint NO_PARENT = 0xFFFFFFFFu;
const uint NO_MASK = 0xFFFFu;

// A track is 0 at rest, or its row shifted by two beside its kind.
const uint TRACK_CONSTANT = 1u;
const uint TRACK_MOVES = 2u;
const uint TRACK_CURVE = 3u;
const uint CURVE_STEP = 0u;
const uint CURVE_CUBIC = 2u;
// Flags of a clip.
const uint ADDITIVE = 256u;
const uint DRIVES = 512u;

// Where a time lies in a clip.
struct Moment {
    uint tracks;    // row of its first track
    uint from;      // first word of the frame before
    uint to;        // and of the next one
    float u;        // between them
    uint flags;     // of the clip
    uvec2 position; // for curves: intervals from the start of the file's time
};

// The time of a frame after its place on the grid, in intervals.
float offset_of(const Words all, const uint offsets, const uint frame) {
    uint pair = all.words[offsets + (frame >> 1)];
    int both = int((frame & 1u) == 0u ? pair << 16 : pair);
    return float(both >> 16) * (1.0 / 65536.0);
}

// The frames around a position, which has 32 binary places, and the part between them.
// `row` is that of the clip's header.
Moment moment_at(const Rows tables, const Words all, const uint row, const uvec2 position) {
    uvec4 counts = tables.rows[row];
    uvec4 spans = tables.rows[row + 1u];
    uvec4 more = tables.rows[row + 2u];
    uint last = counts.x - 1u;
    uint offsets = counts.w;
    uvec2 end = difference(spans.xy, spans.zw);
    uvec2 at = is_less(position, spans.zw) ? uvec2(0u) : difference(position, spans.zw);
    bool inside = last > 0u && is_less(at, end);
    uint from = inside ? min(at.y, last - 1u) : last;
    precise float part = float(at.x) * (1.0 / 4294967296.0);
    // Relative to the place of `from` on the grid.
    float u = float(at.y - from) + part;
    float begin = 0.0;
    float next = 1.0;
    if (offsets != 0u && inside) {
        float own = offset_of(all, offsets, from);
        // The last frame is at the end, wherever the grid is.
        float after = 1.0 + (from + 1u < last ? offset_of(all, offsets, from + 1u) : 0.0);
        bool before = u < own && from > 0u, later = u >= after && from + 1u < last;
        from = before ? from - 1u : later ? from + 1u : from;
        u += before ? 1.0 : later ? -1.0 : 0.0;
        begin = offset_of(all, offsets, from);
        next = 1.0 + (from + 1u < last ? offset_of(all, offsets, from + 1u) : 0.0);
    }
    next = from + 1u == last ? seconds(difference(end, uvec2(0u, from))) : next;
    float passed = u - begin, whole = next - begin;
    u = inside && passed > 0.0 && whole > 0.0 ? min(passed / whole, 1.0) : 0.0;
    uint to = min(from + 1u, last);
    uvec2 within = is_less(position, spans.zw) ? spans.zw : position;
    return Moment(more.z, more.y + from * counts.y, more.y + to * counts.y, u, counts.z, within);
}

uint word_of(const uvec4 words, const uint at) {
    return at == 0u ? words.x : at == 1u ? words.y : at == 2u ? words.z : words.w;
}

// A field of `width` bits, from bit `at` of four words.
uint field_of(const uvec4 words, const uint at, const uint width) {
    uint shift = at & 31u;
    uint low = word_of(words, at >> 5) >> shift;
    uint high = shift == 0u ? 0u : word_of(words, min((at >> 5) + 1u, 3u)) << (32u - shift);
    return (low | high) & (width == 32u ? 0xFFFFFFFFu : (1u << width) - 1u);
}

float value_of(const uint field, const uint width, const float least, const float scale) {
    precise float value = least + scale * float(field);
    return width == 32u ? uintBitsToFloat(field) : value;
}

// The key of a frame: fields that follow each other.
vec4 key_of(const Words all, const uint frame, const uint bit, const uint widths, const vec4 least,
            const vec4 scale) {
    uint at = frame + (bit >> 5);
    uvec4 words = uvec4(all.words[at], all.words[at + 1u], all.words[at + 2u], all.words[at + 3u]);
    uvec4 width = uvec4(widths, widths >> 8, widths >> 16, widths >> 24) & 0xFFu;
    uint first = bit & 31u;
    uint second = first + width.x, third = second + width.y, fourth = third + width.z;
    return vec4(value_of(field_of(words, first, width.x), width.x, least.x, scale.x),
                value_of(field_of(words, second, width.y), width.y, least.y, scale.y),
                value_of(field_of(words, third, width.z), width.z, least.z, scale.z),
                value_of(field_of(words, fourth, width.w), width.w, least.w, scale.w));
}

// The two keys of a moving track.
void keys_of(const Rows tables, const Words all, const Moment moment, const uint row, out vec4 from,
             out vec4 to) {
    vec4 least = uintBitsToFloat(tables.rows[row]);
    vec4 scale = uintBitsToFloat(tables.rows[row + 1u]);
    uvec2 fields = tables.rows[row + 2u].xy;
    from = key_of(all, moment.from, fields.x, fields.y, least, scale);
    to = key_of(all, moment.to, fields.x, fields.y, least, scale);
}

// The part between two rotations that gives a constant speed: Slerp in src/clip/timing.rs.
float slerp_part(const vec4 a, const vec4 b, const float u) {
    float bow = u * (1.0 - u);
    float skew = bow * (1.0 - 2.0 * u);
    float one = skew * (1.0 / 3.0);
    float two = skew * (0.14148876 - 0.2885359 * bow);
    float w = fma(-a.w, b.w, fma(-a.z, b.z, fma(-a.y, b.y, fma(-a.x, b.x, 1.0))));
    return fma(w, fma(w, two, one), u);
}

// Where a position lies among the keys of a curve.
struct Spot {
    uint from;
    uint to;
    float u;
};

// `curve` is its header: interpolation, number of keys, first words of times and of values.
Spot spot_of(const Words all, const uvec4 curve, const uvec2 position) {
    uint reached = 0u, end = curve.y;
    while (reached < end) {
        uint key = (reached + end) >> 1;
        uint at = curve.z + key * 2u;
        bool later = is_less(position, uvec2(all.words[at], all.words[at + 1u]));
        reached = later ? reached : key + 1u;
        end = later ? key : end;
    }
    uint from = max(reached, 1u) - 1u;
    uint to = min(from + 1u, curve.y - 1u);
    uint at = curve.z + from * 2u, after = curve.z + to * 2u;
    uvec2 start = uvec2(all.words[at], all.words[at + 1u]);
    float passed = seconds(difference(position, start));
    float whole = seconds(difference(uvec2(all.words[after], all.words[after + 1u]), start));
    bool between = reached > 0u && to > from;
    return Spot(from, to, between ? clamp(passed / whole, 0.0, 1.0) : 0.0);
}

// Weights of a value, its tangent, the tangent of the next one and that one (glTF 2.0, C.5).
vec4 hermite(const float u) {
    float squared = u * u, cubed = u * u * u;
    return vec4(2.0 * cubed - 3.0 * squared + 1.0, cubed - 2.0 * squared + u, cubed - squared,
                -2.0 * cubed + 3.0 * squared);
}

// 2 asin(sqrt(w) / 2) and the sine of x up to pi/2: src/clip/curve_sample.rs.
float angle_of_chord(const float w) {
    float squared = w * w, chord = sqrt(w);
    float low = (4.680319e-3 * w + 4.1667264e-2) + squared * (6.4114596e-5 * w + 7.265389e-4);
    float high = (-2.258228e-5 * w + 7.5092576e-5) + squared * 6.789639e-6;
    return chord + chord * (w * (low + squared * squared * high));
}

float sine(const float x) {
    float z = x * x;
    float low = 8.333066e-3 * z - 0.1666666;
    float high = 2.6057806e-6 * z - 1.9809603e-4;
    return x + (x * z) * (low + z * z * high);
}

// Between two rotations, not of unit length.
vec4 slerp(const vec4 a, const vec4 b, const float u) {
    vec4 chord = b - a;
    float squared = dot(chord, chord);
    if (squared < 1e-12) {
        return a * (1.0 - u) + b * u;
    }
    float angle = angle_of_chord(squared);
    return a * sine((1.0 - u) * angle) + b * sine(u * angle);
}

vec4 value_at(const Rows tables, const uint row) {
    return uintBitsToFloat(tables.rows[row]);
}

// A value of a curve whose header is in a row.
vec4 curve_at(const Rows tables, const Words all, const uint row, const uvec2 position,
              const bool turns) {
    uvec4 curve = tables.rows[row];
    Spot spot = spot_of(all, curve, position);
    uint values = curve.w >> 2;
    if (curve.x == CURVE_CUBIC) {
        vec4 parts = hermite(spot.u);
        uint from = values + spot.from * 3u, to = values + spot.to * 3u;
        return value_at(tables, from + 1u) * parts.x + value_at(tables, from + 2u) * parts.y
               + value_at(tables, to + 1u) * parts.w + value_at(tables, to) * parts.z;
    }
    vec4 a = value_at(tables, values + spot.from), b = value_at(tables, values + spot.to);
    if (curve.x == CURVE_STEP) {
        return a;
    }
    return turns ? slerp(a, b, spot.u) : fma(b - a, vec4(spot.u), a);
}

// A rotation, not of unit length. `rest` is what stands where the clip has nothing.
vec4 rotation_of(const Rows tables, const Words all, const Moment moment, const uint track,
                 const vec4 rest) {
    uint kind = track & 3u, row = track >> 2;
    vec4 value = rest;
    if (kind == TRACK_CONSTANT) {
        value = uintBitsToFloat(tables.rows[row]);
    } else if (kind == TRACK_MOVES) {
        vec4 a, b;
        keys_of(tables, all, moment, row, a, b);
        value = fma(b - a, vec4(slerp_part(a, b, moment.u)), a);
    } else if (HAS_CURVES && kind == TRACK_CURVE) {
        value = curve_at(tables, all, row, moment.position, true);
    }
    return value;
}

// A translation or a scale.
vec3 vector_of(const Rows tables, const Words all, const Moment moment, const uint track,
               const vec3 rest) {
    uint kind = track & 3u, row = track >> 2;
    vec3 value = rest;
    if (kind == TRACK_CONSTANT) {
        value = uintBitsToFloat(tables.rows[row].xyz);
    } else if (kind == TRACK_MOVES) {
        vec4 a, b;
        keys_of(tables, all, moment, row, a, b);
        value = fma(b.xyz - a.xyz, vec3(moment.u), a.xyz);
    } else if (HAS_CURVES && kind == TRACK_CURVE) {
        value = curve_at(tables, all, row, moment.position, false).xyz;
    }
    return value;
}
