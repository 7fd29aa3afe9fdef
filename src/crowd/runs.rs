//! Instances that follow each other in the visible list and are drawn alike.

/// Instances of one character that follow each other in the visible list, and are drawn alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// The set or view that it belongs to.
    pub(super) of: u32,
    pub(super) character: u32,
    /// In the visible list.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Whether their transforms mirror.
    pub(super) mirrored: bool,
    pub(super) hidden: u128,
}

impl Run {
    /// Whether the primitive of this bit is hidden.
    pub(super) fn hides(&self, bit: u128) -> bool {
        self.hidden & bit != 0
    }
}

/// The runs of one set (or view) and character, in runs that are sorted by both.
pub(super) fn runs_of(runs: &[Run], of: u32, character: u32) -> &[Run] {
    let key = (of, character);
    let start = runs.partition_point(|run| (run.of, run.character) < key);
    let end = runs.partition_point(|run| (run.of, run.character) <= key);
    runs.get(start..end).unwrap_or_default()
}
