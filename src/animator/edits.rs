//! Which actors have changed since a snapshot, so that a rollback restores these alone.

use super::actors::Eras;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The last era.
const LAST: u32 = u32::MAX >> Eras::BITS;

/// The number of the next animator.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Counts the snapshots of an animator.
#[derive(Debug)]
pub(super) struct Edits {
    /// The number of the animator.
    animator: u64,
    /// Increases with each snapshot. Actors that change have the number of that time.
    era: AtomicU32,
}

impl Default for Edits {
    fn default() -> Self {
        Self {
            animator: NEXT.fetch_add(1, Ordering::Relaxed),
            era: AtomicU32::new(0),
        }
    }
}

/// A clone is another animator, which changes on its own.
impl Clone for Edits {
    fn clone(&self) -> Self {
        let era = AtomicU32::new(self.era());
        Self {
            era,
            ..Self::default()
        }
    }
}

/// The moment of a snapshot in the life of its animator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saved {
    animator: u64,
    era: u32,
}

impl Edits {
    /// The number that actors get which change now.
    pub(super) fn era(&self) -> u32 {
        self.era.load(Ordering::Relaxed)
    }

    /// Notes that a snapshot is taken. `None` once there were too many to count.
    pub(super) fn save(&self) -> Option<Saved> {
        let next = |era: u32| (era < LAST).then(|| era + 1);
        let (order, animator) = (Ordering::Relaxed, self.animator);
        let era = self.era.fetch_update(order, order, next).ok()?;
        Some(Saved { animator, era })
    }

    /// The last number of actors that are as in the snapshot, if it is of this animator.
    pub(super) fn since(&self, saved: Option<Saved>) -> Option<u32> {
        let saved = saved.filter(|saved| saved.animator == self.animator)?;
        Some(saved.era)
    }
}
