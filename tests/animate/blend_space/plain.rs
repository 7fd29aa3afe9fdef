//! Weights of blend spaces, sums of them, and random points.

use crate::reference::rng::Rng;
use throng::glam::{DVec2, Vec2};
use throng::motion::{BlendSpace1, BlendSpace2};

/// Weights are rounded to `f32` once, and there are three at most.
pub(super) const ROUNDING: f64 = 3.0 / 16_777_216.0;

pub(super) fn weights1(space: &BlendSpace1, x: f32) -> Vec<f32> {
    let mut out = vec![f32::NAN; space.points().len()];
    space.weights(x, &mut out).unwrap();
    out
}

pub(super) fn weights2(space: &BlendSpace2, at: Vec2) -> Vec<f32> {
    let mut out = vec![f32::NAN; space.points().len()];
    space.weights(at, &mut out).unwrap();
    out
}

pub(super) fn sum(weights: &[f32]) -> f64 {
    weights.iter().map(|weight| f64::from(*weight)).sum()
}

/// The blend of the points themselves.
pub(super) fn blend(points: &[Vec2], weights: &[f32]) -> DVec2 {
    let parts = points.iter().zip(weights);
    parts.map(|(p, w)| p.as_dvec2() * f64::from(*w)).sum()
}

pub(super) fn check_parts(weights: &[f32], most: usize, what: &str) {
    assert!(
        weights.iter().all(|w| (0.0..=1.0).contains(w)),
        "{what}: {weights:?}"
    );
    assert!(
        (sum(weights) - 1.0).abs() <= ROUNDING,
        "{what}: {weights:?}"
    );
    let taking_part = weights.iter().filter(|w| **w > 0.0).count();
    assert!(taking_part <= most, "{what}: {weights:?}");
}

pub(super) fn random_points(rng: &mut Rng, count: usize) -> Vec<Vec2> {
    let mut points: Vec<Vec2> = Vec::new();
    let kind = rng.below(4);
    let (direction, offset) = (
        rng.vector(-1.0, 1.0).truncate(),
        rng.vector(-3.0, 3.0).truncate(),
    );
    while points.len() < count {
        let point = match kind {
            0 => rng.vector(-2.0, 2.0).truncate(),
            // On a small grid: many on common lines and circles.
            1 => Vec2::new(rng.below(5) as f32, rng.below(4) as f32),
            // On a circle.
            2 => Vec2::from_angle(rng.range(0.0, 6.3)) * 2.0,
            // Nearly on a line: rounding leaves slivers.
            _ => offset + direction * rng.range(-2.0, 2.0),
        };
        if !points.contains(&point) {
            points.push(point);
        }
    }
    points
}
