//! The runtime form of a clip: uniformly spaced keys in blocks of joints, laid out for SIMD.

use super::components::{COMPONENTS, IDENTITY, Property, components, transform};
use super::curve_sample::animate_tracks;
use super::keys::Packed;
use super::timing::{Moment, Timing};
use super::track::Track;
use super::weights::WeightKeys;
use crate::error::{Result, expect_in, expect_len};
use crate::hash;
use crate::id::Id;
use crate::simd::{Row, WIDTH};
use crate::skeleton::{Joint, Skeleton, Transform};
use std::ops::Range;
use std::sync::Arc;

/// Options for creating a [`Clip`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipOptions {
    /// If true, keys are integers of as few bits as the error bound allows. This is the default.
    ///
    /// The number of bits is chosen for each component of each joint. If quantisation is impossible
    /// or saves nothing, the keys are stored as `f32`.
    ///
    /// If false, keys are `f32`: the fastest to read and the largest.
    pub quantise: bool,
    /// Largest allowed error in metres of character space. `None` is 0.01 cm.
    ///
    /// The error is the distance of a point from where the file's curves put it, at any time. It is
    /// measured in model space, with the errors of all joints above, at
    ///
    /// - every vertex of full detail, with its weights and the morph weights at rest;
    /// - the outermost positions to which morph weights from 0 to 1 can move vertices;
    /// - six points around each joint, 3 cm away along its axes in both directions. Points between
    ///   them are off by no more than the worst of the six;
    /// - six such points around each [`Socket`](crate::skeleton::Socket) that the character has
    ///   when the clip is packed. Put a socket at the end of a long attachment.
    ///
    /// Further away from a joint than all of its points, errors grow in proportion to the distance.
    ///
    /// Both default lengths are for a character of 1.8 m. They are scaled by the largest edge of
    /// [`Character::rest_bounds`](crate::character::Character::rest_bounds) over 1.8 m. An explicit
    /// bound is not scaled.
    ///
    /// The bound includes morph weights: the weights of a mesh together move a vertex no further
    /// than a quarter of it from where the file's curves put it in the rest pose, or than the whole
    /// bound if the clip moves no joints. No weight is off by more than 1e-3, and none has to be
    /// closer than 1e-6.
    ///
    /// # Blending
    ///
    /// A mean of several clips is off by at most the mean of their errors if their rotations are
    /// close together. The normalisation of blended rotations enlarges the errors of rotations
    /// whose quaternions are an angle φ apart by up to 1 / cos(φ / 2): by 4 % if the joint's
    /// rotations are 60° apart in space. The errors of additive layers add up.
    ///
    /// # Limits
    ///
    /// Tracks that no packing holds within the bound are kept as curves in `f32`, see
    /// [`ClipReport::kept_tracks`]. If even these are further off, because of the precision of
    /// `f32`, [`ClipReport::error_m`] is larger than the bound.
    pub error_m: Option<f32>,
}

impl Default for ClipOptions {
    fn default() -> Self {
        Self {
            quantise: true,
            error_m: None,
        }
    }
}

impl ClipOptions {
    pub(crate) fn check(&self) -> Result<()> {
        let expect = |bound| expect_in("clip error_m", bound, f32::MIN_POSITIVE, f32::MAX);
        self.error_m.map_or(Ok(()), expect)
    }
}

/// Size and accuracy of a [`Clip`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipReport {
    /// True if the keys are integers, false if they are `f32`.
    ///
    /// False despite [`ClipOptions::quantise`] if quantisation was impossible or saved nothing.
    pub quantised: bool,
    /// Keys per second; 0 for a clip of a single frame.
    pub rate_hz: f64,
    /// Number of frames of keys.
    pub frames: usize,
    /// Size in a saved character, in bytes.
    pub bytes: usize,
    /// Size in memory, in bytes.
    ///
    /// Here the keys of all frames are ready to be read, each by itself. It includes everything but
    /// the skeleton's rest pose, which the clip shares with its character.
    pub memory_bytes: usize,
    /// Size of an uncompressed clip in bytes.
    ///
    /// It has one `f32` transform (40 bytes) per joint and one `f32` per driven morph weight, at
    /// 30 Hz. It is exact up to 2⁵³. Clips of any length have a size, so it is not an integer.
    pub raw_bytes: f64,
    /// The worst measured error in metres, as defined by [`ClipOptions::error_m`].
    ///
    /// It includes the distance by which errors of morph weights may move a vertex.
    pub error_m: f32,
    /// The joint with the worst error: the strongest joint of a vertex.
    pub error_joint: Id<Joint>,
    /// The time of the worst error, in seconds.
    pub error_time_s: f64,
    /// The vertex with the worst error. `None` if no vertex is off.
    pub vertex_error: Option<VertexError>,
    /// Number of joint tracks that are kept as curves.
    ///
    /// These are step tracks, and tracks that no uniform sampling follows closely enough.
    pub kept_tracks: usize,
    /// The largest difference of a morph weight from the file's curves.
    ///
    /// It is measured at all keys and between them.
    pub weight_error: f32,
}

