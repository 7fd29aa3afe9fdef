//! The runtime's clip: keys at even times, in blocks of joints, ready for a vector unit.

use super::base::Base;
use super::build;
use super::lanes::{Row, WIDTH};
use crate::character::{Character, RawClip, Skeleton, Track, Transform};
use crate::error::Result;
use crate::pose::additive::{self, AdditiveReference};
use crate::pose::animate::animate_tracks;
use crate::pose::palette::expect_len;
use glam::{Quat, Vec3};
use std::ops::Range;

/// How the keys of a [`Clip`] are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ClipPacking {
    /// As `f32`: the fastest to read, the largest.
    #[default]
    None,
}

/// How a [`Clip`] is made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClipOptions {
    /// How its keys are stored.
    pub packing: ClipPacking,
    /// How far, in metres of character space, a point 3 cm from a joint may lie from where the file's curves put
    /// it. `None` is 0.01 cm. Both lengths are for a character of 1.8 m, and are scaled by the largest edge of
    /// [`Character::rest_bounds`] over that; a given bound is taken as it is.
    pub error_m: Option<f32>,
}

/// What a [`Clip`] came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipReport {
    /// Keys a second; 0 for a clip of a single frame.
    pub rate_hz: f64,
    /// How many frames of keys there are.
    pub frames: usize,
    /// What it takes in memory.
    pub bytes: usize,
    /// What one `f32` transform (40 bytes) a joint at 30 Hz would take.
    pub raw_bytes: usize,
    /// The worst error that was measured, in metres, as [`ClipOptions::error_m`] says.
    pub error_m: f32,
    /// The joint that it was found at.
    pub error_joint: u16,
    /// The time that it was found at, in seconds.
    pub error_time_s: f64,
    /// How many tracks are kept as the file has them: those that step, and those that no even sampling follows.
    pub kept_tracks: usize,
}

/// A clip for [`BatchPoser`](super::BatchPoser): sampled at even times at a rate of its own, so that any time is found at
/// once. What does not move is stored once. Made for one skeleton.
///
/// Between two keys, translations and scales are interpolated linearly, and so are the components of rotations, on the
/// shorter arc. The rate is the least, of a few usual ones, for which the measured error stays in the bound of
/// [`ClipOptions::error_m`]. Tracks that step, and those that even the highest rate does not follow, are kept as the
/// file has them and evaluated as [`animate`](super::super::animate()) does. On the first and the last key the clip has the
/// curves' own values: what loops in the file, loops here.
///
/// Morph weights are not part of it: see [`animate_weights`](super::super::animate_weights()).
#[derive(Debug, Clone)]
pub struct Clip {
    pub(super) start_s: f64,
    pub(super) duration_s: f64,
    pub(super) frames: usize,
    /// Rows a frame.
    pub(super) stride: usize,
    /// `[frame][block][component][lane]`, only of what moves in a block.
    pub(super) keys: Vec<Row>,
    /// `[block][component][lane]`, of all.
    pub(super) constants: Vec<Row>,
    pub(super) blocks: Vec<Block>,
    pub(super) joints: usize,
    /// See [`fingerprint`].
    pub(super) skeleton: u64,
    /// Whether its keys are differences from a reference pose, added to what lies below.
    pub(super) additive: bool,
    /// Evaluated as they are, sorted by joint.
    pub(super) kept: Vec<Track>,
    /// Whether its keys are differences from a reference pose, added to what lies below; what is at rest in it is no
    /// difference.
    pub(super) additive: bool,
    pub(super) report: ClipReport,
}

/// Components of a transform: rotation, translation, scale.
pub(super) const COMPONENTS: usize = 10;

/// A property of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Rotation,
    Translation,
    Scale,
}

impl Property {
    pub(super) const ALL: [Self; 3] = [Self::Rotation, Self::Translation, Self::Scale];

    /// Its first component.
    pub(super) const fn first(self) -> usize {
        [0, 4, 7][self as usize]
    }

    /// How many components it has.
    pub(super) const fn len(self) -> usize {
        [4, 3, 3][self as usize]
    }
}

/// What is known of eight joints of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Where in a frame a property's rows start, if it moves.
    pub(super) rows: [u32; 3],
    /// Bit `p`: property `p` moves. Bit `REST << p`: it is as in the rest pose. `KEPT`: a track is kept.
    pub(super) flags: u8,
}

impl Block {
    pub(super) const MOVES: u8 = 1;
    pub(super) const REST: u8 = 1 << 3;
    pub(super) const KEPT: u8 = 1 << 6;

    #[inline(always)]
    pub(super) const fn moves(&self, property: Property) -> bool {
        self.flags & (Self::MOVES << property as u8) != 0
    }
}

/// Where a time falls among the frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) u: f32,
    /// The time that it is, clamped to the clip.
    pub(super) time_s: f64,
}

impl Clip {
    /// `clip`, one of `character` or another for its skeleton.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if the clip drives a joint that the skeleton lacks;
    /// [`Error::Argument`](crate::Error::Argument) if the error bound is not positive and finite.
    pub fn new(character: &Character, clip: &RawClip, options: &ClipOptions) -> Result<Self> {
        let skeleton = character.skeleton();
        let rest: Vec<Transform> = skeleton.joints().iter().map(|joint| joint.rest).collect();
        build::clip(character, clip, options, Base::Rest(&rest))
    }

