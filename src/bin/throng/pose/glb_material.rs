//! The materials of a posed mesh as glTF.

use super::glb_data::Data;
use super::picture;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use throng::character::Character;
use throng::glam::{Affine2, DVec2, Vec2};
use throng::mesh::{AlphaMode, Filter, Image, Material, TextureRef, Wrap};

/// The materials that the written primitives use, with their images and samplers.
pub(super) struct Materials<'a> {
    model: &'a Character,
    /// Indices of the character's materials.
    used: Vec<usize>,
    images: Vec<u32>,
    samplers: Vec<Value>,
    textures: Vec<(usize, usize)>,
    extensions: BTreeSet<&'static str>,
}

impl<'a> Materials<'a> {
    pub(super) fn new(model: &'a Character) -> Self {
        Self {
            model,
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

    /// The top-level lists: materials, textures, images, samplers, extensions.
    pub(super) fn write(mut self, data: &mut Data) -> Map<String, Value> {
        let used = std::mem::take(&mut self.used);
        let model = self.model;
        let materials = used
            .iter()
            .filter_map(|index| model.materials().get(*index));
        let materials: Vec<Value> = materials.map(|one| self.material(one)).collect();
        let images = self
            .images
            .iter()
            .filter_map(|index| model.images().get(*index as usize));
        let images: Vec<Value> = images.map(|one| image(one, data)).collect();
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
        lists
            .map(|(name, list)| (name.into(), list.into()))
            .collect()
    }

    fn material(&mut self, material: &Material) -> Value {
        let factor = |value: f32| value.clamp(0.0, 1.0);
        let mut metallic_roughness = json!({
            "baseColorFactor": material.base_color.map(factor),
            "metallicFactor": factor(material.metallic),
            "roughnessFactor": factor(material.roughness),
        });
        let mut written = json!({
            "name": material.name,
            "doubleSided": material.double_sided,
        });
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
        if let Some(texture) = &material.base_color_texture {
            metallic_roughness["baseColorTexture"] = self.texture(texture);
        }
        if let Some(texture) = &material.metallic_roughness_texture {
            metallic_roughness["metallicRoughnessTexture"] = self.texture(texture);
        }
        written["pbrMetallicRoughness"] = metallic_roughness;
        if let Some(texture) = &material.normal_texture {
            let mut texture = self.texture(texture);
            texture["scale"] = material.normal_scale.into();
            written["normalTexture"] = texture;
        }
        if let Some(texture) = &material.occlusion_texture {
            let mut texture = self.texture(texture);
            texture["strength"] = factor(material.occlusion_strength).into();
            written["occlusionTexture"] = texture;
        }
        if let Some(texture) = &material.emissive_texture {
            written["emissiveTexture"] = self.texture(texture);
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
    let [x, y] = [axes.x_axis, axes.y_axis].map(Vec2::as_dvec2);
    let rotation = match (x == DVec2::ZERO, y == DVec2::ZERO) {
        (false, _) => (-x.y).atan2(x.x),
        (true, false) => y.x.atan2(y.y),
        (true, true) => 0.0,
    };
    let across = DVec2::new(rotation.sin(), rotation.cos());
    // Numbers that are not finite are no JSON.
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

fn image(image: &Image, data: &mut Data) -> Value {
    let mut png = Vec::new();
    // Writing to memory cannot fail, and a character's images have the size that they state.
    let _ = picture::encode(&mut png, &image.rgba(), image.width, image.height);
    let view = data.view(&png, None);
    json!({ "name": image.name, "mimeType": "image/png", "bufferView": view })
}
