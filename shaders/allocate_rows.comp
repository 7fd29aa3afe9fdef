// Stage allocate_rows: one workgroup. It gives the chunks rows of the ring for the palettes of
// their members, in the order of the chunks.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "include/stages.glsl"

const uint LANES = 128u;
layout(local_size_x = LANES) in;
// Sums stop here, far behind the last row.
const uint ENOUGH = 1u << 30;

shared uint sums[LANES];

// The rows of all palettes of a chunk.
uint rows_of(const uint chunk) {
    uint character = characters_at + work[chunks_at + chunk * CHUNK_WORDS] * CHARACTER_WORDS;
    return min(work[posed_at(chunk)] * work[character + CHARACTER_PALETTE_ROWS], ENOUGH);
}

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint each = (chunks_end + LANES - 1u) / LANES;
    uint begin = min(lane * each, chunks_end), end = min(begin + each, chunks_end);
    uint sum = 0u;
    for (uint chunk = begin; chunk < end; ++chunk) {
        sum = min(sum + rows_of(chunk), ENOUGH);
    }
    sums[lane] = sum;
    barrier();
    uint row = rows_first;
    for (uint i = 0u; i < lane; ++i) {
        row = min(row + sums[i], ENOUGH);
    }
    for (uint chunk = begin; chunk < end; ++chunk) {
        work[posed_at(chunk) + 1u] = row;
        row = min(row + rows_of(chunk), ENOUGH);
    }
}
