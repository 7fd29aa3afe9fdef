//! Distances between surfaces of triangles.

use throng::glam::Vec3;

/// The nearest point of a triangle, by a search over its faces, edges and corners.
pub fn distance(point: Vec3, corners: [Vec3; 3]) -> f32 {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let inside = |p: Vec3, q: Vec3| (q - p).cross(point - p).dot(normal) >= 0.0;
    if normal.length_squared() > 0.0 && inside(a, b) && inside(b, c) && inside(c, a) {
        return (point - a).dot(normal.normalize()).abs();
    }
    let to_edge = |p: Vec3, q: Vec3| {
        let along = q - p;
        let length = along.length_squared();
        let at = if length > 0.0 {
            (point - p).dot(along) / length
        } else {
            0.0
        };
        point.distance(p + along * at.clamp(0.0, 1.0))
    };
    to_edge(a, b).min(to_edge(b, c)).min(to_edge(c, a))
}

/// A part of a surface in one pose.
#[derive(Default)]
pub struct Shape {
    /// Vertices that triangles use, and for levels points within these triangles.
    pub points: Vec<Vec3>,
    pub triangles: Vec<[Vec3; 3]>,
}

impl Shape {
    /// Adds triangles, with each of their vertices once.
    pub fn add(&mut self, positions: &[Vec3], indices: &[u32]) {
        let mut used = indices.to_vec();
        used.sort_unstable();
        used.dedup();
        self.points
            .extend(used.iter().map(|index| positions[*index as usize]));
        let triangles = indices.as_chunks::<3>().0.iter();
        self.triangles
            .extend(triangles.map(|corners| corners.map(|corner| positions[corner as usize])));
    }

    /// Also checks points within the triangles: the centres, and those of the edges.
    pub fn with_points_within(mut self) -> Self {
        for [a, b, c] in &self.triangles {
            let edges = [(a, b), (b, c), (c, a)].map(|(a, b)| (*a + *b) / 2.0);
            self.points
                .extend(edges.into_iter().chain([(*a + *b + *c) / 3.0]));
        }
        self
    }

    /// The first point that is further from another surface than `most`.
    ///
    /// `near` keeps a triangle that was near in the last pose for each point.
    pub fn far_from(&self, other: &Self, most: f32, near: &mut Vec<usize>) -> Option<usize> {
        near.resize(self.points.len(), 0);
        let is_far = |(point, near): (&Vec3, &mut usize)| {
            let is_near = |corners: &[Vec3; 3]| distance(*point, *corners) <= most;
            if other.triangles.get(*near).is_some_and(is_near) {
                return false;
            }
            let found = other.triangles.iter().position(is_near);
            *near = found.unwrap_or(0);
            found.is_none()
        };
        self.points.iter().zip(near).position(is_far)
    }
}
