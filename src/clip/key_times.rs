//! Chooses the key times of the curves at which a clip is checked.

use super::curve::{CurveClip, Interpolation, Keys, Track, TrackValues};
use super::curve_sample::animate_tracks;
use crate::skeleton::Transform;
use glam::Vec4;

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
