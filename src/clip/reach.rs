//! The effect of a clip on lengths: the joints that it turns, its translations and scales.

use super::curve::TrackValues;
use super::hull::Hull;
use super::packed::{Clip, Property};
use crate::simd::WIDTH;

/// The effect of a clip on the lengths of a character.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClipReach {
    /// True if it is a difference, which is added.
    pub(crate) additive: bool,
    /// The joints that it turns.
    pub(crate) turns: Box<[u16]>,
    /// The joints that it holds near the rest pose, but not exactly at it.
    pub(crate) near: Box<[u16]>,
    /// The joints that it moves or scales.
    pub(crate) moves: Box<[JointMoves]>,
    /// The morph weights that it drives, and bounds of their sizes.
    pub(crate) weights: Box<[(u16, f64)]>,
}

/// The translations and scales of a joint in a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct JointMoves {
    pub(crate) joint: u16,
    /// True if the scale is not always that of the rest pose.
    pub(crate) scales: bool,
    pub(crate) translation: Hull,
    /// The least and the greatest component of the scale.
    pub(crate) scale: [f64; 2],
}

/// The rotations of a joint in a clip, compared with the rest pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turns {
    Never,
    /// By less than [`ClipReach::NEAR`].
    Hardly,
    Yes,
}

impl ClipReach {
    /// The largest change from the rest pose that does not count: the angle of a rotation in
    /// radians, or the relative change of a scale.
    ///
    /// Files have rounding errors in rotations and scales that never change.
    pub(crate) const NEAR: f64 = 1e-5;

    pub(crate) fn new(clip: &Clip) -> Self {
        let (mut turns, mut moves, mut near) = (Vec::new(), Vec::new(), Vec::new());
        for joint in 0..clip.joints() {
            match clip.turns(joint) {
                Turns::Never => {}
                Turns::Hardly => near.push(joint as u16),
                Turns::Yes => turns.push(joint as u16),
            }
            let rest = clip.at_rest(joint);
            let [translation, scale] =
                [Property::Translation, Property::Scale].map(|own| clip.hull(joint, own));
            let at_rest =
                [rest.translation, rest.scale].map(|own| Hull::EMPTY.with(own.as_dvec3()));
            let change = (scale.least - at_rest[1].least).abs();
            let change = change.max((scale.greatest - at_rest[1].least).abs());
            let allowed = at_rest[1].least.abs() * Self::NEAR;
            // An additive clip can play with any weight, which multiplies the change.
            let hardly = !clip.is_additive() && change.cmple(allowed).all();
            if hardly && scale != at_rest[1] {
                near.push(joint as u16);
            }
            let scales = scale != at_rest[1] && !hardly;
            if scales || translation != at_rest[0] {
                moves.push(JointMoves {
                    joint: joint as u16,
                    scales,
                    translation,
                    scale: [scale.least.min_element(), scale.greatest.max_element()],
                });
            }
        }
        let mut weights: Vec<(u16, f64)> = Vec::new();
        clip.weight_bounds(|weight, bound| {
            match weights
                .iter_mut()
                .find(|(own, _)| usize::from(*own) == weight)
            {
                Some((_, own)) => *own = own.max(bound),
                None => weights.push((weight as u16, bound)),
            }
        });
        Self {
            additive: clip.is_additive(),
            turns: turns.into(),
            near: near.into(),
            moves: moves.into(),
            weights: weights.into(),
        }
    }
}

impl Clip {
    /// The rotations of a joint, compared with the rest pose. Additive ones count if they turn it.
    fn turns(&self, joint: usize) -> Turns {
        let (info, lane) = (&self.blocks[joint / WIDTH], joint % WIDTH);
        let mut kept = self.kept_of(joint..joint + 1).iter();
        if kept.any(|track| matches!(track.values, TrackValues::Rotation(_))) {
            return Turns::Yes;
        }
        if info.rests(Property::Rotation) {
            return Turns::Never;
        }
        let first = info.rows[Property::Rotation as usize] as usize;
        let moves = info.moves(Property::Rotation);
        let ranges = [0, 1, 2, 3].map(|row| self.range(moves, first + row, lane));
        let rest = self.at_rest(joint).rotation.to_array().map(f64::from);
        let apart = |sign: f64| {
            let far = ranges.iter().zip(rest).map(|([least, greatest], rest)| {
                let rest = sign * rest;
                (least - rest).abs().max((greatest - rest).abs())
            });
            far.fold(0.0, f64::max)
        };
        match apart(1.0).min(apart(-1.0)) {
            0.0 => Turns::Never,
            // The angle is at most twice the length of the difference, so 4 times a component.
            apart if 4.0 * apart <= ClipReach::NEAR && !self.additive => Turns::Hardly,
            _ => Turns::Yes,
        }
    }
}
