//! A clip's keys component by component, and the poses that they give at eight times at once.
//!
//! This computes for eight times what [`Clip::sample`] computes for one, so that packing can test
//! many. Keys can be changed one component at a time.

use super::additive::Base;
use super::components::{COMPONENTS, Property, components, transform};
use super::curve_sample::animate_tracks;
use super::octet::{EIGHT, Matrices, Octet, matrices, normalised, product, turned};
use super::packed::{BlockKeys, Clip};
use super::timing::Timing;
use crate::simd::WIDTH;
use crate::skeleton::{Joint, Transform};

/// Eight times, with their positions among a clip's frames.
#[derive(Debug, Default)]
pub(super) struct Moments {
    times_s: [f64; EIGHT],
    from: [u32; EIGHT],
    to: [u32; EIGHT],
    u: Octet,
    slerp: [Octet; 2],
    /// True if the times fall into consecutive frames, so that keys can be read contiguously.
    in_row: bool,
}

impl Moments {
    pub(super) fn new(timing: &Timing, times_s: &[f64; EIGHT]) -> Self {
        let mut all = Self {
            in_row: true,
            ..Self::default()
        };
        for (lane, time_s) in times_s.iter().enumerate() {
            let moment = timing.moment(*time_s);
            all.times_s[lane] = moment.time_s;
            (all.from[lane], all.to[lane]) = (moment.from, moment.to);
            all.u.0[lane] = moment.u;
            all.slerp[0].0[lane] = moment.slerp.one;
            all.slerp[1].0[lane] = moment.slerp.two;
            all.in_row &= all.from[lane] == all.from[0] + lane as u32;
            all.in_row &= all.to[lane] == all.from[lane] + 1;
        }
        all
    }
}

/// Marks a component that does not move. Otherwise the entry is the index of its keys.
const CONSTANT: u32 = u32::MAX;

#[derive(Debug)]
struct JointKeys {
    keys: [u32; COMPONENTS],
    constant: [f32; COMPONENTS],
    /// True if rotations have to be normalised.
    turns: bool,
    /// True if some tracks are kept as curves.
    kept: bool,
    /// The matrices, if nothing moves.
    fixed: Option<Box<Matrices>>,
}

/// A clip's keys, ready to be evaluated and changed.
#[derive(Debug)]
pub(super) struct Unpacked<'a> {
    clip: &'a Clip,
    base: Base<'a>,
    joints: Vec<JointKeys>,
    /// Values `[row][lane][frame]`.
    values: Vec<f32>,
    /// Frames per component, including padding.
    stride: usize,
}

impl<'a> Unpacked<'a> {
    pub(super) fn new(clip: &'a Clip, base: Base<'a>) -> Self {
        let frames = clip.timing.frames;
        let rows = match &clip.keys {
            BlockKeys::Plain(_, rows) => *rows,
            BlockKeys::Packed(packed) => packed.rows.len(),
        };
        let stride = frames + EIGHT;
        let mut values = vec![0.0; rows * WIDTH * stride];
        for (number, values) in values.chunks_exact_mut(stride).enumerate() {
            let (row, lane) = (number / WIDTH, number % WIDTH);
            for (frame, value) in values[..frames].iter_mut().enumerate() {
                *value = clip.key(frame, row, lane);
            }
        }
        let joints = (0..clip.rest.len()).map(|joint| JointKeys::new(clip, joint));
        let mut all = Self {
            joints: joints.collect(),
            clip,
            base,
            values,
            stride,
        };
        let at = Moments::new(&clip.timing, &[0.0; EIGHT]);
        for joint in 0..all.joints.len() {
            let own = &all.joints[joint];
            if !own.kept && own.keys == [CONSTANT; COMPONENTS] {
                all.joints[joint].fixed = Some(Box::new(all.local(&at, joint)));
            }
        }
        all
    }

    /// The keys of one lane of a row, one per frame.
    pub(super) fn keys_mut(&mut self, row: usize, lane: usize) -> &mut [f32] {
        let first = (row * WIDTH + lane) * self.stride;
        &mut self.values[first..first + self.clip.timing.frames]
    }

    pub(super) fn timing(&self) -> &Timing {
        &self.clip.timing
    }

    /// Computes the model poses of the `wanted` joints, whose ancestors must be wanted too.
    #[inline(always)]
    pub(super) fn model_poses(&self, at: &Moments, wanted: &[bool], out: &mut [Matrices]) {
        for (joint, wanted) in wanted.iter().enumerate() {
            if *wanted {
                let own = self.local(at, joint);
                put(&self.clip.rest, joint, &own, out);
            }
        }
    }

