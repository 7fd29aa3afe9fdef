//! Tails stay outside of colliders.

use super::bodies::{JOINTS, Show, apart, chain, with};
use throng::Id;
use throng::glam::{Affine3A, Vec3};
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
            joint: Id::new(1),
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
        let pose = show.at(f64::from(frame) / 100.0, &Affine3A::IDENTITY);
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
    // Keeping the length of the bone takes back a part of the push: 12.5 mm were measured.
    assert!(held > 0.12 - 0.013, "{held}");
}

#[test]
fn tails_stay_outside_of_a_capsule() {
    let tail = Some(OFFSET_M + Vec3::new(0.3, 0.0, 0.0));
    let held = nearest(&mut heavy(tail, 0.1, 0.02), tail, 4..JOINTS);
    assert!(held > 0.12 - 0.013, "{held}");
}

/// The frames of a rest between steps show the pose of the steps around them.
#[test]
fn what_rests_on_a_collider_stands_still_at_any_frame_rate() {
    for rate_hz in [30.0, 60.0, 75.0, 90.0, 144.0, 240.0] {
        for radius_m in [0.06, 0.1, 0.15] {
            let mut show = heavy(None, radius_m, 0.02);
            let at = |frame: u32| f64::from(frame) / rate_hz;
            let settled = (20.0 * rate_hz) as u32;
            let mut before = Vec::new();
            for frame in 0..settled + 100 {
                let pose = show.at(at(frame), &Affine3A::IDENTITY);
                let moved = if frame > settled {
                    apart(&before, &pose)
                } else {
                    0.0
                };
                // A thousandth of a millimetre.
                assert!(moved < 1e-6, "{rate_hz} Hz, radius {radius_m}: {moved} m");
                before = pose;
            }
        }
    }
}
