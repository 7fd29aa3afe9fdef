//! One step of the simulation: Verlet integration, and collision.

use super::bones::SpringBones;
use super::rig::{Collider, Link, NONE, SpringRig};
use super::scratch::{Arm, SpringScratch};
use crate::skeleton::{NO_PARENT, Transform};
use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};

/// A step, or a part of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) rig: &'a SpringRig,
    /// The scale of the world transform.
    pub(super) gain: f32,
    pub(super) motion: Motion,
}

/// The motion of tails in one step.
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
