//! Decides which processor poses each instance, and records the GPU's stage animate.

use crate::animator::{Animator, PoseChange};
use crate::crowd::Crowd;
use crate::crowd::SkinningStage;
use crate::crowd::frame::Frame;
use crate::crowd::instances::state::InstanceState;
use crate::crowd::memory::buffers::{DEFORMS, SectionBytes};
use crate::crowd::poses::gpu_poses::Full;
use crate::crowd::scene::Scene;
use crate::crowd::{InstanceId, characters::loaded::LoadedCharacter};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::constants::{CHUNK, JOB_WORDS, POSE_WORDS};
use crate::gpu::{CpuReason, GpuPlay, GpuTime, PosedBy};
use crate::pass::animate::{AnimateDispatch, AnimateJobs};
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// The processor that can pose an instance. If it is the GPU, this appends its play records.
fn posed_by(
    (loaded, state): (&LoadedCharacter, &InstanceState),
    animator: &Animator,
    epoch_s: f64,
    plays: &mut Vec<GpuPlay>,
) -> Result<PosedBy> {
    let why = match &loaded.animation {
        Err(why) => *why,
        Ok(_) if animator.pose_change(state.actor) == PoseChange::Rests => CpuReason::Rest,
        Ok(_) if !loaded.skins_on_gpu(state.skin) => CpuReason::SkinningStage,
        Ok(_) if state.has_morphs() && animator.shares_weights(state.actor) => {
            CpuReason::MorphWeights
        }
        Ok(_) => return animator.gpu_plays(state.actor, epoch_s, plays),
    };
    Ok(PosedBy::Cpu(why))
}

impl Crowd {
    /// The processor that poses an instance, and if it is the CPU, the reason.
    ///
    /// This is what the next prepared frame will find, unless something changes until then.
    /// [`CpuReason::Memory`] is what the last one found. See
    /// [`Stages::animate`](crate::crowd::Stages::animate).
    ///
    /// ```
    /// use throng::gpu::{CpuReason, PosedBy};
    /// use throng::{Crowd, InstanceId, Result};
    ///
    /// /// The share of a crowd that costs the CPU nothing.
    /// fn share_on_gpu(crowd: &Crowd) -> Result<f32> {
    ///     let mut count = 0;
    ///     for id in crowd.instances() {
    ///         let free = [PosedBy::Gpu, PosedBy::Cpu(CpuReason::Rest)];
    ///         count += usize::from(free.contains(&crowd.posed_by(id)?));
    ///     }
    ///     Ok(count as f32 / crowd.len().max(1) as f32)
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if the
    /// instance is not alive.
    pub fn posed_by(&self, id: InstanceId) -> Result<PosedBy> {
        let state = self.scene.instances.get(id)?;
        let Some(poses) = &self.scene.gpu_poses else {
            return Ok(PosedBy::Cpu(CpuReason::Chosen));
        };
        let mut plays = Vec::new();
        let can = posed_by(
            (&self.scene.characters[state.character], state),
            &self.animators[state.character],
            poses.epoch_s(self.time_s),
            &mut plays,
        )?;
        let full = PosedBy::Cpu(CpuReason::Memory);
        Ok(match can {
            PosedBy::Gpu if poses.posed_by(id.index) == full => full,
            can => can,
        })
    }

    /// True if the frame prepared last shows an instance with a pose that others share.
    ///
    /// This repeats what the GPU decides: see [`View::pose_error_px`](crate::View::pose_error_px).
    /// It does not know of instances for whose palettes there was no memory.
    ///
    /// # Errors
    /// [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if the
    /// instance is not alive.
    pub fn shares_pose(&self, id: InstanceId) -> Result<bool> {
        self.scene.instances.get(id)?;
        let poses = self.scene.gpu_poses.as_ref();
        let error_m = poses.map_or(0.0, |poses| f32::from_bits(poses.pose_error(id.index)));
        let placed = self.sphere(id.index);
        Ok(self.scene.visibility.may_share(id.index, &placed, error_m))
    }

    /// True if a view of the prepared frame shows an instance, or without views, if it is visible.
    pub(crate) fn shows(&self, index: u32) -> bool {
        let (visibility, on_gpu) = (&self.scene.visibility, self.scene.gpu_poses.as_ref());
        if on_gpu.is_some_and(|poses| poses.poses(index)) {
            return visibility.shows_somewhere(index, &self.sphere(index));
        }
        visibility.is_shown(index)
    }

