// Stage shift: takes the instance table to another origin of world space: the positions of all
// instances, and if the GPU culls, the centres of their bounding spheres.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 0) in;

layout(set = 0, binding = 2, std430) buffer Table { vec4 table[]; };

layout(push_constant) uniform Push {
    vec4 offset;      // of the origin
    vec4 rest;        // what rounding left of the offset
    uint count;       // records of the table
    uint actors_at;   // rows before the actors
    uint spheres_at;  // rows before the spheres in character space, or 0
};

#include "include/actor.glsl"
#include "include/sphere.glsl"

// One invocation moves one instance, with the roundings of src/skeleton/shift.rs.
void main() {
    uint instance = gl_GlobalInvocationID.x;
    if (instance >= count) {
        return;
    }
    uint at = instance * INSTANCE_ROWS;
    vec3 from = vec3(table[at].w, table[at + 1u].w, table[at + 2u].w);
    precise vec3 to = (from - offset.xyz) - rest.xyz;
    table[at].w = to.x;
    table[at + 1u].w = to.y;
    table[at + 2u].w = to.z;
    if (spheres_at != 0u) {
        table[actors_at + instance * ACTOR_ROWS].xyz = sphere_center(
            table[at], table[at + 1u], table[at + 2u], table[spheres_at + instance].xyz);
    }
}
