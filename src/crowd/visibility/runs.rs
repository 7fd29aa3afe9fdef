//! Runs: contiguous instances of the visible list that are drawn alike.

/// Contiguous instances of one character in the visible list that are drawn alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Run {
    /// The index of its view.
    pub(crate) view: u32,
    pub(crate) character: u32,
    /// Index of its first instance in the visible list.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// True if their transforms are flipped.
    pub(crate) flipped: bool,
    /// Their level of detail.
    pub(crate) level: u8,
    pub(crate) hidden: u128,
}

impl Run {
    /// Returns true if the primitive of this bit is hidden.
    pub(crate) fn hides(&self, bit: u128) -> bool {
        self.hidden & bit != 0
    }
}

/// The runs of one view and character. `runs` must be sorted by both.
pub(crate) fn runs_of(runs: &[Run], view: u32, character: u32) -> &[Run] {
    let key = (view, character);
    let start = runs.partition_point(|run| (run.view, run.character) < key);
    let end = runs.partition_point(|run| (run.view, run.character) <= key);
    runs.get(start..end).unwrap_or_default()
}

/// Instances of one draw, as a range of the visible list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawInstances {
    /// First instance of the draw.
    pub(crate) first: u32,
    /// The number of instances.
    pub(crate) count: u32,
    /// True if their transforms are flipped.
    pub(crate) flipped: bool,
    /// The level of detail of the first.
    pub(crate) level: u8,
}

/// The instances of contiguous runs that show the primitive of this bit. Neighbouring runs are
/// joined.
pub(crate) fn shown(runs: &[Run], bit: u128) -> impl Iterator<Item = DrawInstances> {
    let key = move |run: &Run| (run.flipped, run.hides(bit));
    let alike = runs.chunk_by(move |a, b| key(a) == key(b));
    alike.filter_map(move |runs| {
        let first = runs.first().filter(|run| !run.hides(bit))?;
        Some(DrawInstances {
            first: first.first,
            count: runs.iter().map(|run| run.count).sum(),
            flipped: first.flipped,
            level: first.level,
        })
    })
}
