//! Spring bones allocate nothing from frame to frame.

use crate::counting::{allocations, measure};
use crate::reference::handles::Handles;
use throng::animator::{Animator, Play};
use throng::builtin;
use throng::glam::{Affine3A, Vec3};
use throng::spring::{SpringBones, SpringChain, SpringJoint};

#[test]
fn nothing_is_allocated_from_frame_to_frame() {
    let _measure = measure();
    let character = builtin::mannequin().unwrap().character;
    let joint = |name| SpringJoint::new(character.skeleton().joint(name).unwrap());
    let chains = vec![SpringChain::new(vec![
        joint("LeftLowerArm"),
        joint("LeftHand"),
    ])];
    let bones = SpringBones {
        chains,
        ..SpringBones::default()
    };
    let character = character.with_springs(bones).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let actors: Vec<_> = (0..20)
        .map(|_| animator.add(Play::new("Walk")).unwrap())
        .collect();
    let mut pose = vec![Affine3A::IDENTITY; actors.len() * character.skeleton().len()];
    let mut before = 0;
    for frame in 0..50 {
        let time_s = f64::from(frame) * 0.05;
        animator.update(time_s).unwrap();
        for actor in &actors {
            let place = Affine3A::from_translation(Vec3::X * time_s as f32);
            animator.live_mut(*actor).set_transform(&place).unwrap();
        }
        animator.model_poses(&actors, &mut pose).unwrap();
        if frame == 2 {
            before = allocations();
        }
    }
    assert_eq!(allocations(), before);
}
