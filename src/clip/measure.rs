//! Measures the error of a clip against the file's curves, in model space.

use super::additive::put_onto;
use super::base::Base;
use super::curve::{CurveClip, Track, TrackValues};
use super::curve_sample::animate_tracks;
use super::exact::{FileCurves, Part, Pick, Times, picks};
use super::key_times;
use super::look::{Far, Look, apart};
use super::octet::{EIGHT, Matrices, Octet};
use super::packed::{Clip, ClipOptions};
use super::unpacked::{Moments, Unpacked};
use crate::mesh::Model;
use crate::skeleton::{NO_PARENT, Skeleton, Transform};
use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// For a character of height [`HUMAN_M`], in metres: the distance of the test points from their
/// joints, and the allowed error. The metric is that of the Animation Compression Library.
const POINT_M: f32 = 0.03;
const ERROR_M: f32 = 1e-4;
const HUMAN_M: f32 = 1.8;
/// Part of the bound that may be used at the tested times, so that it also holds between them.
const MARGIN: f32 = 0.9;
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
}

/// The worst error of one joint.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Most {
    pub(super) error_m: f32,
    time_s: f64,
}

/// The reference that clips are compared with.
pub(super) struct Measure<'a> {
    file: FileCurves<'a>,
    bound_m: f32,
    point_m: f32,
    /// Distance of the test points along each joint's axes.
    reaches: Vec<Vec3>,
    /// The times from the file's keys.
    keys: Part,
    /// The joint poses computed so far, which count the work.
    poses: AtomicU64,
}

/// Working memory for the poses at eight times.
#[derive(Default)]
struct Scratch {
    local: Vec<Transform>,
    exact: Vec<Matrices>,
    made: Vec<Matrices>,
}

impl<'a> Measure<'a> {
    pub(super) fn new(
        model: &'a Model,
        raw: &'a CurveClip,
        options: &ClipOptions,
        base: Base<'a>,
    ) -> Self {
        let size = model.rest_bounds().size().max_element();
        let scale = if size > 0.0 && size.is_finite() {
            size / HUMAN_M
        } else {
            1.0
        };
        let skeleton = model.skeleton();
        let most = (MAX_POSES / skeleton.len().max(1)).clamp(64, MAX_KEY_TIMES);
        let mut rest = Vec::new();
        let joints = skeleton.joints();
        let local: Vec<_> = joints.iter().map(|joint| joint.rest).collect();
        compose(skeleton, &local, &mut rest);
        let reach = |length: f32| {
            let reach = POINT_M * scale / length;
            if reach.is_finite() {
                reach
            } else {
                POINT_M * scale
            }
        };
        let reaches = rest.iter().map(|model| {
            let m = model.matrix3;
            Vec3::from([m.x_axis, m.y_axis, m.z_axis].map(|axis| reach(axis.length())))
        });
        // A unit of the track relative to a human's size. A rotation or scale of 1 moves the end of
        // a bone of that length equally far.
        let worth = |track: &Track| {
            let parent = rest.get(usize::from(joints[usize::from(track.joint)].parent_index()));
            let unit = parent.map_or(1.0, |m| m.matrix3.x_axis.length());
            match track.values {
                TrackValues::Translation(_) => unit / scale,
                _ => 1.0,
            }
        };
        let key_times_s = key_times::key_times_s(raw, most, worth);
        let mut measure = Self {
            file: FileCurves {
                skeleton,
                curves: raw,
                base,
            },
            bound_m: options.error_m.unwrap_or(ERROR_M * scale),
            point_m: POINT_M * scale,
            reaches: reaches.collect(),
            keys: Part::default(),
            poses: AtomicU64::new(0),
        };
        let mut keys = Part::new(key_times_s);
        let mut scratch = Scratch::default();
        for group in 0..keys.groups() {
            keys.fill(&measure.file, group, &mut scratch.local);
        }
        measure.keys = keys;
        measure
    }

    /// The times to test for a clip: times from the file's keys, the clip's frames, and times
    /// between frames.
    pub(super) fn times(&self, clip: &Clip) -> Times {
        Times::new(&clip.timing, &self.keys)
    }

    pub(super) fn keys(&self) -> &Part {
        &self.keys
    }

