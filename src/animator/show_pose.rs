//! The controls for poses set by the caller, such as a ragdoll or a pose from the network.

use super::ActorId;
use super::control::{check_fade, fade_layer};
use super::instances::Animator;
use super::name_or_id::NameOrId;
use super::own_pose::OwnPose;
use super::record::PlayRecord;
use crate::error::{Error, Result, expect_extent, expect_in, expect_len, expect_transform};
use crate::id::Id;
use crate::motion::Ease;
use crate::skeleton::{Mask, NO_PARENT, Skeleton, Transform};
use glam::Affine3A;

/// The settings for showing a pose set by the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShowPose<'a> {
    /// Duration of the fade from what the layer plays now, in seconds. 0 cuts.
    pub fade_s: f32,
    /// The curve of the fade.
    pub ease: Ease,
    /// The layer that it is shown on.
    pub layer: u8,
    /// The joints that it affects. `None` affects all joints.
    pub mask: Option<NameOrId<'a, Id<Mask>>>,
    /// Its weight after the fade.
    pub weight: f32,
}

impl Default for ShowPose<'_> {
    fn default() -> Self {
        Self {
            fade_s: 0.0,
            ease: Ease::Smooth,
            layer: 0,
            mask: None,
            weight: 1.0,
        }
    }
}

impl Animator {
    /// Shows a local pose given by the caller.
    ///
    /// It has one transform per joint. It replaces what the layer plays, in a cross-fade. It stays
    /// until it is set again ([`Self::set_pose`]), or until something else is played on the layer.
    /// An actor has only one such pose.
    ///
    /// # Errors
    /// - The same as [`Self::play`].
    /// - [`Error::Argument`] for the wrong number of joints.
    /// - [`Error::At`] with the index of the first joint that is not finite, or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT) in the local pose or in
    ///   the model pose that follows from it.
    #[doc(alias = "ragdoll")]
    pub fn show_pose(
        &mut self,
        id: ActorId,
        local: &[Transform],
        show: &ShowPose<'_>,
    ) -> Result<()> {
        self.check_show(id, show)?;
        self.check_local(local)?;
        self.show(id, show, local.iter().copied(), &[])
    }

    /// Shows a model pose given by the caller.
    ///
    /// It has one matrix per joint. Each matrix transforms from the joint's space to character
    /// space. Otherwise this works like [`Self::show_pose`].
    ///
    /// If nothing else plays and there is no inverse kinematics, the matrices are used unchanged.
    /// If not, they are converted to translation, rotation and scale, and the rest, such as shear,
    /// is lost.
    ///
    /// # Errors
    /// The same as [`Self::show_pose`].
    pub fn show_model_pose(
        &mut self,
        id: ActorId,
        model: &[Affine3A],
        show: &ShowPose<'_>,
    ) -> Result<()> {
        self.check_show(id, show)?;
        self.check_model(model)?;
        let skeleton = self.library.skeleton.clone();
        self.show(id, show, local_of(&skeleton, model), model)
    }

    /// Changes the pose that an actor shows, whatever its weight is now.
    ///
    /// # Errors
    /// - The same as [`Self::show_pose`].
    /// - [`Error::Argument`] if the actor shows no pose.
    pub fn set_pose(&mut self, id: ActorId, local: &[Transform]) -> Result<()> {
        self.check_shows(id)?;
        self.check_local(local)?;
        self.keep(id.index, local.iter().copied(), &[]);
        self.changed(id.index);
        Ok(())
    }

    /// Changes the pose that an actor shows, given as a model pose.
    ///
    /// See [`Self::show_model_pose`].
    ///
    /// # Errors
    /// The same as [`Self::set_pose`].
    pub fn set_model_pose(&mut self, id: ActorId, model: &[Affine3A]) -> Result<()> {
        self.check_shows(id)?;
        self.check_model(model)?;
        let skeleton = self.library.skeleton.clone();
        self.keep(id.index, local_of(&skeleton, model), model);
        self.changed(id.index);
        Ok(())
    }

