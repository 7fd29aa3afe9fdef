// The built-in shading (shaders/include/pbr.glsl), with lights of the program.

struct Lights { sun_direction: vec3f, sun_color: vec3f, sky_color: vec3f, ground_color: vec3f }

@group(1) @binding(0) var<uniform> lights: Lights;
@group(2) @binding(3) var glow: texture_2d<f32>;
@group(2) @binding(1) var glow_sampler: sampler;

override EXPOSURE: f32 = 0.0;

fn sky(direction: vec3f) -> vec3f {
    return mix(lights.ground_color, lights.sky_color, direction.y * 0.5 + 0.5);
}

fn lit(surface: ThrongSurface) -> vec3f {
    if surface.unlit {
        return surface.base_color.rgb;
    }
    let n = surface.normal;
    let v = surface.to_eye;
    let l = lights.sun_direction;
    let h = normalize(l + v + vec3f(1e-6));
    let n_dot_v = max(abs(dot(n, v)), 1e-3);
    let n_dot_l = max(dot(n, l), 0.0);
    let n_dot_h = clamp(dot(n, h), 0.0, 1.0);
    let v_dot_h = clamp(dot(v, h), 0.0, 1.0);
    let metallic = clamp(surface.metallic, 0.0, 1.0);
    let roughness = clamp(surface.roughness, 0.045, 1.0);
    let a = roughness * roughness;
    let a2 = a * a;
    let diffuse = surface.base_color.rgb * (1.0 - metallic);
    let f0 = mix(vec3f(0.04), surface.base_color.rgb, metallic);
    let n_cross_h = cross(n, h);
    let d = dot(n_cross_h, n_cross_h) + n_dot_h * n_dot_h * a2;
    let distribution = a2 / (3.14159265 * d * d);
    let visibility = 0.5 / (n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2)
                            + n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2));
    let fresnel = f0 + (1.0 - f0) * pow(1.0 - v_dot_h, 5.0);
    let specular = 3.14159265 * fresnel * distribution * visibility;
    let direct = (diffuse * (1.0 - fresnel) + specular) * n_dot_l;
    let r = roughness * vec4f(-1.0, -0.0275, -0.572, 0.022) + vec4f(1.0, 0.0425, 1.04, -0.04);
    let a004 = min(r.x * r.x, exp2(-9.28 * n_dot_v)) * r.x + r.y;
    let ab = vec2f(-1.04, 1.04) * a004 + r.zw;
    let mirrored = mix(reflect(-v, n), n, a);
    let around = diffuse * sky(n) + (f0 * ab.x + ab.y) * sky(normalize(mirrored));
    return direct * lights.sun_color + around * surface.occlusion + surface.emissive;
}

@fragment
fn shade(in: ThrongIn) -> @location(0) vec4f {
    let surface = throng_surface(in);
    if throng_masked() {
        if surface.hole {
            discard;
        }
    }
    // White, with an exposure of 1.
    let one = textureSampleLevel(glow, glow_sampler, in.uv.xy, 0.0).rgb * EXPOSURE;
    return vec4f(lit(surface) * one, surface.base_color.a);
}

@fragment
fn another(@location(5) @interpolate(flat) user: u32) -> @location(0) vec4f {
    return vec4f(f32(user));
}
