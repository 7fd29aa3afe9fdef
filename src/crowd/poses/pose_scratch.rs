//! Working memory of the animate stage, and which palettes the ring has already.

use crate::crowd::skin::cpu_skinning::SkinBatch;
use crate::grow::reserve_all;
use core::ops::Range;
use core::ptr;

/// Working memory of the animate stage, kept from frame to frame so that nothing is allocated.
#[derive(Debug, Default)]
pub(crate) struct PoseScratch {
    /// The actors of one character whose palettes are written, and the destination of each.
    pub(crate) actors: Vec<u32>,
    pub(crate) destinations: Vec<Destination>,
    /// The actors in the order of writing, and the addresses of their palettes.
    pub(crate) ordered: (Vec<u32>, Addresses),
    /// The instances of one character that are skinned on the CPU.
    ///
    /// Each has its table index and the first of its rows among those of all such instances, or
    /// `None` for the rest pose.
    pub(crate) deformed: Vec<(u32, Option<usize>)>,
    /// By frame index and table index, the pose in the ring. 0: none that can be kept.
    written: Vec<Vec<u64>>,
    /// Counts the events that invalidate everything in the ring.
    epoch: u32,
    /// True if an active instance of this frame has its palette in the ring.
    pub(crate) any_in_ring: bool,
    /// The active instances that a frame shows, by character and then by table index, and the end
    /// of each character's.
    pub(crate) shown: Vec<u32>,
    pub(crate) ends: Vec<u32>,
    /// The instances that came to rest since the last frame, shown or not.
    pub(crate) resting: Vec<u32>,
    /// The instances that this frame left to rest.
    pub(crate) rested: Vec<u32>,
    /// The morph weights of an instance, while they are written.
    pub(crate) weights: Vec<f32>,
    /// The words of those that the caller set.
    pub(crate) own: Vec<u32>,
    /// The instances that the skin stage deforms, in ranges of the list.
    pub(crate) batches: Vec<SkinBatch>,
    /// The rows of the ring that this frame writes, in ranges.
    rows: Vec<Range<u32>>,
    /// The instances that the skin stage deforms, in the same order, with their characters.
    pub(crate) computed: Vec<(u32, u32)>,
}

/// Rows between two ranges, up to which one copy is cheaper than two.
const GAP_ROWS: u32 = 1024;

/// The most ranges of rows of a frame. The last one takes in all others.
const MAX_RANGES: usize = 256;

/// The destination of a palette.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Destination {
    /// The ring, from this row on.
    Ring(u32),
    /// The rows of instances skinned on the CPU, from which it is copied to the ring.
    Deform(u32, u32),
}

/// Addresses that palettes are written to.
#[derive(Debug, Default)]
pub(crate) struct Addresses(pub(crate) Vec<*mut u8>);

// SAFETY: the addresses are used only during the call that computes them.
unsafe impl Send for Addresses {}
// SAFETY: the addresses are used only during the call that computes them.
unsafe impl Sync for Addresses {}

impl PoseScratch {
    pub(crate) fn new(frames_in_flight: u32) -> Self {
        Self {
            written: vec![Vec::new(); frames_in_flight as usize],
            ..Self::default()
        }
    }

    /// Reserves memory for this many instances.
    pub(crate) fn reserve(&mut self, instances: usize) {
        reserve_all(&mut self.actors, instances);
        reserve_all(&mut self.destinations, instances);
        reserve_all(&mut self.ordered.0, instances);
        reserve_all(&mut self.ordered.1.0, instances);
        reserve_all(&mut self.shown, instances);
        reserve_all(&mut self.rested, instances);
        reserve_all(&mut self.resting, instances);
        reserve_all(&mut self.rows, MAX_RANGES);
        for written in &mut self.written {
            reserve_all(written, instances);
        }
    }

    /// Reserves memory for this many instances that are skinned on the CPU.
    pub(crate) fn reserve_deformed(&mut self, instances: usize) {
        let more = instances.saturating_sub(self.deformed.len());
        self.deformed.reserve(more);
    }

    /// Reserves memory for this many instances that the skin stage deforms, and this many
    /// characters.
    pub(crate) fn reserve_lists(&mut self, computed: usize, characters: usize) {
        let more = computed.saturating_sub(self.computed.len());
        self.computed.reserve(more);
        let more = (characters + 1).saturating_sub(self.ends.len());
        self.ends.reserve(more);
        self.batches
            .reserve(characters.saturating_sub(self.batches.len()));
    }

    /// Begins a frame.
    pub(crate) fn begin(&mut self) {
        self.any_in_ring = false;
        self.computed.clear();
        self.rows.clear();
    }

