//! Nothing grows without bound, whatever the settings and times are.

use super::bodies::{JOINTS, LINK_M, Show, chain, way, with};
use throng::Id;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::spring::{SpringBones, SpringChain, SpringCollider, SpringJoint};

fn strand_of(change: impl Fn(&mut SpringJoint)) -> Show {
    let mut chain = chain();
    chain.joints.iter_mut().for_each(change);
    Show::new(&with(SpringBones {
        chains: vec![chain],
        ..SpringBones::default()
    }))
}

fn check_lengths(pose: &[Affine3A], what: &str) {
    assert!(pose.iter().all(Affine3A::is_finite), "{what}: {pose:?}");
    for joint in 3..JOINTS {
        let length = pose[joint]
            .translation
            .distance(pose[joint - 1].translation);
        assert!((length - LINK_M).abs() < 1e-4, "{what}: {length}");
    }
}

#[test]
fn lengths_stay_with_extreme_settings_and_times() {
    let huge = [0.0, 1.0, 1e3, 1e9, 1e30, f32::MAX];
    for stiffness in huge {
        for (drag, fall) in [(0.0, 0.0), (0.0, 1e30), (1.0, 5.0), (0.5, -f32::MAX)] {
            let mut show = strand_of(|joint| {
                joint.stiffness = stiffness;
                joint.drag = drag;
                joint.gravity = Vec3::new(0.0, fall, fall);
            });
            let mut time_s = 0.0;
            for frame in 0..200_u32 {
                let passed = [0.016, 0.0, 0.0001, 0.3, 5.0, -2.0, 1e6, 0.033];
                time_s += passed[frame as usize % passed.len()];
                let pose = show.at(time_s, &way(f64::from(frame) * 0.05));
                check_lengths(&pose, &format!("{stiffness} {drag} {fall} {frame}"));
            }
        }
    }
}

#[test]
fn a_swing_without_drag_does_not_grow() {
    for stiffness in [0.0, 0.1, 1.0, 50.0] {
        let mut show = strand_of(|joint| {
            joint.stiffness = stiffness;
            joint.drag = 0.0;
            joint.gravity = Vec3::ZERO;
        });
        // A shove.
        for frame in 0..30 {
            let at = Affine3A::from_translation(Vec3::X * (frame as f32 * 0.02));
            show.at(f64::from(frame) / 60.0, &at);
        }
        let at = Affine3A::from_translation(Vec3::X * 0.58);
        let mut before = show.at(0.5, &at);
        let mut fastest = Vec::new();
        for second in 0..20 {
            let mut most = 0.0_f32;
            for frame in 1..=60 {
                let time_s = 0.5 + f64::from(second) + f64::from(frame) / 60.0;
                let pose = show.at(time_s, &at);
                most = most.max(super::bodies::apart(&before, &pose));
                before = pose;
            }
            fastest.push(most);
        }
        let last = fastest[15..].iter().fold(0.0_f32, |a, b| a.max(*b));
        let first = fastest[0];
        assert!(last <= first * 1.01 + 1e-6, "{stiffness}: {fastest:?}");
    }
}

#[test]
fn everything_rests_in_the_end() {
    let mut show = strand_of(|_| {});
    let world = Affine3A::from_rotation_translation(Quat::from_rotation_y(1.0), Vec3::X);
    show.at(0.0, &Affine3A::IDENTITY);
    let mut last = show.at(0.01, &world);
    for frame in 1..1200 {
        last = show.at(0.01 + f64::from(frame) / 60.0, &world);
    }
    let then = show.at(20.5, &world);
    assert!(super::bodies::apart(&last, &then) < 1e-5);
}

#[test]
fn degenerate_characters_stay_finite() {
    let mut chain = chain();
    chain.colliders = vec![0, 1];
    // A capsule without length, around the head of the strand, and a huge sphere.
    let collider = |joint, radius_m, tail_m| SpringCollider {
        joint: Id::new(joint),
        offset_m: Vec3::ZERO,
        tail_m,
        radius_m,
    };
    let mut show = Show::new(&with(SpringBones {
        colliders: vec![collider(2, 0.0, Some(Vec3::ZERO)), collider(4, 1e30, None)],
        chains: vec![SpringChain {
            tail_m: Some(Vec3::ZERO),
            ..chain
        }],
    }));
    for frame in 0..100_u32 {
        let scale = [1.0, 0.0, -1.0, 1e-20, 1e17][frame as usize % 5];
        let world = Affine3A::from_scale(Vec3::new(scale, 1.0, scale));
        let pose = show.at(f64::from(frame) / 50.0, &world);
        assert!(pose.iter().all(Affine3A::is_finite), "{frame}: {pose:?}");
    }
}
