//! The simulation of spring bones over a step of time.

use super::bones::SpringBones;
use super::rig::{Collider, Link, NONE, SpringRig};
use crate::skeleton::{NO_PARENT, Transform};
use core::cell::RefCell;
use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};

/// A step, or a part of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) rig: &'a SpringRig,
    /// The scale of the world transform.
    pub(super) gain: f32,
    pub(super) motion: Motion,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Motion {
    /// To the animated pose, and out of colliders.
    Start,
    /// By a whole step.
    Whole,
    /// By a part of a step, 0 to 1.
    Part(f32),
}

/// The tail of a link in world space.
struct Swing {
    head: Vec3,
    /// The animated direction.
    rest: Vec3,
    length: f32,
    now: Vec3,
    before: Vec3,
}

impl Step<'_> {
    /// Takes the step. The tails are those after the last step, and those before it.
    pub(super) fn run(&self, tails: [&mut [Vec3]; 2], scratch: &mut SpringScratch) {
        let [now, before] = tails;
        self.walk(scratch, |at| [now[at], before[at]]);
        for (at, next) in scratch.tails.iter().enumerate() {
            (before[at], now[at]) = (now[at], *next);
        }
    }

    /// Shows the tails after the step, without taking it.
    pub(super) fn show(
        &self,
        [now, before]: [&[Vec3]; 2],
        (local, model): (&mut [Transform], &mut [Affine3A]),
        scratch: &mut SpringScratch,
    ) {
        self.walk(scratch, |at| [now[at], before[at]]);
        for moved in &self.rig.moved {
            let joint = usize::from(moved.joint);
            if let Some(turn) = scratch.turns.get(moved.link as usize) {
                local[joint].rotation = (local[joint].rotation * *turn).normalize();
            }
            let own = local[joint].to_affine();
            model[joint] = match moved.parent_joint {
                NO_PARENT => own,
                parent => model[usize::from(parent)] * own,
            };
        }
    }

    /// Moves all tails, parents first. The results are in the scratch memory.
    fn walk(&self, scratch: &mut SpringScratch, tails: impl Fn(usize) -> [Vec3; 2]) {
        let rig = self.rig;
        for (at, moved) in rig.moved.iter().enumerate() {
            let parent = scratch.slots[moved.parent as usize];
            let number = moved.link as usize;
            let world = match (rig.links.get(number), scratch.arms.get(number)) {
                (Some(link), Some(arm)) => {
                    let frame = parent * arm.frame;
                    let (tail, turn) = self.link(link, arm, &frame, tails(number), &scratch.slots);
                    scratch.tails[number] = tail;
                    scratch.turns[number] = turn;
                    frame * Affine3A::from_scale_rotation_translation(arm.scale, turn, Vec3::ZERO)
                }
                _ => parent * scratch.locals[at],
            };
            scratch.slots[rig.anchors.len() + at] = world;
        }
    }

    /// The new tail of a link in center space, and the turn of its joint.
    fn link(
        &self,
        link: &Link,
        arm: &Arm,
        frame: &Affine3A,
        [now, before]: [Vec3; 2],
        slots: &[Affine3A],
    ) -> (Vec3, Quat) {
        let center = (link.center != NONE).then(|| slots[link.center as usize]);
        let world = |tail: Vec3| center.map_or(tail, |center| center.transform_point3(tail));
        let along = frame.transform_vector3(arm.tail);
        let length = along.length();
        let swing = Swing {
            head: frame.translation.into(),
            rest: along / length,
            length,
            now: world(now),
            before: world(before),
        };
        let mut next = self.swing(link, &swing, slots);
        let mut turn = turn(arm, frame, next - swing.head);
        if !next.is_finite() || !turn.is_finite() {
            (next, turn) = (swing.head + along, Quat::IDENTITY);
        }
        let tail = center.map_or(next, |center| center.inverse().transform_point3(next));
        (if tail.is_finite() { tail } else { Vec3::ZERO }, turn)
    }

    /// The tail after the step, in world space.
    fn swing(&self, link: &Link, swing: &Swing, slots: &[Affine3A]) -> Vec3 {
        let joint = &link.joint;
        let step_s = SpringBones::STEP_S as f32;
        let inertia = (swing.now - swing.before) * (1.0 - joint.drag);
        let drawn = (swing.rest * joint.stiffness + joint.gravity) * (self.gain * step_s);
        let free = match self.motion {
            Motion::Start => swing.head + swing.rest * swing.length,
            Motion::Whole | Motion::Part(_) => swing.constrained(swing.now + inertia + drawn),
        };
        let mut next = free;
        for (collider, least) in self.colliders(link) {
            let point = collider.nearest(next, slots);
            let away = next - point;
            let distance = away.length();
            if distance < least {
                let direction = if distance > 0.0 {
                    away / distance
                } else {
                    swing.rest
                };
                next = swing.constrained(point + direction * least);
            }
        }
        match self.motion {
            Motion::Part(part) => self.between(link, swing, next, part, slots),
            _ => next,
        }
    }

    /// The tail at a part of the way to its `next` place, in world space.
    ///
    /// It is no closer to a collider than at one end of the way. So what rests against a collider
    /// stays there, although the length of the bone may have taken back a part of the push.
    fn between(
        &self,
        link: &Link,
        swing: &Swing,
        next: Vec3,
        part: f32,
        slots: &[Affine3A],
    ) -> Vec3 {
        let mut tail = swing.constrained(swing.now.lerp(next, part));
        for (collider, least) in self.colliders(link) {
            let distance = |tail: Vec3| tail.distance(collider.nearest(tail, slots));
            if distance(tail) < least {
                let least = least.min(distance(swing.now)).min(distance(next));
                if distance(tail) < least {
                    tail = swing.turned_away(tail, collider.nearest(tail, slots), least);
                }
            }
        }
        tail
    }

    /// The colliders of a link, and the least distance of its tail from them.
    fn colliders(&self, link: &Link) -> impl Iterator<Item = (&Collider, f32)> {
        let indices = &self.rig.bones.chains[link.chain as usize].colliders;
        indices.iter().map(|index| {
            let collider = &self.rig.colliders[*index];
            let least = (collider.radius_m + link.joint.radius_m) * self.gain;
            (collider, least)
        })
    }
}

