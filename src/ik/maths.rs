//! Directions, arcs and blends that stay exact where the plain formulas do not.

use crate::skeleton::Transform;
use glam::{Affine3A, Mat3, Quat, Vec3};

/// `v` at length 1. `None` if it has no direction or is not finite. Neither overflows nor
/// underflows.
pub(super) fn unit(v: Vec3) -> Option<Vec3> {
    let largest = v.abs().max_element();
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let scaled = v / largest;
    let unit = scaled / scaled.length();
    unit.is_finite().then_some(unit)
}

/// The length of `v`, even if its square is outside the range of `f32`.
pub(super) fn length(v: Vec3) -> f64 {
    v.as_dvec3().length()
}

/// The part of `v` perpendicular to the unit vector `axis`, at length 1. `None` if there is almost
/// none.
pub(super) fn across(v: Vec3, axis: Vec3) -> Option<Vec3> {
    /// The sine of the smallest angle to the axis.
    const LEAST: f32 = 1e-4;
    let v = unit(v)?;
    let across = v - axis * v.dot(axis);
    if across.length_squared() < LEAST * LEAST {
        return None;
    }
    let across = unit(across)?;
    // Repeated to remove the rounding error along the axis.
    unit(across - axis * across.dot(axis))
}

/// `hint` made perpendicular to the unit vector `axis`, or any perpendicular direction.
pub(super) fn square_to(axis: Vec3, hint: Option<Vec3>) -> Vec3 {
    hint.and_then(|hint| across(hint, axis))
        .unwrap_or_else(|| axis.any_orthonormal_vector())
}

/// The shortest turn that takes the unit vector `from` to `to`.
///
/// If they are opposite, it is half a turn about the part of `hint` that is perpendicular to them.
///
/// Beyond a right angle, it is composed of half a turn and a turn of less than a right angle,
/// because the usual formula loses precision near half a turn.
pub(super) fn arc(from: Vec3, to: Vec3, hint: Option<Vec3>) -> Quat {
    if from.dot(to) >= 0.0 {
        return acute(from, to);
    }
    let normal = across(to, from).map(|side| from.cross(side));
    let axis = square_to(from, normal.or(hint));
    acute(-from, to) * Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0)
}

fn acute(from: Vec3, to: Vec3) -> Quat {
    let axis = from.cross(to);
    Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + from.dot(to)).normalize()
}

/// `turn` scaled to `share` of its angle, on the shorter arc.
pub(super) fn part_of(turn: Quat, share: f32) -> Quat {
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let v = turn.xyz();
    let half = v.length().atan2(turn.w) * share;
    let axis = unit(v).unwrap_or(Vec3::ZERO) * half.sin();
    Quat::from_xyzw(axis.x, axis.y, axis.z, half.cos())
}

/// The turn about the unit vector `axis` by `angle_rad`.
pub(super) fn turn_about(axis: Vec3, angle_rad: f32) -> Quat {
    Quat::from_axis_angle(axis, angle_rad)
}

/// The angle about the unit vector `axis` that turns `from` over `to`, as seen along the axis.
pub(super) fn angle_about(axis: Vec3, from: Vec3, to: Vec3) -> Option<f32> {
    let (from, to) = (across(from, axis)?, across(to, axis)?);
    Some(axis.dot(from.cross(to)).atan2(from.dot(to)))
}

/// The angle between two unit vectors.
pub(super) fn angle_between(a: Vec3, b: Vec3) -> f32 {
    a.cross(b).length().atan2(a.dot(b))
}

/// Blends from `animated` towards `solved`, by components on the shorter arc.
///
/// At weight 1, and if both are equal, the result has the bits of `solved`.
pub(super) fn blend(animated: Quat, solved: Quat, weight: f32) -> Quat {
    if weight >= 1.0 || solved == animated {
        return solved;
    }
    let solved = if animated.dot(solved) < 0.0 {
        -solved
    } else {
        solved
    };
    (animated * (1.0 - weight) + solved * weight).normalize()
}

/// The inverse, if it exists numerically.
pub(super) fn inverse(affine: &Affine3A) -> Option<Affine3A> {
    // If the determinant overflows, glam's inverse is 0.
    let determinant = affine.matrix3.determinant();
    let inverse = affine.inverse();
    (determinant.is_normal() && inverse.is_finite()).then_some(inverse)
}

/// -1 for a flipped matrix, else 1: the factor by which rotation angles change sign.
pub(super) fn sense(affine: &Affine3A) -> f32 {
    if affine.matrix3.determinant() < 0.0 {
        -1.0
    } else {
        1.0
    }
}

pub(super) fn direction(affine: &Affine3A, v: Vec3) -> Vec3 {
    affine.transform_vector3(v)
}

/// The rotation in a matrix; for a flipped matrix, that of its negative.
///
/// If the x and y axes are not perpendicular, it follows those two axes.
pub(super) fn rotation_of(affine: &Affine3A) -> Option<Quat> {
    let sign = sense(affine);
    let x = unit(Vec3::from(affine.matrix3.x_axis) * sign)?;
    let y = across(Vec3::from(affine.matrix3.y_axis) * sign, x)?;
    let rotation = Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)));
    rotation.is_finite().then(|| rotation.normalize())
}

/// The local transform with its rotation replaced, as a matrix.
pub(super) fn turned(local: &Transform, rotation: Quat) -> Affine3A {
    Transform { rotation, ..*local }.to_affine()
}
