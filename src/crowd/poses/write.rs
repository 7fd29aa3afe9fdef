//! The animate and palette stages of a frame.
//!
//! The animators of all characters evaluate their instances straight into the ring.

use crate::animate::Starts;
use crate::animator::{Animator, PoseChange};
use crate::crowd::Crowd;
use crate::crowd::frame::Frame;
use crate::crowd::instances::state::InstanceState;
use crate::crowd::memory::buffers::{FrameBuffers, SectionBytes};
use crate::crowd::poses::pose_scratch::{Destination, PoseScratch};
use crate::crowd::scene::Scene;
use crate::crowd::{CharacterId, SkinningStage};
use crate::error::Result;
use crate::gpu::palettes::ROW_BYTES;
use core::ptr::NonNull;
use std::time::Instant;

impl Frame<'_> {
    /// Evaluates every instance that is shown and not at rest.
    ///
    /// Palettes go straight into the palette ring. Morph weights are written for the instances that
    /// have them.
    pub(crate) fn write_poses(&mut self, written: &mut SectionBytes) -> Result<()> {
        let started = Instant::now();
        let crowd = &mut *self.crowd;
        crowd.scene.gather_active();
        crowd.scene.cpu_skinning.clear();
        crowd.scene.pose_scratch.begin();
        for character in 0..crowd.scene.characters.len() as u32 {
            if !crowd.scene.pose_scratch.range(character).is_empty() {
                crowd.animate(self.frame_index, character)?;
            }
        }
        crowd.rest_unseen();
        if !crowd.scene.visibility.is_on_gpu() {
            written.morphs = u64::from(crowd.scene.instances.morphs_end()) * 4;
        }
        crowd.frame.counters.animate_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }
}

impl Crowd {
    /// Evaluates the active instances of one character that are shown.
    fn animate(&mut self, frame_index: u32, character: u32) -> Result<()> {
        span!("animate");
        let loaded = &self.scene.characters[character];
        let animator = &self.animators[character];
        let scratch = &mut self.scene.pose_scratch;
        let range = scratch.range(character);
        scratch.actors.clear();
        scratch.destinations.clear();
        scratch.deformed.clear();
        let (rows, on_cpu) = (loaded.palette_rows(), loaded.slot.is_none());
        for at in range {
            let index = scratch.shown[at];
            let instance = &self.scene.instances[index];
            let (actor, row, stage) = (instance.actor, instance.row, instance.skin);
            let deform = stage == SkinningStage::Cpu;
            let change = animator.pose_change(actor);
            let rests = change == PoseChange::Rests || !instance.has_rows;
            // Of those that the GPU lists, it knows whom the last frame showed.
            if self.scene.visibility.pose(index) && on_cpu {
                self.scene.instances.restamp(index);
            }
            self.scene.instances.set_in_ring(index, !rests);
            scratch.any_in_ring |= !rests;
            if stage == SkinningStage::Compute {
                scratch.computed.push((character, index));
            }
            let destination = match (rests, deform) {
                (true, _) => None,
                (false, false) => Some(Destination::Ring(row)),
                (false, true) => Some(Destination::Deform(
                    self.scene.cpu_skinning.take_rows(rows),
                    row,
                )),
            };
            if deform {
                let start = destination.and_then(|to| match to {
                    Destination::Deform(start, _) => Some(start as usize),
                    Destination::Ring(_) => None,
                });
                scratch.deformed.push((index, start));
            }
            let still = match change {
                PoseChange::Still(version) if !deform => Some(version),
                _ => None,
            };
            if let Some(destination) = destination
                && scratch.must_write(frame_index, index, still)
            {
                scratch.actors.push(actor.index);
                scratch.destinations.push(destination);
            }
        }
        self.write_palettes(frame_index, character)?;
        self.write_weights(frame_index, character)?;
        self.rest(character);
        Ok(())
    }

