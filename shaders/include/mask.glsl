// Leaves out what a material's mask cuts out, and writes nothing but depth.

#include "throng_surface.glsl"

void main() {
    ThrongMaterial material = throng_material();
    if (throng_is_hole(material, throng_base_color(material).a)) {
        discard;
    }
}
