//! Additive clips as clips that replace the rest pose.

use throng::Result;
use throng::character::Character;
use throng::clip::{CurveClip, Interpolation, Keys, Track, TrackValues};
use throng::glam::{Quat, Vec3};

/// Applies differences from the rest pose to it.
///
/// Also returns the number of scale tracks that are left out, because the rest scale of their joint
/// has a 0.
pub(super) fn absolute(
    character: &Character,
    differences: &CurveClip,
) -> Result<(CurveClip, usize)> {
    let joints = character.skeleton().joints();
    let mut left_out = 0;
    let tracks = differences.tracks().iter().filter_map(|track| {
        let joint = track.joint;
        let rest = joints.get(joint.index())?.rest;
        let values = match &track.values {
            TrackValues::Translation(keys) => {
                TrackValues::Translation(shifted(keys, |v| rest.translation + v))
            }
            TrackValues::Rotation(keys) => {
                let by = |q: Quat| (rest.rotation.as_dquat() * q.as_dquat()).as_quat();
                TrackValues::Rotation(mapped(keys, by))
            }
            TrackValues::Scale(_) if rest.scale.cmpeq(Vec3::ZERO).any() => {
                left_out += 1;
                return None;
            }
            TrackValues::Scale(keys) => TrackValues::Scale(mapped(keys, |v| rest.scale * v)),
        };
        Some(Track { joint, values })
    });
    let tracks = tracks.collect();
    let mut weights = differences.weight_tracks().to_vec();
    for track in &mut weights {
        let first = track.first_weight.index();
        let own = first..first + track.count as usize;
        let own = character.morph_weights().get(own).unwrap_or_default();
        let (first, step) = values_of(track.keys.interpolation);
        let rows = track.keys.values.chunks_exact_mut(own.len().max(1));
        for row in rows.skip(first).step_by(step) {
            for (value, weight) in row.iter_mut().zip(own) {
                *value += weight.rest;
            }
        }
    }
    let clip = CurveClip::new(differences.name(), tracks, character.skeleton())?
        .with_weight_tracks(weights, character.morph_weights().len())?
        .with_range(differences.start_s(), differences.duration_s())?;
    Ok((clip, left_out))
}

/// Index of the first value in a track, and the step from one value to the next.
fn values_of(interpolation: Interpolation) -> (usize, usize) {
    match interpolation {
        Interpolation::CubicSpline => (1, 3),
        Interpolation::Step | Interpolation::Linear => (0, 1),
    }
}

/// Returns the keys with `map` applied to values and tangents.
fn mapped<T: Copy>(keys: &Keys<T>, map: impl Fn(T) -> T) -> Keys<T> {
    Keys {
        times_s: keys.times_s.clone(),
        values: keys.values.iter().map(|value| map(*value)).collect(),
        interpolation: keys.interpolation,
    }
}

/// Returns the keys with `shift` applied to values but not to tangents.
fn shifted<T: Copy>(keys: &Keys<T>, shift: impl Fn(T) -> T) -> Keys<T> {
    let mut keys = keys.clone();
    let (first, step) = values_of(keys.interpolation);
    for value in keys.values.iter_mut().skip(first).step_by(step) {
        *value = shift(*value);
    }
    keys
}
