// Discards the holes of a masked material, and writes nothing but depth.

#include "throng_surface.glsl"

void main() {
    if (throng_is_hole(throng_base_color().a)) {
        discard;
    }
}
