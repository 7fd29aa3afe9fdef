//! Materials with their textures, images and samplers.

use super::data::Data;
use super::objects::{at, named};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use throng::character::Character;
use throng::error::ArgumentFault;
use throng::glam::{Affine2, DVec2};
use throng::mesh::{AlphaMode, Filter, Image, ImageFormat, Material, TextureRef, Wrap};
use throng::{Error, Result};

/// The materials that the written primitives use, with their images and samplers.
pub(super) struct Materials<'a> {
    character: &'a Character,
    /// If false, materials have no textures.
    with_images: bool,
    /// Indices of the character's materials.
    used: Vec<usize>,
    images: Vec<u32>,
    samplers: Vec<Value>,
    textures: Vec<(usize, usize)>,
    extensions: BTreeSet<&'static str>,
}

impl<'a> Materials<'a> {
    pub(super) fn new(character: &'a Character, with_images: bool) -> Self {
        Self {
            character,
            with_images,
            used: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            textures: Vec::new(),
            extensions: BTreeSet::new(),
        }
    }

    /// The number of a material in the written file.
    pub(super) fn index_of(&mut self, material: usize) -> usize {
        position(&mut self.used, material)
    }

    /// Keeps all materials, with the numbers that they have in the character.
    pub(super) fn use_all(&mut self) {
        self.used = (0..self.character.materials().len()).collect();
    }

    /// The top-level lists: materials, textures, images, samplers, extensions.
    pub(super) fn write(mut self, data: &mut Data) -> Result<Map<String, Value>> {
        let used = std::mem::take(&mut self.used);
        let character = self.character;
        let materials = used
            .iter()
            .filter_map(|index| character.materials().get(*index));
        let materials: Vec<Value> = materials.map(|one| self.material(one)).collect();
        let mut images = Vec::with_capacity(self.images.len());
        for index in &self.images {
            let index = *index as usize;
            let is_normals = character.materials().iter().any(|one| {
                let texture = one.normal_texture;
                texture.is_some_and(|texture| texture.image as usize == index)
            });
            let written = character.images().get(index);
            let written = written.map(|one| image(one, is_normals, data));
            images.extend(written.transpose().map_err(at("image", index))?);
        }
        let textures = self.textures.iter();
        let textures: Vec<Value> = textures
            .map(|(image, sampler)| json!({ "source": image, "sampler": sampler }))
            .collect();
        let extensions: Vec<Value> = self.extensions.iter().map(|name| (*name).into()).collect();
        let lists = [
            ("materials", materials),
            ("textures", textures),
            ("images", images),
            ("samplers", self.samplers),
            ("extensionsUsed", extensions),
        ];
        // Lists must not be empty.
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        Ok(lists
            .map(|(name, list)| (name.into(), list.into()))
            .collect())
    }

    fn material(&mut self, material: &Material) -> Value {
        let factor = |value: f32| value.clamp(0.0, 1.0);
        let mut metallic_roughness = json!({
            "baseColorFactor": material.base_color.map(factor),
            "metallicFactor": factor(material.metallic),
            "roughnessFactor": factor(material.roughness),
        });
        let mut written = named(&material.name);
        written["doubleSided"] = material.double_sided.into();
        if material.tint_by_alpha {
            written["extras"] = json!({ "throng": { "tint_by_alpha": true } });
        }
        let default = Material::default();
        if material.tint_weights != default.tint_weights {
            written["extras"]["throng_tint_weights"] = json!(material.tint_weights);
        }
        if material.tint_reference != default.tint_reference {
            written["extras"]["throng_tint_reference"] = json!(material.tint_reference);
        }
        let with_images = self.with_images;
        let used = |texture: &Option<TextureRef>| texture.filter(|_| with_images);
        let strength = material.emissive.into_iter().fold(1.0, f32::max);
        written["emissiveFactor"] = json!(material.emissive.map(|value| factor(value / strength)));
        if strength > 1.0 {
            let name = "KHR_materials_emissive_strength";
            self.extensions.insert(name);
            written["extensions"][name] = json!({ "emissiveStrength": strength });
        }
        if material.unlit {
            self.extensions.insert("KHR_materials_unlit");
            written["extensions"]["KHR_materials_unlit"] = json!({});
        }
        let (mode, cutoff) = match material.alpha {
            AlphaMode::Opaque => ("OPAQUE", None),
            AlphaMode::Mask { cutoff } => ("MASK", Some(cutoff)),
            AlphaMode::Blend => ("BLEND", None),
        };
        written["alphaMode"] = mode.into();
        if let Some(cutoff) = cutoff {
            written["alphaCutoff"] = cutoff.max(0.0).into();
        }
        if let Some(texture) = used(&material.base_color_texture) {
            metallic_roughness["baseColorTexture"] = self.texture(&texture);
        }
        if let Some(texture) = used(&material.metallic_roughness_texture) {
            metallic_roughness["metallicRoughnessTexture"] = self.texture(&texture);
        }
        written["pbrMetallicRoughness"] = metallic_roughness;
        if let Some(texture) = used(&material.normal_texture) {
            let mut texture = self.texture(&texture);
            texture["scale"] = material.normal_scale.into();
            written["normalTexture"] = texture;
        }
        if let Some(texture) = used(&material.occlusion_texture) {
            let mut texture = self.texture(&texture);
            texture["strength"] = factor(material.occlusion_strength).into();
            written["occlusionTexture"] = texture;
        }
        if let Some(texture) = used(&material.emissive_texture) {
            written["emissiveTexture"] = self.texture(&texture);
        }
        if let Some(texture) = used(&material.tint_mask) {
            written["extras"]["throng_tint_mask"] = self.texture(&texture);
        }
        written
    }

