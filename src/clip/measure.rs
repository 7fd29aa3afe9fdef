//! Measures the error of a clip against the file's curves, in model space.

use super::additive::{Base, put_onto};
use super::compare::{Comparison, Detail, Far, FarVertex, Found, farthest};
use super::curve::CurveClip;
use super::curve_sample::animate_tracks;
use super::octet::{EIGHT, Octet};
use super::packed::Clip;
use super::probes::Probes;
use super::tested_times::{FileCurves, Poses, TimeGroup, Times, key_times_s};
use super::track::{Track, TrackValues};
use super::unpacked::Unpacked;
use crate::mesh::Model;
use crate::skeleton::{NO_PARENT, Transform, rest_model_pose};
use glam::Affine3A;
use rayon::prelude::*;

/// Part of the bound that may be used at the tested times, so that it also holds between them.
const MARGIN: f32 = 0.9;
/// Part of the bound below which vertices are not compared while a clip is only tested.
const FLOOR: f32 = 0.5;
/// Limit of tested times from the file's own keys. If there are more, only the time in each stretch
/// where the curves bend most is tested.
const MAX_KEY_TIMES: usize = 1 << 15;
/// Limit of joint poses. With many joints, fewer times are tested.
const MAX_POSES: usize = 1 << 24;
/// Least number of joint poses per task. Smaller tasks are not worth a thread switch.
const SHARE: usize = 1 << 14;

/// The worst error found, with its joint and time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Worst {
    pub(super) error_m: f32,
    pub(super) joint: u16,
    pub(super) time_s: f64,
    /// The worst vertex.
    pub(super) vertex: FarVertex,
}

/// The worst error of one joint.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Most {
    pub(super) error_m: f32,
    time_s: f64,
}

/// The reference that clips are compared with.
pub(super) struct Measure<'a> {
    pub(super) file: FileCurves<'a>,
    pub(super) bound_m: f32,
    pub(super) probes: &'a Probes,
    /// The times from the file's keys.
    keys: Vec<TimeGroup>,
}

impl<'a> Measure<'a> {
    /// Prepares the comparison with the curves. The bound is that of all joints, in metres.
    pub(super) fn new(
        (model, probes): (&'a Model, &'a Probes),
        raw: &'a CurveClip,
        bound_m: f32,
        base: Base<'a>,
    ) -> Self {
        let skeleton = &model.skeleton;
        let most = (MAX_POSES / skeleton.len().max(1)).clamp(64, MAX_KEY_TIMES);
        let (rest, joints) = (rest_model_pose(skeleton), skeleton.joints());
        // A unit of the track relative to a human's size. A rotation or scale of 1 moves the end of
        // a bone of that length equally far.
        let worth = |track: &Track| {
            let parent = rest.get(usize::from(joints[usize::from(track.joint)].parent_index()));
            let unit = parent.map_or(1.0, |m| m.matrix3.x_axis.length());
            match track.values {
                TrackValues::Translation(_) => unit / probes.scale,
                _ => 1.0,
            }
        };
        let key_times_s = key_times_s(raw, most, worth);
        Self {
            file: FileCurves {
                skeleton,
                curves: raw,
                base,
            },
            bound_m,
            probes,
            keys: TimeGroup::all(key_times_s, skeleton.len()),
        }
    }

