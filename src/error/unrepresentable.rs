//! Skinning matrices that a palette's format cannot represent.

/// The reason that a palette's format cannot represent a skinning matrix.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unrepresentable {
    /// An element is NaN or infinite.
    #[error("is not finite")]
    NotFinite,
    /// The matrix is flipped: its determinant is negative.
    #[error("is flipped (determinant {determinant:e})")]
    Flipped {
        /// The determinant of the upper 3×3 matrix, which is negative.
        determinant: f32,
    },
    /// An axis of mesh space is scaled to zero.
    #[error("has scale {scale:e} along axis {axis} of mesh space")]
    ZeroScale {
        /// 0, 1 or 2 for x, y, z.
        axis: u8,
        /// The length of the transformed axis.
        scale: f32,
    },
    /// The matrix shears: perpendicular axes of mesh space are no longer perpendicular.
    #[error("shears (cosine {cosine:e} between two axes)")]
    Shear {
        /// The largest cosine of the angle between two transformed axes. It is 0 without shear.
        cosine: f32,
    },
    /// The axes are scaled by different factors.
    #[error("scales non-uniformly, by {least} to {greatest}")]
    NonUniformScale {
        /// The smallest of the factors.
        least: f32,
        /// The largest of the factors.
        greatest: f32,
    },
    /// The matrix scales, which the format does not allow at all.
    #[error("scales by {least} to {greatest}")]
    Scale {
        /// The smallest of the factors.
        least: f32,
        /// The largest of the factors.
        greatest: f32,
    },
}
