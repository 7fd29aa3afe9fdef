//! The skin stage in plain code: deforms vertices one at a time by a palette.

use super::morph::morph;
use super::posed_vertices::PosedVertices;
use crate::character::Character;
use crate::error::{Error, Result, expect_len};
use crate::mesh::Primitive;
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

    /// Blends the entries of a vertex's influences, the strongest influence first.
    ///
    /// # Errors
    /// As [`each`].
    fn blend(
        entries: &[Self],
        influences: impl Iterator<Item = (usize, f32)>,
    ) -> Result<Self::Blended>;
}

/// The transform of a vertex.
pub(crate) trait Deform {
    fn point(&self, point: Vec3) -> Vec3;
    /// Transforms the normal and the tangent, if present.
    fn directions(&self, normal: Option<&mut Vec3>, tangent: Option<&mut Vec4>);
}

/// Morphs and skins a primitive with a whole palette of matrices.
///
/// # Errors
/// As [`Character::skin_primitive`].
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
    let entries = palette
        .get(range.clone())
        .ok_or_else(|| Error::not_found("palette entry", range.end, palette.len()))?;
    for (vertex, position) in streams.positions.iter_mut().enumerate() {
        let blended = E::blend(entries, primitive.influences(vertex))?;
        *position = blended.point(*position);
        let normal = streams.normals.get_mut(vertex);
        let tangent = streams.tangents.get_mut(vertex);
        if normal.is_some() || tangent.is_some() {
            blended.directions(normal, tangent);
        }
    }
    Ok(())
}

/// The entry of the first influence, and the entries and weights of the others.
///
/// # Errors
/// [`Error::NotFound`] if an entry does not exist, or if there is no influence.
pub(crate) fn each<'a, E>(
    entries: &'a [E],
    mut influences: impl Iterator<Item = (usize, f32)> + 'a,
) -> Result<(&'a E, impl Iterator<Item = Result<(&'a E, f32)>> + 'a)> {
    let entry = move |joint: usize| {
        entries
            .get(joint)
            .ok_or_else(|| Error::not_found("palette entry", joint, entries.len()))
    };
    let first = influences
        .next()
        .ok_or_else(|| Error::not_found("influence", 0, 0))?;
    let others = influences.map(move |(joint, weight)| Ok((entry(joint)?, weight)));
    Ok((entry(first.0)?, others))
}
