//! Blend spaces with two parameters, by triangles.

use super::delaunay::{Triangulation, triangulate};
use super::grid::{Cell, Grid, turn};
use super::points::sorted_apart;
use crate::error::Result;
use glam::Vec2;

/// Clips in a plane, blended by triangles. See [`BlendSpace`](super::BlendSpace).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlendPlane {
    pub(super) points: Vec<Vec2>,
    grid: Grid,
    cells: Vec<Cell>,
    mesh: Triangulation,
}

impl BlendPlane {
    /// Creates a blend space with a clip at each of `points`. There is at least one, and all are
    /// finite.
    ///
    /// # Errors
    /// [`Error::At`](crate::Error::At) with the index of the first point that equals another after
    /// rounding, which is named too.
    pub(crate) fn new(points: &[Vec2]) -> Result<Self> {
        let grid = Grid::over(points);
        // All points lie on the grid, so none is dropped.
        let cells: Vec<Cell> = points.iter().filter_map(|p| grid.cell(*p)).collect();
        let order = sorted_apart(cells.len(), |index| cells[index])?;
        Ok(Self {
            points: points.to_vec(),
            mesh: triangulate(&cells, &order),
            grid,
            cells,
        })
    }

    pub(super) fn triangles(&self) -> &[[usize; 3]] {
        &self.mesh.triangles
    }

    /// The three points whose clips are blended at `at`, with their weights, which sum to 1.
    ///
    /// Some weights may be 0. NaN coordinates count as 0.
    pub(crate) fn at(&self, at: Vec2) -> [(usize, f32); 3] {
        let found = self.grid.cell(at).and_then(|cell| self.inside(cell));
        found.unwrap_or_else(|| self.nearest(at))
    }

    /// Blends the corners of the triangle around `at`. On an edge, either triangle may be used.
    fn inside(&self, at: Cell) -> Option<[(usize, f32); 3]> {
        self.mesh.triangles.iter().find_map(|triangle| {
            let [a, b, c] = triangle.map(|corner| self.cells[corner]);
            let parts = [turn(at, b, c), turn(at, c, a), turn(at, a, b)];
            if parts.iter().any(|part| *part < 0) {
                return None;
            }
            let whole = turn(a, b, c) as f64;
            let weight = |corner: usize| (parts[corner] as f64 / whole) as f32;
            Some([0, 1, 2].map(|corner| (triangle[corner], weight(corner))))
        })
    }

    /// Blends the point of the hull or the line that is nearest to `at`.
    fn nearest(&self, at: Vec2) -> [(usize, f32); 3] {
        let at = self.grid.scaled(at);
        let mut best = ([0.0; 2], [(0, 1.0), (0, 0.0), (0, 0.0)]);
        for (number, [from, to]) in self.mesh.edges.iter().enumerate() {
            let [a, b] = [*from, *to].map(|end| self.cells[end].map(|value| value as f64));
            let along = minus(b, a);
            let u = dot(minus(at, a), along) / dot(along, along);
            let u = u.clamp(0.0, 1.0);
            let foot = [a[0] + along[0] * u, a[1] + along[1] * u];
            // |at − foot|² − |at − best|², in a form that stays accurate if `at` is far away.
            let (apart, sum) = (
                minus(best.0, foot),
                [best.0[0] + foot[0], best.0[1] + foot[1]],
            );
            let further = dot(apart, minus([2.0 * at[0], 2.0 * at[1]], sum));
            if number == 0 || further < 0.0 {
                let weights = [(*from, (1.0 - u) as f32), (*to, u as f32), (*from, 0.0)];
                best = (foot, weights);
            }
        }
        best.1
    }
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}
