//! Textures of materials: their images, each decoded once, and samplers.
//!
//! A missing or broken image does not reject a character: a checkerboard replaces it.

use super::fault::{lookup, not_allowed};
use super::image;
use super::json::Document;
use super::json_material::Sampler;
use super::lost_images::LostImages;
use super::material::TextureNeeds;
use super::source::Source;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::RawPrimitive;
use crate::import::fault::{fault_of, object};
use crate::import::repair::Repair;
use crate::mesh::{Filter, Image, Material, TextureRef, Wrap};
use std::collections::HashMap;

/// Checks the references of all textures, even if they are not used.
pub(super) fn check(doc: &Document) -> Result<()> {
    for (index, texture) in doc.textures.iter().enumerate() {
        let at = |part: &str| object(ObjectKind::Texture, index, part);
        if let Some(image) = texture.image() {
            lookup(&doc.images, image, "image", || at("source"))?;
        }
        if let Some(sampler) = texture.sampler {
            lookup(&doc.samplers, sampler, "sampler", || at("sampler"))?;
        }
    }
    Ok(())
}

/// The width and height of the image that replaces others, in texels.
const PLACEHOLDER_SIZE: u32 = 16;
/// The width of a square of its checkerboard.
const PLACEHOLDER_SQUARE: u32 = 2;

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
    for material in primitives.iter().filter_map(|p| p.material) {
        used[material] = true;
    }
    let mut images = Images::default();
    for ((material, mut needs), used) in materials.iter_mut().zip(needs).zip(used) {
        if !used {
            continue;
        }
        repairs.append(&mut needs.notes);
        if !source.options.images {
            continue;
        }
        for wanted in &needs.textures {
            let sampled = match doc.textures[wanted.texture].sampler {
                None => TextureRef::new(0),
                Some(at) => sampler(at as usize, &doc.samplers[at as usize])?,
            };
            let image = match images.read(source, wanted.image)? {
                Some(image) => image,
                None if is_colour(wanted.slot) => images.placeholder(wanted.image),
                None => {
                    images.lost.leave_out(wanted.image);
                    // The factor is 1 in most files, for the texture to scale.
                    if wanted.slot == METALLIC_ROUGHNESS {
                        material.metallic = 0.0;
                    }
                    continue;
                }
            };
            *place(material, wanted.slot) = Some(TextureRef {
                image,
                uv_set: wanted.uv_set,
                transform: wanted.transform,
                ..sampled
            });
        }
    }
    images.lost.report(repairs);
    Ok(images.all)
}

/// The images that materials use so far.
#[derive(Default)]
struct Images {
    all: Vec<Image>,
    /// By the image's index in the file. `None`: it is missing or cannot be decoded.
    numbers: HashMap<usize, Option<u32>>,
    placeholder: Option<u32>,
    lost: LostImages,
}

impl Images {
    /// Decodes an image of the file, unless that was done before.
    fn read(&mut self, source: &mut Source<'_>, index: usize) -> Result<Option<u32>> {
        if let Some(known) = self.numbers.get(&index) {
            return Ok(*known);
        }
        let image = self.lost.check(index, load(source, index))?;
        let number = image.map(|image| self.append(image));
        self.numbers.insert(index, number);
        Ok(number)
    }

    /// The image that all colours share whose own image was not read, here the one at `index`.
    fn placeholder(&mut self, index: usize) -> u32 {
        self.lost.replace(index);
        match self.placeholder {
            Some(number) => number,
            None => {
                let number = self.append(checkerboard());
                *self.placeholder.insert(number)
            }
        }
    }

    fn append(&mut self, image: Image) -> u32 {
        self.all.push(image);
        self.all.len() as u32 - 1
    }
}

/// The number of the metallic-roughness texture in [`Material::textures`].
const METALLIC_ROUGHNESS: usize = 1;

/// True for the base colour and the emissive texture.
fn is_colour(slot: usize) -> bool {
    matches!(slot, 0 | 4)
}

/// Texture number `slot` of [`Material::textures`].
fn place(material: &mut Material, slot: usize) -> &mut Option<TextureRef> {
    match slot {
        0 => &mut material.base_color_texture,
        1 => &mut material.metallic_roughness_texture,
        2 => &mut material.normal_texture,
        3 => &mut material.occlusion_texture,
        _ => &mut material.emissive_texture,
    }
}

/// The placeholder: magenta and black squares.
pub(in crate::import) fn checkerboard() -> Image {
    let texel = |at: u32| {
        let (x, y) = (at % PLACEHOLDER_SIZE, at / PLACEHOLDER_SIZE);
        match (x / PLACEHOLDER_SQUARE + y / PLACEHOLDER_SQUARE) % 2 {
            0 => [255, 0, 255, 255],
            _ => [0, 0, 0, 255],
        }
    };
    let texels = (0..PLACEHOLDER_SIZE * PLACEHOLDER_SIZE).flat_map(texel);
    let rgba = texels.collect();
    Image::new("placeholder", PLACEHOLDER_SIZE, PLACEHOLDER_SIZE, rgba)
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

/// Image 0 with a sampler of the file.
fn sampler(index: usize, raw: &Sampler) -> Result<TextureRef> {
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
