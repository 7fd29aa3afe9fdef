// Colours by level of detail: what the crowd example shows with --lod-view. The full level is
// white. It reads no texture, so it fits devices with and without descriptor indexing.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/throng_surface.glsl"

layout(location = 0) out vec4 out_color;

const vec3 COLORS[8] = vec3[](
    vec3(0.85), vec3(0.15, 0.35, 0.9), vec3(0.1, 0.65, 0.25), vec3(0.9, 0.75, 0.1),
    vec3(0.85, 0.2, 0.1), vec3(0.6, 0.2, 0.75), vec3(0.1, 0.65, 0.7), vec3(0.35));

void main() {
    // Primitives without normals have zero here.
    vec3 flat_normal = cross(dFdx(throng_in_position), dFdy(throng_in_position));
    bool smooth_normal = dot(throng_in_normal, throng_in_normal) > 0.0;
    vec3 normal = normalize(smooth_normal ? throng_in_normal : flat_normal);
    float sun = max(dot(normal, throng_view.sun_direction.xyz), 0.0);
    vec3 sky = mix(throng_view.ground_color.rgb, throng_view.sky_color.rgb, normal.y * 0.5 + 0.5);
    out_color = vec4(COLORS[min(throng_level, 7u)] * (throng_view.sun_color.rgb * sun + sky), 1.0);
}