/// The parts of a saved [`Clip`] in bytes. Their sum is [`ClipReport::bytes`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClipSizes {
    /// Flags of what moves, and steps.
    pub tables: usize,
    /// Values that do not change.
    pub constants: usize,
    /// Keys.
    pub keys: usize,
    /// Tracks that are kept as curves, see [`ClipReport::kept_tracks`].
    pub curves: usize,
    /// Morph weights.
    pub weights: usize,
    /// The rest: the name, the times of frames and the report.
    pub others: usize,
}

/// The largest error of a [`Clip`] at a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VertexError {
    /// The distance in metres from where the file's curves put the vertex.
    pub error_m: f32,
    /// Index of the primitive in the character for which the clip was packed.
    pub primitive: u32,
    /// Index of the vertex in the primitive.
    pub vertex: u32,
    /// The time, in seconds.
    pub time_s: f64,
}

impl ClipReport {
    /// Of a clip that was not measured yet.
    pub(super) const NONE: Self = Self {
        quantised: false,
        rate_hz: 0.0,
        frames: 1,
        bytes: 0,
        memory_bytes: 0,
        raw_bytes: 0.0,
        error_m: 0.0,
        error_joint: Id::new(0),
        error_time_s: 0.0,
        vertex_error: None,
        kept_tracks: 0,
        weight_error: 0.0,
    };

    /// Compression ratio against one `f32` transform per joint at 30 Hz.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.raw_bytes / self.bytes.max(1) as f64
    }
}

/// A compressed clip, sampled at a uniform rate.
///
/// Because keys are uniformly spaced, any time is found directly. Properties that do not move are
/// stored once. A clip belongs to one skeleton.
///
/// # Interpolation
///
/// Between two keys, translations and scales are interpolated linearly. Rotations follow the
/// shorter arc at constant speed: their components are interpolated linearly, at a position
/// corrected for the curvature of the arc (accurate to 2e-7 rad for keys an eighth of a turn
/// apart). Keys half a turn apart turn in the direction given by
/// [`Interpolation::Linear`](crate::clip::Interpolation::Linear), on every SIMD level.
///
/// # Rate and accuracy
///
/// The rate is chosen from a few common ones and the file's own, so that the measured error stays
/// within [`ClipOptions::error_m`]. On the first and the last key, the clip has the values of the
/// curves, apart from packing error. A clip that loops in the file loops here too, bit for bit.
///
/// Tracks with steps, and tracks that even the highest rate does not follow, are kept as curves and
/// evaluated as by [`CurveClip::sample`](crate::clip::CurveClip::sample).
///
/// A clip has at most 16,384 frames (nine minutes at 30 Hz), and fewer for skeletons of more than
/// 400 joints. Anything longer is kept as curves, which is exact, but larger and slower. Cut such
/// clips into shorter ones.
///
/// # Morph weights
///
/// Morph weights are sampled in the same way, at a separate rate for each mesh. They are stored as
/// multiples of a power of 2, so a weight of 0, 1/2 or 1 in the file is exact. Weights with steps
/// are kept as curves, and so are those that are smaller as curves. See [`Clip::sample_weights`].
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    pub(crate) name: Box<str>,
    pub(crate) timing: Timing,
    pub(crate) keys: BlockKeys,
    /// Constants `[component][lane]` of block properties that do not move and are not at rest.
    pub(crate) constants: Vec<Row>,
    pub(crate) blocks: Vec<Block>,
    /// Shared with the character.
    pub(crate) rest: Arc<[Joint]>,
    /// See [`fingerprint`].
    pub(crate) skeleton: u64,
    /// True if the keys are differences from a reference pose, added to the pose below.
    pub(crate) additive: bool,
    /// Tracks that are kept as curves, sorted by joint.
    pub(crate) kept: Vec<Track>,
    /// Morph weights, in ascending order.
    pub(crate) weights: Vec<WeightKeys>,
    pub(crate) report: ClipReport,
}

