// Bands of light and a bright rim: the shading of examples/own_shader.rs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/throng_surface.glsl"

// Set 1 is the example's.
layout(set = 1, binding = 0, std140) uniform Toon {
    vec4 bands[4];  // rgb: light; w: from which brightness on, ascending
    vec4 rim;       // rgb: light; w: how much of the outline it takes
};

const uint SELECTED = 1u;

layout(location = 0) out vec4 out_color;

void main() {
    ThrongSurface surface = throng_surface();
    // Only the pipelines of masked materials contain the discard.
    if (throng_masked) {
        if (throng_is_hole(surface)) {
            discard;
        }
    }
    float brightness = dot(surface.normal, throng_view.sun_direction.xyz) * 0.5 + 0.5;
    vec3 light = vec3(0.0);
    for (int band = 0; band < 4; ++band) {
        light = mix(light, bands[band].rgb, smoothstep(-0.01, 0.01, brightness - bands[band].w));
    }
    float outward = 1.0 - max(dot(surface.normal, surface.to_eye), 0.0);
    float glow = smoothstep(1.0 - rim.w, 1.05 - rim.w, outward) * brightness;
    vec3 color = surface.base_color.rgb * light + rim.rgb * glow;
    // The example marks who is selected with its own word: Spawn::user_data.
    if (throng_in_user == SELECTED) {
        color = mix(color, vec3(1.0, 0.72, 0.1), smoothstep(0.45, 0.6, outward));
    }
    out_color = vec4(color, surface.base_color.a);
}
