//! Ranges of a buffer that instances are given and keep while they live.

use std::collections::BTreeMap;

/// Gives out ranges of `capacity` units. A range that is given back goes to the next of its size;
/// else ranges are given from a growing end, and when that meets the capacity they are all given
/// anew, without gaps.
#[derive(Debug)]
pub(super) struct RangeAllocator {
    capacity: u32,
    /// Free ranges, by their length: where they start.
    holes: BTreeMap<u32, Vec<u32>>,
    /// First unit that has not been given since the last compaction.
    end: u32,
    used: u32,
}

impl RangeAllocator {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            holes: BTreeMap::new(),
            end: 0,
            used: 0,
        }
    }

    pub(super) fn grow(&mut self, capacity: u32) {
        self.capacity = capacity;
    }

    pub(super) fn used(&self) -> u32 {
        self.used
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// One past the last unit that is in use.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// The start of `size` units, for which there is room in all; `None` if they don't lie
    /// together: compact then.
    pub(super) fn take(&mut self, size: u32) -> Option<u32> {
        if size == 0 {
            return Some(0);
        }
        if let Some(start) = self.holes.get_mut(&size).and_then(Vec::pop) {
            self.used += size;
            return Some(start);
        }
        let end = self.end.checked_add(size)?;
        if end > self.capacity {
            return None;
        }
        let start = self.end;
        self.end = end;
        self.used += size;
        Some(start)
    }

    pub(super) fn give_back(&mut self, start: u32, size: u32) {
        if size > 0 {
            self.used -= size;
            self.holes.entry(size).or_default().push(start);
        }
    }

    /// Forgets what was given: all ranges in use are to be taken again.
    pub(super) fn clear(&mut self) {
        (self.end, self.used) = (0, 0);
        self.holes.clear();
    }
}
