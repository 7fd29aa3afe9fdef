//! The inverse kinematics targets of an actor.

use crate::animator::solvers::{IkSolver, IkTarget, Solvers};
use crate::clone::clone_fields;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::ik::IkReport;
use crate::motion::{Ease, Ramp};
use crate::skeleton::{Skeleton, Transform};
use glam::Affine3A;

/// A target that an actor has for a solver, with the state of its fade.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Goal {
    solver: Id<IkSolver>,
    target: IkTarget,
    /// Multiplies the target's weight.
    weight: Ramp,
    /// The report of the last evaluation.
    #[cfg_attr(feature = "serde", serde(skip))]
    report: Option<IkReport>,
}

impl Goal {
    pub(crate) fn target(&self) -> IkTarget {
        self.target
    }

    pub(crate) fn report(&self) -> Option<IkReport> {
        self.report
    }

    /// Returns true if it has faded out.
    fn is_over(&self, local_s: f64) -> bool {
        self.weight.to == 0.0 && self.weight.has_ended(local_s)
    }

    /// The time from which its weight no longer changes.
    fn still_from_s(&self) -> f64 {
        if self.weight.from == self.weight.to {
            f64::NEG_INFINITY
        } else {
            self.weight.start_s + self.weight.duration_s
        }
    }

    /// Applies the goal to a pose, which is given as local and model transforms.
    fn solve(
        &mut self,
        (solvers, skeleton): (&Solvers, &Skeleton),
        local_s: f64,
        pose: (&mut [Transform], &mut [Affine3A]),
    ) {
        let weight = self.weight.at(local_s);
        self.report = if weight > 0.0 {
            solvers.solve(self.solver, (&self.target, weight), skeleton, pose)
        } else {
            None
        };
    }
}

/// The targets of an actor, ascending by solver.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Goals(Vec<Goal>);

clone_fields! {
    Goals { 0 }
}

impl Goals {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn solvers(&self) -> impl Iterator<Item = Id<IkSolver>> + '_ {
        self.0.iter().map(|goal| goal.solver)
    }

    pub(crate) fn get(&self, solver: Id<IkSolver>) -> Option<&Goal> {
        self.0.iter().find(|goal| goal.solver == solver)
    }

    /// Sets the target for a solver, which has been checked. Its weight rises to 1.
    pub(crate) fn set(
        &mut self,
        solver: Id<IkSolver>,
        target: IkTarget,
        fade_s: f32,
        local_s: f64,
    ) {
        match self.0.binary_search_by_key(&solver, |goal| goal.solver) {
            Ok(at) => {
                let goal = &mut self.0[at];
                goal.target = target;
                if goal.weight.to != 1.0 || fade_s == 0.0 {
                    let fade_s = fade_s.into();
                    goal.weight = goal.weight.turned(local_s, 1.0, fade_s, Ease::Smooth);
                }
            }
            Err(at) => self.0.insert(
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

    /// Fades out the target for a solver.
    pub(crate) fn clear(&mut self, solver: Id<IkSolver>, fade_s: f32, local_s: f64) {
        if fade_s == 0.0 {
            self.0.retain(|goal| goal.solver != solver);
        }
        if let Some(goal) = self.0.iter_mut().find(|goal| goal.solver == solver) {
            let fade_s = fade_s.into();
            goal.weight = goal.weight.turned(local_s, 0.0, fade_s, Ease::Smooth);
        }
    }

    /// Removes the targets for solvers that do not fit the character any more.
    pub(crate) fn adopt(&mut self, solvers: &Solvers, lost: &mut dyn FnMut(&'static str, &str)) {
        self.0.retain_mut(|goal| {
            goal.report = None;
            if solvers.get(goal.solver).is_err() {
                lost("IK solver", solvers.kind(goal.solver));
                return false;
            }
            true
        });
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self, solvers: &Solvers) -> Result<()> {
        for goal in &self.0 {
            solvers.check(goal.solver, &goal.target)?;
            goal.weight.check("weight of an IK target", 1.0)?;
        }
        let mut pairs = self.0.iter().zip(self.0.iter().skip(1));
        if pairs.any(|(before, after)| before.solver >= after.solver) {
            return Err(Error::invalid("IK targets", "must ascend by solver"));
        }
        Ok(())
    }

    /// Removes what has faded out. Returns true if there was something.
    pub(crate) fn advance(&mut self, local_s: f64) -> bool {
        let before = self.0.len();
        self.0.retain(|goal| !goal.is_over(local_s));
        self.0.len() < before
    }

    /// The time from which no weight changes, and the first time at which a goal can be removed.
    pub(crate) fn times_s(&self) -> [f64; 2] {
        let none = [f64::NEG_INFINITY, f64::INFINITY];
        self.0.iter().fold(none, |[still_s, wakes_s], goal| {
            let end_s = goal.still_from_s();
            let ends = goal.weight.to == 0.0;
            let wakes_s = if ends { wakes_s.min(end_s) } else { wakes_s };
            [still_s.max(end_s), wakes_s]
        })
    }

    /// Applies all goals to a pose, in the order of the solvers.
    pub(crate) fn solve(
        &mut self,
        solvers: (&Solvers, &Skeleton),
        local_s: f64,
        (local, model): (&mut [Transform], &mut [Affine3A]),
    ) {
        for goal in &mut self.0 {
            goal.solve(solvers, local_s, (local, model));
        }
    }
}
