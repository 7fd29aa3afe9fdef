//! The skin stage in plain code: morphs and deforms vertices one at a time.

use crate::character::Character;
use crate::error::{Error, Result, expect_all_finite, expect_len};
use crate::mesh::{MorphTarget, Primitive};
use crate::palette::{Mat3x4, PaletteEntry, PaletteRef, with_entries};
use glam::{Vec3, Vec4};

impl Character {
    /// Deforms the vertices of a primitive by a palette.
    ///
    /// - `palette` is the character's whole palette, in the format of the desired skinning method.
    /// - `weights` belong to the character's morph targets, one for each of
    ///   [`Self::morph_weights`]. They apply before the palette does: each stream
    ///   is `base + Σ wᵢ Δᵢ` (glTF 2.0, section 3.7.2.2). Normals and tangent directions that they
    ///   change are then normalised.
    /// - `out` is overwritten.
    ///
    /// The first influence of a vertex is the strongest. If a vertex has only one influence, that
    /// entry moves it and nothing is blended. Otherwise:
    ///
    /// - [`SkinningMethod::Linear`](crate::palette::SkinningMethod::Linear): the matrix `M = M₀ + Σ
    ///   wᵢ (Mᵢ − M₀)`, which is `Σ wᵢ Mᵢ` without the rounding error of the weights. Positions are
    ///   transformed by `M`, summed row by row. Normals are transformed by the cofactors of `M`
    ///   times the sign of its determinant. This is the inverse transpose up to a positive factor.
    ///   It is finite if the matrix is singular, and correct for flips and non-uniform scale.
    ///   Tangents are transformed by `M` itself, and their `w` changes sign with the determinant.
    /// - [`SkinningMethod::QuatOffset`](crate::palette::SkinningMethod::QuatOffset): each entry is
    ///   expanded to a matrix by [`QuatOffset::expand`](crate::palette::QuatOffset::expand), then
    ///   blended as above.
    /// - [`SkinningMethod::DualQuat`](crate::palette::SkinningMethod::DualQuat): `q = q₀ + Σ wᵢ
    ///   (±qᵢ − q₀)`, where the sign is negative if the real parts of `qᵢ` and `q₀` have a negative
    ///   dot product. Both parts are then divided by the length of the real part (Kavan et al.,
    ///   "Geometric Skinning with Approximate Dual Quaternion Blending", 2008, algorithm 1). The
    ///   stretch `s = s₀ + Σ wᵢ (sᵢ − s₀)` is applied first. With the vectors `r`, `d` of the real
    ///   and dual part: `rotate(p) = p + 2 r × (r × p + r_w p)` and `p' = rotate(s p) + 2 (r_w d −
    ///   d_w r + r × d)`. Normals are `rotate((s_y s_z, s_z s_x, s_x s_y) n)`. Tangents are
    ///   `rotate(s t)`, and their `w` stays.
    ///
    /// Normals and tangent directions are then normalised. If an image has no direction, as under a
    /// zero scale, the undeformed direction is used. A palette of identities therefore returns the
    /// rest pose bit for bit, except that −0 may become 0.
    ///
    /// # Errors
    /// - [`Error::Argument`] if `palette` does not have one element per entry of the character's
    ///   palette, or `weights` one finite number per morph weight.
    /// - [`Error::NotFound`] if `primitive` is not one of the character's and addresses entries
    ///   that do not exist.
    ///
    /// The contents of `out` are unspecified then.
    pub fn skin_primitive<P: PaletteEntry>(
        &self,
        primitive: &Primitive,
        palette: &[P],
        weights: &[f32],
        out: &mut PosedVertices,
    ) -> Result<()> {
        self.skin_primitive_any(primitive, palette.into(), weights, out)
    }

    /// As [`Self::skin_primitive`], compiled once and with the settings of this crate.
    fn skin_primitive_any(
        &self,
        primitive: &Primitive,
        palette: PaletteRef<'_>,
        weights: &[f32],
        out: &mut PosedVertices,
    ) -> Result<()> {
        expect_len("palette", palette.len(), self.palette().len())?;
        expect_len("morph weights", weights.len(), self.morph_weights().len())?;
        morph(primitive, weights, out)?;
        with_entries!(palette, list => deform(primitive, list, out))
    }
}

/// A palette entry that can be blended.
pub(crate) trait Blend: Sized {
    type Blended: Deform;

    /// Blends the entries of a vertex's influences, of which `first` is the strongest.
    fn blend<'a>(first: &'a Self, others: impl Iterator<Item = (&'a Self, f32)>) -> Self::Blended;
}

/// The transform of a vertex.
pub(crate) trait Deform {
    fn point(&self, point: Vec3) -> Vec3;
    /// Transforms the normal and the tangent, if present.
    fn directions(&self, normal: Option<&mut Vec3>, tangent: Option<&mut Vec4>);
}

/// Morphs and skins a primitive with a whole palette of matrices.
pub(crate) fn skin_linear(
    primitive: &Primitive,
    palette: &[Mat3x4],
    weights: &[f32],
    out: &mut PosedVertices,
) -> Result<()> {
    morph(primitive, weights, out)?;
    deform(primitive, palette, out)
}

fn deform<E: Blend>(
    primitive: &Primitive,
    palette: &[E],
    streams: &mut PosedVertices,
) -> Result<()> {
    let range = primitive.palette.start as usize..primitive.palette.end as usize;
    let missing = |at: usize, count: usize| Error::not_found("palette entry", at, count);
    let entries = palette.get(range.clone());
    let entries = entries.ok_or_else(|| missing(range.end, palette.len()))?;
    for (vertex, position) in streams.positions.iter_mut().enumerate() {
        let mut joints = primitive.influences(vertex).map(|(joint, _)| joint);
        if let Some(joint) = joints.find(|joint| *joint >= entries.len()) {
            return Err(missing(joint, entries.len()));
        }
        let mut influences = primitive.influences(vertex);
        let first = influences.next();
        let (first, _) = first.ok_or_else(|| Error::not_found("influence", 0, 0))?;
        let others = influences.map(|(joint, weight)| (&entries[joint], weight));
        let blended = E::blend(&entries[first], others);
        *position = blended.point(*position);
        let normal = streams.normals.get_mut(vertex);
        let tangent = streams.tangents.get_mut(vertex);
        if normal.is_some() || tangent.is_some() {
            blended.directions(normal, tangent);
        }
    }
    Ok(())
}

/// The deformed vertices of one primitive, in character space.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PosedVertices {
    /// In metres, one per vertex.
    pub positions: Vec<Vec3>,
    /// Unit vectors, one per vertex; empty if the primitive has none.
    pub normals: Vec<Vec3>,
    /// Unit vectors in the direction of the first texture coordinate, one per vertex.
    ///
    /// They are not made perpendicular to the normals. `w` is the bitangent's sign. Empty if the
    /// primitive has no tangents.
    pub tangents: Vec<Vec4>,
}

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
    expect_all_finite("morph weights", own.iter().copied())?;
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
        let move_by = |vector: &mut Vec3, delta: Vec3| *vector += weight * delta;
        let turn_by = |vector: &mut Vec4, delta: Vec3| *vector += (weight * delta).extend(0.0);
        add(target, &target.positions, &mut out.positions, move_by);
        add(target, &target.normals, &mut out.normals, move_by);
        add(target, &target.tangents, &mut out.tangents, turn_by);
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
