//! Actors: the instances of a character that an animator owns.

use super::actor_id::ActorId;
use super::blend_pool::Blends;
use super::carry::Carry;
use super::clock::Clock;
use super::drive::Driver;
use super::goal::Goal;
use super::own_pose::OwnPose;
use super::pool::Block;
use super::root::Root;
use crate::error::{Error, Result};
use crate::spring::SpringState;
use glam::Affine3A;

#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) generation: u32,
    pub(crate) alive: bool,
    pub(crate) clock: Clock,
    pub(crate) block: Block,
    pub(crate) blends: Blends,
    /// The actor's time up to which events were delivered and root motion was applied.
    pub(crate) passed_s: f64,
    /// The actor's time from which its pose no longer changes. Infinite while it changes.
    pub(crate) still_from_s: f64,
    /// Counts changes of its pose other than those caused by time.
    pub(crate) version: u32,
    pub(crate) root: Option<Box<Root>>,
    pub(crate) driver: Option<Box<Driver>>,
    pub(crate) own_pose: Option<Box<OwnPose>>,
    /// True once it had inverse kinematics, its own pose or an inertialised transition.
    ///
    /// It may have them again.
    pub(crate) may_be_special: bool,
    /// The decaying offsets from the motion before a cut.
    pub(crate) carry: Option<Box<Carry>>,
    /// The targets of its inverse kinematics, ascending by solver.
    pub(crate) goals: Vec<Goal>,
    /// Morph weights that the caller set. NaN leaves a weight to the clips. Empty means none are
    /// set.
    pub(crate) weights: Vec<f32>,
    /// The weights of expressions. Empty if none was set.
    pub(crate) expressions: Vec<f32>,
    /// The state of its spring bones, if it has some.
    pub(crate) springs: Option<Box<SpringState>>,
    /// World space from character space, while its spring bones are off.
    pub(crate) world: Option<Box<Affine3A>>,
}

impl Actor {
    pub(crate) fn new(generation: u32, now_s: f64) -> Self {
        Self {
            generation,
            alive: true,
            clock: Clock::SAME,
            block: Block::default(),
            blends: Blends::NONE,
            passed_s: now_s,
            still_from_s: f64::INFINITY,
            version: 0,
            root: None,
            driver: None,
            own_pose: None,
            may_be_special: false,
            carry: None,
            goals: Vec::new(),
            weights: Vec::new(),
            expressions: Vec::new(),
            springs: None,
            world: None,
        }
    }

    /// The decaying offsets from the motion before a cut, if any remain at `local_s`.
    pub(crate) fn carry_at(&self, local_s: f64) -> Option<&Carry> {
        let carry = self.carry.as_deref();
        carry.filter(|carry| !carry.is_over(local_s))
    }

    /// Returns true if its pose needs more than its records.
    ///
    /// This is the case with inverse kinematics, spring bones, a model pose, or decaying offsets
    /// after a cut.
    pub(crate) fn is_special(&self, now_s: f64) -> bool {
        let own_pose = self.own_pose.as_ref();
        if self.carry_at(self.clock.local_s(now_s)).is_some() {
            return true;
        }
        let solved = !self.goals.is_empty() || self.springs.is_some();
        solved || own_pose.is_some_and(|own| !own.model.is_empty())
    }
}

/// The actors of an animator.
#[derive(Debug, Default)]
pub(crate) struct Actors {
    pub(crate) list: Vec<Actor>,
    free: Vec<u32>,
}

impl Actors {
    pub(crate) fn reserve(&mut self, count: usize) {
        self.list.reserve(count.saturating_sub(self.list.len()));
        self.free.reserve(count.saturating_sub(self.free.len()));
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len() - self.free.len()
    }

    pub(crate) fn add(&mut self, now_s: f64) -> ActorId {
        let index = self.free.pop().unwrap_or(self.list.len() as u32);
        match self.list.get_mut(index as usize) {
            Some(actor) => {
                let generation = actor.generation;
                *actor = Actor::new(generation, now_s);
                ActorId { index, generation }
            }
            None => {
                self.list.push(Actor::new(0, now_s));
                let generation = 0;
                ActorId { index, generation }
            }
        }
    }

    /// Removes a living actor.
    pub(crate) fn remove(&mut self, index: u32) {
        if let Some(actor) = self.list.get_mut(index as usize) {
            let generation = actor.generation.wrapping_add(1);
            *actor = Actor::new(generation, 0.0);
            actor.alive = false;
            self.free.push(index);
        }
    }

    /// Checks that the actor is alive.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`].
    pub(crate) fn check(&self, id: ActorId) -> Result<()> {
        self.get(id).map(|_| ())
    }

    pub(crate) fn get(&self, id: ActorId) -> Result<&Actor> {
        let actor = self.list.get(id.index as usize).ok_or(Error::NotFound {
            what: "actor",
            index: id.index.into(),
            count: self.list.len() as u64,
        })?;
        if actor.alive && actor.generation == id.generation {
            return Ok(actor);
        }
        Err(Error::Stale {
            what: "actor",
            index: id.index,
            generation: id.generation,
            alive: actor.generation,
        })
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = ActorId> + '_ {
        let actors = (0..).zip(&self.list).filter(|(_, actor)| actor.alive);
        actors.map(|(index, actor)| ActorId {
            index,
            generation: actor.generation,
        })
    }
}
