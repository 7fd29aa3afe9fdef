//! Encodes materials for the GPU.

use super::layout::{GpuMaterial, GpuTexture};
use crate::mesh::{AlphaMode, Material, TextureRef};

/// The material as shaders read it. `indices` are the indices of its textures in the set.
pub(crate) fn material(material: &Material, indices: [u32; Material::TEXTURES]) -> GpuMaterial {
    let textures = material.textures();
    let present = (0..).zip(&textures).fold(0, |bits, (at, texture)| {
        bits | u32::from(texture.is_some()) << at
    });
    let (alpha, alpha_cutoff) = match material.alpha {
        AlphaMode::Opaque => (0, 0.0),
        AlphaMode::Mask { cutoff } => (GpuMaterial::ALPHA_MASK, cutoff),
        AlphaMode::Blend => (GpuMaterial::ALPHA_BLEND, 0.0),
    };
    let unlit = if material.unlit {
        GpuMaterial::UNLIT
    } else {
        0
    };
    GpuMaterial {
        base_color: material.base_color,
        emissive: material.emissive,
        alpha_cutoff,
        metallic: material.metallic,
        roughness: material.roughness,
        normal_scale: material.normal_scale,
        occlusion_strength: material.occlusion_strength,
        flags: alpha | unlit | present << GpuMaterial::TEXTURE_SHIFT,
        reserved: [0; 3],
        textures: core::array::from_fn(|at| texture(textures[at], indices[at])),
    }
}

fn texture(texture: Option<TextureRef>, index: u32) -> GpuTexture {
    let texture = texture.unwrap_or(TextureRef::new(0));
    let transformed = texture.transform != glam::Affine2::IDENTITY;
    GpuTexture {
        uv_matrix: texture.transform.matrix2.to_cols_array(),
        uv_offset: texture.transform.translation.to_array(),
        uv_set: texture.uv_set
            | if transformed {
                GpuTexture::UV_TRANSFORMED
            } else {
                0
            },
        slot: index,
    }
}
