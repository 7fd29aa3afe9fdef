//! The foot placement job: pelvis, legs and soles on uneven ground.

use super::job::{IkJob, IkPose, expect_axis};
use super::maths::{angle_between, arc, blend, direction, inverse, part_of, rotation_of, unit};
use super::report::{IkReport, MAX_LEGS};
use super::two_bone::{Pole, TwoBone, TwoBoneTarget};
use crate::error::{Result, expect_all_finite, expect_cap, expect_in, expect_index, expect_len};
use crate::id::Id;
use crate::skeleton::{Joint, Skeleton};
use core::f32::consts::FRAC_PI_2;
use glam::{Quat, Vec3};

/// The largest height, in metres.
const FARTHEST_M: f32 = 1e6;

/// The least cosine of a slope.
const LEAST_ACROSS: f32 = 0.1;

/// Places the feet of a character on uneven ground.
///
/// The character must have been animated on flat ground. The caller gives the ground under each
/// foot. The animated foot keeps its height above the ground, measured from the plane through the
/// character's origin. A foot in the air therefore stays in the air.
///
/// The pelvis moves by the need of the lowest foot, so that every leg reaches. Then each leg is
/// solved as a [`TwoBone`], with the knee direction of the pose, and the foot turns with the slope
/// of the ground. (After the foot IK sample of ozz-animation, G. Blanc.)
///
/// ```
/// use throng::animator::{Animator, Play};
/// use throng::glam::{Affine3A, Vec3};
/// use throng::ik::{FeetTarget, FootPlacement, GroundHit, IkReport, TwoBone};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let joint = |name| skeleton.joint(name).unwrap_or_default();
/// let leg = |hip, knee, ankle| {
///     let bones = TwoBone::new(joint(hip), joint(knee), joint(ankle));
///     (TwoBone { soften: 0.03, ..bones }, 0.08)
/// };
/// let feet = FootPlacement::new(
///     joint("Hips"),
///     vec![
///         leg("LeftUpperLeg", "LeftLowerLeg", "LeftFoot"),
///         leg("RightUpperLeg", "RightLowerLeg", "RightFoot"),
///     ],
/// );
///
/// let mut animator = Animator::new(&character)?;
/// let stand = animator.add_solver(feet)?;
/// let actor = animator.add(Play::REST)?;
/// // The right foot stands 20 cm lower.
/// let ground = [0.0, -0.2].map(|y| Some(GroundHit::level(Vec3::Y * y)));
/// animator.actor_mut(actor)?.set_target(stand, FeetTarget::on(&ground), 0.0)?;
/// let mut pose = vec![Affine3A::IDENTITY; skeleton.len()];
/// animator.model_poses(&[actor], &mut pose)?;
/// let report = animator.actor(actor)?.target_report(stand);
/// let Some(IkReport::Feet { pelvis_m, .. }) = report else { panic!("no report") };
/// assert!((pelvis_m + 0.2).abs() < 1e-6);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FootPlacement {
    /// The joint that moves up and down with all legs below it.
    pub pelvis: Id<Joint>,
    /// The legs, at most [`Self::MAX_LEGS`], each with the height of its ankle.
    ///
    /// The bones are hip, knee and ankle, with the knee's hinge and the softening. The height is
    /// that above the sole of a flat foot, in metres of character space, 0..=10⁶.
    pub legs: Vec<(TwoBone, f32)>,
    /// The direction away from the ground, in character space.
    pub up: Vec3,
    /// The largest depth of ground below the character's origin, in metres, 0..=10⁶.
    ///
    /// Lower ground counts as at this depth.
    pub max_drop_m: f32,
    /// The largest height of ground above the character's origin, in metres, 0..=10⁶.
    ///
    /// Higher ground counts as at this height.
    pub max_step_m: f32,
    /// The largest slope that a foot follows, in radians, 0..=π/2.
    pub max_tilt_rad: f32,
}

/// The ground under a foot.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GroundHit {
    /// A point of the ground straight below or above the animated ankle.
    ///
    /// In character space.
    ///
    /// Only its height is used.
    pub point: Vec3,
    /// The normal of the ground at this point, in character space.
    pub normal: Vec3,
}

impl GroundHit {
    /// Level ground, with +Y up.
    #[must_use]
    pub const fn level(point: Vec3) -> Self {
        Self {
            point,
            normal: Vec3::Y,
        }
    }
}

/// The target of a [`FootPlacement`] for one instance in one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FeetTarget {
    /// The ground under each leg.
    ///
    /// With `None`, the leg is not solved and moves with the pelvis. Past the last leg, all are
    /// `None`.
    pub hits: [Option<GroundHit>; FootPlacement::MAX_LEGS],
    /// Weight in 0..=1. It scales how far feet, soles and pelvis move: at 0.5, a foot moves
    /// halfway.
    pub weight: f32,
}

