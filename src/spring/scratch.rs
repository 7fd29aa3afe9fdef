//! Working memory of the simulation, kept from call to call.

use super::rig::SpringRig;
use crate::skeleton::{NO_PARENT, Transform};
use core::cell::RefCell;
use glam::{Affine3A, Quat, Vec3};

thread_local! {
    /// The memory of each thread, which simulates one instance at a time.
    static SCRATCH: RefCell<SpringScratch> = RefCell::default();
}

/// Working memory of the simulation, kept from call to call so that nothing is allocated.
#[derive(Debug, Default)]
pub(super) struct SpringScratch {
    /// World space from the space of each anchor, at the present time.
    pub(super) targets: Vec<Affine3A>,
    /// World space from the space of each slot, at the time of the step.
    pub(super) slots: Vec<Affine3A>,
    /// For each moved joint, its animated local matrix.
    pub(super) locals: Vec<Affine3A>,
    pub(super) arms: Vec<Arm>,
    /// For each link, its tail after the last step, in center space.
    pub(super) tails: Vec<Vec3>,
    /// For each link, the turn of its joint after the last step, in the joint's space.
    pub(super) turns: Vec<Quat>,
}

/// The animated transform of a link's joint, and its tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arm {
    /// The space of the parent from that of the joint without its scale.
    pub(super) frame: Affine3A,
    pub(super) scale: Vec3,
    /// The tail in the joint's space without its scale.
    pub(super) tail: Vec3,
}

impl Arm {
    const NONE: Self = Self {
        frame: Affine3A::IDENTITY,
        scale: Vec3::ONE,
        tail: Vec3::ZERO,
    };
}

impl SpringScratch {
    /// Runs `work` with the memory of this thread.
    pub(super) fn with(work: impl FnOnce(&mut Self)) {
        SCRATCH.with(|scratch| {
            // Taken out, so that nothing can borrow it twice.
            let mut own = scratch.take();
            work(&mut own);
            scratch.replace(own);
        });
    }

    /// Allocates the memory for characters with this rig.
    fn make_room(&mut self, rig: &SpringRig) {
        let anchors = rig.anchors.len();
        self.targets.resize(anchors, Affine3A::IDENTITY);
        self.slots
            .resize(anchors + rig.moved.len(), Affine3A::IDENTITY);
        self.locals.resize(rig.moved.len(), Affine3A::IDENTITY);
        self.arms.resize(rig.links.len(), Arm::NONE);
        self.tails.resize(rig.links.len(), Vec3::ZERO);
        self.turns.resize(rig.links.len(), Quat::IDENTITY);
    }

    /// Takes what the simulation needs from the animated pose.
    pub(super) fn take(
        &mut self,
        rig: &SpringRig,
        world: &Affine3A,
        (local, model): (&[Transform], &[Affine3A]),
    ) {
        self.make_room(rig);
        for (target, joint) in self.targets.iter_mut().zip(&rig.anchors) {
            *target = match *joint {
                NO_PARENT => *world,
                joint => *world * model[usize::from(joint)],
            };
        }
        for (matrix, moved) in self.locals.iter_mut().zip(&rig.moved) {
            *matrix = local[usize::from(moved.joint)].to_affine();
        }
        for (arm, link) in self.arms.iter_mut().zip(&rig.links) {
            let path = &rig.paths[link.path.start as usize..link.path.end as usize];
            let mut tail = link.tail_m;
            for joint in path.iter().rev() {
                tail = local[usize::from(*joint)]
                    .to_affine()
                    .transform_point3(tail);
            }
            let own = &local[link.joint.joint.index()];
            *arm = Arm {
                frame: Affine3A::from_rotation_translation(own.rotation, own.translation),
                scale: own.scale,
                tail: tail * own.scale,
            };
        }
        self.slots[..self.targets.len()].copy_from_slice(&self.targets);
    }

    /// Puts all slots where the animated pose has them.
    pub(super) fn rest(&mut self, rig: &SpringRig) {
        for (at, moved) in (rig.anchors.len()..).zip(&rig.moved) {
            let parent = self.slots[moved.parent as usize];
            self.slots[at] = parent * self.locals[at - rig.anchors.len()];
        }
    }
}
