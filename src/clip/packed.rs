//! The runtime's clip: keys at even times, in blocks of joints, ready for a vector unit.

use super::base::Base;
use super::build;
use super::curve::{CurveClip, Track};
use super::curve_sample::animate_tracks;
use super::keys::Packed;
use super::timing::{Place, Timing};
use super::weights::WeightKeys;
use crate::error::{Result, expect_len};
use crate::ids::JointId;
use crate::mesh::Model;
use crate::simd::{Row, WIDTH};
use crate::skeleton::{Joint, Skeleton, Transform};
use glam::{Quat, Vec3};
use std::ops::Range;
use std::sync::Arc;

/// How the keys of a [`Clip`] are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ClipPacking {
    /// As `f32`: the fastest to read, the largest.
    None,
    /// As whole numbers of as few bits as the error bound allows, chosen for each component of each
    /// joint; where that cannot be had, or gains nothing, as `f32`. See [`Clip::packed_words`] for
    /// the format.
    #[default]
    Quantised,
}

/// How a [`Clip`] is made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClipOptions {
    /// How its keys are stored.
    pub packing: ClipPacking,
    /// How far, in metres of character space, a point 3 cm from a joint may lie from where the
    /// file's curves put it. `None` is 0.01 cm. Both lengths are for a character of 1.8 m, and are
    /// scaled by the largest edge of [`Character::rest_bounds`](crate::character::Character::rest_bounds) over that; a given bound is taken
    /// as it is.
    ///
    /// As far, at most, the morph weights of a mesh together may move a vertex from where the
    /// file's curves have it, in the rest pose; and no weight is off by more than 1e-3, nor must it
    /// be nearer than 1e-6.
    pub error_m: Option<f32>,
}

/// What a [`Clip`] came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipReport {
    /// How its keys are stored, which is not what was asked where that was impossible or gained
    /// nothing.
    pub packing: ClipPacking,
    /// BlockKeys a second; 0 for a clip of a single frame.
    pub rate_hz: f64,
    /// How many frames of keys there are.
    pub frames: usize,
    /// What it takes, keys as they are packed: all that it holds, but for the skeleton's rest pose,
    /// which it shares with its character.
    pub bytes: usize,
    /// What it takes in memory: the same with the tables of packed keys unfolded, ready to be read.
    pub memory_bytes: usize,
    /// What one `f32` transform (40 bytes) a joint at 30 Hz would take.
    pub raw_bytes: usize,
    /// The worst error that was measured, in metres, as [`ClipOptions::error_m`] says.
    pub error_m: f32,
    /// The joint that it was found at.
    pub error_joint: JointId,
    /// The time that it was found at, in seconds.
    pub error_time_s: f64,
    /// How many tracks of joints are kept as the file has them: those that step, and those that no
    /// even sampling follows.
    pub kept_tracks: usize,
    /// How far the worst morph weight is from the file's curves, as measured at all keys and
    /// between them.
    pub weight_error: f32,
}

impl ClipReport {
    /// How many times smaller it is than one `f32` transform a joint at 30 Hz.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.raw_bytes as f64 / self.bytes.max(1) as f64
    }
}

/// A clip for [`BatchPoser`](crate::animate::BatchPoser): sampled at even times at a rate of its own, so
/// that any time is found at once. What does not move is stored once. Made for one skeleton.
///
/// Between two keys, translations and scales are interpolated linearly, rotations on the shorter
/// arc at an even speed: their components linearly, at a time that makes up for the arc's curvature
/// (to 2e-7 rad for keys an eighth of a turn apart). The rate is chosen of a few usual ones and the
/// file's own, for which the measured error stays in the bound of [`ClipOptions::error_m`]. Tracks
/// that step, and those that even the highest rate does not follow, are kept as the file has them
/// and evaluated as [`CurveClip::sample`] does. On the first and the last key the clip has the
/// curves' own values, within what packing costs; what loops in the file loops here, to the bit.
/// BlockKeys half a turn apart turn the way that
/// [`Interpolation::Linear`](crate::clip::Interpolation::Linear) says, on every SIMD level.
///
/// A clip takes at most 16,384 frames, nine minutes at 30 Hz, and fewer beyond 400 joints: what
/// needs more is kept as the file has it, which is exact, larger and slower. Cut longer ones.
///
/// Its morph weights are sampled in the same way, at a rate of their own for each mesh, as whole
/// numbers of steps that are powers of 2: so a weight that is 0, 1/2 or 1 in the file is that here.
/// Those that step are kept as the file has them, and those that take less so. See
/// [`Clip::sample_weights`].
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    pub(crate) name: Box<str>,
    pub(crate) timing: Timing,
    pub(crate) keys: BlockKeys,
    /// Of blocks' properties that do not move and are not at rest: `[component][lane]`.
    pub(crate) constants: Vec<Row>,
    pub(crate) blocks: Vec<Block>,
    /// Shared with the character.
    pub(crate) rest: Arc<[Joint]>,
    /// See [`fingerprint`].
    pub(crate) skeleton: u64,
    /// Whether its keys are differences from a reference pose, added to what lies below.
    pub(crate) additive: bool,
    /// Evaluated as they are, sorted by joint.
    pub(crate) kept: Vec<Track>,
    /// Ascending.
    pub(super) weights: Vec<WeightKeys>,
    pub(crate) report: ClipReport,
}

