//! The transform of an actor in the world.

use super::Actor;
use crate::animator::state::Root;
use crate::animator::{Animator, RootMotionMode};
use crate::error::{Error, MAX_EXTENT, Result, expect_finite, expect_in, expect_transform};
use crate::motion::RootTransform;
use core::ops::DerefMut;
use glam::Affine3A;

/// The root motion of the actor.
impl<A: DerefMut<Target = Animator>> Actor<A> {
    /// Sets how the root motion of its clips is used.
    ///
    /// The motion of a clip is the motion that was extracted from it at import, or that of its
    /// [gait](crate::character::AnimationDesc::gait_motion). It continues from the actor's
    /// transform in the world, which is the origin at first. With [`RootMotionMode::Apply`], the
    /// instance of a crowd moves with it.
    pub fn set_root_motion(&mut self, mode: RootMotionMode) {
        let was = self.state().is_rooted();
        self.change(|it| {
            let (root, world) = (&mut it.actor.root, it.actor.world.into());
            match (mode, root) {
                (RootMotionMode::Ignore, root) => *root = None,
                (mode, Some(root)) => root.mode = mode,
                (mode, root) => *root = Some(Box::new(Root::new(mode, &world))),
            }
        });
        let is = self.state().is_rooted();
        let rooted = &mut self.animator.rooted;
        *rooted = *rooted + usize::from(is) - usize::from(was);
    }
}

/// The controls of an actor that is not an instance of a crowd: where it is in the world.
///
/// An instance is moved by the controls of its crowd, which move its actor, too.
impl Actor<&mut Animator> {
    /// Moves the actor through the world.
    ///
    /// `world_from_model` is the transform from character space to world space. At first it is the
    /// identity. Spring bones follow it from the next evaluation on, and root motion that is
    /// switched on later starts there.
    ///
    /// # Errors
    /// [`Error::Argument`] if the transform is not finite or beyond
    /// [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    #[doc(alias = "set_world")]
    pub fn set_transform(&mut self, world_from_model: &Affine3A) -> Result<()> {
        self.put(world_from_model, false)
    }

    /// Moves the actor elsewhere in the world. Its spring bones move along without a swing.
    ///
    /// # Errors
    /// As [`Self::set_transform`].
    pub fn teleport(&mut self, world_from_model: &Affine3A) -> Result<()> {
        self.put(world_from_model, true)
    }

    fn put(&mut self, world_from_model: &Affine3A, jump: bool) -> Result<()> {
        expect_transform("world_from_model", world_from_model)?;
        let it = self.animator.parts(self.id.index);
        it.actor.put(it.library, world_from_model, jump);
        Ok(())
    }

    /// Sets the position and heading from which root motion continues.
    ///
    /// `scale` is the actor's size: metres of the world per metre of the character.
    ///
    /// # Errors
    /// [`Error::Argument`] for values that are not finite or beyond
    /// [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT), and if root motion is
    /// ignored.
    #[doc(alias = "teleport")]
    pub fn set_root_transform(&mut self, transform: RootTransform, scale: f64) -> Result<()> {
        let RootTransform {
            translation,
            yaw_rad,
        } = transform;
        let most = f64::from(MAX_EXTENT);
        for value in translation.to_array() {
            expect_in("RootTransform::translation", value, -most, most)?;
        }
        expect_in("scale", scale, -most, most)?;
        expect_finite("RootTransform::yaw_rad", yaw_rad)?;
        let it = self.animator.parts(self.id.index);
        let root = it.actor.root.as_mut();
        let root = root.ok_or(Error::invalid("actor", "ignores root motion"))?;
        (root.transform, root.scale) = (transform, scale);
        Ok(())
    }
}
