// Test only: writes what the GPU sees of a list: the number of its instances, then for each of them
// its index in the table, its record and its palette.
#version 460
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 64) in;

layout(set = 1, binding = 0, std430) writeonly buffer Seen { uint seen[]; };

layout(push_constant) uniform Push {
    uint first;       // element of the list
    uint count;
    uint entries;     // palette entries of each instance
    uint first_word;  // in the output
    uint list;        // see throng_instance, or THRONG_NONE for a list that starts at 0
    uint count_at;    // where the number of instances stands beside the lists, in the arguments of
                      // an indirect draw, or THRONG_NONE if it is `count`
    uvec2 ring_palettes;
};

#define THRONG_NO_VIEW
#define THRONG_RING_PALETTES ring_palettes
#include "include/throng.glsl"

uint at;

void put(uint word) {
    seen[at] = word;
    ++at;
}

void put_row(vec4 row) {
    for (int i = 0; i < 4; ++i) {
        put(floatBitsToUint(row[i]));
    }
}

void main() {
    uint number = gl_GlobalInvocationID.x;
    uint all = count_at == THRONG_NONE ? count : throng_visible[count_at];
    if (number == 0u) {
        seen[first_word] = all;
    }
    if (number >= min(all, count)) {
        return;
    }
    at = first_word + 1u + number * (33u + entries * 12u);
    // In the arguments, the first instance comes three words later.
    uint start = count_at == THRONG_NONE ? first : throng_visible[count_at + 3u];
    uint index = list == THRONG_NONE ? throng_visible[start + number]
                                     : throng_instance(list, int(start + number));
    ThrongInstance instance = throng_instances[index];
    put(index);
    for (int r = 0; r < 3; ++r) {
        put_row(instance.world_from_model[r]);
    }
    put_row(vec4(instance.normal_x, instance.side));
    put_row(vec4(instance.normal_y, uintBitsToFloat(instance.user)));
    put_row(vec4(instance.normal_z, uintBitsToFloat(instance.stamp)));
    for (int i = 0; i < 4; ++i) {
        put(instance.colors[i]);
    }
    put(instance.palette.x);
    put(instance.palette.y);
    put(instance.morphs);
    put(instance.skinned);
    for (uint entry = 0u; entry < entries; ++entry) {
        uvec2 at = throng_add(throng_pose(index).palette, entry * 48u);
        ThrongMatrix matrix = throng_palette_matrix(at);
        for (int r = 0; r < 3; ++r) {
            put_row(matrix.rows[r]);
        }
    }
}
