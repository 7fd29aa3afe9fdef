//! Random poses, their distance, and their blend.

use crate::reference::rng::Rng;
use throng::glam::Vec3;
use throng::motion::{PoseLayer, blend};
use throng::skeleton::Transform;

pub(super) fn transform(rng: &mut Rng) -> Transform {
    Transform {
        translation: rng.vector(-2.0, 2.0),
        rotation: rng.rotation(),
        scale: rng.vector(0.5, 1.5),
    }
}

pub(super) fn pose(rng: &mut Rng, joints: usize) -> Vec<Transform> {
    (0..joints).map(|_| transform(rng)).collect()
}

/// The largest difference of two poses in translation, scale or rotation (as a chord).
pub(super) fn apart(a: &[Transform], b: &[Transform]) -> f32 {
    assert_eq!(a.len(), b.len());
    let of = |(a, b): (&Transform, &Transform)| {
        let chord = (a.rotation - b.rotation)
            .length()
            .min((a.rotation + b.rotation).length());
        let far = [
            (a.translation - b.translation).length(),
            (a.scale - b.scale).length(),
            chord,
        ];
        far.map(|value| if value.is_nan() { f32::INFINITY } else { value })
    };
    a.iter().zip(b).flat_map(of).fold(0.0, f32::max)
}

pub(super) fn blended(
    rest: &[Transform],
    layers: &[PoseLayer<'_>],
    threshold: f32,
) -> Vec<Transform> {
    let mut out = vec![
        Transform {
            scale: Vec3::NAN,
            ..Transform::IDENTITY
        };
        rest.len()
    ];
    blend(rest, layers, threshold, &mut out).unwrap();
    out
}
