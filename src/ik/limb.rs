//! The job of two bones, solved in closed form in the space of the start joint's parent.

use super::job::{IkJob, IkPose, expect_axis, expect_rotation};
use super::maths::{
    across, arc, blend, direction, inverse, length, rotation_of, sense, square_to, turn_about,
    turned, unit,
};
use super::report::IkReport;
use super::two_bone::{Pole, TwoBone, TwoBoneTarget};
use crate::error::{Result, expect_all_finite, expect_finite, expect_in};
use crate::skeleton::{Skeleton, Transform};
use glam::{Affine3A, Mat3, Quat, Vec3};

/// The goal of a limb, in the space of its start's parent.
pub(super) struct Wanted {
    pub(super) at: Vec3,
    pub(super) pole: Pole,
    pub(super) twist_rad: f32,
    pub(super) soften: f32,
}

/// A limb: its local transforms and the transforms between them.
pub(super) struct Limb {
    start: Transform,
    mid: Transform,
    end: Vec3,
    /// Maps mid's parent space to start's space. The next field maps end's parent space to mid's.
    above_mid: Affine3A,
    above_end: Affine3A,
    hinge: Option<Vec3>,
}

/// The positions of the joints.
struct Bones {
    /// Maps mid's parent space to start's parent space.
    mid_parent: Affine3A,
    upper: Vec3,
    lower: Vec3,
    upper_m: f64,
    lower_m: f64,
}

/// The most times that a limb is solved if its bones change length as it turns.
const PASSES: usize = 8;
/// The distance to the target, as a fraction of the limb's length, at which iteration stops.
const CLOSE: f64 = 1e-6;
/// A target nearer to the start than this fraction of the limb's length counts as on the start.
const ON_START: f64 = 1e-6;

impl Limb {
    pub(super) fn of(job: &TwoBone, skeleton: &Skeleton, local: &[Transform]) -> Self {
        Self {
            start: local[usize::from(job.start)],
            mid: local[usize::from(job.mid)],
            end: local[usize::from(job.end)].translation,
            above_mid: skeleton.between(local, job.start, job.mid),
            above_end: skeleton.between(local, job.mid, job.end),
            hinge: job.hinge,
        }
    }

    pub(super) fn rotations(&self) -> [Quat; 2] {
        [self.start.rotation, self.mid.rotation]
    }

    /// Maps end's parent space to start's parent space.
    pub(super) fn end_parent(&self) -> Affine3A {
        self.start.to_affine() * self.above_mid * self.mid.to_affine() * self.above_end
    }

    fn bones(&self) -> Bones {
        let mid_parent = self.start.to_affine() * self.above_mid;
        let mid = mid_parent.transform_point3(self.mid.translation);
        let reach = self.lower_in_mid_parent();
        let (upper, lower) = (mid - self.start.translation, direction(&mid_parent, reach));
        Bones {
            mid_parent,
            upper,
            lower,
            upper_m: length(upper),
            lower_m: length(lower),
        }
    }

    /// The vector from mid to end, in the space of mid's parent.
    fn lower_in_mid_parent(&self) -> Vec3 {
        let in_mid = self.above_end.transform_point3(self.end);
        self.mid.rotation * (self.mid.scale * in_mid)
    }

    /// Turns start and mid. `None` if there is no numeric solution.
    pub(super) fn solve(&mut self, wanted: &Wanted) -> Option<()> {
        for _ in 0..PASSES {
            let aimed = self.pass(wanted)?;
            let bones = self.bones();
            let end = self.start.translation + bones.upper + bones.lower;
            let close = CLOSE * (bones.upper_m + bones.lower_m + length(end));
            if length(end - aimed) <= close {
                break;
            }
        }
        Some(())
    }