    pub(super) fn file(&self) -> &FileCurves<'a> {
        &self.file
    }

    pub(super) fn base(&self) -> Base<'a> {
        self.file.base
    }

    /// Returns the worst error if it is within the bound.
    pub(super) fn within(&self, made: &Unpacked<'_>, times: &mut Times) -> Option<Worst> {
        let limit = self.limit_m();
        let mut worst = Worst::default();
        let mut scratch = Scratch::default();
        let all = vec![true; self.file.skeleton.len()];
        let mut found = vec![Far::default(); all.len()];
        for part in 0..Times::PARTS {
            found.fill(Far::default());
            for group in 0..times.part(part, &self.keys).groups() {
                times.fill(part, &self.file, group, &mut scratch.local);
                let pick = Pick {
                    part: times.part(part, &self.keys),
                    group,
                };
                let most = self.look(made, &pick, group, [&all, &all], &mut scratch, &mut found);
                // NaN was replaced by infinity.
                if most.greatest().sqrt() > limit {
                    return None;
                }
            }
            for (joint, far) in found.iter().enumerate() {
                let (error_m, group, lane) = far.worst();
                worst.take(error_m, joint, || {
                    times.part(part, &self.keys).time_s(group as usize, lane)
                });
            }
        }
        Some(worst)
    }

    /// Returns the worst error and the joints that cause errors beyond the bound.
    ///
    /// For each joint beyond the bound, this is the joint among it and its ancestors that moves its
    /// point most.
    pub(super) fn blame(&self, clip: &Clip) -> (Worst, BTreeSet<u16>) {
        let limit = self.limit_m();
        let times = self.times(clip);
        let made = Unpacked::new(clip, self.file.base);
        let mut errors = vec![Most::default(); self.file.skeleton.len()];
        let all = vec![true; errors.len()];
        self.errors(
            &made,
            &picks(&self.keys, &times, 0..Times::PARTS),
            &all,
            &mut errors,
        );
        let (mut worst, mut blamed) = (Worst::default(), BTreeSet::new());
        for (joint, most) in errors.iter().enumerate() {
            worst.take(most.error_m, joint, || most.time_s);
            if most.error_m > limit {
                blamed.extend(self.culprit(clip, joint, most.time_s));
            }
        }
        (worst, blamed)
    }

    /// Returns the joint whose local pose moves the worst point of `joint` most at a time.
    ///
    /// Candidates are `joint` and its ancestors.
    fn culprit(&self, clip: &Clip, joint: usize, time_s: f64) -> Option<u16> {
        let rest = (0..self.file.skeleton.len()).map(|joint| self.file.base.at_rest(joint));
        let mut exact: Vec<Transform> = rest.collect();
        let mut made = exact.clone();
        animate_tracks(self.file.curves.tracks(), time_s, 0, &mut exact);
        // The length matches, so this cannot fail.
        let _ = clip.sample(time_s, &mut made);
        let mut models = [Vec::new(), Vec::new()];
        for (local, model) in [&mut exact, &mut made].into_iter().zip(&mut models) {
            if let Base::Reference(reference) = self.file.base {
                for (local, reference) in local.iter_mut().zip(reference) {
                    *local = put_onto(reference, local);
                }
            }
            compose(self.file.skeleton, local, model);
        }
        let mut point = apart(&models[0][joint], &models[1][joint], self.reaches[joint]).1;
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
    pub(super) fn errors(
        &self,
        made: &Unpacked<'_>,
        picks: &[Pick<'_>],
        changed: &[bool],
        errors: &mut [Most],
    ) {
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
        let take = |picks: &[Pick<'_>]| self.far(made, picks, [&wanted, &counted]);
        let merge = |errors: &mut [Most], found: Vec<Most>| {
            let worse = errors.iter_mut().zip(found);
            for (error, found) in worse.filter(|(error, found)| found.error_m > error.error_m) {
                *error = found;
            }
        };
        if picks.len() < 2 * share {
            merge(errors, take(picks));
            return;
        }
        let all: Vec<Vec<Most>> = picks.par_chunks(share).map(take).collect();
        for found in all {
            merge(errors, found);
        }
    }

    fn far(&self, made: &Unpacked<'_>, picks: &[Pick<'_>], which: [&[bool]; 2]) -> Vec<Most> {
        let mut scratch = Scratch::default();
        let mut found = vec![Far::default(); self.file.skeleton.len()];
        for (number, pick) in picks.iter().enumerate() {
            self.look(made, pick, number, which, &mut scratch, &mut found);
        }
        let most = found.iter().map(|far| {
            let (error_m, number, lane) = far.worst();
            let pick = picks.get(number as usize);
            Most {
                error_m,
                time_s: pick.map_or(0.0, |pick| pick.part.time_s(pick.group, lane)),
            }
        });
        most.collect()
    }

    /// Tests the eight times of group `number` and returns the squares of the worst errors.
    ///
    /// `which` has two masks: the joints whose poses are computed, and those whose errors count.
    fn look(
        &self,
        made: &Unpacked<'_>,
        pick: &Pick<'_>,
        number: usize,
        which: [&[bool]; 2],
        scratch: &mut Scratch,
        found: &mut [Far],
    ) -> Octet {
        self.count(EIGHT);
        let Scratch {
            local,
            exact,
            made: models,
        } = scratch;
        let (exact, finite) = pick.part.models(&self.file, pick.group, local, exact);
        models.resize(self.file.skeleton.len(), [Octet::default(); 12]);
        let at = Moments::new(made.timing(), pick.part.times_s(pick.group));
        let look = Look {
            made,
            at: &at,
            exact,
            reaches: &self.reaches,
            number: number as u32,
            which,
        };
        if finite {
            look.run(models, found)
        } else {
            look.carefully(models, found)
        }
    }

    /// Counts the joint poses of `times` times as work.
    pub(super) fn count(&self, times: usize) {
        let poses = times as u64 * self.file.skeleton.len() as u64;
        self.poses.fetch_add(poses, Ordering::Relaxed);
    }

    /// The joint poses that were computed for the frames of clips and at tested times.
    pub(super) fn poses(&self) -> u64 {
        self.poses.load(Ordering::Relaxed)
    }

    pub(super) fn bound_m(&self) -> f32 {
        self.bound_m
    }

    /// The largest allowed error at the tested times, in metres.
    pub(super) fn limit_m(&self) -> f32 {
        self.bound_m * MARGIN
    }

    /// Distance of a test point from its joint, in model space at rest.
    pub(super) fn point_m(&self) -> f32 {
        self.point_m
    }
}

impl Worst {
    fn take(&mut self, error_m: f32, joint: usize, time_s: impl FnOnce() -> f64) {
        if error_m > self.error_m {
            *self = Self {
                error_m,
                joint: joint as u16,
                time_s: time_s(),
            };
        }
    }
}

fn compose(skeleton: &Skeleton, local: &[Transform], model: &mut Vec<Affine3A>) {
    model.clear();
    for (joint, local) in skeleton.joints().iter().zip(local) {
        let own = local.to_affine();
        model.push(match model.get(usize::from(joint.parent_index())) {
            Some(parent) => *parent * own,
            None => own,
        });
    }
}
