//! The keys of tracks, as in the file.

use super::components::Property;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::mesh::MorphWeight;
use crate::skeleton::Joint;
use bytemuck::Pod;
use glam::{Quat, Vec3};

/// Interpolation between the keys of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Holds the value of a key until the next key.
    Step,
    /// Linear interpolation. Rotations use spherical interpolation on the shortest arc.
    ///
    /// The arc is that of glTF 2.0, appendix C.4: the next key is negated if the dot product of the
    /// two quaternions is negative, however small it is. This decides the direction of keys half a
    /// turn apart, whose dot product is 0 except for rounding. If it is exactly 0, they turn
    /// right-handed about the axis of `key⁻¹ × next key`, `xyz`.
    Linear,
    /// Cubic Hermite spline with an in-tangent and an out-tangent per key.
    CubicSpline,
}

impl Interpolation {
    pub(crate) const fn values_per_key(self) -> usize {
        match self {
            Self::Step | Self::Linear => 1,
            Self::CubicSpline => 3,
        }
    }

    /// The index of the value among the values of a key. The others are tangents.
    pub(crate) const fn value_index(self) -> usize {
        self.values_per_key() / 2
    }
}

/// The keys of one track.
///
/// With [`Interpolation::CubicSpline`] each key has three values: in-tangent, value, out-tangent.
/// Otherwise each key has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys<T> {
    /// Key times in seconds: at least one, finite, strictly increasing.
    pub times_s: Vec<f32>,
    /// Values: one or three per key.
    pub values: Vec<T>,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
}

/// The property that a track drives, with its keys.
#[derive(Debug, Clone, PartialEq)]
pub enum TrackValues {
    /// Translations in metres, in the parent's space.
    Translation(Keys<Vec3>),
    /// Rotations as unit quaternions. With linear interpolation, neighbouring keys are joined on
    /// the shortest arc, see [`Interpolation::Linear`].
    Rotation(Keys<Quat>),
    /// Scales along the joint's own axes.
    Scale(Keys<Vec3>),
}

/// The keys of a track as numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers<'a> {
    pub(crate) times_s: &'a [f32],
    pub(crate) interpolation: Interpolation,
    /// The number of numbers in a value.
    pub(crate) width: usize,
    pub(crate) values: &'a [f32],
}

impl<T: Pod> Keys<T> {
    fn numbers(&self, width: usize) -> Numbers<'_> {
        Numbers {
            times_s: &self.times_s,
            interpolation: self.interpolation,
            width,
            values: bytemuck::cast_slice(&self.values),
        }
    }
}

impl Keys<f32> {
    fn grouped<T: Pod>(self) -> Keys<T> {
        Keys {
            times_s: self.times_s,
            values: bytemuck::pod_collect_to_vec(&self.values),
            interpolation: self.interpolation,
        }
    }
}

impl Numbers<'_> {
    /// Size in memory, in bytes.
    pub(crate) fn size(&self) -> usize {
        size_of_val(self.times_s) + size_of_val(self.values)
    }

    pub(crate) fn is_spline(&self) -> bool {
        self.interpolation == Interpolation::CubicSpline
    }

    /// Returns true if not all values are the `same` as the first, or joined by splines that leave
    /// them.
    pub(crate) fn change(&self, same: impl Fn(&[f32], &[f32]) -> bool) -> bool {
        let mut rows = self.values.chunks_exact(self.width.max(1)).enumerate();
        let by = self.interpolation;
        let zero = vec![0.0; self.width];
        let first = rows
            .clone()
            .nth(by.value_index())
            .map_or(&zero[..], |(_, row)| row);
        self.times_s.len() > 1
            && rows.any(|(number, row)| {
                let is_value = number % by.values_per_key() == by.value_index();
                !same(row, if is_value { first } else { &zero })
            })
    }
}

impl TrackValues {
    /// Values that change the property, from keys with all of their numbers.
    pub(crate) fn of_numbers(property: Property, keys: Keys<f32>) -> Self {
        match property {
            Property::Rotation => Self::Rotation(keys.grouped()),
            Property::Translation => Self::Translation(keys.grouped()),
            Property::Scale => Self::Scale(keys.grouped()),
        }
    }

