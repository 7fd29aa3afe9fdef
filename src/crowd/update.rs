//! Moves the game of a crowd to a time, and its instances by their root motion; what happened until
//! then.

use crate::animator::{AnimationEvent, Animator, check_time};
use crate::crowd::{CharacterId, Crowd, InstanceId};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
#[cfg(doc)]
use crate::state_machine::StateMachine;
use std::time::Instant;

impl Crowd {
    /// Moves the game to a time: what instances play, their states, events and root motion.
    ///
    /// It needs neither the GPU nor a frame, so a game calls it as often as it likes: once a frame,
    /// or in steps of its own, with any number of frames between two of them. Frames change nothing
    /// of the game, so replays, servers and rollback run the same updates with or without them. The
    /// time is in seconds from an origin of the caller's choice.
    ///
    /// It visits only instances to which something happens, and those that root motion moves. What
    /// the game plays or changes afterwards starts at this time.
    ///
    /// If the time goes back, nothing new happens: see [`Animator::update`].
    ///
    /// ```no_run
    /// use throng::{Crowd, Result};
    ///
    /// const STEP_S: f64 = 1.0 / 30.0;
    ///
    /// /// Runs the steps that are due, and returns the time of the picture.
    /// fn run(crowd: &mut Crowd, clock_s: f64) -> Result<f64> {
    ///     while crowd.time_s() + STEP_S <= clock_s {
    ///         crowd.update(crowd.time_s() + STEP_S)?;
    ///         // The rules of the game: read events, move, play, spawn, despawn.
    ///     }
    ///     Ok(clock_s.max(crowd.time_s()))
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] for a time that is not finite or is more than
    /// [`StateMachine::MAX_TIME_S`] from 0. Nothing changes then.
    #[doc(alias("tick", "step", "advance"))]
    pub fn update(&mut self, time_s: f64) -> Result<()> {
        let started = Instant::now();
        check_time(time_s)?;
        (self.time_s, self.shown_s) = (time_s, time_s);
        self.scene.end_picture();
        self.settle_picture();
        for character in 0..self.animators.len() as u32 {
            let Some(animator) = self.animators.get_mut(character) else {
                continue;
            };
            animator.move_to(time_s);
            if animator.has_rooted() {
                self.apply_root_motion(CharacterId(character))?;
            }
        }
        self.swing_all()?;
        self.frame.update_ms += started.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// The time of the last [`update`](Self::update), in seconds. It is 0 before the first one.
    #[must_use]
    pub fn time_s(&self) -> f64 {
        self.time_s
    }

    /// Takes the spring bones that swing with updates to the time of the game.
    fn swing_all(&mut self) -> Result<()> {
        let swinging = |animator: &Animator| animator.has_swinging();
        if !self
            .animators
            .iter()
            .any(|(_, animator)| swinging(animator))
        {
            return Ok(());
        }
        for character in 0..self.animators.len() as u32 {
            if !self.animators.get(character).is_some_and(swinging) {
                continue;
            }
            for member in 0..self.scene.characters[character].members.len() {
                let index = self.scene.characters[character].members[member];
                if self.scene.attachments.of(index).is_some() {
                    let id = self.scene.instances.any_id(index);
                    let world = self.instance(id)?.transform();
                    let jumps = self.scene.attachments.take_game_jump(index);
                    let actor = self.scene.instances[index].actor;
                    self.animators[character].put(actor, &world, jumps);
                }
            }
            self.animators[character].swing_all();
        }
        Ok(())
    }

    /// Moves the instances of a character that follow their root motion.
    fn apply_root_motion(&mut self, character: CharacterId) -> Result<()> {
        let animator = self.animators.of_mut(character)?;
        let scene = &mut self.scene;
        for at in 0..animator.visited().len() {
            let visited = animator.visited().get(at).copied();
            let id = visited.and_then(|actor| scene.instance_of(character.0, actor));
            let Some(id) = id else { continue };
            let state = &scene.instances[id.index];
            if state.character != character.0 || Some(state.actor.index) != visited {
                // The actor of an instance that was despawned.
                continue;
            }
            // The transform of an attached instance follows from its parent's.
            if scene.attachments.of(id.index).is_some() {
                continue;
            }
            let actor = scene.instances[id.index].actor;
            if let Some(world) = animator.root_moved_to(actor) {
                scene.put(animator, id, &world, false);
            }
        }
        Ok(())
    }

    /// The events of the last [`update`](Self::update).
    ///
    /// They are grouped by character. Each instance's events are in order of time. Events of
    /// instances that have been despawned since are left out.
    pub fn events(&self) -> impl Iterator<Item = AnimationEvent<InstanceId>> + '_ {
        let scene = &self.scene;
        self.animators
            .iter()
            .flat_map(move |(character, animator)| {
                animator.events().iter().filter_map(move |event| {
                    let instance = scene.instance_of(character, event.id.index)?;
                    let state = &scene.instances[instance.index];
                    let same = state.character == character && state.actor == event.id;
                    same.then(|| event.of_instance(instance, character))
                })
            })
    }

    /// The name that belongs to an event, as [`Animator::event_name`] says.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character has been removed.
    pub fn event_name(&self, event: &AnimationEvent<InstanceId>) -> Result<&str> {
        let animator = self.animator(CharacterId(event.character))?;
        Ok(animator.event_name(event))
    }
}
