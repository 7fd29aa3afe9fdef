//! Allocates the ranges of shared buffers that instances keep while they live.

use crate::grow::reserve_all;
use std::collections::BTreeMap;

/// Allocates ranges of `capacity` units.
///
/// A freed range is reused for the next allocation of its size. Other ranges are taken at a growing
/// end. When that meets the capacity, the caller compacts: all ranges are allocated again without
/// gaps.
#[derive(Debug, Default)]
pub(crate) struct RangeAllocator {
    capacity: u32,
    /// The starts of free ranges, by their length.
    holes: BTreeMap<u32, Vec<u32>>,
    /// First unit that has not been allocated since the last compaction.
    end: u32,
    used: u32,
}

impl RangeAllocator {
    pub(crate) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }

    pub(crate) fn grow(&mut self, capacity: u32) {
        self.capacity = capacity;
    }

    /// Reserves memory for this many free ranges of a size.
    pub(crate) fn reserve(&mut self, size: u32, ranges: usize) {
        reserve_all(self.holes.entry(size).or_default(), ranges);
    }

    pub(crate) fn used(&self) -> u32 {
        self.used
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// One past the last unit that is in use.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Allocates `size` units and returns their start. The caller has checked the total.
    ///
    /// `None` if they are not contiguous. Compact then.
    pub(crate) fn allocate(&mut self, size: u32) -> Option<u32> {
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

    pub(crate) fn free(&mut self, start: u32, size: u32) {
        if size > 0 {
            self.used -= size;
            self.holes.entry(size).or_default().push(start);
        }
    }

    /// Frees everything. The caller then allocates all ranges in use again.
    pub(crate) fn clear(&mut self) {
        (self.end, self.used) = (0, 0);
        // The lists keep their memory, so that a rollback allocates nothing.
        self.holes.values_mut().for_each(Vec::clear);
    }
}
