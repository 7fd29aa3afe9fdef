//! Detection of flipped triangles in a posed mesh.
//!
//! Exports need this, because winding is their only way to tell front from back.

use crate::character::Character;
use crate::error::{Result, expect_len};
use crate::mesh::Primitive;
use crate::palette::{Mat3x4, PaletteEntry, PaletteRef, rest_palette};

impl Character {
    /// Finds the triangles of a primitive that are flipped under a palette.
    ///
    /// `primitive` must be one of the character's, and `palette` must be its whole palette. The
    /// result has one element per triangle. A flipped triangle, compared with the rest pose, shows
    /// its front where its corners are clockwise. A consumer that derives fronts from winding must
    /// swap two of its corners.
    ///
    /// A triangle counts as flipped if the determinant of the blended matrix has changed sign at
    /// two or more of its corners. This happens if a clip changes the sign of a scale, or in poses
    /// that a caller makes. Dual quaternions and quaternions with offset never flip a triangle.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `palette` does not have one element
    /// per entry of the character's palette.
    pub fn flipped_triangles<P: PaletteEntry>(
        &self,
        primitive: &Primitive,
        palette: &[P],
    ) -> Result<Vec<bool>> {
        self.flipped_triangles_any(primitive, palette.into())
    }

    /// As [`Self::flipped_triangles`], compiled once and with the settings of this crate.
    fn flipped_triangles_any(
        &self,
        primitive: &Primitive,
        palette: PaletteRef<'_>,
    ) -> Result<Vec<bool>> {
        expect_len("palette", palette.len(), self.palette().len())?;
        let triangles = primitive.indices.as_chunks::<3>().0;
        let PaletteRef::Mat3x4(now) = palette else {
            return Ok(vec![false; triangles.len()]);
        };
        let rest = rest_palette(self.model())?;
        let range = self.palette_range(primitive);
        let of_range = |list| <[Mat3x4]>::get(list, range.clone()).unwrap_or_default();
        let (rest, now) = (of_range(&rest), of_range(now));
        let flips = |vertex: usize| {
            let is_flipped = |entries| determinant(entries, primitive, vertex) < 0.0;
            is_flipped(rest) != is_flipped(now)
        };
        let flips: Vec<bool> = (0..primitive.vertex_count()).map(flips).collect();
        let votes =
            |corners: &[u32; 3]| corners.iter().filter(|v| flips[**v as usize]).count() >= 2;
        Ok(triangles.iter().map(votes).collect())
    }
}

/// The determinant of a vertex's blended matrix, in `f64`.
fn determinant(entries: &[Mat3x4], primitive: &Primitive, vertex: usize) -> f64 {
    let mut m = [[0.0_f64; 3]; 3];
    for (joint, weight) in primitive.influences(vertex) {
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
