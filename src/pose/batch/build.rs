//! Clips from the file's curves: which rate, what moves, what is kept as it is.

use super::base::Base;
use super::build_weights;
use super::clip::{
    Block, COMPONENTS, Clip, ClipOptions, ClipPacking, ClipReport, Keys, Property, components,
    fingerprint,
};
use super::exact::Times;
use super::lanes::{Row, WIDTH};
use super::measure::{Measure, Worst};
use super::quantise::quantise;
use super::rates::timings;
use super::timing::Timing;
use super::unpacked::Unpacked;
use super::weights::WeightKeys;
use crate::character::{Character, CurveClip, Interpolation, Track, TrackValues, Transform};
use crate::error::{ArgumentFault, Error, Result};
use crate::pose::animate::animate_tracks;
use std::borrow::Cow;
use std::ops::Range;

/// How often the tracks to blame are looked for; after that, all are kept.
const ATTEMPTS: usize = 6;
/// The first rate at which what sampling alone costs is within this part of the bound is the last that is tried, since more
/// of it is for packing; and so is one that has so many times the frames of a better one.
const ENOUGH: f32 = 0.6;
const LONGER: f64 = 1.6;
/// Rotations of neighbouring frames are not further apart than a quarter of a turn, unless no rate does that: blending relies on it
/// for its precision.
const LEAST_COSINE: f32 = 0.7;
/// What differs by less counts as the same: a few roundings, of the model's size, of rotations and of scales of 1. All of
/// it is measured with the rest.
const SAME: f32 = 2e-7;

/// See [`Clip::new`].
pub(super) fn clip(
    character: &Character,
    raw: &CurveClip,
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
    let weights = build_weights::weights(character, raw, measure.bound_m())?;
    let clip = joints(character, raw, options, base, &measure);
    Ok(with_weights(clip, weights))
}

/// The clip without its morph weights.
fn joints(
    character: &Character,
    raw: &CurveClip,
    options: &ClipOptions,
    base: Base<'_>,
    measure: &Measure<'_>,
) -> Clip {
    let skeleton = character.skeleton();
    let mut kept: Vec<bool> = raw.tracks().iter().map(steps).collect();
    let timings = timings(raw, skeleton.len());
    let mut best: Option<Clip> = None;
    for timing in &timings {
        let frames = |clip: &Clip| clip.timing.frames as f64;
        if best
            .as_ref()
            .is_some_and(|best| timing.frames as f64 > frames(best) * LONGER)
        {
            break;
        }
        let Made { clip, least_cosine } = make(character, raw, base, timing.clone(), &kept);
        if least_cosine < LEAST_COSINE {
            continue;
        }
        let mut times = measure.times(&clip);
        let worst = measure.within(&Unpacked::new(&clip, base), &mut times);
        if let Some(worst) = worst {
            let clip = stored(clip, worst, measure, &mut times, options.packing);
            let enough = worst.error_m <= ENOUGH * measure.bound_m();
            if best
                .as_ref()
                .is_none_or(|best| clip.report.bytes < best.report.bytes)
            {
                best = Some(clip);
            }
            if enough || options.packing == ClipPacking::None {
                break;
            }
        }
    }
    if let Some(best) = best {
        return best;
    }
    let most = timings.last().cloned().unwrap_or(Timing::single(raw));
    for _ in 0..ATTEMPTS {
        let made = make(character, raw, base, most.clone(), &kept).clip;
        let (worst, blamed) = measure.blame(&made);
        if blamed.is_empty() {
            let mut times = measure.times(&made);
            return stored(made, worst, measure, &mut times, options.packing);
        }
        for (track, kept) in raw.tracks().iter().zip(&mut kept) {
            *kept |= blamed.contains(&track.joint);
        }
    }
    kept.fill(true);
    let made = make(character, raw, base, Timing::single(raw), &kept).clip;
    let (worst, _) = measure.blame(&made);
    reported(made, &worst)
}

/// The clip with its morph weights.
fn with_weights(clip: Clip, made: build_weights::Made) -> Clip {
    let sizes = made.weights.iter().map(WeightKeys::size);
    let bytes = sizes.sum::<usize>();
    let driven = made.weights.iter().map(|keys| keys.range().len());
    let raw_bytes = size_of::<f32>() * driven.sum::<usize>();
    let span = clip.timing.end_s - clip.timing.start_s;
    let report = ClipReport {
        bytes: clip.report.bytes + bytes,
        memory_bytes: clip.report.memory_bytes + bytes,
        raw_bytes: clip
            .report
            .raw_bytes
            .saturating_add(at_30_hz(span).saturating_mul(raw_bytes)),
        weight_error: made.error,
        ..clip.report
    };
    Clip {
        weights: made.weights,
        report,
        ..clip
    }
}

/// How many frames there are in so many seconds at 30 Hz.
fn at_30_hz(span_s: f64) -> usize {
    ((span_s * 30.0).round() as usize).saturating_add(1)
}

