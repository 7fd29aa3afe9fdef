//! Runs: contiguous instances of the visible list that are drawn alike.

use crate::crowd::visibility::Look;

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
    pub(crate) look: Look,
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

/// The instances of contiguous runs whose looks `shows` selects. Neighbouring runs are joined.
pub(crate) fn shown<F: Fn(&Look) -> bool>(
    runs: &[Run],
    shows: F,
) -> impl Iterator<Item = DrawInstances> + use<'_, F> {
    let mut next = 0;
    core::iter::from_fn(move || {
        next += runs.get(next..)?.iter().position(|run| shows(&run.look))?;
        let first = runs.get(next)?;
        let alike = runs.get(next..)?.iter();
        let alike = alike.take_while(|run| run.flipped == first.flipped && shows(&run.look));
        let (all, count) = alike.fold((0, 0), |(all, count), run| (all + 1, count + run.count));
        next += all;
        Some(DrawInstances {
            first: first.first,
            count,
            flipped: first.flipped,
            level: first.level,
        })
    })
}
