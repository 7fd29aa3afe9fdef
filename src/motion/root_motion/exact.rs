//! Exact extraction of translation, if the joint's ancestors do not move.
//!
//! Everything is then affine in the joint's keys.

use super::chain::inverse;
use super::curve::Curve;
use super::follow::Way;
use crate::clip::{Interpolation, Keys, TrackValues};
use crate::error::{Error, Result};
use glam::{DVec3, DVec4, Vec3};

/// The motion, and the joint's new tracks.
pub(super) type Split = (Curve, Vec<TrackValues>);

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
