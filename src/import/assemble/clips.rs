//! Conversion of animations to clips.

use super::morphs::Morphs;
use super::skeleton;
use crate::character::EventDesc;
use crate::clip::{CurveClip, Interpolation, Keys, Track, TrackValues, WeightTrack, align};
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::id::Id;
use crate::import::fault::fault;
use crate::import::repair::{Repair, RepairKind};
use crate::import::{RawAnimation, RawChannel, RawKeys};
use crate::skeleton::Skeleton;
use glam::{Quat, Vec3};
use std::borrow::Cow;
use std::collections::HashSet;

/// The joints that the nodes become.
pub(super) struct JointOf<'a> {
    pub(super) nodes: usize,
    /// By animation and node. A node may be another joint in each animation.
    pub(super) of: &'a dyn Fn(usize, usize) -> Option<u16>,
}

/// Builds one clip per animation, in order, with tracks for the channels that drive the skeleton.
pub(super) fn build(
    animations: &[RawAnimation],
    skeleton: &Skeleton,
    joints: &JointOf<'_>,
    morphs: &Morphs,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<CurveClip>> {
    let clips = animations.iter().enumerate();
    let clips = clips.map(|(index, animation)| {
        let mut tally = Tally::default();
        let (tracks, weights) = tracks(index, animation, joints, morphs, &mut tally)?;
        tally.note(index, repairs);
        let clip = CurveClip::of_aligned(&animation.name, tracks, skeleton)?;
        let clip = clip.with_weight_tracks(weights, morphs.len())?;
        // Channels that are left out still count for the clip's start and end.
        let times_s = animation
            .channels
            .iter()
            .flat_map(|channel| &channel.times_s);
        let left_out = tally.outside + tally.undrawn > 0;
        let range_s =
            (times_s.clone().copied().reduce(f32::min)).zip(times_s.copied().reduce(f32::max));
        let own_s = (clip.start_s(), clip.duration_s());
        match range_s.filter(|range_s| left_out && *range_s != own_s) {
            Some((start_s, end_s)) => clip.with_range(start_s, end_s),
            None => Ok(clip),
        }
    });
    clips.collect()
}

/// The events of each clip. Events outside their clip are left out.
pub(super) fn events(
    animations: &[RawAnimation],
    clips: &[CurveClip],
    repairs: &mut Vec<Repair>,
) -> Vec<Vec<EventDesc>> {
    let all = animations.iter().zip(clips).enumerate();
    let events = all.map(|(index, (animation, clip))| {
        let duration_s = clip.duration_s();
        let is_inside = |event: &&EventDesc| {
            // Clips store their duration in this precision.
            let ends = event.time_s as f32 == duration_s;
            ends || (0.0..=f64::from(duration_s)).contains(&event.time_s)
        };
        let kept: Vec<EventDesc> = animation.events.iter().filter(is_inside).cloned().collect();
        let left_out = (animation.events.len() - kept.len()) as u64;
        let at = Object::new(ObjectKind::Animation, index, "events");
        Repair::note(repairs, &at, RepairKind::EventOutside, left_out);
        kept
    });
    events.collect()
}

#[derive(Default)]
struct Tally {
    outside: u64,
    undrawn: u64,
    zero: u64,
    normalised: u64,
    flipped: u64,
    equal_times: u64,
    overshoots: u64,
}

impl Tally {
    fn note(&self, index: usize, repairs: &mut Vec<Repair>) {
        let outside = "channels on nodes that are not in the skeleton";
        let undrawn = "channels of weights that drive nothing that is drawn";
        for (part, kind, count) in [
            ("", RepairKind::EqualKeyTimes, self.equal_times),
            ("", RepairKind::ZeroQuaternion, self.zero),
            ("", RepairKind::QuaternionNormalised, self.normalised),
            ("", RepairKind::AntipodalKey, self.flipped),
            ("", RepairKind::SplineOvershoots, self.overshoots),
            (outside, RepairKind::LeftOut, self.outside),
            (undrawn, RepairKind::LeftOut, self.undrawn),
        ] {
            Repair::note(
                repairs,
                &Object::new(ObjectKind::Animation, index, part),
                kind,
                count,
            );
        }
    }
}

fn tracks(
    index: usize,
    animation: &RawAnimation,
    joints: &JointOf<'_>,
    morphs: &Morphs,
    tally: &mut Tally,
) -> Result<(Vec<Track>, Vec<WeightTrack>)> {
    let mut tracks = Vec::with_capacity(animation.channels.len());
    let mut weight_tracks = Vec::new();
    let mut driven = HashSet::new();
    for (number, channel) in animation.channels.iter().enumerate() {
        let at = |part: &str, why| {
            let part = format!("channels[{number}]{part}");
            fault(ObjectKind::Animation, index, part, why)
        };
        if channel.node >= joints.nodes {
            return Err(at(
                "",
                AssetFault::dangling("node", channel.node, joints.nodes),
            ));
        }
        if !driven.insert((channel.node, std::mem::discriminant(&channel.values))) {
            let why = AssetFault::Invalid("drives a property that another channel already drives");
            return Err(at("", why));
        }
        if let RawKeys::Weights(all) = &channel.values {
            let Some(morph) = morphs.of_node(channel.node) else {
                let why = AssetFault::Invalid("drives the weights of a node without morph targets");
                return Err(at("", why));
            };
            check(channel, morph.count, at)?;
            tally.overshoots += overshoots(channel);
            match morph.first.filter(|_| morph.count > 0) {
                Some(first) => weight_tracks.push(WeightTrack {
                    first_weight: first,
                    count: morph.count as u32,
                    keys: keys(channel, all, morph.count, tally),
                }),
                None => tally.undrawn += 1,
            }
            continue;
        }
        check(channel, 1, at)?;
        tally.overshoots += overshoots(channel);
        match (joints.of)(index, channel.node) {
            None => tally.outside += 1,
            Some(joint) => tracks.extend(values(channel, tally).map(|values| Track {
                joint: Id::new(joint),
                values,
            })),
        }
    }
    Ok((tracks, weight_tracks))
}

/// Checks that there are keys, that their times ascend, and that each has `width` finite values
/// (three times as many for a spline).
fn check(channel: &RawChannel, width: usize, at: impl Fn(&str, AssetFault) -> Error) -> Result<()> {
    let times = &channel.times_s;
    if times.is_empty() {
        return Err(at("", AssetFault::Missing("keys")));
    }
    if let Some(why) = AssetFault::of_key_times(times) {
        return Err(at("", why));
    }
    let need = times.len() as u64 * channel.interpolation.values_per_key() as u64;
    let need = need.saturating_mul(width as u64);
    let (got, broken) = match &channel.values {
        RawKeys::Translation(list) | RawKeys::Scale(list) => {
            (list.len(), list.iter().position(|v| !v.is_finite()))
        }
        RawKeys::Rotation(list) => (list.len(), list.iter().position(|q| !q.is_finite())),
        RawKeys::Weights(list) => (list.len(), list.iter().position(|w| !w.is_finite())),
    };
    let (what, got) = ("the list of values", got as u64);
    if got != need {
        return Err(at("", AssetFault::Count { what, got, need }));
    }
    if let Some(element) = broken {
        let why = AssetFault::Invalid("a value is not finite");
        return Err(at(&format!(", value {element}"), why));
    }
    Ok(())
}

/// The number of intervals between keys in which a spline leaves its keys by orders of magnitude.
fn overshoots(channel: &RawChannel) -> u64 {
    if channel.interpolation != Interpolation::CubicSpline {
        return 0;
    }
    let times_s = &channel.times_s;
    let numbers: Cow<'_, [f32]> = match &channel.values {
        RawKeys::Translation(all) | RawKeys::Scale(all) => {
            all.iter().flat_map(Vec3::to_array).collect()
        }
        RawKeys::Rotation(all) => all.iter().flat_map(|turn| turn.to_array()).collect(),
        RawKeys::Weights(all) => Cow::Borrowed(all),
    };
    let width = numbers.len() / (3 * times_s.len()).max(1);
    // In-tangents, values, out-tangents.
    let rows: Vec<&[f32]> = numbers.chunks_exact(width.max(1)).collect();
    let values = rows.iter().skip(1).step_by(3).copied().flatten();
    let greatest = values.fold(1.0_f32, |most, value| most.max(value.abs()));
    let most = 100.0 * f64::from(greatest);
    let leaves = |(times_s, keys): (&[f32], &[&[f32]])| {
        let length_s = f64::from(times_s[1]) - f64::from(times_s[0]);
        let of = |row: usize, number: usize| f64::from(keys[row][number]);
        (0..width).any(|number| {
            let keys = [1, 2, 3, 4].map(|row: usize| of(row, number));
            let [value, out, next_in, next] = keys;
            // The tangents count most at a third and at two thirds of the way.
            [1.0 / 3.0, 2.0 / 3.0].into_iter().any(|u: f64| {
                let rest = 1.0 - u;
                let own = value * (1.0 + 2.0 * u) * rest * rest + next * u * u * (3.0 - 2.0 * u);
                let tangents = out * u * rest * rest - next_in * u * u * rest;
                (own + length_s * tangents).abs() > most
            })
        })
    };
    let keys = rows.windows(6).step_by(3);
    times_s
        .windows(2)
        .zip(keys)
        .filter(|both| leaves(*both))
        .count() as u64
}