/// The keys of moving properties.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BlockKeys {
    /// `[frame][row][lane]`, and the number of rows per frame. Rows are each block's moving
    /// properties, component by component.
    Plain(Vec<Row>, usize),
    Packed(Packed),
}

/// Describes the keys of eight joints of a clip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// For each property: the number of its first row of keys if it moves, or of its first row of
    /// constants if it is constant but not at rest.
    pub(crate) rows: [u32; 3],
    /// Flag bits:
    ///
    /// - bit `p`: property `p` moves;
    /// - `REST << p`: property `p` is as in the rest pose;
    /// - `KEPT`: some tracks are kept as curves, and their properties are not at rest;
    /// - `NEAR`: rotations are near the rest pose and near the neighbouring keys, see
    ///   [`Clip::mark_close_rotations`].
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

    /// The properties that are constant, but not at rest.
    pub(super) fn still(self) -> impl Iterator<Item = Property> {
        let all = Property::ALL.into_iter();
        all.filter(move |property| !self.rests(*property) && !self.moves(*property))
    }

    /// The properties that move.
    pub(super) fn moving(self) -> impl Iterator<Item = Property> {
        let all = Property::ALL.into_iter();
        all.filter(move |property| self.moves(*property))
    }

    /// The rows of a property that is not at rest: of keys if it moves, of constants if not.
    pub(crate) const fn rows_of(&self, property: Property) -> Range<usize> {
        let first = self.rows[property as usize] as usize;
        first..first + property.len()
    }

    #[inline(always)]
    pub(crate) const fn moves(&self, property: Property) -> bool {
        self.flags & (Self::MOVES << property as u8) != 0
    }
}

