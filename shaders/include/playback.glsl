// What an instance plays, and when: 64-bit time in 32-bit arithmetic. A part of animate.comp,
// attach.comp and compact.comp.
// GpuPlay::position in src/gpu/animation/play.rs is the same on the CPU.
//
// Numbers of 64 bits are in two words, low word first. Times are in ticks of 2^-32 s, and a phase
// is in 2^-64 of a period, so that whole periods drop out by themselves.

// Whole rows are loaded, and their parts taken then: llvmpipe of Mesa 22 loads x where rows[n].w is
// written.
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Rows {
    uvec4 rows[];
};

const uint MODE_LOOP = 0u;
const uint MODE_ONCE = 1u;
const uint MODE_PING_PONG = 2u;
const uint MODE_STILL = 3u;

// A clip that plays, in 64 bytes: GpuPlay.
struct Play {
    uvec2 anchor;      // ticks: the time at which the phase is `phase`, or at which the clip ends
    uvec2 phase;       // at the anchor; a still clip has its part of the clip here
    uvec2 rate;        // periods a second: fraction
    uint whole_rate;   // periods a second: whole, signed; of a still clip 1 if it is at its end
    uint clip;         // clip, and mask shifted by 16
    uvec2 fade_start;  // ticks
    float fade_s;
    float from_weight;
    float to_weight;
    uint modes;        // bytes: layer, mode, smooth
    float ramp_s;      // the speed changes up to the anchor, for so long
    float from_rate;   // periods a second before that
};

Play play_of(const uvec4 a, const uvec4 b, const uvec4 c, const uvec4 d) {
    return Play(a.xy, a.zw, b.xy, b.z, b.w, c.xy, uintBitsToFloat(c.z), uintBitsToFloat(c.w),
                uintBitsToFloat(d.x), d.y, uintBitsToFloat(d.z), uintBitsToFloat(d.w));
}

Play played_at(const Rows plays, const uint number) {
    uint at = number * 4u;
    return play_of(plays.rows[at], plays.rows[at + 1u], plays.rows[at + 2u], plays.rows[at + 3u]);
}

// A clip that stands at one of `steps` even steps of its length.
Play still_play(const uint clip, const uint step, const uint steps) {
    bool end = step >= steps;
    uint part = end ? 0u : uint(float(step) / float(steps) * 4294967296.0);
    return Play(uvec2(0u), uvec2(0u, part), uvec2(0u), end ? 1u : 0u, clip | 0xFFFF0000u,
                uvec2(0u), 0.0, 1.0, 1.0, MODE_STILL << 8, 0.0, 0.0);
}

uvec2 sum(const uvec2 a, const uvec2 b) {
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

uvec2 difference(const uvec2 a, const uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

bool is_less(const uvec2 a, const uvec2 b) {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// The lower 64 bits of a product.
uvec2 low_product(const uint a, const uvec2 b) {
    uint high, low;
    umulExtended(a, b.x, high, low);
    return uvec2(low, high + a * b.y);
}

// A product of 96 bits without its lowest 32.
uvec2 high_product(const uint a, const uvec2 b) {
    uint high, low, next_high, next_low, carry;
    umulExtended(a, b.x, high, low);
    umulExtended(a, b.y, next_high, next_low);
    uint sum = uaddCarry(next_low, high, carry);
    return uvec2(sum, next_high + carry);
}

// Seconds of a difference of times, which is signed.
float seconds(const uvec2 ticks) {
    precise float part = float(ticks.x) * (1.0 / 4294967296.0);
    precise float all = float(int(ticks.y)) + part;
    return all;
}

float ease(const uint smooth_ease, const float u) {
    return smooth_ease != 0u ? u * u * (3.0 - 2.0 * u) : u;
}

float ease_integral(const uint smooth_ease, const float u) {
    return smooth_ease != 0u ? u * u * u * (1.0 - 0.5 * u) : 0.5 * u * u;
}

// The weight in the blend.
float weight_at(const Play play, const uvec2 now) {
    float since = seconds(difference(now, play.fade_start));
    float u = play.fade_s > 0.0 ? since / play.fade_s : (since < 0.0 ? 0.0 : 1.0);
    float between = play.from_weight
                    + (play.to_weight - play.from_weight) * ease(play.modes >> 16, u);
    float weight = u <= 0.0 ? play.from_weight : u >= 1.0 ? play.to_weight : between;
    return play.from_weight == play.to_weight ? play.to_weight : weight;
}

// Periods a second.
float rate_of(const Play play) {
    precise float part = float(play.rate.y) * (1.0 / 4294967296.0);
    precise float all = float(int(play.whole_rate)) + part;
    return all;
}

// Periods between a time `left` seconds before the anchor and the anchor, while the speed changes.
float ramp_way(const Play play, const float left) {
    float rate = rate_of(play);
    float inside = min(left, play.ramp_s);
    float part = ease_integral(play.modes >> 16, inside / play.ramp_s) * play.ramp_s;
    return rate * inside + (play.from_rate - rate) * part + play.from_rate * (left - inside);
}

// The phase: fraction of a period.
uvec2 phase_at(const Play play, const uvec2 since) {
    bool past = int(since.y) < 0;
    // since = n + f: the sum of n x rate and f x rate, without whole periods.
    uvec2 phase = sum(play.phase, low_product(since.y, play.rate));
    phase.y -= past ? play.rate.x : 0u;
    phase = sum(phase, high_product(since.x, play.rate));
    phase.y += since.x * play.whole_rate;
    if (past && play.ramp_s > 0.0) {
        float way = ramp_way(play, -seconds(since));
        float part = min(way - floor(way), 0.99999994);
        phase = difference(play.phase, uvec2(0u, uint(part * 4294967296.0)));
    }
    return phase;
}

// The position in a clip of `span` intervals between frames. Both have 32 binary places.
uvec2 position_at(const Play play, const uvec2 now, const uvec2 span) {
    uint mode = play.modes >> 8 & 0xFFu;
    uvec2 since = difference(now, play.anchor);
    uint phase = phase_at(play, since).y;
    bool once = mode == MODE_ONCE, ping_pong = mode == MODE_PING_PONG;
    uvec2 period = ping_pong ? sum(span, span) : span;
    uvec2 position = high_product(phase, period);
    if (ping_pong && is_less(span, position)) {
        position = difference(period, position);
    }
    if (once) {
        // Whole periods decide whether it has begun. Near a whole number, the phase says on which
        // side of it the time is.
        bool back = int(play.whole_rate) < 0, ended = int(since.y) >= 0;
        float periods = abs(seconds(since) * rate_of(play));
        bool other_half = back ? phase < 0x80000000u : phase > 0x80000000u;
        bool waits = !ended && (periods > 1.25 || (periods > 0.75 && other_half));
        if (ended || waits) {
            position = ended != back ? span : uvec2(0u);
        }
    }
    uvec2 still = play.whole_rate != 0u ? span : high_product(play.phase.y, span);
    return mode == MODE_STILL ? still : position;
}