/// What moves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BlockKeys {
    /// `[frame][row][lane]`, and the rows a frame: each block's moving properties, component by
    /// component.
    Plain(Vec<Row>, usize),
    Packed(Packed),
}

/// Components of a transform: rotation, translation, scale.
pub(crate) const COMPONENTS: usize = 10;

/// A property of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Property {
    Rotation,
    Translation,
    Scale,
}

impl Property {
    pub(crate) const ALL: [Self; 3] = [Self::Rotation, Self::Translation, Self::Scale];

    /// Its first component.
    pub(crate) const fn first(self) -> usize {
        [0, 4, 7][self as usize]
    }

    /// How many components it has.
    pub(crate) const fn len(self) -> usize {
        [4, 3, 3][self as usize]
    }
}

/// What is known of eight joints of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// For each property: the number of its first row of keys if it moves, else that of its first
    /// row of constants if it is not at rest.
    pub(crate) rows: [u32; 3],
    /// Bit `p`: property `p` moves. Bit `REST << p`: it is as in the rest pose. `KEPT`: tracks are
    /// kept, of properties that are not at rest. `NEAR`: rotations are near to the rest pose and to
    /// the neighbouring keys, see [`Clip::mark_near`].
    pub(crate) flags: u8,
}

impl Block {
    pub(crate) const MOVES: u8 = 1;
    pub(crate) const REST: u8 = 1 << 3;
    pub(crate) const KEPT: u8 = 1 << 6;
    pub(crate) const NEAR: u8 = 1 << 7;

    #[inline(always)]
    pub(crate) const fn rests(&self, property: Property) -> bool {
        self.flags & (Self::REST << property as u8) != 0
    }

    #[inline(always)]
    pub(crate) const fn moves(&self, property: Property) -> bool {
        self.flags & (Self::MOVES << property as u8) != 0
    }
}

impl Clip {
    /// Packs `curves`, for the skeleton of `model`.
    ///
    /// # Errors
    /// Those of `Clip::new`.
    pub(crate) fn pack(model: &Model, curves: &CurveClip, options: &ClipOptions) -> Result<Self> {
        let rest = model.skeleton.rest_pose();
        build::clip(model, curves, options, Base::Rest(&rest))
    }

