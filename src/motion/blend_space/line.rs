//! Blend spaces with one parameter.

use super::points::{counted, sorted_apart};
use crate::error::Result;

/// Clips along a line, blended linearly between neighbours.
///
/// Left of the first point and right of the last, that point gets the whole weight.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlendLine {
    pub(super) points: Vec<f32>,
    /// Indices of points, in ascending order of position.
    order: Vec<usize>,
}

impl BlendLine {
    /// Creates a blend space with a clip at each of `points`. There is at least one, and all are
    /// finite.
    ///
    /// # Errors
    /// [`Error::At`](crate::Error::At) with the index of the first point that equals another, which
    /// is named too.
    pub(crate) fn new(points: &[f32]) -> Result<Self> {
        Ok(Self {
            points: points.to_vec(),
            order: sorted_apart(points.len(), |index| points[index])?,
        })
    }

    /// The two points whose clips are blended at `x`, with their weights, which sum to 1.
    ///
    /// The second weight is 0 if the first point has the whole weight. NaN counts as 0.
    pub(crate) fn at(&self, x: f32) -> [(usize, f32); 2] {
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
}
