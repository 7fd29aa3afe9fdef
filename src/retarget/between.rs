//! Keys between a clip's own: where its error is too large, and where it moves in steps.

use super::apply::Retarget;
use super::frame::{ModelJoint, model_pose};
use super::plan::{Link, Plan};
use crate::clip::{CurveClip, Track};
use crate::error::{Error, Result};
use crate::skeleton::{NO_PARENT, Skeleton, Transform};
use glam::Vec3;

/// The most times that the interval between two keys is halved.
const DEEPEST: u32 = 8;
/// The positions between two keys at which the error is measured.
const BETWEEN: [f64; 3] = [0.25, 0.5, 0.75];

/// The poses of a clip, and the data to evaluate it between keys.
pub(super) struct Work<'a> {
    pub(super) retarget: &'a mut Retarget,
    clip: &'a CurveClip,
    local: Vec<Transform>,
    rest: Vec<Transform>,
    /// The target's pose at two times.
    poses: [Vec<Transform>; 2],
    /// The number of key times that may still be added.
    spare: usize,
    /// The largest remaining error so far.
    pub(super) worst: f64,
    placed: [Vec<ModelJoint>; 2],
}

impl<'a> Work<'a> {
    pub(super) fn new(retarget: &'a mut Retarget, clip: &'a CurveClip, spare: usize) -> Self {
        let rest = retarget.source.rest_pose();
        let target_rest = retarget.target.rest_pose();
        Self {
            retarget,
            clip,
            poses: [target_rest.clone(), target_rest],
            local: rest.clone(),
            rest,
            spare,
            worst: 0.0,
            placed: [Vec::new(), Vec::new()],
        }
    }

    /// The exact transforms at a time of the clip, one for each link.
    pub(super) fn exact(&mut self, time_s: f64) -> Result<Vec<Transform>> {
        self.pose(time_s)?;
        let links = self.retarget.plan.links.iter();
        let pose = &self.poses[0];
        Ok(links.map(|link| pose[usize::from(link.target)]).collect())
    }

    /// Sets the first of the two poses to the exact one at a time of the clip.
    fn pose(&mut self, time_s: f64) -> Result<()> {
        self.local.copy_from_slice(&self.rest);
        self.clip.sample(time_s, &mut self.local)?;
        self.retarget.pose(&self.local, &mut self.poses[0])
    }

    /// Adds keys after key `last` until the interpolation to the next key is accurate enough.
    pub(super) fn fill(
        &mut self,
        keyed: &mut Vec<(f32, Vec<Transform>)>,
        last: usize,
        next: (f32, &[Transform]),
    ) -> Result<()> {
        let mut from = keyed[last].clone();
        // The keys ahead, nearest last, each with the number of times its interval was halved.
        let mut ahead = vec![(next.0, next.1.to_vec(), 0)];
        while let Some((time_s, pose, depth)) = ahead.pop() {
            let middle = ((f64::from(from.0) + f64::from(time_s)) * 0.5) as f32;
            let error = if from.0.next_up() < time_s {
                self.error((from.0, &from.1), (time_s, &pose))?
            } else {
                0.0
            };
            let can_halve = depth < DEEPEST && from.0 < middle && middle < time_s;
            if error > self.retarget.plan.allowed() && can_halve && self.spare > 0 {
                self.spare -= 1;
                let between = self.exact(middle.into())?;
                ahead.push((time_s, pose, depth + 1));
                ahead.push((middle, between, depth + 1));
                continue;
            }
            self.worst = self.worst.max(error);
            if !ahead.is_empty() {
                keyed.push((time_s, pose.clone()));
            }
            from = (time_s, pose);
        }
        Ok(())
    }

    /// The largest error of linear interpolation between two keys.
    fn error(&mut self, from: (f32, &[Transform]), to: (f32, &[Transform])) -> Result<f64> {
        let mut worst = 0.0_f64;
        let reach = self.retarget.plan.size_m * 0.1;
        for part in BETWEEN {
            let time_s = f64::from(from.0) * (1.0 - part) + f64::from(to.0) * part;
            self.pose(time_s)?;
            let [exact, way] = &mut self.poses;
            let links = self.retarget.plan.links.iter();
            for (link, (from, to)) in links.zip(from.1.iter().zip(to.1)) {
                way[usize::from(link.target)] = between(from, to, part as f32);
            }
            let [a, b] = &mut self.placed;
            model_pose(&self.retarget.target, exact, a);
            model_pose(&self.retarget.target, way, b);
            let lengths = &self.retarget.plan.axis_lengths;
            for ((a, b), length) in a.iter().zip(b.iter()).zip(lengths) {
                let off = a.position().distance(b.position()) + beside(a, b, *length) * reach;
                worst = if off.is_finite() {
                    worst.max(off)
                } else {
                    f64::INFINITY
                };
            }
        }
        Ok(worst)
    }
}