    /// [`Self::additive`] of curves that are differences from `reference`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn of_difference(
        model: &Model,
        curves: &CurveClip,
        reference: &[Transform],
        options: &ClipOptions,
    ) -> Result<Self> {
        build::clip(model, curves, options, Base::Reference(reference))
    }

    /// The clip's name, or empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same under another name.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Whether it is a difference from a reference pose.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.additive
    }

    /// How many joints the skeleton has that it was made for.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.rest.len()
    }

    /// Seconds from the file's time 0 to the last key.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.timing.end_s
    }

    /// What it came to: its rate, size and error.
    #[must_use]
    pub fn report(&self) -> &ClipReport {
        &self.report
    }

    /// The local pose at `time_s`, clamped to the clip: one transform a joint, all overwritten. Not
    /// a number counts as 0. Of an additive clip, the difference from its reference pose. The plain
    /// code that tests hold the batch against; up to rounding, the same.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `local` does not have one element per joint.
    pub fn sample(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        expect_len("local pose", local.len(), self.rest.len())?;
        let place = self.timing.place(time_s);
        for (index, joint) in local.iter_mut().enumerate() {
            *joint = self.even(&place, index);
        }
        animate_tracks(&self.kept, place.time_s, 0, local);
        Ok(())
    }

    /// The local transform of one joint at `time_s`, as [`Self::sample`] has it. It takes as long
    /// however many joints there are. The identity for a joint that the skeleton lacks.
    #[must_use]
    pub fn sample_joint(&self, joint: JointId, time_s: f64) -> Transform {
        let index = usize::from(joint);
        if index >= self.rest.len() {
            return Transform::IDENTITY;
        }
        let place = self.timing.place(time_s);
        let mut one = [self.even(&place, index)];
        animate_tracks(
            self.kept_of(index..index + 1),
            place.time_s,
            index,
            &mut one,
        );
        one[0]
    }

    /// The times of all keys, ascending, each once: of the even ones and of the tracks that are
    /// kept.
    pub(crate) fn key_times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = (0..self.timing.frames)
            .map(|frame| self.timing.time_s(frame))
            .collect();
        let kept = self.kept.iter().flat_map(|track| track.values.times_s());
        times.extend(kept.map(|time_s| f64::from(*time_s)));
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Whether the clip drives a joint's rotation and its scale; told of eight joints together, so
    /// `true` may also mean that a neighbour's is driven.
    pub(crate) fn may_turn_and_scale(&self, joint: usize) -> [bool; 2] {
        let block = self.blocks.get(joint / WIDTH);
        [Property::Rotation, Property::Scale]
            .map(|property| block.is_some_and(|block| !block.rests(property)))
    }

    /// The tracks of some joints that are kept as they are.
    pub(crate) fn kept_of(&self, joints: Range<usize>) -> &[Track] {
        let before = |end: usize| move |track: &Track| usize::from(track.joint) < end;
        let kept = &self.kept[self.kept.partition_point(before(joints.start))..];
        &kept[..kept.partition_point(before(joints.end))]
    }

    /// A joint's transform from the even keys alone.
    fn even(&self, place: &Place, joint: usize) -> Transform {
        let mut value = components(&self.at_rest(joint));
        let (info, lane) = (&self.blocks[joint / WIDTH], joint % WIDTH);
        for property in Property::ALL.into_iter().filter(|p| !info.rests(*p)) {
            let first = info.rows[property as usize] as usize;
            let values = &mut value[property.first()..][..property.len()];
            if !info.moves(property) {
                for (row, value) in values.iter_mut().enumerate() {
                    *value = self.constants[first + row].0[lane];
                }
                continue;
            }
            let mut ends = [[0.0; 4]; 2];
            for (row, (from, to)) in (first..first + property.len()).zip(pairs(&mut ends)) {
                *from = self.key(place.from as usize, row, lane);
                *to = self.key(place.to as usize, row, lane);
            }
            let [from, to] = ends;
            let u = match property {
                Property::Rotation => place.slerp.part(from, to, place.u),
                _ => place.u,
            };
            for (value, (from, to)) in values.iter_mut().zip(from.into_iter().zip(to)) {
                *value = from + (to - from) * u;
            }
        }
        let [x, y, z, w, tx, ty, tz, sx, sy, sz] = value;
        let rotation = Quat::from_xyzw(x, y, z, w);
        Transform {
            rotation: if info.rests(Property::Rotation) {
                rotation
            } else {
                rotation.normalize()
            },
            translation: Vec3::new(tx, ty, tz),
            scale: Vec3::new(sx, sy, sz),
        }
    }

    /// What a joint has where nothing says otherwise.
    pub(crate) fn at_rest(&self, joint: usize) -> Transform {
        if self.additive {
            Transform::IDENTITY
        } else {
            self.rest[joint].rest
        }
    }

    /// The key of a lane of a row.
    pub(crate) fn key(&self, frame: usize, row: usize, lane: usize) -> f32 {
        match &self.keys {
            BlockKeys::Plain(rows, stride) => rows[frame * stride + row].0[lane],
            BlockKeys::Packed(packed) => packed.key(frame, row, lane),
        }
    }
}

fn pairs(ends: &mut [[f32; 4]; 2]) -> impl Iterator<Item = (&mut f32, &mut f32)> {
    let [from, to] = ends;
    from.iter_mut().zip(to)
}

/// A number that skeletons of other parents or rest poses do not have, but for a chance of 1 to 2⁶⁴
/// (FNV-1a).
pub(crate) fn fingerprint(skeleton: &Skeleton) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut add = |word: u32| {
        hash = (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01B3);
    };
    for joint in skeleton.joints() {
        add(joint.parent_index().into());
        for value in components(&joint.rest) {
            add(value.to_bits());
        }
    }
    hash
}

/// A transform's numbers in the order of the rows.
pub(crate) fn components(transform: &Transform) -> [f32; COMPONENTS] {
    let Transform {
        rotation: q,
        translation: t,
        scale: s,
    } = transform;
    [q.x, q.y, q.z, q.w, t.x, t.y, t.z, s.x, s.y, s.z]
}

/// The rest pose: `[block][component][lane]`.
pub(crate) fn rest_rows(skeleton: &Skeleton) -> Vec<Row> {
    let mut rows = Vec::new();
    for joints in skeleton.joints().chunks(WIDTH) {
        let mut all = components(&Transform::IDENTITY).map(|value| Row([value; WIDTH]));
        for (lane, joint) in joints.iter().enumerate() {
            for (row, value) in all.iter_mut().zip(components(&joint.rest)) {
                row.0[lane] = value;
            }
        }
        rows.extend(all);
    }
    rows
}
