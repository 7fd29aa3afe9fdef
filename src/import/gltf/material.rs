//! Materials, as far as the base colour goes, and the images that they use.

use super::json::{Document, Material as RawMaterial, Sampler as RawSampler, TextureInfo};
use super::source::Source;
use super::{fault_of, image, lookup, not_allowed, object};
use crate::character::{Filter, Image, Material, Sampler, TextureRef, Wrap};
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::{RawPrimitive, Repair, RepairKind};
use glam::{Affine2, Mat2, Vec2};
use std::collections::HashMap;

/// A material, and what is needed to find its texture and coordinates.
#[derive(Debug)]
pub(super) struct ReadMaterial {
    pub(super) material: Material,
    texture: Option<usize>,
    /// Which set of texture coordinates.
    pub(super) tex_coord: u64,
    /// From `KHR_texture_transform`.
    pub(super) uv_transform: Option<Affine2>,
}

/// All materials, still without their textures; checks all textures, images and samplers.
pub(super) fn read(doc: &Document) -> Result<Vec<ReadMaterial>> {
    for (index, texture) in doc.textures.iter().enumerate() {
        let at = |part: &str| object(ObjectKind::Texture, index, part);
        if let Some(image) = texture.source {
            lookup(&doc.images, image, "image", || at("source"))?;
        }
        if let Some(sampler) = texture.sampler {
            lookup(&doc.samplers, sampler, "sampler", || at("sampler"))?;
        }
    }
    let material = |(index, raw): (usize, &RawMaterial)| {
        let mut read = ReadMaterial {
            material: Material {
                name: raw.name.as_deref().unwrap_or_default().into(),
                double_sided: raw.double_sided.unwrap_or(false),
                ..Material::default()
            },
            texture: None,
            tex_coord: 0,
            uv_transform: None,
        };
        if let Some(pbr) = &raw.pbr_metallic_roughness {
            read.material.base_color = pbr.base_color_factor.unwrap_or([1.0; 4]);
            if let Some(info) = &pbr.base_color_texture {
                let part = "pbrMetallicRoughness.baseColorTexture.index";
                let referrer = || object(ObjectKind::Material, index, part);
                let (texture, _) = lookup(&doc.textures, info.index, "texture", referrer)?;
                read.texture = Some(texture);
                place_texture(info, &mut read);
            }
        }
        Ok(read)
    };
    doc.materials.iter().enumerate().map(material).collect()
}

fn place_texture(info: &TextureInfo, read: &mut ReadMaterial) {
    read.tex_coord = info.tex_coord.unwrap_or(0);
    let extensions = info.extensions.as_ref();
    let Some(transform) = extensions.and_then(|extensions| extensions.transform.as_ref()) else {
        return;
    };
    read.tex_coord = transform.tex_coord.unwrap_or(read.tex_coord);
    let (sine, cosine) = transform.rotation.unwrap_or(0.0).sin_cos();
    let rotation = Mat2::from_cols_array(&[cosine, -sine, sine, cosine]);
    let scale = Vec2::from_array(transform.scale.unwrap_or([1.0; 2]));
    let offset = Vec2::from_array(transform.offset.unwrap_or([0.0; 2]));
    let matrix = rotation * Mat2::from_diagonal(scale);
    read.uv_transform = Some(Affine2::from_mat2_translation(matrix, offset));
}

