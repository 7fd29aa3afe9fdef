//! Blend spaces of a character: clips, and their points.

use super::line::BlendLine;
use super::plane::BlendPlane;
use crate::clip::Clip;
use crate::error::{Result, expect_len};
use crate::id::Id;
use glam::Vec2;

/// Clips of a character that are blended by one or two numbers.
///
/// One number may be a speed, and two may be a velocity. Each clip has a point.
///
/// - On a line, the two clips next to the parameter are blended linearly.
/// - In a plane, the three clips at the corners of the triangle around the parameter are blended,
///   by its barycentric coordinates. The triangles are a Delaunay triangulation. If all points lie
///   on one line, they are blended in pairs along it.
/// - A parameter outside counts as the nearest point of the line or of the triangles.
/// - Weights are exact at the points and continuous. The order of the points does not matter, even
///   if four or more of them lie on a circle, as the corners of a square do.
///
/// Positions in a plane are rounded to a grid, to a 2²⁸th of the largest coordinate or less. On
/// this grid, the geometry is exact.
///
/// ```
/// use throng::character::{AnimationDesc, BlendSpaceDesc};
/// use throng::glam::Vec2;
/// use throng::state_machine::BlendPointDesc;
///
/// let points = [("Idle", 0.0), ("Walk", 1.5), ("Run", 4.0)];
/// let point = |(clip, at): (&str, f32)| BlendPointDesc { at: at.into(), clip: clip.into() };
/// let gaits = BlendSpaceDesc { name: "gaits".into(), points: points.map(point).into() };
/// let desc = AnimationDesc { blend_spaces: vec![gaits], ..Default::default() };
/// let character = throng::builtin::mannequin()?.character.with_animation(&desc)?;
///
/// let mut weights = [0.0; 3];
/// character.blend_spaces()[0].weights(Vec2::new(0.75, 0.0), &mut weights)?;
/// assert_eq!(weights, [0.5, 0.5, 0.0]);
/// # Ok::<(), throng::Error>(())
/// ```
#[doc(alias = "blend tree")]
#[derive(Debug, Clone, PartialEq)]
pub struct BlendSpace {
    pub(crate) name: Box<str>,
    pub(crate) clips: Vec<Id<Clip>>,
    pub(crate) shape: BlendShape,
}

/// The points of a [`BlendSpace`], at which its clips lie.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BlendShape {
    Line(BlendLine),
    Plane(BlendPlane),
}

impl BlendSpace {
    /// The most points that a blend space can have.
    pub const MAX_POINTS: usize = 256;

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

    /// The position of each point. On a line, y is 0.
    #[must_use]
    pub fn points(&self) -> Vec<Vec2> {
        match &self.shape {
            BlendShape::Line(line) => line.points.iter().map(|x| Vec2::new(*x, 0.0)).collect(),
            BlendShape::Plane(plane) => plane.points.clone(),
        }
    }

    /// The triangles of a plane, as indices of points.
    ///
    /// They are counter-clockwise (x to the right, y up). There are none if all points lie on one
    /// line.
    #[must_use]
    pub fn triangles(&self) -> &[[usize; 3]] {
        match &self.shape {
            BlendShape::Line(_) => &[],
            BlendShape::Plane(plane) => plane.triangles(),
        }
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
    /// NaN counts as 0.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if `out` does not have one element per clip.
    pub fn weights(&self, at: Vec2, out: &mut [f32]) -> Result<()> {
        expect_len("weights", out.len(), self.clips.len())?;
        out.fill(0.0);
        for (index, weight) in self.shape.parts(at) {
            out[index] += weight;
        }
        Ok(())
    }
}

impl BlendShape {
    /// The points whose clips are blended at a position, with their weights, which sum to 1.
    ///
    /// Some may be 0. On a line, the last one always is.
    pub(crate) fn parts(&self, at: Vec2) -> [(usize, f32); 3] {
        match self {
            Self::Line(line) => {
                let [first, second] = line.at(at.x);
                [first, second, (first.0, 0.0)]
            }
            Self::Plane(plane) => plane.at(at),
        }
    }
}
