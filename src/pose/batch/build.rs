//! Clips from the file's curves: which rate, what moves, what is kept as it is.

use super::base::Base;
use super::clip::{
    Block, COMPONENTS, Clip, ClipOptions, ClipReport, Property, components, fingerprint,
};
use super::lanes::{Row, WIDTH};
use super::measure::{Measure, Worst};
use crate::character::{Character, Interpolation, RawClip, Track, TrackValues, Transform};
use crate::error::{ArgumentFault, Error, Result};
use crate::pose::animate::animate_tracks;
use std::ops::Range;

/// Rates that are tried, least first. Among them are those at which exporters bake, where the keys are hit.
const RATES_HZ: [f64; 13] = [
    5.0, 10.0, 12.0, 15.0, 20.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0,
];
/// More frames than this are not made, nor more bytes while making them: a clip that would need more keeps its tracks.
const MAX_FRAMES: usize = 1 << 14;
const MAX_BYTES: usize = 1 << 28;
/// How often the tracks to blame are looked for; after that, all are kept.
const ATTEMPTS: usize = 6;
/// What differs by less counts as the same: a few roundings, of the model's size, of rotations and of scales of 1. All of
/// it is measured with the rest.
const SAME: f32 = 2e-7;

/// See [`Clip::new`].
pub(super) fn clip(
    character: &Character,
    raw: &RawClip,
    options: &ClipOptions,
    base: Base<'_>,
) -> Result<Clip> {
    let skeleton = character.skeleton();
    if let Some(last) = raw.tracks().last()
        && usize::from(last.joint) >= skeleton.len()
    {
        return Err(Error::NotFound {
            what: "joint",
            index: last.joint.into(),
            count: skeleton.len() as u64,
        });
    }
    if let Some(bound) = options.error_m
        && !(bound > 0.0 && bound.is_finite())
    {
        return Err(Error::Argument {
            what: "error bound",
            why: ArgumentFault::Invalid("must be positive and finite"),
        });
    }
    let measure = Measure::new(character, raw, options, base);
    let mut kept: Vec<bool> = raw.tracks().iter().map(steps).collect();
    let counts = frame_counts(raw, skeleton.len());
    for frames in &counts {
        let made = make(character, raw, base, *frames, &kept);
        if let Some(worst) = measure.within(&made) {
            return Ok(reported(made, &worst));
        }
    }
    let most = counts.last().copied().unwrap_or(1);
    for _ in 0..ATTEMPTS {
        let made = make(character, raw, base, most, &kept);
        let (worst, blamed) = measure.blame(&made);
        if blamed.is_empty() {
            return Ok(reported(made, &worst));
        }
        for (track, kept) in raw.tracks().iter().zip(&mut kept) {
            *kept |= blamed.contains(&track.joint);
        }
    }
    kept.fill(true);
    let made = make(character, raw, base, 1, &kept);
    let (worst, _) = measure.blame(&made);
    Ok(reported(made, &worst))
}

fn reported(mut clip: Clip, worst: &Worst) -> Clip {
    let span = clip.duration_s - clip.start_s;
    let keys = |track: &Track| size_of_val(track.values.times_s());
    let values = |track: &Track| match &track.values {
        TrackValues::Translation(keys) | TrackValues::Scale(keys) => size_of_val(&keys.values[..]),
        TrackValues::Rotation(keys) => size_of_val(&keys.values[..]),
    };
    let kept = clip.kept.iter().map(|track| keys(track) + values(track));
    let bytes = size_of_val(&clip.keys[..])
        + size_of_val(&clip.constants[..])
        + size_of_val(&clip.blocks[..])
        + size_of_val(&clip.kept[..])
        + kept.sum::<usize>();
    let intervals = clip.frames - 1;
    let at_30_hz = ((span * 30.0).round() as usize).saturating_add(1);
    clip.report = ClipReport {
        rate_hz: if intervals > 0 {
            intervals as f64 / span
        } else {
            0.0
        },
        frames: clip.frames,
        bytes,
        raw_bytes: at_30_hz.saturating_mul(clip.joints * COMPONENTS * size_of::<f32>()),
        error_m: worst.error_m,
        error_joint: worst.joint,
        error_time_s: worst.time_s,
        kept_tracks: clip.kept.len(),
    };
    clip
}

