//! New keys for the joint and the motion, as many as the error bound requires.

use super::chain::PosedJoint;
use super::follow::{MAX_KEYS, Split, Way, too_many};
use super::motion::Curve;
use super::root_transform::turned;
use crate::clip::{Interpolation, Keys, TrackValues, is_opposite};
use crate::error::Result;
use crate::skeleton::Transform;
use glam::{DQuat, DVec4, Vec4Swizzles};

/// The maximum number of bisections of the interval between two of the file's keys.
const HALVINGS: u32 = 10;
/// The fraction of the error bound that is used where the error is measured.
///
/// Between the measured times, the error may be larger.
const MARGIN: f64 = 0.5;

/// A key of the joint and of the motion.
#[derive(Clone, Copy)]
struct Key {
    time_s: f32,
    motion: DVec4,
    stays: Transform,
}

pub(super) fn split(way: &mut Way<'_>) -> Result<Split> {
    let times = way.times_s.clone();
    let mut keys: Vec<Key> = Vec::with_capacity(times.len());
    let mut farthest_m = way.taken.reach_m;
    for time_s in times {
        let key = key(way, time_s, keys.last())?;
        farthest_m = farthest_m.max(key.motion.xyz().abs().max_element());
        keys.push(key);
    }
    farthest_m = farthest_m.max(way.taken.reference.position().abs().max_element());
    if !way.steps {
        let bound_m = MARGIN * way.taken.error_m.max(2e-6 * farthest_m);
        keys = refine(way, &keys, bound_m)?;
    }
    Ok(tracks(way, &keys))
}

fn key(way: &mut Way<'_>, time_s: f32, before: Option<&Key>) -> Result<Key> {
    let (posed, motion) = way.at(time_s.into())?;
    let mut stays = way.stays(&posed, motion)?;
    if let Some(before) = before
        && is_opposite(before.stays.rotation, stays.rotation)
    {
        stays.rotation = -stays.rotation;
    }
    Ok(Key {
        time_s,
        motion,
        stays,
    })
}

/// Bisects the intervals between keys until the error in each is within the bound.
fn refine(way: &mut Way<'_>, keys: &[Key], bound_m: f64) -> Result<Vec<Key>> {
    let mut fine: Vec<Key> = keys.first().copied().into_iter().collect();
    let mut open = Vec::new();
    for next in keys.iter().skip(1) {
        open.push((*next, HALVINGS));
        while let Some((end, halvings)) = open.pop() {
            let Some(from) = fine.last().copied() else {
                break;
            };
            let error = error_between(way, &from, &end)?;
            let middle_s = (0.5 * (f64::from(from.time_s) + f64::from(end.time_s))) as f32;
            let is_between = from.time_s < middle_s && middle_s < end.time_s;
            if error > bound_m && halvings > 0 && is_between {
                open.push((end, halvings - 1));
                open.push((key(way, middle_s, Some(&from))?, halvings - 1));
                continue;
            }
            // There is no time between neighbouring times: an error there is a step.
            fine.push(end);
            if fine.len() > MAX_KEYS {
                return Err(too_many());
            }
        }
    }
    for at in 1..fine.len() {
        if is_opposite(fine[at - 1].stays.rotation, fine[at].stays.rotation) {
            fine[at].stays.rotation = -fine[at].stays.rotation;
        }
    }
    Ok(fine)
}

/// The largest error at three times between two keys.
fn error_between(way: &mut Way<'_>, from: &Key, to: &Key) -> Result<f64> {
    let (start_s, end_s) = (f64::from(from.time_s), f64::from(to.time_s));
    let mut worst: f64 = 0.0;
    for u in [0.25, 0.5, 0.75] {
        let (posed, _) = way.at(start_s + (end_s - start_s) * u)?;
        let motion = from.motion + (to.motion - from.motion) * u;
        let between = (from.stays, to.stays);
        worst = worst.max(error(way, &posed, motion, between, u));
    }
    Ok(worst)
}

/// The distance of a point at the reach from the joint to its original position.
fn error(
    way: &Way<'_>,
    posed: &PosedJoint,
    motion: DVec4,
    (from, to): (Transform, Transform),
    u: f64,
) -> f64 {
    let local = from
        .translation
        .as_dvec3()
        .lerp(to.translation.as_dvec3(), u);
    let position = turned(posed.parent.transform_point3(local), motion.w) + motion.xyz();
    let off = position.distance(posed.position());
    if !way.taken.yaw {
        return off;
    }
    let rotation = from.rotation.as_dquat().slerp(to.rotation.as_dquat(), u);
    let turned_joint = PosedJoint {
        parent: posed.parent,
        local: Transform {
            rotation: rotation.normalize().as_quat(),
            ..posed.local
        },
    };
    let turn = glam::DMat3::from_quat(DQuat::from_rotation_y(motion.w));
    let (was, is) = (posed.axes(), turn * turned_joint.axes());
    // For each axis, the difference divided by its length is the sine of the angle, if small.
    let scale = was.x_axis.length();
    let axes = [
        was.x_axis - is.x_axis,
        was.y_axis - is.y_axis,
        was.z_axis - is.z_axis,
    ];
    let angle = axes.iter().map(|axis| axis.length()).fold(0.0, f64::max) / scale;
    off + angle * way.taken.reach_m
}

fn tracks(way: &Way<'_>, keys: &[Key]) -> Split {
    let interpolation = if way.steps {
        Interpolation::Step
    } else {
        Interpolation::Linear
    };
    let times_s: Vec<f32> = keys.iter().map(|key| key.time_s).collect();
    let mut tracks = vec![TrackValues::Translation(Keys {
        times_s: times_s.clone(),
        values: keys.iter().map(|key| key.stays.translation).collect(),
        interpolation,
    })];
    if way.taken.yaw {
        tracks.push(TrackValues::Rotation(Keys {
            times_s: times_s.clone(),
            values: keys.iter().map(|key| key.stays.rotation).collect(),
            interpolation,
        }));
    }
    let curve = Curve {
        times_s,
        values: keys.iter().map(|key| key.motion).collect(),
        interpolation,
    };
    (curve, tracks)
}