/// The clip as asked, its keys packed if that can be and gains something.
fn stored(
    clip: Clip,
    worst: Worst,
    measure: &Measure<'_>,
    times: &mut Times,
    packing: ClipPacking,
) -> Clip {
    let clip = reported(clip, &worst);
    if packing == ClipPacking::None {
        return clip;
    }
    let packed = quantise(&clip, measure, times).map(|(packed, worst)| reported(packed, &worst));
    match packed {
        Some(packed) if packed.report.bytes < clip.report.bytes => packed,
        _ => clip,
    }
}

fn reported(mut clip: Clip, worst: &Worst) -> Clip {
    let keys = |track: &Track| size_of_val(track.values.times_s());
    let values = |track: &Track| match &track.values {
        TrackValues::Translation(keys) | TrackValues::Scale(keys) => size_of_val(&keys.values[..]),
        TrackValues::Rotation(keys) => size_of_val(&keys.values[..]),
    };
    let kept = clip.kept.iter().map(|track| keys(track) + values(track));
    let (packing, moving, unfolded) = match &clip.keys {
        Keys::Plain(rows, _) => (ClipPacking::None, size_of_val(&rows[..]), 0),
        Keys::Packed(packed) => (ClipPacking::Quantised, packed.size(), packed.unfolded()),
    };
    let bytes = size_of::<Clip>()
        + moving
        + size_of_val(&clip.timing.offsets[..])
        + size_of_val(&clip.constants[..])
        + size_of_val(&clip.blocks[..])
        + size_of_val(&clip.kept[..])
        + kept.sum::<usize>();
    let span = clip.timing.end_s - clip.timing.start_s;
    clip.report = ClipReport {
        packing,
        rate_hz: clip.timing.rate,
        frames: clip.timing.frames,
        bytes,
        memory_bytes: bytes + unfolded,
        raw_bytes: at_30_hz(span).saturating_mul(clip.rest.len() * COMPONENTS * size_of::<f32>()),
        error_m: worst.error_m,
        error_joint: worst.joint,
        error_time_s: worst.time_s,
        kept_tracks: clip.kept.len(),
        weight_error: 0.0,
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

/// What was made of a clip's curves.
struct Made {
    clip: Clip,
    /// Of half the angle between the rotations of a joint in neighbouring frames.
    least_cosine: f32,
}

/// The clip with the frames of `timing`, and with the tracks that are `kept`.
fn make(
    character: &Character,
    raw: &CurveClip,
    base: Base<'_>,
    timing: Timing,
    kept: &[bool],
) -> Made {
    let skeleton = character.skeleton();
    let pick = |want: bool| {
        let pairs = raw.tracks().iter().zip(kept);
        pairs
            .filter(move |(_, kept)| **kept == want)
            .map(|(track, _)| track.clone())
    };
    let sampled: Cow<'_, [Track]> = if kept.contains(&true) {
        pick(false).collect()
    } else {
        raw.tracks().into()
    };
    let frames = timing.frames;
    let mut clip = Clip {
        name: raw.name().into(),
        timing,
        keys: Keys::Plain(Vec::new(), 0),
        constants: Vec::new(),
        blocks: Vec::new(),
        rest: skeleton.joints.clone(),
        skeleton: fingerprint(skeleton),
        kept: pick(true).collect(),
        weights: Vec::new(),
        additive: base.is_additive(),
        report: ClipReport {
            packing: ClipPacking::None,
            rate_hz: 0.0,
            frames,
            bytes: 0,
            memory_bytes: 0,
            raw_bytes: 0,
            error_m: 0.0,
            error_joint: 0,
            error_time_s: 0.0,
            kept_tracks: 0,
            weight_error: 0.0,
        },
    };
    let size = character.rest_bounds().size().max_element();
    let same = [SAME, SAME * size, SAME];
    let (poses, least_cosine) = poses(&clip, base, &sampled, same);
    let mut stride = 0;
    for first in (0..skeleton.len()).step_by(WIDTH) {
        let joints = first..(first + WIDTH).min(skeleton.len());
        push_block(&mut clip, base, &mut stride, &poses, joints, same);
    }
    if stride == 0 {
        clip.timing.single_frame();
    }
    fill_keys(&mut clip, stride, &poses);
    Made { clip, least_cosine }
}

/// The local pose of every frame, one after the other; each rotation in the half space of the one before it. And the least
/// cosine between a joint's rotations in neighbouring frames.
fn poses(clip: &Clip, base: Base<'_>, tracks: &[Track], same: [f32; 3]) -> (Vec<Transform>, f32) {
    let (timing, joints) = (&clip.timing, clip.rest.len());
    let mut poses: Vec<Transform> = Vec::with_capacity(timing.frames * joints);
    let mut least = 1.0_f32;
    for frame in 0..timing.frames {
        let start = poses.len();
        poses.extend((0..joints).map(|joint| base.at_rest(joint)));
        let (before, now) = poses.split_at_mut(start);
        animate_tracks(tracks, timing.time_s(frame), 0, now);
        for (before, now) in before[start.saturating_sub(joints)..].iter().zip(now) {
            let cosine = before.rotation.dot(now.rotation);
            if cosine < 0.0 {
                now.rotation = -now.rotation;
            }
            least = least.min(cosine.abs());
        }
    }
    if timing.frames > 1 {
        let (first, last) = (&poses[..joints], (timing.frames - 1) * joints);
        let closed: Vec<Transform> = first.to_vec();
        for (first, last) in closed.iter().zip(&mut poses[last..]) {
            close(first, last, same);
        }
    }
    (poses, least)
}

/// Where the last transform is as the first but for a few roundings, it becomes the first, so that a loop closes to the bit.
fn close(first: &Transform, last: &mut Transform, same: [f32; 3]) {
    let near = |a: f32, b: f32, property: Property| (a - b).abs() <= same[property as usize];
    let vector = |a: glam::Vec3, b: glam::Vec3, property| {
        let pairs = a.to_array().into_iter().zip(b.to_array());
        pairs.into_iter().all(|(a, b)| near(a, b, property))
    };
    for rotation in [first.rotation, -first.rotation] {
        let pairs = rotation
            .to_array()
            .into_iter()
            .zip(last.rotation.to_array());
        if pairs
            .into_iter()
            .all(|(a, b)| near(a, b, Property::Rotation))
        {
            last.rotation = rotation;
        }
    }
    if vector(first.translation, last.translation, Property::Translation) {
        last.translation = first.translation;
    }
    if vector(first.scale, last.scale, Property::Scale) {
        last.scale = first.scale;
    }
}

/// Decides what moves in a block, and adds what does not.
fn push_block(
    clip: &mut Clip,
    base: Base<'_>,
    stride: &mut usize,
    poses: &[Transform],
    joints: Range<usize>,
    same: [f32; 3],
) {
    let mut block = Block {
        rows: [0; 3],
        flags: 0,
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
            let frames = poses.iter().skip(joint).step_by(clip.rest.len());
            moves |= frames
                .into_iter()
                .any(|pose| apart(&components(pose), &first));
            rest &= !apart(&components(&base.at_rest(joint)), &first);
        }
        let kept = clip
            .kept
            .iter()
            .any(|track| joints.contains(&usize::from(track.joint)) && driven(track) == property);
        if kept {
            block.flags |= Block::KEPT;
        }
        if moves {
            block.flags |= Block::MOVES << property as u8;
            block.rows[property as usize] = *stride as u32;
            *stride += property.len();
        } else if rest && !kept {
            block.flags |= Block::REST << property as u8;
        } else {
            block.rows[property as usize] = clip.constants.len() as u32;
            for component in range {
                let mut row = Row([components(&Transform::IDENTITY)[component]; WIDTH]);
                for (to, joint) in row.0.iter_mut().zip(joints.clone()) {
                    let at_rest = base.at_rest(joint);
                    *to = components(if rest { &at_rest } else { &poses[joint] })[component];
                }
                clip.constants.push(row);
            }
        }
    }
    clip.blocks.push(block);
}

