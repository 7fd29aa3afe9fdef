//! The animate and palette stages of a frame.
//!
//! The animators of all characters evaluate their instances straight into the ring.

use super::animated::{Animated, Destination};
use super::buffers::Written;
use super::characters::Entry;
use super::instances::Instances;
use super::state::Crowd;
use super::{Frame, InstanceId, SkinningStage};
use crate::animate::Starts;
use crate::animator::ActorId;
use crate::error::Result;
use crate::gpu::palettes::ROW_BYTES;
use core::ptr::NonNull;
use glam::Affine3A;
use std::time::Instant;

impl Frame<'_> {
    /// Evaluates every instance that is shown and not at rest.
    ///
    /// Palettes go straight into the palette ring. Morph weights are written for the instances that
    /// have them.
    pub(super) fn write_poses(&mut self, written: &mut Written) -> Result<()> {
        let started = Instant::now();
        let crowd = &mut *self.crowd;
        if crowd.instances.take_moved() {
            crowd.animated.forget();
        }
        crowd.deforms.clear();
        crowd.animated.any_in_ring = false;
        for character in 0..crowd.characters.len() {
            crowd.animate(self.frame_index, character)?;
        }
        written.morphs = u64::from(crowd.instances.morphs_end()) * 4;
        crowd.counters.animate_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }
}

impl Crowd {
    /// Evaluates the instances of one character.
    fn animate(&mut self, frame_index: u32, character: usize) -> Result<()> {
        let Some(Some(entry)) = self.characters.get_mut(character) else {
            return Ok(());
        };
        let animated = &mut self.animated;
        animated.actors.clear();
        animated.places.clear();
        animated.deformed.clear();
        let rows = entry.rig.palette().len() as u32 * entry.mesh.entry_rows();
        for index in &entry.members {
            if !self.visibility.is_shown(*index) {
                continue;
            }
            let Some(instance) = self.instances.state(*index) else {
                continue;
            };
            let (actor, row) = (instance.actor, instance.rows.start);
            let deform = instance.skin == SkinningStage::Cpu;
            let rests = entry.animator.is_resting(actor);
            self.instances.set_in_ring(*index, !rests);
            animated.any_in_ring |= !rests;
            let place = match (rests, deform) {
                (true, _) => None,
                (false, false) => Some(Destination::Ring(row)),
                (false, true) => Some(Destination::Deform(self.deforms.take_rows(rows), row)),
            };
            if deform {
                let start = place.and_then(|place| match place {
                    Destination::Deform(start, _) => Some(start),
                    Destination::Ring(_) => None,
                });
                animated.deformed.push((*index, start));
            }
            let still = entry.animator.still_pose(actor).filter(|_| !deform);
            if let Some(place) = place
                && animated.must_write(frame_index, *index, still)
            {
                animated.actors.push(actor.index);
                animated.places.push(place);
            }
        }
        self.write_palettes(frame_index, character)?;
        self.write_weights(frame_index, character)
    }

    /// Writes the palettes of the actors that [`Self::animate`] collected.
    fn write_palettes(&mut self, frame_index: u32, character: usize) -> Result<()> {
        let Some(Some(entry)) = self.characters.get_mut(character) else {
            return Ok(());
        };
        if self.animated.actors.is_empty() {
            return Ok(());
        }
        self.animated.order();
        let Animated {
            ordered: (actors, places),
            starts,
            ..
        } = &mut self.animated;
        let format = entry.mesh.format();
        let rows = entry.rig.palette().len() * entry.mesh.entry_rows() as usize;
        let ring = self.buffers.palettes.mapped_start(frame_index);
        let Some(ring) = ring.map(NonNull::as_ptr) else {
            return Ok(());
        };
        let deform = self.deforms.rows_start();
        starts.0.clear();
        starts.0.extend(places.iter().map(|place| match place {
            Destination::Ring(row) => ring.wrapping_add(*row as usize * ROW_BYTES as usize),
            Destination::Deform(row, _) => deform.wrapping_add(row * ROW_BYTES as usize),
        }));
        // SAFETY: each instance has rows of its own, in the ring or among those that are skinned on
        // the CPU; the frame index's earlier work has ended, by the contract of `begin_frame`.
        unsafe {
            let starts = Starts::Each(&starts.0);
            entry.animator.write_palettes(actors, format, starts);
        }
        for place in places.iter() {
            if let Destination::Deform(start, row) = place {
                let rows = bytemuck::cast_slice::<_, u8>(self.deforms.rows(*start, rows));
                let to = ring.wrapping_add(*row as usize * ROW_BYTES as usize);
                // SAFETY: the rows of this instance in the ring are its own, and the source is not
                // in the ring.
                unsafe { to.copy_from_nonoverlapping(rows.as_ptr(), rows.len()) };
            }
        }
        let counters = &mut self.counters;
        counters.animated += actors.len() as u32;
        counters.palette_entries += (actors.len() * entry.rig.palette().len()) as u32;
        counters.upload_bytes += actors.len() as u64 * rows as u64 * ROW_BYTES;
        Ok(())
    }

