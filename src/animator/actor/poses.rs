//! The pose of an actor beside what it plays: IK targets, its own pose, morph weights, springs.

use super::Actor;
use crate::animator::library::check_fade;
use crate::animator::state::OwnPose;
use crate::animator::{
    Animator, Change, IkSolver, IkTarget, NameOrId, PlayRecord, Pose, ShowPose, SpringMode,
};
use crate::clip::components;
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, expect_extent, expect_in, expect_len};
use crate::id::Id;
use crate::mesh::{Expression, MorphWeight};
use crate::skeleton::Transform;
use core::ops::DerefMut;
use glam::Affine3A;

/// The pose of the actor, beside what it plays.
impl<A: DerefMut<Target = Animator>> Actor<A> {
    /// Sets its target for an inverse kinematics solver.
    ///
    /// From now on, its pose reaches for the target, which is in character space. The target
    /// reaches its full weight in `fade_s` seconds. If the actor already has a target for this
    /// solver, the new target replaces it and starts with its present weight.
    ///
    /// # Errors
    /// - [`Error::NotFound`] for a solver of another animator.
    /// - [`Error::At`] with the solver, for a target of another kind or an invalid target.
    /// - [`Error::Argument`] for a fade that is negative or longer than an hour.
    pub fn set_target(
        &mut self,
        solver: Id<IkSolver>,
        target: impl Into<IkTarget>,
        fade_s: f32,
    ) -> Result<()> {
        let target = target.into();
        check_fade("fade_s", fade_s)?;
        self.animator.solvers.check(solver, &target)?;
        self.animator.expect_special(self.id.index);
        self.change(|it| it.actor.goals.set(solver, target, fade_s, it.local_s));
        Ok(())
    }

    /// Removes its target for a solver, over `fade_s` seconds.
    ///
    /// # Errors
    /// [`Error::Argument`] for a fade that is negative or longer than an hour.
    pub fn clear_target(&mut self, solver: Id<IkSolver>, fade_s: f32) -> Result<()> {
        check_fade("fade_s", fade_s)?;
        self.change(|it| it.actor.goals.clear(solver, fade_s, it.local_s));
        Ok(())
    }

    /// Shows a pose given by the caller, such as that of a ragdoll.
    ///
    /// It replaces what the layer plays, in a cross-fade. If the actor shows such a pose on the
    /// layer already, with the same mask and weight, only the pose changes. So a ragdoll calls this
    /// in every frame with the same `show`. The pose stays until something else is played on the
    /// layer. An actor has only one.
    ///
    /// If nothing else plays and there is no inverse kinematics, the matrices of a [`Pose::Model`]
    /// are used unchanged. If not, they are converted to translation, rotation and scale, and the
    /// rest, such as shear, is lost.
    ///
    /// In a crowd, front faces depend on the rest pose and the clips, as
    /// [`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip) says. A pose that flips a
    /// joint that no clip flips shows its back faces.
    ///
    /// ```
    /// use throng::animator::{Animator, Pose, ShowPose};
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let mut animator = Animator::new(&character)?;
    /// let guard = animator.add("Walk")?;
    /// let mut guard = animator.actor_mut(guard)?;
    /// let fallen = character.skeleton().rest_pose();
    /// guard.set_pose(Pose::Local(&fallen), &ShowPose { fade_s: 0.2, ..ShowPose::default() })?;
    /// assert!(guard.pose().is_some());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is an error, the actor does not change.
    ///
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for a mask that the character does not have.
    /// - [`Error::Argument`] for the wrong number of joints, an invalid fade or weight, or a layer
    ///   that the actor's state machine drives.
    /// - [`Error::At`] with the index of the first joint that is not finite.
    /// - [`Error::Unrepresentable`] in a crowd, if the palette format of the character's skinning
    ///   method cannot represent the pose.
    #[doc(alias = "ragdoll")]
    pub fn set_pose(&mut self, pose: Pose<'_>, show: &ShowPose<'_>) -> Result<()> {
        let mask = self.check_show(show)?;
        match pose {
            Pose::Local(local) => self.check_local(local)?,
            Pose::Model(model) => self.check_model(model)?,
        }
        let wanted = (show.layer, mask.unwrap_or(PlayRecord::NO_MASK), show.weight);
        let is_shown = self.records().iter().any(|record| {
            let to = (record.layer, record.mask, record.to_weight);
            record.has(PlayRecord::FLAG_POSE) && to == wanted
        });
        self.animator.touch(self.id.index);
        self.keep(pose);
        match is_shown {
            true => self.animator.changed(self.id.index),
            false => self.change(|it| OwnPose::show(&mut it.mix(), show, mask)),
        }
        Ok(())
    }

