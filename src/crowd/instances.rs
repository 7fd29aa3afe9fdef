//! Instances: their table's mirror on the CPU, what changed of it, and where their palettes lie.

use super::{CharacterId, Crowd};
use crate::character::{Affine, Character};
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::layout::{self, SOURCE_RESIDENT, SOURCE_RING};
use crate::gpu::limit;
use crate::pose::{Layer, Looping, Mat3x4};
use bytemuck::Zeroable;

/// An instance. The number of a despawned one is never taken for a later one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstanceId {
    index: u32,
    generation: u32,
}

/// A clip of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ClipRef<'a> {
    /// None: the rest pose.
    #[default]
    Rest,
    /// By its index in [`Character::clips`].
    Index(usize),
    /// By its name.
    Name(&'a str),
}

/// A clip, and how it is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Play<'a> {
    /// Which clip.
    pub clip: ClipRef<'a>,
    /// The engine's time, in seconds, at which the clip stands at `offset_s`; `None`: the time of the
    /// frame begun last.
    pub start_s: Option<f64>,
    /// Where in the clip it starts, in seconds.
    pub offset_s: f64,
    /// Clip seconds per second; negative plays backwards, 0 holds.
    pub speed: f64,
    /// What happens past the end.
    pub looping: Looping,
}

impl Play<'_> {
    /// The rest pose.
    pub const REST: Self = Self {
        clip: ClipRef::Rest,
        start_s: None,
        offset_s: 0.0,
        speed: 1.0,
        looping: Looping::Loop,
    };
}

impl Default for Play<'_> {
    fn default() -> Self {
        Self::REST
    }
}

impl<'a> From<&'a str> for Play<'a> {
    fn from(name: &'a str) -> Self {
        Self {
            clip: ClipRef::Name(name),
            ..Self::REST
        }
    }
}

impl From<usize> for Play<'_> {
    fn from(index: usize) -> Self {
        Self {
            clip: ClipRef::Index(index),
            ..Self::REST
        }
    }
}

/// How an instance comes into the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spawn<'a> {
    /// World from character space.
    pub world_from_model: Affine,
    /// Linear RGBA, multiplies the base colour.
    pub tint: [f32; 4],
    /// Whatever the engine's shaders make of it.
    pub user: u32,
    /// What it plays; by default it stands in its rest pose.
    pub play: Play<'a>,
}

impl Default for Spawn<'_> {
    fn default() -> Self {
        Self {
            world_from_model: Affine::IDENTITY,
            tint: [1.0; 4],
            user: 0,
            play: Play::REST,
        }
    }
}

#[derive(Debug, Clone)]
struct Slot {
    record: layout::Instance,
    layer: Option<Layer>,
    generation: u32,
    alive: bool,
    dirty: bool,
    mirrored: bool,
    /// Its place among its character's members.
    place: u32,
    /// Its first entry in a slot of the palette ring, kept for it while it lives.
    ring_base: u32,
    entries: u32,
}

/// The instance table's mirror.
#[derive(Debug)]
pub(super) struct Instances {
    slots: Vec<Slot>,
    free: Vec<u32>,
    changed: Vec<u32>,
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
        for index in self.changed.drain(..) {
            if let Some(slot) = self.slots.get_mut(index as usize) {
                slot.dirty = false;
            }
        }
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

