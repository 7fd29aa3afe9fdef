//! Instances: the CPU copy of their table, its changes, and their ranges of shared buffers.

use crate::crowd::SkinningStage;
use crate::crowd::capacity::Need;
use crate::crowd::instances::state::{Colors, CpuSkinned, InstanceState, Kind, Sizes, Totals};
use crate::crowd::memory::range_allocator::RangeAllocator;
use crate::crowd::pending::{Marked, Pending};
use crate::crowd::table::Table;
use crate::crowd::{Capacity, InstanceId};
use crate::error::{Error, Result, expect_index};
use crate::gpu::layout::GpuChange;
use crate::gpu::{GpuInstance, limit};
use crate::grow::reserve_all;
use crate::id::Ids;
use crate::palette::Mat3x4;
use core::ops::{Index, IndexMut};
use glam::Affine3A;

/// The CPU copy of the instance table.
#[derive(Debug)]
pub(crate) struct Instances {
    states: Table<InstanceState>,
    /// The colours of each index, as the engine set them. The records have them in half precision.
    colors: Table<Colors>,
    /// By character.
    kinds: Table<Kind>,
    free_indices: Vec<u32>,
    /// The records that changed. They may be those of dead instances: uploading these is harmless.
    pub(crate) changed: Pending,
    /// The records whose transforms changed. Some may be among those that changed otherwise, too.
    pub(crate) moved: Marked,
    /// True if an instance is new, and if one was that the last frame uploaded.
    any_new: [bool; 2],
    capacity: Capacity,
    /// Rows of the palette ring, the same in every frame in flight.
    rows: RangeAllocator,
    /// True if instances have rows only while the CPU poses them.
    rows_on_demand: bool,
    /// Words of a frame's morph weights.
    morphs: RangeAllocator,
    /// Words of the deformed vertices.
    skinned: RangeAllocator,
    totals: Totals,
    /// The last stamp that was given out.
    stamp: u32,
    /// The ranges that were assigned anew since [`Self::take_moved`].
    moved_ranges: Ranges,
    /// The length of the table when a frame was last prepared.
    uploaded: usize,
    /// The largest length of the table when a frame was prepared. A restore can shrink the table.
    most_uploaded: usize,
}

/// Rows of a palette entry of the ring.
const ENTRY_ROWS: u32 = 3;

/// Some of the kinds of ranges: rows, morph weights, deformed vertices.
pub(crate) type Ranges = [bool; 3];

const ROWS: Ranges = [true, false, false];
const ALL: Ranges = [true; 3];

/// No range, in a record.
const NONE: u32 = GpuInstance::NONE;

// The names of the capacities in errors.
const INSTANCES: &str = "instances (Capacity::instances, raised by Crowd::reserve)";
const PALETTES: &str = "palette entries (Capacity::palette_entries, raised by Crowd::reserve)";
const MORPHS: &str = "morph weights (Capacity::morph_weights, raised by Crowd::reserve)";
const SKINNED: &str =
    "words of deformed vertices (Capacity::skinned_words, raised by Crowd::reserve)";
const CPU_SKINNED: &str = "words of vertices deformed on the CPU (Capacity::cpu_skinned_words, \
                           raised by Crowd::reserve)";

impl Instances {
    pub(crate) fn new(capacity: &Capacity) -> Self {
        Self {
            states: Table::default(),
            colors: Table::default(),
            kinds: Table::default(),
            free_indices: Vec::new(),
            changed: Pending::default(),
            moved: Marked::default(),
            any_new: [false; 2],
            capacity: *capacity,
            rows: RangeAllocator::new(capacity.palette_entries.saturating_mul(ENTRY_ROWS)),
            rows_on_demand: false,
            morphs: RangeAllocator::new(capacity.morph_words()),
            skinned: RangeAllocator::new(capacity.skinned_words),
            totals: Totals::default(),
            stamp: 0,
            moved_ranges: [false; 3],
            uploaded: 0,
            most_uploaded: 0,
        }
    }

    /// Gives rows of the ring only to instances that the CPU poses. Call it before the first one.
    pub(crate) fn set_rows_on_demand(&mut self) {
        self.rows_on_demand = true;
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len() - self.free_indices.len()
    }

    /// Grows to `capacity`. The records stay as they are: the next frame copies them on the GPU.
    pub(crate) fn grow(&mut self, capacity: &Capacity) {
        self.capacity = *capacity;
        self.moved_ranges = ALL;
        self.rows
            .grow(capacity.palette_entries.saturating_mul(ENTRY_ROWS));
        self.morphs.grow(capacity.morph_words());
        self.skinned.grow(capacity.skinned_words);
        self.reserve();
    }

