//! Samples a clip's frames from the curves, and finds what moves, what is constant and what is too
//! small to matter.

use super::additive::Base;
use super::curve::{CurveClip, Track, TrackValues, is_opposite};
use super::curve_sample::animate_tracks;
use super::packed::{
    Block, BlockKeys, COMPONENTS, Clip, ClipReport, Property, components, fingerprint,
};
use super::quantise::Part;
use super::timing::Timing;
use crate::mesh::Model;
use crate::simd::{Row, WIDTH};
use crate::skeleton::Transform;
use std::borrow::Cow;
use std::ops::Range;

/// Values that differ by less than this are equal. It covers a few rounding errors relative to the
/// model's size, to rotations and to scales of 1. The error is still measured with all others.
const SAME: f32 = 2e-7;

/// A clip made from curves.
pub(crate) struct Made {
    pub(crate) clip: Clip,
    /// Least cosine of half the angle between a joint's rotations in neighbouring frames.
    pub(crate) least_cosine: f32,
}

/// Samples the clip at the frames of `timing`, with the tracks in `kept` stored as curves.
pub(crate) fn make(
    model: &Model,
    raw: &CurveClip,
    base: Base<'_>,
    timing: Timing,
    kept: &[bool],
) -> Made {
    let skeleton = &model.skeleton;
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
    let mut clip = Clip {
        name: raw.name().into(),
        timing,
        keys: BlockKeys::Plain(Vec::new(), 0),
        constants: Vec::new(),
        blocks: Vec::new(),
        rest: skeleton.joints.clone(),
        skeleton: fingerprint(skeleton),
        kept: pick(true).collect(),
        weights: Vec::new(),
        additive: base.is_additive(),
        report: ClipReport::NONE,
    };
    let size = model.rest_bounds.size().max_element();
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

/// Samples the local pose of every frame, in order.
///
/// Each rotation lies in the same half space as the one in the frame before. Also returns the least
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
            if is_opposite(before.rotation, now.rotation) {
                now.rotation = -now.rotation;
            }
            least = least.min(before.rotation.dot(now.rotation).max(0.0));
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

/// Sets the last transform to the first one if they differ only by rounding, so that a loop closes
/// exactly.
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

/// Decides which properties of a block move, and stores the constant ones.
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
            // NaN is never near anything.
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

pub(crate) fn driven(track: &Track) -> Property {
    match &track.values {
        TrackValues::Rotation(_) => Property::Rotation,
        TrackValues::Translation(_) => Property::Translation,
        TrackValues::Scale(_) => Property::Scale,
    }
}

/// Writes the keys of moving properties, frame by frame.
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
    clip.keys = BlockKeys::Plain(keys, stride);
}

/// Decision about a moving property of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Moves,
    /// Becomes constant, at the middle of its range.
    Constant,
    Rest,
}

/// Returns `clip` with fewer moving properties. `fate` decides for the parts of each property of a
/// block, and is given the number of the first one.
///
/// The keys of `clip` are not packed, and `parts` are its parts.
pub(super) fn folded(clip: &Clip, parts: &[Part], fate: impl Fn(&[Part], usize) -> Fate) -> Clip {
    let BlockKeys::Plain(keys, stride) = &clip.keys else {
        return clip.clone();
    };
    let mut stay = Vec::new();
    let mut next = 0;
    let unmoved = components(&Transform::IDENTITY);
    let (mut blocks, mut constants) = (Vec::new(), Vec::new());
    for old in &clip.blocks {
        let mut block = Block {
            rows: [0; 3],
            flags: old.flags,
        };
        for property in Property::ALL {
            let first = old.rows[property as usize] as usize;
            let row = &mut block.rows[property as usize];
            if old.rests(property) {
                continue;
            }
            if !old.moves(property) {
                *row = constants.len() as u32;
                constants.extend(&clip.constants[first..first + property.len()]);
                continue;
            }
            let same = |part: &&Part| part.row == first;
            let own = &parts[next..];
            let own = &own[..own.iter().take_while(same).count()];
            let mut fate = fate(own, next);
            next += own.len();
            if fate == Fate::Rest && old.flags & Block::KEPT != 0 {
                fate = Fate::Constant;
            }
            if fate == Fate::Moves {
                *row = stay.len() as u32;
                stay.extend(first..first + property.len());
                continue;
            }
            block.flags &= !(Block::MOVES << property as u8);
            if fate == Fate::Rest {
                block.flags |= Block::REST << property as u8;
            } else {
                *row = constants.len() as u32;
                let range = property.first()..property.first() + property.len();
                constants.extend(range.clone().map(|component| {
                    let mut row = Row([unmoved[component]; WIDTH]);
                    for part in own {
                        let span = &part.spans[component - range.start];
                        row.0[part.joint % WIDTH] = span.middle();
                    }
                    row
                }));
            }
        }
        blocks.push(block);
    }
    let frames = keys.chunks_exact((*stride).max(1));
    let kept: Vec<Row> = frames
        .flat_map(|frame| stay.iter().map(|row| frame[*row]))
        .collect();
    let mut folded = clip.with_keys(BlockKeys::Plain(kept, stay.len()), blocks, constants);
    if stay.is_empty() {
        folded.timing.single_frame();
    }
    folded
}

/// Returns true if `negligible` accepts the distance of every part from the rest pose.
pub(super) fn at_rest(
    clip: &Clip,
    parts: &[Part],
    negligible: impl Fn(usize, f32) -> bool,
) -> bool {
    parts.iter().enumerate().all(|(number, part)| {
        let rest = components(&clip.at_rest(part.joint));
        let rest = rest[part.property.first()..].iter();
        let mut spans = part.spans.iter().zip(rest).take(part.property.len());
        spans.all(|(span, rest)| negligible(number, (span.max - rest).max(rest - span.min)))
    })
}
