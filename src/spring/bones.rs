//! Spring bones as plain data.

use crate::id::Id;
use crate::skeleton::Joint;
use glam::Vec3;

/// Chains of joints that swing, and the colliders that they stay outside of.
///
/// `J` names a joint: an [`Id`], or another kind of index before an import has made joints.
///
/// ```
/// use throng::animator::Animator;
/// use throng::builtin;
/// use throng::glam::{Affine3A, Vec3};
/// use throng::spring::{SpringBones, SpringChain, SpringJoint};
///
/// // The forearms dangle.
/// let character = builtin::mannequin()?.character;
/// let chain = |arm: &str, hand: &str| {
///     let skeleton = character.skeleton();
///     let joints = [skeleton.joint(arm)?, skeleton.joint(hand)?].map(|joint| SpringJoint {
///         gravity: Vec3::new(0.0, -2.0, 0.0),
///         ..SpringJoint::new(joint)
///     });
///     Ok::<_, throng::Error>(SpringChain::new(joints.to_vec()))
/// };
/// let chains = vec![chain("LeftLowerArm", "LeftHand")?, chain("RightLowerArm", "RightHand")?];
/// let character = character.with_springs(SpringBones { chains, ..SpringBones::default() })?;
///
/// let mut animator = Animator::new(&character)?;
/// let actor = animator.add("Walk")?;
/// let mut pose = vec![Affine3A::IDENTITY; character.skeleton().len()];
/// for frame in 0..60 {
///     let time_s = f64::from(frame) / 60.0;
///     animator.update(time_s)?;
///     let world_from_model = Affine3A::from_translation(Vec3::Z * time_s as f32);
///     animator.actor_mut(actor)?.set_transform(&world_from_model)?;
///     animator.model_poses(&[actor], &mut pose)?;
/// }
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[doc(alias = "jiggle")]
#[doc(alias = "secondary animation")]
pub struct SpringBones<J = Id<Joint>> {
    /// The colliders, which chains refer to by index.
    pub colliders: Vec<SpringCollider<J>>,
    /// The chains.
    pub chains: Vec<SpringChain<J>>,
}

/// Joints that swing one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct SpringChain<J = Id<Joint>> {
    /// Its name, or empty.
    pub name: Box<str>,
    /// The joints. Each lies below the one before it, and turns so that it points at the next one.
    ///
    /// Joints in between keep their animated local transform. The last joint swings only if there
    /// is a [`tail_m`](Self::tail_m). A joint swings in one chain at most.
    pub joints: Vec<SpringJoint<J>>,
    /// The end of the last joint, in metres of its space.
    pub tail_m: Option<Vec3>,
    /// Indices of the colliders that its joints stay outside of.
    pub colliders: Vec<usize>,
    /// The joint relative to which tails keep their movement. `None`: the world.
    ///
    /// The chain then does not lag behind movements of this joint. It must not swing itself.
    pub center: Option<J>,
}

/// The way a joint swings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpringJoint<J = Id<Joint>> {
    /// The joint.
    pub joint: J,
    /// The speed at which its tail is drawn to the animated direction, in metres per second.
    ///
    /// At least 0. The default is 1.
    pub stiffness: f32,
    /// The velocity by which every step moves its tail, in metres per second of world space.
    pub gravity: Vec3,
    /// The part of its movement that a step takes away, 0 to 1. The default is 0.5.
    pub drag: f32,
    /// The radius of its tail against colliders, in metres. At least 0.
    pub radius_m: f32,
}

/// A sphere or a capsule that tails stay outside of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpringCollider<J = Id<Joint>> {
    /// The joint that it moves with.
    pub joint: J,
    /// The centre of the sphere, or of one end of the capsule, in metres of the joint's space.
    pub offset_m: Vec3,
    /// The centre of the other end of the capsule. `None`: a sphere.
    pub tail_m: Option<Vec3>,
    /// In metres. At least 0.
    pub radius_m: f32,
}

impl SpringBones {
    /// The time of a simulation step, in seconds.
    pub const STEP_S: f64 = 1.0 / 60.0;
    /// The most steps of one frame.
    pub const MAX_STEPS: u32 = 15;
    /// The most colliders.
    pub const MAX_COLLIDERS: usize = 4096;
    /// The most joints from one joint of a chain down to the next.
    pub const MAX_GAP: usize = 256;
    /// The most pairs of a swinging joint and a collider of its chain.
    ///
    /// Each step tests each pair once. A frame of one instance therefore tests 65,536 pairs at most
    /// [`MAX_STEPS`](Self::MAX_STEPS) + 1 times.
    pub const MAX_PAIRS: usize = 1 << 16;
}

impl<J> Default for SpringBones<J> {
    fn default() -> Self {
        Self {
            colliders: Vec::new(),
            chains: Vec::new(),
        }
    }
}

impl<J> SpringChain<J> {
    /// A chain of these joints, without colliders.
    #[must_use]
    pub fn new(joints: Vec<SpringJoint<J>>) -> Self {
        Self {
            name: Box::default(),
            joints,
            tail_m: None,
            colliders: Vec::new(),
            center: None,
        }
    }

    pub(crate) fn swinging(&self) -> impl Iterator<Item = &SpringJoint<J>> {
        let last = usize::from(self.tail_m.is_none());
        let count = self.joints.len().saturating_sub(last);
        self.joints.iter().take(count)
    }
}

impl<J> SpringJoint<J> {
    /// A joint with the default stiffness and drag.
    #[must_use]
    pub const fn new(joint: J) -> Self {
        Self {
            joint,
            stiffness: 1.0,
            gravity: Vec3::ZERO,
            drag: 0.5,
            radius_m: 0.0,
        }
    }
}