    /// The times to test for a clip: times from the file's keys, the clip's frames, and times
    /// between frames.
    pub(super) fn times(&self, clip: &Clip) -> Times<'_> {
        Times::new(&clip.timing, &self.keys, self.file.skeleton.len())
    }

    /// Returns the worst error if it is within the bound.
    ///
    /// Vertices that are off by less than half the bound are not compared, so the worst vertex may
    /// be unknown.
    pub(super) fn within(&self, made: &Unpacked<'_>, times: &Times<'_>) -> Option<Worst> {
        self.compare(made, times, FLOOR * self.limit_m(), self.limit_m())
    }

    /// Returns the worst error. It is `worst`, unless that lacks the vertex.
    pub(super) fn with_vertex(
        &self,
        worst: Worst,
        made: &Unpacked<'_>,
        times: &Times<'_>,
    ) -> Worst {
        if worst.vertex.error.is_some() {
            return worst;
        }
        self.compare(made, times, 0.0, f32::INFINITY)
            .unwrap_or(worst)
    }

    /// Returns the worst error if it is at most `limit_m`, with the worst vertex if that is off by
    /// more than `above_m`.
    fn compare(
        &self,
        made: &Unpacked<'_>,
        times: &Times<'_>,
        above_m: f32,
        limit_m: f32,
    ) -> Option<Worst> {
        let mut worst = Worst::default();
        let all = vec![true; self.file.skeleton.len()];
        let which = (Detail::Worst(above_m), [&all[..], &all]);
        for set in 0..Times::SETS {
            let groups = times.groups([set]);
            let (errors, vertex) = self.far(made, &groups, which, limit_m, worst.vertex)?;
            for (joint, most) in errors.iter().enumerate() {
                worst.take(most, joint);
            }
            worst.vertex = vertex;
        }
        Some(worst.or_vertex())
    }

    /// Returns the worst error and the joints that cause errors beyond the bound, in
    /// ascending order.
    ///
    /// For each joint beyond the bound, this is the joint among it and its ancestors that moves its
    /// point most.
    pub(super) fn blame(&self, clip: &Clip) -> (Worst, Vec<u16>) {
        let limit = self.limit_m();
        let times = self.times(clip);
        let made = Unpacked::new(clip, self.file.base);
        let mut errors = vec![Most::default(); self.file.skeleton.len()];
        let all = vec![true; errors.len()];
        let vertex = self.errors(
            &made,
            &times.groups(0..Times::SETS),
            (Detail::Vertices(limit), &all),
            &mut errors,
        );
        let (mut worst, mut blamed) = (Worst::default(), Vec::new());
        for (joint, most) in errors.iter().enumerate() {
            worst.take(most, joint);
            if most.error_m > limit {
                blamed.extend(self.culprit(clip, joint, most.time_s));
            }
        }
        blamed.sort_unstable();
        blamed.dedup();
        worst.vertex = vertex;
        (worst.or_vertex(), blamed)
    }

    /// Returns the joint whose local pose moves the worst point of `joint` most at a time.
    ///
    /// Candidates are `joint` and its ancestors.
    fn culprit(&self, clip: &Clip, joint: usize, time_s: f64) -> Option<u16> {
        let rest = (0..self.file.skeleton.len()).map(|joint| self.file.base.at_rest(joint));
        let mut exact: Vec<Transform> = rest.collect();
        let mut made = exact.clone();
        animate_tracks(self.file.curves.tracks(), time_s, 0, &mut exact);
        // The lengths match, so none of this can fail.
        let _ = clip.sample_portable(time_s, &mut made);
        let mut models = [(); 2].map(|()| vec![Affine3A::IDENTITY; exact.len()]);
        for (local, model) in [&mut exact, &mut made].into_iter().zip(&mut models) {
            if let Base::Reference(reference) = self.file.base {
                for (local, reference) in local.iter_mut().zip(reference) {
                    *local = put_onto(reference, local);
                }
            }
            let _ = self.file.skeleton.model_pose(local, model);
        }
        let points = self.probes.points(joint, true);
        let mut point = farthest(&models[0][joint], &models[1][joint], points);
        let mut most = (0.0_f32, None);
        let mut at = joint as u16;
        while at != NO_PARENT {
            let index = usize::from(at);
            let parent = self.file.skeleton.joints()[index].parent_index();
            let [exact, made] = [&exact, &made].map(|pose| pose[index].to_affine());
            let apart = exact.transform_point3(point) - made.transform_point3(point);
            let in_model = if parent == NO_PARENT {
                apart
            } else {
                models[0][usize::from(parent)].transform_vector3(apart)
            };
            let error = in_model.length();
            if error > most.0 || error.is_nan() {
                most = (error, Some(at));
            }
            point = exact.transform_point3(point);
            at = parent;
        }
        most.1
    }

    /// Recomputes the worst errors at these times of joints that `changed` and of their
    /// descendants.
    ///
    /// If vertices are compared, all joints must have changed. Each vertex's error counts for all
    /// joints that move it, and the worst is returned.
    pub(super) fn errors(
        &self,
        made: &Unpacked<'_>,
        groups: &[&TimeGroup],
        (detail, changed): (Detail, &[bool]),
        errors: &mut [Most],
    ) -> FarVertex {
        let joints = self.file.skeleton.joints();
        let mut counted = changed.to_vec();
        for (joint, own) in joints.iter().enumerate() {
            if let Some(parent) = counted.get(usize::from(own.parent_index())).copied() {
                counted[joint] |= parent;
            }
        }
        let mut wanted = counted.clone();
        for (joint, own) in joints.iter().enumerate().rev() {
            let one = wanted[joint];
            if let Some(parent) = wanted.get_mut(usize::from(own.parent_index())) {
                *parent |= one;
            }
        }
        for (error, _) in errors.iter_mut().zip(&counted).filter(|pair| *pair.1) {
            *error = Most::default();
        }
        let share = (SHARE / EIGHT / joints.len().max(1)).max(1);
        let which = (detail, [&wanted[..], &counted]);
        let take = |groups: &[&TimeGroup]| {
            let none = FarVertex::default();
            self.far(made, groups, which, f32::INFINITY, none)
        };
        let mut vertex = FarVertex::default();
        let merge = |(found, of_vertex): (Vec<Most>, FarVertex)| {
            let worse = errors.iter_mut().zip(found);
            for (error, found) in worse.filter(|(error, found)| found.error_m > error.error_m) {
                *error = found;
            }
            if of_vertex.error_m() > vertex.error_m() {
                vertex = of_vertex;
            }
        };
        if groups.len() < 2 * share {
            take(groups).into_iter().for_each(merge);
        } else {
            let all: Vec<_> = groups.par_chunks(share).filter_map(take).collect();
            all.into_iter().for_each(merge);
        }
        vertex
    }

    /// Returns each joint's worst error, and the worst vertex if it is worse than `vertex`. `None`
    /// if anything is off by more than `limit_m`.
    fn far(
        &self,
        made: &Unpacked<'_>,
        groups: &[&TimeGroup],
        (detail, which): (Detail, [&[bool]; 2]),
        limit_m: f32,
        vertex: FarVertex,
    ) -> Option<(Vec<Most>, FarVertex)> {
        let joints = self.file.skeleton.len();
        let (mut exact, mut models) = (Poses::default(), vec![[Octet::default(); 12]; joints]);
        let mut found = Found {
            joints: vec![Far::default(); joints],
            vertex,
        };
        for (number, group) in groups.iter().enumerate() {
            let comparison = Comparison {
                made,
                exact: group.exact(&self.file, &mut exact),
                probes: self.probes,
                detail,
                number: number as u32,
                times_s: &group.times_s,
                which,
            };
            let most = comparison.run(&mut models, &mut found);
            // NaN was replaced by infinity.
            if most.greatest().sqrt() > limit_m || found.vertex.error_m() > limit_m {
                return None;
            }
        }
        let most = found.joints.iter().map(|far| {
            let (error_m, number, lane) = far.worst();
            let group = groups.get(number as usize);
            Most {
                error_m,
                time_s: group.map_or(0.0, |group| group.times_s[lane]),
            }
        });
        Some((most.collect(), found.vertex))
    }

    /// The largest allowed error at the tested times, in metres.
    pub(super) fn limit_m(&self) -> f32 {
        self.bound_m * MARGIN
    }
}

impl Worst {
    fn take(&mut self, most: &Most, joint: usize) {
        if most.error_m > self.error_m {
            (self.error_m, self.time_s) = (most.error_m, most.time_s);
            self.joint = joint as u16;
        }
    }

    /// The worst vertex counts, too, where it is worse than all other points. It is at a joint that
    /// moves it most.
    fn or_vertex(mut self) -> Self {
        if let Some(vertex) = self.vertex.error
            && vertex.error_m >= self.error_m
        {
            (self.error_m, self.time_s) = (vertex.error_m, vertex.time_s);
            self.joint = self.vertex.joint;
        }
        self
    }
}