/// The number of keys that have the same time as the previous key.
fn equal_times(times_s: &[f32]) -> usize {
    let pairs = times_s.iter().zip(times_s.iter().skip(1));
    pairs.filter(|(before, time_s)| before == time_s).count()
}

/// Resolves keys with equal times, which mean a jump. The last key of a group is the end of the
/// jump and keeps its time. The first is the start of the jump and moves to the next smaller
/// number, if that is free. Keys between them never have an effect and are dropped.
///
/// Returns the times that remain, and the index of each among all keys.
fn told_apart(all_s: &[f32]) -> (Vec<f32>, Vec<usize>) {
    let (mut times_s, mut keys) = (Vec::<f32>::new(), Vec::new());
    let mut key = 0;
    for run in all_s.chunk_by(|a, b| a == b) {
        if let [first, .., _] = run {
            let start = first.next_down();
            let is_free = times_s.last().is_none_or(|last| *last < start);
            if is_free && start >= 0.0 {
                times_s.push(start);
                keys.push(key);
            }
        }
        key += run.len();
        if let Some(last) = run.last() {
            times_s.push(*last);
            keys.push(key - 1);
        }
    }
    (times_s, keys)
}

/// The times of the remaining keys, and their indices if some were dropped.
fn kept(channel: &RawChannel, tally: &mut Tally) -> (Vec<f32>, Option<Vec<usize>>) {
    let equal = equal_times(&channel.times_s);
    tally.equal_times += equal as u64;
    if equal == 0 {
        (channel.times_s.clone(), None)
    } else {
        let (times_s, keys) = told_apart(&channel.times_s);
        (times_s, Some(keys))
    }
}

