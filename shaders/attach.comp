// Stage attach: 16 lanes for each attached instance that the GPU places. They evaluate the joint
// that the instance follows, from what the parent plays, and write the instance's transform, and
// its bounding sphere for the stage cull.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require

const bool HAS_CURVES = true;
const bool HAS_WEIGHTS = false;

#include "include/actor.glsl"
#include "include/normal_row.glsl"
#include "include/playback.glsl"
#include "include/sphere.glsl"
#include "include/clip.glsl"
const uint LANES = 16u;  // of an instance
const uint ATTACH_WORKGROUP = 4u;  // instances
layout(local_size_x = LANES * ATTACH_WORKGROUP) in;
#define GROUPS ATTACH_WORKGROUP
#define GROUP (gl_LocalInvocationID.x / LANES)
#define GROUP_LANE (gl_LocalInvocationID.x % LANES)
#define SLOTS (GROUPS * LANES)
#include "include/blend.glsl"

// Workgroups in a row of a dispatch.
const uint ROW_GROUPS = 32768u;
// Rows of a GpuAttachment: three of the transform from the child to the joint, one of the child's
// bounding sphere in character space, one with child, parent, joint and level, and one with the
// address of the tables of the parent's character.
const uint ATTACHMENT_ROWS = 6u;
// The greatest element of a transform.
const float GREATEST = 1e18;

layout(set = 0, binding = 0, std430) buffer Table { vec4 table_rows[]; };
layout(set = 0, binding = 1, std430) readonly buffer Work { uvec4 work_rows[]; };

layout(push_constant) uniform Push {
    uvec2 plays;          // device address
    uvec2 now;            // ticks
    uint actors_at;       // in rows of the table
    uint attachments_at;  // in rows of the work buffer
    uint count;
    uint level;           // of those that are placed: their parents are of lower ones
    uint spheres_at;      // in rows of the table
    uint reserved;
};

bool is_valid(const vec4 row) {
    return all(lessThanEqual(abs(row), vec4(GREATEST)));
}

// Writes row `lane` of what follows from an instance's transform.
void write(const uint lane, const uint instance, const vec4 a, const vec4 b, const vec4 c,
           const vec4 sphere) {
    uint at = instance * INSTANCE_ROWS + lane;
    if (lane < 3u) {
        table_rows[at] = lane == 0u ? a : lane == 1u ? b : c;
    } else if (lane < 6u) {
        vec4 normal = normal_row(a.xyz, b.xyz, c.xyz, lane - 3u);
        // The engine's own word and the stamp stay.
        table_rows[at] = lane == 3u ? normal : vec4(normal.xyz, table_rows[at].w);
    } else if (lane == 6u) {
        float scale = largest_scale(a.xyz, b.xyz, c.xyz);
        uint actor = actors_at + instance * ACTOR_ROWS;
        vec4 rest = table_rows[actor + 1u];
        uint flags = floatBitsToUint(rest.z) & ~ACTOR_FLIPPED;
        flags |= normal_row(a.xyz, b.xyz, c.xyz, 0u).w < 0.0 ? ACTOR_FLIPPED : 0u;
        table_rows[spheres_at + instance] = sphere;
        table_rows[actor] = vec4(sphere_center(a, b, c, sphere.xyz), sphere_radius(sphere, scale));
        table_rows[actor + 1u] = vec4(scale, rest.y, uintBitsToFloat(flags), rest.w);
    }
}

// The least attachment of the workgroup that is placed, and the most joints up to a root.
shared uint least;
shared uint depth;

void main() {
    uint lane = GROUP_LANE;
    uint number = (gl_WorkGroupID.y * ROW_GROUPS + gl_WorkGroupID.x) * GROUPS + GROUP;
    if (gl_LocalInvocationID.x == 0u) {
        least = count;
        depth = 0u;
    }
    barrier();
    uvec4 links = work_rows[attachments_at + min(number, count - 1u) * ATTACHMENT_ROWS + 4u];
    bool placed = number < count && links.w == level;
    if (placed) {
        atomicMin(least, number);
    }
    barrier();
    if (least == count) {
        return;
    }
    // Lanes without an attachment do the work of another one, so that each has valid indices,
    // whatever a driver loads ahead of a branch.
    uint at = attachments_at + (placed ? number : least) * ATTACHMENT_ROWS;
    links = work_rows[at + 4u];
    uvec4 address = work_rows[at + 5u];
    Rows tables = Rows(address.xy);
    Words all = Words(address.xy);
    uint child = links.x, parent = links.y, joint = links.z;
    vec4 actor = table_rows[actors_at + parent * ACTOR_ROWS + 1u];
    uint played = floatBitsToUint(actor.w);
    uint first = played >> PLAY_COUNT_BITS;
    played = min(played & ((1u << PLAY_COUNT_BITS) - 1u), PLAYS);
    if (played > 0u) {
        Play play = played_at(Rows(plays), first + min(lane, played - 1u));
        begin_play(tables, all, play, now, played);
    }
    atomicMax(depth, tables.rows[HEADER_DEPTH].x);
    barrier();
    vec4 i = uintBitsToFloat(work_rows[at]);
    vec4 j = uintBitsToFloat(work_rows[at + 1u]);
    vec4 k = uintBitsToFloat(work_rows[at + 2u]);
    uint joints_at = tables.rows[HEADER_STARTS].x;
    // From the joint up to the root, as many joints at a time as there are lanes.
    for (uint done = 0u; done < depth; done += LANES) {
        uint own = joint;
        for (uint step = 0u; step < lane && own != NO_PARENT; ++step) {
            uvec4 place = tables.rows[joints_at + own * JOINT_ROWS + 1u];
            own = place.w;
        }
        pose(tables, all, own != NO_PARENT ? own : 0u, played, gl_LocalInvocationID.x);
        barrier();
        for (uint slot = GROUP * LANES; slot < (GROUP + 1u) * LANES; ++slot) {
            bool more = joint != NO_PARENT;
            vec4 a = product_row(local_rows[slot * 3u], i, j, k);
            vec4 b = product_row(local_rows[slot * 3u + 1u], i, j, k);
            vec4 c = product_row(local_rows[slot * 3u + 2u], i, j, k);
            i = more ? a : i;
            j = more ? b : j;
            k = more ? c : k;
            joint = more ? parents[slot] : NO_PARENT;
        }
        barrier();
    }
    uint world = parent * INSTANCE_ROWS;
    vec4 a = product_row(table_rows[world], i, j, k);
    vec4 b = product_row(table_rows[world + 1u], i, j, k);
    vec4 c = product_row(table_rows[world + 2u], i, j, k);
    // If the product overflows, the child keeps its transform.
    if (placed && is_valid(a) && is_valid(b) && is_valid(c)) {
        write(lane, child, a, b, c, uintBitsToFloat(work_rows[at + 3u]));
    }
}
