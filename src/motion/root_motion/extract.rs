//! Extraction of root motion: the choice of joint, reference and method, and exact keys.

use super::chain::{Chain, PosedJoint, inverse, moves, rotation};
use super::follow::{MAX_KEYS, RootMotionBudget, RootMotionOptions, Taken, Way, twist};
use super::motion::{Curve, RootMotion};
use super::resample;
use crate::clip::{CurveClip, Interpolation, Keys, ReferencePose, Track, TrackValues};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::mesh::Model;
use crate::motion::root_motion::follow::Split;
use crate::skeleton::{Joint, Skeleton};
use glam::{DVec3, DVec4, Vec3};

/// Splits a clip of the model into one that stays in place and its root motion.
///
/// It subtracts what it used from the budget, never more than [`RootMotionBudget::CLIP`]. The
/// errors and the accuracy are those of [`RootMotionDesc`](crate::character::RootMotionDesc).
pub(crate) fn extract(
    model: &Model,
    clip: &CurveClip,
    options: &RootMotionOptions<'_>,
    budget: &mut RootMotionBudget,
) -> Result<(CurveClip, RootMotion)> {
    let Some(joint) = options.joint.or_else(|| topmost(clip)) else {
        return Ok(still(clip, None));
    };
    let mut chain = Chain::new(&model.skeleton, clip, joint);
    let start = chain.at(0.0);
    let taken = taken(model, options, &chain, start);
    let cap = MAX_KEYS as u64 / 8;
    if chain.key_count() as u64 > cap {
        return Err(Error::Capacity {
            what: "keys of the root joint and its ancestors",
            asked: chain.key_count() as u64,
            cap,
        });
    }
    let mut way = Way::follow(chain, &taken, budget.products)?;
    if !way.moves() {
        return Ok(still(clip, Some(joint)));
    }
    let (curve, tracks) = match split(&mut way)? {
        Some(split) => split,
        None => resample::split(&mut way)?,
    };
    budget.products = budget.products.saturating_sub(way.products());
    let (asked, cap) = (curve.values.len(), budget.keys);
    budget.keys = cap.checked_sub(asked).ok_or(Error::Capacity {
        what: "keys of all root motions",
        asked: asked as u64,
        cap: cap as u64,
    })?;
    if curve.values.iter().all(|value| *value == DVec4::ZERO) {
        return Ok(still(clip, Some(joint)));
    }
    let stays = replaced(model, clip, joint, tracks)?;
    Ok((stays, RootMotion::new(clip, Some(joint), curve)))
}

fn still(clip: &CurveClip, joint: Option<Id<Joint>>) -> (CurveClip, RootMotion) {
    (clip.clone(), RootMotion::new(clip, joint, Curve::STILL))
}

/// The first joint that is moved or rotated. Tracks are sorted by joint, and joints breadth-first.
fn topmost(clip: &CurveClip) -> Option<Id<Joint>> {
    let drives =
        |track: &&Track| !matches!(track.values, TrackValues::Scale(_)) && moves(&track.values);
    clip.tracks().iter().find(drives).map(|track| track.joint)
}

fn taken(
    model: &Model,
    options: &RootMotionOptions<'_>,
    chain: &Chain,
    start: PosedJoint,
) -> Taken {
    const HUMAN_M: f64 = 1.8;
    let size_m = f64::from(model.rest_bounds.size().max_element());
    let reach_m = if size_m > 0.0 && size_m.is_finite() {
        size_m
    } else {
        HUMAN_M
    };
    let error_m = match options.error_m {
        Some(given) => given.into(),
        None => 1e-4 * reach_m / HUMAN_M,
    };
    let chosen = |axis: bool| f64::from(u8::from(axis));
    let axes = options.axes;
    let reference = match options.reference {
        ReferencePose::Start => start,
        ReferencePose::Rest => chain.at_rest(),
        ReferencePose::Pose(pose) => chain.in_pose(pose),
    };
    Taken {
        axes: DVec3::new(chosen(axes.x), chosen(axes.y), chosen(axes.z)),
        yaw: options.yaw && (chain.turns() || is_turned(&start, &reference)),
        reference,
        error_m,
        reach_m,
    }
}

/// Returns true if the joint's heading differs from the reference by more than rounding.
fn is_turned(start: &PosedJoint, reference: &PosedJoint) -> bool {
    let turn = rotation(&(start.axes() * reference.axes().inverse()));
    turn.and_then(twist)
        .is_some_and(|yaw_rad| yaw_rad.abs() > 1e-6)
}

/// The clip with these tracks of the joint, which replace those of the same properties.
///
/// It keeps its start and duration, although the new tracks may have fewer keys than the old ones.
fn replaced(
    model: &Model,
    clip: &CurveClip,
    joint: Id<Joint>,
    tracks: Vec<TrackValues>,
) -> Result<CurveClip> {
    let skeleton: &Skeleton = &model.skeleton;
    let same = |track: &&Track| {
        let property = core::mem::discriminant(&track.values);
        track.joint == joint
            && tracks
                .iter()
                .any(|new| core::mem::discriminant(new) == property)
    };
    let kept = clip.tracks().iter().filter(|track| !same(track)).cloned();
    let mut all: Vec<_> = kept.collect();
    all.extend(tracks.into_iter().map(|values| Track { joint, values }));
    let weights = clip.weight_tracks().to_vec();
    let clip_without = CurveClip::of_aligned(clip.name(), all, skeleton)?
        .with_weight_tracks(weights, model.morph_weights.len())?;
    Ok(clip_without.with_range_of(clip))
}

/// Rewrites the joint's translation keys. `None` if that would not be exact.
pub(super) fn split(way: &mut Way<'_>) -> Result<Option<Split>> {
    if way.taken.yaw || way.chain.parents_move() {
        return Ok(None);
    }
    let (posed, _) = way.at(0.0)?;
    let Some(keys) = way.chain.translation() else {
        return Ok(None);
    };
    let parent = posed.parent;
    let inverse = inverse(&parent).ok_or(Error::invalid(
        "root motion",
        "cannot be extracted below a joint whose scale is zero",
    ))?;
    let (axes, from) = (way.taken.axes, way.taken.reference.position());
    let spline = keys.interpolation == Interpolation::CubicSpline;
    let split = |(at, value): (usize, &Vec3)| {
        let value = value.as_dvec3();
        let is_tangent = spline && at % 3 != 1;
        let moved = if is_tangent {
            axes * parent.transform_vector3(value)
        } else {
            axes * (parent.transform_point3(value) - from)
        };
        let stays = value - inverse.transform_vector3(moved);
        (moved, stays.as_vec3())
    };
    let (moved, stays): (Vec<DVec3>, Vec<Vec3>) = keys.values.iter().enumerate().map(split).unzip();
    let held = moved.iter().all(|v| v.as_vec3().is_finite()) && stays.iter().all(|v| v.is_finite());
    if !held {
        return Err(Error::invalid(
            "root motion",
            "is not finite in single precision",
        ));
    }
    let curve = Curve {
        times_s: keys.times_s.clone(),
        values: moved.iter().map(|v| v.extend(0.0)).collect::<Vec<DVec4>>(),
        interpolation: keys.interpolation,
    };
    let stays = TrackValues::Translation(Keys {
        times_s: keys.times_s.clone(),
        values: stays,
        interpolation: keys.interpolation,
    });
    Ok(Some((curve, vec![stays])))
}
