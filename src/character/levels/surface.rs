//! The nearest point of a triangle mesh.

use crate::order::greatest;
use glam::Vec3A;

/// A point on a triangle of a primitive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SurfacePoint {
    /// Vertices of the primitive.
    pub(super) corners: [u32; 3],
    /// The weights of the corners. They sum to 1.
    pub(super) weights: [f32; 3],
}

impl SurfacePoint {
    /// A vertex.
    pub(super) fn vertex(vertex: u32) -> Self {
        Self {
            corners: [vertex; 3],
            weights: [1.0, 0.0, 0.0],
        }
    }

    /// Points of a triangle that are not its corners: the middles of its edges, and its centre.
    pub(super) fn within(corners: [u32; 3]) -> [Self; 4] {
        const WEIGHTS: [[f32; 3]; 4] = [
            [0.5, 0.5, 0.0],
            [0.0, 0.5, 0.5],
            [0.5, 0.0, 0.5],
            [1.0 / 3.0; 3],
        ];
        WEIGHTS.map(|weights| Self { corners, weights })
    }

    /// The corners with a weight.
    pub(super) fn parts(&self) -> impl Iterator<Item = (u32, f32)> {
        let parts = self.corners.into_iter().zip(self.weights);
        parts.filter(|(_, weight)| *weight != 0.0)
    }

    /// Its position if the vertices are at these positions.
    pub(super) fn of(&self, positions: &[Vec3A]) -> Vec3A {
        let corners = self.corners.iter().zip(self.weights);
        corners.fold(Vec3A::ZERO, |sum, (corner, weight)| {
            sum + positions[*corner as usize] * weight
        })
    }
}

/// The most triangles in a leaf of the tree.
const LEAF: usize = 4;

/// The most nodes that a search visits.
///
/// It visits about 20 of a usual character, and rarely 150. But if triangles are long and lie
/// across each other, a point is inside the boxes of most nodes, and no tree of boxes helps.
const MOST_NODES: usize = 8192;

/// A tree of boxes over the triangles of a mesh.
#[derive(Default)]
pub(super) struct Surface {
    triangles: Vec<[u32; 3]>,
    /// The children of node `n` are the next node and `nodes[n].second`.
    nodes: Vec<Node>,
}

struct Node {
    min: Vec3A,
    max: Vec3A,
    /// The second child. 0: a leaf.
    second: u32,
    /// The triangles of a leaf.
    start: u32,
    end: u32,
}

impl Node {
    #[inline]
    fn distance_squared(&self, point: Vec3A) -> f32 {
        let nearest = point.clamp(self.min, self.max);
        nearest.distance_squared(point)
    }
}

impl Surface {
    /// The surface of these triangles. All indices are below the number of positions.
    pub(super) fn new(positions: &[Vec3A], indices: &[u32]) -> Self {
        let mut surface = Self {
            triangles: indices.as_chunks::<3>().0.to_vec(),
            nodes: Vec::new(),
        };
        let count = surface.triangles.len();
        if count > 0 {
            surface.build(positions, 0, count);
        }
        surface
    }

    /// Adds the node of a range of triangles and all nodes below it.
    ///
    /// Halves are of equal size, so the depth is logarithmic.
    fn build(&mut self, positions: &[Vec3A], start: usize, end: usize) {
        let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for corner in self.triangles[start..end].as_flattened() {
            let position = positions[*corner as usize];
            (min, max) = (min.min(position), max.max(position));
        }
        let at = self.nodes.len();
        self.nodes.push(Node {
            min,
            max,
            second: 0,
            start: start as u32,
            end: end as u32,
        });
        if end - start <= LEAF {
            return;
        }
        let axis = greatest((max - min).to_array());
        let center = |triangle: &[u32; 3]| -> f32 {
            let corners = triangle.map(|corner| positions[corner as usize][axis]);
            corners.iter().sum()
        };
        let middle = (end - start) / 2;
        self.triangles[start..end]
            .select_nth_unstable_by(middle, |a, b| center(a).total_cmp(&center(b)));
        self.build(positions, start, start + middle);
        self.nodes[at].second = self.nodes.len() as u32;
        self.build(positions, start + middle, end);
    }

    /// The point with the least cost, and the cost. `None` without triangles. `positions` are those
    /// that the surface was made with.
    ///
    /// Of each triangle, the point that is nearest to `point` is compared. `cost` is at least its
    /// squared distance from `point`. It is handed the least cost so far, and may return any number
    /// that is not less if the cost is not. The search ends after [`MOST_NODES`] with the best
    /// point so far, so that its time is bounded.
    pub(super) fn nearest(
        &self,
        positions: &[Vec3A],
        point: Vec3A,
        cost: impl Fn(&SurfacePoint, f32) -> f32,
    ) -> Option<(SurfacePoint, f32)> {
        let mut best = None;
        let mut least = f32::INFINITY;
        let mut visited = 0;
        // The depth is at most 32.
        let mut open = Vec::with_capacity(32);
        open.extend(
            self.nodes
                .first()
                .map(|root| (0, root.distance_squared(point))),
        );
        while let Some((at, distance)) = open.pop() {
            if distance >= least {
                continue;
            }
            if visited == MOST_NODES {
                break;
            }
            visited += 1;
            let node = &self.nodes[at];
            if node.second == 0 {
                for triangle in &self.triangles[node.start as usize..node.end as usize] {
                    let (nearest, distance) = nearest_of(positions, triangle, point);
                    if distance >= least {
                        continue;
                    }
                    let cost = cost(&nearest, least);
                    if cost < least {
                        (least, best) = (cost, Some((nearest, cost)));
                    }
                }
                continue;
            }
            let children = [at + 1, node.second as usize];
            let mut children = children.map(|at| (at, self.nodes[at].distance_squared(point)));
            if children[0].1 < children[1].1 {
                children.swap(0, 1);
            }
            open.extend(children);
        }
        // Without a finite cost, any point will do.
        best.or_else(|| Some(nearest_of(positions, self.triangles.first()?, point)))
    }
}

/// The point of a triangle that is nearest to `point`, and its squared distance.
fn nearest_of(positions: &[Vec3A], triangle: &[u32; 3], point: Vec3A) -> (SurfacePoint, f32) {
    let [a, b, c] = triangle.map(|corner| positions[corner as usize]);
    let weights = nearest_on_triangle(point, [a, b, c]);
    let [u, v, w] = weights;
    let nearest = SurfacePoint {
        corners: *triangle,
        weights,
    };
    (nearest, (a * u + b * v + c * w).distance_squared(point))
}

/// The weights of the corners at the point of a triangle that is nearest to `point`.
///
/// Source: Ericson, "Real-Time Collision Detection", 2005, section 5.1.5.
#[inline]
pub(super) fn nearest_on_triangle(point: Vec3A, [a, b, c]: [Vec3A; 3]) -> [f32; 3] {
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = point - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = part(d1, d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = point - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = part(d2, d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    let (e4, e5) = (d4 - d3, d5 - d6);
    if va <= 0.0 && e4 >= 0.0 && e5 >= 0.0 {
        let w = part(e4, e4 + e5);
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    let (v, w) = (part(vb, sum), part(vc, sum));
    [1.0 - v - w, v, w]
}

/// `a / b`, or 0 if that is no number.
fn part(a: f32, b: f32) -> f32 {
    if b != 0.0 { a / b } else { 0.0 }
}