    /// The keys as numbers.
    pub(crate) fn numbers(&self) -> Numbers<'_> {
        match self {
            Self::Translation(keys) | Self::Scale(keys) => keys.numbers(3),
            Self::Rotation(keys) => keys.numbers(4),
        }
    }

    /// Key times in seconds.
    #[must_use]
    pub fn times_s(&self) -> &[f32] {
        self.numbers().times_s
    }

    pub(crate) fn is_step(&self) -> bool {
        self.numbers().interpolation == Interpolation::Step
    }

    /// The property that they change.
    pub(crate) fn property(&self) -> Property {
        match self {
            Self::Rotation(_) => Property::Rotation,
            Self::Translation(_) => Property::Translation,
            Self::Scale(_) => Property::Scale,
        }
    }
}

/// One animated property of one joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// The joint that the track drives.
    pub joint: Id<Joint>,
    /// The property and its keys.
    pub values: TrackValues,
}

/// The animated weights of one mesh's morph targets.
///
/// They are consecutive weights of
/// [`Character::morph_weights`](crate::character::Character::morph_weights).
#[derive(Debug, Clone, PartialEq)]
pub struct WeightTrack {
    /// The first weight that the track drives.
    pub first_weight: Id<MorphWeight>,
    /// Number of weights that the track drives, at least 1.
    pub count: u32,
    /// Keys with `count` values each.
    ///
    /// With [`Interpolation::CubicSpline`] each key has three times as many: all in-tangents, then
    /// all values, then all out-tangents.
    pub keys: Keys<f32>,
}

impl WeightTrack {
    /// The keys as numbers.
    pub(crate) fn numbers(&self) -> Numbers<'_> {
        self.keys.numbers(self.count as usize)
    }

    /// Checks the track for a character with `weights` morph weights.
    pub(super) fn check(&self, weights: usize) -> Result<()> {
        let weights = weights.min(MorphWeight::MAX_COUNT) as u64;
        let end = u64::from(self.first_weight) + u64::from(self.count);
        if self.count == 0 {
            return Err(Error::invalid("weight track", "drives no weights"));
        }
        if end > weights {
            let (what, index, count) = ("morph weight", end - 1, weights);
            return Err(Error::NotFound { what, index, count });
        }
        check(&self.keys, self.count as usize)
    }
}

/// Negates rotations so that each continues the way to it that glTF's formula takes.
///
/// Rotations half a turn apart turn the way that their signs imply from then on, see
/// [`is_opposite`]. So this must see the keys as they are in the file: normalising them or taking
/// differences can round a product that is almost 0 to the other side. Returns the number of
/// negated keys.
pub(crate) fn align(keys: &mut [Quat]) -> u64 {
    let (mut negated, mut negate) = (0, false);
    let mut before = keys.first().copied().unwrap_or(Quat::IDENTITY);
    for key in keys.iter_mut().skip(1) {
        // `f64` has the products exactly. The sum is from x to w, as in other players.
        negate ^= before.as_dquat().dot(key.as_dquat()) < 0.0;
        before = *key;
        if negate {
            *key = -*key;
            negated += 1;
        }
    }
    negated
}

/// Returns true if `-to`, the same rotation, is nearer to `from` than `to` is.
///
/// Quaternions half a turn apart have a dot product of 0. Their direction was chosen by [`align`],
/// and rounding since then must not change it. So a product close to 0 counts as 0, and the
/// quaternions keep their signs.
pub(crate) fn is_opposite(from: Quat, to: Quat) -> bool {
    /// About three times the largest rounding error of the dot product of two unit quaternions,
    /// 3.6e-7.
    const ROUNDING: f32 = 1e-6;
    from.dot(to) < -ROUNDING
}

/// Checks keys whose values are `width` elements each.
pub(super) fn check<T: Pod>(keys: &Keys<T>, width: usize) -> Result<()> {
    let times = &keys.times_s;
    if times.is_empty() {
        return Err(Error::invalid("track", "has no keys"));
    }
    let values = times
        .len()
        .saturating_mul(keys.interpolation.values_per_key());
    let need = values.saturating_mul(width);
    if keys.values.len() != need {
        return Err(Error::length("track values", keys.values.len(), need));
    }
    if !(times[0] >= 0.0
        && times[times.len() - 1].is_finite()
        && times.windows(2).all(|t| t[0] < t[1]))
    {
        return Err(Error::invalid(
            "key times",
            "must be finite, not negative and strictly increasing",
        ));
    }
    if !keys.numbers(width).values.iter().all(|v| v.is_finite()) {
        return Err(Error::invalid("track values", "must be finite"));
    }
    Ok(())
}
