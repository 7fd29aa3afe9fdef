// The built-in shading: metallic-roughness under one directional light and a sky.
// THRONG_SHADOWED: the light comes through a shadow map, set 1.
// THRONG_ENVIRONMENT: reflections come from an environment map, the set after that.

#include "throng_surface.glsl"

#ifdef THRONG_SHADOWED
layout(set = 1, binding = 0) uniform sampler2DArrayShadow shadow_map;
#endif

#ifdef THRONG_ENVIRONMENT
#ifdef THRONG_SHADOWED
layout(set = 2, binding = 0) uniform samplerCube environment_map;
#else
layout(set = 1, binding = 0) uniform samplerCube environment_map;
#endif
#endif

// True if the pass reads the environment of the view (PassDesc::environment).
layout(constant_id = 1003) const bool ENVIRONMENT = false;

layout(location = 0) out vec4 out_color;

const float PI = 3.14159265;

#ifdef THRONG_SHADOWED
// The weights of four texels in a row, for three bilinear samples that are one texel apart.
vec4 row_weights(const float fraction) {
    return vec4(1.0 - fraction, 1.0, 1.0, fraction);
}

// The mean of nine bilinear comparisons, 3x3 around a point, one texel apart: a weighted sum of 4x4
// comparisons, which four gathers fetch.
float shadow_3x3(const vec2 at, const float layer, const float depth) {
    float texel = throng_view.shadow_texel;
    vec2 texels = at / texel - 0.5;
    vec2 corner = floor(texels);
    vec4 wx = row_weights(texels.x - corner.x);
    vec4 wy = row_weights(texels.y - corner.y);
    // A gather at the corner that four texels share. It gives (0,1), (1,1), (1,0), (0,0).
    vec2 first = corner * texel;
    vec2 second = (corner + 2.0) * texel;
    vec4 a = textureGather(shadow_map, vec3(first, layer), depth);
    vec4 b = textureGather(shadow_map, vec3(second.x, first.y, layer), depth);
    vec4 c = textureGather(shadow_map, vec3(first.x, second.y, layer), depth);
    vec4 d = textureGather(shadow_map, vec3(second, layer), depth);
    float sum = dot(wx, vec4(a.wz, b.wz)) * wy.x + dot(wx, vec4(a.xy, b.xy)) * wy.y
                + dot(wx, vec4(c.wz, d.wz)) * wy.z + dot(wx, vec4(c.xy, d.xy)) * wy.w;
    return sum / 9.0;
}

// The part of the sun's light that arrives. The point is moved off its surface, further on slopes.
// The first layer that covers it counts.
float sunlight(const ThrongSurface surface, const float n_dot_l) {
    for (uint layer = 0u; layer < min(throng_view.shadow_layers, THRONG_SHADOW_LAYERS); ++layer) {
        mat4 shadow_from_world = throng_view.shadow_from_world[layer];
        float slope = sqrt(max(1.0 - n_dot_l * n_dot_l, 0.0));
        // Metres a texel: how far the world moves for one texel's width along the map's x.
        vec3 x = vec3(shadow_from_world[0].x, shadow_from_world[1].x, shadow_from_world[2].x);
        float texel_m = throng_view.shadow_texel * inversesqrt(max(dot(x, x), 1e-30));
        float bias_m = throng_view.shadow_bias * texel_m * (0.5 + 1.5 * slope);
        vec3 at = surface.position + surface.normal * bias_m;
        vec4 projected = shadow_from_world * vec4(at, 1.0);
        vec3 p = projected.xyz / projected.w;
        vec2 margin = vec2(2.0 * throng_view.shadow_texel);
        bool outside = any(lessThan(p.xy, margin)) || any(greaterThan(p.xy, 1.0 - margin));
        if (outside || p.z < 0.0 || p.z > 1.0) {
            continue;
        }
        return shadow_3x3(p.xy, float(layer), p.z);
    }
    return 1.0;
}
#else
float sunlight(const ThrongSurface surface, const float n_dot_l) {
    return 1.0;
}
#endif

vec3 to_environment(const vec3 direction) {
    return vec3(dot(throng_view.environment_from_world[0].xyz, direction),
                dot(throng_view.environment_from_world[1].xyz, direction),
                dot(throng_view.environment_from_world[2].xyz, direction));
}

// The light of the sky or the environment that a rough white surface reflects:
// Environment::reflected.
vec3 sky(const vec3 direction) {
    if (ENVIRONMENT) {
        vec3 d = to_environment(direction);
        vec3 sum = throng_view.environment[0].rgb + throng_view.environment[1].rgb * d.y
                   + throng_view.environment[2].rgb * d.z + throng_view.environment[3].rgb * d.x
                   + throng_view.environment[4].rgb * (d.x * d.y)
                   + throng_view.environment[5].rgb * (d.y * d.z)
                   + throng_view.environment[6].rgb * (3.0 * d.z * d.z - 1.0)
                   + throng_view.environment[7].rgb * (d.x * d.z)
                   + throng_view.environment[8].rgb * (d.x * d.x - d.y * d.y);
        return max(sum, vec3(0.0));
    }
    return mix(throng_view.ground_color.rgb, throng_view.sky_color.rgb, direction.y * 0.5 + 0.5);
}

// The light that a mirror of a roughness reflects from around a direction.
vec3 mirrored_light(const vec3 direction, const float roughness) {
#ifdef THRONG_ENVIRONMENT
    float intensity = throng_view.environment_from_world[0].w;
    if (intensity > 0.0) {
        float level = roughness * throng_view.environment_from_world[1].w;
        return textureLod(environment_map, to_environment(direction), level).rgb * intensity;
    }
#endif
    return sky(direction);
}

// Light towards the eye: a GGX lobe over Lambert's law, after glTF 2.0, appendix B, with the
// height-correlated visibility of Heitz, "Understanding the Masking-Shadowing Function", 2014, and
// an environment term after Karis, "Physically Based Shading on Mobile", 2014. A light colour is
// what a white, rough surface reflects: the factor pi of the integral is in it.
vec3 shade(const ThrongSurface surface) {
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

    // 1 - n_dot_h^2 from the cross product, which keeps its digits if the lobe is narrow.
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
    vec3 mirror = f0 * ab.x + ab.y;
    vec3 around = mirror * mirrored_light(normalize(mirrored), roughness);
#ifdef THRONG_ENVIRONMENT
    // What a mirror reflects does not reach what is below it.
    around += diffuse * (1.0 - mirror) * sky(n);
#else
    around = diffuse * sky(n) + around;
#endif
    return direct * lit * throng_view.sun_color.rgb + around * surface.occlusion + surface.emissive;
}

void main() {
    ThrongSurface surface = throng_surface();
    // Only the pipelines of masked materials contain the discard.
    if (throng_masked) {
        if (throng_is_hole(surface)) {
            discard;
        }
    }
    out_color = vec4(shade(surface), surface.base_color.a);
}
