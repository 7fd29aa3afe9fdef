//! The pose that the caller gave an actor, such as a ragdoll. It plays like a clip.

use super::layers::Mix;
use crate::animator::name_or_id::NameOrId;
use crate::animator::record::PlayRecord;
use crate::clip::components;
use crate::clone::clone_fields;
use crate::error::{Result, expect_extent, expect_len};
use crate::id::Id;
use crate::motion::Ease;
use crate::skeleton::{Mask, NO_PARENT, Skeleton, Transform};
use glam::{Affine3A, Quat};

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

/// A pose of a character, one element for each joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pose<'a> {
    /// Transforms from each joint's space to its parent's. Rotations are normalised.
    Local(&'a [Transform]),
    /// Matrices from each joint's space to character space.
    Model(&'a [Affine3A]),
}

/// A pose that the caller gave an actor.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct OwnPose {
    /// The model pose as the caller gave it. Empty if a local pose was given.
    ///
    /// It can hold shear and other things that a local pose cannot. It is used unchanged if nothing
    /// else plays.
    model: Vec<Affine3A>,
    local: Vec<Transform>,
}

clone_fields! {
    OwnPose { model, local }
}

impl OwnPose {
    /// Checks data that was saved, except for the size of its numbers.
    pub(crate) fn check(&self, joints: usize) -> Result<()> {
        if !self.model.is_empty() {
            expect_len("model pose", self.model.len(), joints)?;
        }
        expect_len("local pose", self.local.len(), joints)
    }

    pub(crate) fn local(&self) -> &[Transform] {
        &self.local
    }

    /// The model pose, if the caller gave one.
    pub(crate) fn model(&self) -> Option<&[Affine3A]> {
        (!self.model.is_empty()).then_some(&*self.model)
    }

    /// The pose that the caller gave.
    pub(crate) fn get(&self) -> Pose<'_> {
        self.model().map_or(Pose::Local(&self.local), Pose::Model)
    }

    /// Stores a pose. Its length is correct.
    pub(crate) fn set(&mut self, skeleton: &Skeleton, pose: Pose<'_>) {
        self.model.clear();
        self.local.clear();
        match pose {
            Pose::Local(local) => self.local.extend_from_slice(local),
            Pose::Model(model) => self.model.extend_from_slice(model),
        }
        self.complete(skeleton);
    }

    /// Computes what the evaluation needs from what was given or saved: the local pose of a model
    /// pose, and unit rotations.
    pub(crate) fn complete(&mut self, skeleton: &Skeleton) {
        if !self.model.is_empty() {
            self.local.clear();
            self.local.extend(local_of(skeleton, &self.model));
        }
        for (transform, joint) in self.local.iter_mut().zip(skeleton.joints()) {
            transform.rotation = unit(transform.rotation).unwrap_or(joint.rest.rotation);
        }
    }

    /// Fits the pose to another skeleton. Joints that the old one lacks get their rest pose.
    pub(crate) fn adopt(&mut self, (old, new): (&Skeleton, &Skeleton), joints: &[Option<u16>]) {
        let mut pairs = (0..).zip(joints);
        if old.len() == new.len() && pairs.all(|(at, joint): (u16, _)| *joint == Some(at)) {
            return;
        }
        let mut local: Vec<Transform> = new.joints().iter().map(|joint| joint.rest).collect();
        for (transform, joint) in self.local.iter().zip(joints) {
            if let Some(joint) = joint {
                local[usize::from(*joint)] = *transform;
            }
        }
        self.set(new, Pose::Local(&local));
    }

    /// Shows the pose on a layer of the actor, in a cross-fade from what the layer plays.
    pub(crate) fn show(mix: &mut Mix<'_>, show: &ShowPose<'_>, mask: Option<u16>) {
        // The actor has only one pose, so a record that already shows it is replaced and keeps
        // its weight.
        let is_pose = |record: &PlayRecord| record.has(PlayRecord::FLAG_POSE);
        let shown = mix.records().iter().find(|record| is_pose(record));
        let shown = shown.filter(|record| record.layer == show.layer);
        let from = shown.map_or(0.0, |record| record.weight_at(mix.local_s));
        mix.retain_records(|record| !is_pose(record));
        mix.fade_layer(show.layer, (show.fade_s, show.ease));
        let mut record = PlayRecord::new(0, mix.local_s);
        (record.layer, record.flags) = (show.layer, PlayRecord::FLAG_POSE);
        record.mask = mask.unwrap_or(PlayRecord::NO_MASK);
        record.set_ease(show.ease);
        record.fade_s = show.fade_s;
        record.from_weight = if show.fade_s > 0.0 { from } else { show.weight };
        record.to_weight = show.weight;
        mix.push(record);
        mix.drop_faded();
    }
}

/// The local pose closest to a model pose, with translation, rotation and scale. A joint that none
/// represents has its rest pose.
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
        let local = Transform {
            translation,
            rotation: unit(rotation.normalize()).unwrap_or(joint.rest.rotation),
            scale,
        };
        match expect_extent("", components(&local)) {
            Ok(()) => local,
            Err(_) => joint.rest,
        }
    })
}

/// A rotation of length 1, if there is one. One that is nearly of that length stays as it is: its
/// evaluation normalises it.
fn unit(rotation: Quat) -> Option<Quat> {
    if (rotation.length_squared() - 1.0).abs() < 1e-3 {
        return Some(rotation);
    }
    let unit = rotation.normalize();
    (unit.is_finite() && unit.length_squared() > 0.5).then_some(unit)
}
