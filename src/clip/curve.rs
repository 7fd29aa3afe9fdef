//! Clips as curves: the keyframes of the file, unchanged.

use super::track::{Interpolation, Track, TrackValues, WeightTrack, align, check};
use crate::error::{Error, Result, expect_index};
use crate::order;
use crate::skeleton::Skeleton;

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
                TrackValues::Translation(keys) | TrackValues::Scale(keys) => check(keys, 1)?,
                TrackValues::Rotation(keys) => check(keys, 1)?,
            }
        }
        // Translation, rotation, scale.
        let place = |track: &Track| (track.joint, [1, 0, 2][track.values.property() as usize]);
        order::sort_by_key(&mut tracks, place);
        let twice = |pair: &[Track]| place(&pair[0]) == place(&pair[1]);
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
    /// The character has `weights` morph weights, at most
    /// [`MorphWeight::MAX_COUNT`](crate::mesh::MorphWeight::MAX_COUNT).
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
        tracks.iter().try_for_each(|track| track.check(weights))?;
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

    /// The times at which any joint track has a key, ascending, each once.
    pub(crate) fn key_times(&self) -> Vec<f32> {
        let mut times: Vec<f32> = Vec::new();
        // Most tracks of a file have the same times as the one before.
        for same in self
            .tracks
            .chunk_by(|a, b| a.values.times_s() == b.values.times_s())
        {
            times.extend(same[0].values.times_s());
        }
        times.sort_by(f32::total_cmp);
        times.dedup();
        times
    }

    /// The morph weight tracks, sorted by first weight.
    #[must_use]
    pub fn weight_tracks(&self) -> &[WeightTrack] {
        &self.weight_tracks
    }
}
