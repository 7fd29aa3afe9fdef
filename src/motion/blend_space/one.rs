//! A blend space with one parameter.

use super::points::{check_count, check_finite, counted, sorted_apart, spread};
use crate::error::Result;

/// Clips along a line, such as idle, walk and run along the speed: the two next to the parameter
/// are blended, linearly. Left of the first point and right of the last, that one has all the
/// weight.
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
#[derive(Debug, Clone, PartialEq)]
pub struct BlendSpace1 {
    points: Vec<f32>,
    /// Indices of points, ascending in position.
    order: Vec<usize>,
}

impl BlendSpace1 {
    /// A clip at each of `points`, which are in any order, in any unit.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) for no points,
    /// [`Error::Capacity`](crate::error::Error::Capacity) for more than
    /// [`MAX_BLEND_POINTS`](crate::motion::MAX_BLEND_POINTS), [`Error::At`](crate::error::Error::At) with the
    /// first point that is not finite, or that is the same as another, which is named too.
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

    /// Where the clips are.
    #[must_use]
    pub fn points(&self) -> &[f32] {
        &self.points
    }

    /// The two points whose clips are blended at `x`, and their weights, which sum to 1; the second
    /// is 0 where the first has all. Not a number counts as 0.
    #[must_use]
    pub fn at(&self, x: f32) -> [(usize, f32); 2] {
        let x = counted(x);
        let position = |index: usize| f64::from(self.points[index]);
        let next = self.order.partition_point(|index| position(*index) <= x);
        let (Some(from), Some(to)) = (
            next.checked_sub(1).map(|before| self.order[before]),
            self.order.get(next).copied(),
        ) else {
            // Before the first or after the last; there is one at least.
            let end = self.order[next.saturating_sub(1)];
            return [(end, 1.0), (end, 0.0)];
        };
        let u = (x - position(from)) / (position(to) - position(from));
        [(from, (1.0 - u) as f32), (to, u as f32)]
    }

    /// The weight of every point at `x`, in the order of the points; they sum to 1. Not a number
    /// counts as 0.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `out` does not have one element a point.
    pub fn weights(&self, x: f32, out: &mut [f32]) -> Result<()> {
        spread(self.points.len(), self.at(x), out)
    }
}
