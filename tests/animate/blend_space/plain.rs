//! Weights of blend spaces, sums of them, and random points.

use crate::reference::rig;
use crate::reference::rng::Rng;
use std::sync::OnceLock;
use throng::Error;
use throng::character::{AnimationDesc, BlendAt, BlendSpaceDesc, Character};
use throng::glam::{DVec2, Vec2};
use throng::motion::BlendSpace;
use throng::state_machine::BlendPointDesc;

/// Weights are rounded to `f32` once, and there are three at most.
pub(super) const ROUNDING: f64 = 3.0 / 16_777_216.0;

/// A blend space with these points, which all have the same clip.
pub(super) fn space<A: Copy + Into<BlendAt>>(points: &[A]) -> Result<BlendSpace, Error> {
    static CHARACTER: OnceLock<Character> = OnceLock::new();
    let character = CHARACTER.get_or_init(|| {
        let clip = rig::clip(throng::clip::TrackValues::Scale(rig::keys(
            throng::clip::Interpolation::Step,
            [0.0],
            [throng::glam::Vec3::ONE],
        )));
        rig::chain(1).with_clips(vec![clip]).unwrap()
    });
    let point = |at: &A| BlendPointDesc {
        at: (*at).into(),
        clip: "clip".into(),
    };
    let desc = AnimationDesc {
        blend_spaces: vec![BlendSpaceDesc {
            name: "space".into(),
            points: points.iter().map(point).collect(),
            ..BlendSpaceDesc::default()
        }],
        ..AnimationDesc::default()
    };
    let character = character.clone().with_animation(&desc)?;
    Ok(character.blend_spaces()[0].clone())
}

/// A plane with these points.
pub(crate) fn plane(points: &[Vec2]) -> BlendSpace {
    let points: Vec<[f32; 2]> = points.iter().map(|point| point.to_array()).collect();
    space(&points).unwrap()
}

pub(crate) fn weights(space: &BlendSpace, at: Vec2) -> Vec<f32> {
    let mut out = vec![f32::NAN; space.clips().len()];
    space.weights(at, &mut out).unwrap();
    out
}

pub(super) fn weights1(space: &BlendSpace, x: f32) -> Vec<f32> {
    weights(space, Vec2::new(x, 9.0))
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
