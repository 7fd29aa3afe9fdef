//! The form in which a character keeps its clips.

use crate::clip::ClipOptions;

/// The options for packing a character's clips: those of its import, also for clips added later.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Packing {
    pub(crate) clips: ClipImport,
    pub(crate) options: ClipOptions,
}

/// The form in which a character's clips are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ClipImport {
    /// Packed, ready to be played: [`Character::clips`](super::Character::clips).
    #[default]
    Packed,
    /// Packed, and also as the file's own curves: [`Character::curves`](super::Character::curves).
    ///
    /// Use this for retargeting, for root motion that is extracted later, and for comparisons.
    PackedWithCurves,
    /// Only as curves; nothing is packed.
    ///
    /// Use this for tools and listings. Packing takes most of the time of an import with many
    /// clips. Such a character has no [`Character::clips`](super::Character::clips).
    Curves,
}