    /// Solves once for the current bone lengths. Returns the point that the end was sent to.
    fn pass(&mut self, wanted: &Wanted) -> Option<Vec3> {
        let bones = self.bones();
        let total = bones.upper_m + bones.lower_m;
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let to_target = wanted.at - self.start.translation;
        let to_end = bones.upper + bones.lower;
        let now = unit(to_end).filter(|_| length(to_end) > 1e-5 * total);
        // A target on the start has no direction, and next to it the direction is rounding noise.
        let line = unit(to_target)
            .filter(|_| length(to_target) > ON_START * total)
            .or(now)
            .or(unit(bones.upper))
            .or(unit(bones.lower))?;
        let distance = softened(length(to_target), total, wanted.soften);
        if bones.upper_m.min(bones.lower_m) < 1e-6 * total {
            // The whole limb turns as one bone.
            self.start.rotation = (arc(now?, line, None) * self.start.rotation).normalize();
            return Some(self.start.translation + line * total as f32);
        }
        let least = (bones.upper_m - bones.lower_m).abs().max(1e-6 * total);
        let distance = distance.clamp(least, total);
        let normal = self.bend_normal(&bones, now, &wanted.pole);
        let upper = unit(bones.upper)?;
        let now = now.unwrap_or_else(|| upper.cross(normal));
        let bend = self.bend(wanted, line, now, normal);
        let (along, aside) = triangle(bones.upper_m, bones.lower_m, distance);
        let new_upper = unit(line * along as f32 + bend * aside as f32)?;
        let turn = frame(new_upper, bend.cross(line)) * frame(upper, normal).transpose();
        self.start.rotation = (Quat::from_mat3(&turn) * self.start.rotation).normalize();
        let end = self.start.translation + line * distance as f32;
        self.reach(end, bend.cross(line))?;
        Some(end)
    }

    /// The axis that the limb bends about, perpendicular to the upper bone.
    ///
    /// A positive turn about it bends the limb further.
    fn bend_normal(&self, bones: &Bones, now: Option<Vec3>, pole: &Pole) -> Vec3 {
        let along = unit(bones.upper).unwrap_or(Vec3::X);
        if let Some(hinge) = self.hinge {
            let hinge = direction(&bones.mid_parent, self.mid.rotation * hinge);
            return square_to(along, Some(hinge * sense(&bones.mid_parent)));
        }
        if let Some(side) = across(bones.lower, along) {
            return along.cross(side);
        }
        let way = match pole {
            Pole::Animated => None,
            Pole::Direction(way) => Some(*way),
            Pole::Point(point) => Some(*point - self.start.translation),
        };
        let normal = way.map(|way| way.cross(now.unwrap_or(along)));
        square_to(along, normal)
    }

    /// The unit direction from the line to mid, perpendicular to the line.
    fn bend(&self, wanted: &Wanted, line: Vec3, now: Vec3, normal: Vec3) -> Vec3 {
        let way = match wanted.pole {
            Pole::Animated => None,
            Pole::Direction(way) => across(way, line),
            Pole::Point(point) => across(point - self.start.translation, line),
        };
        let bend = way.unwrap_or_else(|| {
            let carried = arc(now, line, Some(normal)) * now.cross(normal);
            square_to(line, Some(carried))
        });
        turn_about(line, wanted.twist_rad) * bend
    }

    /// Turns mid so that the end points towards `at`. A half turn goes about `normal`.
    fn reach(&mut self, at: Vec3, normal: Vec3) -> Option<()> {
        let mid_parent = self.start.to_affine() * self.above_mid;
        let to_parent = inverse(&mid_parent)?;
        let from = unit(self.lower_in_mid_parent())?;
        let to = unit(to_parent.transform_point3(at) - self.mid.translation)?;
        let hint = direction(&to_parent, normal) * sense(&mid_parent);
        let turn = arc(from, to, Some(hint));
        self.mid = Transform {
            rotation: (turn * self.mid.rotation).normalize(),
            ..self.mid
        };
        turned(&self.mid, self.mid.rotation)
            .is_finite()
            .then_some(())
    }
}

/// An orthonormal frame from `x` and `y`, which must be perpendicular.
fn frame(x: Vec3, y: Vec3) -> Mat3 {
    Mat3::from_cols(x, y, x.cross(y))
}

/// The distance that a limb of length `total` reaches for, after softening.
fn softened(distance: f64, total: f64, soften: f32) -> f64 {
    let soft = total * f64::from(soften);
    let hard = total - soft;
    if soft <= 0.0 || distance <= hard {
        return distance;
    }
    total - soft * (-(distance - hard) / soft).exp()
}

/// The apex of a triangle with the sides `a` and `b` over `base`.
///
/// Returns its position along the base, from `a`'s end, and its distance from the base. The area is
/// W. Kahan's form of Heron's, which is accurate for needle-like triangles ("Miscalculating Area
/// and Angles of a Needle-like Triangle", 2014).
fn triangle(a: f64, b: f64, base: f64) -> (f64, f64) {
    let along = (base * base + (a - b) * (a + b)) / (2.0 * base);
    let mut sides = [a, b, base];
    sides.sort_by(|x, y| y.total_cmp(x));
    let [x, y, z] = sides;
    let area4 = (x + (y + z)) * (z - (x - y)) * (z + (x - y)) * (x + (y - z));
    (along, area4.max(0.0).sqrt() / (2.0 * base))
}

