//! Clips as curves: the keyframes of the file, unchanged.

use crate::error::{Error, Result, expect_index};
use crate::id::Id;
use crate::mesh::MorphWeight;
use crate::order;
use crate::skeleton::{Joint, Skeleton};
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

impl TrackValues {
    /// Key times in seconds.
    #[must_use]
    pub fn times_s(&self) -> &[f32] {
        match self {
            Self::Translation(keys) | Self::Scale(keys) => &keys.times_s,
            Self::Rotation(keys) => &keys.times_s,
        }
    }

    pub(crate) fn is_step(&self) -> bool {
        let interpolation = match self {
            Self::Translation(keys) | Self::Scale(keys) => keys.interpolation,
            Self::Rotation(keys) => keys.interpolation,
        };
        interpolation == Interpolation::Step
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

/// A clip as curves: the keyframes of a file, sampled exactly.
///
/// The curves drive some of a skeleton's joints. Properties that no track drives stay at rest.
///
/// Times are those of the file, from 0. Before its first key, a track holds the value of that key;
/// after its last key, the value of the last. The duration is the time of the last key of any
/// track, or the end given to [`with_range`](Self::with_range) if that is later. A loop runs over
/// `0..duration`.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveClip {
    name: Box<str>,
    start_s: f32,
    duration_s: f32,
    /// Start and end that the clip keeps even if its tracks are replaced.
    range_s: Option<(f32, f32)>,
    tracks: Vec<Track>,
    weight_tracks: Vec<WeightTrack>,
}

impl CurveClip {
    /// Creates a clip from tracks for `skeleton`, sorted by joint.
    ///
    /// Keys of rotations that are interpolated linearly are negated where necessary, so that each
    /// lies in the same half space as the one before. This does not change any rotation.
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::NotFound`] if
    ///
    /// - a joint does not exist in the skeleton;
    /// - a track has no keys;
    /// - key times are negative, not finite or not strictly increasing;
    /// - the number of values is wrong, or values are not finite;
    /// - two tracks drive the same property.
    pub fn new(name: &str, mut tracks: Vec<Track>, skeleton: &Skeleton) -> Result<Self> {
        for track in &mut tracks {
            if let TrackValues::Rotation(keys) = &mut track.values
                && keys.interpolation == Interpolation::Linear
            {
                align(&mut keys.values);
            }
        }
        Self::of_aligned(name, tracks, skeleton)
    }

    /// [`Self::new`] for rotations whose signs were chosen by [`align`] already.
    ///
    /// Keys half a turn apart keep their direction, even if their dot product was rounded below 0
    /// since.
    pub(crate) fn of_aligned(
        name: &str,
        mut tracks: Vec<Track>,
        skeleton: &Skeleton,
    ) -> Result<Self> {
        for track in &tracks {
            expect_index("joint", track.joint.into(), skeleton.len())?;
            match &track.values {
                TrackValues::Translation(keys) | TrackValues::Scale(keys) => {
                    check(keys, |v: &Vec3| v.is_finite())?;
                }
                TrackValues::Rotation(keys) => check(keys, |q: &Quat| q.is_finite())?,
            }
        }
        order::sort_by_key(&mut tracks, |track| (track.joint, property(&track.values)));
        let twice = |pair: &[Track]| {
            pair[0].joint == pair[1].joint && property(&pair[0].values) == property(&pair[1].values)
        };
        if tracks.windows(2).any(twice) {
            return Err(Error::invalid(
                "tracks",
                "two tracks drive the same property of one joint",
            ));
        }
        let mut clip = Self {
            name: name.into(),
            start_s: 0.0,
            duration_s: 0.0,
            range_s: None,
            tracks,
            weight_tracks: Vec::new(),
        };
        clip.measure();
        Ok(clip)
    }

    /// Replaces the morph weight tracks of the clip, sorted by first weight.
    ///
    /// The character has `weights` morph weights, at most [`MorphWeight::MAX_COUNT`].
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::NotFound`] if
    ///
    /// - a weight does not exist in the character;
    /// - a track has no weights or no keys;
    /// - key times are negative, not finite or not strictly increasing;
    /// - the number of values is wrong, or values are not finite;
    /// - two tracks drive the same weight.
    pub fn with_weight_tracks(
        mut self,
        mut tracks: Vec<WeightTrack>,
        weights: usize,
    ) -> Result<Self> {
        let weights = weights.min(MorphWeight::MAX_COUNT);
        for track in &tracks {
            let end = u64::from(track.first_weight) + u64::from(track.count);
            if track.count == 0 {
                return Err(Error::invalid("weight track", "drives no weights"));
            }
            if end > weights as u64 {
                let (what, index, count) = ("morph weight", end - 1, weights as u64);
                return Err(Error::NotFound { what, index, count });
            }
            check_wide(&track.keys, track.count as usize, |v| v.is_finite())?;
        }
        order::sort_by_key(&mut tracks, |track| track.first_weight);
        let overlap = |pair: &[WeightTrack]| {
            let between = pair[1].first_weight.0 - pair[0].first_weight.0;
            u32::from(between) < pair[0].count
        };
        if tracks.windows(2).any(overlap) {
            return Err(Error::invalid(
                "weight tracks",
                "two tracks drive the same weight",
            ));
        }
        self.weight_tracks = tracks;
        self.measure();
        Ok(self)
    }

