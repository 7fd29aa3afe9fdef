// Makes the changed records of the resident instance table from those that the CPU wrote to the
// ring, with the matrix that normals need. With a cull stage on the GPU, also their actors. Then
// their stamps depend on when they were shown.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 0) in;

// The rows that each change writes: those of an instance, or of its actor and levels, too.
layout(constant_id = 1) const uint rows = 8u;

// A changed instance, in 16-byte rows: 3 of its matrix, tint, palette with morph weights and
// deformed vertices, and one with the engine's own word and the stamp.
const uint CHANGE_ROWS = 6u;
// The rows of a ThrongInstance and of a ThrongActor.
const uint INSTANCE_ROWS = 8u;
const uint ACTOR_ROWS = 3u;
const uint ACTOR_NEW = 4u;  // see GpuActor::NEW

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
};

#include "include/shown.glsl"

// A row of the cofactor matrix times the sign of the determinant, of the matrix scaled to a largest
// element of 1, with a little of the identity: where an instance is scaled to nothing, normals keep
// their direction. w is what else stands in that row of an instance.
vec4 normal_row(const uint change, const uint row) {
    vec3 a = changes[change].xyz, b = changes[change + 1u].xyz, c = changes[change + 2u].xyz;
    vec3 m = max(max(abs(a), abs(b)), abs(c));
    float largest = max(max(m.x, m.y), m.z);
    float scale = largest > 0.0 ? largest : 1.0;
    a /= scale;
    b /= scale;
    c /= scale;
    vec3 bc = cross(b, c);
    float side = dot(a, bc) < 0.0 ? -1.0 : 1.0;
    vec2 words = changes[change + 5u].xy;  // the engine's own word, stamp
    if (row == 0u) {
        return vec4(side * bc + vec3(1e-18, 0.0, 0.0), side);
    }
    if (row == 1u) {
        return vec4(side * cross(c, a) + vec3(0.0, 1e-18, 0.0), words.x);
    }
    return vec4(side * cross(a, b) + vec3(0.0, 0.0, 1e-18), words.y);
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
            value = normal_row(change, row - 3u);
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
        table[actors_at + index * ACTOR_ROWS + row] = actors[actor + row];
    } else if ((floatBitsToUint(actors[actor + 1u].z) & ACTOR_NEW) != 0u) {
        levels[levels_at + index] = 0u;
    }
}
