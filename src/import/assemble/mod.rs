//! The step from raw data to a [`Character`]. Every index, count and value is checked once.
//!
//! `RawCharacter::assemble` calls the files of this folder in this order:
//!
//! 1. `names`, `leave_out`, `materials`, `levels`, `shared_binds`: what is left out, what is a
//!    level of detail of what, and what is shared.
//! 2. `wanted`, `skeleton`: the nodes that become joints, and the joints.
//! 3. `morphs`, `palette`: the numbers of morph weights and of palette entries.
//! 4. `primitive` with `influences`, `directions`, `targets` and `weld`: vertices and triangles.
//! 5. `order`: the order of triangles and vertices.
//! 6. `clips`: tracks and events.
//! 7. `avatar`, `springs`: roles, expressions and spring bones.
//! 8. `loss`: the error of dropped influences.
//!
//! `CharacterDraft::build` then packs the clips. `adopt` reads clips for another skeleton, and
//! `level_names` finds levels of detail by name before all of this.

mod adopt;
mod adopt_vrm;
mod avatar;
mod clips;
mod directions;
mod fault;
mod influences;
mod leave_out;
mod level_names;
mod levels;
mod loss;
mod materials;
mod morphs;
mod names;
mod order;
mod palette;
mod primitive;
mod shared_binds;
mod skeleton;
mod springs;
mod targets;
mod wanted;
mod weld;

pub(super) use adopt::{Adopted, adopt};

use super::fault::{check_cap, fault, file_part};
use super::imported::{GeometryReport, Imported};
use super::options::ImportOptions;
use super::repair::{Repair, RepairKind, of_file};
use super::{RawCharacter, RawSkin};
use crate::character::{AnimationSource, CharacterDraft, ClipDraft, Packing, ReadFile};
use crate::clip::ClipOptions;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::id::Id;
use crate::mesh::{
    Aabb, Material, MaterialVariant, Model, Parts, Skin, even_levels, hub_reaches, morph_reaches,
};
use crate::palette::rest_palette;
use crate::skeleton::{Skeleton, rest_model_pose};
use crate::skin::{PosedVertices, skin_linear};
use loss::Losses;
use morphs::Morphs;
use palette::Entries;
use primitive::Drafting;

impl RawCharacter {
    /// Checks the raw data and builds a [`Character`](crate::character::Character).
    ///
    /// This checks every index, count and value, repairs harmless faults and lists the repairs,
    /// merges identical vertices, orders triangles and vertices for drawing (see
    /// [`ImportOptions::keep_order`]), and builds the skeleton and the palette from the parts that
    /// are used.
    ///
    /// The skeleton consists of the joints of the skins that a primitive uses, the nodes that carry
    /// a primitive without a skin, and all of their ancestors. It also has nodes that draw nothing,
    /// if they have a name or an animation drives them: sockets, muzzles, targets. They are below
    /// these joints and carriers, or below ancestors that an animation drives.
    /// [`RawCharacter::objects`] are not such nodes. If the skeleton would have more than
    /// [`Skeleton::MAX_JOINTS`] with them, all of them are left out, which is reported.
    ///
    /// Without primitives, it consists of the joints of all skins, and the nodes that an animation
    /// drives or that have a name. Without primitives and skins, it consists of all nodes.
    ///
    /// # Errors
    /// - [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason.
    /// - [`Error::InFile`](crate::Error::InFile) if there is no node with a name of
    ///   [`ImportOptions::leave_out`].
    /// - [`Error::Description`](crate::Error::Description) for an [`ImportOptions::animation`] or
    ///   [`RawCharacter::animation`] that does not fit.
    pub fn build(self, options: &ImportOptions) -> Result<Imported> {
        self.build_from(options, None, None)
    }

    /// [`Self::build`] for a model with files beside it.
    ///
    /// `sidecar` is the name and the bytes of a TOML file with animation data. It is used instead
    /// of [`RawCharacter::animation`], unless [`ImportOptions::animation`] is set. `read` reads the
    /// file that a description names
    /// ([`AnimationDesc::state_machine_file`](crate::character::AnimationDesc::state_machine_file)).
    ///
    /// # Errors
    /// As [`Self::build`], and [`Error::Description`](crate::Error::Description) for a file that
    /// does not fit, with file, line and part. [`Error::Argument`](crate::Error::Argument) for a
    /// `sidecar` without the feature `toml`.
    pub fn build_with_files(
        self,
        options: &ImportOptions,
        sidecar: Option<(&str, &[u8])>,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    ) -> Result<Imported> {
        self.build_from(options, sidecar, Some(read))
    }

