// The built-in shading: metallic-roughness under one directional light and a sky.
// THRONG_SHADOWED: the light comes through a shadow map, set 1.

#include "throng_surface.glsl"

#ifdef THRONG_SHADOWED
layout(set = 1, binding = 0) uniform sampler2DArrayShadow shadow_map;
#endif

layout(location = 0) out vec4 out_color;

const float PI = 3.14159265;

#ifdef THRONG_SHADOWED
// The part of the sun that arrives: 9 filtered taps around the point, moved off the surface by its slope, in the
// first layer that covers it.
float sunlight(ThrongSurface surface, float n_dot_l) {
    for (uint layer = 0u; layer < min(throng_view.shadow_layers, THRONG_SHADOW_LAYERS); ++layer) {
        mat4 shadow_from_world = throng_view.shadow_from_world[layer];
        float slope = sqrt(max(1.0 - n_dot_l * n_dot_l, 0.0));
        // Metres a texel: how far the world moves for one texel's width along the map's x.
        vec3 x = vec3(shadow_from_world[0].x, shadow_from_world[1].x, shadow_from_world[2].x);
        float texel_m = throng_view.shadow_texel * inversesqrt(max(dot(x, x), 1e-30));
        vec3 at = surface.position + surface.normal * (throng_view.shadow_bias * texel_m * (0.5 + 1.5 * slope));
        vec4 projected = shadow_from_world * vec4(at, 1.0);
        vec3 p = projected.xyz / projected.w;
        vec2 margin = vec2(2.0 * throng_view.shadow_texel);
        if (any(lessThan(p.xy, margin)) || any(greaterThan(p.xy, 1.0 - margin)) || p.z < 0.0 || p.z > 1.0) {
            continue;
        }
        float sum = 0.0;
        for (int y = -1; y <= 1; ++y) {
            for (int x = -1; x <= 1; ++x) {
                vec2 offset = vec2(x, y) * throng_view.shadow_texel;
                // Without derivatives, which are not defined in here; there is one level.
                sum += textureGrad(shadow_map, vec4(p.xy + offset, float(layer), p.z), vec2(0.0), vec2(0.0));
            }
        }
        return sum / 9.0;
    }
    return 1.0;
}
#else
float sunlight(ThrongSurface surface, float n_dot_l) {
    return 1.0;
}
#endif

// The light of the sky from a direction.
vec3 sky(vec3 direction) {
    return mix(throng_view.ground_color.rgb, throng_view.sky_color.rgb, direction.y * 0.5 + 0.5);
}

// Light towards the eye: a GGX lobe over Lambert's law, after glTF 2.0, appendix B, with the height-correlated visibility
// of Heitz, "Understanding the Masking-Shadowing Function", 2014, and an environment term after Karis,
// "Physically Based Shading on Mobile", 2014. Light colours are what a white, rough surface sends back: the
// factor pi of the integral is in them.
vec3 shade(ThrongSurface surface) {
    if (surface.unlit) {
        return surface.base_color.rgb;
    }
    vec3 n = surface.normal, v = surface.to_eye, l = throng_view.sun_direction.xyz;
    vec3 h = normalize(l + v + vec3(1e-6));
    float n_dot_v = max(abs(dot(n, v)), 1e-3);
    float n_dot_l = max(dot(n, l), 0.0);
    float n_dot_h = clamp(dot(n, h), 0.0, 1.0);
    float v_dot_h = clamp(dot(v, h), 0.0, 1.0);
    float metallic = clamp(surface.metallic, 0.0, 1.0);
    float roughness = clamp(surface.roughness, 0.045, 1.0);
    float a = roughness * roughness, a2 = a * a;
    vec3 diffuse = surface.base_color.rgb * (1.0 - metallic);
    vec3 f0 = mix(vec3(0.04), surface.base_color.rgb, metallic);

    // 1 - n_dot_h^2 as the cross product has it, which keeps its digits where the lobe is narrow.
    vec3 n_cross_h = cross(n, h);
    float d = dot(n_cross_h, n_cross_h) + n_dot_h * n_dot_h * a2;
    float distribution = a2 / (PI * d * d);
    float visibility = 0.5 / (n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2)
                              + n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2));
    vec3 fresnel = f0 + (1.0 - f0) * pow(1.0 - v_dot_h, 5.0);
    vec3 direct = (diffuse * (1.0 - fresnel) + PI * fresnel * distribution * visibility) * n_dot_l;
    float lit = n_dot_l > 0.0 ? sunlight(surface, n_dot_l) : 0.0;

    vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a004 = min(r.x * r.x, exp2(-9.28 * n_dot_v)) * r.x + r.y;
    vec2 ab = vec2(-1.04, 1.04) * a004 + r.zw;
    // A rough mirror sees the sky around its normal.
    vec3 mirrored = mix(reflect(-v, n), n, a);
    vec3 around = diffuse * sky(n) + (f0 * ab.x + ab.y) * sky(normalize(mirrored));
    return direct * lit * throng_view.sun_color.rgb + around * surface.occlusion + surface.emissive;
}

void main() {
    ThrongSurface surface = throng_surface();
    if (throng_is_hole(surface)) {
        discard;
    }
    out_color = vec4(shade(surface), surface.base_color.a);
}
