//! Moves the animators of a crowd to a frame's time, and its instances by their root motion; what
//! happened until then.

use crate::animator::{AnimationEvent, EventName};
use crate::crowd::{CharacterId, Crowd, InstanceId};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use std::time::Instant;

impl Crowd {
    /// Moves the animators of all characters to the frame's time, and applies root motion.
    pub(crate) fn update_animators(&mut self, time_s: f64) -> Result<()> {
        let started = Instant::now();
        for character in 0..self.animators.len() as u32 {
            let Some(animator) = self.animators.get_mut(character) else {
                continue;
            };
            animator.update(time_s)?;
            if animator.has_rooted() {
                self.apply_root_motion(CharacterId(character))?;
            }
        }
        self.frame.counters.stats.update_ms = started.elapsed().as_secs_f64() * 1e3;
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

    /// The events of the frame begun last.
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

    /// The name of what happened in an event, by the event's kind.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character has been removed.
    pub fn event_name(&self, event: &AnimationEvent<InstanceId>) -> Result<EventName<'_>> {
        let animator = self.animator(CharacterId(event.character))?;
        Ok(animator.event_name(event))
    }
}
