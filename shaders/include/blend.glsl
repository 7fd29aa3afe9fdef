// How plays are blended into the local matrices of joints: src/animate and src/motion/blend.
// ClipSample documents the rule. A part of animate.comp and attach.comp, which define
//   SLOTS       how many matrices a workgroup has
//   GROUPS      how many instances it has, each with plays of its own
//   GROUP       which of these a lane belongs to
//   GROUP_LANE  the number of a lane in that

const uint PLAYS = 8u;
// Less weight than this on the lowest layer leaves the rest pose visible.
const float FULL_WEIGHT = 0.999;

// The rows of local matrices, and the parents of their joints.
shared vec4 local_rows[SLOTS * 3u];
shared uint parents[SLOTS];
// By instance and play: first track, words of the frames around the time, first word of the mask.
// Then the part between the frames, position, weight, and layer with the clip's flags.
shared uvec4 places[GROUPS * PLAYS];
shared float parts[GROUPS * PLAYS];
shared uvec2 positions[GROUPS * PLAYS];
shared float weights[GROUPS * PLAYS];
shared uint layers[GROUPS * PLAYS];

vec4 unit(const vec4 q) {
    float squared = dot(q, q);
    return squared > 0.0 ? q / sqrt(squared) : vec4(0.0, 0.0, 0.0, 1.0);
}

