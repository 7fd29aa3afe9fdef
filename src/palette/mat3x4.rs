//! The skinning matrix of linear blend skinning.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec3, Vec4};

/// A skinning matrix in the GPU's layout, 48 bytes.
///
/// It holds the upper three rows of a 4×4 matrix, row by row, and maps mesh (bind) space to
/// character space.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Mat3x4 {
    /// The rows: `rows[r] = [m_r0, m_r1, m_r2, m_r3]`.
    ///
    /// The fourth column is the translation.
    pub rows: [[f32; 4]; 3],
}

const _: () = assert!(size_of::<Mat3x4>() == 48 && align_of::<Mat3x4>() == 16);

impl Mat3x4 {
    /// The identity.
    pub const IDENTITY: Self = Self {
        rows: [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
        ],
    };

    /// Converts an affine matrix to the GPU's layout.
    #[inline]
    #[must_use]
    pub fn from_affine(affine: &Affine3A) -> Self {
        let (m, t) = (&affine.matrix3, affine.translation);
        Self {
            rows: [
                [m.x_axis.x, m.y_axis.x, m.z_axis.x, t.x],
                [m.x_axis.y, m.y_axis.y, m.z_axis.y, t.y],
                [m.x_axis.z, m.y_axis.z, m.z_axis.z, t.z],
            ],
        }
    }

    /// Converts it to an affine matrix.
    #[inline]
    #[must_use]
    pub fn to_affine(&self) -> Affine3A {
        let [x, y, z] = &self.rows;
        Affine3A::from_cols_array(&[
            x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2], x[3], y[3], z[3],
        ])
    }

    /// Transforms a point.
    #[inline]
    #[must_use]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let p = point.extend(1.0);
        Vec3::from_array(self.rows.map(|row| Vec4::from_array(row).dot(p)))
    }
}
