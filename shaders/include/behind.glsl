// Stage cull: whether an instance is hidden in a view: by depth that an engine drew before, or in
// the view of a light, because no camera sees its shadow.

#include "hidden.glsl"

// The words of a view's counters that have the numbers of those that are hidden, and of those that
// are revealed.
const uint COUNT_HIDDEN = 13u, COUNT_LATE = 14u;
// See GpuCullView.
const uint VIEW_BEHIND = 8u, VIEW_LATE = 32u;
// Words of a chunk and a late view, before the choices, in reverse order: a bit for each member
// that the view saw in the last frame, and for each that was hidden. They may be those of other
// members, and only decide when instances are drawn.
const uint SEEN_WORDS = 4u;

// The number of views of the frame.
#ifdef REVEAL
#define ALL_VIEWS chunks_end
#else
#define ALL_VIEWS view_count
#endif

layout(set = 0, binding = 3, std430) readonly buffer Pyramids { float pyramids[]; };

#include "occlusion.glsl"
#include "volume.glsl"

// The record of an eye's tests, and whether it has depth.
#ifdef REVEAL
uint occlusion_of(const uint eye) {
    return triangles_at / 4u + eye * OCCLUSION_ROWS;
}

bool is_tested(const uint flags) {
    // A record of zeros hides nothing.
    return true;
}
#else
uint occlusion_of(const uint eye) {
    return occlusion_in_views(eye);
}

bool is_tested(const uint flags) {
    return (flags & VIEW_BEHIND) != 0u;
}
#endif

// Where the bits of a chunk's members that a late view saw are.
uint seen_at(const uint view, const uint chunk) {
    return choices_at - (view * chunk_count + chunk + 1u) * SEEN_WORDS;
}

// True if an instance was seen, or with `hidden` 2, if it was hidden.
bool was(const uint hidden, const uint view, const uint chunk, const uint lane) {
    return (work[seen_at(view, chunk) + hidden + (lane >> 5)] >> (lane & 31u) & 1u) != 0u;
}

#include "receivers.glsl"

// True if an instance is hidden from an eye.
bool hidden_from(const uint eye, const uint flags, const Actor actor, const uint instance,
                 const uint character) {
    bool casts = RECEIVERS && (flags & VIEW_RECEIVERS) != 0u;
    if (!is_tested(flags) && !casts) {
        return false;
    }
    uint at = occlusion_of(eye);
    Volume volume = volume_of(actor, instance, character);
    if (is_tested(flags) && depth_hides(at, volume.center, volume.edges, volume.radius)) {
        return true;
    }
    return casts && casts_unseen(at, volume.center, volume.edges);
}

// True if it is hidden from each eye that has it inside.
bool hidden(const uint number, const View view, const Actor actor, const uint instance,
            const uint character) {
    uint more = EYES ? view.more & 255u : 0u, first = view.more >> 8;
    bool found = true;
    for (uint eye = 0u; eye <= more && found; ++eye) {
        uint record = eye == 0u ? number : first + eye - 1u;
        uint flags = eye == 0u ? view.flags : view_of(record).flags;
        found = (EYES && outside(record, actor))
                || hidden_from(record, flags, actor, instance, character);
    }
    return found;
}
