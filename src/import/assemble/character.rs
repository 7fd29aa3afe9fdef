//! Builds a [`Character`] from raw data and checks all of its invariants, once.

use super::super::RawCharacter;
use super::fault::fault_at;
use super::loss::Losses;
use super::morphs::Morphs;
use super::palette::Entries;
use crate::character::{
    AnimationSource, Character, ClipDraft, Packing, ScaleRanges, mark_flips, reaches,
};
use crate::error::{AssetFault, ObjectKind, Result};
use crate::id::Id;
use crate::import::fault::{dangling, fault};
use crate::import::imported::Imported;
use crate::import::options::ImportOptions;
use crate::import::repair::of_file;
use crate::mesh::{Aabb, Material, Model, Parts, Skin};
use crate::palette::rest_palette;
use crate::skeleton::{Joint, rest_model_pose};
use crate::skin::PosedVertices;
use std::sync::Arc;

impl RawCharacter {
    /// Checks the raw data and builds a [`Character`].
    ///
    /// This checks every index, count and value, repairs harmless faults and lists the repairs,
    /// merges identical vertices, and builds the skeleton and the palette from the parts that are
    /// used.
    ///
    /// The skeleton consists of the joints of the skins that a primitive uses, the nodes that carry
    /// a primitive without a skin, and all of their ancestors. Without primitives, it consists of
    /// the joints of all skins and the nodes that an animation drives. Without primitives and
    /// skins, it consists of all nodes.
    ///
    /// # Errors
    /// - [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason.
    /// - [`Error::InFile`](crate::Error::InFile) if there is no node with a name of
    ///   [`ImportOptions::leave_out`].
    /// - [`Error::Description`](crate::Error::Description) for an [`ImportOptions::animation`] or
    ///   [`RawCharacter::animation`] that does not fit.
    pub fn build(mut self, options: &ImportOptions) -> Result<Imported> {
        let name = if options.name.is_empty() {
            self.name.clone()
        } else {
            options.name.clone()
        };
        let own = self.animation.take();
        let animation = match options.animation.as_ref().or(own.as_ref()) {
            Some(desc) => AnimationSource::of_desc(desc, None)?,
            None => AnimationSource::default(),
        };
        assemble(self, &name, options, &animation).map_err(|error| error.in_file(&name))
    }

    /// [`Self::build`] with an animation description that was already read.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub(crate) fn build_with(
        self,
        options: &ImportOptions,
        animation: &AnimationSource,
    ) -> Result<Imported> {
        let name = options.name.clone();
        assemble(self, &name, options, animation).map_err(|error| error.in_file(&name))
    }
}

pub(crate) fn assemble(
    mut raw: RawCharacter,
    name: &str,
    options: &ImportOptions,
    animation: &AnimationSource,
) -> Result<Imported> {
    super::influences::limit(options.max_influences)?;
    super::leave_out::apply(&mut raw, &options.leave_out)?;
    let mut repairs = Vec::new();
    super::materials::check(&mut raw, &mut repairs)?;
    let mut wanted = wanted_nodes(&raw)?;
    super::extras::want(&raw, &mut wanted);
    let (mut skeleton, joint_of) =
        super::skeleton::build(&raw.nodes, wanted, options, &mut repairs)?;
    let morphs = Morphs::new(&raw)?;
    let mut entries = Entries::new(&raw, &joint_of, &mut repairs)?;
    let mut drafts = Vec::with_capacity(raw.primitives.len());
    for primitive in &raw.primitives {
        let draft =
            super::primitive::draft(primitive, &mut entries, &joint_of, options, &mut repairs)?;
        drafts.extend(draft.map(|draft| draft.driven_from(morphs.first_weight(primitive))));
    }
    let rest = super::skeleton::rest_model(&skeleton, &joint_of)?;
    let losses = Losses::new(&entries, &mut drafts);
    let palette = entries.finish(&rest)?;
    let mut curves =
        super::clips::build(&raw.animations, &skeleton, &joint_of, &morphs, &mut repairs)?;
    let events = super::clips::events(&raw.animations, &curves, &mut repairs);
    let mut packing = Packing {
        curves: options.curves,
        options: options.packing,
    };
    if packing == Packing::NEITHER {
        curves.clear();
        packing = Packing::default();
    }
    super::extras::roles(&raw, &joint_of, &mut skeleton, &mut repairs);
    let springs = super::extras::springs(&raw, &joint_of, &skeleton, &mut repairs)?;
    let expressions = super::extras::expressions(&raw, &morphs, &mut repairs);
    let mut materials = raw.materials;
    let default_material = materials.len();
    if materials.is_empty() || drafts.iter().any(|d| d.material.is_none()) {
        materials.push(Material::default());
    }
    let mut character = Character {
        scales: ScaleRanges::at_rest(&skeleton),
        model: Model {
            name: name.into(),
            skeleton,
            palette: Vec::new(),
            primitives: Vec::with_capacity(drafts.len()),
            materials,
            images: raw.images,
            morph_weights: morphs.into_weights(),
            expressions,
            skins: skin_infos(&raw.skins, &joint_of),
            parts: Parts::default(),
            rest_bounds: Aabb::EMPTY,
            morph_reaches: Vec::new(),
        },
        clips: Arc::default(),
        curves: Arc::new(curves),
        animations: Arc::default(),
        springs: Arc::new(springs),
        packing,
    };
    for draft in drafts {
        let finished = draft.finish(&palette, default_material)?;
        character.model.primitives.push(finished);
    }
    character.model.palette = palette.into_joints(&character.model.primitives);
    character.scales.add(&character.curves);
    mark_flips(&mut character);
    character.model.morph_reaches = reaches(&character.model.primitives);
    character.model.rest_bounds = rest_bounds(&character)?;
    let mut influence_loss = losses.measure(&character)?;
    let narrowing = match options.narrow_for_instances {
        Some(instances) => super::narrow::narrow(&mut character, instances, &mut influence_loss)?,
        None => None,
    };
    // The curves are no longer needed after this point.
    let curves = Arc::unwrap_or_clone(std::mem::take(&mut character.curves));
    let drafts = curves.into_iter().zip(events);
    let drafts = drafts.map(|(curve, events)| ClipDraft::new(curve, events));
    let drafts: Vec<ClipDraft> = drafts.collect();
    let made = animation.made_clips();
    check_clip_joints(options, drafts.len() + made, &character)?;
    let observer = options.on_packed.as_ref();
    character.set_clips(drafts, animation, observer)?;
    character.model.parts = Parts::new(&character.model.primitives);
    Ok(Imported {
        character,
        repairs: of_file(repairs, name),
        influence_loss,
        narrowing,
        spawn_points: raw.spawn_points,
        files: Vec::new(),
    })
}

