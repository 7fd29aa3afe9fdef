//! The JSON of materials, textures and images.
//!
//! Large members that are often absent are boxed, because a list of empty materials must not take
//! much more memory than its text.

use super::json_values::{whole, whole_if_any};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    pub(super) name: Option<String>,
    pub(super) pbr_metallic_roughness: Option<Box<Pbr>>,
    pub(super) normal_texture: Option<Box<TextureInfo>>,
    pub(super) occlusion_texture: Option<Box<TextureInfo>>,
    pub(super) emissive_texture: Option<Box<TextureInfo>>,
    pub(super) emissive_factor: Option<[f32; 3]>,
    pub(super) alpha_mode: Option<String>,
    pub(super) alpha_cutoff: Option<f32>,
    pub(super) double_sided: Option<bool>,
    pub(super) extensions: Option<Box<MaterialExtensions>>,
}

/// Extensions of materials that are not read but change how a surface looks.
const NOT_READ: [&str; 18] = [
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
];

/// The extensions of a material.
#[derive(Debug, Default)]
pub(super) struct MaterialExtensions {
    pub(super) emissive_strength: Option<f32>,
    pub(super) unlit: bool,
    pub(super) specular_glossiness: Option<Box<SpecularGlossiness>>,
    /// The extensions that are present but not read, each once.
    pub(super) left_out: Vec<&'static str>,
}

/// `KHR_materials_pbrSpecularGlossiness`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpecularGlossiness {
    pub(super) diffuse_factor: Option<[f32; 4]>,
    pub(super) diffuse_texture: Option<TextureInfo>,
    pub(super) specular_factor: Option<[f32; 3]>,
    pub(super) glossiness_factor: Option<f32>,
    pub(super) specular_glossiness_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EmissiveStrength {
    emissive_strength: Option<f32>,
}

impl<'de> Deserialize<'de> for MaterialExtensions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = MaterialExtensions;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<MaterialExtensions, A::Error> {
                let mut read = MaterialExtensions::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "KHR_materials_emissive_strength" {
                        let strength: Option<EmissiveStrength> = map.next_value()?;
                        read.emissive_strength = strength.and_then(|s| s.emissive_strength);
                        continue;
                    }
                    if name == "KHR_materials_pbrSpecularGlossiness" {
                        read.specular_glossiness = map.next_value()?;
                        continue;
                    }
                    let is_there = map.next_value::<Option<IgnoredAny>>()?.is_some();
                    read.unlit |= is_there && name == "KHR_materials_unlit";
                    if let Some(known) = NOT_READ.iter().find(|known| **known == name)
                        && is_there
                        && !read.left_out.contains(known)
                    {
                        read.left_out.push(known);
                    }
                }
                Ok(read)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pbr {
    pub(super) base_color_factor: Option<[f32; 4]>,
    pub(super) base_color_texture: Option<TextureInfo>,
    pub(super) metallic_factor: Option<f32>,
    pub(super) roughness_factor: Option<f32>,
    pub(super) metallic_roughness_texture: Option<TextureInfo>,
}

/// A reference to a texture. `scale` applies to normal textures, `strength` to occlusion textures.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    #[serde(deserialize_with = "whole")]
    pub(super) index: u64,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) tex_coord: Option<u64>,
    pub(super) scale: Option<f32>,
    pub(super) strength: Option<f32>,
    pub(super) extensions: Option<TextureInfoExtensions>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub(super) transform: Option<TextureTransform>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureTransform {
    pub(super) offset: Option<[f32; 2]>,
    pub(super) rotation: Option<f32>,
    pub(super) scale: Option<[f32; 2]>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) tex_coord: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Texture {
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) sampler: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    source: Option<u64>,
    extensions: Option<Box<TextureExtensions>>,
}

/// Images in other formats than PNG and JPEG.
#[derive(Debug, Deserialize)]
struct TextureExtensions {
    #[serde(rename = "EXT_texture_webp")]
    webp: Option<OtherImage>,
    #[serde(rename = "KHR_texture_basisu")]
    basisu: Option<OtherImage>,
    #[serde(rename = "EXT_texture_avif")]
    avif: Option<OtherImage>,
    #[serde(rename = "MSFT_texture_dds")]
    dds: Option<OtherImage>,
    #[serde(rename = "GOOGLE_texture_basis")]
    basis: Option<OtherImage>,
}

#[derive(Debug, Deserialize)]
struct OtherImage {
    #[serde(default, deserialize_with = "whole_if_any")]
    source: Option<u64>,
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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sampler {
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) mag_filter: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) min_filter: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) wrap_s: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) wrap_t: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image {
    pub(super) name: Option<String>,
    pub(super) uri: Option<String>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) buffer_view: Option<u64>,
}
