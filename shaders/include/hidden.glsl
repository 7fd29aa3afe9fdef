// What becomes of members that views hide, or hold back until the reveal, and how motion vectors
// connect them with the frame that shows them again.

const uint HIDDEN = 34u, HELD = 35u;
// Says in the choice of the last view that the member would need a palette of its own, but for
// views that hide it.
const uint OWN_IF_SEEN = 128u;
// See GpuCullView.
const uint VIEW_HISTORY = 64u;
const uint OCCLUSION_ROWS = 21u, OCCLUSION_HISTORY = 20u;

// The record of an eye's tests in the views: they stand before the lists, in reverse order.
uint occlusion_in_views(const uint eye) {
    return listed_at / 4u - (eye + 1u) * OCCLUSION_ROWS;
}
