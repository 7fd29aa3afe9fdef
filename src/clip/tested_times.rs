//! The times at which a clip is checked, and the exact poses of the file's curves there.

use super::additive::Base;
use super::curve::{CurveClip, Interpolation, Keys, Track, TrackValues};
use super::curve_sample::animate_tracks;
use super::octet::{EIGHT, Matrices, Octet};
use super::timing::Timing;
use super::unpacked::models_of;
use crate::skeleton::{Skeleton, Transform};
use glam::Vec4;

/// Limit of cached joint poses. Others are recomputed whenever they are needed.
const MAX_KEPT: usize = 1 << 18;
/// A frame closer to another tested time than this fraction of an interval is not tested
/// separately.
const NEAR: f64 = 1e-3;

/// The file's curves, which clips are compared with.
pub(super) struct FileCurves<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) curves: &'a CurveClip,
    pub(super) base: Base<'a>,
}

/// Times in groups of eight, and the exact model poses at them.
#[derive(Default)]
pub(super) struct TimeSet {
    /// Groups of eight times. The last group is filled up with the last time.
    times_s: Vec<[f64; EIGHT]>,
    /// Cached poses `[group][joint]` of the first groups.
    models: Vec<Matrices>,
    /// For each cached group, true if all of its poses are finite.
    finite: Vec<bool>,
}

/// One group of eight times of a set.
pub(super) struct Pick<'a> {
    pub(super) set: &'a TimeSet,
    pub(super) group: usize,
}

/// The times at which one clip is checked, besides those from the file's keys.
pub(super) struct Times {
    /// Midpoints between frames; the first and third quarters; the frames themselves.
    sets: [TimeSet; 3],
}

impl TimeSet {
    pub(super) fn new(times_s: impl IntoIterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = times_s.into_iter().collect();
        if let Some(last) = all.last().copied() {
            all.resize(all.len().next_multiple_of(EIGHT), last);
        }
        let groups = all.chunks_exact(EIGHT);
        Self {
            times_s: groups
                .map(|times_s| core::array::from_fn(|lane| times_s[lane]))
                .collect(),
            ..Self::default()
        }
    }

    pub(super) fn groups(&self) -> usize {
        self.times_s.len()
    }

    pub(super) fn times_s(&self, group: usize) -> &[f64; EIGHT] {
        &self.times_s[group]
    }

    pub(super) fn time_s(&self, group: usize, lane: usize) -> f64 {
        self.times_s.get(group).map_or(0.0, |times_s| times_s[lane])
    }

    /// Caches the exact poses of a group if it is the next one and the limit is not reached.
    ///
    /// `local` is working memory.
    pub(super) fn fill(&mut self, file: &FileCurves<'_>, group: usize, local: &mut Vec<Transform>) {
        let joints = file.skeleton.len();
        if group != self.finite.len() || (group + 1) * joints * EIGHT > MAX_KEPT {
            return;
        }
        let first = self.models.len();
        self.models.resize(first + joints, [Octet::default(); 12]);
        let models = &mut self.models[first..];
        compute(file, &self.times_s[group], local, models);
        self.finite.push(finite(models));
    }

    /// Returns the exact poses of a group, and true if all of them are finite.
    pub(super) fn models<'a>(
        &'a self,
        file: &FileCurves<'_>,
        group: usize,
        local: &mut Vec<Transform>,
        out: &'a mut Vec<Matrices>,
    ) -> (&'a [Matrices], bool) {
        let joints = file.skeleton.len();
        if let Some(finite) = self.finite.get(group) {
            return (&self.models[group * joints..][..joints], *finite);
        }
        out.resize(joints, [Octet::default(); 12]);
        compute(file, &self.times_s[group], local, out);
        (out, finite(out))
    }
}

fn finite(models: &[Matrices]) -> bool {
    // 0 times infinity is NaN, so the sum is NaN if any number is not finite.
    let sum = models.as_flattened().iter();
    sum.fold(Octet::default(), |sum, value| {
        sum + *value * Octet::default()
    }) == Octet::default()
}

fn compute(
    file: &FileCurves<'_>,
    times_s: &[f64; EIGHT],
    local: &mut Vec<Transform>,
    out: &mut [Matrices],
) {
    let joints = file.skeleton.len();
    local.clear();
    for time_s in times_s {
        let start = local.len();
        local.extend((0..joints).map(|joint| file.base.at_rest(joint)));
        animate_tracks(file.curves.tracks(), *time_s, 0, &mut local[start..]);
    }
    models_of(file.skeleton.joints(), file.base, local, out);
}

impl Times {
    /// Number of sets. The first is the one from the file's keys.
    pub(super) const SETS: usize = 4;
    /// The sets that are checked during the search, because errors of single keys peak there.
    pub(super) const SEARCHED: [usize; 3] = [0, 1, 3];

    pub(super) fn new(timing: &Timing, keys: &TimeSet) -> Self {
        let at = |share: f64| {
            let frames = 0..timing.frames.saturating_sub(1);
            frames.map(move |frame| {
                let [from, to] = [frame, frame + 1].map(|frame| timing.time_s(frame));
                from + (to - from) * share
            })
        };
        let near = if timing.rate > 0.0 {
            NEAR / timing.rate
        } else {
            0.0
        };
        let keys = keys.times_s.as_flattened();
        let asked = |time_s: f64| {
            let next = keys.partition_point(|key| *key < time_s - near);
            keys.get(next).is_some_and(|key| *key <= time_s + near)
        };
        let frames = (0..timing.frames).map(|frame| timing.time_s(frame));
        Self {
            sets: [
                TimeSet::new(at(0.5)),
                TimeSet::new(at(0.25).chain(at(0.75))),
                TimeSet::new(frames.filter(|time_s| !asked(*time_s))),
            ],
        }
    }

