//! Samples a clip's frames from the curves, and finds what moves, what is constant and what is too
//! small to matter.

use super::additive::Base;
use super::components::{IDENTITY, Property, components, transform};
use super::curve::CurveClip;
use super::curve_sample::animate_tracks;
use super::packed::{Block, BlockKeys, Clip, ClipReport, fingerprint, row};
use super::quantise::Part;
use super::timing::Timing;
use super::track::{Track, is_opposite};
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
    let (first, last) = poses.split_at_mut((timing.frames - 1) * joints);
    for (first, last) in first.iter().zip(last) {
        close(first, last, same);
    }
    (poses, least)
}

/// Returns true if no numbers are further apart than `same`. NaN is never near anything.
fn near(a: &[f32], b: &[f32], same: f32) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= same)
}

/// Sets the last transform to the first one if they differ only by rounding, so that a loop closes
/// exactly.
fn close(first: &Transform, last: &mut Transform, same: [f32; 3]) {
    let mut closed = components(last);
    for rotation in [first.rotation, -first.rotation] {
        let first = components(&Transform { rotation, ..*first });
        for property in Property::ALL {
            let (first, last) = (&first[property.range()], &mut closed[property.range()]);
            if near(first, last, same[property as usize]) {
                last.copy_from_slice(first);
            }
        }
    }
    *last = transform(closed);
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
    let mut block = Block::default();
    for property in Property::ALL {
        let apart = |a: &Transform, b: &Transform| {
            let [a, b] = [a, b].map(components);
            let range = property.range();
            !near(&a[range.clone()], &b[range], same[property as usize])
        };
        let (mut moves, mut rest) = (false, true);
        for joint in joints.clone() {
            let mut frames = poses.iter().skip(joint).step_by(clip.rest.len());
            moves |= frames.any(|pose| apart(pose, &poses[joint]));
            rest &= !apart(&base.at_rest(joint), &poses[joint]);
        }
        let mut kept = clip.kept_of(joints.clone()).iter();
        let kept = kept.any(|track| track.values.property() == property);
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
            let pose = |joint| {
                if rest {
                    base.at_rest(joint)
                } else {
                    poses[joint]
                }
            };
            let rows = property.range();
            let rows = rows.map(|component| row(component, joints.clone().map(pose)));
            clip.constants.extend(rows);
        }
    }
    clip.blocks.push(block);
}

/// Writes the keys of moving properties, frame by frame.
fn fill_keys(clip: &mut Clip, stride: usize, poses: &[Transform]) {
    let mut keys = Vec::with_capacity(stride * clip.timing.frames);
    for pose in poses.chunks_exact(clip.rest.len().max(1)) {
        for (block, joints) in clip.blocks.iter().zip(pose.chunks(WIDTH)) {
            let moving = block.moving().flat_map(Property::range);
            keys.extend(moving.map(|component| row(component, joints.iter().copied())));
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
/// block.
///
/// The keys of `clip` are not packed, and `parts` are its parts.
pub(super) fn folded(clip: &Clip, parts: &[Part], fate: impl Fn(&[Part]) -> Fate) -> Clip {
    let BlockKeys::Plain(keys, stride) = &clip.keys else {
        return clip.clone();
    };
    let (mut stay, mut next) = (Vec::new(), 0);
    let (mut blocks, mut constants) = (Vec::new(), Vec::new());
    for old in &clip.blocks {
        let mut block = *old;
        for property in Property::ALL.into_iter().filter(|p| !old.rests(*p)) {
            let rows = old.rows_of(property);
            let row = &mut block.rows[property as usize];
            if !old.moves(property) {
                *row = constants.len() as u32;
                constants.extend(&clip.constants[rows]);
                continue;
            }
            let own = &parts[next..];
            let own = &own[..own.partition_point(|part| part.row == rows.start)];
            let mut fate = fate(own);
            next += own.len();
            if fate == Fate::Rest && old.flags & Block::KEPT != 0 {
                fate = Fate::Constant;
            }
            if fate == Fate::Moves {
                *row = stay.len() as u32;
                stay.extend(rows);
                continue;
            }
            block.flags &= !(Block::MOVES << property as u8);
            if fate == Fate::Rest {
                *row = 0;
                block.flags |= Block::REST << property as u8;
                continue;
            }
            *row = constants.len() as u32;
            constants.extend(property.range().enumerate().map(|(number, component)| {
                let mut row = Row([IDENTITY[component]; WIDTH]);
                for part in own {
                    row.0[part.joint % WIDTH] = part.spans[number].middle();
                }
                row
            }));
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