    /// Returns the clip with another name.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Extends the clip to cover at least `start_s` to `end_s`.
    ///
    /// The clip covers this range and all of its keys. The range stays if the tracks are replaced
    /// later, so a clip keeps its duration even if no track reaches its end.
    ///
    /// ```
    /// use throng::clip::CurveClip;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let pause = CurveClip::new("Pause", Vec::new(), character.skeleton())?;
    /// assert_eq!(pause.with_range(0.0, 2.0)?.duration_s(), 2.0);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the times are negative, not finite or in the wrong order.
    pub fn with_range(mut self, start_s: f32, end_s: f32) -> Result<Self> {
        if !(start_s >= 0.0 && start_s <= end_s && end_s.is_finite()) {
            return Err(Error::invalid(
                "clip range",
                "must be finite, not negative and in ascending order",
            ));
        }
        self.range_s = Some((start_s, end_s));
        self.measure();
        Ok(self)
    }

    /// Takes the start and the duration of `other`, from which this clip was made.
    pub(crate) fn with_range_of(mut self, other: &Self) -> Self {
        self.range_s = other.range_s;
        self.measure();
        if (self.start_s, self.duration_s) != (other.start_s, other.duration_s) {
            self.range_s = Some((other.start_s, other.duration_s));
            self.measure();
        }
        self
    }

    /// Recomputes the start and the duration from the keys and the range.
    fn measure(&mut self) {
        let tracks = self.tracks.iter().map(|track| track.values.times_s());
        let weights = self.weight_tracks.iter();
        let all = tracks.chain(weights.map(|track| track.keys.times_s.as_slice()));
        let firsts = all.clone().filter_map(|times| times.first().copied());
        let lasts = all.filter_map(|times| times.last().copied());
        let (start_s, end_s) = self.range_s.unzip();
        self.start_s = firsts.chain(start_s).reduce(f32::min).unwrap_or(0.0);
        self.duration_s = lasts.chain(end_s).fold(0.0, f32::max);
    }

    /// The clip's name. It may be empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// End of the clip in seconds, counted from the file's time 0.
    ///
    /// This is the time of the last key of any track, or the end of [`Self::with_range`] if that is
    /// later.
    #[must_use]
    pub fn duration_s(&self) -> f32 {
        self.duration_s
    }

    /// Start of the clip in seconds, counted from the file's time 0.
    ///
    /// This is the time of the first key of any track, or the start of [`Self::with_range`] if that
    /// is earlier.
    #[must_use]
    pub fn start_s(&self) -> f32 {
        self.start_s
    }

    /// The tracks, sorted by joint, then by property: translation, rotation, scale.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// The morph weight tracks, sorted by first weight.
    #[must_use]
    pub fn weight_tracks(&self) -> &[WeightTrack] {
        &self.weight_tracks
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

fn property(values: &TrackValues) -> u8 {
    match values {
        TrackValues::Translation(_) => 0,
        TrackValues::Rotation(_) => 1,
        TrackValues::Scale(_) => 2,
    }
}

fn check<T>(keys: &Keys<T>, finite: impl Fn(&T) -> bool) -> Result<()> {
    check_wide(keys, 1, finite)
}

fn check_wide<T>(keys: &Keys<T>, width: usize, finite: impl Fn(&T) -> bool) -> Result<()> {
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
    if !keys.values.iter().all(finite) {
        return Err(Error::invalid("track values", "must be finite"));
    }
    Ok(())
}
