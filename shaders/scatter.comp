// Makes the changed records of the resident instance table from those that the CPU wrote to the
// ring, with the matrix that normals need. With a cull stage on the GPU, also their actors. Then
// their stamps depend on when they were shown. Behind the changed records are the transforms of
// instances that only moved.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 0) in;

// The rows that each change writes: those of an instance, or of its actor and levels, too.
layout(constant_id = 1) const uint rows = 8u;
// The rows that each move writes: of the transform, for normals, and the sphere of its actor.
layout(constant_id = 2) const uint moved_rows = 6u;

// A changed instance, in 16-byte rows: 3 of its matrix, colours, palette with morph weights and
// deformed vertices, and one with the engine's own word and the stamp.
const uint CHANGE_ROWS = 6u;

layout(set = 0, binding = 0, std430) readonly buffer Changes { vec4 changes[]; };
layout(set = 0, binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(set = 0, binding = 2, std430) buffer Table { vec4 table[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Levels { uint levels[]; };
layout(set = 0, binding = 2, std430) readonly buffer Shown { uint shown[]; };
layout(set = 0, binding = 3, std430) readonly buffer Actors { vec4 actors[]; };

layout(push_constant) uniform Push {
    uint change_count;
    uint moved_count;
    uint actors_at;  // rows before the actors
    uint levels_at;  // words before the levels that views had of each instance
    uint shown_at;   // words before those of shown.glsl
    uint spheres_at;  // rows before the spheres in character space
};

#include "include/actor.glsl"
#include "include/normal_row.glsl"
#include "include/shown.glsl"
#include "include/sphere.glsl"

// A row for normals of the transform at a row of the changes.
vec4 normal_row_of(const uint change, const uint row) {
    return normal_row(changes[change].xyz, changes[change + 1u].xyz, changes[change + 2u].xyz, row);
}

// A sphere in character space, under the transform at a row of the changes.
vec4 placed(const vec4 sphere, const uint change, const float scale) {
    vec4 a = changes[change], b = changes[change + 1u], c = changes[change + 2u];
    return vec4(sphere_center(a, b, c, sphere.xyz), sphere_radius(sphere, scale));
}

float scale_of(const uint change) {
    return largest_scale(changes[change].xyz, changes[change + 1u].xyz, changes[change + 2u].xyz);
}

// Writes a row of an instance that moved.
void move(const uint number, const uint row) {
    uint change = change_count * CHANGE_ROWS + number * 3u;
    uint index = indices[change_count + number];
    uint to = index * INSTANCE_ROWS + row;
    if (row < 3u) {
        table[to] = changes[change + row];
    } else if (row < 6u) {
        // The engine's own word and the stamp stay.
        vec4 value = normal_row_of(change, row - 3u);
        table[to] = row == 3u ? value : vec4(value.xyz, table[to].w);
    } else {
        uint actor = actors_at + index * ACTOR_ROWS;
        float scale = scale_of(change);
        table[actor] = placed(table[spheres_at + index], change, scale);
        table[actor + 1u].x = scale;
    }
}

// One invocation writes one row, so that neighbours write neighbouring memory.
void main() {
    uint line = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    uint at = gl_WorkGroupID.y * line + gl_GlobalInvocationID.x;
    uint number = at / rows, row = at % rows;
    if (number >= change_count) {
        at -= change_count * rows;
        if (at < moved_count * moved_rows) {
            move(at / moved_rows, at % moved_rows);
        }
        return;
    }
    uint change = number * CHANGE_ROWS, index = indices[number];
    if (row < INSTANCE_ROWS) {
        vec4 value;
        if (row >= 3u && row < 6u) {
            value = normal_row_of(change, row - 3u);
            vec2 words = changes[change + 5u].xy;  // the engine's own word, stamp
            value.w = row == 3u ? value.w : row == 4u ? words.x : words.y;
            if (row == 5u && rows > INSTANCE_ROWS) {
                uint more = shown[shown_at + index * SHOWN_WORDS + 1u];
                value.w = uintBitsToFloat(floatBitsToUint(value.w) + more);
            }
        } else {
            value = changes[change + (row < 3u ? row : row - 3u)];
        }
        table[index * INSTANCE_ROWS + row] = value;
        return;
    }
    uint actor = number * ACTOR_ROWS;
    if (row < INSTANCE_ROWS + ACTOR_ROWS) {
        row -= INSTANCE_ROWS;
        vec4 value = actors[actor + row];
        if (row == 0u) {
            value = placed(value, change, scale_of(change));
        } else if (row == 1u) {
            value.x = scale_of(change);
        }
        table[actors_at + index * ACTOR_ROWS + row] = value;
        return;
    }
    table[spheres_at + index] = actors[actor];
    if ((floatBitsToUint(actors[actor + 1u].z) & ACTOR_NEW) != 0u) {
        levels[levels_at + index] = 0u;
    }
}
