//! Attached instances follow their parents, and are despawned with them.

use crate::animator::PoseChange;
use crate::crowd::Crowd;
use crate::crowd::SkinningStage;
use crate::crowd::instances::state::may_flip;
use crate::crowd::instances::world::world_sphere;
use crate::crowd::{Attachment, InstanceId};
use crate::error::{Result, expect_transform};
use crate::gpu::animation::words;
use crate::gpu::layout::GpuAttachment;
use crate::gpu::{CpuReason, PosedBy};
use crate::palette::Mat3x4;

impl Crowd {
    /// Moves attached instances to their transforms at the time of the frame begun last, or lets
    /// the GPU do that, and hides those whose parents are hidden.
    ///
    /// It looks only at children of instances that moved, changed, or may have a new pose that the
    /// GPU does not know.
    pub(crate) fn follow_all(&mut self) -> Result<()> {
        span!("attachments");
        let scene = &mut self.scene;
        let attachments = &mut scene.attachments;
        if attachments.is_empty() {
            return Ok(());
        }
        attachments.queue_noted();
        for parent in scene.visibility.active() {
            attachments.queue_children(parent, false);
        }
        attachments.queue_moving();
        while let Some(index) = self.scene.attachments.take_queued() {
            if let Some(child) = self.scene.instances.id(index) {
                self.follow(child)?;
                // If this moved or hid the child, its own children must follow.
                self.scene.attachments.queue_noted();
            }
        }
        Ok(())
    }

    /// Notes that instances whose actors changed may have a new pose, and their new bounding
    /// spheres.
    pub(crate) fn activate_changed(&mut self) {
        let scene = &mut self.scene;
        scene.attachments.sort();
        for (character, animator) in self.animators.untracked_mut().iter_mut() {
            let loaded = &scene.characters[character];
            let changed = &mut scene.poses.scratch.actors;
            changed.clear();
            changed.extend(animator.take_changed().map(|actor| actor.index));
            for actor in &*changed {
                // Each living actor is that of an instance.
                let index = loaded.instance_of_actor[*actor as usize];
                let state = &scene.instances[index];
                scene.visibility.activate(index);
                if scene.attachments.on_gpu(index) {
                    // Its bounding sphere may be another one.
                    scene.attachments.queue_update(index);
                }
                let sphere = world_sphere(animator, state);
                scene.visibility.set_sphere(index, &sphere);
                if animator.pose_change(state.actor) == PoseChange::Rests {
                    scene.poses.scratch.resting.push(index);
                }
            }
        }
    }

    fn follow(&mut self, child: InstanceId) -> Result<()> {
        let Some(attachment) = self.scene.attachments.of(child.index).copied() else {
            return Ok(());
        };
        let Attachment { parent, socket, .. } = attachment;
        let above = self.scene.visibility.marks(parent.index);
        let parent_hidden = above.parent_hidden || !above.visible;
        let visibility = &mut self.scene.visibility;
        if visibility.marks(child.index).parent_hidden != parent_hidden {
            visibility.change(child.index, |marks| marks.parent_hidden = parent_hidden);
            self.scene.attachments.note(child.index);
        }
        let jumps = self.scene.attachments.take_jump(child.index);
        let (follows_gpu, on_gpu) = self.gpu_attachment(child.index, &attachment);
        let attachments = &mut self.scene.attachments;
        if let Some((record, may_flip)) = on_gpu
            && attachments.place_on_gpu(child.index, &record)
        {
            self.scene.set_flipped(child, may_flip);
            if jumps {
                self.scene.instances.restamp(child.index);
                self.scene.attachments.note(child.index);
            }
            return Ok(());
        }
        attachments.leave_gpu(child.index);
        if follows_gpu {
            attachments.keep_moving(child.index);
        }
        let model = self
            .instance(parent)?
            .joint_model(socket.joint, self.time_s)?
            * socket.offset;
        let above = self.world_on_gpu(parent.index);
        let world_from_child = above * model * attachment.socket_from_child;
        if expect_transform("", &world_from_child).is_err() {
            return Ok(());
        }
        let was_on_gpu = self.scene.attachments.take_left_gpu(child.index);
        let record = self.scene.instances[child.index].record;
        let same = record.world_from_model == Mat3x4::from_affine(&world_from_child);
        if same && !jumps && !was_on_gpu {
            return Ok(());
        }
        self.access(child)?.put(&world_from_child, jumps);
        Ok(())
    }

    /// Returns true if the place of an attached instance changes on the GPU, and what the GPU needs
    /// to place it, if it can, with whether it may be flipped then.
    ///
    /// It cannot if the CPU has to know whether views show the instance.
    fn gpu_attachment(
        &self,
        child: u32,
        attachment: &Attachment,
    ) -> (bool, Option<(GpuAttachment, bool)>) {
        let scene = &self.scene;
        let (parent, socket) = (attachment.parent.index, attachment.socket);
        let Some(poses) = &scene.poses.gpu else {
            return (false, None);
        };
        let (posed_by, level) = (poses.posed_by(parent), scene.attachments.level(parent));
        if posed_by != PosedBy::Gpu && level == 0 {
            return (false, None);
        }
        let record = || {
            let [state, above] = [child, parent].map(|index| &scene.instances[index]);
            let [own, of_parent] = [state, above].map(|it| &scene.characters[it.character]);
            let rests = PosedBy::Cpu(CpuReason::Rest);
            let is_seen_by_gpu = own.slot.is_some()
                && match poses.posed_by(child) {
                    PosedBy::Gpu => true,
                    other if other == rests => {
                        state.skin == SkinningStage::Vertex && !state.has_morphs()
                    }
                    PosedBy::Cpu(_) => false,
                };
            let knows_parent = posed_by == PosedBy::Gpu || posed_by == rests;
            if !is_seen_by_gpu || !knows_parent || level >= GpuAttachment::LEVELS {
                return None;
            }
            let sphere = self.animators[state.character].sphere(state.actor.index);
            let joint_from_child = socket.offset * attachment.socket_from_child;
            let record = GpuAttachment {
                joint_from_child: Mat3x4::from_affine(&joint_from_child),
                center: sphere.center.to_array(),
                radius: sphere.radius,
                child,
                parent,
                joint: socket.joint.index() as u32,
                level: level + 1,
                tables: words(of_parent.animation.as_ref().ok()?.address()),
                reserved: [0; 2],
            };
            let world = above.record.world_from_model.to_affine();
            let flips = [world, joint_from_child].iter().any(may_flip);
            Some((record, above.flipped || of_parent.mirrors || flips))
        };
        (true, record())
    }

    /// Detaches what outlives an instance that is about to be despawned. Returns the instances that
    /// are despawned: those attached to it, parents first, and the instance itself.
    pub(crate) fn release_family(&mut self, id: InstanceId) -> Result<Vec<InstanceId>> {
        self.scene.instances.get(id)?;
        let (mut gone, mut open) = (Vec::new(), vec![id]);
        while let Some(parent) = open.pop() {
            let children: Vec<InstanceId> = self.instance(parent)?.attached().collect();
            for id in children {
                let mut child = self.instance_mut(id)?;
                if child.attachment().is_some_and(|to| to.outlives_parent) {
                    child.detach();
                } else {
                    gone.push(id);
                    open.push(id);
                }
            }
        }
        gone.push(id);
        Ok(gone)
    }
}
