//! The data of a two-bone limb: a leg or an arm.

use crate::id::Id;
use crate::skeleton::Joint;
use glam::{Quat, Vec3};

/// A limb of two bones: turns `start` and `mid` so that `end` reaches a point.
///
/// The angle at `mid` follows from the law of cosines in Heron's form, which stays accurate if the
/// limb is nearly straight or folded. If the target is out of reach, the limb still points at it:
/// straight if the target is too far, folded if it is too near.
///
/// A target on `start`, to within 10⁻⁶ of the limb's length, has no direction. The limb then folds,
/// and `end` comes as near to `start` as the bones allow, in its current direction from `start`. If
/// the pose is already folded and has no such direction, the direction of the upper bone is used.
///
/// ```
/// use throng::animator::Animator;
/// use throng::glam::{Affine3A, Vec3};
/// use throng::ik::{TwoBone, TwoBoneTarget};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let joint = |name| skeleton.joint(name).unwrap_or_default();
/// let arm = TwoBone::new(joint("LeftUpperArm"), joint("LeftLowerArm"), joint("LeftHand"));
///
/// let mut animator = Animator::new(&character)?;
/// let reach = animator.add_solver(arm)?;
/// let actor = animator.add("Walk")?;
/// let target = TwoBoneTarget::at(Vec3::new(0.3, 1.3, 0.3));
/// animator.actor_mut(actor)?.set_target(reach, target, 0.0)?;
/// let mut pose = vec![Affine3A::IDENTITY; skeleton.len()];
/// animator.model_poses(&[actor], &mut pose)?;
/// let report = animator.actor(actor)?.target_report(reach);
/// assert!(report.is_some_and(|report| report.reached()));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoBone {
    /// Hip or shoulder.
    pub start: Id<Joint>,
    /// Knee or elbow: below `start`, not necessarily its child.
    pub mid: Id<Joint>,
    /// Ankle or wrist: below `mid`, not necessarily its child.
    pub end: Id<Joint>,
    /// The axis that `mid` bends about, in its own space. A positive turn bends the limb.
    ///
    /// The hinge decides which way a straight limb bends, and corrects a limb that is bent the
    /// wrong way. With `None`, the axis is perpendicular to the limb in the pose. If the limb is
    /// straight in the pose, the pole decides. Without a pole, a straight limb has no bend
    /// direction, so give a hinge.
    pub hinge: Option<Vec3>,
    /// The part of the reach that is softened, near full extension.
    ///
    /// It is a fraction of the limb's length. With 0, the limb follows exactly until it is nearly
    /// straight, and then its knee snaps. Usual values are 0.03 to 0.1. (The ratio of ozz-animation
    /// is 1 minus this.)
    ///
    /// With `s` the length of that end, the distance `d` from `start` becomes `L − s·exp(−(d − (L −
    /// s)) / s)` beyond `L − s`. The curve and its slope are continuous, it rises, and it never
    /// quite reaches `L` (A. Nicholas, "Soft IK", 2008).
    pub soften: f32,
}

/// The direction of `mid` on the circle that start and target leave free.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Pole {
    /// The direction in the pose, carried along as the end moves.
    #[default]
    Animated,
    /// This direction from the line between start and end, in character space.
    Direction(Vec3),
    /// The side of this point, in character space.
    Point(Vec3),
}

/// The target of a [`TwoBone`] for one instance in one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TwoBoneTarget {
    /// The goal for `end`, in metres of character space.
    pub position: Vec3,
    /// The rotation of `end` in character space. With `None`, its local rotation stays.
    ///
    /// For a flipped joint, it is the rotation of the negative of its matrix. If the scales above
    /// are non-uniform, it is the rotation of its x and y axes.
    pub rotation: Option<Quat>,
    /// The direction of `mid`. A pole on the line from start to target counts as
    /// [`Pole::Animated`].
    pub pole: Pole,
    /// An additional turn of `mid` about the line from start to target.
    ///
    /// In radians, right-handed.
    pub twist_rad: f32,
    /// Weight in 0..=1; see the [module documentation](crate::ik).
    pub weight: f32,
}

impl TwoBoneTarget {
    /// Reaches for `position` with full weight, and keeps everything else from the pose.
    #[must_use]
    pub const fn at(position: Vec3) -> Self {
        Self {
            position,
            rotation: None,
            pole: Pole::Animated,
            twist_rad: 0.0,
            weight: 1.0,
        }
    }
}

impl TwoBone {
    /// Creates a limb of these three joints, without a hinge or softening.
    #[must_use]
    pub const fn new(start: Id<Joint>, mid: Id<Joint>, end: Id<Joint>) -> Self {
        Self {
            start,
            mid,
            end,
            hinge: None,
            soften: 0.0,
        }
    }
}
