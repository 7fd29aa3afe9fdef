// Stage cull: whether depth that an engine drew before hides an instance in a view.

// What becomes of members that are hidden, and the word of a view's counters that has their number.
const uint HIDDEN = 34u, COUNT_HIDDEN = 13u;
// See GpuCullView.
const uint VIEW_BEHIND = 8u;

layout(set = 0, binding = 3, std430) readonly buffer Pyramids { float pyramids[]; };

#include "occlusion.glsl"

// True if the depth of an eye hides an instance.
bool hidden_from(const uint eye, const uint flags, const Actor actor) {
    if ((flags & VIEW_BEHIND) == 0u) {
        return false;
    }
    // The records of eyes stand before the lists, in reverse order.
    uint at = listed_at / 4u - (eye + 1u) * OCCLUSION_ROWS;
    return hides_sphere(at, actor.center, actor.radius);
}

// True if each eye that has an instance inside hides it.
bool hidden(const uint number, const View view, const Actor actor) {
    if (!EYES) {
        return hidden_from(number, view.flags, actor);
    }
    bool found = outside(number, actor) || hidden_from(number, view.flags, actor);
    uint first = view.more >> 8, end = first + (view.more & 255u);
    for (uint eye = first; eye < end && found; ++eye) {
        found = outside(eye, actor) || hidden_from(eye, view_of(eye).flags, actor);
    }
    return found;
}
