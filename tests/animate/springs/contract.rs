//! Spring bones that do not fit are refused, by chain, joint and rule.

use super::bodies::{chain, joint, plain, strand};
use crate::reference::handles::Handles;
use crate::reference::refused;
use throng::animator::{Animator, Play, SpringMode};
use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::spring::{SpringBones, SpringChain, SpringCollider};
use throng::{Id, Result};

fn with(bones: SpringBones) -> Result<Character> {
    plain().with_springs(bones)
}

fn chains(chains: Vec<SpringChain>) -> SpringBones {
    SpringBones {
        chains,
        ..SpringBones::default()
    }
}

fn changed(change: impl FnOnce(&mut SpringChain)) -> SpringBones {
    let mut chain = chain();
    change(&mut chain);
    chains(vec![chain])
}

#[test]
fn the_rules_of_chains() {
    refused! {
        with(changed(|chain| chain.joints[1].joint = Id::new(9)))
            => "spring chain 0: joint 1: joint 9 does not exist: there are 7";
        with(changed(|chain| chain.joints.swap(1, 2)))
            => "spring chain 0: joint 2: joint: must lie below the one before it, within 256 \
                joints";
        with(changed(|chain| chain.joints[1].joint = Id::new(2)))
            => "spring chain 0: joint 1: joint: must lie below the one before it, within 256 \
                joints";
        with(changed(|chain| chain.joints.truncate(1)))
            => "spring chain 0: joints: must be at least two, or one if there is a tail_m";
        with(changed(|chain| chain.center = Some(Id::new(4))))
            => "spring chain 0: center: must not swing, and must not lie below a joint that does";
        with(changed(|chain| chain.center = Some(Id::new(70))))
            => "spring chain 0: center 70 does not exist: there are 7";
        with(changed(|chain| chain.colliders = vec![3]))
            => "spring chain 0: spring collider 3 does not exist: there are 0";
        with(chains(vec![SpringChain::new(vec![joint(4), joint(5)]), chain()]))
            => "spring chain 1: joint 2: joint: already swings in another chain";
    }
}

#[test]
fn the_limits_of_values() {
    refused! {
        with(changed(|chain| chain.joints[0].stiffness = -1.0))
            => "spring chain 0: joint 0: stiffness: -1 must be at least 0";
        with(changed(|chain| chain.joints[0].drag = 1.5))
            => "spring chain 0: joint 0: drag: 1.5 lies outside 0..=1";
        with(changed(|chain| chain.joints[0].drag = 1.1))
            => "spring chain 0: joint 0: drag: 1.1 lies outside 0..=1";
        with(changed(|chain| chain.joints[0].drag = -1e-20))
            => "spring chain 0: joint 0: drag: -1e-20 lies outside 0..=1";
        with(changed(|chain| chain.joints[3].radius_m = f32::NAN))
            => "spring chain 0: joint 3: radius_m: NaN is not finite";
        with(changed(|chain| chain.joints[2].gravity.y = f32::INFINITY))
            => "spring chain 0: joint 2: gravity: inf is not finite";
        with(changed(|chain| chain.tail_m = Some(Vec3::NAN)))
            => "spring chain 0: tail_m: NaN is not finite";
    }
    let collider = |joint, radius_m| SpringCollider {
        joint: Id::new(joint),
        offset_m: Vec3::ZERO,
        tail_m: None,
        radius_m,
    };
    let colliders = |colliders| SpringBones {
        colliders,
        chains: Vec::new(),
    };
    refused! {
        with(colliders(vec![collider(0, 1.0), collider(0, -1.0)]))
            => "spring collider 1: radius_m: -1 must be at least 0";
        with(colliders(vec![collider(8, 1.0)]))
            => "spring collider 0: joint 8 does not exist: there are 7";
        with(colliders(vec![collider(0, 1.0); 4097]))
            => "spring colliders: 4097 requested, at most 4096 allowed";
    }
    // The strand has four joints that swing.
    let mut bones = changed(|chain| chain.colliders = vec![0; 16_385]);
    bones.colliders = vec![collider(0, 1.0)];
    refused! {
        with(bones)
            => "pairs of a swinging joint and a collider: 65540 requested, at most 65536 allowed";
    }
}

#[test]
fn a_world_that_is_not_finite_is_refused() {
    let mut animator = Animator::new(&strand()).unwrap();
    let actor = animator.add(Play::REST).unwrap();
    let bad = Affine3A::from_translation(Vec3::NAN);
    let far = Affine3A::from_translation(Vec3::splat(-2e18));
    refused! {
        animator.live_mut(actor).set_transform(&bad) => "world_from_model: NaN is not finite";
        animator.live_mut(actor).set_transform(&far) => "…-1e18..=1e18…";
        animator.live_mut(actor).teleport(&bad) => "world_from_model: NaN is not finite";
    }
    animator.remove(actor).unwrap();
    refused! {
        animator.on(actor, |mut it| it.set_transform(&Affine3A::IDENTITY))
            => "…no longer exists…";
        animator.actor_mut(actor).map(|mut it| it.set_springs(SpringMode::Picture)) => "…no longer exists…";
    }
}
