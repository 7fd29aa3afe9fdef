//! The skin stage: vertices × palette → deformed vertices, by linear blending.

use super::Mat3x4;
use super::palette::expect_len;
use crate::character::{Character, Primitive};
use crate::error::{Error, Result};
use glam::{Mat3, Vec3};

/// The deformed vertices of one primitive, in character space.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PosedVertices {
    /// Metres, one a vertex.
    pub positions: Vec<Vec3>,
    /// Unit vectors, one a vertex; empty where the primitive has none.
    pub normals: Vec<Vec3>,
}

/// Deforms `primitive` by `palette`, which is the character's whole palette. `out` is overwritten.
///
/// Positions: `Σ wᵢ (Mᵢ p)`. Normals: the cofactor matrix of `Σ wᵢ Mᵢ` times the sign of its
/// determinant, which is the inverse transpose up to a positive factor, finite where the
/// matrix is singular, and right under mirroring and non-uniform scale.
///
/// # Errors
/// [`Error::Argument`] if `palette` does not have one element per entry of the character's palette;
/// [`Error::NotFound`] if `primitive` is not one of the character's and addresses entries that there are not. `out` is then
/// of no use.
pub fn skin(
    character: &Character,
    primitive: &Primitive,
    palette: &[Mat3x4],
    out: &mut PosedVertices,
) -> Result<()> {
    expect_len("palette", palette.len(), character.palette().len())?;
    let range = character.palette_range(primitive);
    let entries = palette.get(range.clone()).ok_or(Error::NotFound {
        what: "palette entry",
        index: range.end as u64,
        count: palette.len() as u64,
    })?;
    out.positions.clear();
    out.normals.clear();
    out.positions.reserve(primitive.vertex_count());
    out.normals.reserve(primitive.normals.len());
    for (vertex, position) in primitive.positions.iter().enumerate() {
        let matrix = blend(entries, primitive, vertex)?;
        out.positions.push(matrix.transform_point(*position));
        if let Some(normal) = primitive.normals.get(vertex) {
            out.normals.push(transform_normal(&matrix, *normal));
        }
    }
    Ok(())
}

fn blend(entries: &[Mat3x4], primitive: &Primitive, vertex: usize) -> Result<Mat3x4> {
    let mut sum = Mat3x4 {
        rows: [[0.0; 4]; 3],
    };
    for (joint, weight) in primitive.influences.of(vertex) {
        let entry = entries.get(joint).ok_or(Error::NotFound {
            what: "palette entry",
            index: joint as u64,
            count: entries.len() as u64,
        })?;
        for (sum, row) in sum.rows.iter_mut().zip(&entry.rows) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += weight * value;
            }
        }
    }
    Ok(sum)
}

fn transform_normal(matrix: &Mat3x4, normal: Vec3) -> Vec3 {
    let m = Mat3::from(matrix.to_affine().matrix3);
    // Scaled to a largest element of 1, here and below: products of small elements would underflow.
    let columns = [m.x_axis, m.y_axis, m.z_axis];
    let largest = columns.map(|column| column.abs().max_element());
    let largest = largest[0].max(largest[1]).max(largest[2]);
    if largest == 0.0 {
        return normal;
    }
    let [x, y, z] = columns.map(|column| column / largest);
    let cofactor = Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
    let sign = if x.dot(cofactor.x_axis) < 0.0 {
        -1.0
    } else {
        1.0
    };
    let image = cofactor * normal * sign;
    (image / image.abs().max_element()).normalize_or(normal)
}
