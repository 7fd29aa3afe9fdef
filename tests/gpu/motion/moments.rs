//! A crowd that goes back to a moment, and characters that are replaced.

use super::stage::{Actor, World, skinned_by};
use crate::reference::ribbon::built;
use crate::support::Setup;
use throng::import::RawCharacter;
use throng::{CrowdSnapshot, Error};

/// A crowd and the model of it at a moment.
pub(crate) struct Moment {
    crowd: CrowdSnapshot,
    actors: Vec<Actor>,
}

impl World {
    /// Keeps a snapshot.
    pub(crate) fn save(&mut self) {
        let crowd = self.crowd.snapshot();
        let actors = self.actors.clone();
        self.saved.push(Moment { crowd, actors });
    }

    /// Goes back to one of the snapshots. Returns the time from which the clock goes on, or `None`
    /// if the snapshot is of characters that were replaced.
    pub(crate) fn restore(&mut self, at: usize) -> Option<f64> {
        let moment = &self.saved[at];
        self.crowd.restore(&moment.crowd).ok()?;
        let before = std::mem::replace(&mut self.actors, moment.actors.clone());
        for actor in &mut self.actors {
            // What is alive in both stays. No motion connects others with what they were.
            let alive = |it: &&Actor| (it.id, it.character) == (actor.id, actor.character);
            self.keys += 1;
            (actor.key, actor.missed) = match before.iter().find(alive) {
                Some(same) => (same.key, same.missed),
                None => (self.keys, false),
            };
        }
        Some(self.crowd.time_s())
    }

    /// Removes a character that has no instances, and adds it again.
    pub(crate) fn renew(&mut self, setup: &mut Setup, character: usize) {
        let plays = |actor: &Actor| actor.character == character;
        if self.actors.iter().any(plays) {
            return;
        }
        let allocator = &mut setup.allocator();
        let (id, of, method) = &mut self.characters[character];
        self.crowd.remove_character(*id).unwrap();
        let desc = skinned_by(*method);
        let added = self.crowd.add_character(allocator, of, &desc);
        *id = added.unwrap();
        self.saved.retain(|moment| !moment.actors.iter().any(plays));
    }

    /// Replaces a character, if its instances fit then.
    pub(crate) fn replace(&mut self, setup: &mut Setup, character: usize, raw: RawCharacter) {
        let after = built(raw).character;
        let (id, of, _) = &mut self.characters[character];
        match self
            .crowd
            .replace_character(&mut setup.allocator(), *id, &after)
        {
            Err(Error::Capacity { .. }) => return,
            got => assert_eq!(got, Ok(Vec::new())),
        }
        *of = after;
        for actor in &mut self.actors {
            if actor.character == character {
                self.keys += 1;
                actor.key = self.keys;
            }
        }
    }
}