    /// Returns true if the actor shows a pose set by the caller.
    ///
    /// A pose that is fading out does not count.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn shows_pose(&self, id: ActorId) -> Result<bool> {
        let actor = self.actors.get(id)?;
        let records = self.pool.get(actor.block);
        Ok(records
            .iter()
            .any(|record| record.has(PlayRecord::FLAG_POSE) && record.to_weight > 0.0))
    }

    fn check_show(&self, id: ActorId, show: &ShowPose<'_>) -> Result<()> {
        self.check_layer(id, show.layer)?;
        check_fade("ShowPose::fade_s", show.fade_s)?;
        expect_in("ShowPose::weight", show.weight, 0.0, f32::MAX)?;
        self.library.mask(show.mask).map(|_| ())
    }

    fn check_shows(&self, id: ActorId) -> Result<()> {
        let records = self.pool.get(self.actors.get(id)?.block);
        if records
            .iter()
            .any(|record| record.has(PlayRecord::FLAG_POSE))
        {
            return Ok(());
        }
        Err(Error::invalid("actor", "shows no pose set by the caller"))
    }

    /// Checks a local pose, and the model pose that follows from it.
    fn check_local(&mut self, local: &[Transform]) -> Result<()> {
        expect_len("local pose", local.len(), self.library.skeleton.len())?;
        for (joint, transform) in local.iter().enumerate() {
            let checked = expect_extent("local pose", crate::clip::components(transform));
            checked.map_err(|why| why.at("joint", joint))?;
        }
        let mut model = core::mem::take(&mut self.work.model);
        model.resize(model.len().max(local.len()), Affine3A::IDENTITY);
        let posed = &mut model[..local.len()];
        let composed = self.library.skeleton.model_pose(local, posed);
        let checked = composed.and_then(|()| self.check_model(posed));
        self.work.model = model;
        checked
    }

    fn check_model(&self, model: &[Affine3A]) -> Result<()> {
        expect_len("model pose", model.len(), self.library.skeleton.len())?;
        for (joint, transform) in model.iter().enumerate() {
            let checked = expect_transform("model pose", transform);
            checked.map_err(|why| why.at("joint", joint))?;
        }
        Ok(())
    }

    fn show(
        &mut self,
        id: ActorId,
        show: &ShowPose<'_>,
        local: impl Iterator<Item = Transform>,
        model: &[Affine3A],
    ) -> Result<()> {
        let mask = self.library.mask(show.mask)?;
        self.touch(id.index);
        self.keep(id.index, local, model);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            let local_s = actor.clock.local_s(self.now_s);
            // The actor has only one pose, so a record that already shows it is replaced and keeps
            // its weight.
            let pool = &mut self.pool;
            let shown = pool
                .get(actor.block)
                .iter()
                .find(|r| r.has(PlayRecord::FLAG_POSE));
            let shown = shown.filter(|record| record.layer == show.layer);
            let from = shown.map_or(0.0, |record| record.weight_at(local_s));
            pool.retain(&mut actor.block, |record| {
                !record.has(PlayRecord::FLAG_POSE)
            });
            let records = pool.get_mut(actor.block);
            let fade = (show.fade_s, show.ease);
            fade_layer(records, show.layer, fade, local_s);
            self.blends
                .fade_layer(actor.blends, show.layer, fade, local_s);
            let mut record = PlayRecord::new(0, local_s);
            (record.layer, record.flags) = (show.layer, PlayRecord::FLAG_POSE);
            record.mask = mask.unwrap_or(PlayRecord::NO_MASK);
            record.set_ease(show.ease);
            record.fade_s = show.fade_s;
            record.from_weight = if show.fade_s > 0.0 { from } else { show.weight };
            record.to_weight = show.weight;
            pool.push(&mut actor.block, record, local_s);
            pool.retain(&mut actor.block, |record| !record.is_over(local_s));
        }
        self.changed(id.index);
        Ok(())
    }

    /// Stores a pose that was already checked.
    fn keep(&mut self, index: u32, local: impl Iterator<Item = Transform>, model: &[Affine3A]) {
        self.expect_special(index);
        let poser = &self.poser;
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        let own = actor.own_pose.get_or_insert_with(|| {
            Box::new(OwnPose {
                clip: poser.single_clip(),
                model: Vec::new(),
                local: Vec::new(),
            })
        });
        own.local.clear();
        own.local.extend(local);
        own.model.clear();
        own.model.extend_from_slice(model);
        let OwnPose { clip, local, .. } = &mut **own;
        clip.set_single(local);
    }
}

/// The local pose closest to a model pose, with translation, rotation and scale.
fn local_of<'a>(
    skeleton: &'a Skeleton,
    model: &'a [Affine3A],
) -> impl Iterator<Item = Transform> + 'a {
    let joints = skeleton.joints().iter().zip(model);
    joints.map(|(joint, own)| {
        let local = match model.get(usize::from(joint.parent_index())) {
            Some(parent) if joint.parent_index() != NO_PARENT => {
                let inverse = parent.inverse();
                if inverse.is_finite() {
                    inverse * *own
                } else {
                    *own
                }
            }
            _ => *own,
        };
        let (scale, rotation, translation) = local.to_scale_rotation_translation();
        let rotation = if rotation.is_finite() {
            rotation.normalize()
        } else {
            joint.rest.rotation
        };
        Transform {
            translation,
            rotation,
            scale,
        }
    })
}
