//! Instances: the CPU copy of their table, its changes, and their ranges of shared buffers.

use crate::crowd::capacity::Need;
use crate::crowd::instances::state::{
    CpuSkinned, InstanceState, Kind, Sizes, SkinningStage, weights_in,
};
use crate::crowd::memory::range_allocator::RangeAllocator;
use crate::crowd::{Capacity, InstanceId};
use crate::error::{Error, Result, expect_index};
use crate::gpu::GpuInstance;
use crate::gpu::layout::GpuChange;
use crate::gpu::limit;
use crate::grow::reserve_all;
use crate::palette::Mat3x4;
use bytemuck::Zeroable;
use glam::Affine3A;

/// The CPU copy of the instance table.
#[derive(Debug)]
pub(crate) struct Instances {
    states: Vec<InstanceState>,
    /// By character.
    kinds: Vec<Kind>,
    free_indices: Vec<u32>,
    changed: Vec<u32>,
    /// The changes that the last [`Self::mark_uploaded`] took.
    settled: Vec<u32>,
    capacity: Capacity,
    /// Rows of the palette ring, the same in every frame in flight.
    rows: RangeAllocator,
    /// True if instances have rows only while the CPU poses them.
    rows_on_demand: bool,
    /// Rows for the palettes of all instances together.
    all_rows: u32,
    /// Words of a frame's morph weights.
    morphs: RangeAllocator,
    /// Morph weights of all instances together.
    weights: u32,
    /// Words of the deformed vertices.
    skinned: RangeAllocator,
    cpu_skinned: CpuSkinned,
    /// The last stamp that was given out.
    stamp: u32,
    /// True if ranges were assigned anew since [`Self::take_moved`].
    moved: bool,
    /// Instances that the skin stage deforms.
    computed: u32,
    /// The length of the table when a frame was last prepared.
    uploaded: usize,
    /// The largest length of the table when a frame was prepared. A restore can shrink the table.
    most_uploaded: usize,
}

