// Motion vectors of surfaces that a mask cuts holes into.

#include "throng_surface.glsl"
#include "motion.glsl"

void main() {
    ThrongMaterial material = throng_material();
    if (throng_is_hole(material, throng_base_color(material).a)) {
        discard;
    }
    out_motion = motion();
}