    fn build_from(
        mut self,
        options: &ImportOptions,
        sidecar: Option<(&str, &[u8])>,
        read: Option<ReadFile<'_>>,
    ) -> Result<Imported> {
        let name = match &*options.name {
            "" => self.name.clone(),
            name => name.into(),
        };
        let own = self.animation.take();
        let animation = match (&options.animation, sidecar, &own) {
            (Some(desc), _, _) | (None, None, Some(desc)) => AnimationSource::of_desc(desc, read)?,
            (None, Some((file, bytes)), _) => AnimationSource::of_bytes(file, bytes, read)?,
            (None, None, None) => AnimationSource::default(),
        };
        let built = self.assemble(&name, options, &animation);
        built.map_err(|error| error.in_file(&name))
    }

    fn assemble(
        mut self,
        name: &str,
        options: &ImportOptions,
        animation: &AnimationSource,
    ) -> Result<Imported> {
        let packing = options.packing.as_ref();
        packing.map_or(Ok(()), ClipOptions::check)?;
        let mut repairs = std::mem::take(&mut self.repairs);
        influences::limit(options.max_influences)?;
        names::note_controls(&self, &mut repairs);
        let carriers = self.primitives.iter().map(|primitive| primitive.node);
        self.objects.extend(carriers);
        leave_out::apply(&mut self, &options.leave_out)?;
        if !options.meshes {
            self.leave_out_meshes();
        }
        materials::check(&mut self, &mut repairs)?;
        let levels = levels::plan(&mut self, &mut repairs)?;
        if options.share_binds {
            shared_binds::share(&mut self, &mut repairs);
        }
        let wanted = wanted::nodes(&self, options, &mut repairs)?;
        if self
            .primitives
            .iter()
            .all(|primitive| primitive.skin.is_none())
        {
            let count = self.primitives.len() as u64;
            Repair::note(&mut repairs, &file_part(""), RepairKind::NoSkin, count);
        }
        let (mut skeleton, joint_of) = skeleton::build(&self.nodes, wanted, options, &mut repairs)?;
        let mut entries = Entries::new(&self, &joint_of, &mut repairs)?;
        let coarser = levels.split(&mut self.primitives);
        let morphs = Morphs::new(&self)?;
        let mut drafts = Vec::with_capacity(self.primitives.len());
        let mut drafting = Drafting {
            entries: &mut entries,
            joint_of: &joint_of,
            options,
            repairs: &mut repairs,
        };
        for (primitive, coarser) in self.primitives.iter().zip(&coarser) {
            let first_weight = morphs.first_weight(primitive);
            let draft = drafting.draft(primitive, coarser)?;
            drafts.extend(draft.map(|draft| draft.driven_from(first_weight)));
        }
        let geometry = order::apply(&mut drafts, &self.materials, options.keep_order);
        let rest = skeleton::rest_model(&skeleton, &joint_of)?;
        let losses = Losses::new(&entries, &mut drafts);
        let palette = entries.finish(&rest)?;
        let joints = clips::JointOf {
            nodes: self.nodes.len(),
            of: &|_, node| joint_of.get(node).copied().flatten(),
        };
        let mut curves = clips::build(&self.animations, &skeleton, &joints, &morphs, &mut repairs)?;
        let events = clips::events(&self.animations, &curves, &mut repairs);
        let (kept, packed) = (options.curves, options.packing);
        let mut packing = Packing {
            curves: kept,
            options: packed,
        };
        if packing == Packing::NEITHER {
            curves.clear();
            packing = Packing::default();
        }
        skeleton.roles = avatar::roles(&self, &joint_of, &mut repairs);
        skeleton.vrm = self.vrm;
        let springs = springs::build(&self, &joint_of, &skeleton, &mut repairs)?;
        let expressions = avatar::expressions(&self, &morphs, &mut repairs);
        let mut materials = self.materials;
        let default_material = materials.len();
        if materials.is_empty() || drafts.iter().any(|d| d.material.is_none()) {
            materials.push(Material::default());
        }
        let mut primitives = Vec::with_capacity(drafts.len());
        for draft in drafts {
            primitives.push(draft.finish(&palette, default_material)?);
        }
        let palette = palette.into_joints(&primitives);
        let variants = self.variants.into_iter();
        let variants = variants.map(|name| MaterialVariant { name });
        even_levels(&mut primitives);
        let mut model = Model {
            name: name.into(),
            hub_reaches: hub_reaches(&skeleton, &palette, &primitives),
            skeleton,
            palette,
            materials,
            variants: variants.collect(),
            images: self.images,
            morph_weights: morphs.into_weights(),
            expressions,
            skins: skins(&self.skins, &joint_of),
            parts: Parts::new(&primitives),
            rest_bounds: Aabb::EMPTY,
            morph_reaches: morph_reaches(&primitives),
            primitives,
        };
        model.rest_bounds = rest_bounds(&model)?;
        let influence_loss = losses.measure(&model.skeleton, &curves)?;
        let clips = curves.into_iter().zip(events);
        let clips: Vec<_> = clips
            .map(|(curve, events)| ClipDraft::new(curve, events))
            .collect();
        check_clip_joints(
            options,
            clips.len() + animation.made_clips(),
            &model.skeleton,
        )?;
        let draft = CharacterDraft {
            model,
            springs,
            packing,
        };
        let character = draft.build(clips, animation, options.on_packed.as_ref())?;
        let imported = Imported::new(character, of_file(repairs, name));
        Ok(Imported {
            influence_loss,
            spawn_points: self.spawn_points,
            geometry: GeometryReport {
                merged_vertices: geometry.merged_vertices,
                unused_vertices: geometry.unused_vertices,
                file_shaded_vertices: geometry.file_shaded_vertices,
                ..imported.geometry
            },
            ..imported
        })
    }
}