    /// Returns a set: `keys`, the one from the file's keys, or one of these.
    pub(super) fn set<'a>(&'a self, set: usize, keys: &'a TimeSet) -> &'a TimeSet {
        match set.checked_sub(1) {
            Some(own) => &self.sets[own],
            None => keys,
        }
    }

    /// Calls [`TimeSet::fill`] for a set other than the file's.
    pub(super) fn fill(
        &mut self,
        set: usize,
        file: &FileCurves<'_>,
        group: usize,
        local: &mut Vec<Transform>,
    ) {
        if let Some(own) = set.checked_sub(1) {
            self.sets[own].fill(file, group, local);
        }
    }
}

/// Returns all groups of these sets.
pub(super) fn picks<'a>(
    keys: &'a TimeSet,
    times: &'a Times,
    sets: impl IntoIterator<Item = usize>,
) -> Vec<Pick<'a>> {
    let sets = sets.into_iter().map(|set| times.set(set, keys));
    let groups = sets.flat_map(|set| (0..set.groups()).map(move |group| Pick { set, group }));
    groups.collect()
}

/// Parts of the way between two spline keys at which a spline is checked. It deviates from the
/// straight line by two bulges, one per tangent. For any two tangents, these times capture at least
/// 0.9 of the deviation.
const BETWEEN: [f64; 3] = [0.25, 0.5, 0.75];

/// Returns all key times and, for splines, times in between: ascending, at most `most`.
///
/// If there are more, they are divided into `most` stretches. From each stretch, the time where a
/// curve bends most is taken, so that short details are not missed. Bends are weighted by `worth`,
/// the weight of one unit of the track.
pub(super) fn key_times_s(raw: &CurveClip, most: usize, worth: impl Fn(&Track) -> f32) -> Vec<f64> {
    let asks = |track: &Track| (is_spline(track), track.values.times_s().to_vec());
    let mut times: Vec<f64> = Vec::new();
    let mut before = None;
    for track in raw.tracks() {
        // Most tracks of a file have the same times as the one before.
        let now = Some(asks(track));
        if now != before {
            times.extend(own_times_s(track));
            before = now;
        }
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    let length = times.len().div_ceil(most.max(1));
    if length <= 1 {
        return times;
    }
    let mut bends = vec![0.0_f32; times.len()];
    for track in raw.tracks() {
        bend(track, worth(track), &times, &mut bends);
    }
    let stretches = times.chunks(length).zip(bends.chunks(length));
    let bent = stretches.filter_map(|(times, bends)| {
        let pairs = times.iter().zip(bends);
        let most = pairs.max_by(|a, b| a.1.total_cmp(b.1));
        most.map(|(time_s, _)| *time_s)
    });
    bent.collect()
}

/// The key times of a track, and for splines the times between keys.
fn own_times_s(track: &Track) -> Vec<f64> {
    let times = track.values.times_s();
    let mut all: Vec<f64> = times.iter().copied().map(f64::from).collect();
    if is_spline(track) {
        for pair in times.windows(2) {
            let [from, to] = [f64::from(pair[0]), f64::from(pair[1])];
            all.extend(BETWEEN.map(|part| from + (to - from) * part));
        }
    }
    all
}

fn is_spline(track: &Track) -> bool {
    fn of<T>(keys: &Keys<T>) -> bool {
        keys.interpolation == Interpolation::CubicSpline
    }
    match &track.values {
        TrackValues::Translation(keys) | TrackValues::Scale(keys) => of(keys),
        TrackValues::Rotation(keys) => of(keys),
    }
}

/// Raises `bends` to the deviation of the track at its own times. The deviation is the distance
/// from the midpoint of the neighbouring values, multiplied by `worth`.
fn bend(track: &Track, worth: f32, times: &[f64], bends: &mut [f32]) {
    let mut own = own_times_s(track);
    own.sort_by(f64::total_cmp);
    let values: Vec<Vec4> = own.iter().map(|time_s| value(track, *time_s)).collect();
    for (time_s, three) in own.iter().skip(1).zip(values.windows(3)) {
        // Opposite quaternions are the same rotation.
        let turns = matches!(track.values, TrackValues::Rotation(_));
        let near = |v: Vec4| {
            if turns && v.dot(three[1]) < 0.0 {
                -v
            } else {
                v
            }
        };
        let middle = 0.5 * near(three[0]) + 0.5 * near(three[2]);
        let off = (three[1] - middle).abs().max_element() * worth;
        let at = times.partition_point(|time| time < time_s);
        if let Some(bend) = bends.get_mut(at) {
            *bend = bend.max(off);
        }
    }
}

fn value(track: &Track, time_s: f64) -> Vec4 {
    let mut at = [Transform::IDENTITY];
    animate_tracks(
        core::slice::from_ref(track),
        time_s,
        track.joint.into(),
        &mut at,
    );
    let [at] = at;
    match track.values {
        TrackValues::Translation(_) => at.translation.extend(0.0),
        TrackValues::Scale(_) => at.scale.extend(0.0),
        TrackValues::Rotation(_) => at.rotation.into(),
    }
}