    /// The difference of `clip` from a reference pose, to be added to what other clips make of a character: a recoil,
    /// a breath, a lean. What the clip does not drive is no difference.
    ///
    /// The differences are taken of the file's keys, exactly but for rounding, and packed as any clip's; the error is
    /// that of the clip put back onto its reference.
    ///
    /// ```
    /// use throng::pose::{AdditiveReference, Clip, ClipOptions};
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let first = AdditiveReference::Frame { time_s: 0.0 };
    /// let clip = Clip::additive(&character, &character.clips()[0], &first, &ClipOptions::default())?;
    /// assert!(clip.is_additive());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::Each`](crate::Error::Each) with the first joint that the clip drives and whose reference is not finite, or
    /// has a scale of 0 where the clip drives the scale; [`Error::Argument`](crate::Error::Argument) for a reference pose that does not have
    /// one transform a joint.
    pub fn additive(
        character: &Character,
        clip: &RawClip,
        reference: &AdditiveReference,
        options: &ClipOptions,
    ) -> Result<Self> {
        let (curves, reference) = additive::curves(character, clip, reference)?;
        build::clip(character, &curves, options, Base::Reference(&reference))
    }

    /// Whether it is a difference from a reference pose.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.additive
    }

    /// How many joints the skeleton has that it was made for.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// Seconds from the file's time 0 to the last key.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// What it came to: its rate, size and error.
    #[must_use]
    pub fn report(&self) -> &ClipReport {
        &self.report
    }

    /// The local pose at `time_s`, clamped to the clip: one transform a joint, all overwritten. Not a number counts as 0.
    /// Of an additive clip, the difference from its reference pose.
    /// The plain code that tests hold the batch against; up to rounding, the same.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if `local` does not have one element per joint.
    pub fn sample(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        expect_len("local pose", local.len(), self.joints)?;
        let place = self.place(time_s);
        for (index, joint) in local.iter_mut().enumerate() {
            *joint = self.even(&place, index);
        }
        animate_tracks(&self.kept, place.time_s, 0, local);
        Ok(())
    }

    /// The local transform of one joint at `time_s`, as [`Self::sample`] has it. It takes as long however many joints there are.
    /// The identity for a joint that the skeleton lacks.
    #[must_use]
    pub fn sample_joint(&self, joint: u16, time_s: f64) -> Transform {
        let index = usize::from(joint);
        if index >= self.joints {
            return Transform::IDENTITY;
        }
        let place = self.place(time_s);
        let mut one = [self.even(&place, index)];
        animate_tracks(
            self.kept_of(index..index + 1),
            place.time_s,
            index,
            &mut one,
        );
        one[0]
    }

    /// The joints of one block; `joints` has as many as there are, or all lanes.
    pub(super) fn sample_block(&self, place: &Place, block: usize, joints: &mut [Transform]) {
        let first = block * WIDTH;
        for (lane, joint) in joints.iter_mut().enumerate() {
            *joint = self.even(place, first + lane);
        }
        let kept = self.kept_of(first..first + WIDTH);
        animate_tracks(kept, place.time_s, first, joints);
    }

    /// The tracks of some joints that are kept as they are.
    fn kept_of(&self, joints: Range<usize>) -> &[Track] {
        let before = |end: usize| move |track: &Track| usize::from(track.joint) < end;
        let kept = &self.kept[self.kept.partition_point(before(joints.start))..];
        &kept[..kept.partition_point(before(joints.end))]
    }

    /// A joint's transform from the even keys alone.
    fn even(&self, place: &Place, joint: usize) -> Transform {
        let value = |component: usize| self.value(place, joint, component);
        Transform {
            rotation: Quat::from_array([0, 1, 2, 3].map(value)).normalize(),
            translation: Vec3::from_array([4, 5, 6].map(value)),
            scale: Vec3::from_array([7, 8, 9].map(value)),
        }
    }

    fn value(&self, place: &Place, joint: usize, component: usize) -> f32 {
        let (block, lane) = (joint / WIDTH, joint % WIDTH);
        let property = match component {
            0..4 => Property::Rotation,
            4..7 => Property::Translation,
            _ => Property::Scale,
        };
        let info = &self.blocks[block];
        if !info.moves(property) {
            return self.constants[block * COMPONENTS + component].0[lane];
        }
        let row = info.rows[property as usize] as usize + component - property.first();
        let at = |frame: usize| self.keys[frame * self.stride + row].0[lane];
        let (from, to) = (at(place.from), at(place.to));
        from + (to - from) * place.u
    }

    /// Where `time_s` falls.
    #[inline]
    pub(super) fn place(&self, time_s: f64) -> Place {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        // Not `clamp`, which panics where it is unsure of its bounds.
        let time_s = time_s.max(self.start_s).min(self.duration_s);
        let last = self.frames - 1;
        let span = self.duration_s - self.start_s;
        let part = if span > 0.0 {
            (time_s - self.start_s) / span
        } else {
            0.0
        };
        let at = part * last as f64;
        let from = (at as usize).min(last);
        Place {
            from,
            to: (from + 1).min(last),
            u: (at - from as f64) as f32,
            time_s,
        }
    }
}

/// A number that skeletons of other parents or rest poses do not have, but for a chance of 1 to 2⁶⁴ (FNV-1a).
pub(super) fn fingerprint(skeleton: &Skeleton) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut add = |word: u32| {
        hash = (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01B3);
    };
    for joint in skeleton.joints() {
        add(joint.parent.into());
        for value in components(&joint.rest) {
            add(value.to_bits());
        }
    }
    hash
}

/// A transform's numbers in the order of the rows.
pub(super) fn components(transform: &Transform) -> [f32; COMPONENTS] {
    let Transform {
        rotation: q,
        translation: t,
        scale: s,
    } = transform;
    [q.x, q.y, q.z, q.w, t.x, t.y, t.z, s.x, s.y, s.z]
}
