// Makes the changed records of the resident instance table from those that the CPU wrote to the
// ring, with the matrix that normals need. With a cull stage on the GPU, also their actors. Then
// their stamps depend on when they were shown. Behind the changed records are the transforms of
// instances that only moved.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 0) in;

// The rows that each change writes: those of an instance, or of its actor, too.
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

// Writes what row `row` of an actor is for: its sphere, what it hides, or what it was before.
void write_actor(const uint row, const uint index, const bool moved, const uint number,
                 const uint change) {
    uint from = number * ACTOR_ROWS, to = actors_at + index * ACTOR_ROWS;
    if (row == 0u) {
        vec4 a = changes[change], b = changes[change + 1u], c = changes[change + 2u];
        vec4 sphere = moved ? table[spheres_at + index] : actors[from];
        float scale = largest_scale(a.xyz, b.xyz, c.xyz);
        vec4 rest = moved ? table[to + 1u] : actors[from + 1u];
        table[to] = vec4(sphere_center(a, b, c, sphere.xyz), sphere_radius(sphere, scale));
        table[to + 1u] = vec4(scale, rest.yzw);
    } else if (row == 1u) {
        table[to + 2u] = actors[from + 2u];
    } else {
        table[spheres_at + index] = actors[from];
        if ((floatBitsToUint(actors[from + 1u].z) & ACTOR_NEW) != 0u) {
            levels[levels_at + index] = 0u;
        }
    }
}

// One invocation writes one row, so that neighbours write neighbouring memory.
void main() {
    uint line = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    uint at = gl_WorkGroupID.y * line + gl_GlobalInvocationID.x;
    bool moved = at >= change_count * rows;
    at -= moved ? change_count * rows : 0u;
    uint number = moved ? at / moved_rows : at / rows;
    uint row = at - number * (moved ? moved_rows : rows);
    if (number >= (moved ? moved_count : change_count)) {
        return;
    }
    uint index = indices[moved ? change_count + number : number];
    uint change = number * CHANGE_ROWS;
    if (moved) {
        change = change_count * CHANGE_ROWS + number * 3u;
        row = row == 6u ? INSTANCE_ROWS : row;
    }
    uint to = index * INSTANCE_ROWS + row;
    if (row < 3u) {
        table[to] = changes[change + row];
    } else if (row < 6u) {
        vec4 value = normal_row(changes[change].xyz, changes[change + 1u].xyz,
                                changes[change + 2u].xyz, row - 3u);
        if (row > 3u) {
            // The engine's own word, or the stamp. A move keeps both.
            vec4 words = moved ? table[to] : changes[change + 5u];
            value.w = row == 4u && !moved ? words.x : moved ? words.w : words.y;
            if (row == 5u && !moved && rows > INSTANCE_ROWS) {
                uint more = shown[shown_at + index * SHOWN_WORDS + 1u];
                value.w = uintBitsToFloat(floatBitsToUint(value.w) + more);
            }
        }
        table[to] = value;
    } else if (row < INSTANCE_ROWS) {
        table[to] = changes[change + row - 3u];
    } else {
        write_actor(row - INSTANCE_ROWS, index, moved, number, change);
    }
}
