//! Instances: their table's mirror on the CPU, what changed of it, and where their palettes lie.

use crate::error::{Error, Result};
use crate::gpu::layout::{self, SOURCE_RESIDENT, SOURCE_RING};
use crate::gpu::limit;
use crate::pose::Layer;
use bytemuck::Zeroable;
use std::collections::BTreeMap;

/// An instance. The number of a despawned one is never taken for a later one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstanceId {
    pub(super) index: u32,
    generation: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) record: layout::Instance,
    pub(super) layer: Option<Layer>,
    pub(super) generation: u32,
    pub(super) alive: bool,
    pub(super) dirty: bool,
    pub(super) mirrored: bool,
    /// Its place among its character's members.
    pub(super) place: u32,
    /// Its first entry in a slot of the palette ring, kept for it while it lives.
    pub(super) ring_base: u32,
    pub(super) entries: u32,
}

/// The instance table's mirror.
#[derive(Debug)]
pub(super) struct Instances {
    pub(super) slots: Vec<Slot>,
    free: Vec<u32>,
    changed: Vec<u32>,
    /// What [`Self::settle`] found changed last.
    settled: Vec<u32>,
    /// Free ranges of the palette ring, by their length: where they start.
    holes: BTreeMap<u32, Vec<u32>>,
    /// Most instances and palette entries.
    capacity: (u32, u32),
    /// First palette entry that no instance has been given since the last compaction.
    ring_end: u32,
    /// Palette entries of all living instances.
    ring_used: u32,
}

impl Instances {
    pub(super) fn new(instances: u32, palette_entries: u32) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            changed: Vec::with_capacity(instances as usize),
            settled: Vec::with_capacity(instances as usize),
            holes: BTreeMap::new(),
            capacity: (instances, palette_entries),
            ring_end: 0,
            ring_used: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// More room, over a table that holds nothing yet: every living record counts as changed.
    pub(super) fn grow(&mut self, instances: u32, palette_entries: u32) {
        self.capacity = (instances, palette_entries);
        self.changed
            .reserve((instances as usize).saturating_sub(self.changed.len()));
        self.settled
            .reserve((instances as usize).saturating_sub(self.settled.len()));
        for index in 0..self.slots.len() as u32 {
            self.touch(index);
        }
    }

    fn touch(&mut self, index: u32) {
        if let Some(slot) = self.slots.get_mut(index as usize)
            && slot.alive
            && !slot.dirty
        {
            slot.dirty = true;
            self.changed.push(index);
        }
    }

    /// The table indices of the records that changed since [`Self::settle`]. A slot that died in between
    /// may be among them; its record does no harm.
    pub(super) fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// The changes have been recorded.
    pub(super) fn settle(&mut self) {
        self.settled.clear();
        core::mem::swap(&mut self.changed, &mut self.settled);
        for index in &self.settled {
            if let Some(slot) = self.slots.get_mut(*index as usize) {
                slot.dirty = false;
            }
        }
    }

    /// What was settled last never reached the GPU: it counts as changed again.
    pub(super) fn unsettle(&mut self) {
        for index in core::mem::take(&mut self.settled) {
            self.touch(index);
        }
        self.settled.reserve(self.capacity.0 as usize);
    }

    pub(super) fn record(&self, index: u32) -> layout::Instance {
        self.slots
            .get(index as usize)
            .map_or_else(layout::Instance::zeroed, |slot| slot.record)
    }

    pub(super) fn is_mirrored(&self, index: u32) -> bool {
        self.slots
            .get(index as usize)
            .is_some_and(|slot| slot.mirrored)
    }

    /// What an instance plays and where its palette goes: (layer, first entry, entries).
    pub(super) fn animated(&self, index: u32) -> Option<(Layer, u32, u32)> {
        let slot = self.slots.get(index as usize)?;
        Some((slot.layer?, slot.ring_base, slot.entries))
    }

    /// One past the last palette entry that an instance may write.
    pub(super) fn ring_end(&self) -> u32 {
        self.ring_end
    }