    /// Lets instances rest that came to their rest pose where no view shows them.
    fn rest_unseen(&mut self) {
        let scene = &mut self.scene;
        while let Some(index) = scene.pose_scratch.resting.pop() {
            let instance = &scene.instances[index];
            let rests =
                |animator: &Animator| animator.pose_change(instance.actor) == PoseChange::Rests;
            let rests = instance.alive && rests(&self.animators[instance.character]);
            let vertex = instance.skin == SkinningStage::Vertex && !instance.has_morphs();
            if !rests || !vertex || scene.visibility.is_shown(index) {
                continue;
            }
            if instance.in_ring {
                if scene.characters[instance.character].slot.is_none() {
                    // The last frame may not have had the pose that its record names.
                    scene.instances.restamp(index);
                }
                scene.instances.set_in_ring(index, false);
            }
            scene.visibility.deactivate(index, false);
        }
    }

    /// Lets instances rest whose poses all frames in flight have, until they change.
    fn rest(&mut self, character: u32) {
        let animator = &self.animators[character];
        let Scene {
            instances,
            visibility,
            pose_scratch,
            ..
        } = &mut self.scene;
        for at in pose_scratch.range(character) {
            let index = pose_scratch.shown[at];
            let instance = &instances[index];
            // Without a cull stage on the GPU, each frame has morph weights of its own.
            let weights = instance.has_morphs() && !visibility.is_on_gpu();
            if weights || instance.skin != SkinningStage::Vertex {
                continue;
            }
            let kept = match animator.pose_change(instance.actor) {
                PoseChange::Rests => false,
                PoseChange::Still(version) if pose_scratch.is_everywhere(index, version) => true,
                PoseChange::Still(_) | PoseChange::Moves => continue,
            };
            visibility.deactivate(index, kept);
            pose_scratch.rested.push(index);
        }
    }

    /// Writes the palettes of the actors that [`Self::animate`] collected.
    fn write_palettes(&mut self, frame_index: u32, character: u32) -> Result<()> {
        let loaded = &self.scene.characters[character];
        let animator = &mut self.animators[character];
        if self.scene.pose_scratch.actors.is_empty() {
            return Ok(());
        }
        let format = loaded.mesh.format();
        let rows = loaded.palette_rows() as usize;
        let ring = self.memory.buffers.palettes.mapped_start(frame_index);
        let Some(ring) = ring.map(NonNull::as_ptr) else {
            return Ok(());
        };
        let deform = self.scene.cpu_skinning.rows_start();
        self.scene.pose_scratch.note_rows(rows as u32);
        self.scene.pose_scratch.order(|to| {
            let (start, row) = match to {
                Destination::Ring(row) => (ring, row),
                Destination::Deform(row, _) => (deform, row),
            };
            start.wrapping_add(row as usize * ROW_BYTES as usize)
        });
        let PoseScratch {
            ordered: (actors, starts),
            destinations,
            ..
        } = &self.scene.pose_scratch;
        // SAFETY: each instance has rows of its own, in the ring or among those that are skinned on
        // the CPU; the frame index's earlier work has ended, by the contract of `begin_frame`.
        unsafe {
            let starts = Starts::Each(&starts.0);
            animator.write_palettes(actors, format, starts);
        }
        for destination in destinations.iter() {
            if let Destination::Deform(start, row) = destination {
                let rows = self.scene.cpu_skinning.rows(*start as usize, rows);
                let rows = bytemuck::cast_slice::<_, u8>(rows);
                let to = ring.wrapping_add(*row as usize * ROW_BYTES as usize);
                // SAFETY: the rows of this instance in the ring are its own, and the source is not
                // in the ring.
                unsafe { to.copy_from_nonoverlapping(rows.as_ptr(), rows.len()) };
            }
        }
        let counters = &mut self.frame.counters;
        counters.animated += actors.len() as u32;
        counters.palette_entries += (actors.len() * loaded.rig.palette().len()) as u32;
        counters.upload_bytes += actors.len() as u64 * rows as u64 * ROW_BYTES;
        Ok(())
    }

