//! The skin stage: vertices × palette → deformed vertices, one after the other.

use super::morph::{MorphedVertices, morph};
use crate::character::Character;
use crate::error::{Error, Result, expect_len};
use crate::mesh::Primitive;
use crate::palette::PaletteRef;
use core::mem::take;
use glam::{Vec3, Vec4};

/// The deformed vertices of one primitive, in character space.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PosedVertices {
    /// Metres, one a vertex.
    pub positions: Vec<Vec3>,
    /// Unit vectors, one a vertex; empty where the primitive has none.
    pub normals: Vec<Vec3>,
    /// Unit vectors along which the first texture coordinate grows, not made perpendicular to the
    /// normals, and in `w` the bitangent's sign; one a vertex, empty where the primitive has none.
    pub tangents: Vec<Vec4>,
}

/// Deforms `primitive` by `palette`, which is the character's whole palette, in the format of the
/// method wanted. `weights` are those of the character's morph targets, one for each of
/// [`Character::morph_weights`]; they apply before the palette does, as [`morph`](crate::skin::morph())
/// says. `out` is overwritten.
///
/// Of every vertex's influences the first is the strongest. With one influence, its entry moves the
/// vertex, and nothing is blended. With more:
///
/// - [`SkinningMethod::Linear`](crate::palette::SkinningMethod::Linear): the matrix `M = M₀ + Σ wᵢ (Mᵢ − M₀)`, which is `Σ
///   wᵢ Mᵢ` without what the weights' rounding adds. Positions go by `M`, added up row by row.
///   Normals go by `M`'s cofactors times the sign of its determinant, which is the inverse
///   transpose up to a positive factor, finite where the matrix is singular, and right under
///   mirroring and non-uniform scale. Tangents go by `M` itself, and their `w` turns with the sign
///   of the determinant.
/// - [`SkinningMethod::QuatOffset`](crate::palette::SkinningMethod::QuatOffset): each entry becomes a matrix by
///   [`QuatOffset::expand`](crate::palette::QuatOffset::expand); from there on the same.
/// - [`SkinningMethod::DualQuat`](crate::palette::SkinningMethod::DualQuat): `q = q₀ + Σ wᵢ (±qᵢ − q₀)`, the sign negative
///   where the real parts of `qᵢ` and `q₀` have a negative dot product; then both parts are divided
///   by the real part's length (Kavan et al., "Geometric Skinning with Approximate Dual Quaternion
///   Blending", 2008, algorithm 1). The stretch `s = s₀ + Σ wᵢ (sᵢ − s₀)` goes first. With the
///   vectors `r`, `d` of the real and dual part: `rotate(p) = p + 2 r × (r × p + r_w p)` and `p' =
///   rotate(s p) + 2 (r_w d − d_w r + r × d)`. Normals are `rotate((s_y s_z, s_z s_x, s_x s_y) n)`,
///   tangents `rotate(s t)`, and their `w` stays.
///
/// Normals and the directions of tangents then get length 1. Where the image has none, as under a
/// zero scale, the undeformed direction stands. So palettes of identities give the rest pose back,
/// bit for bit (but that −0 may become 0).
///
/// # Errors
/// [`Error::Argument`] if `palette` does not have one element per entry of the character's palette,
/// or `weights` one finite number per morph weight; [`Error::NotFound`] if `primitive` is not one
/// of the character's and addresses entries that there are not. `out` is then of no use.
pub fn skin(
    character: &Character,
    primitive: &Primitive,
    palette: PaletteRef<'_>,
    weights: &[f32],
    out: &mut PosedVertices,
) -> Result<()> {
    expect_len("palette", palette.len(), character.palette().len())?;
    expect_len(
        "morph weights",
        weights.len(),
        character.morph_weights().len(),
    )?;
    // The undeformed streams are made where the deformed ones will stand.
    let mut streams = MorphedVertices {
        positions: take(&mut out.positions),
        normals: take(&mut out.normals),
        tangents: take(&mut out.tangents),
    };
    morph(primitive, weights, &mut streams)?;
    match palette {
        PaletteRef::Mat3x4(list) => deform(character, primitive, list, &mut streams)?,
        PaletteRef::DualQuat(list) => deform(character, primitive, list, &mut streams)?,
        PaletteRef::DualQuatStretch(list) => deform(character, primitive, list, &mut streams)?,
        PaletteRef::QuatOffset(list) => deform(character, primitive, list, &mut streams)?,
    }
    *out = PosedVertices {
        positions: streams.positions,
        normals: streams.normals,
        tangents: streams.tangents,
    };
    Ok(())
}

/// An entry that vertices blend.
pub(crate) trait Blend: Sized {
    type Blended: Deform;

    /// The entries of a vertex's influences as one, the strongest influence first.
    ///
    /// # Errors
    /// As [`each`].
    fn blend(
        entries: &[Self],
        influences: impl Iterator<Item = (usize, f32)>,
    ) -> Result<Self::Blended>;
}

/// What moves a vertex.
pub(crate) trait Deform {
    fn point(&self, point: Vec3) -> Vec3;
    /// Either may be absent.
    fn directions(&self, normal: Option<&mut Vec3>, tangent: Option<&mut Vec4>);
}

fn deform<E: Blend>(
    character: &Character,
    primitive: &Primitive,
    palette: &[E],
    streams: &mut MorphedVertices,
) -> Result<()> {
    let range = character.palette_range(primitive);
    let entries = palette.get(range.clone()).ok_or(Error::NotFound {
        what: "palette entry",
        index: range.end as u64,
        count: palette.len() as u64,
    })?;
    for (vertex, position) in streams.positions.iter_mut().enumerate() {
        let blended = E::blend(entries, primitive.influences.of(vertex))?;
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
/// [`Error::NotFound`] for an entry that is not there, or where there is no influence.
pub(crate) fn each<'a, E>(
    entries: &'a [E],
    mut influences: impl Iterator<Item = (usize, f32)> + 'a,
) -> Result<(&'a E, impl Iterator<Item = Result<(&'a E, f32)>> + 'a)> {
    let entry = move |joint: usize| {
        entries.get(joint).ok_or(Error::NotFound {
            what: "palette entry",
            index: joint as u64,
            count: entries.len() as u64,
        })
    };
    let first = influences.next().ok_or(Error::NotFound {
        what: "influence",
        index: 0,
        count: 0,
    })?;
    let others = influences.map(move |(joint, weight)| Ok((entry(joint)?, weight)));
    Ok((entry(first.0)?, others))
}
