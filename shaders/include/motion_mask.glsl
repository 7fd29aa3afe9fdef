// Motion vectors of masked surfaces.

// Tints do not change alpha where they have a mask.
#define THRONG_NO_TINTS
#include "throng_surface.glsl"
#include "motion.glsl"

void main() {
    if (throng_is_hole(throng_base_color().a)) {
        discard;
    }
    out_motion = motion();
}