    /// Writes the morph weights of a character's instances, and lists those that the CPU skins.
    fn write_weights(&mut self, frame_index: u32, character: u32) -> Result<()> {
        let loaded = &self.scene.characters[character];
        let animator = &self.animators[character];
        let count = loaded.rig.morph_weights().len();
        if count == 0 && self.scene.pose_scratch.deformed.is_empty() {
            return Ok(());
        }
        let mut deformed = self.scene.pose_scratch.deformed.iter().peekable();
        let own = self.scene.pose_scratch.range(character);
        for index in self.scene.pose_scratch.shown.get(own).unwrap_or_default() {
            let instance = &self.scene.instances[*index];
            self.frame.weights.resize(count, 0.0);
            if count > 0 {
                animator.write_weights(instance.actor.index, &mut self.frame.weights);
                let (weights, buffers) = (&self.frame.weights, &mut self.memory.buffers);
                put_weights(buffers, frame_index, instance, weights)?;
            }
            if let Some((_, start)) = deformed.next_if(|(of, _)| of == index) {
                let sizes = loaded.sizes();
                let rows = start.map(|start| start..start + sizes.rows as usize);
                let skinned = (instance.record.skinned, sizes.words(instance.skin));
                let character = instance.character;
                self.scene
                    .cpu_skinning
                    .add(character, rows, skinned, &self.frame.weights);
            }
        }
        Ok(())
    }

    /// Writes the morph weights of an instance that has some.
    pub(crate) fn write_weights_of(&mut self, frame_index: u32, index: u32) -> Result<()> {
        let (instance, weights) = (&self.scene.instances[index], &mut self.frame.weights);
        let loaded = &self.scene.characters[instance.character];
        weights.resize(loaded.rig.morph_weights().len(), 0.0);
        let animator = &self.animators[instance.character];
        animator.write_weights(instance.actor.index, weights);
        put_weights(&mut self.memory.buffers, frame_index, instance, weights)
    }

    /// Moves the animators of all characters to the frame's time, and applies root motion.
    pub(crate) fn update_animators(&mut self, time_s: f64) -> Result<()> {
        let started = Instant::now();
        for character in 0..self.animators.len() as u32 {
            let Some(animator) = self.animators.get_mut(character) else {
                continue;
            };
            animator.update(time_s)?;
            if animator.has_rooted() {
                self.apply_root_motion(CharacterId(character))?;
            }
        }
        self.frame.counters.update_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// Moves the instances of a character that follow their root motion.
    fn apply_root_motion(&mut self, character: CharacterId) -> Result<()> {
        let animator = self.animators.of_mut(character)?;
        let scene = &mut self.scene;
        for at in 0..animator.visited().len() {
            let visited = animator.visited().get(at).copied();
            let id = visited.and_then(|actor| scene.instance_of(character.0, actor));
            let Some(id) = id else { continue };
            let state = &scene.instances[id.index];
            if state.character != character.0 || Some(state.actor.index) != visited {
                // The actor of an instance that was despawned.
                continue;
            }
            // The transform of an attached instance follows from its parent's.
            if scene.attachments.of(id.index).is_some() {
                continue;
            }
            let actor = scene.instances[id.index].actor;
            if let Some(world) = animator.root_moved_to(actor) {
                scene.put(animator, id, &world, false);
            }
        }
        Ok(())
    }
}

/// Writes morph weights of an instance, and copies them to the work buffer, if there is one.
fn put_weights(
    buffers: &mut FrameBuffers,
    frame_index: u32,
    instance: &InstanceState,
    weights: &[f32],
) -> Result<()> {
    let at = u64::from(instance.record.morphs) * 4;
    let active = active_count(weights);
    let section = buffers.sections.morphs;
    // SAFETY: the frame index's earlier work has ended, by the contract of `begin_frame`.
    let mut out = unsafe { buffers.write(frame_index, section, at, 1 + 2 * active as usize)? };
    let listed = (0..).zip(weights).filter(|(_, weight)| **weight != 0.0);
    let words = listed.flat_map(|(index, weight): (u32, &f32)| [index, weight.to_bits()]);
    out.fill_from(core::iter::once(active).chain(words))?;
    buffers.copy_to_work(frame_index, section, at, (1 + 2 * u64::from(active)) * 4);
    Ok(())
}

/// The number of weights that are not 0. Only these cost anything.
fn active_count(weights: &[f32]) -> u32 {
    weights.iter().filter(|weight| **weight != 0.0).count() as u32
}
