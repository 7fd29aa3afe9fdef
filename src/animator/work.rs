//! Buffers for the evaluation of poses.

use super::state::MotionSamples;
use crate::animate::Starts;
use crate::skeleton::Transform;
use crate::spring::SpringState;
use glam::Affine3A;

/// Buffers kept from call to call, so that evaluation does not allocate.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Actors, as indices.
    pub(super) list: Vec<u32>,
    pub(super) plain: Vec<u32>,
    pub(super) plain_starts: Addresses,
    pub(super) special: Vec<u32>,
    pub(super) special_starts: Addresses,
    pub(super) local: Vec<Transform>,
    pub(super) model: Vec<Affine3A>,
}

/// Buffers of an animator, and how large they must be.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Taken out while poses are evaluated. The other fields are needed meanwhile.
    pub(super) buffers: Buffers,
    /// The spring bones of the actors whose poses are evaluated.
    pub(super) swings: Vec<Swing>,
    pub(super) samples: MotionSamples,
    /// The rows of a snapshot that a restore reads.
    pub(super) restored: Vec<Place>,
    /// The actors that a restore moves back.
    pub(super) rewound: Vec<u32>,
    /// The number of actors whose pose may need more than their records.
    pub(super) specials: usize,
}

/// The state of an actor's spring bones, if it has some, and the actor's time.
pub(super) type Swing = (Option<Box<SpringState>>, f64);

/// A row of a snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) actor: u32,
    /// The index of its first record.
    pub(super) records: u32,
    /// The index of its first blend space.
    pub(super) blends: u32,
}

/// Addresses that palettes are written to.
#[derive(Debug, Default)]
pub(super) struct Addresses(pub(super) Vec<*mut u8>);

// SAFETY: these are plain addresses. They are dereferenced only inside `Animator::write_palettes`,
// whose caller guarantees that they are valid for writing by any thread during that call.
unsafe impl Send for Addresses {}
// SAFETY: as for `Send`.
unsafe impl Sync for Addresses {}

/// Without content, but with as much memory as the original can need.
impl Clone for Work {
    fn clone(&self) -> Self {
        let mut work = Self {
            specials: self.specials,
            ..Self::default()
        };
        work.swings.reserve(self.swings.capacity());
        let buffers = &self.buffers;
        let joints = buffers.local.capacity() / self.specials.next_power_of_two();
        work.make_room(buffers.list.capacity(), joints);
        work
    }
}

impl Work {
    /// Frees the buffers whose sizes depend on the character.
    pub(super) fn forget_character(&mut self) {
        *self = Self {
            specials: self.specials,
            ..Self::default()
        };
    }

    /// Reserves memory for lists of actors, so that no frame allocates.
    ///
    /// Some of the `actors` need more than their records, with `joints` joints each.
    pub(super) fn make_room(&mut self, actors: usize, joints: usize) {
        let Buffers {
            list,
            plain,
            plain_starts,
            special,
            special_starts,
            local,
            model,
        } = &mut self.buffers;
        for list in [list, plain, special] {
            list.reserve(actors.saturating_sub(list.len()));
        }
        for starts in [&mut plain_starts.0, &mut special_starts.0] {
            starts.reserve(actors.saturating_sub(starts.len()));
        }
        // Powers of two, so that calls seldom allocate.
        let poses = match self.specials {
            0 => 0,
            special => special.next_power_of_two().saturating_mul(joints),
        };
        local.reserve(poses.saturating_sub(local.len()));
        model.reserve(poses.saturating_sub(model.len()));
    }
}

impl Buffers {
    /// Separates the actors whose pose needs more than their records.
    pub(super) fn split(
        &mut self,
        list: &[u32],
        starts: &Starts<'_>,
        special: impl Fn(&u32) -> bool,
    ) {
        let lists = [&mut self.plain, &mut self.special];
        lists.into_iter().for_each(Vec::clear);
        let addresses = [&mut self.plain_starts, &mut self.special_starts];
        addresses
            .into_iter()
            .for_each(|addresses| addresses.0.clear());
        for (number, index) in list.iter().enumerate() {
            let (list, addresses) = if special(index) {
                (&mut self.special, &mut self.special_starts)
            } else {
                (&mut self.plain, &mut self.plain_starts)
            };
            list.push(*index);
            addresses.0.push(starts.at(number));
        }
    }
}
