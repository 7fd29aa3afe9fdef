//! The list of the actors that changed, whose bounding spheres are computed again.

use super::{ActorId, Animator};
#[cfg(feature = "vulkan")]
use crate::mesh::Sphere;
use crate::palette::SkinningMethod;

impl Animator {
    /// Lists an actor as changed.
    pub(super) fn list(&mut self, index: u32) {
        if !self.actors.eras[index as usize].set_listed(true) {
            self.bounds.changed.push(index);
        }
    }

    /// Lists an actor as changed, and computes its sphere.
    pub(super) fn note(&mut self, index: u32) {
        self.list(index);
        let Self {
            library,
            solvers,
            actors,
            pools,
            bounds,
            now_s,
            ..
        } = self;
        let actor = &actors[index];
        let local_s = actor.clock.local_s(*now_s);
        let records = actor.layers.records(pools);
        let sphere = bounds.sphere((library, solvers), records, actor, local_s);
        actors.spheres[index as usize] = sphere;
    }

    /// Sets the skinning method that bounding spheres are for.
    ///
    /// It is [`SkinningMethod::Linear`] at first. In a crowd, it is that of the character. Dual
    /// quaternions can move vertices further than the other methods: see
    /// [`Actor::bounding_sphere`](super::Actor::bounding_sphere).
    pub fn set_skinning_method(&mut self, method: SkinningMethod) {
        if self.bounds.method == method {
            return;
        }
        self.bounds.method = method;
        self.bounds.forget_character();
        for index in 0..self.actors.list.len() as u32 {
            if self.actors.id(index).is_some() {
                self.note(index);
            }
        }
    }

    /// The bounding sphere of an actor that is alive.
    #[cfg(feature = "vulkan")]
    pub(crate) fn sphere(&self, actor: u32) -> Sphere {
        self.actors.spheres[actor as usize]
    }

    /// Takes the list of the actors that changed since the last call, each once, in no order.
    ///
    /// An actor is in it if anything but the passing of time may have changed its pose, its play
    /// records or its [bounding sphere](super::Actor::bounding_sphere). So it is in it after it was
    /// added, told anything, or restored to something else, and after an update in which its state
    /// machine acted, its blend space moved, a fade ended, or an inertialised transition ended.
    /// Flags of records that note which events were delivered do not count. An actor that was
    /// removed is left out.
    ///
    /// Use it to keep data on a GPU up to date, at a cost that does not depend on the number of
    /// actors.
    ///
    /// ```
    /// use throng::animator::{Animator, Play};
    ///
    /// let mut animator = Animator::new(&throng::builtin::mannequin()?.character)?;
    /// let guards = [animator.add("Walk")?, animator.add("Idle")?];
    /// assert_eq!(animator.take_changed().count(), 2);
    /// animator.update(0.5)?;
    /// assert_eq!(animator.take_changed().count(), 0);
    /// animator.actor_mut(guards[1])?.play(Play::new("Walk").fade_s(0.2))?;
    /// assert!(animator.take_changed().eq([guards[1]]));
    /// // The fade ends.
    /// animator.update(1.0)?;
    /// assert!(animator.take_changed().eq([guards[1]]));
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[doc(alias = "dirty")]
    pub fn take_changed(&mut self) -> impl Iterator<Item = ActorId> + '_ {
        let Self { actors, bounds, .. } = self;
        for index in &bounds.changed {
            actors.eras[*index as usize].set_listed(false);
        }
        let changed = bounds.changed.drain(..);
        changed.filter_map(|index| actors.id(index))
    }
}
