//! The parts of a character as bytes.

use crate::bytes::{Reader, Save, invalid, save_enums, save_structs};
use crate::character::asset::Packing;
use crate::clip::{ClipOptions, Interpolation, Keys, Track, TrackValues, WeightTrack};
use crate::error::Result;
use crate::id::Id;
use crate::mesh::{
    Aabb, AlphaMode, Expression, ExpressionOverride, Filter, Image, ImageFormat, JointIndices,
    Material, MaterialVariant, MeshLevel, Model, MorphReach, MorphTarget, MorphWeight,
    PaletteJoint, Primitive, RunLengths, Skin, TexelRuns, TextureRef, Wrap,
};
use crate::skeleton::role::{Role, VrmKind};
use crate::skeleton::{Joint, Skeleton, Transform};
use crate::spring::{SpringBones, SpringChain, SpringCollider, SpringJoint};

save_structs! {
    Transform { translation, rotation, scale }
    Joint { name, parent, rest }
    Aabb { min, max }
    PaletteJoint { joint, inverse_bind, flipped, may_flip, bounds }
    MorphTarget { vertices, positions, normals, tangents }
    MeshLevel { indices, vertices, rigid, error_m, cover }
    Primitive {
        name, part, material, palette, positions, normals, tangents, uvs, uvs1, colors,
        influences_per_vertex, joints, weights, targets, first_weight, indices, levels;
        variants: Vec::new()
    }
    TextureRef { image, wrap_u, wrap_v, magnify, minify, mip, uv_set, transform }
    Material {
        name, base_color, base_color_texture, metallic, roughness, metallic_roughness_texture,
        normal_texture, normal_scale, occlusion_texture, occlusion_strength, emissive,
        emissive_texture, alpha, unlit, double_sided, tint_by_alpha; tint_weights: [1.0, 0.0],
        tint_mask: None, tint_reference: [1.0; 3]
    }
    MorphReach { entry, weight, reach }
    MorphWeight { name, owner, rest }
    Skin { name, joints }
    MaterialVariant { name }
    Track { joint, values }
    WeightTrack { first_weight, count, keys }
    Packing { curves, options }
    ClipOptions { quantise, error_m }
}

save_enums! {
    Interpolation, "interpolation", "is unknown":
        0 => Step, 1 => Linear, 2 => CubicSpline;
    Wrap, "texture wrap", "is unknown": 0 => Repeat, 1 => Mirror, 2 => Clamp;
    Filter, "texture filter", "is unknown": 0 => Nearest, 1 => Linear;
    TrackValues, "track", "drives an unknown property":
        0 => Translation(keys), 1 => Rotation(keys), 2 => Scale(keys);
    JointIndices, "joint indices", "have neither 8 nor 16 bits": 0 => U8(list), 1 => U16(list);
    AlphaMode, "alpha mode", "is unknown": 0 => Opaque, 1 => Mask { cutoff }, 2 => Blend;
}

impl<T: Save> Save for Keys<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.times_s.save(to);
        self.values.save(to);
        self.interpolation.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            times_s: Save::load(from)?,
            values: Save::load(from)?,
            interpolation: Save::load(from)?,
        })
    }
}

save_structs! {
    Expression { name, morphs, binary, blink, look, mouth }
    SpringBones { colliders, chains }
    SpringCollider { joint, offset_m, tail_m, radius_m }
    SpringChain { name, joints, tail_m, colliders, center }
    SpringJoint { joint, stiffness, gravity, drag, radius_m }
}

save_enums! {
    ExpressionOverride, "override of an expression", "is unknown":
        0 => None, 1 => Block, 2 => Blend;
    ImageFormat, "format of an image", "is unknown":
        0 => Rgba8, 1 => Bc1, 2 => Bc1Alpha, 3 => Bc3, 4 => Bc4, 5 => Bc5, 6 => Bc7, 7 => Etc2,
        8 => Etc2Alpha, 9 => EacR, 10 => EacRg, 11 => Astc4x4;
    VrmKind, "kind of VRM file", "is unknown":
        0 => Model, 1 => Animation;
}

/// The humanoid of a file: roles with their joints, and the kind of VRM file.
type HumanoidData = (Vec<(Role, Id<Joint>)>, Option<VrmKind>);

pub(super) fn save_humanoid(skeleton: &Skeleton, to: &mut Vec<u8>) {
    let roles = skeleton.roles().iter();
    let roles = roles.map(|(role, joint)| (role.to_string().into_boxed_str(), *joint));
    roles.collect::<Vec<_>>().save(to);
    skeleton.vrm.save(to);
}

