//! Encodes materials for the GPU.

use super::layout::{GpuMaterial, GpuTexture};
use crate::mesh::{AlphaMode, Material, TextureRef};

/// The material as shaders read it. `indices` are the indices of its textures in the set.
pub(crate) fn material(material: &Material, indices: [u32; Material::TEXTURES]) -> GpuMaterial {
    let textures = material.textures();
    let alpha_cutoff = match material.alpha {
        AlphaMode::Mask { cutoff } => cutoff,
        AlphaMode::Opaque | AlphaMode::Blend => 0.0,
    };
    GpuMaterial {
        base_color: material.base_color,
        emissive: material.emissive,
        alpha_cutoff,
        metallic: material.metallic,
        roughness: material.roughness,
        normal_scale: material.normal_scale,
        occlusion_strength: material.occlusion_strength,
        variant: variant(material),
        second_tint_weight: material.tint_weights[1],
        reserved: [0; 2],
        tint: tint(material),
        textures: core::array::from_fn(|at| texture(textures[at], indices[at])),
    }
}

/// 1 / reference colour, and the weight of the first tint.
pub(crate) fn tint(material: &Material) -> [f32; 4] {
    let [r, g, b] = material.tint_reference.map(f32::recip);
    [r, g, b, material.tint_weights[0]]
}

/// The properties of a material, as flags of [`GpuMaterial::variant`].
pub(crate) fn variant(material: &Material) -> u32 {
    type Of = GpuMaterial;
    let alpha = match material.alpha {
        AlphaMode::Opaque => 0,
        AlphaMode::Mask { .. } => Of::ALPHA_MASK,
        AlphaMode::Blend => Of::ALPHA_BLEND,
    };
    let unlit = if material.unlit { Of::UNLIT } else { 0 };
    let textures = (Of::TEXTURE_SHIFT..).zip(material.textures());
    let textures = textures.filter_map(|(shift, texture)| Some((1 << shift, texture?)));
    textures.fold(alpha | unlit, |bits, (texture, of)| {
        let turns = if is_transformed(&of) {
            Of::TURNS_UVS
        } else {
            0
        };
        let second = if of.uv_set > 0 { Of::SECOND_UVS } else { 0 };
        bits | texture | turns | second
    })
}

fn is_transformed(texture: &TextureRef) -> bool {
    texture.transform != glam::Affine2::IDENTITY
}

fn texture(texture: Option<TextureRef>, index: u32) -> GpuTexture {
    let texture = texture.unwrap_or(TextureRef::new(0));
    let transformed = is_transformed(&texture);
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