impl FeetTarget {
    /// Sets the ground of the first legs, with full weight.
    ///
    /// It does not compile for more than [`FootPlacement::MAX_LEGS`] legs.
    #[must_use]
    pub fn on<const LEGS: usize>(ground: &[Option<GroundHit>; LEGS]) -> Self {
        const {
            assert!(
                LEGS <= FootPlacement::MAX_LEGS,
                "more legs than a FootPlacement can have"
            )
        };
        let mut hits = [None; FootPlacement::MAX_LEGS];
        for (hit, given) in hits.iter_mut().zip(ground) {
            *hit = *given;
        }
        Self { hits, weight: 1.0 }
    }
}

/// The target of a foot at full weight.
#[derive(Clone, Copy)]
struct Placed {
    /// The distance that the ankle moves up.
    rise: f32,
    ankle: Vec3,
    /// The slope of the ground.
    tilt: Quat,
    rotation: Option<Quat>,
}

impl FootPlacement {
    /// The most legs that a character can have.
    pub const MAX_LEGS: usize = MAX_LEGS;

    /// Creates a job for these legs, with +Y up.
    ///
    /// It accepts ground from 0.5 m below to 0.5 m above the origin, and slopes up to 45°.
    #[must_use]
    pub const fn new(pelvis: Id<Joint>, legs: Vec<(TwoBone, f32)>) -> Self {
        Self {
            pelvis,
            legs,
            up: Vec3::Y,
            max_drop_m: 0.5,
            max_step_m: 0.5,
            max_tilt_rad: core::f32::consts::FRAC_PI_4,
        }
    }

    /// The largest error of the pelvis's movement, relative to its distance from the origin and to
    /// the movement.
    pub(crate) const MOST_ROUNDING: f32 = 1e-5;

    /// The largest distance by which it moves the pelvis, in metres: that of the ground, and what a
    /// slope adds.
    pub(crate) fn most_m(&self) -> f64 {
        // A margin for the rounding of the slope.
        let across = (f64::from(self.max_tilt_rad).cos() - 1e-5).max(LEAST_ACROSS.into());
        let highest = self.legs.iter().map(|(_, ankle_m)| f64::from(*ankle_m));
        let slope = highest.fold(0.0, f64::max) * (1.0 / across - 1.0);
        let step = f64::from(self.max_step_m) + slope;
        step.max(self.max_drop_m.into())
    }

    fn placed(
        &self,
        (bones, ankle_m): &(TwoBone, f32),
        hit: &GroundHit,
        up: Vec3,
        pose: &IkPose<'_>,
    ) -> Option<Placed> {
        let ankle_model = &pose.model[usize::from(bones.end)];
        let ankle = Vec3::from(ankle_model.translation);
        let ground = hit.point.dot(up).clamp(-self.max_drop_m, self.max_step_m);
        let normal = unit(hit.normal)?;
        let slope = angle_between(normal, up);
        let tilt = arc(up, normal, None);
        let tilt = if slope > self.max_tilt_rad {
            part_of(tilt, self.max_tilt_rad / slope)
        } else {
            tilt
        };
        // On a slope, the vertical distance that gives the ankle's height perpendicular to the
        // slope.
        let across = (tilt * up).dot(up).max(LEAST_ACROSS);
        let rise = ground + ankle_m * (1.0 / across - 1.0);
        (rise.is_finite() && ankle.is_finite()).then_some(Placed {
            rise,
            ankle,
            tilt,
            rotation: rotation_of(ankle_model),
        })
    }

    /// Moves the pelvis and all joints below it by `rise`, in character space.
    fn move_pelvis(&self, skeleton: &Skeleton, rise: Vec3, pose: &mut IkPose<'_>) -> Option<()> {
        let parent = skeleton.parent_model(self.pelvis, pose.model);
        let to_parent = inverse(&parent)?;
        let local = &mut pose.local[usize::from(self.pelvis)];
        let moved = local.translation + direction(&to_parent, rise);
        // The rounding of a nearly singular matrix could move it anywhere.
        let [from, to] = [local.translation, moved].map(|own| parent.transform_point3(own));
        let allowed = Self::MOST_ROUNDING * (from.length() + rise.length());
        // It is NaN if a number is not finite.
        let error = (to - from - rise).length();
        local.translation = (error <= allowed).then_some(moved)?;
        pose.recompute(skeleton, self.pelvis);
        Some(())
    }
}

