//! The palette ranges of several pieces, which overlap as much as possible.

use std::ops::Range;

/// The number of positions of an entry that the search for an existing range tries.
const LOOKED_AT: usize = 8;

/// A palette under construction: entries of another palette, some of them repeated.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    pub(super) order: Vec<u32>,
    /// The positions of each entry in `order`.
    positions: Vec<Vec<u32>>,
}

impl Ranges {
    /// An empty palette, made from one with this many entries.
    pub(super) fn new(entries: usize) -> Self {
        Self {
            order: Vec::new(),
            positions: vec![Vec::new(); entries],
        }
    }

    /// The number of entries, each counted once.
    pub(super) fn distinct(&self) -> usize {
        self.positions.iter().filter(|of| !of.is_empty()).count()
    }

    /// The first position of an entry, which must be in the palette.
    pub(super) fn first(&self, entry: u32) -> u32 {
        self.positions[entry as usize][0]
    }

    /// Appends one entry.
    pub(super) fn push(&mut self, entry: u32) {
        self.positions[entry as usize].push(self.order.len() as u32);
        self.order.push(entry);
    }

    /// Finds or appends a range of at most `max` entries that contains all of `set`.
    ///
    /// `set` is ascending and has 1 to `max` entries. The range either exists already, or begins
    /// with as many entries at the end of the palette as possible and is completed. Entries that
    /// `next` has too come last, so that the range of `next` can begin with them.
    pub(super) fn find_or_append(&mut self, set: &[u32], next: &[u32], max: usize) -> Range<u32> {
        if let Some(found) = self.find(set, max) {
            return found;
        }
        let mut taken = vec![false; set.len()];
        let mut start = self.order.len();
        while let Some(before) = start.checked_sub(1) {
            match set.binary_search(&self.order[before]) {
                Ok(at) if !taken[at] => taken[at] = true,
                _ => break,
            }
            start = before;
        }
        for in_next in [false, true] {
            for (entry, _) in set.iter().zip(&taken).filter(|(_, taken)| !**taken) {
                if next.binary_search(entry).is_ok() == in_next {
                    self.push(*entry);
                }
            }
        }
        start as u32..self.order.len() as u32
    }

    /// The shortest range of at most `max` entries that contains all of `set`, near one of the
    /// first positions of its rarest entry.
    fn find(&self, set: &[u32], max: usize) -> Option<Range<u32>> {
        let rarest = set.iter().map(|entry| &self.positions[*entry as usize]);
        let rarest = rarest.min_by_key(|positions| positions.len())?;
        let near = rarest.iter().take(LOOKED_AT).filter_map(|position| {
            let at = *position as usize;
            let end = at.saturating_add(max).min(self.order.len());
            self.shortest(set, at.saturating_sub(max - 1)..end)
        });
        near.filter(|found| found.len() <= max)
            .min_by_key(|found| (found.len(), found.start))
    }

    /// The shortest range in `within` that contains all of `set`. The end advances first; the start
    /// follows as long as the range still contains the set.
    fn shortest(&self, set: &[u32], within: Range<usize>) -> Option<Range<u32>> {
        let index_in_set = |at: usize| set.binary_search(&self.order[at]).ok();
        let mut counts = vec![0_u32; set.len()];
        let (mut held, mut start) = (0, within.start);
        let mut best: Option<Range<u32>> = None;
        for end in within {
            if let Some(at) = index_in_set(end) {
                held += usize::from(counts[at] == 0);
                counts[at] += 1;
            }
            while held == set.len() {
                match index_in_set(start) {
                    Some(at) if counts[at] == 1 => break,
                    Some(at) => counts[at] -= 1,
                    None => {}
                }
                start += 1;
            }
            let found = start as u32..end as u32 + 1;
            if held == set.len() && best.as_ref().is_none_or(|best| found.len() < best.len()) {
                best = Some(found);
            }
        }
        best
    }
}