impl RawCharacter {
    /// Removes all that is drawn, and what moves it without being a clip.
    fn leave_out_meshes(&mut self) {
        *self = Self {
            name: std::mem::take(&mut self.name),
            nodes: std::mem::take(&mut self.nodes),
            skins: std::mem::take(&mut self.skins),
            animations: std::mem::take(&mut self.animations),
            morphs: std::mem::take(&mut self.morphs),
            roles: std::mem::take(&mut self.roles),
            vrm: self.vrm,
            animation: self.animation.take(),
            ..Self::default()
        };
    }
}

/// Checks the cap on the joints of packed clips.
pub(super) fn check_clip_joints(
    options: &ImportOptions,
    clips: usize,
    skeleton: &Skeleton,
) -> Result<()> {
    if options.packing.is_none() {
        return Ok(());
    }
    let asked = clips as u64 * skeleton.len() as u64;
    let (what, cap) = ("joints of all clips", options.limits.clip_joints);
    check_cap(|| file_part("animations"), what, asked, cap)
}

/// The skins whose joints are all in the skeleton. These are the skins in use, and unused skins
/// that have no other joints.
fn skins(skins: &[RawSkin], joint_of: &[Option<u16>]) -> Vec<Skin> {
    let joint = |node: &usize| joint_of.get(*node).copied().flatten().map(Id::new);
    let skin = |raw: &RawSkin| {
        Some(Skin {
            name: raw.name.clone(),
            joints: raw.joints.iter().map(joint).collect::<Option<_>>()?,
        })
    };
    skins.iter().filter_map(skin).collect()
}

/// Bounds of the morphed and skinned rest pose at full detail, or of the joints if nothing is
/// drawn.
fn rest_bounds(model: &Model) -> Result<Aabb> {
    let mut bounds = Aabb::EMPTY;
    if model.primitives.is_empty() {
        for joint in rest_model_pose(&model.skeleton) {
            bounds = bounds.with_point(joint.translation.into());
        }
        return Ok(bounds);
    }
    let too_large = |part: &str| {
        let why = AssetFault::Invalid("the rest pose is too large for 32-bit numbers");
        fault(ObjectKind::File, None, part, why)
    };
    let palette = rest_palette(model)?;
    let weights = model.morph_weights.iter().map(|weight| weight.rest);
    let weights: Vec<f32> = weights.collect();
    let mut posed = PosedVertices::default();
    for primitive in &model.primitives {
        skin_linear(primitive, &palette, &weights, &mut posed)?;
        // A mesh for far away may stand out.
        let counts = !primitive.is_far();
        for point in &posed.positions {
            if !point.is_finite() {
                return Err(too_large(&primitive.name));
            }
            if counts {
                bounds = bounds.with_point(*point);
            }
        }
    }
    // Each point may be finite, but not their distance.
    match bounds.size().is_finite() {
        true => Ok(bounds),
        false => Err(too_large("")),
    }
}