    /// The rows of the ring that this frame writes, in ranges that do not overlap. Some rows
    /// between are among them, which hold what the device has already, or what nothing reads.
    pub(crate) fn rows_written(&mut self) -> &[Range<u32>] {
        self.rows.sort_unstable_by_key(|rows| rows.start);
        self.rows.dedup_by(|next, last| {
            let joins = next.start <= last.end.saturating_add(GAP_ROWS);
            if joins {
                last.end = last.end.max(next.end);
            }
            joins
        });
        &self.rows
    }

    /// Notes the rows of the palettes of one character, `each` rows long.
    pub(crate) fn note_rows(&mut self, each: u32) {
        for to in &self.destinations {
            // The rows of the ring, also of those that are skinned on the CPU.
            let (Destination::Ring(start) | Destination::Deform(_, start)) = *to;
            let end = start + each;
            let full = self.rows.len() == MAX_RANGES;
            match self.rows.last_mut() {
                Some(last) if start >= last.start && start <= last.end.saturating_add(GAP_ROWS) => {
                    last.end = last.end.max(end);
                }
                Some(last) if full => {
                    (last.start, last.end) = (last.start.min(start), last.end.max(end));
                }
                _ => self.rows.push(start..end),
            }
        }
    }

    /// Sorts the active instances that a frame shows by character.
    pub(crate) fn gather<I: Iterator<Item = (u32, u32)>>(
        &mut self,
        characters: usize,
        shown: impl Fn() -> I,
    ) {
        self.ends.clear();
        self.ends.resize(characters + 1, 0);
        for (character, _) in shown() {
            self.ends[character as usize + 1] += 1;
        }
        for at in 1..self.ends.len() {
            self.ends[at] += self.ends[at - 1];
        }
        self.shown.clear();
        self.shown.resize(self.ends[characters] as usize, 0);
        // Each element is where the next instance of that character goes, and so in the end that
        // of the character after it.
        for (character, index) in shown() {
            let next = &mut self.ends[character as usize];
            self.shown[*next as usize] = index;
            *next += 1;
        }
        self.ends.pop();
    }

    /// The active instances of a character that a frame shows, as a range of `shown`.
    pub(crate) fn range(&self, character: u32) -> Range<usize> {
        let at = character as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[at] as usize
    }

    /// Invalidates everything in the ring.
    pub(crate) fn forget(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Forgets the instances from this index on.
    pub(crate) fn retain(&mut self, indices: usize) {
        for list in [&mut self.resting, &mut self.rested] {
            list.retain(|index| (*index as usize) < indices);
        }
    }

    /// Invalidates the palette in the ring at this table index, because a new instance has it.
    pub(crate) fn spawned(&mut self, index: u32) {
        for written in &mut self.written {
            if written.len() <= index as usize {
                written.resize(index as usize + 1, 0);
            }
            written[index as usize] = 0;
        }
    }

    /// Returns false if the pose is still and the ring has it already; otherwise it must be
    /// written.
    pub(crate) fn must_write(&mut self, frame_index: u32, index: u32, still: Option<u32>) -> bool {
        let stamp = still.map_or(0, |pose| self.stamp(pose));
        let written = &mut self.written[frame_index as usize][index as usize];
        let known = stamp != 0 && *written == stamp;
        *written = stamp;
        !known
    }

    /// Returns true if the ring has a still pose in all frames in flight.
    pub(crate) fn is_everywhere(&self, index: u32, still: u32) -> bool {
        let stamp = self.stamp(still);
        let mut all = self.written.iter();
        all.all(|written| written[index as usize] == stamp)
    }

    /// The number that identifies a still pose in `written`.
    fn stamp(&self, still: u32) -> u64 {
        u64::from(self.epoch) << 32 | u64::from(still.wrapping_add(1))
    }
}

impl Destination {
    /// The palette's first row.
    fn row(self) -> usize {
        let (Self::Ring(row) | Self::Deform(row, _)) = self;
        row as usize
    }
}

/// Rows in a cache line of 64 bytes.
const LINE_ROWS: usize = 4;

impl PoseScratch {
    /// Groups palettes by their start within a cache line. `address` is that of a destination.
    ///
    /// The kernel evaluates neighbours together, and can store whole lines if they start equally
    /// far into one.
    pub(crate) fn order(&mut self, address: impl Fn(Destination) -> *mut u8) {
        let mut next = [0; LINE_ROWS + 1];
        for to in &self.destinations {
            next[to.row() % LINE_ROWS + 1] += 1;
        }
        for phase in 0..LINE_ROWS {
            next[phase + 1] += next[phase];
        }
        let (actors, starts) = &mut self.ordered;
        // The loop below overwrites every element.
        actors.resize(self.actors.len(), 0);
        starts.0.resize(self.destinations.len(), ptr::null_mut());
        for (actor, to) in self.actors.iter().zip(&self.destinations) {
            let next = &mut next[to.row() % LINE_ROWS];
            actors[*next] = *actor;
            starts.0[*next] = address(*to);
            *next += 1;
        }
    }
}
