// Stage cull: whether an instance is hidden in a view: by depth that an engine drew before, or in the
// view of a light, because no camera sees its shadow.

// What becomes of members that are hidden, and the word of a view's counters that has their number.
const uint HIDDEN = 34u, COUNT_HIDDEN = 13u;
// See GpuCullView.
const uint VIEW_BEHIND = 8u;

layout(set = 0, binding = 3, std430) readonly buffer Pyramids { float pyramids[]; };

#include "occlusion.glsl"
#include "volume.glsl"

// The record of an eye's tests. They stand before the lists, in reverse order.
uint occlusion_of(const uint eye) {
    return listed_at / 4u - (eye + 1u) * OCCLUSION_ROWS;
}

#include "receivers.glsl"

// True if the depth of an eye hides a volume: a box, or else the sphere of an actor.
bool depth_hides(const uint at, const Actor actor, const Volume volume) {
    vec4 a, b, c;
    float margin = view_rows[at + OCCLUSION_LIMITS].w, away = sum_of(volume.center);
    if (volume.is_box) {
        mat3 edges = margin > 0.0 ? widened(volume.edges, margin) : volume.edges;
        a = turned(at, edges[0]);
        b = turned(at, edges[1]);
        c = turned(at, edges[2]);
        away += sum_of(edges[0]) + sum_of(edges[1]) + sum_of(edges[2]);
    } else {
        // The box around it along the directions of the picture.
        float half_edge = actor.radius + margin;
        a = view_rows[at + OCCLUSION_EDGES] * half_edge;
        b = view_rows[at + OCCLUSION_EDGES + 1u] * half_edge;
        c = view_rows[at + OCCLUSION_EDGES + 2u] * half_edge;
        away += 2.0 * half_edge;
    }
    return hides(at, placed(at, volume.center), a, b, c, away);
}

// True if an instance is hidden from an eye.
bool hidden_from(const uint eye, const uint flags, const Actor actor, const uint instance,
                 const uint character) {
    if ((flags & (VIEW_BEHIND | VIEW_RECEIVERS)) == 0u) {
        return false;
    }
    uint at = occlusion_of(eye);
    Volume volume = volume_of(actor, instance, character);
    if ((flags & VIEW_BEHIND) != 0u && depth_hides(at, actor, volume)) {
        return true;
    }
    mat3 edges = volume.is_box ? volume.edges : mat3(actor.radius);
    return (flags & VIEW_RECEIVERS) != 0u && casts_unseen(at, volume.center, edges);
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
