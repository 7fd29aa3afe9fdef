//! Materials: factors, modes, and their textures and texture coordinates.

use super::fault::{lookup, not_allowed};
use super::json::Document;
use super::json_material::{Material as RawMaterial, SpecularGlossiness, TextureInfo, Tints};
use super::specular_glossiness::{Factors, convert};
use crate::fault::fault;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::{Affine2, Mat2, Vec2};
use throng::import::{RawPrimitive, Repair, RepairKind};
use throng::mesh::{AlphaMode, Material};

/// The data needed to find the textures of a material and their coordinates.
#[derive(Debug, Default)]
pub(super) struct TextureNeeds {
    /// The file's sets of texture coordinates that become `uvs` and `uvs1`.
    pub(super) uv_sets: [Option<u64>; 2],
    pub(super) textures: Vec<ReadTexture>,
    /// Repairs to report if the material is used.
    pub(super) notes: Vec<Repair>,
}

/// A texture of a material, with the indices of the file.
#[derive(Debug)]
pub(super) struct ReadTexture {
    /// The index in [`Material::textures`].
    pub(super) kind: usize,
    pub(super) texture: usize,
    pub(super) image: usize,
    /// 0 or 1, an index into the material's sets.
    pub(super) uv_set: u32,
    /// From `KHR_texture_transform`.
    pub(super) transform: Affine2,
}

/// All materials, without their textures, and the data needed to find these.
pub(super) fn read(doc: &Document) -> Result<(Vec<Material>, Vec<TextureNeeds>)> {
    let mut materials = Vec::with_capacity(doc.materials.len());
    let mut needs = Vec::with_capacity(doc.materials.len());
    for (index, raw) in doc.materials.iter().enumerate() {
        let mut notes = Vec::new();
        materials.push(material(index, raw, &mut notes)?);
        needs.push(textures(doc, index, raw, notes)?);
    }
    Ok((materials, needs))
}

/// Assigns the format's default material to primitives without one, and appends it to the list.
pub(super) fn give_default(materials: &mut Vec<Material>, primitives: &mut [RawPrimitive]) {
    let default = materials.len();
    for primitive in primitives.iter_mut().filter(|p| p.material.is_none()) {
        primitive.material = Some(default);
        if materials.len() == default {
            materials.push(Material {
                metallic: 1.0,
                ..Material::default()
            });
        }
    }
}

fn material(index: usize, raw: &RawMaterial, notes: &mut Vec<Repair>) -> Result<Material> {
    let pbr = raw.pbr_metallic_roughness.as_deref();
    let extensions = raw.extensions.as_deref();
    for name in extensions.map_or(&[][..], |extensions| &extensions.left_out) {
        let part = format!("extensions.{name}");
        leave_out(ObjectKind::Material, index, &part, notes);
    }
    let tints = raw.tints.as_deref();
    for name in tints.map_or(&[][..], |tints| &tints.left_out) {
        leave_out(
            ObjectKind::Material,
            index,
            &format!("extras.{name}"),
            notes,
        );
    }
    let default = Material::default();
    let factors = match glossy(raw) {
        Some(glossy) => {
            check_glossy(index, glossy)?;
            note_glossy(index, glossy, notes);
            convert(glossy)
        }
        None => {
            if extensions.is_some_and(|all| all.specular_glossiness.is_some()) {
                leave_out(ObjectKind::Material, index, GLOSSY, notes);
            }
            Factors {
                base_color: pbr.and_then(|p| p.base_color_factor).unwrap_or([1.0; 4]),
                metallic: pbr.and_then(|p| p.metallic_factor).unwrap_or(1.0),
                roughness: pbr.and_then(|p| p.roughness_factor).unwrap_or(1.0),
            }
        }
    };
    let normal_scale = raw.normal_texture.as_ref().and_then(|info| info.scale);
    let occlusion = raw.occlusion_texture.as_ref();
    let occlusion_strength = occlusion.and_then(|info| info.strength);
    Ok(Material {
        name: raw.name.as_deref().unwrap_or_default().into(),
        base_color: factors.base_color,
        metallic: factors.metallic,
        roughness: factors.roughness,
        normal_scale: normal_scale.unwrap_or(1.0),
        occlusion_strength: occlusion_strength.unwrap_or(1.0),
        emissive: emissive(index, raw, notes)?,
        alpha: alpha_mode(index, raw)?,
        unlit: extensions.is_some_and(|extensions| extensions.unlit),
        double_sided: raw.double_sided.unwrap_or(false),
        tint_weights: tints
            .and_then(|it| it.weights)
            .unwrap_or(default.tint_weights),
        tint_reference: tints
            .and_then(|it| it.reference)
            .unwrap_or(default.tint_reference),
        ..default
    })
}

