//! Additive clips and poses: differences from a reference pose.

use super::curve::CurveClip;
use super::curve_sample::weight_range;
use super::track::{Keys, Track, TrackValues, WeightTrack};
use crate::error::{Error, Result};
use crate::mesh::Model;
use crate::skeleton::Transform;
use glam::Vec3;

/// The pose that the motion or the differences of a clip are measured from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ReferencePose<'a> {
    /// The character's rest pose.
    Rest,
    /// The pose of the clip itself at time 0.
    Start,
    /// A local pose with one transform per joint.
    Pose(&'a [Transform]),
}

pub(crate) fn put_onto(reference: &Transform, difference: &Transform) -> Transform {
    Transform {
        translation: reference.translation + difference.translation,
        rotation: (reference.rotation * difference.rotation).normalize(),
        scale: reference.scale * difference.scale,
    }
}

/// Returns the clip's difference from a reference as curves, and the reference pose.
///
/// Step, linear and cubic curves keep their kind: taking a difference applies one linear map to all
/// keys and tangents of a track, and for rotations that map preserves the angles between them.
///
/// Morph weights are differences from those at rest, or for [`ReferencePose::Start`] from the
/// clip's own at time 0.
///
/// # Errors
/// - [`Error::NotFound`] for a joint or morph weight that the model does not have.
/// - [`Error::At`] with the first driven joint whose reference is not finite, or whose reference
///   scale is 0 if the clip drives the scale.
/// - [`Error::Argument`] if the differences are not finite in `f32`.
pub(crate) fn difference_curves(
    model: &Model,
    raw: &CurveClip,
    reference: ReferencePose<'_>,
) -> Result<(CurveClip, Vec<Transform>)> {
    let skeleton = &model.skeleton;
    let mut pose = skeleton.rest_pose();
    match reference {
        ReferencePose::Rest => {}
        ReferencePose::Start => raw.sample(0.0, &mut pose)?,
        ReferencePose::Pose(own) => pose.copy_from_slice(own),
    }
    let tracks = raw.tracks().iter().map(|track| {
        let joint = usize::from(track.joint);
        let Some(own) = pose.get(joint) else {
            return Err(Error::not_found("joint", joint, pose.len()));
        };
        let fault = |why| Err(Error::invalid("reference", why).at("joint", joint));
        let (moved, scaled) = (own.translation.as_dvec3(), own.scale.as_dvec3());
        let turned = own.rotation.as_dquat();
        let length = turned.length();
        if !(own.is_finite() && length > 0.0) {
            return fault("is not finite, or has a rotation of length 0");
        }
        let back = (turned / length).conjugate();
        // Rounded from differences in `f64`.
        let values = match &track.values {
            TrackValues::Translation(keys) => {
                TrackValues::Translation(mapped(keys, false, |v| (v.as_dvec3() - moved).as_vec3()))
            }
            TrackValues::Rotation(keys) => {
                TrackValues::Rotation(mapped(keys, true, |q| (back * q.as_dquat()).as_quat()))
            }
            TrackValues::Scale(_) if own.scale.cmpeq(Vec3::ZERO).any() => {
                return fault("has a scale of 0");
            }
            TrackValues::Scale(keys) => {
                TrackValues::Scale(mapped(keys, true, |v| (v.as_dvec3() / scaled).as_vec3()))
            }
        };
        Ok(Track {
            joint: track.joint,
            values,
        })
    });
    let tracks = tracks.collect::<Result<Vec<_>>>()?;
    let curves = CurveClip::of_aligned(raw.name(), tracks, skeleton)?;
    // Weight tracks may last longer than joint tracks.
    let weights = weight_curves(model, raw, reference)?;
    let curves = curves.with_weight_tracks(weights, model.morph_weights.len())?;
    Ok((curves.with_range_of(raw), pose))
}

/// Returns the morph weight tracks as differences from the reference's weights.
fn weight_curves(
    model: &Model,
    raw: &CurveClip,
    reference: ReferencePose<'_>,
) -> Result<Vec<WeightTrack>> {
    let rest = model.morph_weights.iter().map(|weight| weight.rest);
    let mut weights: Vec<f32> = rest.collect();
    // Tracks are sorted and do not overlap, so if the last track's weights exist, all do.
    let last = raw.weight_tracks().last();
    let end = last.map_or(0, |last| weight_range(last).end);
    if end > weights.len() {
        return Err(Error::not_found("morph weight", end - 1, weights.len()));
    }
    if reference == ReferencePose::Start {
        raw.sample_weights(0.0, |weight, value| weights[weight.index()] = value);
    }
    let mut tracks = raw.weight_tracks().to_vec();
    for track in &mut tracks {
        let own = &weights[weight_range(track)];
        let by = track.keys.interpolation;
        let rows = track.keys.values.chunks_exact_mut(own.len());
        for row in rows.skip(by.value_index()).step_by(by.values_per_key()) {
            for (value, reference) in row.iter_mut().zip(own) {
                *value -= reference;
            }
        }
    }
    Ok(tracks)
}

/// Returns the keys with `map` applied to values, and to tangents if asked.
fn mapped<T: Copy>(keys: &Keys<T>, tangents: bool, map: impl Fn(T) -> T) -> Keys<T> {
    let mut keys = keys.clone();
    let (first, step) = match tangents {
        true => (0, 1),
        false => (
            keys.interpolation.value_index(),
            keys.interpolation.values_per_key(),
        ),
    };
    for value in keys.values.iter_mut().skip(first).step_by(step) {
        *value = map(*value);
    }
    keys
}

/// The pose that a clip's tracks replace or add to, and on which errors are measured.
///
/// It has one transform per joint.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base<'a> {
    /// The rest pose: the clip replaces it.
    Rest(&'a [Transform]),
    /// The pose that an additive clip is added to. Without tracks, the difference is the identity.
    Reference(&'a [Transform]),
}

impl Base<'_> {
    pub(super) const fn is_additive(self) -> bool {
        matches!(self, Self::Reference(_))
    }

    /// The transform of a joint that no track drives.
    pub(super) fn at_rest(self, joint: usize) -> Transform {
        match self {
            Self::Rest(rest) => rest[joint],
            Self::Reference(_) => Transform::IDENTITY,
        }
    }
}
