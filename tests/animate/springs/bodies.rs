//! Characters with chains that swing, and animators that show them.

use crate::reference::handles::Handles;
use throng::Id;
use throng::animator::{ActorId, Animator, Play};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::skeleton::{Joint, Skeleton, Transform};
use throng::spring::{SpringBones, SpringChain, SpringJoint};

/// The joints of [`strand`].
pub(super) const JOINTS: usize = 7;
/// The length of a link, in metres.
pub(super) const LINK_M: f32 = 0.1;

/// A root, a head above it, and a strand of five joints that stands out of the head and bends.
pub(super) fn skeleton() -> Skeleton {
    let joint = |number: u16| {
        let translation = match number {
            0 => Vec3::new(0.3, 0.1, -0.2),
            1 => Vec3::new(0.0, 1.5, 0.0),
            2 => Vec3::new(0.0, 0.1, -0.05),
            _ => Vec3::new(0.0, 0.0, -LINK_M),
        };
        Joint {
            name: format!("j{number}").into(),
            parent: number.checked_sub(1).map(Id::new),
            rest: Transform {
                translation,
                rotation: Quat::from_axis_angle(Vec3::X, 0.1 * f32::from(number)),
                scale: Vec3::ONE,
            },
        }
    };
    Skeleton::new((0..JOINTS as u16).map(joint).collect()).unwrap()
}

pub(super) fn joint(number: u16) -> SpringJoint {
    SpringJoint {
        stiffness: 0.8,
        gravity: Vec3::new(0.0, -0.6, 0.0),
        drag: 0.3,
        ..SpringJoint::new(Id::new(number))
    }
}

/// The strand's chain: joints 2 to 6. The last is only a tail.
pub(super) fn chain() -> SpringChain {
    SpringChain::new((2..JOINTS as u16).map(joint).collect())
}

pub(super) fn plain() -> Character {
    let raw = RawCharacter::from_skeleton(&skeleton());
    raw.build(&ImportOptions::default()).unwrap().character
}

pub(super) fn with(bones: SpringBones) -> Character {
    plain().with_springs(bones).unwrap()
}

pub(super) fn strand() -> Character {
    with(SpringBones {
        chains: vec![chain()],
        ..SpringBones::default()
    })
}

/// An animator with one actor, which stands in its rest pose.
pub(super) struct Show {
    pub(super) animator: Animator,
    pub(super) actor: ActorId,
}

impl Show {
    pub(super) fn new(character: &Character) -> Self {
        let mut animator = Animator::new(character).unwrap();
        let actor = animator.add(Play::REST).unwrap();
        Self { animator, actor }
    }

    /// The model pose at a time, at a place in the world.
    pub(super) fn at(&mut self, time_s: f64, world: &Affine3A) -> Vec<Affine3A> {
        self.animator.update(time_s).unwrap();
        self.animator
            .live_mut(self.actor)
            .set_transform(world)
            .unwrap();
        self.pose()
    }

    /// The model pose at the time that is shown.
    pub(super) fn pose(&mut self) -> Vec<Affine3A> {
        let mut pose = vec![Affine3A::IDENTITY; JOINTS];
        self.animator.model_poses(&[self.actor], &mut pose).unwrap();
        pose
    }
}

/// A smooth way through the world, with turns.
pub(super) fn way(time_s: f64) -> Affine3A {
    let t = time_s as f32;
    let at = Vec3::new((1.7 * t).sin(), 0.2 * (3.1 * t).sin(), 0.8 * t * t.min(2.0));
    Affine3A::from_rotation_translation(Quat::from_rotation_y(1.3 * (0.9 * t).sin()), at)
}

/// The largest distance between two joints of the same number.
pub(super) fn apart(a: &[Affine3A], b: &[Affine3A]) -> f32 {
    let pairs = a.iter().zip(b);
    let apart = pairs.map(|(a, b)| a.translation.distance(b.translation));
    apart.fold(0.0, f32::max)
}
