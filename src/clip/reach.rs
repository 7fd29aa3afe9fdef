//! The effect of a clip on lengths: the joints that it turns, and the ranges of its tracks.

use super::components::{Property, components};
use super::curve::CurveClip;
use super::packed::{BlockKeys, Clip};
use super::track::{Numbers, TrackValues, WeightTrack};
use super::weights::WeightKeys;
use crate::bytes::save_structs;
use crate::simd::WIDTH;
use glam::DVec3;

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
                0.0 => {}
                angle if angle <= Self::NEAR && !clip.is_additive() => near.push(joint as u16),
                _ => turns.push(joint as u16),
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
    /// Bounds the angle by which a joint is turned from the rest pose, or by an additive clip. Kept
    /// tracks may turn it by any angle.
    fn turns(&self, joint: usize) -> f64 {
        let mut kept = self.kept_of(joint..joint + 1).iter();
        if kept.any(|track| track.values.property() == Property::Rotation) {
            return f64::INFINITY;
        }
        let ranges = [0, 1, 2, 3].map(|part| self.range(joint, Property::Rotation, part));
        let rest = self.at_rest(joint).rotation.to_array().map(f64::from);
        let apart = |sign: f64| {
            let far = ranges.iter().zip(rest).map(|([least, greatest], rest)| {
                let rest = sign * rest;
                (least - rest).abs().max((greatest - rest).abs())
            });
            far.fold(0.0, f64::max)
        };
        // The angle is at most twice the length of the difference, so 4 times a component.
        4.0 * apart(1.0).min(apart(-1.0))
    }
}

/// The range of a vector, by component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hull {
    pub(crate) least: DVec3,
    pub(crate) greatest: DVec3,
}

save_structs! {
    Hull { least, greatest }
}

impl Hull {
    pub(crate) const EMPTY: Self = Self {
        least: DVec3::INFINITY,
        greatest: DVec3::NEG_INFINITY,
    };

    pub(crate) fn with(self, value: DVec3) -> Self {
        Self {
            least: self.least.min(value),
            greatest: self.greatest.max(value),
        }
    }

    /// Extends the hull by all values that the keys of a track interpolate.
    pub(crate) fn with_track(mut self, values: &TrackValues) -> Self {
        bounds(&values.numbers(), |component, value| {
            let [least, greatest] = [&mut self.least[component], &mut self.greatest[component]];
            (*least, *greatest) = (least.min(value), greatest.max(value));
        });
        self
    }

    /// The largest length of a vector in the hull. Not less than 0.
    pub(crate) fn length(&self) -> f64 {
        self.least.abs().max(self.greatest.abs()).length()
    }

    /// The largest component of a vector in the hull, without its sign.
    pub(crate) fn component(&self) -> f64 {
        self.least.abs().max(self.greatest.abs()).max_element()
    }
}

impl CurveClip {
    /// Calls `each` with the hull of every track of translations and scales.
    pub(crate) fn hulls(&self, mut each: impl FnMut(usize, Property, Hull)) {
        for track in self.tracks() {
            let property = track.values.property();
            if property != Property::Rotation {
                let hull = Hull::EMPTY.with_track(&track.values);
                each(track.joint.into(), property, hull);
            }
        }
    }

    /// Calls `each` with a bound on the size of every morph weight that it drives.
    pub(crate) fn weight_bounds(&self, mut each: impl FnMut(usize, f64)) {
        for track in self.weight_tracks() {
            curve_bounds(track, &mut each);
        }
    }
}

/// Calls `each` with a bound on the size of every weight of a track.
fn curve_bounds(track: &WeightTrack, each: &mut impl FnMut(usize, f64)) {
    bounds(&track.numbers(), |number, value| {
        each(track.first_weight.index() + number, value.abs());
    });
}

/// Calls `each` with numbers, by component, between which all values lie.
///
/// A cubic segment lies in the hull of its Bézier control points, which are its ends and two more,
/// a third of its length along the tangents.
fn bounds(keys: &Numbers<'_>, mut each: impl FnMut(usize, f64)) {
    let values = |row: usize| &keys.values[row * keys.width..][..keys.width];
    for (key, time_s) in keys.times_s.iter().enumerate() {
        if !keys.is_spline() {
            for (component, value) in values(key).iter().enumerate() {
                each(component, (*value).into());
            }
            continue;
        }
        let third_to = |other: Option<&f32>| {
            other.map_or(0.0, |other| (f64::from(*other) - f64::from(*time_s)) / 3.0)
        };
        let before = key.checked_sub(1).and_then(|at| keys.times_s.get(at));
        let thirds = [third_to(before), 0.0, third_to(keys.times_s.get(key + 1))];
        for (row, third) in (3 * key..).zip(thirds) {
            let pairs = values(row).iter().zip(values(3 * key + 1));
            for (component, (tangent, value)) in pairs.enumerate() {
                each(component, f64::from(*value) + f64::from(*tangent) * third);
            }
        }
    }
}

impl Clip {
    /// The hull of a joint's translations or scales.
    ///
    /// For an additive clip, these are differences.
    pub(crate) fn hull(&self, joint: usize, property: Property) -> Hull {
        let ranges = [0, 1, 2].map(|component| self.range(joint, property, component));
        let mut hull = Hull {
            least: ranges.map(|range| range[0]).into(),
            greatest: ranges.map(|range| range[1]).into(),
        };
        for track in self.kept_of(joint..joint + 1) {
            if track.values.property() == property {
                hull = hull.with_track(&track.values);
            }
        }
        hull
    }

    /// The range of a component of one of a joint's properties, without kept tracks.
    fn range(&self, joint: usize, property: Property, component: usize) -> [f64; 2] {
        let (info, lane) = (&self.blocks[joint / WIDTH], joint % WIDTH);
        if info.rests(property) {
            let rest = components(&self.at_rest(joint));
            return [f64::from(rest[property.first() + component]); 2];
        }
        let row = info.rows_of(property).start + component;
        if !info.moves(property) {
            return [f64::from(self.constants[row].0[lane]); 2];
        }
        if let BlockKeys::Packed(packed) = &self.keys {
            return packed.range(self.timing.frames, row, lane).map(f64::from);
        }
        let frames = 0..self.timing.frames;
        let keys = frames.map(|frame| f64::from(self.key(frame, row, lane)));
        let none = [f64::INFINITY, f64::NEG_INFINITY];
        keys.fold(none, |[least, greatest], key| {
            [least.min(key), greatest.max(key)]
        })
    }

    /// Calls `each` with a bound on the size of every morph weight that it drives.
    pub(crate) fn weight_bounds(&self, mut each: impl FnMut(usize, f64)) {
        for keys in &self.weights {
            match keys {
                WeightKeys::Curve(track) => curve_bounds(track, &mut each),
                WeightKeys::Even(even) => {
                    for (number, column) in even.columns.iter().enumerate() {
                        let steps = f64::from((1_u32 << column.width) - 1);
                        let least = f64::from(column.min);
                        let greatest = least + f64::from(column.scale) * steps;
                        let bound = least.abs().max(greatest.abs());
                        each(even.first_weight.index() + number, bound);
                    }
                }
            }
        }
    }
}