    /// Reserves memory for all instances of the capacity.
    pub(crate) fn reserve(&mut self) {
        let instances = self.capacity.instances as usize;
        reserve_all(&mut self.states, instances);
        reserve_all(&mut self.colors, instances);
        self.changed.grow(instances);
        self.moved.grow(instances);
    }

    /// Sets what all instances of a character have in common, before the first of them.
    pub(crate) fn set_kind(&mut self, character: u32, kind: Kind) {
        let all = self.kinds.len().max(character as usize + 1);
        self.kinds.resize(all, Kind::default());
        self.kinds[character] = kind;
    }

    /// The memory that an instance takes.
    fn sizes(&self, instance: &InstanceState) -> Sizes {
        self.kinds[instance.character].sizes
    }

    /// Notes that a frame has uploaded all changes.
    pub(crate) fn mark_uploaded(&mut self) {
        self.uploaded = self.states.len();
        self.most_uploaded = self.most_uploaded.max(self.uploaded);
        self.changed.mark_uploaded_with(&mut self.moved);
        let any_new = core::mem::take(&mut self.any_new[0]);
        self.any_new[1] = any_new;
        for index in self.changed.uploaded().iter().filter(|_| any_new) {
            let instance = &mut self.states[*index];
            instance.was_new = core::mem::take(&mut instance.is_new);
        }
    }

    /// Notes that the changes of the last frame never reached the GPU.
    pub(crate) fn mark_lost(&mut self) {
        let any_new = core::mem::take(&mut self.any_new[1]);
        self.any_new[0] |= any_new;
        for index in self.changed.uploaded().iter().filter(|_| any_new) {
            let instance = &mut self.states[*index];
            instance.is_new |= instance.was_new;
        }
        self.changed.mark_lost();
    }

    /// Sets whether an instance's palette lies in the ring.
    pub(crate) fn set_in_ring(&mut self, index: u32, in_ring: bool) {
        let instance = &mut self.states[index];
        if instance.in_ring != in_ring {
            instance.in_ring = in_ring;
            instance.write_palette(&self.kinds[instance.character]);
            self.changed.add(index);
        }
    }

    /// The number of instances that the skin stage deforms.
    pub(crate) fn computed(&self) -> usize {
        self.totals.computed as usize
    }

    /// Returns which ranges moved since the last call.
    pub(crate) fn take_moved(&mut self) -> Ranges {
        core::mem::take(&mut self.moved_ranges)
    }

    /// The record of an instance if its palette lies in the ring, or does not.
    pub(crate) fn record_with(&self, index: u32, in_ring: bool) -> GpuChange {
        let mut instance = self.states[index].clone();
        instance.in_ring = in_ring && instance.has_rows;
        instance.write_palette(&self.kinds[instance.character]);
        instance.record
    }

    /// One past the last row of the palette ring that the CPU may write for an instance.
    pub(crate) fn rows_end(&self) -> u32 {
        self.rows.end()
    }

    /// The rows of the palette ring in one frame.
    pub(crate) fn rows_capacity(&self) -> u32 {
        self.rows.capacity()
    }

    /// Gives an instance rows of the ring, because the CPU poses it.
    ///
    /// # Errors
    /// [`Error::Capacity`] if there are not enough.
    pub(crate) fn take_rows(&mut self, index: u32) -> Result<()> {
        let instance = &mut self.states[index];
        if instance.has_rows {
            return Ok(());
        }
        let own = self.kinds[instance.character].sizes.rows;
        let rows = u64::from(self.rows.used()) + u64::from(own);
        let cap = self.capacity.palette_entries;
        limit(PALETTES, rows.div_ceil(ENTRY_ROWS.into()), cap.into())?;
        instance.has_rows = true;
        self.allocate_ranges(index, ROWS);
        self.changed.add(index);
        Ok(())
    }

    /// Takes the rows of an instance back, because the CPU does not pose it any more.
    pub(crate) fn give_rows_back(&mut self, index: u32) {
        self.set_in_ring(index, false);
        let instance = &mut self.states[index];
        if self.rows_on_demand && core::mem::take(&mut instance.has_rows) {
            let sizes = self.kinds[instance.character].sizes;
            self.rows.free(instance.row, sizes.rows);
        }
    }

