//! A coarse polygon cage with joint weights and paint.

use super::rig::{JOINTS, mirrored};
use core::ops::{Add, Mul};
use std::collections::BTreeSet;
use throng::glam::Vec3;

/// The material of a face.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Paint {
    Skin,
    Shirt,
    Trousers,
    Shoe,
    Sole,
    Hair,
    Eye,
    Lips,
}

/// A cage vertex: its position and its joint weights.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) position: Vec3,
    pub(super) weights: [f32; JOINTS],
}

impl Add for Point {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.position += other.position;
        for (weight, more) in self.weights.iter_mut().zip(other.weights) {
            *weight += more;
        }
        self
    }
}

impl Mul<f32> for Point {
    type Output = Self;

    fn mul(mut self, factor: f32) -> Self {
        self.position *= factor;
        self.weights.iter_mut().for_each(|weight| *weight *= factor);
        self
    }
}

impl Point {
    pub(super) const ZERO: Self = Self {
        position: Vec3::ZERO,
        weights: [0.0; JOINTS],
    };

    fn mirrored(&self) -> Self {
        let p = self.position;
        Self {
            position: Vec3::new(-p.x, p.y, p.z),
            weights: core::array::from_fn(|joint| self.weights[mirrored(joint)]),
        }
    }
}

/// A face. Its corners are counter-clockwise as seen from outside.
#[derive(Clone)]
pub(super) struct Face {
    pub(super) corners: Vec<usize>,
    pub(super) paint: Paint,
}

/// Influences: pairs of joint and weight. The weights need not sum to 1.
pub(super) type Bind<'a> = &'a [(usize, f32)];

#[derive(Default)]
pub(super) struct Cage {
    pub(super) points: Vec<Point>,
    pub(super) faces: Vec<Face>,
    /// Edges that stay sharp, with the lower index first.
    pub(super) sharp: BTreeSet<(usize, usize)>,
}

/// The key of an edge.
pub(super) fn edge(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

impl Cage {
    pub(super) fn point(&mut self, position: Vec3, bind: Bind<'_>) -> usize {
        self.points.push(Point {
            position,
            weights: [0.0; JOINTS],
        });
        self.bind(self.points.len() - 1, bind);
        self.points.len() - 1
    }

    /// Replaces the joint weights of a point.
    pub(super) fn bind(&mut self, point: usize, bind: Bind<'_>) {
        let total: f32 = bind.iter().map(|(_, weight)| weight).sum();
        self.points[point].weights = [0.0; JOINTS];
        for (joint, weight) in bind {
            self.points[point].weights[*joint] += weight / total;
        }
    }

    pub(super) fn ring(
        &mut self,
        positions: impl IntoIterator<Item = Vec3>,
        bind: Bind<'_>,
    ) -> Vec<usize> {
        positions.into_iter().map(|p| self.point(p, bind)).collect()
    }

    pub(super) fn face(&mut self, corners: &[usize], paint: Paint) {
        self.faces.push(Face {
            corners: corners.to_vec(),
            paint,
        });
    }

    /// Adds quads between two open rows.
    pub(super) fn strip(&mut self, from: &[usize], to: &[usize], paint: Paint) {
        for (a, b) in from.windows(2).zip(to.windows(2)) {
            self.face(&[a[0], a[1], b[1], b[0]], paint);
        }
    }

    /// Adds quads between two closed loops.
    pub(super) fn tube(&mut self, from: &[usize], to: &[usize], paint: Paint) {
        self.strip(from, to, paint);
        let last = from.len() - 1;
        self.face(&[from[last], from[0], to[0], to[last]], paint);
    }

    /// Keeps the edges of a row sharp.
    pub(super) fn crease(&mut self, row: &[usize]) {
        self.sharp
            .extend(row.windows(2).map(|pair| edge(pair[0], pair[1])));
    }

    /// Keeps the edges of a closed loop sharp.
    pub(super) fn crease_loop(&mut self, row: &[usize]) {
        self.crease(row);
        self.crease(&[row[row.len() - 1], row[0]]);
    }

    /// Adds a box that refines to nearly an ellipsoid with these half axes in metres.
    pub(super) fn blob(
        &mut self,
        center: Vec3,
        half_axes: [Vec3; 3],
        bind: Bind<'_>,
        paint: Paint,
    ) {
        let [x, y, z] = half_axes;
        let c: Vec<_> = (0..8)
            .map(|bits: u32| {
                let sign = |bit: u32| if bits >> bit & 1 == 1 { 1.0 } else { -1.0 };
                self.point(center + x * sign(0) + y * sign(1) + z * sign(2), bind)
            })
            .collect();
        for quad in [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ] {
            self.face(&quad.map(|corner| c[corner]), paint);
        }
    }

    /// Adds the mirror image of the cage, joined at the points whose x is 0.
    pub(super) fn mirror(&mut self) {
        let count = self.points.len();
        let mut image = Vec::with_capacity(count);
        for index in 0..count {
            let point = self.points[index];
            let other = point.mirrored();
            if point.position.x == 0.0 {
                self.points[index] = (point + other) * 0.5;
                image.push(index);
            } else {
                self.points.push(other);
                image.push(self.points.len() - 1);
            }
        }
        for index in 0..self.faces.len() {
            let face = self.faces[index].clone();
            let corners = face
                .corners
                .iter()
                .rev()
                .map(|corner| image[*corner])
                .collect();
            self.faces.push(Face {
                corners,
                paint: face.paint,
            });
        }
        let sharp: Vec<_> = self
            .sharp
            .iter()
            .map(|(a, b)| edge(image[*a], image[*b]))
            .collect();
        self.sharp.extend(sharp);
    }
}
