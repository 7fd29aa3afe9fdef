//! Runs: contiguous instances of the visible list that are drawn alike.

/// Contiguous instances of one character in the visible list that are drawn alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::crowd) struct Run {
    /// The index of its view.
    pub(in crate::crowd) view: u32,
    pub(in crate::crowd) character: u32,
    /// Index of its first instance in the visible list.
    pub(in crate::crowd) first: u32,
    pub(in crate::crowd) count: u32,
    /// True if their transforms are flipped.
    pub(in crate::crowd) flipped: bool,
    /// Their level of detail.
    pub(in crate::crowd) level: u8,
    pub(in crate::crowd) hidden: u128,
}

impl Run {
    /// Returns true if the primitive of this bit is hidden.
    pub(in crate::crowd) fn hides(&self, bit: u128) -> bool {
        self.hidden & bit != 0
    }
}

/// The runs of one view and character. `runs` must be sorted by both.
pub(in crate::crowd) fn runs_of(runs: &[Run], view: u32, character: u32) -> &[Run] {
    let key = (view, character);
    let start = runs.partition_point(|run| (run.view, run.character) < key);
    let end = runs.partition_point(|run| (run.view, run.character) <= key);
    runs.get(start..end).unwrap_or_default()
}

/// Instances of one draw, as a range of the visible list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::crowd) struct DrawInstances {
    /// First instance of the draw.
    pub(in crate::crowd) first: u32,
    /// The number of instances.
    pub(in crate::crowd) count: u32,
    /// True if their transforms are flipped.
    pub(in crate::crowd) flipped: bool,
    /// The level of detail of the first.
    pub(in crate::crowd) level: u8,
}

/// The instances of contiguous runs that show the primitive of this bit. Neighbouring runs are
/// joined.
pub(in crate::crowd) fn shown(runs: &[Run], bit: u128) -> impl Iterator<Item = DrawInstances> {
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
