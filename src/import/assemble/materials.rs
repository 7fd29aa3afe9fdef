//! Checks of materials and images: indices, sizes and ranges of factors.

use crate::error::{AssetFault, Object, ObjectKind, Result};
use crate::import::RawCharacter;
use crate::import::fault::{check_cap, cut, fault, file_part};
use crate::import::repair::{Repair, RepairKind};
use crate::mesh::{AlphaMode, Material, TextureRef};
use core::slice::from_mut;
use std::collections::BTreeSet;

/// The textures' names in error messages, in the order of [`Material::textures`].
const TEXTURES: [&str; Material::TEXTURES] = [
    "baseColorTexture",
    "metallicRoughnessTexture",
    "normalTexture",
    "occlusionTexture",
    "emissiveTexture",
    "tintMask",
];

/// Checks all images and materials, and clamps factors to their ranges.
pub(super) fn check(raw: &mut RawCharacter, repairs: &mut Vec<Repair>) -> Result<()> {
    for (index, image) in raw.images.iter().enumerate() {
        let why = image.check();
        why.map_err(|why| fault(ObjectKind::Image, index, "", why))?;
    }
    let images = raw.images.len();
    for (index, material) in raw.materials.iter_mut().enumerate() {
        for (texture, part) in material.textures().into_iter().zip(TEXTURES) {
            if let Some(texture) = texture {
                check_texture(index, part, &texture, images)?;
            }
        }
        hold_factors(index, material, repairs)?;
    }
    check_variants(raw)
}

/// Checks that variants and their materials exist, and that none has two for a primitive.
fn check_variants(raw: &RawCharacter) -> Result<()> {
    let (variants, materials) = (raw.variants.len(), raw.materials.len());
    let most = u64::from(u16::MAX);
    check_cap(|| file_part(""), "material variants", variants as u64, most)?;
    for primitive in &raw.primitives {
        let at = |number: usize, why| {
            let part = format!("primitives[{}].variants[{number}]", primitive.number);
            Err(fault(ObjectKind::Mesh, primitive.mesh, part, why))
        };
        let mut known = BTreeSet::new();
        for (number, (variant, material)) in primitive.variants.iter().enumerate() {
            if *variant >= variants {
                return at(number, AssetFault::dangling("variant", *variant, variants));
            }
            if *material >= materials {
                return at(
                    number,
                    AssetFault::dangling("material", *material, materials),
                );
            }
            if !known.insert(*variant) {
                return at(
                    number,
                    AssetFault::Invalid("gives a variant a second material"),
                );
            }
        }
    }
    Ok(())
}

fn check_texture(material: usize, part: &str, texture: &TextureRef, images: usize) -> Result<()> {
    let at = |part: Box<str>, why| Err(fault(ObjectKind::Material, material, part, why));
    if texture.image as usize >= images {
        let why = AssetFault::dangling("image", texture.image as usize, images);
        return at(part.into(), why);
    }
    if texture.uv_set > 1 {
        let what = "the set of texture coordinates";
        let (got, allowed) = (cut(&texture.uv_set.to_string()), "0 or 1");
        let why = AssetFault::NotAllowed { what, got, allowed };
        return at(part.into(), why);
    }
    if !texture.transform.is_finite() {
        let why = AssetFault::Invalid("has a component that is not finite");
        return at(format!("{part}.transform").into(), why);
    }
    Ok(())
}

/// Rejects factors that are not finite and clamps the others to the ranges of glTF 2.0 (5.19 to
/// 5.22). Emissive light has no upper bound, because it includes the emissive strength. The alpha
/// cutoff has none either, because a larger one just makes the surface invisible.
fn hold_factors(index: usize, material: &mut Material, repairs: &mut Vec<Repair>) -> Result<()> {
    let mut hold = |part: &'static str, values: &mut [f32], least: f32, most: f32| {
        let mut clamped = 0;
        for (at, value) in values.iter_mut().enumerate() {
            if !value.is_finite() {
                let why = AssetFault::value("component", at, *value, "finite");
                return Err(fault(ObjectKind::Material, index, part, why));
            }
            if *value < least || *value > most {
                *value = value.clamp(least, most);
                clamped += 1;
            }
        }
        let at = Object::new(ObjectKind::Material, index, part);
        Repair::note(repairs, &at, RepairKind::FactorClamped, clamped);
        Ok(())
    };
    let any = f32::MAX;
    hold("baseColorFactor", &mut material.base_color, 0.0, 1.0)?;
    hold("metallicFactor", from_mut(&mut material.metallic), 0.0, 1.0)?;
    let roughness = from_mut(&mut material.roughness);
    hold("roughnessFactor", roughness, 0.0, 1.0)?;
    let scale = from_mut(&mut material.normal_scale);
    hold("normalTexture.scale", scale, -any, any)?;
    let strength = from_mut(&mut material.occlusion_strength);
    hold("occlusionTexture.strength", strength, 0.0, 1.0)?;
    hold("emissiveFactor", &mut material.emissive, 0.0, any)?;
    hold("tintWeights", &mut material.tint_weights, 0.0, 1.0)?;
    let reference = &mut material.tint_reference;
    hold(
        "tintReference",
        reference,
        Material::MIN_TINT_REFERENCE,
        1.0,
    )?;
    if let AlphaMode::Mask { cutoff } = &mut material.alpha {
        hold("alphaCutoff", from_mut(cutoff), 0.0, any)?;
    }
    Ok(())
}
