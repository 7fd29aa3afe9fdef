//! A blend space with two parameters, by gradient bands.

use super::points::{check_count, check_finite, counted2, sorted_apart};
use crate::error::{Result, expect_len};
use glam::Vec2;

/// Clips in a plane, blended by gradient bands.
///
/// The method is gradient band interpolation in Cartesian coordinates (R. S. Johansen, Automated
/// semi-procedural animation for character locomotion, 2009, §6.3).
///
/// From each point towards each other point, the influence of a clip falls linearly from 1 to 0.
/// The lowest of these values is the clip's influence. Influences are divided by their sum. Weights
/// are exact at the points and continuous everywhere, also outside.
///
/// Compared with [`BlendSpace2`](crate::motion::BlendSpace2), more clips take part, changes are
/// smoother, and there is no choice of triangles. The cost of a query is the square of the number
/// of points.
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
    /// Creates a blend space with a clip at each of `points`.
    ///
    /// Points may be in any order and unit.
    ///
    /// # Errors
    /// - [`Error::Argument`](crate::error::Error::Argument) for no points.
    /// - [`Error::Capacity`](crate::error::Error::Capacity) for more than
    ///   [`BlendSpace::MAX_POINTS`](crate::motion::BlendSpace::MAX_POINTS).
    /// - [`Error::At`](crate::error::Error::At) with the index of the first point that is not
    ///   finite, or that equals another. In that case, the other is named too.
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

    /// The positions of the clips.
    #[must_use]
    pub fn points(&self) -> &[Vec2] {
        &self.points
    }

    /// Writes the weight of every point at `at`.
    ///
    /// The weights are in the order of the points and sum to 1. NaN coordinates count as 0.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `out` does not have one element per
    /// point.
    pub fn weights(&self, at: Vec2, out: &mut [f32]) -> Result<()> {
        expect_len("weights", out.len(), self.points.len())?;
        let at = counted2(at);
        let mut sum = 0.0;
        for (index, out) in out.iter_mut().enumerate() {
            let influence = self.influence(index, at);
            sum += influence;
            *out = influence as f32;
        }
        // For the point nearest to the parameter, the parameter is at most half the way to any
        // other. So the sum is at least a half.
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
