//! Clips: the file's own curves.

use crate::error::{ArgumentFault, Error, Result};
use crate::ids::JointId;
use crate::skeleton::Skeleton;
use glam::{Quat, Vec3};

/// How a track moves from one key to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Holds a key until the next.
    Step,
    /// Linear; rotations spherically, on the shortest arc.
    ///
    /// Between keys half a turn apart both arcs are equally short. To within 10⁻⁶ rad, such keys
    /// turn the way that their numbers say: right-handed about the axis of `key⁻¹ × next key`,
    /// `xyz`. To turn the other way, negate one of the two quaternions.
    Linear,
    /// Cubic Hermite spline with an in- and an out-tangent a key.
    CubicSpline,
}

/// The keys of one track. Under [`Interpolation::CubicSpline`] there are three values a key:
/// in-tangent, value, out-tangent; otherwise one.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys<T> {
    /// Seconds, strictly increasing, finite, at least one.
    pub times_s: Vec<f32>,
    /// One or three a key.
    pub values: Vec<T>,
    /// How to get from key to key.
    pub interpolation: Interpolation,
}

/// What a track drives, and its keys.
#[derive(Debug, Clone, PartialEq)]
pub enum TrackValues {
    /// Metres, in the parent's space.
    Translation(Keys<Vec3>),
    /// Unit quaternions; neighbours lie on the shortest arc where interpolation is linear, see
    /// [`Interpolation::Linear`].
    Rotation(Keys<Quat>),
    /// Along the joint's own axes.
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
}

/// One animated property of one joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// The joint that it drives.
    pub joint: JointId,
    /// The property and its keys.
    pub values: TrackValues,
}

/// The animated weights of one mesh's morph targets: consecutive weights of
/// [`Character::morph_weights`](crate::character::Character::morph_weights).
#[derive(Debug, Clone, PartialEq)]
pub struct WeightTrack {
    /// The first weight that it drives.
    pub first_weight: u32,
    /// How many it drives, at least 1.
    pub count: u32,
    /// `count` values a key; under [`Interpolation::CubicSpline`] three times as many: all
    /// in-tangents, all values, all out-tangents.
    pub keys: Keys<f32>,
}

/// A clip as its file has it: curves on some of a skeleton's joints, sampled exactly.
///
/// Times are the file's own, from 0: before its first key a track holds that key, after its
/// last key that one. The duration is the last key of any track, or later if
/// [`with_range`](Self::with_range) says so; a loop runs over `0..duration`. A property that no
/// track drives stays at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveClip {
    name: Box<str>,
    start_s: f32,
    duration_s: f32,
    /// Start and end that the clip keeps, whatever its tracks are.
    range_s: Option<(f32, f32)>,
    tracks: Vec<Track>,
    weight_tracks: Vec<WeightTrack>,
}