    /// Stores a pose that was already checked.
    fn keep(&mut self, pose: Pose<'_>) {
        self.animator.expect_special(self.id.index);
        let Change {
            actor,
            library,
            poser,
            ..
        } = self.animator.parts(self.id.index);
        let own = actor.own_pose.get_or_insert_default();
        own.set(&library.skeleton, pose);
        actor.update_own_clip(poser);
    }

    fn check_show(&self, show: &ShowPose<'_>) -> Result<Option<u16>> {
        self.check_layer(show.layer)?;
        check_fade("ShowPose::fade_s", show.fade_s)?;
        expect_in("ShowPose::weight", show.weight, 0.0, f32::MAX)?;
        self.library().mask(show.mask)
    }

    fn check_local(&mut self, local: &[Transform]) -> Result<()> {
        expect_len("local pose", local.len(), self.skeleton().len())?;
        for (joint, transform) in local.iter().enumerate() {
            let checked = expect_extent("local pose", components(transform));
            checked.map_err(|why| why.at("joint", joint))?;
        }
        self.animator.check_fit_of_local(local)
    }

    fn check_model(&self, model: &[Affine3A]) -> Result<()> {
        expect_len("model pose", model.len(), self.skeleton().len())?;
        self.animator.check_fit(model)
    }

    /// Sets the weight at which it shows an expression, such as a smile.
    ///
    /// Expressions that are shown together are added, as far as they do not
    /// [override](crate::mesh::ExpressionOverride) each other. The weights of all expressions are 0
    /// at first.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for an expression that the character does
    ///   not have.
    /// - [`Error::Argument`] for a weight outside 0..=1.
    #[doc(alias = "blend shape")]
    #[doc(alias = "face")]
    pub fn set_expression<'n>(
        &mut self,
        expression: impl Into<NameOrId<'n, Id<Expression>>>,
        weight: f32,
    ) -> Result<()> {
        let index = self.library().expression(expression.into())?;
        expect_in("weight", weight, 0.0, 1.0)?;
        let it = self.animator.parts(self.id.index);
        let count = it.library.expressions.len();
        let weights = it.actor.weights.get_or_insert_default();
        weights.set_expression(count, index, weight);
        self.animator.note(self.id.index);
        Ok(())
    }

    /// Overrides its morph weights.
    ///
    /// There is one entry for each weight of its character. `None` leaves a weight to the clips and
    /// the rest pose.
    ///
    /// # Errors
    /// [`Error::Argument`] for the wrong number of weights, or a weight that is not finite or
    /// beyond [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    pub fn set_morph_weights(&mut self, weights: &[Option<f32>]) -> Result<()> {
        let need = self.library().morph_weights.len();
        expect_len("morph weights", weights.len(), need)?;
        let mut set = weights.iter().flatten();
        set.try_for_each(|weight| expect_extent("morph weight", [*weight]))?;
        let it = self.animator.parts(self.id.index);
        it.actor.weights.get_or_insert_default().set_all(weights);
        self.animator.note(self.id.index);
        Ok(())
    }

    /// Overrides one of its morph weights, by name or id.
    ///
    /// Of several weights with the same name, the first is meant. `None` removes the override, so
    /// that the clips and the rest pose decide again.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for a weight that the character does not
    ///   have.
    /// - [`Error::Argument`] for a value that is not finite or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    pub fn set_morph_weight<'n>(
        &mut self,
        weight: impl Into<NameOrId<'n, Id<MorphWeight>>>,
        value: Option<f32>,
    ) -> Result<()> {
        let index = self.library().morph_weight(weight.into())?;
        value.map_or(Ok(()), |value| expect_extent("morph weight", [value]))?;
        let it = self.animator.parts(self.id.index);
        let count = it.library.morph_weights.len();
        let weights = it.actor.weights.get_or_insert_default();
        weights.set(count, index, value);
        self.animator.note(self.id.index);
        Ok(())
    }

    /// Sets how its spring bones swing, if its character has any.
    ///
    /// It is [`SpringMode::Picture`] at first. Those that start to swing start in the animated
    /// pose, so switching them off and on lets them start anew. Actors far away cost less with
    /// [`SpringMode::Off`].
    pub fn set_springs(&mut self, mode: SpringMode) {
        self.animator.set_springs(self.id.index, mode);
        self.animator.changed(self.id.index);
    }
}
