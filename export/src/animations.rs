//! Clips as animations.

use super::additive;
use super::data::Data;
use super::nodes::{Nodes, unit};
use super::objects::{at, named};
use super::omissions::{Omission, Omissions};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ops::Range;
use throng::character::Character;
use throng::clip::{CurveClip, Interpolation, Keys, TrackValues, WeightTrack};
use throng::glam::Quat;
use throng::{Id, Result};

/// All clips, in order: from the curves that the character kept, or else from the packed keys.
pub(super) fn write(
    character: &Character,
    nodes: &Nodes,
    data: &mut Data,
    omissions: &mut Omissions,
) -> Result<Vec<Value>> {
    let count = character.clips().len().max(character.curves().len());
    let mut animations = Vec::with_capacity(count);
    for index in 0..count {
        let clip = match (character.curves().get(index), character.clips().get(index)) {
            (Some(curves), _) => Cow::Borrowed(curves),
            (None, Some(packed)) => {
                let weights = character.morph_weights().len();
                Cow::Owned(packed.to_curves(character.skeleton(), weights)?)
            }
            (None, None) => continue,
        };
        let id = Id::new(index as u16);
        let clip = match character.is_additive(id) {
            false => clip,
            true => {
                let (clip, left_out) = additive::absolute(character, &clip)?;
                omissions.add(Omission::AdditiveScale, left_out);
                Cow::Owned(clip)
            }
        };
        let written = animation(character, &clip, nodes, data, omissions);
        let mut written = written.map_err(at("clip", index))?;
        let events = character.events(id);
        let events = events.map(|(name, time_s)| json!({ "name": name, "time": time_s }));
        let events: Vec<Value> = events.collect();
        if !events.is_empty() {
            written["extras"]["events"] = events.into();
        }
        animations.push(written);
    }
    Ok(animations)
}

struct Channel {
    node: usize,
    path: &'static str,
    keys: Keys<f32>,
    /// The numbers of a value.
    width: usize,
}

fn animation(
    character: &Character,
    clip: &CurveClip,
    nodes: &Nodes,
    data: &mut Data,
    omissions: &mut Omissions,
) -> Result<Value> {
    let mut channels: Vec<Channel> = Vec::new();
    for track in clip.tracks() {
        let (path, width, keys) = match &track.values {
            TrackValues::Translation(keys) => ("translation", 3, flat(keys, |v| v.to_array())),
            TrackValues::Scale(keys) => ("scale", 3, flat(keys, |v| v.to_array())),
            TrackValues::Rotation(keys) => {
                let (keys, normalised) = of_unit_length(keys);
                omissions.add(Omission::SplineKeysNormalised, normalised);
                ("rotation", 4, flat(&keys, |q| q.to_array()))
            }
        };
        channels.push(Channel {
            node: track.joint.index(),
            path,
            keys,
            width,
        });
    }
    for (node, range) in &nodes.morphs {
        let keys = weights(character, clip, range, omissions);
        channels.extend(keys.map(|keys| Channel {
            node: *node,
            path: "weights",
            keys,
            width: range.len(),
        }));
    }
    if channels.is_empty() {
        // An animation must have a channel. This one holds a joint where it is anyway.
        let rest = character
            .skeleton()
            .joints()
            .first()
            .map(|joint| joint.rest);
        let rest = rest.unwrap_or(throng::skeleton::Transform::IDENTITY);
        channels.push(Channel {
            node: 0,
            path: "translation",
            keys: Keys {
                times_s: vec![clip.start_s()],
                values: rest.translation.to_array().into(),
                interpolation: Interpolation::Linear,
            },
            width: 3,
        });
    }
    cover(&mut channels, clip.start_s(), clip.duration_s());
    let (mut samplers, mut list, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for channel in channels {
        list.push(json!({
            "sampler": samplers.len(),
            "target": { "node": channel.node, "path": channel.path },
        }));
        samplers.push(sampler(channel, &mut bytes, data)?);
    }
    data.end_keys(&bytes)?;
    let mut animation = named(clip.name());
    animation["channels"] = list.into();
    animation["samplers"] = samplers.into();
    Ok(animation)
}

fn sampler(channel: Channel, bytes: &mut Vec<u8>, data: &mut Data) -> Result<Value> {
    let Channel {
        mut keys, width, ..
    } = channel;
    if keys.interpolation == Interpolation::CubicSpline && keys.times_s.len() == 1 {
        // A spline needs two keys.
        keys.values = keys.values[width..2 * width].to_vec();
        keys.interpolation = Interpolation::Step;
    }
    let input = data.times(bytes, &keys.times_s)?;
    let output = match channel.path {
        "weights" => data.keys(bytes, "SCALAR", &keys.values)?,
        "rotation" => data.keys(bytes, "VEC4", keys.values.as_chunks::<4>().0)?,
        _ => data.keys(bytes, "VEC3", keys.values.as_chunks::<3>().0)?,
    };
    let interpolation = match keys.interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
    };
    Ok(json!({ "input": input, "output": output, "interpolation": interpolation }))
}