impl Swing {
    /// The point at the link's length from its head, in the direction of `tail`.
    fn constrained(&self, tail: Vec3) -> Vec3 {
        let along = (tail - self.head).try_normalize().unwrap_or(self.rest);
        self.head + along * self.length
    }

    /// The tail, turned around its head until its distance from a point is `least`, or as far as
    /// it goes.
    fn turned_away(&self, tail: Vec3, point: Vec3, least: f32) -> Vec3 {
        let axis = point - self.head;
        let far = axis.length();
        // The law of cosines.
        let squares = far * far + self.length * self.length - least * least;
        let cosine = (squares / (2.0 * far * self.length)).clamp(-1.0, 1.0);
        let sine = (1.0 - cosine * cosine).sqrt();
        let aside = (tail - self.head).reject_from(axis).try_normalize();
        match (axis.try_normalize(), aside) {
            (Some(axis), Some(aside)) => self.head + (axis * cosine + aside * sine) * self.length,
            _ => tail,
        }
    }
}

impl Collider {
    /// The point of the collider's axis that is nearest to a tail.
    fn nearest(&self, tail: Vec3, slots: &[Affine3A]) -> Vec3 {
        let world = &slots[self.slot as usize];
        let start = world.transform_point3(self.offset_m);
        let Some(end) = self.tail_m else {
            return start;
        };
        let axis = world.transform_point3(end) - start;
        let along = (tail - start).dot(axis) / axis.length_squared();
        // The axis may have no length.
        let along = if along.is_finite() {
            along.clamp(0.0, 1.0)
        } else {
            0.0
        };
        start + axis * along
    }
}

/// The turn of a joint that points its arm along a direction of world space.
fn turn(arm: &Arm, frame: &Affine3A, along: Vec3) -> Quat {
    let inverse: Mat3A = frame.matrix3.inverse();
    let to = Vec3::from(inverse * Vec3A::from(along));
    match (arm.tail.try_normalize(), to.try_normalize()) {
        (Some(from), Some(to)) => Quat::from_rotation_arc(from, to).normalize(),
        _ => Quat::IDENTITY,
    }
}

/// A matrix on the way from one to another. Columns turn evenly and keep their length.
pub(super) fn mix(from: &Affine3A, to: &Affine3A, part: f32) -> Affine3A {
    if part >= 1.0 {
        return *to;
    }
    let column = |from: Vec3A, to: Vec3A| {
        let (a, b) = (from.length(), to.length());
        let mixed = from.lerp(to, part).try_normalize();
        mixed.map_or(to, |mixed| mixed * (a + (b - a) * part))
    };
    let (a, b) = (&from.matrix3, &to.matrix3);
    Affine3A {
        matrix3: Mat3A::from_cols(
            column(a.x_axis, b.x_axis),
            column(a.y_axis, b.y_axis),
            column(a.z_axis, b.z_axis),
        ),
        translation: from.translation.lerp(to.translation, part),
    }
}

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
