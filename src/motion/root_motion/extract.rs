//! Extraction of root motion: the choice of joint, reference and method.

use super::budget::{MAX_KEYS, RootMotionBudget};
use super::chain::{Chain, PosedJoint, moves, rotation};
use super::curve::Curve;
use super::follow::{Taken, Way, twist};
use super::motion::RootMotion;
use super::options::RootMotionOptions;
use super::{exact, resample};
use crate::clip::{CurveClip, ReferencePose, Track, TrackValues};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::mesh::Model;
use crate::skeleton::{Joint, Skeleton};
use glam::{DVec3, DVec4};

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
    let mut chain = Chain::new(model.skeleton(), clip, joint);
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
    let (curve, tracks) = match exact::split(&mut way)? {
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
    let size_m = f64::from(model.rest_bounds().size().max_element());
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
    let skeleton: &Skeleton = model.skeleton();
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
        .with_weight_tracks(weights, model.morph_weights().len())?;
    Ok(clip_without.with_range_of(clip))
}
