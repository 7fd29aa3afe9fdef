//! Decides which processor poses each instance.

use crate::animator::{Animator, PoseChange};
use crate::crowd::SkinningStage;
use crate::crowd::animators::Animators;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::instances::state::InstanceState;
use crate::crowd::poses::Poses;
use crate::crowd::poses::gpu_poses::Full;
use crate::crowd::scene::Scene;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::constants::CHUNK;
use crate::gpu::{CpuReason, GpuPlay, GpuTime, PosedBy};

/// The processor that can pose an instance. If it is the GPU, this appends its play records.
pub(super) fn posed_by(
    (loaded, state): (&LoadedCharacter, &InstanceState),
    animator: &Animator,
    epoch_s: f64,
    plays: &mut Vec<GpuPlay>,
) -> Result<PosedBy> {
    let why = match &loaded.animation {
        Err(why) => *why,
        Ok(_) if animator.pose_change(state.actor) == PoseChange::Rests => CpuReason::Rest,
        Ok(_) if !loaded.skins_on_gpu(state.skin) => CpuReason::SkinningStage,
        Ok(_) => return animator.gpu_plays(state.actor, epoch_s, plays),
    };
    Ok(PosedBy::Cpu(why))
}

impl Scene {
    /// Begins to choose who poses what in a frame.
    pub(crate) fn begin_poses(&mut self, now_s: f64) {
        self.rewrite_moved();
        self.poses.scratch.rested.clear();
        let poses = self.poses.gpu.as_mut();
        if poses.is_some_and(|poses| poses.begin(now_s)) {
            self.activate_all();
        }
    }

    /// Lets the GPU pose the active instances that it can pose, from now on without the CPU.
    ///
    /// An instance is active again once something other than time changes it. If only the CPU can
    /// pose it, it stays active: reasons may pass with time. Choosing moves rows alone. Instances
    /// that are active again because their rows moved keep their processor in this frame, so
    /// nothing is chosen twice.
    ///
    /// # Errors
    /// [`Error::Capacity`] if there is no memory for all palettes that the CPU writes.
    pub(crate) fn choose_posers(&mut self, animators: &Animators, time_s: f64) -> Result<()> {
        span!("choose_posers");
        let Some(poses) = &self.poses.gpu else {
            return Ok(());
        };
        let epoch_s = poses.epoch_s(time_s);
        let now = GpuTime::new(time_s, epoch_s);
        let mut from = 0;
        while let Some(block) = self.visibility.next_active_block(from) {
            from = block + 1;
            for at in self.visibility.active_in(block) {
                let index = (block * CHUNK + at) as u32;
                if self.instances[index].alive {
                    self.choose(index, animators, epoch_s, now)?;
                }
            }
        }
        self.instances.close_gaps();
        self.rewrite_moved();
        Ok(())
    }

    /// Chooses the processor of an active instance.
    fn choose(
        &mut self,
        index: u32,
        animators: &Animators,
        epoch_s: f64,
        now: GpuTime,
    ) -> Result<()> {
        let Poses {
            gpu: Some(poses), ..
        } = &mut self.poses
        else {
            return Ok(());
        };
        let (state, start) = (&self.instances[index], poses.upload.len());
        let own = (state.character, index);
        let loaded = &self.characters[state.character];
        let animator = &animators[state.character];
        let can = posed_by((loaded, state), animator, epoch_s, &mut poses.upload)?;
        let before = poses.posed_by(index);
        let was_on_gpu = before == PosedBy::Gpu;
        let why = match can {
            PosedBy::Gpu => match poses.take(own, start) {
                Ok(changed) => {
                    self.pose_on_gpu(index, (start, now), (changed, was_on_gpu));
                    return Ok(());
                }
                // It goes on with what it played, until a frame has space.
                Err(Full::Upload) if was_on_gpu && !poses.is_outdated() => return Ok(()),
                Err(_) => CpuReason::Memory,
            },
            PosedBy::Cpu(why) => why,
        };
        if poses.leave(own, why) {
            self.instances.changed.add(index);
        }
        if before != PosedBy::Cpu(why) {
            self.attachments.queue_update(index);
            self.attachments.note(index);
            // It may have another box, or none.
            self.instances.changed.add(index);
        }
        match why {
            CpuReason::Rest => {
                self.instances.give_rows_back(index);
                let state = &self.instances[index];
                let is_drawn_only = !state.has_morphs() && state.skin == SkinningStage::Vertex;
                if is_drawn_only && self.attachments.on_gpu(index) {
                    // Only the GPU knows whether a view shows it, and that needs no pose.
                    self.visibility.deactivate(index, false);
                    self.poses.scratch.rested.push(index);
                }
            }
            // Without rows, it has its rest pose until a frame has space.
            CpuReason::Memory => drop(self.instances.take_rows(index)),
            _ => self.instances.take_rows(index)?,
        }
        Ok(())
    }

    /// Lets the GPU pose an instance whose play records start at `start` of the upload. `changed`
    /// is true if it has other records than before.
    fn pose_on_gpu(
        &mut self,
        index: u32,
        (start, now): (usize, GpuTime),
        (changed, was_on_gpu): (bool, bool),
    ) {
        let Poses {
            scratch,
            gpu: Some(poses),
            ..
        } = &mut self.poses
        else {
            return;
        };
        if !was_on_gpu {
            self.attachments.queue_update(index);
            self.attachments.note(index);
            self.instances.give_rows_back(index);
            // Its rows of the ring no longer hold what the CPU wrote.
            scratch.spawned(index);
        }
        let state = &self.instances[index];
        let plays = &poses.upload[start..];
        let shared = self.characters[state.character].shared_poses.as_mut();
        let waits = shared.as_ref().is_some_and(|it| it.waits(plays, now));
        let clip = shared.and_then(|it| it.clip_of(plays, now));
        let others = [
            poses.set_shared_clip(index, clip),
            poses.set_skinned(
                (state.character, index),
                state.skin == SkinningStage::Compute,
            ),
        ];
        if state.has_morphs() {
            poses.weighted.push(index);
        }
        if changed || others.contains(&true) {
            self.instances.changed.add(index);
        }
        if !waits {
            self.visibility.deactivate(index, false);
            scratch.rested.push(index);
        }
    }
}
