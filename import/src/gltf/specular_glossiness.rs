//! Conversion of `KHR_materials_pbrSpecularGlossiness` to metalness and roughness.
//!
//! The formulas are those of the Khronos Group's conversion example for that extension
//! (`extensions/2.0/Archived/KHR_materials_pbrSpecularGlossiness/examples`).

use super::json_material::SpecularGlossiness;
use throng::glam::{Vec3, Vec4};

/// The reflectance of a non-metal.
const DIELECTRIC: f32 = 0.04;
/// The divisor where a colour is divided by nothing.
const LEAST: f32 = 1e-6;

/// The factors of a material of metalness and roughness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Factors {
    pub(super) base_color: [f32; 4],
    pub(super) metallic: f32,
    pub(super) roughness: f32,
}

/// The factors that look like those of specular colour and glossiness.
///
/// With a texture of both, the factors only scale unknown values. Then the material is a non-metal,
/// and the texture's glossiness counts as a half.
pub(super) fn convert(raw: &SpecularGlossiness) -> Factors {
    let diffuse = Vec4::from_array(raw.diffuse_factor.unwrap_or([1.0; 4]));
    let glossiness = raw.glossiness_factor.unwrap_or(1.0);
    if raw.specular_glossiness_texture.is_some() {
        return Factors {
            base_color: diffuse.to_array(),
            metallic: 0.0,
            roughness: 1.0 - glossiness * 0.5,
        };
    }
    let specular = Vec3::from_array(raw.specular_factor.unwrap_or([1.0; 3]));
    let (color, alpha) = (diffuse.truncate(), diffuse.w);
    let rest = 1.0 - specular.max_element();
    let metallic = metallic(brightness(color), brightness(specular), rest);
    let of_diffuse = color * (rest / (1.0 - DIELECTRIC) / (1.0 - metallic).max(LEAST));
    let of_specular = (specular - DIELECTRIC * (1.0 - metallic)) / metallic.max(LEAST);
    let base = of_diffuse.lerp(of_specular, metallic * metallic);
    Factors {
        base_color: base.clamp(Vec3::ZERO, Vec3::ONE).extend(alpha).to_array(),
        metallic,
        roughness: 1.0 - glossiness,
    }
}

/// The metalness at which both models reflect as much: a root of a quadratic equation.
fn metallic(diffuse: f32, specular: f32, rest: f32) -> f32 {
    if specular < DIELECTRIC {
        return 0.0;
    }
    let b = diffuse * rest / (1.0 - DIELECTRIC) + specular - 2.0 * DIELECTRIC;
    let c = DIELECTRIC - specular;
    let root = (b * b - 4.0 * DIELECTRIC * c).max(0.0).sqrt();
    ((root - b) / (2.0 * DIELECTRIC)).clamp(0.0, 1.0)
}

/// The perceived brightness of a linear colour.
fn brightness(color: Vec3) -> f32 {
    (color * color).dot(Vec3::new(0.299, 0.587, 0.114)).sqrt()
}
