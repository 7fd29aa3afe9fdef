//! Textures of materials: their images and samplers.

use super::fault::{lookup, not_allowed};
use super::image;
use super::images::Images;
use super::json::Document;
use super::json_material::Sampler;
use super::material::TextureNeeds;
use super::source::Source;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::import::{RawPrimitive, Repair};
use throng::mesh::{Filter, Image, Material, TextureRef, Wrap};

/// Checks the references of all textures, even if they are not used.
pub(super) fn check(doc: &Document) -> Result<()> {
    for (index, texture) in doc.textures.iter().enumerate() {
        let at = |part: &str| Object::new(ObjectKind::Texture, index, part);
        if let Some(image) = texture.image() {
            lookup(&doc.images, image, "image", || at("source"))?;
        }
        if let Some(sampler) = texture.sampler {
            lookup(&doc.samplers, sampler, "sampler", || at("sampler"))?;
        }
    }
    Ok(())
}

/// Decodes the images that the materials of these primitives use, each once, and assigns the
/// textures to these materials. Reports the parts of these materials that are not read, and the
/// images that were replaced.
pub(super) fn load_images(
    source: &mut Source<'_>,
    materials: &mut [Material],
    needs: Vec<TextureNeeds>,
    primitives: &[RawPrimitive],
    repairs: &mut Vec<Repair>,
) -> Result<Vec<Image>> {
    let doc = source.doc;
    let mut used = vec![false; materials.len()];
    let others = primitives.iter().flat_map(|p| &p.variants);
    let others = others.map(|(_, material)| *material);
    for material in primitives.iter().filter_map(|p| p.material).chain(others) {
        used[material] = true;
    }
    let mut images = Images::default();
    for ((material, mut needs), used) in materials.iter_mut().zip(needs).zip(used) {
        if !used {
            continue;
        }
        repairs.append(&mut needs.notes);
        if !(source.options.meshes && source.options.images) {
            continue;
        }
        for wanted in &needs.textures {
            let sampled = match doc.textures[wanted.texture].sampler {
                None => TextureRef::new(0),
                Some(at) => sampler(at as usize, &doc.samplers[at as usize])?,
            };
            let image = match images.get(wanted.image, || load(source, wanted.image))? {
                Some(image) => image,
                None if is_colour(wanted.kind) => images.placeholder(wanted.image),
                None => {
                    images.leave_out(wanted.image);
                    // The factor is 1 in most files, for the texture to scale.
                    if wanted.kind == METALLIC_ROUGHNESS {
                        material.metallic = 0.0;
                    }
                    continue;
                }
            };
            *texture_mut(material, wanted.kind) = Some(TextureRef {
                image,
                uv_set: wanted.uv_set,
                transform: wanted.transform,
                ..sampled
            });
        }
    }
    Ok(images.finish(repairs))
}

/// The number of the metallic-roughness texture in [`Material::textures`].
const METALLIC_ROUGHNESS: usize = 1;

/// True for the base colour and the emissive texture.
fn is_colour(kind: usize) -> bool {
    matches!(kind, 0 | 4)
}

/// Texture number `kind` of [`Material::textures`].
fn texture_mut(material: &mut Material, kind: usize) -> &mut Option<TextureRef> {
    match kind {
        0 => &mut material.base_color_texture,
        1 => &mut material.metallic_roughness_texture,
        2 => &mut material.normal_texture,
        3 => &mut material.occlusion_texture,
        4 => &mut material.emissive_texture,
        _ => &mut material.tint_mask,
    }
}

fn load(source: &mut Source<'_>, index: usize) -> Result<Image> {
    let object = Object::new(ObjectKind::Image, index, "");
    let raw = &source.doc.images[index];
    let name = raw.name.as_deref().unwrap_or_default();
    match (&raw.uri, raw.buffer_view) {
        (None, None) => Err(Error::asset(
            object,
            AssetFault::Missing("uri or bufferView"),
        )),
        (Some(_), Some(_)) => {
            let why = AssetFault::Invalid("has both a uri and a bufferView");
            Err(Error::asset(object, why))
        }
        (Some(uri), None) => {
            let bytes = source.resource(uri, &object)?;
            image::decode(&bytes, name, &mut source.budget, &object)
        }
        (None, Some(view)) => {
            let (bytes, start, length) = source.view(view, &object)?;
            let range = bytes.as_ref().get(start..).and_then(|b| b.get(..length));
            let range = range.unwrap_or_default();
            image::decode(range, name, &mut source.budget, &object)
        }
    }
}

/// Image 0 with a sampler of the file.
fn sampler(index: usize, raw: &Sampler) -> Result<TextureRef> {
    let bad = |part: &'static str, code: u64| {
        let why = not_allowed(part, &code.to_string(), "the values that glTF 2.0 lists");
        Error::asset(Object::new(ObjectKind::Sampler, index, part), why)
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
    Ok(TextureRef {
        wrap_u: wrap("wrapS", raw.wrap_s)?,
        wrap_v: wrap("wrapT", raw.wrap_t)?,
        magnify: match raw.mag_filter {
            Some(9728) => Filter::Nearest,
            None | Some(9729) => Filter::Linear,
            Some(code) => return Err(bad("magFilter", code)),
        },
        minify,
        mip,
        ..TextureRef::new(0)
    })
}