impl TwoBone {
    /// The rotations of start, mid and end that solve it, at full weight.
    fn rotations(
        &self,
        skeleton: &Skeleton,
        target: &TwoBoneTarget,
        pose: &IkPose<'_>,
    ) -> Option<[Quat; 3]> {
        let parent = skeleton.parent_model(self.start, pose.model);
        let to_parent = inverse(&parent)?;
        let mut limb = Limb::of(self, skeleton, pose.local);
        limb.solve(&Wanted {
            at: to_parent.transform_point3(target.position),
            pole: match target.pole {
                Pole::Animated => Pole::Animated,
                Pole::Direction(way) => Pole::Direction(to_parent.transform_vector3(way)),
                Pole::Point(point) => Pole::Point(to_parent.transform_point3(point)),
            },
            twist_rad: target.twist_rad * sense(&parent),
            soften: self.soften,
        })?;
        let [start, mid] = limb.rotations();
        let mut end = pose.local[usize::from(self.end)].rotation;
        if let Some(rotation) = target.rotation {
            let above = rotation_of(&(parent * limb.end_parent()))?;
            end = (above.conjugate() * rotation).normalize();
        }
        [start, mid, end]
            .iter()
            .all(|rotation| rotation.is_finite())
            .then_some([start, mid, end])
    }

    /// Solves it. Returns true if the end is at the target, and the distance that remains.
    pub(super) fn reach(
        &self,
        skeleton: &Skeleton,
        target: &TwoBoneTarget,
        pose: &mut IkPose<'_>,
    ) -> Option<(bool, f32)> {
        let joints = [self.start, self.mid, self.end];
        if target.weight > 0.0 {
            let solved = self.rotations(skeleton, target, pose)?;
            for (joint, solved) in joints.into_iter().zip(solved) {
                let rotation = &mut pose.local[joint.index()].rotation;
                *rotation = blend(*rotation, solved, target.weight);
            }
            pose.recompute(skeleton, self.start);
        }
        let [start, mid, end] =
            joints.map(|joint| Vec3::from(pose.model[joint.index()].translation));
        let distance = length(end - target.position);
        let limb = length(mid - start) + length(end - mid);
        Some((distance <= 1e-4 * limb, distance as f32))
    }
}

impl IkJob for TwoBone {
    type Target = TwoBoneTarget;

    /// Checks the joints, the hinge and the softening.
    ///
    /// The joints must exist and each must be below the one before it. `hinge` must have a
    /// direction, and `soften` must be in 0..=1.
    fn validate(&self, skeleton: &Skeleton) -> Result<()> {
        skeleton.expect_below("joint TwoBone::mid", self.mid, self.start)?;
        skeleton.expect_below("joint TwoBone::end", self.end, self.mid)?;
        if let Some(hinge) = self.hinge {
            expect_axis("TwoBone::hinge", hinge)
                .map_err(|why| skeleton.about_joint(self.mid, why))?;
        }
        expect_in("TwoBone::soften", self.soften, 0.0, 1.0)
    }

    fn check(&self, target: &TwoBoneTarget) -> Result<()> {
        expect_in("TwoBoneTarget::weight", target.weight, 0.0, 1.0)?;
        expect_all_finite("TwoBoneTarget::position", target.position.to_array())?;
        expect_finite("TwoBoneTarget::twist_rad", target.twist_rad)?;
        if let Some(rotation) = target.rotation {
            expect_rotation("TwoBoneTarget::rotation", rotation)?;
        }
        match target.pole {
            Pole::Animated => Ok(()),
            Pole::Direction(pole) | Pole::Point(pole) => {
                expect_all_finite("TwoBoneTarget::pole", pole.to_array())
            }
        }
    }

    fn run(&self, skeleton: &Skeleton, target: &TwoBoneTarget, mut pose: IkPose<'_>) -> IkReport {
        let solved = self.reach(skeleton, target, &mut pose);
        let (reached, distance_m) = solved.unwrap_or((false, f32::INFINITY));
        IkReport::TwoBone {
            reached,
            distance_m,
        }
    }
}
