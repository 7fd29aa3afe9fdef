//! How far a clip is from the file's curves, in model space.

use super::base::Base;
use super::clip::{Clip, ClipOptions};
use super::key_times;
use crate::character::{
    Affine, Character, CurveClip, NO_PARENT, Skeleton, Track, TrackValues, Transform,
};
use crate::pose::additive::put_onto;
use crate::pose::animate::animate_tracks;
use glam::Vec3;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Of a character of [`HUMAN_M`], in metres: where the points lie, seen from their joints, and how far they may be off.
/// The measure is that of the Animation Compression Library.
const POINT_M: f32 = 0.03;
const ERROR_M: f32 = 1e-4;
const HUMAN_M: f32 = 1.8;
/// Of the bound, what may be used at the times that are looked at, so that it holds between them.
const MARGIN: f32 = 0.9;
/// At most so many of the times that the file's own keys ask for are looked at: beyond it, of each stretch the one where the
/// curves bend the most.
const MAX_KEY_TIMES: usize = 1 << 15;
/// And fewer where there are so many joints that their poses are more than these.
const MAX_POSES: usize = 1 << 24;

/// The worst that was found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Worst {
    pub(super) error_m: f32,
    pub(super) joint: u16,
    pub(super) time_s: f64,
}

/// What clips are compared with.
pub(super) struct Measure<'a> {
    skeleton: &'a Skeleton,
    raw: &'a CurveClip,
    base: Base<'a>,
    bound_m: f32,
    point_m: f32,
    /// For each joint, how far along its axes the points lie.
    reaches: Vec<Vec3>,
    key_times_s: Vec<f64>,
}

/// Both local and model poses at a time.
#[derive(Default)]
struct Poses {
    exact: (Vec<Transform>, Vec<Affine>),
    made: (Vec<Transform>, Vec<Affine>),
}

impl<'a> Measure<'a> {
    pub(super) fn new(
        character: &'a Character,
        raw: &'a CurveClip,
        options: &ClipOptions,
        base: Base<'a>,
    ) -> Self {
        let size = character.rest_bounds().size().max_element();
        let scale = if size > 0.0 && size.is_finite() {
            size / HUMAN_M
        } else {
            1.0
        };
        let skeleton = character.skeleton();
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
        // In parts of a human's size, as far as an end of that length follows a turn or a scale of 1.
        let worth = |track: &Track| {
            let parent = rest.get(usize::from(joints[usize::from(track.joint)].parent));
            let unit = parent.map_or(1.0, |m| m.matrix3.x_axis.length());
            match track.values {
                TrackValues::Translation(_) => unit / scale,
                _ => 1.0,
            }
        };
        let key_times_s = key_times::key_times_s(raw, most, worth);
        Self {
            skeleton,
            raw,
            base,
            bound_m: options.error_m.unwrap_or(ERROR_M * scale),
            point_m: POINT_M * scale,
            reaches: reaches.collect(),
            key_times_s,
        }
    }

    /// The worst error, if it is in the bound.
    pub(super) fn within(&self, clip: &Clip) -> Option<Worst> {
        let limit = self.limit_m();
        let mut worst = Worst::default();
        let mut poses = Poses::default();
        for time_s in self.times_s(clip) {
            self.pose(clip, time_s, &mut poses);
            for joint in 0..self.skeleton.len() {
                let (error_m, _) = self.error(&poses, joint);
                worst.take(error_m, joint, time_s);
                if error_m > limit {
                    return None;
                }
            }
        }
        Some(worst)
    }

    /// The worst error, and joints that cause what is beyond the bound: for each joint beyond it, the one among it and its
    /// ancestors that moves its point the most.
    pub(super) fn blame(&self, clip: &Clip) -> (Worst, BTreeSet<u16>) {
        let limit = self.limit_m();
        let mut worst = Worst::default();
        let mut of_joint = vec![(0.0_f32, 0.0, Vec3::ZERO); self.skeleton.len()];
        let mut poses = Poses::default();
        for time_s in self.times_s(clip) {
            self.pose(clip, time_s, &mut poses);
            for (joint, most) in of_joint.iter_mut().enumerate() {
                let (error_m, point) = self.error(&poses, joint);
                worst.take(error_m, joint, time_s);
                if error_m > most.0 {
                    *most = (error_m, time_s, point);
                }
            }
        }
        let mut blamed = BTreeSet::new();
        for (joint, (error_m, time_s, point)) in of_joint.into_iter().enumerate() {
            if error_m > limit {
                self.pose(clip, time_s, &mut poses);
                blamed.extend(self.culprit(&poses, joint as u16, point));
            }
        }
        (worst, blamed)
    }