/// Decodes the images that the materials of these primitives use, each once, and gives those
/// materials their textures. Lists what is not read of those materials.
pub(super) fn load_images(
    source: &mut Source<'_>,
    materials: &mut [ReadMaterial],
    primitives: &[RawPrimitive],
    repairs: &mut Vec<Repair>,
) -> Result<Vec<Image>> {
    let doc = source.doc;
    let mut used = vec![false; materials.len()];
    for material in primitives.iter().filter_map(|p| p.material) {
        used[material] = true;
    }
    let mut images = Vec::new();
    let mut image_numbers = HashMap::new();
    let all = materials.iter_mut().zip(used).zip(doc.materials.iter());
    for (number, ((material, used), raw)) in all.enumerate() {
        if !used {
            continue;
        }
        leave_out(number, raw, repairs);
        let Some(index) = material.texture else {
            continue;
        };
        let texture = &doc.textures[index];
        let sampler = match texture.sampler {
            None => Sampler::default(),
            Some(at) => sampler(at as usize, &doc.samplers[at as usize])?,
        };
        let Some(wanted) = texture.source else {
            // Only an extension that is not read says where its pixels are.
            repairs.push(Repair {
                object: object(ObjectKind::Texture, index, ""),
                kind: RepairKind::LeftOut,
                count: 1,
            });
            continue;
        };
        let image = match image_numbers.get(&wanted) {
            Some(number) => *number,
            None => {
                images.push(load(source, wanted as usize)?);
                let number = images.len() as u32 - 1;
                image_numbers.insert(wanted, number);
                number
            }
        };
        material.material.base_color_texture = Some(TextureRef {
            sampler,
            ..TextureRef::new(image)
        });
    }
    Ok(images)
}

/// Lists what is not read of a material and changes how its base colour looks.
fn leave_out(number: usize, raw: &RawMaterial, repairs: &mut Vec<Repair>) {
    let has_alpha = raw
        .alpha_mode
        .as_deref()
        .is_some_and(|mode| mode != "OPAQUE");
    let extensions = raw.extensions.as_ref();
    let is_glossy = extensions.is_some_and(|all| all.specular_glossiness.is_some());
    for (part, is_there) in [
        ("alphaMode", has_alpha),
        ("extensions.KHR_materials_pbrSpecularGlossiness", is_glossy),
    ] {
        if is_there {
            repairs.push(Repair {
                object: object(ObjectKind::Material, number, part),
                kind: RepairKind::LeftOut,
                count: 1,
            });
        }
    }
}

fn load(source: &mut Source<'_>, index: usize) -> Result<Image> {
    let object = object(ObjectKind::Image, index, "");
    let raw = &source.doc.images[index];
    let name = raw.name.as_deref().unwrap_or_default();
    match (&raw.uri, raw.buffer_view) {
        (None, None) => Err(fault_of(object, AssetFault::Missing("uri or bufferView"))),
        (Some(_), Some(_)) => {
            let why = AssetFault::Invalid("has both a uri and a bufferView");
            Err(fault_of(object, why))
        }
        (Some(uri), None) => {
            let bytes = source.resource(uri, &object)?;
            image::decode(&bytes, name, source, &object)
        }
        (None, Some(view)) => {
            let (bytes, start, length) = source.view(view, &object)?;
            let range = bytes.as_ref().get(start..).and_then(|b| b.get(..length));
            image::decode(range.unwrap_or_default(), name, source, &object)
        }
    }
}

fn sampler(index: usize, raw: &RawSampler) -> Result<Sampler> {
    let bad = |part: &'static str, code: u64| {
        let why = not_allowed(part, &code.to_string(), "the values that glTF 2.0 lists");
        fault_of(object(ObjectKind::Sampler, index, part), why)
    };
    let wrap = |part, code: Option<u64>| match code {
        None | Some(10497) => Ok(Wrap::Repeat),
        Some(33648) => Ok(Wrap::Mirror),
        Some(33071) => Ok(Wrap::Clamp),
        Some(code) => Err(bad(part, code)),
    };
    let (minify, mip) = match raw.min_filter {
        Some(9728) => (Filter::Nearest, None),
        Some(9729) => (Filter::Linear, None),
        Some(9984) => (Filter::Nearest, Some(Filter::Nearest)),
        Some(9985) => (Filter::Linear, Some(Filter::Nearest)),
        Some(9986) => (Filter::Nearest, Some(Filter::Linear)),
        None | Some(9987) => (Filter::Linear, Some(Filter::Linear)),
        Some(code) => return Err(bad("minFilter", code)),
    };
    Ok(Sampler {
        wrap_u: wrap("wrapS", raw.wrap_s)?,
        wrap_v: wrap("wrapT", raw.wrap_t)?,
        magnify: match raw.mag_filter {
            Some(9728) => Filter::Nearest,
            None | Some(9729) => Filter::Linear,
            Some(code) => return Err(bad("magFilter", code)),
        },
        minify,
        mip,
    })
}
