//! The spring bones of an actor.

use crate::clone::clone_fields;
use crate::error::{Error, Result};
use crate::skeleton::{Shift, Transform};
use crate::spring::{SpringRig, SpringState};
use glam::Affine3A;

/// The clock that the spring bones of an actor swing by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SpringMode {
    /// They are stiff, and cost nothing.
    Off,
    /// They swing from picture to picture, where a pose is evaluated.
    ///
    /// They are no part of the game: snapshots do not have them, and the queries of an actor at a
    /// time, such as [`Actor::joint_model`](crate::animator::Actor::joint_model), show them stiff.
    #[default]
    Picture,
    /// They swing with each update, and are saved. Pictures show them as they swing on from there.
    ///
    /// Each update evaluates the pose of the actor on the CPU.
    Game,
}

/// The evaluations that spring bones swing with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swinging {
    /// Evaluations by updates.
    Game,
    /// Evaluations for pictures.
    Picture,
}

/// The spring bones of an actor: on, or off and without state.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Springs(Option<Box<States>>);

#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct States {
    /// The state after the last update, if they swing with updates.
    game: Option<Box<SpringState>>,
    /// The state in the last picture. `None` while it is evaluated, and in a snapshot.
    #[cfg_attr(feature = "serde", serde(skip))]
    shown: Option<Box<SpringState>>,
}

clone_fields! {
    Springs { 0 }
    States { game, shown }
}

impl States {
    /// Brings the picture's state to that of the game, if they swing with updates.
    fn follow_game(&mut self) {
        if let (Some(game), Some(shown)) = (&self.game, &mut self.shown) {
            shown.continue_from(game);
        }
    }
}

impl Springs {
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn mode(&self) -> SpringMode {
        match &self.0 {
            None => SpringMode::Off,
            Some(states) if states.game.is_some() => SpringMode::Game,
            Some(_) => SpringMode::Picture,
        }
    }

    /// Sets the clock that they swing by. What starts to swing starts in the pose of the next
    /// evaluation.
    pub(crate) fn set_mode(&mut self, mode: SpringMode, rig: &SpringRig, world: &Affine3A) {
        if mode == SpringMode::Off || rig.is_empty() {
            self.0 = None;
            return;
        }
        let new = || {
            let mut state = SpringState::new(rig);
            state.set_world(world);
            Box::new(state)
        };
        let states = self.0.get_or_insert_default();
        match mode {
            SpringMode::Game => drop(states.game.get_or_insert_with(new)),
            SpringMode::Picture | SpringMode::Off => states.game = None,
        }
        states.shown.get_or_insert_with(new);
    }

    /// Takes over what a snapshot has. The picture's state stays.
    pub(crate) fn take_over(&mut self, from: &Self) {
        match (&mut self.0, &from.0) {
            (Some(own), Some(from)) => own.game.clone_from(&from.game),
            (own, from) => {
                *own = from.as_ref().map(|from| {
                    let game = from.game.clone();
                    Box::new(States { game, shown: None })
                });
            }
        }
    }

    /// Completes what a snapshot had.
    pub(crate) fn complete(&mut self, rig: &SpringRig, world: &Affine3A) {
        self.set_mode(self.mode(), rig, world);
        self.set_shown_world(rig, world, false);
    }

    /// Starts anew in the pose of the next evaluation.
    fn states(&mut self) -> impl Iterator<Item = &mut SpringState> {
        let states = self.0.as_deref_mut().into_iter();
        let states = states.flat_map(|states| [&mut states.game, &mut states.shown]);
        states.flatten().map(|state| &mut **state)
    }

    /// Moves through the world. A `jump` moves the bones along, without a swing.
    #[inline]
    pub(crate) fn set_world(&mut self, rig: &SpringRig, world: &Affine3A, jump: bool) {
        if self.0.is_some() {
            self.states()
                .for_each(|state| move_to(state, rig, world, jump));
        }
    }

    /// Takes both states to another origin of world space.
    #[cfg(feature = "vulkan")]
    pub(crate) fn shift(&mut self, rig: &SpringRig, shift: &Shift) {
        for state in self.states() {
            state.shift(rig, shift);
        }
    }

    /// The same as [`Self::shift`], for the game alone.
    pub(crate) fn shift_game(&mut self, rig: &SpringRig, shift: &Shift) {
        if let Some(game) = self.0.as_mut().and_then(|states| states.game.as_mut()) {
            game.shift(rig, shift);
        }
    }

    /// The same as [`Self::set_world`], for pictures alone.
    pub(crate) fn set_shown_world(&mut self, rig: &SpringRig, world: &Affine3A, jump: bool) {
        if let Some(shown) = self.0.as_mut().and_then(|states| states.shown.as_mut()) {
            move_to(shown, rig, world, jump);
        }
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self, rig: &SpringRig) -> Result<()> {
        let Some(states) = &self.0 else {
            return Ok(());
        };
        if rig.is_empty() {
            return Err(Error::invalid("spring bones", "the character has none"));
        }
        states.game.as_ref().map_or(Ok(()), |game| game.check(rig))
    }

    /// Swings a pose as a copy would, and leaves the state alone.
    pub(crate) fn peek(
        &self,
        swinging: Swinging,
        rig: &SpringRig,
        local_s: f64,
        pose: (&mut [Transform], &mut [Affine3A]),
    ) {
        let Some(states) = &self.0 else { return };
        let mut copy = match swinging {
            Swinging::Game => States {
                game: None,
                shown: states.game.clone(),
            },
            Swinging::Picture => (**states).clone(),
        };
        copy.follow_game();
        if let Some(state) = &mut copy.shown {
            state.advance(rig, local_s, pose);
        }
    }

    /// Swings a pose of the picture, whose state is not taken out.
    pub(crate) fn advance(
        &mut self,
        swinging: Swinging,
        rig: &SpringRig,
        local_s: f64,
        pose: (&mut [Transform], &mut [Affine3A]),
    ) {
        if let Some(mut state) = self.take(swinging) {
            state.advance(rig, local_s, pose);
            self.put_back(swinging, state);
        }
    }

    /// Takes the state out that swings with these evaluations, so that a thread can advance it.
    /// [`Self::put_back`] ends this.
    pub(crate) fn take(&mut self, swinging: Swinging) -> Option<Box<SpringState>> {
        let states = self.0.as_mut()?;
        match swinging {
            Swinging::Game => states.game.take(),
            Swinging::Picture => {
                states.follow_game();
                states.shown.take()
            }
        }
    }

    pub(crate) fn put_back(&mut self, swinging: Swinging, state: Box<SpringState>) {
        if let Some(states) = &mut self.0 {
            match swinging {
                Swinging::Game => states.game = Some(state),
                Swinging::Picture => states.shown = Some(state),
            }
        }
    }
}

fn move_to(state: &mut SpringState, rig: &SpringRig, world: &Affine3A, jump: bool) {
    match jump {
        true => state.teleport(rig, world),
        false => state.set_world(world),
    }
}
