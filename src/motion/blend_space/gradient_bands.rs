//! A blend space with two parameters, by gradient bands.

use super::points::{check_count, check_finite, counted2, sorted_apart};
use crate::error::{Result, expect_len};
use glam::Vec2;

/// Clips in a plane, blended by gradient band interpolation (R. S. Johansen, Automated
/// semi-procedural animation for character locomotion, 2009, §6.3), in Cartesian coordinates.
///
/// From each point towards each other, a clip's influence falls linearly from 1 to 0; the least of
/// these counts, and influences are divided by their sum. Weights are exact at the points and
/// continuous everywhere, outside too. More clips take part than with
/// [`BlendSpace2`](crate::motion::BlendSpace2), the change is smoother, and there are no triangles to
/// choose. A query costs the square of the number of points.
///
/// ```
/// use throng::glam::Vec2;
/// use throng::motion::GradientBands;
///
/// let space = GradientBands::new(&[Vec2::ZERO, Vec2::X, Vec2::Y])?;
/// let mut weights = [0.0; 3];
/// space.weights(Vec2::new(0.5, 0.0), &mut weights)?;
/// assert_eq!(weights, [0.5, 0.5, 0.0]);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GradientBands {
    points: Vec<Vec2>,
}

impl GradientBands {
    /// A clip at each of `points`, in any order and unit.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) for no points,
    /// [`Error::Capacity`](crate::error::Error::Capacity) for more than
    /// [`MAX_BLEND_POINTS`](crate::motion::MAX_BLEND_POINTS), [`Error::At`](crate::error::Error::At) with the
    /// first point that is not finite, or that is the same as another, which is named too.
    pub fn new(points: &[Vec2]) -> Result<Self> {
        check_count(points.len())?;
        for (index, point) in points.iter().enumerate() {
            check_finite(index, point.x)?;
            check_finite(index, point.y)?;
        }
        sorted_apart(points.len(), |index| points[index].to_array())?;
        Ok(Self {
            points: points.to_vec(),
        })
    }

    /// Where the clips are.
    #[must_use]
    pub fn points(&self) -> &[Vec2] {
        &self.points
    }

    /// The weight of every point at `at`, in the order of the points; they sum to 1. Coordinates
    /// that are not a number count as 0.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `out` does not have one element a point.
    pub fn weights(&self, at: Vec2, out: &mut [f32]) -> Result<()> {
        expect_len("weights", out.len(), self.points.len())?;
        let at = counted2(at);
        let mut sum = 0.0;
        for (index, out) in out.iter_mut().enumerate() {
            let influence = self.influence(index, at);
            sum += influence;
            *out = influence as f32;
        }
        // The point nearest to the parameter has gone half the way to none of the others, so the
        // sum is a half at least.
        for out in out {
            *out = (f64::from(*out) / sum) as f32;
        }
        Ok(())
    }

    fn influence(&self, index: usize, at: [f64; 2]) -> f64 {
        let from = counted2(self.points[index]);
        let mut least = 1.0_f64;
        for (number, to) in self.points.iter().enumerate() {
            if number != index {
                let to = counted2(*to);
                let band = [to[0] - from[0], to[1] - from[1]];
                let gone = (at[0] - from[0]) * band[0] + (at[1] - from[1]) * band[1];
                least = least.min(1.0 - gone / (band[0] * band[0] + band[1] * band[1]));
            }
        }
        least.max(0.0)
    }
}
