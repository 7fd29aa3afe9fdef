// Motion vectors of masked surfaces.

#include "throng_surface.glsl"
#include "motion.glsl"

void main() {
    if (throng_is_hole(throng_base_color().a)) {
        discard;
    }
    out_motion = motion();
}
