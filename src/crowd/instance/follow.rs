//! Attached instances follow their parents, and are despawned with them.

use crate::crowd::crowd::Crowd;
use crate::crowd::{Attachment, InstanceId};
use crate::error::{Result, expect_transform};
use crate::palette::Mat3x4;

impl Crowd {
    /// Moves attached instances to their transforms at the time of the frame begun last, and hides
    /// those whose parents are hidden.
    pub(in crate::crowd) fn follow_all(&mut self) -> Result<()> {
        self.scene.attachments.sort();
        let mut at = 0;
        while let Some(index) = self.scene.attachments.ordered(at) {
            if let Some(child) = self.scene.instances.id(index) {
                self.follow(child)?;
            }
            at += 1;
        }
        Ok(())
    }

    fn follow(&mut self, child: InstanceId) -> Result<()> {
        let Some(attachment) = self.scene.attachments.of(child.index).copied() else {
            return Ok(());
        };
        let Attachment { parent, socket, .. } = attachment;
        let above = self.scene.visibility.marks(parent.index);
        let parent_hidden = above.parent_hidden || !above.visible;
        let visibility = &mut self.scene.visibility;
        visibility.change(child.index, |marks| marks.parent_hidden = parent_hidden);
        let above = self.instance(parent)?;
        let model = above.joint_model(socket.joint, self.time_s)? * socket.offset;
        let world_from_child = above.transform() * model * attachment.socket_from_child;
        let jumps = self.scene.attachments.take_jump(child.index);
        let record = self.scene.instances.alive(child).record;
        let same = record.world_from_model == Mat3x4::from_affine(&world_from_child);
        if (same && !jumps) || expect_transform("", &world_from_child).is_err() {
            return Ok(());
        }
        self.access(child)?.put(&world_from_child, jumps);
        Ok(())
    }

    /// Detaches an instance that is about to be despawned. Returns the instances that are despawned
    /// with it, parents first.
    pub(in crate::crowd) fn release_family(&mut self, id: InstanceId) -> Result<Vec<InstanceId>> {
        let mut despawned = Vec::new();
        self.instance_mut(id)?.detach();
        if self.scene.attachments.children(id.index).next().is_none() {
            return Ok(despawned);
        }
        let mut open = vec![id];
        while let Some(parent) = open.pop() {
            let children: Vec<InstanceId> = self.instance(parent)?.attached().collect();
            for id in children {
                let mut child = self.instance_mut(id)?;
                let outlives = child.attachment().is_some_and(|to| to.outlives_parent);
                child.detach();
                if !outlives {
                    despawned.push(id);
                    open.push(id);
                }
            }
        }
        Ok(despawned)
    }
}