    /// Assigns the rows of all instances anew if gaps between them take much of the ring, which the
    /// GPU needs for palettes.
    pub(crate) fn close_gaps(&mut self) {
        let (end, used) = (self.rows.end(), self.rows.used());
        if end / 2 > used && end - used > self.rows.capacity() / 8 {
            self.compact(ROWS);
        }
    }

    /// One past the last word of morph weights that an instance may write.
    pub(crate) fn morphs_end(&self) -> u32 {
        self.morphs.end()
    }

    /// One past the last word of deformed vertices that an instance has.
    pub(crate) fn skinned_end(&self) -> u32 {
        self.skinned.end()
    }

    /// A stamp that no instance has had.
    pub(crate) fn new_stamp(&mut self) -> u32 {
        self.stamp = self.stamp.wrapping_add(1);
        self.stamp
    }

    /// Gives an instance a new stamp, so that no motion connects it with earlier frames.
    pub(crate) fn restamp(&mut self, index: u32) {
        let stamp = self.new_stamp();
        self.change(index, |instance| instance.record.stamp = stamp);
    }

    /// The id of the instance at a table index, if one is alive there.
    pub(crate) fn id(&self, index: u32) -> Option<InstanceId> {
        let instance = self.states.get(index as usize);
        instance.filter(|it| it.alive).map(|_| self.any_id(index))
    }

    /// The id of the instance that is or was last at a table index.
    pub(crate) fn any_id(&self, index: u32) -> InstanceId {
        let generation = self.states[index].generation;
        InstanceId { index, generation }
    }

