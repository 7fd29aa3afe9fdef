//! Catmull–Clark refinement of a cage.
//!
//! After E. Catmull and J. Clark (1978), with creases after T. DeRose, M. Kass and T. Truong
//! (1998). Weights are refined like positions, so they are as smooth as the surface.

use super::cage::{Cage, Point, edge};
use std::collections::BTreeMap;

fn average(points: impl Iterator<Item = Point>) -> Point {
    let (sum, count) = points.fold((Point::ZERO, 0.0), |(sum, n), p| (sum + p, n + 1.0));
    sum * (1.0 / f32::max(count, 1.0))
}

impl Cage {
    /// Applies one refinement step: every face of n corners becomes n quads.
    pub(super) fn refined(&self) -> Self {
        let mut out = Self::default();
        let centers: Vec<_> = self
            .faces
            .iter()
            .map(|face| average(face.corners.iter().map(|c| self.points[*c])))
            .collect();
        let edges = self.edges();
        out.points
            .extend((0..self.points.len()).map(|p| Point { ..self.points[p] }));
        self.move_points(&mut out.points, &centers, &edges);
        let first_center = out.points.len();
        out.points.extend(&centers);
        let mut middle = BTreeMap::new();
        for (ends, faces) in &edges {
            let half = average([ends.0, ends.1].iter().map(|p| self.points[*p]));
            let point = if self.sharp.contains(ends) {
                half
            } else {
                average([half, average(faces.iter().map(|f| centers[*f]))].into_iter())
            };
            middle.insert(*ends, out.points.len());
            out.points.push(point);
        }
        for (a, b) in &self.sharp {
            let between = middle[&(*a, *b)];
            out.sharp.extend([edge(*a, between), edge(*b, between)]);
        }
        for (index, face) in self.faces.iter().enumerate() {
            let n = face.corners.len();
            for at in 0..n {
                let (previous, corner, next) = (
                    face.corners[(at + n - 1) % n],
                    face.corners[at],
                    face.corners[(at + 1) % n],
                );
                let quad = [
                    corner,
                    middle[&edge(corner, next)],
                    first_center + index,
                    middle[&edge(previous, corner)],
                ];
                out.face(&quad, face.paint);
            }
        }
        out
    }

    /// The faces at every edge.
    fn edges(&self) -> BTreeMap<(usize, usize), Vec<usize>> {
        let mut edges: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, face) in self.faces.iter().enumerate() {
            for (at, corner) in face.corners.iter().enumerate() {
                let next = face.corners[(at + 1) % face.corners.len()];
                edges.entry(edge(*corner, next)).or_default().push(index);
            }
        }
        edges
    }

    /// Moves the points of the unrefined cage.
    fn move_points(
        &self,
        out: &mut [Point],
        centers: &[Point],
        edges: &BTreeMap<(usize, usize), Vec<usize>>,
    ) {
        let mut around_faces = vec![Vec::new(); self.points.len()];
        for (index, face) in self.faces.iter().enumerate() {
            for corner in &face.corners {
                around_faces[*corner].push(index);
            }
        }
        let mut around = vec![Vec::new(); self.points.len()];
        for (a, b) in edges.keys() {
            around[*a].push(*b);
            around[*b].push(*a);
        }
        for (index, point) in self.points.iter().enumerate() {
            let sharp: Vec<_> = around[index]
                .iter()
                .filter(|other| self.sharp.contains(&edge(index, **other)))
                .collect();
            out[index] = match sharp[..] {
                [] | [_] => {
                    let n = around_faces[index].len() as f32;
                    let face = average(around_faces[index].iter().map(|f| centers[*f]));
                    let near = average(around[index].iter().map(|p| self.points[*p]));
                    // (F + 2 R + (n - 3) P) / n with R = (P + near) / 2.
                    (face + near + *point * (n - 2.0)) * (1.0 / n)
                }
                [a, b] => (*point * 6.0 + self.points[*a] + self.points[*b]) * 0.125,
                _ => *point,
            };
        }
    }
}
