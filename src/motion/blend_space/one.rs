//! A blend space with one parameter.

use super::points::{check_count, check_finite, counted, sorted_apart, spread};
use crate::error::Result;

/// Clips along a line, blended linearly between neighbours.
///
/// An example is idle, walk and run by speed. The two clips next to the parameter are blended. Left
/// of the first point and right of the last, that point gets the whole weight.
///
/// ```
/// use throng::motion::BlendSpace1;
///
/// let speeds = BlendSpace1::new(&[0.0, 1.5, 4.0])?; // idle, walk, run
/// assert_eq!(speeds.at(0.75), [(0, 0.5), (1, 0.5)]);
/// let mut weights = [0.0; 3];
/// speeds.weights(9.0, &mut weights)?;
/// assert_eq!(weights, [0.0, 0.0, 1.0]);
/// # Ok::<(), throng::Error>(())
/// ```
#[doc(alias = "blend tree")]
#[derive(Debug, Clone, PartialEq)]
pub struct BlendSpace1 {
    points: Vec<f32>,
    /// Indices of points, in ascending order of position.
    order: Vec<usize>,
}

impl BlendSpace1 {
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
    pub fn new(points: &[f32]) -> Result<Self> {
        check_count(points.len())?;
        for (index, point) in points.iter().enumerate() {
            check_finite(index, *point)?;
        }
        Ok(Self {
            points: points.to_vec(),
            order: sorted_apart(points.len(), |index| points[index])?,
        })
    }

    /// The positions of the clips.
    #[must_use]
    pub fn points(&self) -> &[f32] {
        &self.points
    }

    /// The two points whose clips are blended at `x`.
    ///
    /// Each comes with its weight. The weights sum to 1. The second weight is 0 if the first point
    /// has the whole weight. NaN counts as 0.
    #[must_use]
    pub fn at(&self, x: f32) -> [(usize, f32); 2] {
        let x = counted(x);
        let position = |index: usize| f64::from(self.points[index]);
        let next = self.order.partition_point(|index| position(*index) <= x);
        let (Some(from), Some(to)) = (
            next.checked_sub(1).map(|before| self.order[before]),
            self.order.get(next).copied(),
        ) else {
            // Before the first point or after the last. There is at least one.
            let end = self.order[next.saturating_sub(1)];
            return [(end, 1.0), (end, 0.0)];
        };
        let u = (x - position(from)) / (position(to) - position(from));
        [(from, (1.0 - u) as f32), (to, u as f32)]
    }

    /// Writes the weight of every point at `x`.
    ///
    /// The weights are in the order of the points and sum to 1. NaN counts as 0.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `out` does not have one element per
    /// point.
    pub fn weights(&self, x: f32, out: &mut [f32]) -> Result<()> {
        spread(self.points.len(), self.at(x), out)
    }
}