    /// The ids of all living instances, in the order of the table.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = InstanceId> + '_ {
        Ids {
            ids: (0..self.states.len() as u32).filter_map(|index| self.id(index)),
            left: self.len(),
        }
    }

    /// The length of the table that a frame has uploaded, and the number of indices that any frame
    /// has. Growth copies what the GPU counts of these even if the table has shrunk, because
    /// histories have records of all of them.
    pub(crate) fn uploaded(&self) -> [u32; 2] {
        [self.uploaded, self.most_uploaded].map(|len| len as u32)
    }

    /// The number of indices of the table that were ever used.
    pub(crate) fn table_len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn get_mut(&mut self, id: InstanceId) -> Result<&mut InstanceState> {
        self.get(id)?;
        Ok(&mut self.states[id.index])
    }

    #[inline]
    pub(crate) fn get(&self, id: InstanceId) -> Result<&InstanceState> {
        expect_index("instance", id.index as usize, self.states.len())?;
        let instance = &self.states[id.index];
        if instance.alive && instance.generation == id.generation {
            return Ok(instance);
        }
        Err(Error::Stale {
            what: "instance",
            index: id.index,
            generation: id.generation,
            alive: instance.generation,
        })
    }

    /// Changes an instance and marks its record as changed.
    pub(crate) fn change(&mut self, index: u32, change: impl FnOnce(&mut InstanceState)) {
        change(&mut self.states[index]);
        self.changed.add(index);
    }

    /// Changes the transform of an instance, but not whether it is flipped.
    #[inline]
    pub(crate) fn put(&mut self, index: u32, world_from_model: &Affine3A) {
        self.states[index].record.world_from_model = Mat3x4::from_affine(world_from_model);
        self.moved.add(index);
    }

    pub(crate) fn colors(&self, index: u32) -> Colors {
        self.colors[index]
    }

    /// Sets the colours of an instance, and marks its record as changed.
    pub(crate) fn set_colors(&mut self, index: u32, colors: Colors) {
        self.colors[index] = colors;
        self.change(index, |state| {
            let variant = (state.record.colors[3] >> 16) as u16;
            state.record.colors = GpuInstance::with_variant(colors.packed(), variant);
        });
    }

    pub(crate) fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// Assigns the wanted ranges of all instances anew, without gaps.
    ///
    /// No data has to be moved, because palettes, morph weights and deformed vertices are written
    /// in every frame that reads them.
    fn compact(&mut self, wanted: Ranges) {
        let ranges = [&mut self.rows, &mut self.morphs, &mut self.skinned];
        for ((range, moved), wanted) in ranges.into_iter().zip(&mut self.moved_ranges).zip(wanted) {
            if wanted {
                *moved = true;
                range.clear();
            }
        }
        for index in 0..self.states.len() as u32 {
            let instance = &self.states[index];
            let (alive, before) = (instance.alive, instance.record);
            if alive {
                // All ranges fitted before, so they fit without gaps.
                let [rows, morphs, skinned] = wanted;
                self.allocate(index, [rows && instance.has_rows, morphs, skinned]);
            }
            if self.states[index].record != before {
                self.changed.add(index);
            }
        }
    }

    /// The capacities that the living instances need.
    pub(crate) fn need(&self) -> Need {
        Need {
            rows: self.totals.rows.into(),
            ..self.used()
        }
    }

    /// The part of the capacities that is in use.
    fn used(&self) -> Need {
        Need {
            instances: self.len() as u64,
            rows: self.rows.used().into(),
            morph_weights: self.totals.weights.into(),
            blended: 0,
            skinned_words: self.skinned.used().into(),
            cpu_skinned_words: self.totals.cpu_skinned.words.into(),
        }
    }

    /// Checks that instances of these needs fit in place of others.
    fn check(&self, before: &Need, after: &Need) -> Result<()> {
        let asked = self.used().minus(before).plus(after, 1);
        let cap = &self.capacity;
        let entries = asked.rows.div_ceil(ENTRY_ROWS.into());
        limit(INSTANCES, asked.instances, cap.instances.into())?;
        limit(PALETTES, entries, cap.palette_entries.into())?;
        // If the number of weights fits, so does the number of words: each instance has at least
        // one weight.
        limit(MORPHS, asked.morph_weights, cap.morph_weights.into())?;
        limit(SKINNED, asked.skinned_words, cap.skinned_words.into())?;
        let (asked, cap) = (asked.cpu_skinned_words, cap.cpu_skinned_words);
        limit(CPU_SKINNED, asked, cap.into())?;
        Ok(())
    }

    /// The needs of new instances, which may have no rows yet.
    fn at_first(&self, need: Need) -> Need {
        let rows = if self.rows_on_demand { 0 } else { need.rows };
        Need { rows, ..need }
    }

    /// Checks that a new instance of these sizes fits.
    ///
    /// # Errors
    /// [`Error::Capacity`], with the name of what ran out.
    pub(crate) fn check_new(&self, sizes: &Sizes, skin: SkinningStage) -> Result<()> {
        self.check(&Need::default(), &self.at_first(sizes.need(skin)))
    }

    /// Checks that a table of this length, with instances of these needs, fits in place of this
    /// one.
    ///
    /// # Errors
    /// [`Error::Capacity`], with the name of what ran out.
    pub(crate) fn check_all(&self, table_len: usize, need: &Need) -> Result<()> {
        let instances = table_len as u64;
        self.check(&self.used(), &self.at_first(Need { instances, ..*need }))
    }

    /// Checks that an instance can be deformed in another stage.
    ///
    /// # Errors
    /// [`Error::Capacity`], with the name of what ran out.
    pub(crate) fn check_skin(&self, index: u32, skin: SkinningStage) -> Result<()> {
        let instance = &self.states[index];
        let sizes = Sizes {
            rows: 0,
            ..self.sizes(instance)
        };
        self.check(&sizes.need(instance.skin), &sizes.need(skin))
    }

    /// Checks that the instances fit with these sizes.
    ///
    /// # Errors
    /// [`Error::Capacity`], with the name of what ran out.
    pub(crate) fn check_resize(&self, members: &[u32], sizes: &Sizes) -> Result<()> {
        let [mut before, mut after] = [Need::default(); 2];
        for index in members {
            let instance = &self.states[*index];
            for (all, sizes) in [(&mut before, &self.sizes(instance)), (&mut after, sizes)] {
                let need = sizes.need(instance.skin);
                let rows = if instance.has_rows { need.rows } else { 0 };
                *all = all.plus(&Need { rows, ..need }, 1);
            }
        }
        self.check(&before, &after)
    }

    /// Gives the instances of a replaced character other memory. It has been checked to fit.
    pub(crate) fn resize(&mut self, character: u32, members: &[u32], kind: Kind) {
        let before = self.kinds[character].sizes;
        self.set_kind(character, kind);
        for index in members {
            let skin = self.states[*index].skin;
            self.totals.count(skin, &before, false);
            self.totals.count(skin, &kind.sizes, true);
            self.restamp(*index);
        }
        self.compact(ALL);
    }

    /// Totals of the instances that are skinned on the CPU.
    pub(crate) fn cpu_skinned(&self) -> &CpuSkinned {
        &self.totals.cpu_skinned
    }

    /// Takes the index of the next instance.
    pub(crate) fn take_index(&mut self) -> u32 {
        let index = self.free_indices.pop().unwrap_or(self.states.len() as u32);
        if index as usize == self.states.len() {
            self.states.push(InstanceState::dead(0));
            self.colors.push(Colors::default());
        }
        index
    }

    /// Adds an instance at an index. The caller has checked that it fits.
    pub(crate) fn add(&mut self, index: u32, mut instance: InstanceState) -> InstanceId {
        instance.record.stamp = self.new_stamp();
        let sizes = self.sizes(&instance);
        self.totals.count(instance.skin, &sizes, true);
        let generation = self.states[index].generation;
        self.states[index] = InstanceState {
            generation,
            has_rows: !self.rows_on_demand,
            ..instance
        };
        self.allocate_ranges(index, [!self.rows_on_demand, true, true]);
        self.changed.add(index);
        self.any_new[0] = true;
        InstanceId { index, generation }
    }

    /// Allocates the wanted ranges of an instance. The caller has checked that they fit.
    fn allocate_ranges(&mut self, index: u32, wanted: Ranges) {
        if !self.allocate(index, wanted) {
            self.compact(wanted);
        }
    }

    /// Allocates ranges, and writes them to the record. Returns false if there is none for some.
    fn allocate(&mut self, index: u32, wanted: Ranges) -> bool {
        let instance = &mut self.states[index];
        let kind = self.kinds[instance.character];
        let (sizes, record) = (&kind.sizes, &mut instance.record);
        let words = sizes.words(instance.skin);
        let ranges = [
            (&mut self.rows, &mut instance.row, sizes.rows, 0),
            (&mut self.morphs, &mut record.morphs, sizes.morphs, NONE),
            (&mut self.skinned, &mut record.skinned, words, NONE),
        ];
        let mut fits = true;
        for ((allocator, to, size, none), _) in ranges.into_iter().zip(wanted).filter(|of| of.1) {
            match allocator.allocate(size) {
                Some(start) => *to = if size > 0 { start } else { none },
                None => fits = false,
            }
        }
        instance.write_palette(&kind);
        fits
    }

    /// Changes the skinning stage of a living instance, which has been checked to fit.
    pub(crate) fn set_skin(&mut self, index: u32, skin: SkinningStage) {
        let instance = &mut self.states[index];
        let sizes = self.kinds[instance.character].sizes;
        let before = core::mem::replace(&mut instance.skin, skin);
        self.totals.count(before, &sizes, false);
        self.totals.count(skin, &sizes, true);
        let words = sizes.words(before);
        if words != sizes.words(skin) {
            self.skinned.free(instance.record.skinned, words);
            self.allocate_ranges(index, [false, false, true]);
            self.changed.add(index);
        }
    }

    /// Takes over the generations of all indices, whose instances, if there are any, have them
    /// already, and which of them are free.
    pub(crate) fn set_table(
        &mut self,
        generations: impl ExactSizeIterator<Item = u32>,
        free_indices: &[u32],
    ) {
        let dead = || InstanceState::dead(0);
        self.states.resize_with(generations.len(), dead);
        self.colors.resize(generations.len(), Colors::default());
        for (state, generation) in self.states.iter_mut().zip(generations) {
            state.generation = generation;
        }
        let all = self.states.len();
        self.changed.retain(all);
        self.moved.retain(all);
        self.free_indices.clear();
        self.free_indices.extend_from_slice(free_indices);
    }

    /// The state of every index of the table, and the indices of the next instances, last first.
    pub(crate) fn all(&self) -> (&[InstanceState], &[u32]) {
        (&self.states, &self.free_indices)
    }

    /// Removes a living instance.
    pub(crate) fn remove(&mut self, index: u32) {
        let instance = &mut self.states[index];
        instance.alive = false;
        instance.generation = instance.generation.wrapping_add(1);
        let sizes = self.kinds[instance.character].sizes;
        let (record, words) = (&instance.record, sizes.words(instance.skin));
        if instance.has_rows {
            self.rows.free(instance.row, sizes.rows);
        }
        self.morphs.free(record.morphs, sizes.morphs);
        self.skinned.free(record.skinned, words);
        self.totals.count(instance.skin, &sizes, false);
        self.free_indices.push(index);
    }
}

impl Index<u32> for Instances {
    type Output = InstanceState;

    #[inline]
    fn index(&self, index: u32) -> &InstanceState {
        &self.states[index]
    }
}

/// For everything but the record: see [`Instances::change`].
impl IndexMut<u32> for Instances {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut InstanceState {
        &mut self.states[index]
    }
}
