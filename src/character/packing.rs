//! The form in which a character keeps its clips.

use crate::clip::ClipOptions;

/// The forms in which a character keeps its clips, also those that are added later.
///
/// It keeps at least one of the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Packing {
    /// True if it keeps the file's own curves.
    pub(crate) curves: bool,
    /// The options for packed clips. `None`: it has only curves.
    pub(crate) options: Option<ClipOptions>,
}

impl Packing {
    /// Keeps no clips. A character never has it.
    pub(crate) const NEITHER: Self = Self {
        curves: false,
        options: None,
    };
}

impl Default for Packing {
    fn default() -> Self {
        Self {
            curves: false,
            options: Some(ClipOptions::default()),
        }
    }
}
