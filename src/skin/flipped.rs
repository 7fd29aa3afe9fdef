//! Which triangles of a posed mesh have turned over: for exports, where winding is all there is to
//! tell front from back.

use crate::character::Character;
use crate::error::{Result, expect_len};
use crate::mesh::Primitive;
use crate::palette::{Mat3x4, PaletteRef, rest_palette};

/// Which triangles of `primitive`, one of the character's, have turned over under `palette`, the
/// character's whole one, against the rest pose: their front is where they are seen clockwise. One
/// a triangle; a consumer that knows fronts by winding swaps two corners of those.
///
/// A triangle has turned over if the determinant of the blended matrix has changed its sign at two
/// of its corners at least. Scales that a clip drives to another sign do that, and poses that a
/// caller makes; dual quaternions and quaternions with offset never do.
///
/// # Errors
/// [`Error::Argument`](crate::error::Error::Argument) if `palette` does not have one element per entry of
/// the character's palette.
pub fn flipped_triangles(
    character: &Character,
    primitive: &Primitive,
    palette: PaletteRef<'_>,
) -> Result<Vec<bool>> {
    expect_len("palette", palette.len(), character.palette().len())?;
    let triangles = primitive.indices.as_chunks::<3>().0;
    let PaletteRef::Mat3x4(now) = palette else {
        return Ok(vec![false; triangles.len()]);
    };
    let rest = rest_palette(character)?;
    let range = character.palette_range(primitive);
    let of_range = |list| <[Mat3x4]>::get(list, range.clone()).unwrap_or_default();
    let (rest, now) = (of_range(&rest), of_range(now));
    let turned = |vertex: &u32| {
        let mirrors = |entries| determinant(entries, primitive, *vertex as usize) < 0.0;
        mirrors(rest) != mirrors(now)
    };
    let turned: Vec<bool> = (0..primitive.vertex_count() as u32)
        .map(|v| turned(&v))
        .collect();
    let votes = |corners: &[u32; 3]| corners.iter().filter(|v| turned[**v as usize]).count() >= 2;
    Ok(triangles.iter().map(votes).collect())
}

/// Of the blended matrix, in `f64`.
fn determinant(entries: &[Mat3x4], primitive: &Primitive, vertex: usize) -> f64 {
    let mut m = [[0.0_f64; 3]; 3];
    for (joint, weight) in primitive.influences.of(vertex) {
        let Some(entry) = entries.get(joint) else {
            continue;
        };
        for (sum, row) in m.iter_mut().zip(&entry.rows) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += f64::from(weight) * f64::from(*value);
            }
        }
    }
    let [a, b, c] = m.map(glam::DVec3::from_array);
    a.dot(b.cross(c))
}