    /// Begins to choose who poses what in a frame.
    pub(crate) fn begin_producers(&mut self) {
        self.scene.take_moved();
        self.scene.pose_scratch.rested.clear();
        let now_s = self.time_s;
        let poses = self.scene.gpu_poses.as_mut();
        if poses.is_some_and(|poses| poses.begin(now_s)) {
            self.scene.activate_all();
        }
    }

    /// Lets the GPU pose the active instances that it can pose, from now on without the CPU.
    ///
    /// An instance is active again once something other than time changes it. If only the CPU can
    /// pose it, it stays active: reasons may pass with time.
    ///
    /// # Errors
    /// [`Error::Capacity`] if there is no memory for all palettes that the CPU writes.
    pub(crate) fn choose_producers(&mut self) -> Result<()> {
        self.choose_for_active()?;
        if self.scene.gpu_poses.is_some() {
            self.scene.instances.close_gaps();
            // If rows moved, instances that rest may be active again.
            if self.scene.take_moved() {
                self.choose_for_active()?;
            }
        }
        Ok(())
    }

    fn choose_for_active(&mut self) -> Result<()> {
        span!("choose_producers");
        let Scene {
            characters,
            instances,
            attachments,
            visibility,
            pose_scratch,
            gpu_poses: Some(poses),
            ..
        } = &mut self.scene
        else {
            return Ok(());
        };
        let epoch_s = poses.epoch_s(self.time_s);
        let now = GpuTime::new(self.time_s, epoch_s);
        let mut from = 0;
        while let Some(block) = visibility.next_active_block(from) {
            from = block + 1;
            for at in visibility.active_in(block) {
                let index = (block * CHUNK + at) as u32;
                let state = &instances[index];
                if !state.alive {
                    continue;
                }
                let (character, start) = (state.character, poses.upload.len());
                let (weighted, computed) =
                    (state.has_morphs(), state.skin == SkinningStage::Compute);
                let loaded = &mut characters[character];
                let animator = &self.animators[character];
                let is_drawn_only = !weighted && state.skin == SkinningStage::Vertex;
                let own = (character, index);
                let can = posed_by((loaded, state), animator, epoch_s, &mut poses.upload)?;
                let before = poses.posed_by(index);
                let was_on_gpu = before == PosedBy::Gpu;
                let why = match can {
                    PosedBy::Gpu => match poses.take(own, start) {
                        Ok(changed) => {
                            if !was_on_gpu {
                                attachments.queue_update(index);
                                attachments.note(index);
                                instances.give_rows_back(index);
                                // Its rows of the ring no longer hold what the CPU wrote.
                                pose_scratch.spawned(index);
                            }
                            let plays = poses.upload.get(start..).unwrap_or_default();
                            let shared = loaded.shared_poses.as_mut();
                            let waits = shared.as_ref().is_some_and(|it| it.waits(plays, now));
                            let error_m = shared.and_then(|it| it.error_of(plays, now));
                            let others = [
                                poses.set_pose_error(index, error_m),
                                poses.set_skinned(own, computed),
                            ];
                            if changed || others.contains(&true) {
                                instances.changed.add(index);
                            }
                            if weighted {
                                poses.weighted.push(index);
                            }
                            if !waits {
                                visibility.deactivate(index, false);
                                pose_scratch.rested.push(index);
                            }
                            continue;
                        }
                        // It goes on with what it played, until a frame has space.
                        Err(Full::Upload) if was_on_gpu && !poses.is_outdated() => continue,
                        Err(_) => CpuReason::Memory,
                    },
                    PosedBy::Cpu(why) => why,
                };
                if poses.leave(own, why) {
                    instances.changed.add(index);
                }
                if before != PosedBy::Cpu(why) {
                    attachments.queue_update(index);
                    attachments.note(index);
                }
                match why {
                    CpuReason::Rest if is_drawn_only && attachments.on_gpu(index) => {
                        // Only the GPU knows whether a view shows it, and that needs no pose.
                        instances.give_rows_back(index);
                        visibility.deactivate(index, false);
                        pose_scratch.rested.push(index);
                    }
                    CpuReason::Rest => instances.give_rows_back(index),
                    // Without rows, it has its rest pose until a frame has space.
                    CpuReason::Memory => drop(instances.take_rows(index)),
                    _ => instances.take_rows(index)?,
                }
            }
        }
        Ok(())
    }

