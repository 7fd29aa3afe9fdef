//! Inverse kinematics of actors: solvers and targets.

use super::control::check_fade;
use super::goal::Goal;
use super::instances::Animator;
use super::{ActorId, IkReport, IkSolver, IkTarget};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::ik::IkRig;
use crate::motion::{Ease, Ramp};

impl Animator {
    /// Adds a solver, for which actors can be given targets.
    ///
    /// `solver` is a [`TwoBone`](crate::ik::TwoBone), an [`Aim`](crate::ik::Aim), an
    /// [`IkChain`](crate::ik::IkChain) or a [`FootPlacement`](crate::ik::FootPlacement). Solvers
    /// work on the blended pose, in the order in which they were added.
    ///
    /// # Errors
    /// - [`Error::NotFound`], [`Error::Argument`] or [`Error::At`] if the solver does not fit the
    ///   character. The error names the joint or the field.
    /// - [`Error::Capacity`] beyond 65,535 solvers.
    pub fn add_solver(&mut self, solver: impl Into<IkSolver>) -> Result<Id<IkSolver>> {
        let solver = solver.into();
        let skeleton = &self.library.skeleton;
        let rig = self.rig.get_or_insert_with(|| IkRig::new(skeleton));
        solver.validate(rig)?;
        let asked = self.solvers.len() as u64 + 1;
        let cap = u64::from(u16::MAX);
        if asked > cap {
            let what = "IK solvers";
            return Err(Error::Capacity { what, asked, cap });
        }
        self.solvers.push(solver);
        Ok(Id::new(asked as u16 - 1))
    }

    /// Gives an actor a target for an inverse kinematics solver.
    ///
    /// From now on, the actor's pose reaches for it. The target is in character space. It reaches
    /// its full weight in `fade_s` seconds. If the actor already has a target for this solver, the
    /// new target replaces it and starts with its present weight.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::NotFound`] for a solver of another animator.
    /// - [`Error::Argument`] for a target of another kind of solver, an invalid target, or a fade
    ///   that is negative or longer than an hour.
    pub fn set_target(
        &mut self,
        id: ActorId,
        solver: Id<IkSolver>,
        target: impl Into<IkTarget>,
        fade_s: f32,
    ) -> Result<()> {
        let target = target.into();
        check_fade("fade_s", fade_s)?;
        self.actors.check(id)?;
        self.solver(solver)?.check(&target)?;
        self.touch(id.index);
        self.expect_special(id.index);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            let local_s = actor.clock.local_s(self.now_s);
            let goals = &mut actor.goals;
            match goals.binary_search_by_key(&solver, |goal| goal.solver) {
                Ok(at) => {
                    let goal = &mut goals[at];
                    goal.target = target;
                    if goal.weight.to != 1.0 || fade_s == 0.0 {
                        let fade_s = fade_s.into();
                        goal.weight = goal.weight.turned(local_s, 1.0, fade_s, Ease::Smooth);
                    }
                }
                Err(at) => goals.insert(
                    at,
                    Goal {
                        solver,
                        target,
                        weight: Ramp::new(0.0, 1.0, local_s, fade_s.into(), Ease::Smooth),
                        report: None,
                    },
                ),
            }
        }
        self.changed(id.index);
        Ok(())
    }

    /// Removes an actor's target for a solver, over `fade_s` seconds.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::Argument`] for a fade that is negative or longer than an hour.
    pub fn clear_target(&mut self, id: ActorId, solver: Id<IkSolver>, fade_s: f32) -> Result<()> {
        check_fade("fade_s", fade_s)?;
        self.actors.check(id)?;
        self.touch(id.index);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            let local_s = actor.clock.local_s(self.now_s);
            if fade_s == 0.0 {
                actor.goals.retain(|goal| goal.solver != solver);
            }
            let goals = actor.goals.iter_mut();
            for goal in goals.filter(|goal| goal.solver == solver) {
                goal.weight = goal
                    .weight
                    .turned(local_s, 0.0, fade_s.into(), Ease::Smooth);
            }
        }
        self.changed(id.index);
        Ok(())
    }

    /// The result of a solver when the actor's pose was last evaluated.
    ///
    /// `None` if the actor has no target for it, or its pose has not been evaluated since.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    pub fn target_report(&self, id: ActorId, solver: Id<IkSolver>) -> Result<Option<IkReport>> {
        let goals = &self.actors.get(id)?.goals;
        let goal = goals.iter().find(|goal| goal.solver == solver);
        Ok(goal.and_then(|goal| goal.report))
    }

    /// The target that an actor has for a solver.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    pub fn target(&self, id: ActorId, solver: Id<IkSolver>) -> Result<Option<IkTarget>> {
        let goals = &self.actors.get(id)?.goals;
        let goal = goals.iter().find(|goal| goal.solver == solver);
        Ok(goal.map(|goal| goal.target))
    }

    fn solver(&self, id: Id<IkSolver>) -> Result<&IkSolver> {
        let solver = self.solvers.get(usize::from(id.0));
        solver.ok_or(Error::NotFound {
            what: "IK solver",
            index: id.0.into(),
            count: self.solvers.len() as u64,
        })
    }
}
