//! What a palette's format can't hold, and when.

/// Why a skinning matrix does not fit a palette's format.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unrepresentable {
    /// An element is not a number, or infinite.
    #[error("is not finite")]
    NotFinite,
    /// It mirrors.
    #[error("mirrors: its determinant is {determinant:e}")]
    Mirror {
        /// Of the upper 3×3; negative.
        determinant: f32,
    },
    /// It squeezes an axis of mesh space to nothing.
    #[error("has a scale of {scale:e} along axis {axis} of mesh space")]
    ZeroScale {
        /// 0, 1 or 2 for x, y, z.
        axis: u8,
        /// The length of the axis's image.
        scale: f32,
    },
    /// It shears: axes of mesh space that are perpendicular no longer are.
    #[error("shears: the cosine between two axes is {cosine:e}")]
    Shear {
        /// The largest cosine between the images of two axes, 0 without shear.
        cosine: f32,
    },
    /// It scales the axes by different factors.
    #[error("scales by {least} to {greatest}, which is not uniform")]
    NonUniformScale {
        /// The smallest of the factors.
        least: f32,
        /// The greatest.
        greatest: f32,
    },
    /// It scales at all.
    #[error("scales by {least} to {greatest}")]
    Scale {
        /// The smallest of the factors.
        least: f32,
        /// The greatest.
        greatest: f32,
    },
}

/// The pose that a fault was found in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PoseAt {
    /// The rest pose.
    Rest,
    /// A clip at a time.
    Clip {
        /// The clip's name, or empty.
        name: Box<str>,
        /// Seconds in the clip's own time.
        time_s: f64,
    },
    /// A pose that the caller gave.
    Given,
}

impl core::fmt::Display for PoseAt {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Rest => f.write_str("the rest pose"),
            Self::Clip { name, time_s } => write!(f, "clip \"{name}\" at {time_s} s"),
            Self::Given => f.write_str("the pose given"),
        }
    }
}