    fn get(&self, id: InstanceId) -> Result<&Slot> {
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
    fn change(&mut self, id: InstanceId, change: impl FnOnce(&mut Slot)) -> Result<()> {
        self.get(id)?;
        if let Some(slot) = self.slots.get_mut(id.index as usize) {
            change(slot);
        }
        self.touch(id.index);
        Ok(())
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
    }

    /// # Errors
    /// [`Error::Capacity`], by what ran out.
    fn check_room(&self, entries: u32) -> Result<()> {
        limit("instances", self.len() as u64 + 1, self.capacity.0.into())?;
        limit(
            "palette entries",
            u64::from(self.ring_used) + u64::from(entries),
            self.capacity.1.into(),
        )?;
        Ok(())
    }

    /// Adds an instance that there is room for.
    fn add(&mut self, mut slot: Slot) -> InstanceId {
        if u64::from(self.ring_end) + u64::from(slot.entries) > self.capacity.1.into() {
            self.compact();
        }
        slot.ring_base = self.ring_end;
        slot.place_palette();
        self.ring_end += slot.entries;
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
    fn remove(&mut self, id: InstanceId) -> Result<(u32, u32)> {
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
        self.free.push(id.index);
        Ok((slot.record.character, slot.place))
    }
}

impl Slot {
    /// Says in the record where the palette lies: in the ring while a clip plays, else in the
    /// character's own rest palette.
    fn place_palette(&mut self) {
        (self.record.source, self.record.palette_base) = if self.layer.is_some() {
            (SOURCE_RING, self.ring_base)
        } else {
            (SOURCE_RESIDENT, 0)
        };
    }
}

fn check_transform(world_from_model: &Affine) -> Result<()> {
    if world_from_model.is_finite() {
        return Ok(());
    }
    let why = ArgumentFault::Invalid("must be finite");
    Err(Error::Argument {
        what: "world_from_model",
        why,
    })
}

fn check_tint(tint: [f32; 4]) -> Result<()> {
    match tint.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(Error::Argument {
            what: "tint",
            why: ArgumentFault::NotFinite(f64::from(*value)),
        }),
    }
}

/// The layer that `play` asks for.
fn layer(rig: &Character, play: &Play<'_>, now_s: f64) -> Result<Option<Layer>> {
    let clip = match play.clip {
        ClipRef::Rest => return Ok(None),
        ClipRef::Name(name) => rig.find_clip(name)?,
        ClipRef::Index(index) if index < rig.clips().len() => index,
        ClipRef::Index(index) => {
            let count = rig.clips().len() as u64;
            return Err(Error::NotFound {
                what: "clip",
                index: index as u64,
                count,
            });
        }
    };
    let start_s = play.start_s.unwrap_or(now_s);
    for (what, value) in [
        ("Play::start_s", start_s),
        ("Play::offset_s", play.offset_s),
        ("Play::speed", play.speed),
    ] {
        if !value.is_finite() {
            return Err(Error::Argument {
                what,
                why: ArgumentFault::NotFinite(value),
            });
        }
    }
    Ok(Some(Layer {
        clip,
        start_s,
        offset_s: play.offset_s,
        speed: play.speed,
        looping: play.looping,
    }))
}

impl Crowd {
    /// Puts an instance of `character` into the world.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a character or clip that there is not, [`Error::Unnamed`] likewise;
    /// [`Error::Capacity`] when there is no room for another instance or its palette (see
    /// [`Crowd::reserve`]); [`Error::Argument`] for values that are not finite.
    pub fn spawn(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<InstanceId> {
        let entry = self.entry(character)?;
        let entries = entry.rig.palette().len() as u32;
        let place = entry.members.len() as u32;
        let layer = layer(&entry.rig, &spawn.play, self.time_s)?;
        check_transform(&spawn.world_from_model)?;
        check_tint(spawn.tint)?;
        self.instances.check_room(entries)?;
        let id = self.instances.add(Slot {
            record: layout::Instance {
                world_from_model: Mat3x4::from_affine(&spawn.world_from_model),
                tint: spawn.tint,
                character: character.0,
                user: spawn.user,
                ..Zeroable::zeroed()
            },
            layer,
            generation: 0,
            alive: true,
            dirty: false,
            mirrored: is_mirrored(&spawn.world_from_model),
            place,
            ring_base: 0,
            entries,
        });
        if let Some(Some(entry)) = self.characters.get_mut(character.0 as usize) {
            entry.members.push(id.index);
        }
        Ok(id)
    }

    /// Takes an instance out of the world.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn despawn(&mut self, id: InstanceId) -> Result<()> {
        let (character, place) = self.instances.remove(id)?;
        if let Some(Some(entry)) = self.characters.get_mut(character as usize) {
            entry.members.swap_remove(place as usize);
            if let Some(moved) = entry.members.get(place as usize)
                && let Some(slot) = self.instances.slots.get_mut(*moved as usize)
            {
                slot.place = place;
            }
        }
        Ok(())
    }

    /// Whether the instance is alive.
    #[must_use]
    pub fn is_alive(&self, id: InstanceId) -> bool {
        self.instances.get(id).is_ok()
    }

    /// The instance's slot in the instance table, for shaders of the engine's own.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn table_index(&self, id: InstanceId) -> Result<u32> {
        self.instances.get(id).map(|_| id.index)
    }

    /// The instance's record, as the next prepared frame has it.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn instance(&self, id: InstanceId) -> Result<layout::Instance> {
        self.instances.get(id).map(|slot| slot.record)
    }

    /// Moves an instance.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive, [`Error::Argument`] for a transform
    /// that is not finite.
    pub fn set_transform(&mut self, id: InstanceId, world_from_model: &Affine) -> Result<()> {
        check_transform(world_from_model)?;
        self.instances.change(id, |slot| {
            slot.record.world_from_model = Mat3x4::from_affine(world_from_model);
            slot.mirrored = is_mirrored(world_from_model);
        })
    }

    /// Colours an instance: linear RGBA, multiplies the base colour.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive, [`Error::Argument`] for values that are
    /// not finite.
    pub fn set_tint(&mut self, id: InstanceId, tint: [f32; 4]) -> Result<()> {
        check_tint(tint)?;
        self.instances.change(id, |slot| slot.record.tint = tint)
    }

    /// Sets the word that the engine's own shaders read.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn set_user(&mut self, id: InstanceId, user: u32) -> Result<()> {
        self.instances.change(id, |slot| slot.record.user = user)
    }

    /// Plays a clip on an instance: a name, an index, or a [`Play`] that says more.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive; [`Error::Unnamed`] or
    /// [`Error::NotFound`] for a clip that its character lacks; [`Error::Argument`] for values that
    /// are not finite.
    pub fn play<'a>(&mut self, id: InstanceId, play: impl Into<Play<'a>>) -> Result<()> {
        let character = self.instances.get(id)?.record.character;
        let layer = layer(
            &self.entry(CharacterId(character))?.rig,
            &play.into(),
            self.time_s,
        )?;
        let slot = self.instances.get(id)?;
        // The record changes only when the palette moves between ring and rest.
        if slot.layer.is_some() == layer.is_some() {
            if let Some(slot) = self.instances.slots.get_mut(id.index as usize) {
                slot.layer = layer;
            }
            return Ok(());
        }
        self.instances.change(id, |slot| {
            slot.layer = layer;
            slot.place_palette();
        })
    }

    /// What the instance plays; `None` for the rest pose.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn playing(&self, id: InstanceId) -> Result<Option<Layer>> {
        self.instances.get(id).map(|slot| slot.layer)
    }
}

fn is_mirrored(transform: &Affine) -> bool {
    transform.matrix3.determinant() < 0.0
}
