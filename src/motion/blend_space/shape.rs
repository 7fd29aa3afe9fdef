//! Blend spaces that belong to a character.

use crate::error::Result;
use crate::ids::ClipId;
use crate::motion::{BlendSpace1, BlendSpace2};
use glam::Vec2;

/// Clips of a character that are blended by one number, such as a speed, or by two, such as a
/// velocity.
#[derive(Debug, Clone, PartialEq)]
pub struct BlendSpace {
    pub(crate) name: Box<str>,
    pub(crate) clips: Vec<ClipId>,
    pub(crate) shape: BlendShape,
}

/// Where the clips of a [`BlendSpace`] lie.
#[derive(Debug, Clone, PartialEq)]
pub enum BlendShape {
    /// On a line.
    Line(BlendSpace1),
    /// In a plane.
    Plane(BlendSpace2),
}

impl BlendSpace {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The clip of each point.
    #[must_use]
    pub fn clips(&self) -> &[ClipId] {
        &self.clips
    }

    /// Where the points are.
    #[must_use]
    pub fn shape(&self) -> &BlendShape {
        &self.shape
    }

    /// How many numbers it is blended by: 1 or 2.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        match self.shape {
            BlendShape::Line(_) => 1,
            BlendShape::Plane(_) => 2,
        }
    }

    /// The weight of each clip at a place, in the order of [`Self::clips`]; they sum to 1. On a
    /// line, only `x` counts.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if `out` does not have one element a clip.
    pub fn weights(&self, at: Vec2, out: &mut [f32]) -> Result<()> {
        match &self.shape {
            BlendShape::Line(space) => space.weights(at.x, out),
            BlendShape::Plane(space) => space.weights(at, out),
        }
    }
}