impl CurveClip {
    /// Checks the tracks against `skeleton` and keeps them, sorted by joint.
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::NotFound`] for a joint that the skeleton lacks, a track
    /// without keys, key times that are negative, not finite or not strictly increasing, a wrong
    /// number of values, values that are not finite, or two tracks for one property.
    pub fn new(name: &str, mut tracks: Vec<Track>, skeleton: &Skeleton) -> Result<Self> {
        for track in &tracks {
            let joint = usize::from(track.joint);
            if joint >= skeleton.len() {
                return Err(Error::NotFound {
                    what: "joint",
                    index: joint as u64,
                    count: skeleton.len() as u64,
                });
            }
            match &track.values {
                TrackValues::Translation(keys) | TrackValues::Scale(keys) => {
                    check(keys, |v: &Vec3| v.is_finite())?;
                }
                TrackValues::Rotation(keys) => check(keys, |q: &Quat| q.is_finite())?,
            }
        }
        tracks.sort_by_key(|track| (track.joint, property(&track.values)));
        let twice = |pair: &[Track]| {
            pair[0].joint == pair[1].joint && property(&pair[0].values) == property(&pair[1].values)
        };
        if tracks.windows(2).any(twice) {
            return Err(invalid(
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

    /// The same with these tracks of morph weights in place of those that it had, sorted by first
    /// weight. The character has `weights` of them.
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::NotFound`] for a weight that the character lacks, a track
    /// without weights or keys, key times that are negative, not finite or not strictly increasing,
    /// a wrong number of values, values that are not finite, or two tracks for one weight.
    pub fn with_weight_tracks(
        mut self,
        mut tracks: Vec<WeightTrack>,
        weights: usize,
    ) -> Result<Self> {
        for track in &tracks {
            let end = u64::from(track.first_weight) + u64::from(track.count);
            if track.count == 0 {
                return Err(invalid("weight track", "drives no weights"));
            }
            if end > weights as u64 {
                return Err(Error::NotFound {
                    what: "morph weight",
                    index: end - 1,
                    count: weights as u64,
                });
            }
            check_wide(&track.keys, track.count as usize, |v| v.is_finite())?;
        }
        tracks.sort_by_key(|track| track.first_weight);
        // Neither sum overflows: both ends were compared with the number of weights.
        let overlap =
            |pair: &[WeightTrack]| pair[1].first_weight - pair[0].first_weight < pair[0].count;
        if tracks.windows(2).any(overlap) {
            return Err(invalid("weight tracks", "two tracks drive the same weight"));
        }
        self.weight_tracks = tracks;
        self.measure();
        Ok(self)
    }

    /// The same under another name.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// The same clip, which starts at `start_s` or earlier and lasts until `end_s` or longer.
    ///
    /// The range covers this and all keys. It stays if the tracks are replaced later, so a clip
    /// keeps its duration even if no track reaches its end.
    ///
    /// ```
    /// use throng::clip::CurveClip;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let pause = CurveClip::new("Pause", Vec::new(), character.skeleton())?.with_range(0.0, 2.0)?;
    /// assert_eq!(pause.duration_s(), 2.0);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] for times that are negative, not finite or in the wrong order.
    pub fn with_range(mut self, start_s: f32, end_s: f32) -> Result<Self> {
        if !(start_s >= 0.0 && start_s <= end_s && end_s.is_finite()) {
            return Err(invalid(
                "clip range",
                "must be finite, not negative and in ascending order",
            ));
        }
        self.range_s = Some((start_s, end_s));
        self.measure();
        Ok(self)
    }

    /// The same with the start and the duration of `other`, which it was made from.
    pub(crate) fn with_range_of(mut self, other: &Self) -> Self {
        self.range_s = other.range_s;
        self.measure();
        if (self.start_s, self.duration_s) != (other.start_s, other.duration_s) {
            self.range_s = Some((other.start_s, other.duration_s));
            self.measure();
        }
        self
    }

    /// Finds where the first and the last key lie.
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

    /// The clip's name, or empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Time of the last key of any track, or the end of [`Self::with_range`] if that is later: in
    /// seconds from the file's time 0.
    #[must_use]
    pub fn duration_s(&self) -> f32 {
        self.duration_s
    }

    /// Time of the first key of any track, or the start of [`Self::with_range`] if that is earlier,
    /// in seconds.
    #[must_use]
    pub fn start_s(&self) -> f32 {
        self.start_s
    }

    /// The tracks, sorted by joint, then translation, rotation, scale.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// The tracks of morph weights, sorted by first weight.
    #[must_use]
    pub fn weight_tracks(&self) -> &[WeightTrack] {
        &self.weight_tracks
    }
}

/// Whether a rotation's other quaternion, `-to`, is nearer to `from`.
///
/// Half a turn has a scalar product of 0. Rounding must not choose the way there, or it would
/// depend on the order of the sum: so what is next to 0 counts as 0, where the quaternions stay as
/// they are.
pub(crate) fn is_opposite(from: Quat, to: Quat) -> bool {
    /// Three times the largest rounding of the product of two unit quaternions, 3.6e-7.
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

fn invalid(what: &'static str, why: &'static str) -> Error {
    Error::Argument {
        what,
        why: ArgumentFault::Invalid(why),
    }
}

fn check<T>(keys: &Keys<T>, finite: impl Fn(&T) -> bool) -> Result<()> {
    check_wide(keys, 1, finite)
}

/// Checks keys of `width` values each.
fn check_wide<T>(keys: &Keys<T>, width: usize, finite: impl Fn(&T) -> bool) -> Result<()> {
    let times = &keys.times_s;
    if times.is_empty() {
        return Err(invalid("track", "has no keys"));
    }
    let per_key = if keys.interpolation == Interpolation::CubicSpline {
        3
    } else {
        1
    };
    let need = times.len().saturating_mul(per_key * width);
    if keys.values.len() != need {
        return Err(Error::Argument {
            what: "track values",
            why: ArgumentFault::Length {
                got: keys.values.len(),
                need,
            },
        });
    }
    if !(times[0] >= 0.0
        && times[times.len() - 1].is_finite()
        && times.windows(2).all(|t| t[0] < t[1]))
    {
        return Err(invalid(
            "key times",
            "must be finite, not negative and strictly increasing",
        ));
    }
    if !keys.values.iter().all(finite) {
        return Err(invalid("track values", "must be finite"));
    }
    Ok(())
}