/// Rows of a palette entry of the ring.
const ENTRY_ROWS: u32 = 3;

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
            states: Vec::new(),
            kinds: Vec::new(),
            free_indices: Vec::new(),
            changed: Vec::new(),
            settled: Vec::new(),
            capacity: *capacity,
            rows: RangeAllocator::new(capacity.palette_entries.saturating_mul(ENTRY_ROWS)),
            rows_on_demand: false,
            all_rows: 0,
            morphs: RangeAllocator::new(capacity.morph_words()),
            weights: 0,
            skinned: RangeAllocator::new(capacity.skinned_words),
            cpu_skinned: CpuSkinned::default(),
            stamp: 0,
            moved: false,
            computed: 0,
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
        self.moved = true;
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
        reserve_all(&mut self.changed, instances);
        reserve_all(&mut self.settled, instances);
    }

    /// Sets what all instances of a character have in common, before the first of them.
    pub(crate) fn set_kind(&mut self, character: u32, kind: Kind) {
        let at = character as usize;
        if self.kinds.len() <= at {
            self.kinds.resize(at + 1, Kind::default());
        }
        self.kinds[at] = kind;
    }

    /// The memory that an instance takes.
    fn sizes(&self, instance: &InstanceState) -> Sizes {
        kind_of(&self.kinds, instance).sizes
    }

    /// Marks a record as changed.
    pub(crate) fn touch(&mut self, index: u32) {
        if let Some(instance) = self.states.get_mut(index as usize)
            && !instance.dirty
        {
            instance.dirty = true;
            self.changed.push(index);
        }
    }

    /// The table indices of the records that changed since [`Self::mark_uploaded`].
    ///
    /// It may contain dead instances. Uploading their records is harmless.
    pub(crate) fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Clears the list of changes after they were recorded.
    pub(crate) fn mark_uploaded(&mut self) {
        self.uploaded = self.states.len();
        self.most_uploaded = self.most_uploaded.max(self.uploaded);
        self.settled.clear();
        core::mem::swap(&mut self.changed, &mut self.settled);
        for index in &self.settled {
            if let Some(instance) = self.states.get_mut(*index as usize) {
                instance.dirty = false;
                instance.was_new = core::mem::take(&mut instance.is_new);
            }
        }
    }

    /// Sets whether an instance's palette lies in the ring.
    pub(crate) fn set_in_ring(&mut self, index: u32, in_ring: bool) {
        if let Some(instance) = self.states.get_mut(index as usize)
            && instance.in_ring != in_ring
        {
            instance.in_ring = in_ring;
            instance.write_palette(&kind_of(&self.kinds, instance));
            self.touch(index);
        }
    }

    /// The number of instances that the skin stage deforms.
    pub(crate) fn computed(&self) -> usize {
        self.computed as usize
    }

    /// Counts an instance that comes or goes.
    fn count(&mut self, instance: &InstanceState, comes: bool) {
        let sizes = self.sizes(instance);
        self.cpu_skinned.count(instance.skin, &sizes, comes);
        let weights = weights_in(sizes.morphs);
        let computed = u32::from(instance.skin == SkinningStage::Compute);
        for (all, own) in [
            (&mut self.all_rows, sizes.rows),
            (&mut self.weights, weights),
            (&mut self.computed, computed),
        ] {
            *all = if comes { *all + own } else { *all - own };
        }
    }

    /// Returns true if palettes, morph weights or deformed vertices moved since the last call.
    pub(crate) fn take_moved(&mut self) -> bool {
        core::mem::take(&mut self.moved)
    }

    /// Marks the settled changes as changed again, because they never reached the GPU.
    pub(crate) fn mark_lost(&mut self) {
        for index in core::mem::take(&mut self.settled) {
            self.touch(index);
            if let Some(instance) = self.states.get_mut(index as usize) {
                instance.is_new |= instance.was_new;
            }
        }
        reserve_all(&mut self.settled, self.capacity.instances as usize);
    }

    /// The record of an instance if its palette lies in the ring, or does not.
    pub(crate) fn record_with(&self, index: u32, in_ring: bool) -> GpuChange {
        let mut instance = self.states.get(index as usize).cloned();
        if let Some(instance) = &mut instance {
            instance.in_ring = in_ring && instance.has_rows;
            instance.write_palette(&kind_of(&self.kinds, instance));
        }
        instance.map_or_else(GpuChange::zeroed, |instance| instance.record)
    }

    pub(crate) fn record(&self, index: u32) -> GpuChange {
        self.states
            .get(index as usize)
            .map_or_else(GpuChange::zeroed, |instance| instance.record)
    }

    pub(crate) fn is_flipped(&self, index: u32) -> bool {
        self.states
            .get(index as usize)
            .is_some_and(|instance| instance.flipped)
    }

    pub(crate) fn state(&self, index: u32) -> Option<&InstanceState> {
        self.states.get(index as usize)
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
        let Some(instance) = self.states.get_mut(index as usize) else {
            return Ok(());
        };
        if instance.has_rows {
            return Ok(());
        }
        let own = kind_of(&self.kinds, instance).sizes.rows;
        let rows = u64::from(self.rows.used()) + u64::from(own);
        let cap = self.capacity.palette_entries;
        limit(PALETTES, rows.div_ceil(ENTRY_ROWS.into()), cap.into())?;
        instance.has_rows = true;
        self.allocate_ranges(index, [true, false, false]);
        self.touch(index);
        Ok(())
    }

    /// Takes the rows of an instance back, because the CPU does not pose it any more.
    pub(crate) fn give_rows_back(&mut self, index: u32) {
        self.set_in_ring(index, false);
        if let Some(instance) = self.states.get_mut(index as usize)
            && self.rows_on_demand
            && core::mem::take(&mut instance.has_rows)
        {
            let sizes = kind_of(&self.kinds, instance).sizes;
            self.rows.free(instance.row, sizes.rows);
        }
    }

    /// Assigns the rows of all instances anew if gaps between them take much of the ring, which the
    /// GPU needs for palettes.
    pub(crate) fn close_gaps(&mut self) {
        let (end, used) = (self.rows.end(), self.rows.used());
        if end / 2 > used && end - used > self.rows.capacity() / 8 {
            self.compact();
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
        if let Some(instance) = self.states.get_mut(index as usize) {
            instance.record.stamp = stamp;
        }
        self.touch(index);
    }

    /// The id of the instance at a table index, if one is alive there.
    pub(crate) fn id(&self, index: u32) -> Option<InstanceId> {
        let instance = self.state(index).filter(|instance| instance.alive);
        instance.map(|_| self.any_id(index))
    }

    /// The id of the instance that is or was last at a table index.
    pub(crate) fn any_id(&self, index: u32) -> InstanceId {
        let instance = self.states.get(index as usize);
        InstanceId {
            index,
            generation: instance.map_or(0, |instance| instance.generation),
        }
    }

    /// The ids of all living instances, in the order of the table.
    pub(crate) fn ids(&self) -> impl Iterator<Item = InstanceId> + '_ {
        (0..self.states.len() as u32).filter_map(|index| self.id(index))
    }

    /// The length of the table that a frame has uploaded: the records that growth copies.
    pub(crate) fn uploaded(&self) -> u32 {
        self.uploaded as u32
    }

    /// The number of indices that any frame has uploaded. Growth copies what the GPU counts of them
    /// even if the table has shrunk, because histories have records of all of them.
    pub(crate) fn most_uploaded(&self) -> u32 {
        self.most_uploaded as u32
    }

    /// The number of indices of the table that were ever used.
    pub(crate) fn table_len(&self) -> usize {
        self.states.len()
    }

    /// Sets an instance's index among its character's members.
    pub(crate) fn set_member(&mut self, index: u32, member: u32) {
        if let Some(instance) = self.states.get_mut(index as usize) {
            instance.member = member;
        }
    }

    /// Sets whether an instance's transform is flipped.
    pub(crate) fn set_flipped(&mut self, index: u32, flipped: bool) {
        if let Some(instance) = self.states.get_mut(index as usize) {
            instance.flipped = flipped;
        }
    }

    /// Writes where the GPU places an instance, which is no change.
    pub(crate) fn set_gpu_world(&mut self, index: u32, world_from_model: &Affine3A) {
        if let Some(instance) = self.states.get_mut(index as usize) {
            instance.record.world_from_model = Mat3x4::from_affine(world_from_model);
        }
    }

    /// The capacities that the living instances need.
    pub(crate) fn need(&self) -> Need {
        Need {
            instances: self.len() as u64,
            rows: self.all_rows.into(),
            morph_weights: self.weights.into(),
            blended: 0,
            skinned_words: self.skinned.used().into(),
            cpu_skinned_words: self.cpu_skinned.words.into(),
        }
    }

    pub(crate) fn get(&self, id: InstanceId) -> Result<&InstanceState> {
        let index = id.index as usize;
        expect_index("instance", index, self.states.len())?;
        let instance = &self.states[index];
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

    /// The state of an instance that was checked to be alive.
    pub(crate) fn alive(&self, id: InstanceId) -> &InstanceState {
        // The list never shrinks.
        &self.states[id.index as usize]
    }

    /// Changes an instance and marks its record as changed.
    pub(crate) fn change(&mut self, index: u32, change: impl FnOnce(&mut InstanceState)) {
        if let Some(instance) = self.states.get_mut(index as usize) {
            change(instance);
        }
        self.touch(index);
    }

    pub(crate) fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// Assigns all ranges anew, without gaps.
    ///
    /// No data has to be moved, because palettes, morph weights and deformed vertices are written
    /// in every frame that reads them.
    fn compact(&mut self) {
        self.moved = true;
        self.rows.clear();
        self.morphs.clear();
        self.skinned.clear();
        for index in 0..self.states.len() as u32 {
            let before = self.record(index);
            if let Some(instance) = self.state(index).filter(|instance| instance.alive) {
                // All ranges fitted before, so they fit without gaps.
                self.allocate(index, [instance.has_rows, true, true]);
            }
            if self.record(index) != before {
                self.touch(index);
            }
        }
    }

    /// Checks that an instance of these sizes fits.
    ///
    /// # Errors
    /// [`Error::Capacity`], with the name of what ran out.
    pub(crate) fn check_capacity(&self, sizes: &Sizes, skin: SkinningStage) -> Result<()> {
        let instances = self.capacity.instances;
        limit(INSTANCES, self.len() as u64 + 1, instances.into())?;
        let rows = if self.rows_on_demand { 0 } else { sizes.rows };
        let rows = u64::from(self.rows.used()) + u64::from(rows);
        let weights = u64::from(self.weights) + u64::from(weights_in(sizes.morphs));
        self.check_totals(rows, weights)?;
        self.check_skinned((skin, sizes.words(skin)), None)
    }

    fn check_totals(&self, rows: u64, weights: u64) -> Result<()> {
        let cap = self.capacity.palette_entries;
        limit(PALETTES, rows.div_ceil(ENTRY_ROWS.into()), cap.into())?;
        // If the number of weights fits, so does the number of words: each instance has at least
        // one weight.
        limit(MORPHS, weights, self.capacity.morph_weights.into())?;
        Ok(())
    }

    /// Checks that a table of this length, with instances of these needs, fits in place of this
    /// one.
    ///
    /// # Errors
    /// [`Error::Capacity`], with the name of what ran out.
    pub(crate) fn check_need(&self, table_len: usize, need: &Need) -> Result<()> {
        limit(INSTANCES, table_len as u64, self.capacity.instances.into())?;
        let rows = if self.rows_on_demand { 0 } else { need.rows };
        self.check_totals(rows, need.morph_weights)?;
        limit(SKINNED, need.skinned_words, self.skinned.capacity().into())?;
        let cap = self.capacity.cpu_skinned_words;
        limit(CPU_SKINNED, need.cpu_skinned_words, cap.into())?;
        Ok(())
    }

    /// Checks that `words` of deformed vertices fit, if they replace those of `before`.
    ///
    /// # Errors
    /// [`Error::Capacity`], with the name of what ran out.
    pub(crate) fn check_skinned(
        &self,
        (skin, words): (SkinningStage, u32),
        before: Option<&InstanceState>,
    ) -> Result<()> {
        let more = |used: u32, before: u32| u64::from(used - before) + u64::from(words);
        let before = before.map(|own| (own.skin, self.sizes(own).words(own.skin)));
        let before = before.unwrap_or_default();
        let asked = more(self.skinned.used(), before.1);
        let cap = self.skinned.capacity();
        limit(SKINNED, asked, cap.into())?;
        if skin == SkinningStage::Cpu {
            let own = if before.0 == skin { before.1 } else { 0 };
            let asked = more(self.cpu_skinned.words, own);
            let cap = self.capacity.cpu_skinned_words;
            limit(CPU_SKINNED, asked, cap.into())?;
        }
        Ok(())
    }

    /// Checks that the instances fit with these sizes.
    ///
    /// # Errors
    /// [`Error::Capacity`], with the name of what ran out.
    pub(crate) fn check_resize(&self, members: &[u32], sizes: &Sizes) -> Result<()> {
        // Each pair is what the instances take now, and what they will take.
        let [mut rows, mut weights, mut skinned, mut on_cpu] = [[0_u64; 2]; 4];
        let add = |sum: &mut [u64; 2], values: [u32; 2]| {
            *sum = [0, 1].map(|at: usize| sum[at] + u64::from(values[at]));
        };
        for state in members.iter().filter_map(|index| self.state(*index)) {
            let now = self.sizes(state);
            let words = [now, *sizes].map(|sizes| sizes.words(state.skin));
            if state.has_rows {
                add(&mut rows, [now.rows, sizes.rows]);
            }
            add(&mut weights, [now.morphs, sizes.morphs].map(weights_in));
            add(&mut skinned, words);
            if state.skin == SkinningStage::Cpu {
                add(&mut on_cpu, words);
            }
        }
        let asked = |used: u32, [now, then]: [u64; 2]| u64::from(used) - now + then;
        let entries = asked(self.rows.used(), rows).div_ceil(ENTRY_ROWS.into());
        let cap = &self.capacity;
        limit(PALETTES, entries, cap.palette_entries.into())?;
        limit(
            MORPHS,
            asked(self.weights, weights),
            cap.morph_weights.into(),
        )?;
        limit(
            SKINNED,
            asked(self.skinned.used(), skinned),
            cap.skinned_words.into(),
        )?;
        let words = asked(self.cpu_skinned.words, on_cpu);
        limit(CPU_SKINNED, words, cap.cpu_skinned_words.into())?;
        Ok(())
    }

    /// Gives the instances of a replaced character other memory. It has been checked to fit.
    pub(crate) fn resize(&mut self, character: u32, members: &[u32], kind: Kind) {
        let before = self.kinds.get(character as usize).map(|kind| kind.sizes);
        let before = before.unwrap_or_default();
        self.set_kind(character, kind);
        for index in members {
            let Some(state) = self.states.get(*index as usize) else {
                continue;
            };
            let skin = state.skin;
            self.cpu_skinned.count(skin, &before, false);
            self.cpu_skinned.count(skin, &kind.sizes, true);
            self.weights -= weights_in(before.morphs);
            self.weights += weights_in(kind.sizes.morphs);
            self.all_rows -= before.rows;
            self.all_rows += kind.sizes.rows;
            self.restamp(*index);
        }
        self.compact();
    }

    /// Totals of the instances that are skinned on the CPU.
    pub(crate) fn cpu_skinned(&self) -> &CpuSkinned {
        &self.cpu_skinned
    }

    /// Adds an instance. The caller has checked that it fits.
    pub(crate) fn add(&mut self, mut instance: InstanceState) -> InstanceId {
        instance.record.stamp = self.new_stamp();
        instance.has_rows = !self.rows_on_demand;
        let index = self.free_indices.pop().unwrap_or(self.states.len() as u32);
        match self.states.get_mut(index as usize) {
            Some(old) => {
                (instance.generation, instance.dirty) = (old.generation, old.dirty);
                *old = instance.clone();
            }
            None => self.states.push(instance.clone()),
        }
        self.count(&instance, true);
        self.allocate_ranges(index, [instance.has_rows, true, true]);
        self.touch(index);
        InstanceId {
            index,
            generation: instance.generation,
        }
    }

    /// Allocates the wanted ranges of an instance: rows, morph weights, deformed vertices.
    ///
    /// The caller has checked that they fit.
    fn allocate_ranges(&mut self, index: u32, wanted: [bool; 3]) {
        if !self.allocate(index, wanted) {
            self.compact();
        }
    }

    /// Allocates ranges, and writes them to the record. Returns false if there is none for some.
    fn allocate(&mut self, index: u32, wanted: [bool; 3]) -> bool {
        let Some(instance) = self.states.get_mut(index as usize) else {
            return true;
        };
        let kind = kind_of(&self.kinds, instance);
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

    /// Changes the skinning stage of a living instance. The caller has checked that its deformed
    /// vertices fit.
    pub(crate) fn set_skin(&mut self, id: InstanceId, skin: SkinningStage) {
        let Some(instance) = self.states.get_mut(id.index as usize) else {
            return;
        };
        let sizes = kind_of(&self.kinds, instance).sizes;
        let before = core::mem::replace(&mut instance.skin, skin);
        self.cpu_skinned.count(before, &sizes, false);
        self.cpu_skinned.count(skin, &sizes, true);
        self.computed -= u32::from(before == SkinningStage::Compute);
        self.computed += u32::from(skin == SkinningStage::Compute);
        let words = sizes.words(before);
        if words != sizes.words(skin) {
            self.skinned.free(instance.record.skinned, words);
            self.allocate_ranges(id.index, [false, false, true]);
            self.touch(id.index);
        }
    }

    /// Removes all instances, to put others back. The table has one index for each generation.
    pub(crate) fn begin_restore(
        &mut self,
        generations: impl Iterator<Item = u32>,
        free_indices: &[u32],
    ) {
        self.changed.clear();
        (self.weights, self.cpu_skinned) = (0, CpuSkinned::default());
        (self.all_rows, self.computed) = (0, 0);
        self.states.clear();
        self.states.extend(generations.map(InstanceState::dead));
        self.free_indices.clear();
        self.free_indices.extend_from_slice(free_indices);
    }

    /// Puts an instance back at an index. The caller has checked that it fits.
    pub(crate) fn put_back(&mut self, index: u32, instance: InstanceState) {
        self.count(&instance, true);
        if let Some(state) = self.states.get_mut(index as usize) {
            let generation = state.generation;
            *state = InstanceState {
                generation,
                has_rows: !self.rows_on_demand,
                ..instance
            };
        }
    }

    /// Assigns the ranges of all instances that were put back. No motion connects them with earlier
    /// frames.
    pub(crate) fn end_restore(&mut self) {
        self.compact();
        for index in 0..self.states.len() as u32 {
            self.restamp(index);
        }
    }

    /// The state of every index of the table, and the indices of the next instances, last first.
    pub(crate) fn all(&self) -> (&[InstanceState], &[u32]) {
        (&self.states, &self.free_indices)
    }

    /// Removes an instance. Returns its character and its index among the members.
    pub(crate) fn remove(&mut self, id: InstanceId) -> Result<(u32, u32)> {
        self.get(id)?;
        let instance = self.states[id.index as usize].clone();
        self.count(&instance, false);
        let instance = &mut self.states[id.index as usize];
        instance.alive = false;
        instance.generation = instance.generation.wrapping_add(1);
        let sizes = kind_of(&self.kinds, instance).sizes;
        let (record, words) = (&instance.record, sizes.words(instance.skin));
        if instance.has_rows {
            self.rows.free(instance.row, sizes.rows);
        }
        self.morphs.free(record.morphs, sizes.morphs);
        self.skinned.free(record.skinned, words);
        self.free_indices.push(id.index);
        Ok((instance.character, instance.member))
    }
}

/// The properties that an instance shares with the others of its character.
fn kind_of(kinds: &[Kind], instance: &InstanceState) -> Kind {
    let kind = kinds.get(instance.character as usize);
    kind.copied().unwrap_or_default()
}
