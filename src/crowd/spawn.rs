//! What the engine does with instances: spawn, play, move, despawn.

use super::instances::{Share, SkinMode, Slot, morph_words};
use super::skin::skinned_words;
use super::{CharacterId, Crowd, InstanceId};
use crate::character::{Affine, Character};
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::layout;
use crate::pose::{Layer, LoopMode, Mat3x4};
use bytemuck::Zeroable;

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
    /// Where in the clip it starts, in seconds. To play a clip once backwards, its duration.
    pub offset_s: f64,
    /// Clip seconds per second; negative plays backwards, 0 holds.
    pub speed: f64,
    /// What happens past the end.
    pub loop_mode: LoopMode,
}

impl Play<'_> {
    /// The rest pose.
    pub const REST: Self = Self {
        clip: ClipRef::Rest,
        start_s: None,
        offset_s: 0.0,
        speed: 1.0,
        loop_mode: LoopMode::Loop,
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
    /// Linear RGBA, multiplies the base colour; see [`Crowd::set_tint`].
    pub tint: [f32; 4],
    /// Whatever the engine's shaders make of it.
    pub user: u32,
    /// What it plays; by default it stands in its rest pose.
    pub play: Play<'a>,
    /// Where its vertices are deformed.
    pub skin: SkinMode,
}

impl Default for Spawn<'_> {
    fn default() -> Self {
        Self {
            world_from_model: Affine::IDENTITY,
            tint: [1.0; 4],
            user: 0,
            play: Play::REST,
            skin: SkinMode::Vertex,
        }
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
        ClipRef::Name(name) => rig.clip(name)?.index(),
        ClipRef::Index(index) if index < rig.clip_count() => index,
        ClipRef::Index(index) => {
            let count = rig.clip_count() as u64;
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
    Ok(Some(
        Layer::new(clip, start_s)
            .with_offset(play.offset_s)
            .with_speed(play.speed)
            .with_loop_mode(play.loop_mode),
    ))
}

impl Crowd {
    /// Puts an instance of `character` into the world.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a character or clip that there is not, [`Error::UnknownName`] likewise;
    /// [`Error::Capacity`] when there is no room for another instance, its palette, morph weights or deformed vertices (see
    /// [`Crowd::reserve`]); [`Error::Argument`] for values that are not finite, and for [`SkinMode::Cpu`] where the
    /// character was added without [`CharacterDesc::cpu_skinning`](super::CharacterDesc::cpu_skinning).
    pub fn spawn(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<InstanceId> {
        let entry = self.entry(character)?;
        let rows = entry.rig.palette().len() as u32 * entry.mesh.entry_rows();
        let morphs = morph_words(entry.rig.morph_weights().len());
        let skinned = skinned_words(entry, spawn.skin)?;
        let place = entry.members.len() as u32;
        let layer = layer(&entry.rig, &spawn.play, self.time_s)?;
        check_transform(&spawn.world_from_model)?;
        check_tint(spawn.tint)?;
        self.instances
            .check_room(rows, morphs, (spawn.skin, skinned))?;
        let mirrored = is_mirrored(&spawn.world_from_model);
        let share = |size| Share { start: 0, size };
        let id = self.instances.add(Slot {
            record: layout::Instance {
                world_from_model: Mat3x4::from_affine(&spawn.world_from_model),
                tint: spawn.tint,
                character: character.0,
                user: spawn.user,
                ..Zeroable::zeroed()
            },
            layer,
            posed: false,
            model: Vec::new(),
            generation: 0,
            alive: true,
            dirty: false,
            mirrored,
            place,
            skin: spawn.skin,
            rows: share(rows),
            morphs: share(morphs),
            skinned: share(skinned),
            weights: Vec::new(),
        });
        if let Some(Some(entry)) = self.characters.get_mut(character.0 as usize) {
            entry.members.push(id.index);
            entry.mirrored += usize::from(mirrored);
        }
        self.deforms.make_room(self.instances.twins());
        Ok(id)
    }

    /// Takes an instance out of the world.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn despawn(&mut self, id: InstanceId) -> Result<()> {
        let mirrored = self.instances.get(id)?.mirrored;
        let (character, place) = self.instances.remove(id)?;
        if let Some(Some(entry)) = self.characters.get_mut(character as usize) {
            entry.mirrored -= usize::from(mirrored);
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

    /// Moves an instance. What motion vectors see is a motion from where it was in the view's last frame; after
    /// [`Self::teleport`] they see none.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive, [`Error::Argument`] for a transform
    /// that is not finite.
    pub fn set_transform(&mut self, id: InstanceId, world_from_model: &Affine) -> Result<()> {
        self.place(id, world_from_model, false)
    }

    /// Puts an instance somewhere else without a motion in between: to motion vectors, it has been there, in its
    /// present pose, in every view's last frame.
    ///
    /// # Errors
    /// As [`Self::set_transform`].
    pub fn teleport(&mut self, id: InstanceId, world_from_model: &Affine) -> Result<()> {
        self.place(id, world_from_model, true)
    }

    fn place(&mut self, id: InstanceId, world_from_model: &Affine, jump: bool) -> Result<()> {
        check_transform(world_from_model)?;
        let slot = self.instances.get(id)?;
        let (before, now) = (slot.mirrored, is_mirrored(world_from_model));
        let character = slot.record.character;
        if before != now
            && let Some(Some(entry)) = self.characters.get_mut(character as usize)
        {
            entry.mirrored = entry.mirrored + usize::from(now) - usize::from(before);
        }
        let stamp = jump.then(|| self.instances.new_stamp());
        self.instances.change(id, |slot| {
            slot.record.world_from_model = Mat3x4::from_affine(world_from_model);
            slot.record.stamp = stamp.unwrap_or(slot.record.stamp);
            slot.mirrored = now;
        })
    }

    /// Colours an instance: linear RGBA, multiplies the base colour. Alpha counts where the material masks or
    /// blends.
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
    /// [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive; [`Error::UnknownName`] or
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
        if slot.moves() == layer.is_some() {
            if let Some(slot) = self.instances.slots.get_mut(id.index as usize) {
                (slot.layer, slot.posed) = (layer, false);
            }
            return Ok(());
        }
        self.instances.change(id, |slot| {
            (slot.layer, slot.posed) = (layer, false);
            slot.place_shares();
        })
    }

    /// What the instance plays, with weight 1; `None` for the rest pose and for [`Self::set_model_pose`].
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
