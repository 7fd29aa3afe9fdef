//! The built-in shading of `shaders/include/pbr.glsl` in `f64`, from appendix B of glTF 2.0.

use throng::Lighting;
use throng::glam::{DVec3, DVec4};

/// The surface of a fragment (`ThrongSurface`).
#[derive(Debug, Clone, Copy)]
pub struct Surface {
    pub normal: DVec3,
    pub to_eye: DVec3,
    pub base_color: DVec4,
    pub emissive: DVec3,
    pub metallic: f64,
    pub roughness: f64,
    pub occlusion: f64,
    pub unlit: bool,
}

/// The light towards the eye. `sunlight` is the fraction of the sun's light that arrives.
pub fn shade(surface: &Surface, lighting: &Lighting, sunlight: f64) -> DVec3 {
    let base = surface.base_color.truncate();
    if surface.unlit {
        return base;
    }
    let (n, v) = (surface.normal, surface.to_eye);
    let l = lighting.sun_direction.as_dvec3().normalize();
    let h = (l + v).normalize();
    let n_dot_v = n.dot(v).abs().max(1e-3);
    let n_dot_l = n.dot(l).max(0.0);
    let n_dot_h = n.dot(h).clamp(0.0, 1.0);
    let v_dot_h = v.dot(h).clamp(0.0, 1.0);
    let roughness = surface.roughness.clamp(0.045, 1.0);
    let a = roughness * roughness;
    let a2 = a * a;
    let diffuse = base * (1.0 - surface.metallic);
    let f0 = DVec3::splat(0.04).lerp(base, surface.metallic);
    // Trowbridge-Reitz times the height-correlated visibility of Smith's model.
    let d = n_dot_h * n_dot_h * (a2 - 1.0) + 1.0;
    let distribution = a2 / (std::f64::consts::PI * d * d);
    let lambda = |a: f64, b: f64| a * (b * b * (1.0 - a2) + a2).sqrt();
    let visibility = 0.5 / (lambda(n_dot_l, n_dot_v) + lambda(n_dot_v, n_dot_l));
    let fresnel = f0 + (DVec3::ONE - f0) * (1.0 - v_dot_h).powi(5);
    let specular = fresnel * (std::f64::consts::PI * distribution * visibility);
    let direct = (diffuse * (DVec3::ONE - fresnel) + specular) * n_dot_l;
    direct * sunlight * lighting.sun_color.as_dvec3()
        + around(surface, lighting, (n_dot_v, roughness), diffuse, f0) * surface.occlusion
        + surface.emissive
}

/// The light of the sky, with Karis' fit of the integral of a lobe over a uniform environment.
fn around(
    surface: &Surface,
    lighting: &Lighting,
    (n_dot_v, roughness): (f64, f64),
    diffuse: DVec3,
    f0: DVec3,
) -> DVec3 {
    let sky = |direction: DVec3| {
        let (below, above) = (lighting.ground_color, lighting.sky_color);
        below
            .as_dvec3()
            .lerp(above.as_dvec3(), direction.y * 0.5 + 0.5)
    };
    let r =
        DVec4::new(-1.0, -0.0275, -0.572, 0.022) * roughness + DVec4::new(1.0, 0.0425, 1.04, -0.04);
    let a004 = (r.x * r.x).min((-9.28 * n_dot_v).exp2()) * r.x + r.y;
    let (scale, bias) = (-1.04 * a004 + r.z, 1.04 * a004 + r.w);
    let (n, v) = (surface.normal, surface.to_eye);
    let reflected = n * (2.0 * n.dot(v)) - v;
    let mirrored = reflected.lerp(n, roughness * roughness).normalize();
    diffuse * sky(n) + (f0 * scale + bias) * sky(mirrored)
}