impl IkJob for FootPlacement {
    type Target = FeetTarget;

    /// Checks the pelvis, the legs, the heights and `up`.
    ///
    /// The pelvis must exist and every leg must be a valid [`TwoBone`] below it. There must be 1 to
    /// [`FootPlacement::MAX_LEGS`] legs. Heights must be in 0..=10⁶ m, and `up` must have a
    /// direction.
    fn validate(&self, skeleton: &Skeleton) -> Result<()> {
        skeleton.expect_joint("joint FootPlacement::pelvis", self.pelvis)?;
        expect_cap("legs", self.legs.len(), FootPlacement::MAX_LEGS)?;
        let count = self.legs.len();
        expect_len("FootPlacement::legs", count, count.max(1))?;
        for (index, (bones, ankle_m)) in self.legs.iter().enumerate() {
            let check = || {
                skeleton.expect_below("joint TwoBone::start", bones.start, self.pelvis)?;
                bones.validate(skeleton)?;
                expect_in("height in FootPlacement::legs", *ankle_m, 0.0, FARTHEST_M)
            };
            check().map_err(|why| why.at("leg", index))?;
        }
        expect_axis("FootPlacement::up", self.up)?;
        let (drop_m, step_m, tilt_rad) = (self.max_drop_m, self.max_step_m, self.max_tilt_rad);
        expect_in("FootPlacement::max_drop_m", drop_m, 0.0, FARTHEST_M)?;
        expect_in("FootPlacement::max_step_m", step_m, 0.0, FARTHEST_M)?;
        expect_in("FootPlacement::max_tilt_rad", tilt_rad, 0.0, FRAC_PI_2)
    }

    fn check(&self, target: &FeetTarget) -> Result<()> {
        expect_in("FeetTarget::weight", target.weight, 0.0, 1.0)?;
        for (leg, hit) in target.hits.iter().enumerate() {
            let Some(hit) = hit else { continue };
            expect_index("leg of FeetTarget::hits", leg, self.legs.len())?;
            expect_all_finite("GroundHit::point", hit.point.to_array())
                .and_then(|()| expect_axis("GroundHit::normal", hit.normal))
                .map_err(|why| why.at("leg", leg))?;
        }
        Ok(())
    }

    fn run(&self, skeleton: &Skeleton, target: &FeetTarget, mut pose: IkPose<'_>) -> IkReport {
        let (pelvis_m, legs) = self.place(skeleton, target, &mut pose);
        let mut solved = legs.iter().flatten().peekable();
        IkReport::Feet {
            reached: solved.peek().is_some() && solved.all(|(reached, _)| *reached),
            pelvis_m,
            legs_m: legs.map(|leg| Some(leg?.1)),
        }
    }
}

/// For each leg that was solved: true if its target was reached, and the distance that remains.
type Legs = [Option<(bool, f32)>; FootPlacement::MAX_LEGS];

impl FootPlacement {
    /// Places the pelvis, then the feet. Returns the distance that the pelvis moved up, and the
    /// legs.
    fn place(
        &self,
        skeleton: &Skeleton,
        target: &FeetTarget,
        pose: &mut IkPose<'_>,
    ) -> (f32, Legs) {
        let up = unit(self.up).unwrap_or(Vec3::Y);
        let mut placed = [None; FootPlacement::MAX_LEGS];
        for ((placed, leg), hit) in placed.iter_mut().zip(&self.legs).zip(&target.hits) {
            let hit = hit.as_ref().filter(|_| target.weight > 0.0);
            *placed = hit.and_then(|hit| self.placed(leg, hit, up, pose));
        }
        let mut legs = [None; FootPlacement::MAX_LEGS];
        let rises = placed.iter().flatten().map(|placed| placed.rise);
        let Some(lowest) = rises.reduce(f32::min) else {
            return (0.0, legs);
        };
        let pelvis_m = lowest * target.weight;
        if self.move_pelvis(skeleton, up * pelvis_m, pose).is_none() {
            return (0.0, legs);
        }
        for ((placed, (bones, _)), reached) in placed.iter().zip(&self.legs).zip(&mut legs) {
            let Some(placed) = placed else { continue };
            let tilt = blend(Quat::IDENTITY, placed.tilt, target.weight);
            let target = TwoBoneTarget {
                rotation: placed
                    .rotation
                    .map(|rotation| (tilt * rotation).normalize()),
                pole: Pole::Animated,
                ..TwoBoneTarget::at(placed.ankle + up * (placed.rise * target.weight))
            };
            *reached = bones.reach(skeleton, &target, pose);
        }
        (pelvis_m, legs)
    }
}
