//! Attached instances follow their parents, and are despawned with them.

use crate::crowd::Crowd;
use crate::crowd::InstanceId;
use crate::crowd::instances::attachments::Link;
use crate::crowd::instances::state::InstanceState;
use crate::error::{Result, expect_transform};
use crate::palette::Mat3x4;

impl Crowd {
    /// Moves attached instances to their transforms in the picture, or lets the GPU do that, and
    /// hides those whose parents are hidden.
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

    fn follow(&mut self, child: InstanceId) -> Result<()> {
        let Some(link) = self.scene.attachments.of(child.index).copied() else {
            return Ok(());
        };
        let Link { parent, socket, .. } = link;
        let above = self.scene.visibility.marks(parent.index);
        let parent_hidden = above.parent_hidden || !above.visible;
        let visibility = &mut self.scene.visibility;
        if visibility.marks(child.index).parent_hidden != parent_hidden {
            visibility.change(child.index, |marks| marks.parent_hidden = parent_hidden);
            self.scene.attachments.note(child.index);
        }
        let jumps = self.scene.attachments.take_jump(child.index);
        let (follows_gpu, on_gpu) = self
            .scene
            .gpu_attachment(&self.animators, child.index, &link);
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
        let state = &self.scene.instances[parent.index];
        let animator = &self.animators[state.character];
        let model = animator.shown_joint(state.actor, socket.joint)? * socket.offset;
        let above = self.shown_world(parent.index);
        let world_from_child = above * model * link.socket_from_child;
        if expect_transform("", &world_from_child).is_err() {
            return Ok(());
        }
        let was_on_gpu = self.scene.attachments.take_left_gpu(child.index);
        let InstanceState {
            record,
            character,
            actor,
            ..
        } = self.scene.instances[child.index];
        let same = record.world_from_model == Mat3x4::from_affine(&world_from_child);
        if same && !jumps && !was_on_gpu {
            return Ok(());
        }
        if was_on_gpu {
            // The GPU has a flag of its own for whether it is flipped.
            self.scene.visibility.note_actor(child.index);
        }
        let animator = &mut self.animators.untracked_mut()[character];
        animator.put_shown(actor, &world_from_child, jumps);
        self.scene.put_record(child, &world_from_child, jumps);
        Ok(())
    }

    /// Detaches what outlives an instance that is about to be despawned. Returns the instances that
    /// are despawned with it, parents first.
    pub(crate) fn release_family(&mut self, id: InstanceId) -> Result<Vec<InstanceId>> {
        if self.scene.attachments.children(id.index).next().is_none() {
            return Ok(Vec::new());
        }
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
        Ok(gone)
    }
}
