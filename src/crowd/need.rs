//! The capacity that some instances need.

use super::Capacity;

/// The total needs of some instances.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Need {
    pub(super) instances: u64,
    /// Rows of the palette ring.
    pub(super) rows: u64,
    pub(super) morph_weights: u64,
    /// Instances with blended materials.
    pub(super) blended: u64,
    pub(super) skinned_words: u64,
    pub(super) cpu_skinned_words: u64,
}

impl Need {
    /// Adds the needs of `count` instances that each need `one`.
    pub(super) fn add(&mut self, one: &Self, count: u32) {
        for (all, one) in [
            (&mut self.instances, one.instances),
            (&mut self.rows, one.rows),
            (&mut self.morph_weights, one.morph_weights),
            (&mut self.blended, one.blended),
            (&mut self.skinned_words, one.skinned_words),
            (&mut self.cpu_skinned_words, one.cpu_skinned_words),
        ] {
            *all = all.saturating_add(one.saturating_mul(count.into()));
        }
    }

    /// The capacity for it, in whole palette entries.
    ///
    /// Values that exceed 32 bits are clamped. The call that uses them rejects what the device
    /// cannot hold.
    pub(super) fn capacity(&self, views: u32) -> Capacity {
        let cut = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Capacity {
            instances: cut(self.instances),
            palette_entries: cut(self.rows.div_ceil(3)),
            views,
            morph_weights: cut(self.morph_weights),
            blended: cut(self.blended.saturating_mul(views.into())),
            skinned_words: cut(self.skinned_words),
            cpu_skinned_words: cut(self.cpu_skinned_words),
            histories: 0,
        }
    }
}