const GLOSSY: &str = "extensions.KHR_materials_pbrSpecularGlossiness";

/// The specular colour and glossiness of a material, if it has no metalness and roughness too.
fn glossy(raw: &RawMaterial) -> Option<&SpecularGlossiness> {
    let extensions = raw.extensions.as_deref()?;
    let glossy = extensions.specular_glossiness.as_deref();
    glossy.filter(|_| raw.pbr_metallic_roughness.is_none())
}

/// Rejects factors that are not finite, under their own names.
fn check_glossy(index: usize, glossy: &SpecularGlossiness) -> Result<()> {
    let diffuse = glossy.diffuse_factor.unwrap_or_default();
    let specular = glossy.specular_factor.unwrap_or_default();
    let glossiness = [glossy.glossiness_factor.unwrap_or_default()];
    for (name, values) in [
        ("diffuseFactor", &diffuse[..]),
        ("specularFactor", &specular[..]),
        ("glossinessFactor", &glossiness[..]),
    ] {
        if let Some(component) = values.iter().position(|value| !value.is_finite()) {
            let why = AssetFault::value("component", component, values[component], "finite");
            let part = format!("{GLOSSY}.{name}");
            return Err(Error::asset(
                Object::new(ObjectKind::Material, index, part),
                why,
            ));
        }
    }
    Ok(())
}

fn note_glossy(index: usize, glossy: &SpecularGlossiness, notes: &mut Vec<Repair>) {
    let object = Object::new(ObjectKind::Material, index, GLOSSY);
    Repair::note(notes, &object, RepairKind::SpecularGlossiness, 1);
    if glossy.specular_glossiness_texture.is_some() {
        let part = format!("{GLOSSY}.specularGlossinessTexture");
        leave_out(ObjectKind::Material, index, &part, notes);
    }
}

fn textures(
    doc: &Document,
    index: usize,
    raw: &RawMaterial,
    notes: Vec<Repair>,
) -> Result<TextureNeeds> {
    let pbr = raw.pbr_metallic_roughness.as_deref();
    let mut needs = TextureNeeds {
        notes,
        ..TextureNeeds::default()
    };
    let color = match glossy(raw) {
        Some(glossy) => (
            "extensions.KHR_materials_pbrSpecularGlossiness.diffuseTexture",
            glossy.diffuse_texture.as_ref(),
        ),
        None => (
            "pbrMetallicRoughness.baseColorTexture",
            pbr.and_then(|p| p.base_color_texture.as_ref()),
        ),
    };
    let mask = raw.tints.as_deref().and_then(|tints| tints.mask.as_ref());
    let mask_part = format!("extras.{}", Tints::MASK);
    let known = mask.filter(|info| info.index < doc.textures.len() as u64);
    if mask.is_some() && known.is_none() {
        leave_out(ObjectKind::Material, index, &mask_part, &mut needs.notes);
    }
    // In the order of `Material::textures`.
    let infos = [
        color,
        (
            "pbrMetallicRoughness.metallicRoughnessTexture",
            pbr.and_then(|p| p.metallic_roughness_texture.as_ref()),
        ),
        ("normalTexture", raw.normal_texture.as_deref()),
        ("occlusionTexture", raw.occlusion_texture.as_deref()),
        ("emissiveTexture", raw.emissive_texture.as_deref()),
        (mask_part.as_str(), known),
    ];
    for (kind, (part, info)) in infos.into_iter().enumerate() {
        if let Some(info) = info {
            needs.add(doc, index, (kind, part), info)?;
        }
    }
    Ok(needs)
}