vec4 product(const vec4 a, const vec4 b) {
    return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

// A part of a rotation: 0 gives none of it, 1 all. `part` of src/animate/layers.rs.
vec4 part_of(const vec4 q, const float weight) {
    float over = 1.0 / clamp(weight, 1.0, 1e12);
    float part = min(weight, 1.0);
    float side = q.w < 0.0 ? -part : part;
    return unit(vec4(q.xyz * side, (abs(q.w) - 1.0) * part + over));
}

// Where a play is in these lists.
uint play_at(const uint number) {
    return GROUP * PLAYS + number;
}

float weight_of(const Words all, const uint number, const uint joint) {
    float weight = weights[play_at(number)];
    uint mask = places[play_at(number)].w;
    return mask == NO_PARENT ? weight : weight * uintBitsToFloat(all.words[mask + joint]);
}

// Where a play is.
Moment moment_of(const uint number) {
    uvec4 place = places[play_at(number)];
    uvec2 position = HAS_CURVES ? positions[play_at(number)] : uvec2(0u);
    return Moment(place.x, place.y, place.z, parts[play_at(number)], 0u, position);
}

bool is_additive(const uint number) {
    return (layers[play_at(number)] & ADDITIVE) != 0u;
}

// Writes what a workgroup needs of a play, which each lane below `count` has one of. Lanes beyond
// the last one have that, too: then each lane has valid indices, whatever a driver loads ahead of a
// branch. A barrier follows.
void begin_play(const Rows tables, const Words all, const Play play, const uvec2 now,
                const uint count) {
    uvec4 counts = tables.rows[HEADER_COUNTS];
    uvec4 starts = tables.rows[HEADER_STARTS];
    uint clip = min(play.clip & 0xFFFFu, counts.w - 1u), mask = play.clip >> 16;
    uint row = starts.w + clip * CLIP_ROWS;
    uvec2 position = position_at(play, now, tables.rows[row + 1u].xy);
    Moment moment = moment_at(tables, all, row, position);
    uint mask_at = mask < counts.z ? starts.z * 4u + mask * counts.x : NO_PARENT;
    if (GROUP_LANE < count) {
        uint at = play_at(GROUP_LANE);
        places[at] = uvec4(moment.tracks, moment.from, moment.to, mask_at);
        parts[at] = moment.u;
        if (HAS_CURVES || HAS_WEIGHTS) {
            positions[at] = moment.position;
        }
        weights[at] = max(weight_at(play, now), 0.0);
        layers[at] = moment.flags | (play.modes & 255u);
    }
}

// The local matrix of a joint, with `count` plays.
void pose(const Rows tables, const Words all, const uint joint, const uint count,
          const uint slot) {
    uint at = tables.rows[HEADER_STARTS].x + joint * JOINT_ROWS;
    vec4 rest_rotation = uintBitsToFloat(tables.rows[at]);
    uvec4 rest_place = tables.rows[at + 1u];
    vec3 rest_translation = uintBitsToFloat(rest_place.xyz);
    vec3 rest_scale = uintBitsToFloat(tables.rows[at + 2u].xyz);
    vec4 q = unit(rest_rotation);
    vec3 t = rest_translation, s = rest_scale;
    for (uint start = 0u; start < count;) {
        uint layer = layers[play_at(start)] & 255u;
        float total = 0.0;
        bool covers = false, adds = false;
        uint end = start;
        for (; end < count && (layers[play_at(end)] & 255u) == layer; ++end) {
            // Clips without weight do not count.
            if (weights[play_at(end)] > 0.0) {
                total += is_additive(end) ? 0.0 : weight_of(all, end, joint);
                covers = covers || !is_additive(end);
                adds = adds || is_additive(end);
            }
        }
        if (covers) {
            float full = layer == 0u ? FULL_WEIGHT : 1.0;
            float below = max(full - total, 0.0), whole = max(total, full);
            q *= below;
            t *= below;
            s *= below;
            for (uint number = start; number < end; ++number) {
                if (is_additive(number) || weights[play_at(number)] <= 0.0) {
                    continue;
                }
                Moment moment = moment_of(number);
                uvec4 tracks = tables.rows[moment.tracks + joint];
                vec4 turn = rotation_of(tables, all, moment, tracks.x, rest_rotation);
                float weight = weight_of(all, number, joint);
                float squared = dot(turn, turn);
                float by = squared > 0.0 ? weight / sqrt(squared) : 0.0;
                q += turn * (dot(q, turn) < 0.0 ? -by : by);
                t += weight * vector_of(tables, all, moment, tracks.y, rest_translation);
                s += weight * vector_of(tables, all, moment, tracks.z, rest_scale);
            }
            q = unit(q / whole);
            t /= whole;
            s /= whole;
        }
        for (uint number = start; adds && number < end; ++number) {
            if (!is_additive(number) || weights[play_at(number)] <= 0.0) {
                continue;
            }
            Moment moment = moment_of(number);
            uvec4 tracks = tables.rows[moment.tracks + joint];
            float weight = weight_of(all, number, joint);
            vec4 turn = rotation_of(tables, all, moment, tracks.x, vec4(0.0, 0.0, 0.0, 1.0));
            q = product(q, part_of(unit(turn), weight));
            t += weight * vector_of(tables, all, moment, tracks.y, vec3(0.0));
            vec3 by = vector_of(tables, all, moment, tracks.z, vec3(1.0));
            s *= fma(by - 1.0, vec3(weight), vec3(1.0));
        }
        start = end;
    }
    vec3 d = q.xyz + q.xyz;
    vec3 xx = q.x * d, w = q.w * d;
    float yy = q.y * d.y, yz = q.y * d.z, zz = q.z * d.z;
    local_rows[slot * 3u] =
        vec4(vec3(1.0 - (yy + zz), xx.y - w.z, xx.z + w.y) * s, t.x);
    local_rows[slot * 3u + 1u] =
        vec4(vec3(xx.y + w.z, 1.0 - (xx.x + zz), yz - w.x) * s, t.y);
    local_rows[slot * 3u + 2u] =
        vec4(vec3(xx.z - w.y, yz + w.x, 1.0 - (xx.x + yy)) * s, t.z);
    parents[slot] = rest_place.w;
}

// A row of a product of affine matrices.
vec4 product_row(const vec4 row, const vec4 i, const vec4 j, const vec4 k) {
    return row.x * i + row.y * j + row.z * k + vec4(0.0, 0.0, 0.0, row.w);
}
