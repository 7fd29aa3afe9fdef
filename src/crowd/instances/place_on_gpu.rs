//! Which attached instances the GPU can place, and what it needs for that.

use crate::crowd::SkinningStage;
use crate::crowd::animators::Animators;
use crate::crowd::instances::attachments::Link;
use crate::crowd::instances::state::may_flip;
use crate::crowd::scene::Scene;
use crate::gpu::animation::words;
use crate::gpu::layout::GpuAttachment;
use crate::gpu::{CpuReason, PosedBy};
use crate::palette::Mat3x4;

impl Scene {
    /// Returns true if the place of an attached instance changes on the GPU, and what the GPU needs
    /// to place it, if it can, with whether it may be flipped then.
    ///
    /// It cannot if the CPU has to know whether views show the instance.
    pub(super) fn gpu_attachment(
        &self,
        animators: &Animators,
        child: u32,
        link: &Link,
    ) -> (bool, Option<(GpuAttachment, bool)>) {
        let (parent, socket) = (link.parent.index, link.socket);
        let Some(poses) = &self.poses.gpu else {
            return (false, None);
        };
        let (posed_by, level) = (poses.posed_by(parent), self.attachments.level(parent));
        if posed_by != PosedBy::Gpu && level == 0 {
            return (false, None);
        }
        let record = || {
            let [state, above] = [child, parent].map(|index| &self.instances[index]);
            let [own, of_parent] = [state, above].map(|it| &self.characters[it.character]);
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
            let sphere = animators[state.character].sphere(state.actor.index);
            let joint_from_child = socket.offset * link.socket_from_child;
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
}
