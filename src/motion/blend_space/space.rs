//! Blend spaces of a character: clips, and their points on a line or in a plane.

use super::delaunay::{Cell, Grid, Triangulation, counted, sorted_apart, triangulate, turn};
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
/// let gaits = BlendSpaceDesc {
///     name: "gaits".into(),
///     points: points.map(point).into(),
///     ..BlendSpaceDesc::default()
/// };
/// let desc = AnimationDesc { blend_spaces: vec![gaits], ..AnimationDesc::default() };
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
    /// The limits of the playback speed that follows the length of the position. `None` if the
    /// speed does not follow it.
    pub(crate) speed_limits: Option<[f64; 2]>,
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
        self.shape.points()
    }

    /// The smallest and the largest playback speed, if it follows the length of the position.
    ///
    /// `None` if the speed does not depend on the position. See
    /// [`BlendSpaceDesc::ground_speed`](crate::character::BlendSpaceDesc::ground_speed).
    #[must_use]
    pub const fn speed_limits(&self) -> Option<[f64; 2]> {
        self.speed_limits
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
    pub(crate) fn points(&self) -> Vec<Vec2> {
        match self {
            Self::Line(line) => line.points.iter().map(|x| Vec2::new(*x, 0.0)).collect(),
            Self::Plane(plane) => plane.points.clone(),
        }
    }

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