    /// Which joint's local pose moves `point`, in `joint`'s space, the most; among those that a clip drives.
    fn culprit(&self, poses: &Poses, joint: u16, mut point: Vec3) -> Option<u16> {
        let mut most = (0.0_f32, None);
        let mut at = joint;
        while at != NO_PARENT {
            let index = usize::from(at);
            let parent = self.skeleton.joints()[index].parent;
            let [exact, made] = [&poses.exact.0, &poses.made.0].map(|pose| pose[index].to_affine());
            let apart = exact.transform_point3(point) - made.transform_point3(point);
            let in_model = if parent == NO_PARENT {
                apart
            } else {
                poses.exact.1[usize::from(parent)].transform_vector3(apart)
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

    fn error(&self, poses: &Poses, joint: usize) -> (f32, Vec3) {
        let (exact, made) = (&poses.exact.1[joint], &poses.made.1[joint]);
        apart(exact, made, self.reaches[joint])
    }

    fn pose(&self, clip: &Clip, time_s: f64, poses: &mut Poses) {
        let rest = (0..self.skeleton.len()).map(|joint| self.base.at_rest(joint));
        for (local, _) in [&mut poses.exact, &mut poses.made] {
            local.clear();
            local.extend(rest.clone());
        }
        animate_tracks(self.raw.tracks(), time_s, 0, &mut poses.exact.0);
        // The length fits, so there is no error.
        let _ = clip.sample(time_s, &mut poses.made.0);
        for (local, model) in [&mut poses.exact, &mut poses.made] {
            self.put_onto_base(local);
            compose(self.skeleton, local, model);
        }
    }

    fn put_onto_base(&self, local: &mut [Transform]) {
        if let Base::Reference(reference) = self.base {
            for (local, reference) in local.iter_mut().zip(reference) {
                *local = put_onto(reference, local);
            }
        }
    }

    /// The times to look at: what the file's keys ask for, and between any two of the clip's.
    fn times_s<'b>(&'b self, clip: &'b Clip) -> impl Iterator<Item = f64> + 'b {
        let between = (0..clip.timing.frames - 1).flat_map(move |frame| {
            let [from, to] = [frame, frame + 1].map(|frame| clip.timing.time_s(frame));
            [0.25, 0.5, 0.75].map(|part| from + (to - from) * part)
        });
        between.chain(self.key_times_s.iter().copied())
    }

    /// The same and the clip's own frames, at most `most` of them, evenly picked, and what the file's curves say then.
    pub(super) fn exact(&self, clip: &Clip, most: usize) -> Exact {
        let frames = (0..clip.timing.frames).map(|frame| clip.timing.time_s(frame));
        let mut times_s: Vec<f64> = self.times_s(clip).chain(frames).collect();
        times_s.sort_by(f64::total_cmp);
        times_s.dedup();
        let step = times_s.len().div_ceil(most.max(1)).max(1);
        let times_s: Vec<f64> = times_s.into_iter().step_by(step).collect();
        let models = times_s.par_iter().map(|time_s| {
            let mut poses = Poses::default();
            self.pose(clip, *time_s, &mut poses);
            poses.exact.1
        });
        let models = models.collect();
        Exact { times_s, models }
    }

    /// The worst error of each joint at these times.
    pub(super) fn errors(&self, clip: &Clip, exact: &Exact) -> Vec<f32> {
        let none = || vec![0.0_f32; self.skeleton.len()];
        let pairs = exact.times_s.par_iter().zip(&exact.models);
        let chunks = pairs.fold(none, |mut worst, (time_s, models)| {
            let mut local: Vec<_> = clip.rest.iter().map(|joint| joint.rest).collect();
            // The length fits, so there is no error.
            let _ = clip.sample(*time_s, &mut local);
            self.put_onto_base(&mut local);
            let mut made = Vec::with_capacity(local.len());
            compose(self.skeleton, &local, &mut made);
            for (joint, worst) in worst.iter_mut().enumerate() {
                let (error_m, _) = apart(&models[joint], &made[joint], self.reaches[joint]);
                *worst = worst.max(error_m);
            }
            worst
        });
        chunks.reduce(none, |mut a, b| {
            for (a, b) in a.iter_mut().zip(b) {
                *a = a.max(b);
            }
            a
        })
    }

    pub(super) fn bound_m(&self) -> f32 {
        self.bound_m
    }

    /// How far off a point may be at the times that are looked at.
    pub(super) fn limit_m(&self) -> f32 {
        self.bound_m * MARGIN
    }

    /// How far from its joint a point lies, in model space at rest.
    pub(super) fn point_m(&self) -> f32 {
        self.point_m
    }
}

/// Model poses of the file's curves at some times.
pub(super) struct Exact {
    pub(super) times_s: Vec<f64>,
    pub(super) models: Vec<Vec<Affine>>,
}

/// How far apart the worst of a joint's points is, and which it is. 0 where the file's own pose is not finite.
fn apart(exact: &Affine, made: &Affine, reach: Vec3) -> (f32, Vec3) {
    let mut worst = (0.0, Vec3::ZERO);
    for point in [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * reach) {
        let want = exact.transform_point3(point);
        let error = (want - made.transform_point3(point)).length();
        let error = match (want.is_finite(), error.is_nan()) {
            (false, _) => 0.0,
            (true, true) => f32::INFINITY,
            (true, false) => error,
        };
        if error > worst.0 {
            worst = (error, point);
        }
    }
    worst
}

impl Worst {
    fn take(&mut self, error_m: f32, joint: usize, time_s: f64) {
        if error_m > self.error_m {
            *self = Self {
                error_m,
                joint: joint as u16,
                time_s,
            };
        }
    }
}

fn compose(skeleton: &Skeleton, local: &[Transform], model: &mut Vec<Affine>) {
    model.clear();
    for (joint, local) in skeleton.joints().iter().zip(local) {
        let own = local.to_affine();
        model.push(match model.get(usize::from(joint.parent)) {
            Some(parent) => *parent * own,
            None => own,
        });
    }
}
