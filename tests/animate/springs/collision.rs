//! Tails stay outside of colliders.

use super::bodies::{JOINTS, Show, chain, with};
use throng::glam::Vec3;
use throng::ids::JointId;
use throng::skeleton::Affine;
use throng::spring::{SpringBones, SpringCollider};

/// A heavy strand that hangs onto a collider of the head.
fn heavy(tail_m: Option<Vec3>, radius_m: f32, hit_m: f32) -> Show {
    let mut chain = chain();
    for joint in &mut chain.joints {
        joint.gravity = Vec3::new(0.0, -8.0, 0.0);
        joint.stiffness = 0.1;
        joint.radius_m = hit_m;
    }
    chain.colliders = vec![0];
    Show::new(&with(SpringBones {
        colliders: vec![SpringCollider {
            joint: JointId(1),
            offset_m: OFFSET_M,
            tail_m,
            radius_m,
        }],
        chains: vec![chain],
    }))
}

const OFFSET_M: Vec3 = Vec3::new(0.01, -0.05, -0.2);

fn nearest(show: &mut Show, tail_m: Option<Vec3>, tails: std::ops::Range<usize>) -> f32 {
    let mut nearest = f32::INFINITY;
    for frame in 0..600 {
        let pose = show.at(f64::from(frame) / 100.0, &Affine::IDENTITY);
        let start = pose[1].transform_point3(OFFSET_M);
        let end = pose[1].transform_point3(tail_m.unwrap_or(OFFSET_M));
        for tail in &pose[tails.clone()] {
            let tail = Vec3::from(tail.translation);
            let axis = end - start;
            let along = (tail - start).dot(axis) / axis.length_squared().max(1e-12);
            let point = start + axis * along.clamp(0.0, 1.0);
            nearest = nearest.min(tail.distance(point));
        }
    }
    nearest
}

#[test]
fn tails_stay_outside_of_a_sphere() {
    // Without it, the strand hangs through the sphere.
    let free = nearest(&mut heavy(None, 0.0, 0.0), None, 4..JOINTS);
    assert!(free < 0.08, "{free}");
    let held = nearest(&mut heavy(None, 0.1, 0.02), None, 4..JOINTS);
    // Keeping the length of the bone takes back a part of the push.
    assert!(held > 0.12 - 0.01, "{held}");
}

#[test]
fn tails_stay_outside_of_a_capsule() {
    let tail = Some(OFFSET_M + Vec3::new(0.3, 0.0, 0.0));
    let held = nearest(&mut heavy(tail, 0.1, 0.02), tail, 4..JOINTS);
    assert!(held > 0.12 - 0.01, "{held}");
}
