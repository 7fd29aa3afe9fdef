//! The morph stage: applies a primitive's active morph targets before skinning.

use super::posed_vertices::PosedVertices;
use crate::error::{Error, Result};
use crate::mesh::{MorphTarget, Primitive};
use glam::Vec3;

/// The targets of `primitive` with a weight other than 0, each with its weight, in order.
///
/// `weights` belong to the whole character.
///
/// # Errors
/// [`Error::Argument`] if `weights` is too short for the primitive's targets, or one of its weights
/// is not finite.
pub(crate) fn active_targets<'a>(
    primitive: &'a Primitive,
    weights: &'a [f32],
) -> Result<impl Iterator<Item = (&'a MorphTarget, f32)>> {
    let targets = &primitive.targets;
    let first = match targets.len() {
        0 => 0,
        _ => primitive.first_weight.index(),
    };
    let own = weights.get(first..);
    let Some(own) = own.and_then(|own| own.get(..targets.len())) else {
        let need = first.saturating_add(targets.len());
        return Err(Error::length("morph weights", weights.len(), need));
    };
    expect_finite(own)?;
    let pairs = targets.iter().zip(own.iter().copied());
    Ok(pairs.filter(|(_, weight)| *weight != 0.0))
}

/// Applies the active morph targets of a primitive.
///
/// A target is active if its weight is not 0. Inactive targets cost nothing. `weights` belong to
/// the whole character, one for each of
/// [`Character::morph_weights`](crate::character::Character::morph_weights). `out` is overwritten.
/// Its streams are in mesh space then.
///
/// Each stream is `base + Σ wᵢ Δᵢ` (glTF 2.0, section 3.7.2.2), summed in the order of the targets.
/// Normals and tangent directions that the targets changed are then normalised. If such a sum is
/// zero and has no direction, the base's is kept. The sign of a tangent never changes. A vertex
/// that no active target moves therefore keeps the bits of the base.
///
/// # Errors
/// [`Error::Argument`] if `weights` is too short for the primitive's targets, or one of its weights
/// is not finite. `out` is unchanged then.
pub(super) fn morph(primitive: &Primitive, weights: &[f32], out: &mut PosedVertices) -> Result<()> {
    let active = active_targets(primitive, weights)?;
    out.positions.clone_from(&primitive.positions);
    out.normals.clone_from(&primitive.normals);
    out.tangents.clone_from(&primitive.tangents);
    let (mut any_normals, mut any_tangents) = (false, false);
    for (target, weight) in active {
        add(
            target,
            &target.positions,
            &mut out.positions,
            |position, delta| {
                *position += weight * delta;
            },
        );
        add(
            target,
            &target.normals,
            &mut out.normals,
            |normal, delta| {
                *normal += weight * delta;
            },
        );
        add(
            target,
            &target.tangents,
            &mut out.tangents,
            |tangent, delta| {
                *tangent += (weight * delta).extend(0.0);
            },
        );
        any_normals |= !target.normals.is_empty();
        any_tangents |= !target.tangents.is_empty();
    }
    if any_normals {
        for (normal, base) in out.normals.iter_mut().zip(&primitive.normals) {
            if normal != base {
                *normal = direction(*normal, *base);
            }
        }
    }
    if any_tangents {
        for (tangent, base) in out.tangents.iter_mut().zip(&primitive.tangents) {
            if tangent != base {
                *tangent = direction(tangent.truncate(), base.truncate()).extend(base.w);
            }
        }
    }
    Ok(())
}

fn add<T>(target: &MorphTarget, deltas: &[Vec3], stream: &mut [T], add: impl Fn(&mut T, Vec3)) {
    for (vertex, delta) in target.vertices.iter().zip(deltas) {
        if let Some(value) = stream.get_mut(*vertex as usize) {
            add(value, *delta);
        }
    }
}

/// `sum` at length 1, or `base` if it has no direction.
pub(super) fn direction(sum: Vec3, base: Vec3) -> Vec3 {
    // Scaled to a largest component of 1, because squares could overflow or underflow.
    let largest = sum.abs().max_element();
    if largest > 0.0 && largest.is_finite() {
        (sum / largest).normalize_or(base)
    } else {
        base
    }
}

/// Rejects weights that are not finite.
pub(super) fn expect_finite(weights: &[f32]) -> Result<()> {
    match weights.iter().find(|weight| !weight.is_finite()) {
        None => Ok(()),
        Some(weight) => Err(Error::not_finite("morph weights", *weight)),
    }
}
