//! Curves to packed clips, as the import asked for.

use crate::clip::ClipOptions;

/// How clips become part of a character: as its import asked, also for those that join it later.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Packing {
    pub(crate) clips: ClipImport,
    pub(crate) options: ClipOptions,
}

/// In which form a character's clips are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ClipImport {
    /// Packed, ready to be played: [`Character::clips`](super::Character::clips).
    #[default]
    Packed,
    /// Packed, and as the file's own curves as well: [`Character::curves`](super::Character::curves). For retargeting, root
    /// motion that is extracted later, and comparisons.
    PackedWithCurves,
    /// As curves alone; nothing is packed, which takes most of the time of an import with many
    /// clips. For tools and listings. Such a character has no [`Character::clips`](super::Character::clips).
    Curves,
}
