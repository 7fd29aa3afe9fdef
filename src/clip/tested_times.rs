//! The times at which a clip is checked, and the exact poses of the file's curves there.

use super::additive::Base;
use super::curve::CurveClip;
use super::curve_sample::animate_tracks;
use super::octet::{EIGHT, Matrices, Octet};
use super::timing::Timing;
use super::track::{Numbers, Track, TrackValues};
use super::unpacked::models_of;
use crate::skeleton::{Skeleton, Transform};
use glam::Vec4;
use std::sync::OnceLock;

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

/// Eight times, and the exact model poses at them.
pub(super) struct TimeGroup {
    pub(super) times_s: [f64; EIGHT],
    /// True if the poses are kept once they are known.
    keep: bool,
    exact: OnceLock<Poses>,
}

/// Exact model poses at eight times.
#[derive(Default)]
pub(super) struct Poses {
    pub(super) models: Vec<Matrices>,
    /// True if all of them are finite.
    pub(super) finite: bool,
    /// Working memory.
    local: Vec<Transform>,
}

/// The times at which one clip is checked, in groups of eight.
pub(super) struct Times<'a> {
    /// Times from the file's keys.
    keys: &'a [TimeGroup],
    /// Midpoints between frames; the first and third quarters; the frames themselves.
    sets: [Vec<TimeGroup>; 3],
}

impl TimeGroup {
    /// Groups of these times. The last one is filled up with the last time.
    pub(super) fn all(times_s: impl IntoIterator<Item = f64>, joints: usize) -> Vec<Self> {
        let mut all: Vec<f64> = times_s.into_iter().collect();
        if let Some(last) = all.last().copied() {
            all.resize(all.len().next_multiple_of(EIGHT), last);
        }
        let groups = all.as_chunks().0.iter().enumerate();
        let groups = groups.map(|(number, times_s)| Self {
            times_s: *times_s,
            keep: (number + 1) * joints * EIGHT <= MAX_KEPT,
            exact: OnceLock::new(),
        });
        groups.collect()
    }

    /// The exact poses, which are computed in `out` if they are not kept.
    pub(super) fn exact<'a>(&'a self, file: &FileCurves<'_>, out: &'a mut Poses) -> &'a Poses {
        if self.keep {
            return self.exact.get_or_init(|| {
                out.compute(file, &self.times_s);
                Poses {
                    models: out.models.clone(),
                    finite: out.finite,
                    local: Vec::new(),
                }
            });
        }
        out.compute(file, &self.times_s);
        out
    }
}

impl Poses {
    fn compute(&mut self, file: &FileCurves<'_>, times_s: &[f64; EIGHT]) {
        let joints = file.skeleton.len();
        self.local.clear();
        for time_s in times_s {
            let start = self.local.len();
            let rest = (0..joints).map(|joint| file.base.at_rest(joint));
            self.local.extend(rest);
            animate_tracks(file.curves.tracks(), *time_s, 0, &mut self.local[start..]);
        }
        self.models.resize(joints, [Octet::default(); 12]);
        let joints = file.skeleton.joints();
        models_of(joints, file.base, &self.local, &mut self.models);
        // 0 times infinity is NaN, so the sum is NaN if any number is not finite.
        let numbers = self.models.as_flattened().iter();
        let sum = numbers.fold(Octet::default(), |sum, value| {
            sum + *value * Octet::default()
        });
        self.finite = sum == Octet::default();
    }
}

impl<'a> Times<'a> {
    /// Number of sets. The first is the one from the file's keys.
    pub(super) const SETS: usize = 4;
    /// The sets that are checked during the search, because errors of single keys peak there.
    pub(super) const SEARCHED: [usize; 3] = [0, 1, 3];

    pub(super) fn new(timing: &Timing, keys: &'a [TimeGroup], joints: usize) -> Self {
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
        let known: Vec<f64> = keys.iter().flat_map(|group| group.times_s).collect();
        let asked = |time_s: f64| {
            let next = known.partition_point(|key| *key < time_s - near);
            known.get(next).is_some_and(|key| *key <= time_s + near)
        };
        Self {
            keys,
            sets: [
                TimeGroup::all(at(0.5), joints),
                TimeGroup::all(at(0.25).chain(at(0.75)), joints),
                TimeGroup::all(timing.times_s().filter(|time_s| !asked(*time_s)), joints),
            ],
        }
    }

    /// All groups of these sets.
    pub(super) fn groups(&self, sets: impl IntoIterator<Item = usize>) -> Vec<&TimeGroup> {
        let set = |set: usize| match set.checked_sub(1) {
            Some(own) => &self.sets[own],
            None => self.keys,
        };
        sets.into_iter().flat_map(set).collect()
    }
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
    let mut times: Vec<f64> = Vec::new();
    let mut before = None;
    for track in raw.tracks() {
        // Most tracks of a file have the same times as the one before.
        let keys = track.values.numbers();
        let now = Some((keys.is_spline(), keys.times_s));
        if now != before {
            times.extend(own_times_s(&keys));
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

/// The times between two at which curves are checked.
pub(super) fn between(from: f64, to: f64) -> [f64; 3] {
    BETWEEN.map(|part| from + (to - from) * part)
}

/// The key times of a track, and for splines the times between keys.
pub(super) fn own_times_s(keys: &Numbers<'_>) -> Vec<f64> {
    let mut all: Vec<f64> = keys.times_s.iter().copied().map(f64::from).collect();
    if keys.is_spline() {
        let pairs = keys.times_s.windows(2);
        all.extend(pairs.flat_map(|pair| between(pair[0].into(), pair[1].into())));
    }
    all
}

/// Raises `bends` to the deviation of the track at its own times. The deviation is the distance
/// from the midpoint of the neighbouring values, multiplied by `worth`.
fn bend(track: &Track, worth: f32, times: &[f64], bends: &mut [f32]) {
    let mut own = own_times_s(&track.values.numbers());
    own.sort_by(f64::total_cmp);
    let values: Vec<Vec4> = own.iter().map(|time_s| value(track, *time_s)).collect();
    for (time_s, three) in own.iter().skip(1).zip(values.windows(3)) {
        // Opposite quaternions are the same rotation.
        let turns = matches!(track.values, TrackValues::Rotation(_));
        let near = |v: Vec4| match turns && v.dot(three[1]) < 0.0 {
            true => -v,
            false => v,
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
    let all = track.at(time_s);
    let own = &all[track.values.property().range()];
    Vec4::from_array(core::array::from_fn(|at| {
        own.get(at).copied().unwrap_or(0.0)
    }))
}