impl Clip {
    /// The clip's name. It may be empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the clip with another name.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Returns true if the clip is a difference from a reference pose.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.additive
    }

    /// Number of joints in the skeleton that the clip was made for.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.rest.len()
    }

    /// End of the clip in seconds, counted from the file's time 0.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.timing.end_s
    }

    /// The clip's rate, size and error.
    #[must_use]
    pub fn report(&self) -> &ClipReport {
        &self.report
    }

    /// The sizes of the parts of the saved clip.
    ///
    /// ```
    /// let mannequin = throng::builtin::mannequin()?.character;
    /// let walk = mannequin.clips().iter().find(|clip| clip.name() == "Walk").unwrap();
    /// let sizes = walk.sizes();
    /// assert!(sizes.keys > sizes.tables && sizes.keys < walk.report().bytes);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn sizes(&self) -> ClipSizes {
        self.save(&mut Vec::new())
    }

    /// Does the same as [`Self::sample`] without a CPU's vector unit, with the same bits on all of
    /// them.
    ///
    /// Whatever an import makes depends on this, so that it is the same on every CPU.
    pub(crate) fn sample_portable(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        expect_len("local pose", local.len(), self.rest.len())?;
        let moment = self.timing.moment(time_s);
        for (index, joint) in local.iter_mut().enumerate() {
            *joint = self.even(&moment, index);
        }
        animate_tracks(&self.kept, moment.time_s, 0, local);
        Ok(())
    }

    /// The same clip with other keys and constants.
    pub(super) fn with_keys(
        &self,
        keys: BlockKeys,
        blocks: Vec<Block>,
        constants: Vec<Row>,
    ) -> Self {
        Self {
            name: self.name.clone(),
            timing: self.timing.clone(),
            keys,
            constants,
            blocks,
            rest: self.rest.clone(),
            kept: self.kept.clone(),
            weights: self.weights.clone(),
            ..*self
        }
    }

    /// Renumbers the vertex of the largest error. `numbers` has the new number of each vertex, for
    /// each primitive.
    #[cfg(feature = "lod")]
    pub(crate) fn renumber_vertices(&mut self, numbers: &[Vec<u32>]) {
        if let Some(error) = &mut self.report.vertex_error {
            let own = numbers.get(error.primitive as usize);
            let number = own.and_then(|own| own.get(error.vertex as usize));
            error.vertex = number.copied().unwrap_or(error.vertex);
        }
    }

    /// Returns the times of all keys, ascending and without duplicates: uniform keys and kept
    /// tracks.
    pub(crate) fn key_times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.timing.times_s().collect();
        let kept = self.kept.iter().flat_map(|track| track.values.times_s());
        times.extend(kept.map(|time_s| f64::from(*time_s)));
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Returns whether the clip drives a joint's rotation and its scale. The flags are shared by
    /// eight joints, so `true` may mean that only a neighbour is driven.
    pub(crate) fn may_turn_and_scale(&self, joint: usize) -> [bool; 2] {
        let block = self.blocks.get(joint / WIDTH);
        [Property::Rotation, Property::Scale]
            .map(|property| block.is_some_and(|block| !block.rests(property)))
    }

    /// The joints of a block.
    pub(super) fn joints_of(&self, block: usize) -> Range<usize> {
        block * WIDTH..((block + 1) * WIDTH).min(self.rest.len())
    }

    pub(crate) fn kept_of(&self, joints: Range<usize>) -> &[Track] {
        let before = |end: usize| move |track: &Track| usize::from(track.joint) < end;
        let kept = &self.kept[self.kept.partition_point(before(joints.start))..];
        &kept[..kept.partition_point(before(joints.end))]
    }

    /// Samples a joint's transform from the uniform keys alone.
    pub(super) fn even(&self, moment: &Moment, joint: usize) -> Transform {
        let mut value = components(&self.at_rest(joint));
        let (info, lane) = (&self.blocks[joint / WIDTH], joint % WIDTH);
        for property in Property::ALL.into_iter().filter(|p| !info.rests(*p)) {
            let rows = info.rows_of(property);
            let values = &mut value[property.range()];
            if !info.moves(property) {
                for (value, row) in values.iter_mut().zip(&self.constants[rows]) {
                    *value = row.0[lane];
                }
                continue;
            }
            let [mut from, mut to] = [[0.0; 4]; 2];
            for (number, row) in rows.enumerate() {
                from[number] = self.key(moment.from as usize, row, lane);
                to[number] = self.key(moment.to as usize, row, lane);
            }
            let u = match property {
                Property::Rotation => moment.slerp.part(from, to, moment.u),
                _ => moment.u,
            };
            for (value, (from, to)) in values.iter_mut().zip(from.into_iter().zip(to)) {
                *value = from + (to - from) * u;
            }
        }
        let mut even = transform(value);
        if !info.rests(Property::Rotation) {
            even.rotation = even.rotation.normalize();
        }
        even
    }

    /// The transform of a joint that nothing drives.
    pub(crate) fn at_rest(&self, joint: usize) -> Transform {
        if self.additive {
            Transform::IDENTITY
        } else {
            self.rest[joint].rest
        }
    }

    pub(crate) fn keys(&self, frame: usize, row: usize) -> [f32; WIDTH] {
        match &self.keys {
            BlockKeys::Plain(rows, stride) => rows[frame * stride + row].0,
            BlockKeys::Packed(packed) => packed.keys(frame, row),
        }
    }

    pub(crate) fn key(&self, frame: usize, row: usize, lane: usize) -> f32 {
        match &self.keys {
            BlockKeys::Plain(rows, stride) => rows[frame * stride + row].0[lane],
            BlockKeys::Packed(packed) => packed.key(frame, row, lane),
        }
    }
}

/// A hash of the parents and the rest pose (FNV-1a). Different skeletons collide with a probability
/// of 1 in 2⁶⁴.
pub(crate) fn fingerprint(skeleton: &Skeleton) -> u64 {
    let mut hash = hash::EMPTY;
    let mut add = |word: u32| hash = hash::add(hash, word.into());
    for joint in skeleton.joints() {
        add(joint.parent_index().into());
        for value in components(&joint.rest) {
            add(value.to_bits());
        }
    }
    hash
}

/// A component of up to eight transforms. Other lanes have that of the identity.
pub(crate) fn row(component: usize, transforms: impl Iterator<Item = Transform>) -> Row {
    let mut row = Row([IDENTITY[component]; WIDTH]);
    for (value, transform) in row.0.iter_mut().zip(transforms) {
        *value = components(&transform)[component];
    }
    row
}

/// The rest pose: `[block][component][lane]`.
pub(crate) fn rest_rows(skeleton: &Skeleton) -> Vec<Row> {
    let rows = skeleton.joints().chunks(WIDTH).flat_map(|joints| {
        let rest = joints.iter().map(|joint| joint.rest);
        (0..COMPONENTS).map(move |component| row(component, rest.clone()))
    });
    rows.collect()
}
