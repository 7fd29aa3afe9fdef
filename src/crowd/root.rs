//! Root motion of instances, whose transforms follow their clips.

use super::InstanceId;
use super::instance_state::Rooted;
use super::state::Crowd;
use crate::animator::RootMotionMode;
use crate::error::{Result, expect_transform};
use crate::motion::RootTransform;
use glam::{Affine3A, DVec3, Vec3};

/// Splits a transform into its position, the rest, and its heading.
///
/// The position is the translation, and the heading is the angle of the z axis about +Y. The rest
/// is what remains of the transform relative to these two.
fn split(world_from_model: &Affine3A) -> (RootTransform, Affine3A, f64) {
    let forward = world_from_model.matrix3.z_axis;
    let place = RootTransform {
        translation: Vec3::from(world_from_model.translation).as_dvec3(),
        yaw_rad: f64::from(forward.x).atan2(forward.z.into()),
    };
    let rest = place.world_from_model(DVec3::ZERO, Vec3::ONE).inverse() * *world_from_model;
    let scale = f64::from(rest.matrix3.determinant().abs().cbrt());
    (place, rest, scale)
}

impl Crowd {
    /// Sets how an instance uses the root motion of its clips.
    ///
    /// With [`RootMotionMode::Apply`] its transform follows, starting from the present one. This is
    /// exact for months, at any frame rate.
    ///
    /// # Errors
    /// [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if it
    /// is not alive.
    pub fn set_root_motion(&mut self, id: InstanceId, mode: RootMotionMode) -> Result<()> {
        self.with_actor(id, |animator, actor| animator.set_root_motion(actor, mode))?;
        let applies = mode == RootMotionMode::Apply;
        let instance = self.instances.get(id)?;
        let (was, character) = (instance.rooted.is_some(), instance.record.character);
        if let Some(Some(entry)) = self.characters.get_mut(character as usize) {
            entry.rooted = entry.rooted + usize::from(applies) - usize::from(was);
        }
        if let Some(instance) = self.instances.states.get_mut(id.index as usize) {
            instance.rooted = None;
        }
        if applies {
            self.root_at(id)?;
        }
        Ok(())
    }

    /// The root motion mode of an instance.
    ///
    /// # Errors
    /// [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if it
    /// is not alive.
    pub fn root_motion(&self, id: InstanceId) -> Result<RootMotionMode> {
        let (animator, actor) = self.actor(id)?;
        animator.root_motion(actor)
    }

    /// The instance's motion in the frame begun last.
    ///
    /// It is relative to the character space of the frame before.
    ///
    /// # Errors
    /// [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if it
    /// is not alive.
    pub fn root_delta(&self, id: InstanceId) -> Result<RootTransform> {
        let (animator, actor) = self.actor(id)?;
        animator.root_delta(actor)
    }

    /// Restarts root motion from the instance's present transform.
    pub(super) fn root_at(&mut self, id: InstanceId) -> Result<()> {
        let world = self.instances.get(id)?.record.world_from_model.to_affine();
        let (place, rest, scale) = split(&world);
        self.with_actor(id, |animator, actor| {
            animator.set_place(actor, place, scale)
        })?;
        if let Some(instance) = self.instances.states.get_mut(id.index as usize) {
            instance.rooted = Some(Rooted { rest });
        }
        Ok(())
    }

    /// Moves the instances of a character that follow their root motion.
    pub(super) fn apply_root_motion(&mut self, character: usize) -> Result<()> {
        let Some(Some(entry)) = self.characters.get(character) else {
            return Ok(());
        };
        for member in 0..entry.members.len() {
            let Some(Some(entry)) = self.characters.get(character) else {
                return Ok(());
            };
            let Some(id) = entry
                .members
                .get(member)
                .and_then(|at| self.instances.id(*at))
            else {
                continue;
            };
            let instance = self.instances.get(id)?;
            let Some(Rooted { rest }) = instance.rooted else {
                continue;
            };
            // The transform of an attached instance follows from its parent's.
            if self.attachments.of(id.index).is_some() {
                continue;
            }
            let actor = instance.actor;
            if entry.animator.root_delta(actor)? == RootTransform::IDENTITY {
                continue;
            }
            let place = entry.animator.place(actor)?;
            let world = place.world_from_model(DVec3::ZERO, Vec3::ONE) * rest;
            if expect_transform("", &world).is_ok() {
                self.put(id, &world, false)?;
            }
        }
        Ok(())
    }
}
