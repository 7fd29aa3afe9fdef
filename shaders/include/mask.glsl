// Discards the holes of a masked material, and writes nothing but depth.

// Tints do not change alpha where they have a mask.
#define THRONG_NO_TINTS
#include "throng_surface.glsl"

void main() {
    if (throng_is_hole(throng_base_color().a)) {
        discard;
    }
}