    /// Writes the morph weights of a character's instances, and lists those that the CPU skins.
    fn write_weights(&mut self, frame_index: u32, character: usize) -> Result<()> {
        let Some(Some(entry)) = self.characters.get(character) else {
            return Ok(());
        };
        let count = entry.rig.morph_weights().len();
        if count == 0 && self.animated.deformed.is_empty() {
            return Ok(());
        }
        let mut deformed = self.animated.deformed.iter().peekable();
        for index in &entry.members {
            if !self.visibility.is_shown(*index) {
                continue;
            }
            let Some(instance) = self.instances.state(*index) else {
                continue;
            };
            self.weights.resize(count, 0.0);
            if count > 0 {
                let actor = instance.actor.index;
                entry.animator.write_weights(actor, &mut self.weights);
                let at = u64::from(instance.morphs.start) * 4;
                let active = active_count(&self.weights);
                let words = 1 + 2 * active as usize;
                let section = self.buffers.sections.morphs;
                // SAFETY: the frame index's earlier work has ended, by the contract of
                // `begin_frame`.
                let out = unsafe { self.buffers.write::<u32>(frame_index, section, at, words) };
                let listed = (0..)
                    .zip(&self.weights)
                    .filter(|(_, weight)| **weight != 0.0);
                let words =
                    listed.flat_map(|(index, weight): (u32, &f32)| [index, weight.to_bits()]);
                if let Some(mut out) = out {
                    out.fill_from(core::iter::once(active).chain(words))?;
                }
            }
            if let Some((_, start)) = deformed.next_if(|(of, _)| of == index) {
                let rows = instance.rows.size as usize;
                let rows = start.map(|start| start..start + rows);
                let skinned = (instance.skinned.start, instance.skinned.size);
                let character = instance.record.character;
                self.deforms.add(character, rows, skinned, &self.weights);
            }
        }
        Ok(())
    }

    /// Moves the animators of all characters to the frame's time, and applies root motion.
    pub(super) fn update_animators(&mut self, time_s: f64) -> Result<()> {
        let started = Instant::now();
        for character in 0..self.characters.len() {
            let Some(Some(entry)) = self.characters.get_mut(character) else {
                continue;
            };
            entry.animator.update(time_s)?;
            if entry.rooted > 0 {
                self.apply_root_motion(character)?;
            }
        }
        self.counters.update_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }
}

impl Entry {
    /// Tells the spring bones of an actor where its instance is. `jump` moves them along.
    pub(super) fn move_springs(
        &mut self,
        actor: ActorId,
        world_from_model: &Affine3A,
        jump: bool,
    ) -> Result<()> {
        if !self.animator.has_springs() {
            return Ok(());
        }
        match jump {
            true => self.animator.teleport(actor, world_from_model),
            false => self.animator.set_world(actor, world_from_model),
        }
    }

    /// The instance of an actor.
    pub(super) fn instance(&self, instances: &Instances, actor: u32) -> Option<InstanceId> {
        let index = self.instance_of_actor.get(actor as usize)?;
        instances.id(*index)
    }
}

/// The number of weights that are not 0. Only these cost anything.
fn active_count(weights: &[f32]) -> u32 {
    weights.iter().filter(|weight| **weight != 0.0).count() as u32
}
