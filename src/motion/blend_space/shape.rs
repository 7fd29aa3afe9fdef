//! Blend spaces that belong to a character.

use super::one::BlendSpace1;
use super::points::MAX_BLEND_POINTS;
use super::two::BlendSpace2;
use crate::clip::Clip;
use crate::error::Result;
use crate::id::Id;
use glam::Vec2;

/// Clips of a character that are blended by one or two numbers.
///
/// One number may be a speed, and two may be a velocity.
#[doc(alias = "blend tree")]
#[derive(Debug, Clone, PartialEq)]
pub struct BlendSpace {
    pub(crate) name: Box<str>,
    pub(crate) clips: Vec<Id<Clip>>,
    pub(crate) shape: BlendShape,
}

/// The points of a [`BlendSpace`], at which its clips lie.
#[derive(Debug, Clone, PartialEq)]
pub enum BlendShape {
    /// On a line.
    Line(BlendSpace1),
    /// In a plane.
    Plane(BlendSpace2),
}

impl BlendSpace {
    /// The most points that a blend space can have.
    pub const MAX_POINTS: usize = MAX_BLEND_POINTS;

    /// The name of the blend space.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The clip of each point.
    #[must_use]
    pub fn clips(&self) -> &[Id<Clip>] {
        &self.clips
    }

    /// The positions of the clips.
    #[doc(hidden)]
    #[must_use]
    pub fn shape(&self) -> &BlendShape {
        &self.shape
    }

    /// The number of parameters: 1 or 2.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        match self.shape {
            BlendShape::Line(_) => 1,
            BlendShape::Plane(_) => 2,
        }
    }

    /// Writes the weight of each clip at a position.
    ///
    /// The weights are in the order of [`Self::clips`] and sum to 1. On a line, only `x` is used.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if `out` does not have one element per clip.
    pub fn weights(&self, at: Vec2, out: &mut [f32]) -> Result<()> {
        match &self.shape {
            BlendShape::Line(space) => space.weights(at.x, out),
            BlendShape::Plane(space) => space.weights(at, out),
        }
    }
}