/// The remaining keys, with `count` numbers or vectors for each value.
fn keys<T: Copy>(channel: &RawChannel, all: &[T], count: usize, tally: &mut Tally) -> Keys<T> {
    let interpolation = channel.interpolation;
    let (times_s, keys) = kept(channel, tally);
    let width = interpolation.values_per_key() * count;
    Keys {
        times_s,
        values: of_keys(all, keys.as_deref(), width),
        interpolation,
    }
}

/// `None` for morph weights, which do not belong to a joint.
fn values(channel: &RawChannel, tally: &mut Tally) -> Option<TrackValues> {
    Some(match &channel.values {
        RawKeys::Translation(all) => TrackValues::Translation(keys(channel, all, 1, tally)),
        RawKeys::Scale(all) => TrackValues::Scale(keys(channel, all, 1, tally)),
        RawKeys::Rotation(all) => {
            let mut keys = keys(channel, all, 1, tally);
            keys.values = rotations(keys.values, channel.interpolation, tally);
            TrackValues::Rotation(keys)
        }
        RawKeys::Weights(_) => return None,
    })
}

/// The values of these keys, or of all keys. Each has `width` values.
fn of_keys<T: Copy>(all: &[T], keys: Option<&[usize]>, width: usize) -> Vec<T> {
    let Some(keys) = keys else {
        return all.to_vec();
    };
    let of_key = |key: &usize| all.get(key * width..(key + 1) * width);
    keys.iter().filter_map(of_key).flatten().copied().collect()
}

fn rotations(mut values: Vec<Quat>, interpolation: Interpolation, tally: &mut Tally) -> Vec<Quat> {
    let is_spline = interpolation == Interpolation::CubicSpline;
    let (first, step) = if is_spline { (1, 3) } else { (0, 1) };
    for value in values.iter_mut().skip(first).step_by(step) {
        if *value == Quat::from_xyzw(0.0, 0.0, 0.0, 0.0) {
            *value = Quat::IDENTITY;
            tally.zero += 1;
        }
    }
    if is_spline {
        // Tangents depend on the exact values, so only an invalid value is replaced.
        return values;
    }
    if interpolation == Interpolation::Linear {
        tally.flipped += align(&mut values);
    }
    for value in &mut values {
        let (unit, repair) = skeleton::unit(*value);
        *value = unit;
        tally.normalised += u64::from(repair.is_some());
    }
    values
}