/// The distance that a point beside a joint moves between two poses, relative to its offset.
///
/// The point lies on one of the joint's axes, which has length `length` at rest.
fn beside(a: &ModelJoint, b: &ModelJoint, length: f64) -> f64 {
    let (a, b) = (a.affine.matrix3, b.affine.matrix3);
    let axes = [
        (a.x_axis, b.x_axis),
        (a.y_axis, b.y_axis),
        (a.z_axis, b.z_axis),
    ];
    let part = axes.map(|(a, b)| match a.length().max(b.length()).max(length) {
        0.0 => 0.0,
        length => (a - b).length() / length,
    });
    part.into_iter().fold(0.0, f64::max)
}

fn between(from: &Transform, to: &Transform, part: f32) -> Transform {
    let rotation = from.rotation.slerp(to.rotation, part);
    let straight = |from: Vec3, to: Vec3| from.lerp(to, part);
    Transform {
        translation: straight(from.translation, to.translation),
        rotation,
        scale: straight(from.scale, to.scale),
    }
}

/// The source joints that move in steps, or not at all.
pub(super) struct Steps {
    /// For each joint, true if it or a joint above it moves smoothly.
    smooth: Vec<bool>,
    /// True if no joint moves smoothly.
    pub(super) all: bool,
}

impl Steps {
    pub(super) fn of(clip: &CurveClip, source: &Skeleton) -> Result<Self> {
        let mut smooth = vec![false; source.len()];
        for track in clip.tracks() {
            let Some(smooth) = smooth.get_mut(usize::from(track.joint)) else {
                return Err(Error::not_found("joint", track.joint.into(), source.len()));
            };
            *smooth |= is_smooth(track);
        }
        let all = !smooth.contains(&true);
        for (index, joint) in source.joints().iter().enumerate() {
            if joint.parent_index() != NO_PARENT {
                smooth[index] |= smooth[usize::from(joint.parent_index())];
            }
        }
        Ok(Self { smooth, all })
    }

    /// For each link, true if its source and those of the links above it move in steps.
    pub(super) fn links(&self, plan: &Plan, target: &Skeleton) -> Vec<bool> {
        let steps = |link: &Link| {
            let toward = link.toward.as_ref().is_none_or(|t| !self.smooth[t.source]);
            toward && !self.smooth[link.source]
        };
        let mut links = plan.links.iter().peekable();
        let (mut of_joint, mut of_link) = (Vec::new(), Vec::new());
        for (index, joint) in target.joints().iter().enumerate() {
            let mut own =
                joint.parent_index() == NO_PARENT || of_joint[usize::from(joint.parent_index())];
            if let Some(link) = links.next_if(|link| usize::from(link.target) == index) {
                own &= steps(link);
                of_link.push(own);
            }
            of_joint.push(own);
        }
        of_link
    }

    /// The tracks of joints that are not followed and have no followed joint below them.
    pub(super) fn unused(&self, clip: &CurveClip, plan: &Plan, source: &Skeleton) -> usize {
        let mut used = vec![false; self.smooth.len()];
        for link in &plan.links {
            used[link.source] = true;
            if let Some(toward) = &link.toward {
                used[toward.source] = true;
            }
        }
        for (index, joint) in source.joints().iter().enumerate().rev() {
            if used[index] && joint.parent_index() != NO_PARENT {
                used[usize::from(joint.parent_index())] = true;
            }
        }
        let tracks = clip.tracks().iter();
        tracks
            .filter(|track| !used[usize::from(track.joint)])
            .count()
    }
}

fn is_smooth(track: &Track) -> bool {
    track.values.times_s().len() > 1 && !track.values.is_step()
}

/// All key times, plus a time just before each step while other tracks move smoothly.
///
/// The step is then a jump between two adjacent times.
pub(super) fn key_times(clip: &CurveClip, steps: &Steps) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    for track in clip.tracks() {
        let own = track.values.times_s();
        times.extend(own);
        if !steps.all && track.values.is_step() {
            times.extend(own.iter().skip(1).map(|time_s| time_s.next_down()));
        }
    }
    times.retain(|time_s| *time_s >= 0.0);
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}
