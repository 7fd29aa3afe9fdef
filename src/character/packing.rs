//! Curves to packed clips, as the import asked for.

use crate::clip::ClipOptions;
use crate::import::ClipImport;

/// How clips become part of a character: as its import asked, also for those that join it later.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Packing {
    pub(crate) clips: ClipImport,
    pub(crate) options: ClipOptions,
}
