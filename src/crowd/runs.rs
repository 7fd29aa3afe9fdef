//! Runs: contiguous instances of the visible list that are drawn alike.

/// Contiguous instances of one character in the visible list that are drawn alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// The index of its visible set or, for blended instances, of its view.
    pub(super) of: u32,
    pub(super) character: u32,
    /// Index of its first instance in the visible list.
    pub(super) first: u32,
    pub(super) count: u32,
    /// True if their transforms are flipped.
    pub(super) flipped: bool,
    pub(super) hidden: u128,
}

impl Run {
    /// Returns true if the primitive of this bit is hidden.
    pub(super) fn hides(&self, bit: u128) -> bool {
        self.hidden & bit != 0
    }
}

/// The runs of one set (or view) and character. `runs` must be sorted by both.
pub(super) fn runs_of(runs: &[Run], of: u32, character: u32) -> &[Run] {
    let key = (of, character);
    let start = runs.partition_point(|run| (run.of, run.character) < key);
    let end = runs.partition_point(|run| (run.of, run.character) <= key);
    runs.get(start..end).unwrap_or_default()
}

/// Instances of one draw, as a range of the visible list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DrawInstances {
    /// First instance of the draw.
    pub(super) first: u32,
    /// The number of instances.
    pub(super) count: u32,
    /// True if their transforms are flipped.
    pub(super) flipped: bool,
}

/// The instances of contiguous runs that show the primitive of this bit. Neighbouring runs are
/// joined.
pub(super) fn shown(runs: &[Run], bit: u128) -> impl Iterator<Item = DrawInstances> {
    let key = move |run: &Run| (run.flipped, run.hides(bit));
    let alike = runs.chunk_by(move |a, b| key(a) == key(b));
    alike.filter_map(move |runs| {
        let first = runs.first().filter(|run| !run.hides(bit))?;
        Some(DrawInstances {
            first: first.first,
            count: runs.iter().map(|run| run.count).sum(),
            flipped: first.flipped,
        })
    })
}
