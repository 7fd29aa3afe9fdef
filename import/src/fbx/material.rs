//! Materials, as far as the metallic-roughness model goes.

use super::images::Decoder;
use crate::fault::cut;
use crate::gltf::images::Images;
use throng::error::{Object, ObjectKind, Result};
use throng::glam::{Affine2, Mat2, Vec2};
use throng::import::{Repair, RepairKind};
use throng::mesh::{AlphaMode, Image, Material, TextureRef, Wrap};
use ufbx::{MaterialMap, Texture, WrapMode};

/// Reads the materials with `true` in `used`. The others keep their index and their names.
pub(super) fn read(
    scene: &ufbx::Scene,
    used: &[bool],
    mut decoder: Decoder<'_, '_>,
    has_images: bool,
    repairs: &mut Vec<Repair>,
) -> Result<(Vec<Material>, Vec<Image>)> {
    let mut images = Images::default();
    let mut materials = Vec::with_capacity(scene.materials.len());
    for (index, (source, used)) in scene.materials.iter().zip(used).enumerate() {
        let mut material = factors(source);
        if *used && has_images {
            let mut reader = Reader {
                images: &mut images,
                decoder: &mut decoder,
                repairs,
                object: Object::new(ObjectKind::Material, index, ""),
            };
            reader.textures(source, &mut material)?;
        }
        materials.push(material);
    }
    Ok((materials, images.finish(repairs)))
}

/// The material without its textures. A texture replaces the value of its property, so it starts
/// from 1.
fn factors(source: &ufbx::Material) -> Material {
    let pbr = &source.pbr;
    let real = |map: &MaterialMap, none: f32| match map.has_value {
        true => map.value_vec4.x as f32,
        false => none,
    };
    let colour = |map: &MaterialMap, none: f32| match (texture(map), map.has_value) {
        (Some(_), _) => [1.0; 3],
        (None, true) => {
            let value = map.value_vec4;
            let [x, y, z] = [value.x, value.y, value.z].map(|channel| channel as f32);
            if map.value_components == 1 {
                [x; 3]
            } else {
                [x, y, z]
            }
        }
        (None, false) => [none; 3],
    };
    let base = colour(&pbr.base_color, 1.0).map(|c| c * real(&pbr.base_factor, 1.0));
    let emissive = colour(&pbr.emission_color, 0.0).map(|c| c * real(&pbr.emission_factor, 1.0));
    let opacity = match texture(&pbr.opacity) {
        Some(_) => 1.0,
        None => real(&pbr.opacity, 1.0),
    };
    let is_clear = opacity < 1.0 || texture(&pbr.opacity).is_some();
    Material {
        name: cut(&source.element.name),
        base_color: [base[0], base[1], base[2], opacity],
        metallic: real(&pbr.metalness, 0.0),
        roughness: real(&pbr.roughness, 1.0),
        emissive,
        alpha: if is_clear {
            AlphaMode::Blend
        } else {
            AlphaMode::Opaque
        },
        unlit: source.features.unlit.enabled,
        double_sided: source.features.double_sided.enabled,
        ..Material::default()
    }
}

/// The texture with a file that a property has, if it is switched on.
fn texture(map: &MaterialMap) -> Option<&Texture> {
    let texture = map.texture.as_ref().filter(|_| map.texture_enabled)?;
    if texture.has_file {
        return Some(texture);
    }
    // Layers and shaders: their first file.
    let first = texture.file_textures.first()?;
    first.has_file.then_some(&**first)
}

struct Reader<'a, 'b, 'c> {
    images: &'a mut Images,
    decoder: &'a mut Decoder<'b, 'c>,
    repairs: &'a mut Vec<Repair>,
    object: Object,
}

impl Reader<'_, '_, '_> {
    fn textures(&mut self, source: &ufbx::Material, material: &mut Material) -> Result<()> {
        let pbr = &source.pbr;
        material.base_color_texture = self.texture(&pbr.base_color, true)?;
        material.emissive_texture = self.texture(&pbr.emission_color, true)?;
        material.normal_texture = self.texture(&pbr.normal_map, false)?;
        material.occlusion_texture = self.texture(&pbr.ambient_occlusion, false)?;
        // Opacity is read from the alpha channel of the base colour.
        let file = |map: &MaterialMap| texture(map).map(|texture| texture.file_index);
        let own = file(&pbr.opacity).is_some_and(|f| file(&pbr.base_color) != Some(f));
        // In this format, each is an image of its own. The material model has one for both.
        for (part, is_left_out) in [
            ("opacity texture", own),
            ("roughness texture", file(&pbr.roughness).is_some()),
            ("metalness texture", file(&pbr.metalness).is_some()),
        ] {
            let object = Object {
                part: part.into(),
                ..self.object.clone()
            };
            let count = u64::from(is_left_out);
            Repair::note(self.repairs, &object, RepairKind::LeftOut, count);
        }
        Ok(())
    }

    fn texture(&mut self, map: &MaterialMap, is_colour: bool) -> Result<Option<TextureRef>> {
        let Some(texture) = texture(map) else {
            return Ok(None);
        };
        let (images, index) = (&mut *self.images, texture.file_index as usize);
        let image = match images.get(index, || self.decoder.decode(texture))? {
            Some(image) => image,
            None if is_colour => images.placeholder(index),
            None => {
                images.leave_out(index);
                return Ok(None);
            }
        };
        let wrap = |mode| match mode {
            WrapMode::Repeat => Wrap::Repeat,
            WrapMode::Clamp => Wrap::Clamp,
        };
        Ok(Some(TextureRef {
            wrap_u: wrap(texture.wrap_u),
            wrap_v: wrap(texture.wrap_v),
            transform: transform(texture),
            ..TextureRef::new(image)
        }))
    }
}

/// The transform of texture coordinates. The file's have their origin in the lower left corner.
fn transform(texture: &Texture) -> Affine2 {
    if !texture.has_uv_transform {
        return Affine2::IDENTITY;
    }
    let m = &texture.uv_to_texture;
    let vector = |x: f64, y: f64| Vec2::new(x as f32, y as f32);
    let lower = Affine2::from_mat2_translation(
        Mat2::from_cols(vector(m.m00, m.m10), vector(m.m01, m.m11)),
        vector(m.m03, m.m13),
    );
    let flip = Affine2::from_mat2_translation(Mat2::from_cols(Vec2::X, Vec2::NEG_Y), Vec2::Y);
    flip * lower * flip
}
