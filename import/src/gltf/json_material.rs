//! The JSON of materials, textures and images.
//!
//! Large members that are often absent are boxed, because a list of empty materials must not take
//! much more memory than its text.

use crate::json::{Kind, Read, ReadFault, Value, file_structs};

file_structs! {
    pub(super) struct Material {
        "name" => name: Option<String>,
        "pbrMetallicRoughness" => pbr_metallic_roughness: Option<Box<Pbr>>,
        "normalTexture" => normal_texture: Option<Box<TextureInfo>>,
        "occlusionTexture" => occlusion_texture: Option<Box<TextureInfo>>,
        "emissiveTexture" => emissive_texture: Option<Box<TextureInfo>>,
        "emissiveFactor" => emissive_factor: Option<[f32; 3]>,
        "alphaMode" => alpha_mode: Option<String>,
        "alphaCutoff" => alpha_cutoff: Option<f32>,
        "doubleSided" => double_sided: Option<bool>,
        "extensions" => extensions: Option<Box<MaterialExtensions>>,
        "extras" => tints: Option<Box<Tints>>,
    }

    /// `KHR_materials_pbrSpecularGlossiness`.
    pub(super) struct SpecularGlossiness {
        "diffuseFactor" => diffuse_factor: Option<[f32; 4]>,
        "diffuseTexture" => diffuse_texture: Option<TextureInfo>,
        "specularFactor" => specular_factor: Option<[f32; 3]>,
        "glossinessFactor" => glossiness_factor: Option<f32>,
        "specularGlossinessTexture" => specular_glossiness_texture: Option<TextureInfo>,
    }

    pub(super) struct EmissiveStrength {
        "emissiveStrength" => emissive_strength: Option<f32>,
    }

    pub(super) struct Pbr {
        "baseColorFactor" => base_color_factor: Option<[f32; 4]>,
        "baseColorTexture" => base_color_texture: Option<TextureInfo>,
        "metallicFactor" => metallic_factor: Option<f32>,
        "roughnessFactor" => roughness_factor: Option<f32>,
        "metallicRoughnessTexture" => metallic_roughness_texture: Option<TextureInfo>,
    }

    /// A reference to a texture. `scale` applies to normal textures, `strength` to occlusion
    /// textures.
    pub(super) struct TextureInfo {
        "index" => index: u64,
        "texCoord" => tex_coord: Option<u64>,
        "scale" => scale: Option<f32>,
        "strength" => strength: Option<f32>,
        "extensions" => extensions: Option<TextureInfoExtensions>,
    }

    pub(super) struct TextureInfoExtensions {
        "KHR_texture_transform" => transform: Option<TextureTransform>,
    }

    pub(super) struct TextureTransform {
        "offset" => offset: Option<[f32; 2]>,
        "rotation" => rotation: Option<f32>,
        "scale" => scale: Option<[f32; 2]>,
        "texCoord" => tex_coord: Option<u64>,
    }

    pub(super) struct Texture {
        "sampler" => sampler: Option<u64>,
        "source" => source: Option<u64>,
        "extensions" => extensions: Option<Box<TextureExtensions>>,
    }

    /// Images in other formats than PNG and JPEG.
    pub(super) struct TextureExtensions {
        "EXT_texture_webp" => webp: Option<OtherImage>,
        "KHR_texture_basisu" => basisu: Option<OtherImage>,
        "EXT_texture_avif" => avif: Option<OtherImage>,
        "MSFT_texture_dds" => dds: Option<OtherImage>,
        "GOOGLE_texture_basis" => basis: Option<OtherImage>,
    }

    pub(super) struct OtherImage {
        "source" => source: Option<u64>,
    }

    pub(super) struct Sampler {
        "magFilter" => mag_filter: Option<u64>,
        "minFilter" => min_filter: Option<u64>,
        "wrapS" => wrap_s: Option<u64>,
        "wrapT" => wrap_t: Option<u64>,
    }

    pub(super) struct Image {
        "name" => name: Option<String>,
        "uri" => uri: Option<String>,
        "bufferView" => buffer_view: Option<u64>,
    }
}

/// Extensions of materials that are not read but change how a surface looks. This is reported.
pub(super) const NOT_READ: [&str; 19] = [
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_volume",
    "KHR_materials_volume_scatter",
    "KHR_techniques_webgl",
    "ADOBE_materials_clearcoat_specular",
    "ADOBE_materials_clearcoat_tint",
    "ADOBE_materials_thin_transparency",
    "MSFT_packing_normalRoughnessMetallic",
    "MSFT_packing_occlusionRoughnessMetallic",
    "NV_materials_mdl",
    // The material is the finest.
    "MSFT_lod",
];

#[derive(Debug, Default)]
pub(super) struct MaterialExtensions {
    pub(super) emissive_strength: Option<f32>,
    pub(super) unlit: bool,
    pub(super) specular_glossiness: Option<Box<SpecularGlossiness>>,
    /// The extensions that are present but not read, each once.
    pub(super) left_out: Vec<&'static str>,
}

impl Read for MaterialExtensions {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let from = from.map()?;
        let mut read = Self {
            specular_glossiness: from.required(&["KHR_materials_pbrSpecularGlossiness"])?,
            ..Self::default()
        };
        let strength: Option<EmissiveStrength> =
            from.required(&["KHR_materials_emissive_strength"])?;
        read.emissive_strength = strength.and_then(|s| s.emissive_strength);
        let entries = from.entries.iter();
        for (name, _) in entries.filter(|(_, value)| value.kind() != Kind::Null) {
            let name = name.text().unwrap_or_default();
            read.unlit |= name == "KHR_materials_unlit";
            if let Some(known) = NOT_READ.iter().find(|known| **known == name)
                && !read.left_out.contains(known)
            {
                read.left_out.push(known);
            }
        }
        Ok(read)
    }
}

/// The tints of a material, from its extras. glTF has nothing for this.
#[derive(Debug, Default)]
pub(super) struct Tints {
    pub(super) weights: Option<[f32; 2]>,
    pub(super) reference: Option<[f32; 3]>,
    pub(super) mask: Option<TextureInfo>,
    /// The members that have another form. Extras may have any.
    pub(super) left_out: Vec<&'static str>,
}

impl Read for Tints {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let mut left_out = Vec::new();
        Ok(Self {
            weights: tint(from, Self::WEIGHTS, &mut left_out),
            reference: tint(from, Self::REFERENCE, &mut left_out),
            mask: tint(from, Self::MASK, &mut left_out),
            left_out,
        })
    }
}

impl Tints {
    const WEIGHTS: &str = "throng_tint_weights";
    const REFERENCE: &str = "throng_tint_reference";
    pub(super) const MASK: &str = "throng_tint_mask";
}

fn tint<T: Read>(
    from: Value<'_>,
    name: &'static str,
    left_out: &mut Vec<&'static str>,
) -> Option<T> {
    let read = T::read(from.get(name)?).ok();
    if read.is_none() {
        left_out.push(name);
    }
    read
}

impl Texture {
    /// The image: the texture's own, which is a PNG or a JPEG, else that of an extension.
    ///
    /// So an import does not depend on the formats that are compiled in, if there is a choice.
    pub(super) fn image(&self) -> Option<u64> {
        let others = self.extensions.as_deref().map(|all| {
            let all = [&all.webp, &all.basisu, &all.avif, &all.dds, &all.basis];
            all.into_iter().flatten().find_map(|other| other.source)
        });
        self.source.or(others.flatten())
    }
}