    /// Records where the shared poses are that this frame computes.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass, between barriers, and uploads were recorded.
    pub(crate) unsafe fn record_directories(&self, cmd: vk::CommandBuffer) {
        for (_, loaded) in self.scene.characters.iter() {
            if let Some(poses) = &loaded.shared_poses {
                // SAFETY: this function has the same contract.
                unsafe { poses.record_directory(&self.device, cmd) };
            }
        }
    }

    /// Records the shared poses that instances can use for the first time.
    ///
    /// # Safety
    /// As [`Self::record_directories`].
    pub(crate) unsafe fn record_shared_poses(&self, cmd: vk::CommandBuffer) {
        let Some(pipeline) = &self.pipelines.animate else {
            return;
        };
        for (_, loaded) in self.scene.characters.iter() {
            if let (Some(poses), Ok(tables)) = (&loaded.shared_poses, &loaded.animation) {
                // SAFETY: this function has the same contract. The pipeline was prepared when the
                // character was added.
                unsafe { poses.record((&self.device, cmd), pipeline, tables) };
            }
        }
    }
}

impl Frame<'_> {
    /// Writes the play records that changed, and the morph weights of their instances, which no
    /// clip drives.
    pub(crate) fn write_plays(&mut self, written: &mut SectionBytes) -> Result<()> {
        let crowd = &mut *self.crowd;
        let weighted = crowd.scene.gpu_poses.as_ref();
        for at in 0..weighted.map_or(0, |poses| poses.weighted.len()) {
            let poses = crowd.scene.gpu_poses.as_ref();
            if let Some(index) = poses.and_then(|poses| poses.weighted.get(at)) {
                crowd.write_weights_of(self.frame_index, *index)?;
            }
        }
        let Some(poses) = &crowd.scene.gpu_poses else {
            return Ok(());
        };
        let buffers = &mut crowd.memory.buffers;
        // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
        written.plays = unsafe { buffers.write_plays(self.frame_index, &poses.upload) }?;
        Ok(())
    }

    /// Records the stage animate of all characters that the GPU poses instances of. The stage
    /// compact has listed them, and a barrier was recorded since.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    pub(crate) unsafe fn record_animate(&self, cmd: vk::CommandBuffer) {
        let crowd = &*self.crowd;
        let buffers = &crowd.memory.buffers;
        let (Some(poses), Some(pipeline), Some(work), Some(plays)) = (
            &crowd.scene.gpu_poses,
            &crowd.pipelines.animate,
            &buffers.work,
            &buffers.plays,
        ) else {
            return;
        };
        if !poses.poses_any() {
            return;
        }
        let now = GpuTime::new(crowd.time_s, poses.epoch_s(crowd.time_s));
        let device = &crowd.device;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers are this crowd's and alive. The stage compact wrote jobs with the records of
        // instances that `choose_producers` converted, and as many rows of the ring as a palette
        // has.
        unsafe {
            device.begin_label(cmd, c"throng animate");
            let scope = self.begin_scope(cmd, "animate");
            for (number, loaded) in crowd.scene.characters.iter() {
                let (Some(slot), Ok(tables)) = (&loaded.slot, &loaded.animation) else {
                    continue;
                };
                if !poses.poses_some_of(number) {
                    continue;
                }
                let layout = &work.layout;
                let job = u64::from(slot.first_chunk()) * CHUNK as u64 * u64::from(JOB_WORDS);
                let jobs = (u64::from(layout.jobs) + job) * 4;
                let command = u64::from(layout.poses + slot.number * POSE_WORDS) * 4;
                let dispatch = AnimateDispatch {
                    tables,
                    plays: plays.address,
                    jobs: work.buffer.address + jobs,
                    palettes: buffers.palettes.address(self.frame_index),
                    // The lists are at its start, and begin with the morph weights.
                    morphs: work.buffer.address,
                    count: AnimateJobs::Indirect {
                        count: work.buffer.address + command + 12,
                        buffer: work.buffer.handle,
                        offset: command,
                    },
                    now,
                };
                pipeline.record(device, cmd, &dispatch);
            }
            self.end_scope(cmd, scope);
            let write = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
            // If the ring is not staged, the CPU may write the same rows in another frame.
            let readers = (
                DEFORMS | Stage::TRANSFER,
                Access::SHADER_READ | Access::TRANSFER_READ,
            );
            let then = match buffers.palettes.is_staged() {
                true => readers,
                false => (readers.0 | Stage::HOST, readers.1 | Access::HOST_WRITE),
            };
            device.barrier(cmd, write, then);
            device.end_label(cmd);
        }
    }
}