    fn texture(&mut self, texture: &TextureRef) -> Value {
        let image = position(&mut self.images, texture.image);
        let sampler = position(&mut self.samplers, sampler(texture));
        let index = position(&mut self.textures, (image, sampler));
        let mut written = json!({ "index": index, "texCoord": texture.uv_set });
        if texture.transform != Affine2::IDENTITY {
            let name = "KHR_texture_transform";
            self.extensions.insert(name);
            written["extensions"][name] = transform(&texture.transform);
        }
        written
    }
}

/// The position of a value in a list, to which it is added if it is new.
fn position<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    let found = list.iter().position(|one| *one == value);
    found.unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

/// Offset, rotation and scale. The rotation of glTF is clockwise.
fn transform(transform: &Affine2) -> Value {
    let axes = transform.matrix2;
    // Squares of 32-bit numbers fit into 64-bit numbers.
    let [x, y] = [axes.x_axis, axes.y_axis].map(|axis| axis.as_dvec2());
    let rotation = match (x == DVec2::ZERO, y == DVec2::ZERO) {
        (false, _) => (-x.y).atan2(x.x),
        (true, false) => y.x.atan2(y.y),
        (true, true) => 0.0,
    };
    let across = DVec2::new(rotation.sin(), rotation.cos());
    // Numbers that are not finite are not JSON.
    let finite = |value: f64| value.clamp(f32::MIN.into(), f32::MAX.into()) as f32;
    json!({
        "offset": transform.translation.to_array(),
        "rotation": rotation as f32,
        "scale": [finite(x.length()), finite(y.dot(across))],
    })
}

fn sampler(texture: &TextureRef) -> Value {
    let wrap = |wrap: Wrap| match wrap {
        Wrap::Repeat => 10497,
        Wrap::Mirror => 33648,
        Wrap::Clamp => 33071,
    };
    let magnify = match texture.magnify {
        Filter::Nearest => 9728,
        Filter::Linear => 9729,
    };
    let minify = match (texture.minify, texture.mip) {
        (Filter::Nearest, None) => 9728,
        (Filter::Linear, None) => 9729,
        (Filter::Nearest, Some(Filter::Nearest)) => 9984,
        (Filter::Linear, Some(Filter::Nearest)) => 9985,
        (Filter::Nearest, Some(Filter::Linear)) => 9986,
        (Filter::Linear, Some(Filter::Linear)) => 9987,
    };
    json!({
        "wrapS": wrap(texture.wrap_u),
        "wrapT": wrap(texture.wrap_v),
        "magFilter": magnify,
        "minFilter": minify,
    })
}

fn image(image: &Image, is_normals: bool, data: &mut Data) -> Result<Value> {
    let mut rgba = image.rgba()?;
    if is_normals && matches!(image.format(), ImageFormat::Bc5 | ImageFormat::EacRg) {
        rgba.to_mut().chunks_exact_mut(4).for_each(add_blue);
    }
    let view = data.view(&png(image, &rgba)?, None)?;
    let mut written = named(&image.name);
    written["mimeType"] = "image/png".into();
    written["bufferView"] = view.into();
    Ok(written)
}

/// Adds the third coordinate of the normal in a texel with two.
fn add_blue(texel: &mut [u8]) {
    let [x, y] = [texel[0], texel[1]].map(|byte| f32::from(byte) / 127.5 - 1.0);
    let z = (1.0 - x * x - y * y).max(0.0).sqrt();
    texel[2] = ((z + 1.0) * 127.5).round() as u8;
}

/// The bytes of a PNG file.
fn png(image: &Image, rgba: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.width, image.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(rgba)?;
        writer.finish()
    });
    // The images of a character have the size that they state, and memory can be written.
    written.map_err(|_| Error::Argument {
        what: "image",
        why: ArgumentFault::Invalid("cannot be encoded as PNG"),
    })?;
    Ok(bytes)
}