    pub(super) fn get(&self, id: InstanceId) -> Result<&Slot> {
        let count = self.slots.len() as u64;
        let missing = Error::NotFound {
            what: "instance",
            index: id.index.into(),
            count,
        };
        let slot = self.slots.get(id.index as usize).ok_or(missing)?;
        if slot.alive && slot.generation == id.generation {
            return Ok(slot);
        }
        let (index, generation) = (id.index, id.generation);
        Err(Error::Stale {
            what: "instance",
            index,
            generation,
            alive: slot.generation,
        })
    }

    /// Changes an instance and marks its record as changed.
    pub(super) fn change(&mut self, id: InstanceId, change: impl FnOnce(&mut Slot)) -> Result<()> {
        self.get(id)?;
        if let Some(slot) = self.slots.get_mut(id.index as usize) {
            change(slot);
        }
        self.touch(id.index);
        Ok(())
    }

    /// The start of `entries` free entries of the ring, for which there is room: where another instance of
    /// that size has been, else at the end.
    fn take_entries(&mut self, entries: u32) -> u32 {
        if let Some(base) = self.holes.get_mut(&entries).and_then(Vec::pop) {
            return base;
        }
        if u64::from(self.ring_end) + u64::from(entries) > self.capacity.1.into() {
            self.compact();
        }
        let base = self.ring_end;
        self.ring_end += entries;
        base
    }

    /// Gives the ring's entries anew, without gaps. Nothing has to be moved: every palette in the ring
    /// is written in every frame.
    fn compact(&mut self) {
        let mut end = 0;
        for index in 0..self.slots.len() as u32 {
            let Some(slot) = self.slots.get_mut(index as usize).filter(|slot| slot.alive) else {
                continue;
            };
            let moved = slot.ring_base != end;
            slot.ring_base = end;
            end += slot.entries;
            if moved && slot.record.source == SOURCE_RING {
                slot.place_palette();
                self.touch(index);
            }
        }
        self.ring_end = end;
        self.holes.clear();
    }

    /// # Errors
    /// [`Error::Capacity`], by what ran out.
    pub(super) fn check_room(&self, entries: u32) -> Result<()> {
        limit("instances", self.len() as u64 + 1, self.capacity.0.into())?;
        limit(
            "palette entries",
            u64::from(self.ring_used) + u64::from(entries),
            self.capacity.1.into(),
        )?;
        Ok(())
    }

    /// Adds an instance that there is room for.
    pub(super) fn add(&mut self, mut slot: Slot) -> InstanceId {
        slot.ring_base = self.take_entries(slot.entries);
        slot.place_palette();
        self.ring_used += slot.entries;
        let index = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(index as usize) {
            Some(old) => {
                (slot.generation, slot.dirty) = (old.generation, old.dirty);
                *old = slot.clone();
            }
            None => self.slots.push(slot.clone()),
        }
        self.touch(index);
        InstanceId {
            index,
            generation: slot.generation,
        }
    }

    /// Ends an instance; returns its character and its place among the members.
    pub(super) fn remove(&mut self, id: InstanceId) -> Result<(u32, u32)> {
        self.get(id)?;
        let count = self.slots.len() as u64;
        let missing = Error::NotFound {
            what: "instance",
            index: id.index.into(),
            count,
        };
        let slot = self.slots.get_mut(id.index as usize).ok_or(missing)?;
        slot.alive = false;
        slot.generation = slot.generation.wrapping_add(1);
        self.ring_used -= slot.entries;
        self.holes
            .entry(slot.entries)
            .or_default()
            .push(slot.ring_base);
        self.free.push(id.index);
        Ok((slot.record.character, slot.place))
    }
}

impl Slot {
    /// Says in the record where the palette lies: in the ring while a clip plays, else in the
    /// character's own rest palette.
    pub(super) fn place_palette(&mut self) {
        (self.record.source, self.record.palette_base) = if self.layer.is_some() {
            (SOURCE_RING, self.ring_base)
        } else {
            (SOURCE_RESIDENT, 0)
        };
    }
}