/// The property that a track drives.
pub(super) fn driven(track: &Track) -> Property {
    match &track.values {
        TrackValues::Rotation(_) => Property::Rotation,
        TrackValues::Translation(_) => Property::Translation,
        TrackValues::Scale(_) => Property::Scale,
    }
}

/// Writes what moves, frame by frame.
fn fill_keys(clip: &mut Clip, stride: usize, poses: &[Transform]) {
    if stride == 0 {
        return;
    }
    let mut keys = Vec::with_capacity(stride * clip.timing.frames);
    for pose in poses.chunks_exact(clip.rest.len()) {
        for (block, joints) in clip.blocks.iter().zip(pose.chunks(WIDTH)) {
            for property in Property::ALL.into_iter().filter(|p| block.moves(*p)) {
                for component in property.first()..property.first() + property.len() {
                    let mut row = Row([components(&Transform::IDENTITY)[component]; WIDTH]);
                    for (to, joint) in row.0.iter_mut().zip(joints) {
                        *to = components(joint)[component];
                    }
                    keys.push(row);
                }
            }
        }
    }
    clip.keys = Keys::Plain(keys, stride);
}

/// The rest pose, as a clip.
pub(super) fn rest(character: &Character) -> Result<Clip> {
    let none = CurveClip::new("", Vec::new(), character.skeleton())?;
    let joints = character.skeleton().joints().iter();
    let rest: Vec<Transform> = joints.map(|joint| joint.rest).collect();
    let timing = Timing::single(&none);
    Ok(make(character, &none, Base::Rest(&rest), timing, &[]).clip)
}
