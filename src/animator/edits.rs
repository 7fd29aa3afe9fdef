//! Which actors have changed since a snapshot, so that a rollback restores these alone.

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

/// The eras in which an actor was last moved or changed, and whether the list of changed actors has
/// it.
///
/// They are apart from the rest of its state, so that a rollback reads little memory of those that
/// are as they were.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Eras {
    /// The last time that something was changed which a rollback of movements and events alone does
    /// not undo.
    pub(super) changed: u32,
    /// The last time that something was changed which it undoes, and in the lowest bits, whether it
    /// is listed and whether its world transform was ever set. So the memory of an actor is 8 bytes
    /// less.
    moved: u32,
}

impl Eras {
    /// The eras of an actor that no snapshot of its animator has.
    pub(super) const NEW: Self = Self {
        changed: u32::MAX,
        moved: 0,
    };

    const LISTED: u32 = 1;
    const PLACED: u32 = 2;
    /// The number of bits below the era.
    const BITS: u32 = 2;

    pub(super) fn moved(self) -> u32 {
        self.moved >> Self::BITS
    }

    pub(super) fn set_moved(&mut self, era: u32) {
        self.moved = era << Self::BITS | self.moved & (Self::LISTED | Self::PLACED);
    }

    /// Sets whether it is listed. Returns whether it was.
    pub(super) fn set_listed(&mut self, listed: bool) -> bool {
        let was = self.moved & Self::LISTED != 0;
        self.moved = self.moved & !Self::LISTED | u32::from(listed);
        was
    }

    /// False if its world transform has never been set, so that all snapshots have the same.
    pub(super) fn is_placed(self) -> bool {
        self.moved & Self::PLACED != 0
    }

    #[cfg(feature = "vulkan")]
    pub(super) fn set_placed(&mut self) {
        self.moved |= Self::PLACED;
    }
}