    #[inline(always)]
    fn local(&self, at: &Moments, joint: usize) -> Matrices {
        let keys = &self.joints[joint];
        if let Some(fixed) = &keys.fixed {
            return **fixed;
        }
        let mut pose = keys.constant.map(Octet::splat);
        if keys.keys[0] != CONSTANT {
            let ends: [_; 4] = core::array::from_fn(|k| self.ends(at, keys.keys[k]));
            let mut w = Octet::splat(1.0);
            for (from, to) in ends {
                w = w - from * to;
            }
            let part = at.u + w * (at.slerp[0] + w * at.slerp[1]);
            for (to, ends) in pose.iter_mut().zip(ends) {
                *to = ends.0 + (ends.1 - ends.0) * part;
            }
        }
        for property in [Property::Translation, Property::Scale] {
            if keys.keys[property.first()] != CONSTANT {
                for component in property.range() {
                    let (start, end) = self.ends(at, keys.keys[component]);
                    pose[component] = start + (end - start) * at.u;
                }
            }
        }
        if keys.turns {
            let [x, y, z, w, ..] = pose;
            pose[..4].copy_from_slice(&normalised([x, y, z, w]));
        }
        if keys.kept {
            self.put_kept(at, joint, &mut pose);
        }
        matrices(&put_onto(self.base, joint, pose))
    }

    /// A component's keys before and after each time.
    #[inline(always)]
    fn ends(&self, at: &Moments, keys: u32) -> (Octet, Octet) {
        let keys = &self.values[keys as usize * self.stride..][..self.stride];
        let (mut from, mut to) = (Octet::default(), Octet::default());
        let first = at.from[0] as usize;
        if at.in_row
            && let Some(row) = keys.get(first..first + EIGHT + 1)
        {
            from.0.copy_from_slice(&row[..EIGHT]);
            to.0.copy_from_slice(&row[1..]);
            return (from, to);
        }
        for lane in 0..EIGHT {
            from.0[lane] = keys[at.from[lane] as usize];
            to.0[lane] = keys[at.to[lane] as usize];
        }
        (from, to)
    }

    #[cold]
    #[inline(never)]
    fn put_kept(&self, at: &Moments, joint: usize, pose: &mut [Octet; COMPONENTS]) {
        let tracks = self.clip.kept_of(joint..joint + 1);
        for (lane, time_s) in at.times_s.iter().enumerate() {
            let mut one = [transform(pose.map(|component| component.0[lane]))];
            animate_tracks(tracks, *time_s, joint, &mut one);
            for (to, value) in pose.iter_mut().zip(components(&one[0])) {
                to.0[lane] = value;
            }
        }
    }
}

impl JointKeys {
    fn new(clip: &Clip, joint: usize) -> Self {
        let (block, lane) = (&clip.blocks[joint / WIDTH], joint % WIDTH);
        let mut keys = [CONSTANT; COMPONENTS];
        let mut constant = components(&clip.at_rest(joint));
        for property in Property::ALL.into_iter().filter(|p| !block.rests(*p)) {
            for (at, row) in property.range().zip(block.rows_of(property)) {
                if block.moves(property) {
                    keys[at] = (row * WIDTH + lane) as u32;
                } else {
                    constant[at] = clip.constants[row].0[lane];
                }
            }
        }
        Self {
            keys,
            constant,
            turns: !block.rests(Property::Rotation),
            kept: !clip.kept_of(joint..joint + 1).is_empty(),
            fixed: None,
        }
    }
}

/// Applies differences to the reference pose that they are relative to.
#[inline(always)]
fn put_onto(base: Base<'_>, joint: usize, mut pose: [Octet; COMPONENTS]) -> [Octet; COMPONENTS] {
    let Base::Reference(reference) = base else {
        return pose;
    };
    let below = components(&reference[joint]).map(Octet::splat);
    let ([rx, ry, rz, rw, ..], [x, y, z, w, ..]) = (below, pose);
    let rotation = normalised(turned([rx, ry, rz, rw], [x, y, z, w]));
    pose[..4].copy_from_slice(&rotation);
    for component in Property::Translation.range() {
        pose[component] = below[component] + pose[component];
    }
    for component in Property::Scale.range() {
        pose[component] = below[component] * pose[component];
    }
    pose
}

/// Writes a joint's model matrices.
#[inline(always)]
fn put(joints: &[Joint], joint: usize, own: &Matrices, out: &mut [Matrices]) {
    let parent = usize::from(joints[joint].parent_index());
    out[joint] = match out.get(parent) {
        Some(parent) => product(parent, own),
        None => *own,
    };
}

/// Computes eight model poses `[time][joint]` from local ones. If `base` has a reference, the local
/// poses are differences from it.
pub(super) fn models_of(
    joints: &[Joint],
    base: Base<'_>,
    local: &[Transform],
    out: &mut [Matrices],
) {
    for joint in 0..joints.len() {
        let mut pose = [Octet::default(); COMPONENTS];
        for lane in 0..EIGHT {
            let own = components(&local[lane * joints.len() + joint]);
            for (to, value) in pose.iter_mut().zip(own) {
                to.0[lane] = value;
            }
        }
        let own = matrices(&put_onto(base, joint, pose));
        put(joints, joint, &own, out);
    }
}