/// Whether a track jumps from value to value.
fn steps(track: &Track) -> bool {
    fn jumps<T: PartialEq>(keys: &crate::character::Keys<T>) -> bool {
        keys.interpolation == Interpolation::Step
            && keys.values.iter().any(|value| *value != keys.values[0])
    }
    match &track.values {
        TrackValues::Translation(keys) | TrackValues::Scale(keys) => jumps(keys),
        TrackValues::Rotation(keys) => jumps(keys),
    }
}

/// The numbers of frames to try, ascending: a single one if the clip has no length.
fn frame_counts(raw: &RawClip, joints: usize) -> Vec<usize> {
    let span = f64::from(raw.duration_s()) - f64::from(raw.start_s());
    let bytes = (joints * size_of::<Transform>()).max(1);
    let most = (MAX_BYTES / bytes).clamp(2, MAX_FRAMES) - 1;
    if raw.tracks().is_empty() || span <= 0.0 {
        return vec![1];
    }
    let mut counts: Vec<usize> = RATES_HZ
        .iter()
        .map(|rate| rate * span)
        .chain(own_intervals(raw, span))
        .map(|intervals| (intervals.round() as usize).clamp(1, most) + 1)
        .collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The clip's length over the least distance between neighbouring keys of a track: where the keys lie on a grid of their own,
/// its intervals. None beyond the highest rate.
fn own_intervals(raw: &RawClip, span: f64) -> Option<f64> {
    let gaps = raw.tracks().iter().flat_map(|track| {
        let times = track.values.times_s().windows(2);
        times.map(|pair| f64::from(pair[1]) - f64::from(pair[0]))
    });
    let least = gaps.fold(f64::INFINITY, f64::min);
    (least >= 1.0 / RATES_HZ[RATES_HZ.len() - 1]).then(|| span / least)
}

/// The clip at `frames` even times, with the tracks that are `kept`.
fn make(
    character: &Character,
    raw: &RawClip,
    base: Base<'_>,
    frames: usize,
    kept: &[bool],
) -> Clip {
    let skeleton = character.skeleton();
    let pick = |want: bool| {
        let pairs = raw.tracks().iter().zip(kept);
        pairs
            .filter(move |(_, kept)| **kept == want)
            .map(|(track, _)| track.clone())
    };
    let sampled: Vec<Track> = pick(false).collect();
    let mut clip = Clip {
        start_s: raw.start_s().into(),
        duration_s: raw.duration_s().into(),
        frames,
        stride: 0,
        keys: Vec::new(),
        constants: Vec::new(),
        blocks: Vec::new(),
        joints: skeleton.len(),
        skeleton: fingerprint(skeleton),
        kept: pick(true).collect(),
        additive: base.is_additive(),
        report: ClipReport {
            rate_hz: 0.0,
            frames,
            bytes: 0,
            raw_bytes: 0,
            error_m: 0.0,
            error_joint: 0,
            error_time_s: 0.0,
            kept_tracks: 0,
        },
    };
    let poses = poses(&clip, base, &sampled);
    let size = character.rest_bounds().size().max_element();
    let same = [SAME, SAME * size, SAME];
    for first in (0..skeleton.len()).step_by(WIDTH) {
        let joints = first..(first + WIDTH).min(skeleton.len());
        push_block(&mut clip, base, &poses, joints, same);
    }
    if clip.stride == 0 {
        clip.frames = 1;
    }
    fill_keys(&mut clip, &poses);
    clip
}

/// The local pose of every frame, one after the other; each rotation in the half space of the one before it.
fn poses(clip: &Clip, base: Base<'_>, tracks: &[Track]) -> Vec<Transform> {
    let joints = clip.joints;
    let mut poses: Vec<Transform> = Vec::with_capacity(clip.frames * joints);
    let last = clip.frames - 1;
    for frame in 0..clip.frames {
        let start = poses.len();
        poses.extend((0..joints).map(|joint| base.at_rest(joint)));
        let time_s = if frame == last {
            clip.duration_s
        } else {
            clip.start_s + (clip.duration_s - clip.start_s) * (frame as f64 / last as f64)
        };
        let (before, now) = poses.split_at_mut(start);
        animate_tracks(tracks, time_s, 0, now);
        for (before, now) in before[start.saturating_sub(joints)..].iter().zip(now) {
            if before.rotation.dot(now.rotation) < 0.0 {
                now.rotation = -now.rotation;
            }
        }
    }
    poses
}

/// Decides what moves in a block, and adds what does not.
fn push_block(
    clip: &mut Clip,
    base: Base<'_>,
    poses: &[Transform],
    joints: Range<usize>,
    same: [f32; 3],
) {
    let constants = clip.constants.len();
    let identity = components(&Transform::IDENTITY);
    let rows = identity.map(|value| Row([value; WIDTH]));
    clip.constants.extend(rows);
    let in_block = |track: &Track| joints.contains(&usize::from(track.joint));
    let kept = clip.kept.iter().any(in_block);
    let mut block = Block {
        rows: [0; 3],
        flags: if kept { Block::KEPT } else { 0 },
    };
    for property in Property::ALL {
        let range = property.first()..property.first() + property.len();
        let apart = |a: &[f32; COMPONENTS], b: &[f32; COMPONENTS]| {
            let mut pairs = a[range.clone()].iter().zip(&b[range.clone()]);
            // What is not a number is never near.
            !pairs.all(|(a, b)| (a - b).abs() <= same[property as usize])
        };
        let (mut moves, mut rest) = (false, true);
        for joint in joints.clone() {
            let first = components(&poses[joint]);
            let frames = poses.iter().skip(joint).step_by(clip.joints);
            moves |= frames
                .into_iter()
                .any(|pose| apart(&components(pose), &first));
            rest &= !apart(&components(&base.at_rest(joint)), &first);
        }
        for joint in joints.clone() {
            let at_rest = components(&base.at_rest(joint));
            let first = components(&poses[joint]);
            let values = if rest { &at_rest } else { &first };
            for component in range.clone() {
                let row = &mut clip.constants[constants + component];
                row.0[joint - joints.start] = values[component];
            }
        }
        if moves {
            block.flags |= Block::MOVES << property as u8;
            block.rows[property as usize] = clip.stride as u32;
            clip.stride += property.len();
        } else if rest && !kept {
            block.flags |= Block::REST << property as u8;
        }
    }
    clip.blocks.push(block);
}

/// Writes what moves, frame by frame.
fn fill_keys(clip: &mut Clip, poses: &[Transform]) {
    clip.keys.reserve_exact(clip.stride * clip.frames);
    if clip.stride == 0 {
        return;
    }
    for pose in poses.chunks_exact(clip.joints) {
        for (block, joints) in clip.blocks.iter().zip(pose.chunks(WIDTH)) {
            for property in Property::ALL.into_iter().filter(|p| block.moves(*p)) {
                for component in property.first()..property.first() + property.len() {
                    let mut row = Row([components(&Transform::IDENTITY)[component]; WIDTH]);
                    for (to, joint) in row.0.iter_mut().zip(joints) {
                        *to = components(joint)[component];
                    }
                    clip.keys.push(row);
                }
            }
        }
    }
}

/// The rest pose, as a clip.
pub(super) fn rest(character: &Character) -> Result<Clip> {
    let none = RawClip::new("", Vec::new(), character.skeleton())?;
    let skeleton = character.skeleton();
    let rest: Vec<Transform> = skeleton.joints().iter().map(|joint| joint.rest).collect();
    Ok(make(character, &none, Base::Rest(&rest), 1, &[]))
}