fn alpha_mode(index: usize, raw: &RawMaterial) -> Result<AlphaMode> {
    match raw.alpha_mode.as_deref() {
        None | Some("OPAQUE") => Ok(AlphaMode::Opaque),
        Some("MASK") => Ok(AlphaMode::Mask {
            cutoff: raw.alpha_cutoff.unwrap_or(0.5),
        }),
        Some("BLEND") => Ok(AlphaMode::Blend),
        Some(other) => {
            let why = not_allowed("the alpha mode", other, "OPAQUE, MASK, BLEND");
            Err(fault(ObjectKind::Material, index, "alphaMode", why))
        }
    }
}

/// The factor multiplied by the strength of `KHR_materials_emissive_strength`.
fn emissive(index: usize, raw: &RawMaterial, notes: &mut Vec<Repair>) -> Result<[f32; 3]> {
    let factor = raw.emissive_factor.unwrap_or([0.0; 3]);
    let extensions = raw.extensions.as_ref();
    let strength = extensions.and_then(|extensions| extensions.emissive_strength);
    let strength = strength.unwrap_or(1.0);
    let part = "extensions.KHR_materials_emissive_strength.emissiveStrength";
    let object = Object::new(ObjectKind::Material, index, part);
    if !strength.is_finite() {
        let why = AssetFault::value("component", 0, strength, "finite");
        return Err(Error::asset(object, why));
    }
    if strength < 0.0 {
        Repair::note(notes, &object, RepairKind::FactorClamped, 1);
    }
    Ok(factor.map(|component| component * strength.max(0.0)))
}

fn leave_out(kind: ObjectKind, index: usize, part: &str, notes: &mut Vec<Repair>) {
    Repair::note(
        notes,
        &Object::new(kind, index, part),
        RepairKind::LeftOut,
        1,
    );
}

impl TextureNeeds {
    /// Adds a texture, unless its pixels or coordinates are not available.
    fn add(
        &mut self,
        doc: &Document,
        index: usize,
        (kind, part): (usize, &str),
        info: &TextureInfo,
    ) -> Result<()> {
        let referrer = || Object::new(ObjectKind::Material, index, format!("{part}.index"));
        let (texture, raw) = lookup(&doc.textures, info.index, "texture", referrer)?;
        let Some(image) = raw.image() else {
            // Only an unknown extension defines the pixels.
            leave_out(ObjectKind::Texture, texture, "", &mut self.notes);
            return Ok(());
        };
        let extensions = info.extensions.as_ref();
        let moved = extensions.and_then(|extensions| extensions.transform.as_ref());
        let set = moved.and_then(|moved| moved.tex_coord).or(info.tex_coord);
        let Some(uv_set) = self.uv_set(set.unwrap_or(0)) else {
            let part = format!("{part}.texCoord");
            leave_out(ObjectKind::Material, index, &part, &mut self.notes);
            return Ok(());
        };
        let transform = moved.map_or(Affine2::IDENTITY, |moved| {
            let (sine, cosine) = moved.rotation.unwrap_or(0.0).sin_cos();
            let rotation = Mat2::from_cols_array(&[cosine, -sine, sine, cosine]);
            let scale = Vec2::from_array(moved.scale.unwrap_or([1.0; 2]));
            let offset = Vec2::from_array(moved.offset.unwrap_or([0.0; 2]));
            Affine2::from_mat2_translation(rotation * Mat2::from_diagonal(scale), offset)
        });
        self.textures.push(ReadTexture {
            kind,
            texture,
            image: image as usize,
            uv_set,
            transform,
        });
        Ok(())
    }

    /// The stream for a set of the file: the first two sets that are requested get one each.
    fn uv_set(&mut self, set: u64) -> Option<u32> {
        for (stream, known) in (0..).zip(&mut self.uv_sets) {
            if *known.get_or_insert(set) == set {
                return Some(stream);
            }
        }
        None
    }
}