pub(super) fn load_humanoid(from: &mut Reader<'_>) -> Result<HumanoidData> {
    let mut roles = Vec::new();
    for (name, joint) in Vec::<(Box<str>, Id<Joint>)>::load(from)? {
        let role = Role::from_name(&name);
        roles.push((role.ok_or_else(|| invalid("role", "is unknown"))?, joint));
    }
    Ok((roles, Save::load(from)?))
}

pub(super) fn save_variants(model: &Model, to: &mut Vec<u8>) {
    model.variants.save(to);
    model.primitives.len().save(to);
    for primitive in &model.primitives {
        primitive.variants.save(to);
    }
}

/// The names of variants, and the materials that the primitives have in them.
pub(super) fn load_variants(model: &mut Model, from: &mut Reader<'_>) -> Result<()> {
    model.variants = Save::load(from)?;
    let what = "material variant";
    if model.variants.is_empty() || model.variants.len() > usize::from(u16::MAX) {
        return Err(invalid(what, "is one of none, or of more than 65,535"));
    }
    if usize::load(from)? != model.primitives.len() {
        return Err(invalid(what, "does not match the number of primitives"));
    }
    for primitive in &mut model.primitives {
        primitive.variants = Save::load(from)?;
        let list = &primitive.variants;
        let ascends = list.is_sorted_by(|(a, _), (b, _)| a < b);
        let known = list.iter().all(|(variant, material)| {
            variant.index() < model.variants.len() && (*material as usize) < model.materials.len()
        });
        if !ascends || !known {
            return Err(invalid(what, "refers to something else than one material"));
        }
    }
    Ok(())
}

pub(super) fn save_tints(materials: &[Material], to: &mut Vec<u8>) {
    for material in materials {
        material.tint_weights.save(to);
        material.tint_reference.save(to);
        material.tint_mask.save(to);
    }
}

/// Weights, reference colours and masks of tints, for each material.
pub(super) fn load_tints(materials: &mut [Material], from: &mut Reader<'_>) -> Result<()> {
    for material in materials {
        material.tint_weights = Save::load(from)?;
        material.tint_reference = Save::load(from)?;
        material.tint_mask = Save::load(from)?;
        let mut weights = material.tint_weights.into_iter();
        let least = Material::MIN_TINT_REFERENCE;
        let mut reference = material.tint_reference.into_iter();
        let holds = weights.all(|weight| (0.0..=1.0).contains(&weight))
            && reference.all(|component| (least..=1.0).contains(&component));
        if !holds {
            return Err(invalid(
                "material",
                "has a tint weight or reference out of range",
            ));
        }
    }
    Ok(())
}

impl Save for Image {
    fn save(&self, to: &mut Vec<u8>) {
        self.name.save(to);
        [self.width, self.height].save(to);
        self.format().save(to);
        let (levels, bytes) = self.stored();
        levels.save(to);
        if levels > 0 {
            bytes.len().save(to);
            to.extend_from_slice(bytes);
            return;
        }
        let texels = self.runs();
        let runs = texels.runs();
        runs.len().save(to);
        Save::save_list(runs, to);
        to.extend_from_slice(texels.own());
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let name: Box<str> = Save::load(from)?;
        let size @ [width, height] = <[u32; 2]>::load(from)?;
        let format = ImageFormat::load(from)?;
        let levels = u32::load(from)?;
        if levels > 0 {
            return Ok(Self::with_levels(
                &name,
                format,
                size,
                levels,
                Save::load(from)?,
            ));
        }
        let (what, texels) = ("image", u64::from(width) * u64::from(height));
        if format != ImageFormat::Rgba8 {
            return Err(invalid(what, "is compressed and has no mip levels"));
        }
        let runs: Vec<u16> = Save::load(from)?;
        let lengths = RunLengths::of(&runs);
        if lengths.own + lengths.repeated != texels {
            return Err(invalid(what, "has a different size than it states"));
        }
        if !lengths.is_valid {
            return Err(invalid(what, "has a run without a texel of its own"));
        }
        // `Image::rgba` allocates these bytes later, and would panic on more.
        if texels.saturating_mul(4) > isize::MAX as u64 {
            return Err(invalid(what, "does not fit into memory"));
        }
        let own = u8::load_list(usize::try_from(4 * lengths.own).unwrap_or(usize::MAX), from)?;
        Ok(Self::of_runs(name, size, TexelRuns::of_parts(runs, own)))
    }
}
