//! Spring bones that do not fit are refused, by chain, joint and rule.

use super::bodies::{chain, joint, plain, strand};
use crate::reference::handles::Handles;
use crate::reference::words::Fails;
use throng::Id;
use throng::animator::{Animator, Play};
use throng::glam::{Affine3A, Vec3};
use throng::spring::{SpringBones, SpringChain, SpringCollider};

#[track_caller]
fn refused(bones: SpringBones, message: &str) {
    let error = plain().with_springs(bones).unwrap_err();
    assert_eq!(error.to_string(), message);
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
    refused(
        changed(|chain| chain.joints[1].joint = Id::new(9)),
        "spring chain 0: joint 1: joint 9 does not exist: there are 7",
    );
    refused(
        changed(|chain| chain.joints.swap(1, 2)),
        "spring chain 0: joint 2: joint: must lie below the one before it, within 256 joints",
    );
    refused(
        changed(|chain| chain.joints[1].joint = Id::new(2)),
        "spring chain 0: joint 1: joint: must lie below the one before it, within 256 joints",
    );
    refused(
        changed(|chain| chain.joints.truncate(1)),
        "spring chain 0: joints: must be at least two, or one if there is a tail_m",
    );
    refused(
        changed(|chain| chain.center = Some(Id::new(4))),
        "spring chain 0: center: must not swing, and must not lie below a joint that does",
    );
    refused(
        changed(|chain| chain.center = Some(Id::new(70))),
        "spring chain 0: center 70 does not exist: there are 7",
    );
    refused(
        changed(|chain| chain.colliders = vec![3]),
        "spring chain 0: spring collider 3 does not exist: there are 0",
    );
    refused(
        chains(vec![SpringChain::new(vec![joint(4), joint(5)]), chain()]),
        "spring chain 1: joint 2: joint: already swings in another chain",
    );
}

#[test]
fn the_limits_of_values() {
    refused(
        changed(|chain| chain.joints[0].stiffness = -1.0),
        "spring chain 0: joint 0: stiffness: -1 must be at least 0",
    );
    refused(
        changed(|chain| chain.joints[0].drag = 1.5),
        "spring chain 0: joint 0: drag: 1.5 lies outside 0..=1",
    );
    refused(
        changed(|chain| chain.joints[0].drag = 1.1),
        "spring chain 0: joint 0: drag: 1.1 lies outside 0..=1",
    );
    refused(
        changed(|chain| chain.joints[0].drag = -1e-20),
        "spring chain 0: joint 0: drag: -1e-20 lies outside 0..=1",
    );
    refused(
        changed(|chain| chain.joints[3].radius_m = f32::NAN),
        "spring chain 0: joint 3: radius_m: NaN is not finite",
    );
    refused(
        changed(|chain| chain.joints[2].gravity.y = f32::INFINITY),
        "spring chain 0: joint 2: gravity: inf is not finite",
    );
    refused(
        changed(|chain| chain.tail_m = Some(Vec3::NAN)),
        "spring chain 0: tail_m: NaN is not finite",
    );
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
    refused(
        colliders(vec![collider(0, 1.0), collider(0, -1.0)]),
        "spring collider 1: radius_m: -1 must be at least 0",
    );
    refused(
        colliders(vec![collider(8, 1.0)]),
        "spring collider 0: joint 8 does not exist: there are 7",
    );
    refused(
        colliders(vec![collider(0, 1.0); 4097]),
        "spring colliders: 4097 requested, at most 4096 allowed",
    );
    // The strand has four joints that swing.
    let mut bones = changed(|chain| chain.colliders = vec![0; 16_385]);
    bones.colliders = vec![collider(0, 1.0)];
    refused(
        bones,
        "pairs of a swinging joint and a collider: 65540 requested, at most 65536 allowed",
    );
}

#[test]
fn a_world_that_is_not_finite_is_refused() {
    let mut animator = Animator::new(&strand()).unwrap();
    let actor = animator.add(Play::REST).unwrap();
    let bad = Affine3A::from_translation(Vec3::NAN);
    let mut it = animator.live_mut(actor);
    it.set_transform(&bad)
        .fails("world_from_model: NaN is not finite");
    let far = Affine3A::from_translation(Vec3::splat(-2e18));
    it.set_transform(&far).fails("…-1e18..=1e18…");
    assert!(it.teleport(&bad).is_err());
    animator.remove(actor).unwrap();
    assert!(
        animator
            .on(actor, |mut it| it.set_transform(&Affine3A::IDENTITY))
            .is_err()
    );
    assert!(
        animator
            .actor_mut(actor)
            .map(|mut it| it.set_springs(true))
            .is_err()
    );
    assert!(
        animator
            .actor_mut(actor)
            .map(|mut it| it.reset_springs())
            .is_err()
    );
}