/// Checks the cap on the joints of packed clips for the character.
pub(crate) fn check_clip_joints(
    options: &ImportOptions,
    clips: usize,
    character: &Character,
) -> Result<()> {
    let asked = clips as u64 * character.model.skeleton.len() as u64;
    let cap = options.max_clip_joints;
    if options.packing.is_none() || asked <= cap {
        return Ok(());
    }
    let what = "joints of all clips";
    let why = AssetFault::Cap { what, asked, cap };
    Err(fault(ObjectKind::File, None, "animations", why))
}

/// Marks the nodes that must become joints. Their ancestors are added later.
pub(crate) fn wanted_nodes(raw: &RawCharacter) -> Result<Vec<bool>> {
    let count = raw.nodes.len();
    let is_skeleton = raw.primitives.is_empty() && raw.skins.is_empty();
    let mut wanted = vec![is_skeleton; count];
    let mut skin_used = vec![raw.primitives.is_empty(); raw.skins.len()];
    for primitive in &raw.primitives {
        let at = |what| fault_at(primitive, "", what);
        match primitive.skin {
            None => match wanted.get_mut(primitive.node) {
                Some(wanted) => *wanted = true,
                None => return Err(at(dangling("node", primitive.node, count))),
            },
            Some(skin) => match skin_used.get_mut(skin) {
                Some(used) => *used = true,
                None => return Err(at(dangling("skin", skin, raw.skins.len()))),
            },
        }
        if let Some(material) = primitive.material.filter(|m| *m >= raw.materials.len()) {
            return Err(at(dangling("material", material, raw.materials.len())));
        }
    }
    for (index, skin) in raw.skins.iter().enumerate() {
        for (slot, joint) in skin.joints.iter().enumerate() {
            match wanted.get_mut(*joint) {
                Some(wanted) => *wanted |= skin_used[index],
                None => {
                    let why = dangling("node", *joint, count);
                    return Err(fault(
                        ObjectKind::Skin,
                        index,
                        format!("joints[{slot}]"),
                        why,
                    ));
                }
            }
        }
    }
    if raw.primitives.is_empty() {
        for channel in raw.animations.iter().flat_map(|a| &a.channels) {
            if let Some(wanted) = wanted.get_mut(channel.node) {
                *wanted = true;
            }
        }
    }
    if !wanted.contains(&true) {
        let why = AssetFault::Invalid("contains nothing to draw or pose");
        return Err(fault(ObjectKind::File, None, "", why));
    }
    Ok(wanted)
}

/// The skins whose joints are all in the skeleton. These are the skins in use, and unused skins
/// that have no other joints.
pub(crate) fn skin_infos(skins: &[super::super::RawSkin], joint_of: &[Option<u16>]) -> Vec<Skin> {
    let joints = |skin: &super::super::RawSkin| -> Option<Vec<Id<Joint>>> {
        skin.joints
            .iter()
            .map(|node| joint_of.get(*node).copied().flatten().map(Id::new))
            .collect()
    };
    let info = |skin: &super::super::RawSkin| {
        Some(Skin {
            name: skin.name.clone(),
            joints: joints(skin)?,
        })
    };
    skins.iter().filter_map(info).collect()
}

/// Bounds of the morphed and skinned rest pose, or of the joints if nothing is drawn.
pub(crate) fn rest_bounds(character: &Character) -> Result<Aabb> {
    let palette = rest_palette(character)?;
    let mut bounds = Aabb::EMPTY;
    if character.model.primitives.is_empty() {
        for joint in rest_model_pose(&character.model.skeleton)? {
            bounds = bounds.with_point(joint.translation.into());
        }
    }
    let weights = character.model.morph_weights.iter();
    let weights: Vec<f32> = weights.map(|weight| weight.rest).collect();
    let mut posed = PosedVertices::default();
    for primitive in &character.model.primitives {
        character.skin_primitive(primitive, &palette, &weights, &mut posed)?;
        for point in &posed.positions {
            if !point.is_finite() {
                let why = AssetFault::Invalid("the rest pose is too large for 32-bit numbers");
                return Err(fault(ObjectKind::File, None, primitive.name.clone(), why));
            }
            bounds = bounds.with_point(*point);
        }
    }
    // Each point may be finite, but not their distance.
    if !character.model.primitives.is_empty() && !bounds.size().is_finite() {
        let why = AssetFault::Invalid("the rest pose is too large for 32-bit numbers");
        return Err(fault(ObjectKind::File, None, "", why));
    }
    Ok(bounds)
}
