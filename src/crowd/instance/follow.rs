//! Attached instances follow their parents, and are despawned with them.

use crate::animator::{Animator, PoseChange};
use crate::crowd::crowd::Crowd;
use crate::crowd::instances::state::InstanceState;
use crate::crowd::visibility::cull::Placed;
use crate::crowd::{Attachment, InstanceId};
use crate::error::{Result, expect_transform};
use crate::palette::Mat3x4;

impl Crowd {
    /// Moves attached instances to their transforms at the time of the frame begun last, and hides
    /// those whose parents are hidden.
    ///
    /// It looks only at children of instances that moved, changed, or may have a new pose.
    pub(in crate::crowd) fn follow_all(&mut self) -> Result<()> {
        span!("attachments");
        self.activate_changed();
        let scene = &mut self.scene;
        let attachments = &mut scene.attachments;
        attachments.sort();
        if attachments.is_empty() {
            return Ok(());
        }
        attachments.open_noted();
        for parent in scene.visibility.active() {
            attachments.open_children(parent);
        }
        self.open_posed_on_gpu();
        while let Some(index) = self.scene.attachments.take_open() {
            if let Some(child) = self.scene.instances.id(index) {
                self.follow(child)?;
                // Whoever moved or was hidden has noted it.
                self.scene.attachments.open_noted();
            }
        }
        Ok(())
    }

    /// Notes that instances whose actors changed may have a new pose, and their new bounding
    /// spheres.
    pub(in crate::crowd) fn activate_changed(&mut self) {
        let scene = &mut self.scene;
        for (character, animator) in (0..).zip(&mut self.animators) {
            let (Some(loaded), Some(animator)) = (scene.characters.at(character), animator) else {
                continue;
            };
            let changed = &mut scene.animated.actors;
            changed.clear();
            changed.extend(animator.take_changed().map(|actor| actor.index));
            for actor in &*changed {
                let index = loaded.instance_of_actor.get(*actor as usize);
                let state = index.and_then(|index| scene.instances.state(*index));
                if let (Some(index), Some(state)) = (index, state) {
                    scene.visibility.activate(*index);
                    scene.visibility.place(*index, &placed(animator, state));
                    if animator.pose_change(state.actor) == PoseChange::Rests {
                        scene.animated.resting.push(*index);
                    }
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

/// The bounding sphere of an instance in world space.
pub(in crate::crowd) fn placed(animator: &Animator, state: &InstanceState) -> Placed {
    let sphere = animator.sphere(state.actor.index);
    Placed::new(&sphere, &state.record.world_from_model.to_affine())
}
