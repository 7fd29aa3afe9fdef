//! The data of an aim: several joints that look at a target together.

use crate::id::Id;
use crate::skeleton::Joint;
use glam::Vec3;

/// Turns several joints so that an axis points at a target.
///
/// The joints are spine, neck and head, for example. The axis belongs to the last joint. From first
/// to last, each joint turns by its share of the angle that remains, and the last joint by all of
/// it. The other joints move the last one, so it also corrects for them.
///
/// The miss angle is never larger than in the animated pose, within rounding. A target nearer to
/// the joint than the offset may be out of reach. The joint then turns so that the miss is as small
/// as possible. If a limit, a weight or other joints would increase the miss, the joints turn by
/// less or not at all: see [`IkReport::Aim`](crate::ik::IkReport::Aim).
///
/// ```
/// use throng::animator::Animator;
/// use throng::glam::{Affine3A, Vec3};
/// use throng::ik::{Aim, AimTarget};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let joints = vec![
///     (skeleton.joint("Chest")?, 0.2),
///     (skeleton.joint("Neck")?, 0.3),
///     (skeleton.joint("Head")?, 0.5),
/// ];
/// // The head's own axis that is +Z of character space in the rest pose.
/// let mut rest = vec![Affine3A::IDENTITY; skeleton.len()];
/// skeleton.model_pose(&skeleton.rest_pose(), &mut rest)?;
/// let head = rest[skeleton.joint("Head")?.index()];
/// let forward = head.inverse().transform_vector3(Vec3::Z);
/// let aim = Aim {
///     offset_m: Vec3::new(0.0, 0.1, 0.08), // the eyes
///     limit_rad: 1.2,
///     ..Aim::new(joints, forward)
/// };
///
/// let mut animator = Animator::new(&character)?;
/// let look = animator.add_solver(aim)?;
/// let actor = animator.add("Idle")?;
/// // Targets are in character space, so a point of the world is taken there first.
/// let world_from_model = Affine3A::from_translation(Vec3::new(5.0, 0.0, 0.0));
/// let seen = Vec3::new(6.0, 1.2, 2.0);
/// let target = AimTarget::at(world_from_model.inverse().transform_point3(seen));
/// animator.actor_mut(actor)?.set_target(look, target, 0.0)?;
/// let mut pose = vec![Affine3A::IDENTITY; skeleton.len()];
/// animator.model_poses(&[actor], &mut pose)?;
/// let report = animator.actor(actor)?.target_report(look);
/// assert!(report.is_some_and(|report| report.reached()));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Aim {
    /// The joints, from the first on, 1 to [`Self::MAX_JOINTS`], each with its share of the turn.
    ///
    /// Each joint lies below the one before it. A share is above 0 and at most 1e6. Shares are
    /// relative: a joint turns by its share divided by the sum of all shares.
    pub joints: Vec<(Id<Joint>, f32)>,
    /// The axis that points at the target, in the last joint's space.
    ///
    /// Joints have any axes that their author chose, so this is often not +Z. The example above
    /// computes it from the rest pose, in which the character looks along +Z of character space.
    /// For the built-in character, it is +Z.
    pub forward: Vec3,
    /// The axis that [`AimTarget::up`] turns upright, in the last joint's space.
    ///
    /// It only matters for targets with [`AimTarget::up`].
    pub up: Vec3,
    /// The origin of the forward axis, such as the eyes.
    ///
    /// In metres, in the last joint's space.
    pub offset_m: Vec3,
    /// The largest angle from the animated forward axis to the target.
    ///
    /// In radians, 0..=π.
    ///
    /// The angle is measured at the animated offset. A target outside this cone is replaced by the
    /// nearest direction on the cone. Straight behind, no direction is nearest and the side
    /// switches abruptly, so fade the weight to 0 before that. The limit does not apply to the roll
    /// from [`AimTarget::up`] and [`AimTarget::twist_rad`].
    pub limit_rad: f32,
}

/// The target of an [`Aim`] for one instance in one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AimTarget {
    /// The point to look at, in metres of character space.
    ///
    /// For a point of the world, multiply with the inverse of the instance's transform.
    pub position: Vec3,
    /// The direction for [`Aim::up`], in character space, as far as the aim allows.
    ///
    /// `None` uses the shortest turn.
    pub up: Option<Vec3>,
    /// Additional roll about the line from the joints to the target, in radians.
    ///
    /// Right-handed in character space. The joints share it like the turn, and the weight applies
    /// to it.
    pub twist_rad: f32,
    /// Weight in 0..=1; see the [module documentation](crate::ik).
    pub weight: f32,
}

impl AimTarget {
    /// Aims at `position` by the shortest turn, with full weight.
    #[must_use]
    pub const fn at(position: Vec3) -> Self {
        Self {
            position,
            up: None,
            twist_rad: 0.0,
            weight: 1.0,
        }
    }
}

impl Aim {
    /// The most joints that an aim can have.
    pub const MAX_JOINTS: usize = 16;

    /// Creates an aim along `forward`, with +Y up and no limit.
    ///
    /// The axis starts at the last joint's origin.
    #[must_use]
    pub const fn new(joints: Vec<(Id<Joint>, f32)>, forward: Vec3) -> Self {
        Self {
            joints,
            forward,
            up: Vec3::Y,
            offset_m: Vec3::ZERO,
            limit_rad: core::f32::consts::PI,
        }
    }
}