/// The keys with each value as numbers.
fn flat<T, const N: usize>(keys: &Keys<T>, numbers: impl Fn(&T) -> [f32; N]) -> Keys<f32> {
    Keys {
        times_s: keys.times_s.clone(),
        values: keys.values.iter().flat_map(numbers).collect(),
        interpolation: keys.interpolation,
    }
}

/// The keys as unit quaternions, and the number of spline keys that changed.
///
/// The tangents of such a key are scaled too, so that its direction of motion stays.
fn of_unit_length(keys: &Keys<Quat>) -> (Keys<Quat>, usize) {
    let mut keys = keys.clone();
    let mut changed = 0;
    if keys.interpolation == Interpolation::CubicSpline {
        for key in keys.values.as_chunks_mut::<3>().0 {
            let value = unit(key[1]);
            let length = key[1].length();
            // The validator of glTF allows 5e-4.
            if (length - 1.0).abs() > 1e-4 {
                let by = if length > 0.0 { length.recip() } else { 1.0 };
                *key = [key[0] * by, value, key[2] * by];
                changed += 1;
            }
        }
    } else {
        keys.values
            .iter_mut()
            .for_each(|value| *value = unit(*value));
    }
    (keys, changed)
}

/// The keys of a mesh's weights, if the clip drives some of them.
fn weights(
    character: &Character,
    clip: &CurveClip,
    range: &Range<usize>,
    omissions: &mut Omissions,
) -> Option<Keys<f32>> {
    let of = |track: &WeightTrack| {
        let first = track.first_weight.index();
        first..first + track.count as usize
    };
    let tracks = clip.weight_tracks().iter();
    let own = tracks.filter(|track| of(track).start < range.end && of(track).end > range.start);
    let own: Vec<&WeightTrack> = own.collect();
    if let [track] = own[..]
        && of(track) == *range
    {
        return Some(track.keys.clone());
    }
    // A channel drives all weights of a mesh, so they are sampled at the keys of all tracks.
    let times_s = own.iter().flat_map(|track| &track.keys.times_s);
    let mut times_s: Vec<f32> = times_s.copied().collect();
    times_s.sort_unstable_by(f32::total_cmp);
    times_s.dedup();
    let is_linear = |track: &&&WeightTrack| track.keys.interpolation == Interpolation::Linear;
    omissions.add(
        Omission::WeightsSampled,
        own.len() - own.iter().filter(is_linear).count(),
    );
    let rest = &character.morph_weights()[range.clone()];
    let mut values = Vec::with_capacity(times_s.len() * range.len());
    for time_s in &times_s {
        let start = values.len();
        values.extend(rest.iter().map(|weight| weight.rest));
        clip.sample_weights(f64::from(*time_s), |weight, value| {
            if range.contains(&weight.index()) {
                values[start + weight.index() - range.start] = value;
            }
        });
    }
    (!times_s.is_empty()).then_some(Keys {
        times_s,
        values,
        interpolation: Interpolation::Linear,
    })
}

/// Makes the channels last from the start of the clip to its end.
///
/// Before its first key and after its last, a channel has their values, so the first channel gets
/// keys with these values.
fn cover(channels: &mut [Channel], start_s: f32, end_s: f32) {
    let times = || channels.iter().map(|channel| &channel.keys.times_s);
    let first_s = times().filter_map(|times| times.first().copied());
    let last_s = times().filter_map(|times| times.last().copied());
    let starts_late = first_s.fold(f32::INFINITY, f32::min) > start_s;
    let ends_early = last_s.fold(f32::NEG_INFINITY, f32::max) < end_s;
    let Some(Channel { keys, width, .. }) = channels.first_mut() else {
        return;
    };
    let width = *width;
    let is_spline = keys.interpolation == Interpolation::CubicSpline;
    let row = if is_spline { 3 * width } else { width };
    // A key that repeats another has no tangents.
    let level = |key: &[f32]| {
        let mut level = key.to_vec();
        if is_spline {
            level[..width].fill(0.0);
            level[2 * width..].fill(0.0);
        }
        level
    };
    if starts_late && keys.values.len() >= row {
        let first = level(&keys.values[..row]);
        // The tangent into the first key has no effect in the original.
        if is_spline {
            keys.values[..width].fill(0.0);
        }
        keys.values.splice(..0, first);
        keys.times_s.insert(0, start_s);
    }
    if ends_early && keys.values.len() >= row {
        let at = keys.values.len() - row;
        let last = level(&keys.values[at..]);
        if is_spline {
            keys.values[at + 2 * width..].fill(0.0);
        }
        keys.values.extend(last);
        keys.times_s.push(end_s);
    }
}
