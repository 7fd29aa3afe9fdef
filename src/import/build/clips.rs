//! Animations to clips.

use super::{note, skeleton};
use crate::character::{Interpolation, Keys, RawClip, Skeleton, Track, TrackValues};
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::import::{RawAnimation, RawChannel, RawKeys, Repair, RepairKind, fault};
use glam::{Quat, Vec3};
use std::collections::HashSet;

/// One clip an animation, in order; tracks for the channels that drive the skeleton.
pub(super) fn build(
    animations: &[RawAnimation],
    skeleton: &Skeleton,
    joint_of: &[Option<u16>],
    repairs: &mut Vec<Repair>,
) -> Result<Vec<RawClip>> {
    let clip = |(index, animation)| clip(index, animation, skeleton, joint_of, repairs);
    animations.iter().enumerate().map(clip).collect()
}

#[derive(Default)]
struct Tally {
    outside: u64,
    zero: u64,
    normalised: u64,
    flipped: u64,
}

fn clip(
    index: usize,
    animation: &RawAnimation,
    skeleton: &Skeleton,
    joint_of: &[Option<u16>],
    repairs: &mut Vec<Repair>,
) -> Result<RawClip> {
    let mut tracks = Vec::with_capacity(animation.channels.len());
    let mut driven = HashSet::new();
    let mut tally = Tally::default();
    for (number, channel) in animation.channels.iter().enumerate() {
        let at = |part: &str, why| {
            let part = format!("channels[{number}]{part}");
            fault(ObjectKind::Animation, index, part, why)
        };
        let Some(joint) = joint_of.get(channel.node) else {
            let why = super::dangling("node", channel.node, joint_of.len());
            return Err(at("", why));
        };
        if !driven.insert((channel.node, std::mem::discriminant(&channel.values))) {
            let why = AssetFault::Invalid("drives what another channel drives already");
            return Err(at("", why));
        }
        check(channel, at)?;
        match *joint {
            None => tally.outside += 1,
            Some(joint) => tracks.push(Track {
                joint,
                values: values(channel, &mut tally),
            }),
        }
    }
    let mut object = Object {
        kind: ObjectKind::Animation,
        index: Some(index),
        part: Box::default(),
    };
    note(repairs, &object, RepairKind::ZeroQuaternion, tally.zero);
    note(
        repairs,
        &object,
        RepairKind::QuaternionNormalised,
        tally.normalised,
    );
    note(repairs, &object, RepairKind::AntipodalKey, tally.flipped);
    object.part = "channels on nodes that are not in the skeleton".into();
    note(repairs, &object, RepairKind::LeftOut, tally.outside);
    RawClip::new(&animation.name, tracks, skeleton)
}

fn check(channel: &RawChannel, at: impl Fn(&str, AssetFault) -> Error) -> Result<()> {
    let times = &channel.times_s;
    if times.is_empty() {
        return Err(at("", AssetFault::Missing("keys")));
    }
    if let Some((key, value)) = wrong_time(times) {
        let why = AssetFault::Value {
            what: "the time of key",
            index: key as u64,
            value: value.into(),
        };
        return Err(at("", why));
    }
    let per_key = if channel.interpolation == Interpolation::CubicSpline {
        3
    } else {
        1
    };
    let need = times.len() as u64 * per_key;
    let (got, broken) = match &channel.values {
        RawKeys::Translation(list) | RawKeys::Scale(list) => {
            (list.len(), list.iter().position(|v| !v.is_finite()))
        }
        RawKeys::Rotation(list) => (list.len(), list.iter().position(|q| !q.is_finite())),
    };
    if got as u64 != need {
        let why = AssetFault::Count {
            what: "the list of values",
            got: got as u64,
            need,
        };
        return Err(at("", why));
    }
    if let Some(element) = broken {
        let why = AssetFault::Invalid("a value is not finite");
        return Err(at(&format!(", value {element}"), why));
    }
    Ok(())
}

/// The first key whose time is not finite, negative, or not after the one before it.
pub(crate) fn wrong_time(times_s: &[f32]) -> Option<(usize, f32)> {
    let mut before = f32::NEG_INFINITY;
    for (key, time_s) in times_s.iter().copied().enumerate() {
        if !(time_s.is_finite() && time_s >= 0.0 && time_s > before) {
            return Some((key, time_s));
        }
        before = time_s;
    }
    None
}

fn values(channel: &RawChannel, tally: &mut Tally) -> TrackValues {
    let vectors = |values: &[Vec3]| Keys {
        times_s: channel.times_s.clone(),
        values: values.to_vec(),
        interpolation: channel.interpolation,
    };
    match &channel.values {
        RawKeys::Translation(values) => TrackValues::Translation(vectors(values)),
        RawKeys::Scale(values) => TrackValues::Scale(vectors(values)),
        RawKeys::Rotation(values) => TrackValues::Rotation(Keys {
            times_s: channel.times_s.clone(),
            values: rotations(values, channel.interpolation, tally),
            interpolation: channel.interpolation,
        }),
    }
}

fn rotations(raw: &[Quat], interpolation: Interpolation, tally: &mut Tally) -> Vec<Quat> {
    let mut values = raw.to_vec();
    if interpolation == Interpolation::CubicSpline {
        // Tangents belong to the values as they are: only a value that means nothing is replaced.
        for value in values.iter_mut().skip(1).step_by(3) {
            if *value == Quat::from_xyzw(0.0, 0.0, 0.0, 0.0) {
                *value = Quat::IDENTITY;
                tally.zero += 1;
            }
        }
        return values;
    }
    for value in &mut values {
        let (unit, repair) = skeleton::unit(*value);
        *value = unit;
        match repair {
            Some(RepairKind::ZeroQuaternion) => tally.zero += 1,
            Some(_) => tally.normalised += 1,
            None => {}
        }
    }
    if interpolation == Interpolation::Linear {
        for key in 1..values.len() {
            if values[key - 1].dot(values[key]) < 0.0 {
                values[key] = -values[key];
                tally.flipped += 1;
            }
        }
    }
    values
}
