//! The animate and palette stages of a frame on the CPU.
//!
//! The animators of all characters evaluate their instances straight into the ring.

use crate::animate::Starts;
use crate::animator::{Animator, PoseChange};
use crate::crowd::SkinningStage;
use crate::crowd::animators::Animators;
use crate::crowd::memory::buffers::FrameWriter;
use crate::crowd::memory::sections::Part;
use crate::crowd::poses::Poses;
use crate::crowd::poses::pose_scratch::{Destination, PoseScratch};
use crate::crowd::scene::Scene;
use crate::crowd::stats::Counters;
use crate::error::Result;
use crate::gpu::palettes::ROW_BYTES;
use core::ptr::NonNull;
use std::time::Instant;

impl Scene {
    /// Evaluates every instance that is shown and not at rest.
    ///
    /// Palettes go straight into the palette ring. Morph weights are written for the instances that
    /// have them.
    pub(crate) fn write_poses(
        &mut self,
        animators: &mut Animators,
        counters: &mut Counters,
        out: &mut FrameWriter<'_>,
    ) -> Result<()> {
        let started = Instant::now();
        self.gather_active();
        self.poses.skinning.clear();
        self.poses.scratch.begin();
        for character in 0..self.characters.len() as u32 {
            if self.poses.scratch.range(character).is_empty() {
                continue;
            }
            span!("animate");
            self.collect(character, &animators[character], out.frame_index);
            self.write_palettes(character, &mut animators[character], counters, out);
            self.write_weights(character, &animators[character], out)?;
            self.rest(character, &animators[character]);
        }
        self.rest_unseen(animators);
        if !self.visibility.is_on_gpu() {
            let bytes = u64::from(self.instances.morphs_end()) * 4;
            out.written.note(Part::Morphs, 0, bytes);
        }
        counters.stats.animate_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// Decides which active instances of a character that are shown get new palettes, and where.
    fn collect(&mut self, character: u32, animator: &Animator, frame_index: u32) {
        let Poses {
            scratch, skinning, ..
        } = &mut self.poses;
        scratch.actors.clear();
        scratch.destinations.clear();
        scratch.deformed.clear();
        let loaded = &self.characters[character];
        for at in scratch.range(character) {
            let index = scratch.shown[at];
            let instance = &self.instances[index];
            let (actor, row, stage) = (instance.actor, instance.row, instance.skin);
            let deform = stage == SkinningStage::Cpu;
            let change = animator.pose_change(actor);
            let rests = change == PoseChange::Rests || !instance.has_rows;
            // Of those that the GPU lists, it knows whom the last frame showed.
            if self.visibility.pose(index) && loaded.slot.is_none() {
                self.instances.restamp(index);
            }
            self.instances.set_in_ring(index, !rests);
            scratch.any_in_ring |= !rests;
            if stage == SkinningStage::Compute {
                scratch.computed.push((character, index));
            }
            let start = (!rests && deform).then(|| skinning.take_rows(loaded.palette_rows()));
            if deform {
                scratch
                    .deformed
                    .push((index, start.map(|start| start as usize)));
            }
            let still = match change {
                PoseChange::Still(version) if !deform => Some(version),
                _ => None,
            };
            if !rests && scratch.must_write(frame_index, index, still) {
                scratch.actors.push(actor.index);
                let to = start.map_or(Destination::Ring(row), |start| {
                    Destination::Deform(start, row)
                });
                scratch.destinations.push(to);
            }
        }
    }

    /// Writes the palettes of the actors that [`Self::collect`] found.
    fn write_palettes(
        &mut self,
        character: u32,
        animator: &mut Animator,
        counters: &mut Counters,
        out: &mut FrameWriter<'_>,
    ) {
        let loaded = &self.characters[character];
        let Poses {
            scratch, skinning, ..
        } = &mut self.poses;
        let ring = out.buffers.palettes.mapped_start(out.frame_index);
        let Some(ring) = ring.map(NonNull::as_ptr) else {
            return;
        };
        if scratch.actors.is_empty() {
            return;
        }
        let rows = loaded.palette_rows() as usize;
        let deform = skinning.rows_start();
        scratch.note_rows(rows as u32);
        scratch.order(|to| {
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
        } = scratch;
        // SAFETY: each instance has rows of its own, in the ring or among those that are skinned on
        // the CPU; the frame index's earlier work has ended, by the contract of
        // `FrameBuffers::writer`.
        unsafe {
            let starts = Starts::Each(&starts.0);
            animator.write_palettes(actors, loaded.mesh.format(), starts);
        }
        for destination in destinations.iter() {
            if let Destination::Deform(start, row) = destination {
                let rows = skinning.rows(*start as usize, rows);
                let rows = bytemuck::cast_slice::<_, u8>(rows);
                let to = ring.wrapping_add(*row as usize * ROW_BYTES as usize);
                // SAFETY: the rows of this instance in the ring are its own, and the source is not
                // in the ring.
                unsafe { to.copy_from_nonoverlapping(rows.as_ptr(), rows.len()) };
            }
        }
        counters.stats.animated += actors.len() as u32;
        counters.stats.palette_entries += (actors.len() * loaded.rig.palette().len()) as u32;
        counters.stats.upload_bytes += actors.len() as u64 * rows as u64 * ROW_BYTES;
    }

    /// Writes the morph weights of a character's instances, and lists those that the CPU skins.
    fn write_weights(
        &mut self,
        character: u32,
        animator: &Animator,
        out: &mut FrameWriter<'_>,
    ) -> Result<()> {
        let loaded = &self.characters[character];
        let Poses {
            scratch, skinning, ..
        } = &mut self.poses;
        let (count, own) = (loaded.rig.morph_weights().len(), scratch.range(character));
        if count == 0 && scratch.deformed.is_empty() {
            return Ok(());
        }
        let weights = &mut scratch.weights;
        weights.resize(count, 0.0);
        let mut deformed = scratch.deformed.iter().peekable();
        for index in &scratch.shown[own] {
            let instance = &self.instances[*index];
            if count > 0 {
                animator.write_weights(instance.actor.index, weights);
                out.write_weights(instance.record.morphs, weights)?;
            }
            if let Some((_, start)) = deformed.next_if(|(of, _)| of == index) {
                let sizes = loaded.sizes();
                let rows = start.map(|start| start..start + sizes.rows as usize);
                let skinned = (instance.record.skinned, sizes.words(instance.skin));
                skinning.add(character, rows, skinned, weights);
            }
        }
        Ok(())
    }

    /// Lets instances rest whose poses all frames in flight have, until they change.
    fn rest(&mut self, character: u32, animator: &Animator) {
        let scratch = &mut self.poses.scratch;
        for at in scratch.range(character) {
            let index = scratch.shown[at];
            let instance = &self.instances[index];
            // Without a cull stage on the GPU, each frame has morph weights of its own.
            let weights = instance.has_morphs() && !self.visibility.is_on_gpu();
            if weights || instance.skin != SkinningStage::Vertex {
                continue;
            }
            let kept = match animator.pose_change(instance.actor) {
                PoseChange::Rests => false,
                PoseChange::Still(version) if scratch.is_everywhere(index, version) => true,
                PoseChange::Still(_) | PoseChange::Moves => continue,
            };
            self.visibility.deactivate(index, kept);
            scratch.rested.push(index);
        }
    }

    /// Lets instances rest that came to their rest pose where no view shows them.
    fn rest_unseen(&mut self, animators: &Animators) {
        while let Some(index) = self.poses.scratch.resting.pop() {
            let instance = &self.instances[index];
            let rests = || {
                let animator = &animators[instance.character];
                animator.pose_change(instance.actor) == PoseChange::Rests
            };
            let vertex = instance.skin == SkinningStage::Vertex && !instance.has_morphs();
            if !instance.alive || !rests() || !vertex || self.shown.is_shown(index) {
                continue;
            }
            if instance.in_ring {
                if self.characters[instance.character].slot.is_none() {
                    // The last frame may not have had the pose that its record names.
                    self.instances.restamp(index);
                }
                self.instances.set_in_ring(index, false);
            }
            self.visibility.deactivate(index, false);
        }
    }

    /// Writes the play records that changed, and the morph weights of their instances: the present
    /// ones, which stay if no clip drives any, and for the stage animate those that the caller set.
    pub(crate) fn write_plays(
        &mut self,
        animators: &Animators,
        out: &mut FrameWriter<'_>,
    ) -> Result<()> {
        let Some(poses) = &self.poses.gpu else {
            return Ok(());
        };
        let PoseScratch { weights, own, .. } = &mut self.poses.scratch;
        for index in &poses.weighted {
            let instance = &self.instances[*index];
            let (animator, to) = (&animators[instance.character], instance.record.morphs);
            weights.resize(animator.weight_count(), 0.0);
            animator.write_weights(instance.actor.index, weights);
            out.write_weights(to, weights)?;
            if animator.drives_weights(instance.actor) {
                own.clear();
                animator.push_own_weights(instance.actor, weights, own);
                out.write_own_weights(to, own)?;
            }
        }
        let plays = &poses.upload;
        out.write(Part::Plays, 0, plays.len())?.copy_from(plays)?;
        Ok(())
    }
}
