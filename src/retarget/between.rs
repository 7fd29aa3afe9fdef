//! Measures a clip's error between keys, and adds keys if it is too large.

use super::apply::Retarget;
use super::frame::{ModelJoint, model_pose};
use crate::clip::CurveClip;
use crate::error::Result;
use crate::skeleton::Transform;
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
