// Makes the changed records of the resident instance table from those that the CPU wrote to the
// ring, with the matrix that normals need. With a cull stage on the GPU, also their actors. Then
// their stamps depend on when they were shown.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 0) in;

// The rows that each change writes: those of an instance, or of its actor and levels, too.
layout(constant_id = 1) const uint rows = 8u;

// A changed instance, in 16-byte rows: 3 of its matrix, colours, palette with morph weights and
// deformed vertices, and one with the engine's own word and the stamp.
const uint CHANGE_ROWS = 6u;

layout(set = 0, binding = 0, std430) readonly buffer Changes { vec4 changes[]; };
layout(set = 0, binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Table { vec4 table[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Levels { uint levels[]; };
layout(set = 0, binding = 2, std430) readonly buffer Shown { uint shown[]; };
layout(set = 0, binding = 3, std430) readonly buffer Actors { vec4 actors[]; };

layout(push_constant) uniform Push {
    uint change_count;
    uint actors_at;  // rows before the actors
    uint levels_at;  // words before the levels that views had of each instance
    uint shown_at;   // words before those of shown.glsl
    uint centers_at;  // rows before the centres of spheres
};

#include "include/actor.glsl"
#include "include/normal_row.glsl"
#include "include/shown.glsl"

// A row for normals of a changed instance, with what else stands there.
vec4 normal_row_of(const uint change, const uint row) {
    vec4 value =
        normal_row(changes[change].xyz, changes[change + 1u].xyz, changes[change + 2u].xyz, row);
    vec2 words = changes[change + 5u].xy;  // the engine's own word, stamp
    value.w = row == 0u ? value.w : row == 1u ? words.x : words.y;
    return value;
}

vec3 position_of(const uint change) {
    return vec3(changes[change].w, changes[change + 1u].w, changes[change + 2u].w);
}

// One invocation writes one row, so that neighbours write neighbouring memory.
void main() {
    uint line = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    uint at = gl_WorkGroupID.y * line + gl_GlobalInvocationID.x;
    uint number = at / rows, row = at % rows;
    if (number >= change_count) {
        return;
    }
    uint change = number * CHANGE_ROWS, index = indices[number];
    if (row < INSTANCE_ROWS) {
        vec4 value;
        if (row >= 3u && row < 6u) {
            value = normal_row_of(change, row - 3u);
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
            precise vec3 center = value.xyz + position_of(change);
            value.xyz = center;
        }
        table[actors_at + index * ACTOR_ROWS + row] = value;
        return;
    }
    table[centers_at + index] = vec4(actors[actor].xyz, 0.0);
    if ((floatBitsToUint(actors[actor + 1u].z) & ACTOR_NEW) != 0u) {
        levels[levels_at + index] = 0u;
    }
}
