//! Fewer triangles, edge by edge, as the poses suffer least.

use super::mesh::{FarMesh, renumbered};
use super::posing::Posing;
use super::track::Track;
use crate::character::levels::surface::{SurfacePoint, nearest_on_triangle};
use glam::{Mat3A, Vec3, Vec3A};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The weight with which a new vertex stays in the middle of its edge.
const STAY: f32 = 1e-3;
/// The most triangles of a piece that vanishes as a whole.
const PIECE: usize = 8;

/// A mesh whose edges collapse one by one.
///
/// The cost of a collapse is the growth of a sum over points of both surfaces: high powers of
/// their distances from the other surface, each the largest in any pose.
pub(super) struct Reducer<'a> {
    posing: &'a Posing<'a>,
    mesh: FarMesh,
    tracks: Vec<Track>,
    triangles: Vec<Triangle>,
    /// The triangles around each vertex.
    around: Vec<Vec<u32>>,
    /// The part of each vertex in the sum.
    single: Vec<f32>,
    /// The number of changes around each vertex.
    changes: Vec<u32>,
    queue: BinaryHeap<Reverse<Candidate>>,
    live: usize,
}

struct Triangle {
    corners: [u32; 3],
    /// Used vertices of the character that are tied to it, and their squared distances.
    tied: Vec<(u32, f32)>,
    /// The sum of its own points.
    own: f32,
    is_gone: bool,
}

/// An edge that may collapse into `kept`. The cheapest one comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    cost: Cost,
    kept: u32,
    gone: u32,
    /// False if the cost is a bound from below.
    is_exact: bool,
    /// The number of changes around both.
    changes: u32,
}

/// The bits of a number that are in its order, see [`f32::total_cmp`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cost(i32);

impl From<f32> for Cost {
    fn from(cost: f32) -> Self {
        let bits = cost.to_bits() as i32;
        Self(bits ^ ((bits >> 31) as u32 >> 1) as i32)
    }
}

/// A triangle that points can be tied to.
struct Ring<'a> {
    tracks: [&'a Track; 3],
    rest: [Vec3A; 3],
}

/// The place of a triangle in a list, and the point of it that stays nearest.
struct Tie {
    at: usize,
    square: f32,
    weights: [f32; 3],
}

/// The changes of a collapse.
struct Change {
    position: Vec3A,
    track: Track,
    /// The triangles that change, with their new corners and ties.
    triangles: Vec<(u32, [u32; 3])>,
    tied: Vec<(u32, u32, f32)>,
    /// The triangles that vanish.
    gone: Vec<u32>,
    cost: f32,
}

impl<'a> Reducer<'a> {
    pub(super) fn new(posing: &'a Posing<'a>, mesh: FarMesh) -> Self {
        let tracks = mesh.tracks(posing);
        let mut around = vec![Vec::new(); tracks.len()];
        let corners = mesh.indices.as_chunks::<3>().0;
        for (at, corners) in (0..).zip(corners) {
            corners
                .iter()
                .for_each(|corner| around[*corner as usize].push(at));
        }
        let mut new = Self {
            posing,
            triangles: Vec::new(),
            around,
            changes: vec![0; tracks.len()],
            single: Vec::new(),
            queue: BinaryHeap::new(),
            live: corners.len(),
            tracks,
            mesh,
        };
        let corners = new.mesh.indices.as_chunks::<3>().0;
        let triangles = corners.par_iter().map(|corners| Triangle {
            corners: *corners,
            tied: Vec::new(),
            own: new.own(*corners, u32::MAX, &Track::default()),
            is_gone: false,
        });
        new.triangles = triangles.collect();
        new.single = new
            .tracks
            .par_iter()
            .map(|track| new.single(track))
            .collect();
        let all: Vec<(u32, [u32; 3])> = (0..).zip(corners.iter().copied()).collect();
        let unmoved = Track::default();
        let ring = new.ring(&all, u32::MAX, &unmoved);
        let used = new.posing.used.par_iter();
        let ties: Vec<Tie> = used.map(|point| new.tie(*point, &ring)).collect();
        for (point, tie) in new.posing.used.iter().zip(ties) {
            new.triangles[tie.at].tied.push((*point, tie.square));
        }
        let vertices: Vec<u32> = (0..new.tracks.len() as u32).collect();
        new.enqueue(&vertices);
        new
    }

    /// The mesh with at most this many triangles, or `None` if nothing can collapse any more.
    ///
    /// Only the costs of the cheapest candidates are kept up to date.
    pub(super) fn reduce(&mut self, triangles: usize) -> Option<FarMesh> {
        while self.live > triangles {
            let Reverse(next) = self.queue.pop()?;
            let Some(mut change) = self.change(next.kept, next.gone) else {
                continue;
            };
            let changes = self.changes(next.kept, next.gone);
            if next.is_exact && changes == next.changes {
                self.apply(next.kept, next.gone, &change);
                continue;
            }
            self.complete(next.kept, &mut change);
            self.queue.push(Reverse(Candidate {
                cost: change.cost.into(),
                changes,
                is_exact: true,
                ..next
            }));
        }
        Some(self.compact())
    }

    /// Adds the points of the changed triangles to the cost.
    fn complete(&self, kept: u32, change: &mut Change) {
        let own = change.triangles.par_iter();
        let own = own.map(|(_, corners)| self.own(*corners, kept, &change.track));
        let own: Vec<f32> = own.collect();
        change.cost += own.iter().sum::<f32>() + self.single(&change.track);
    }

    /// The number of changes around two vertices.
    fn changes(&self, kept: u32, gone: u32) -> u32 {
        self.changes[kept as usize] + self.changes[gone as usize]
    }

    /// The mesh without what has vanished.
    fn compact(&self) -> FarMesh {
        let left = self.triangles.iter().filter(|triangle| !triangle.is_gone);
        let left: Vec<u32> = left.flat_map(|triangle| triangle.corners).collect();
        let (vertices, indices) = renumbered(&left, self.tracks.len());
        let all = || vertices.iter().map(|vertex| *vertex as usize);
        FarMesh {
            positions: all().map(|vertex| self.mesh.positions[vertex]).collect(),
            entries: all().map(|vertex| self.mesh.entries[vertex]).collect(),
            indices,
        }
    }

    /// A power of a squared distance.
    fn power(&self, square: f32) -> f32 {
        let part = square / (self.posing.size * self.posing.size);
        let part = part * part;
        part * part
    }

    /// The sum over points of a triangle, one corner of which is moved.
    fn own(&self, corners: [u32; 3], moved: u32, track: &Track) -> f32 {
        let corners = corners.map(|corner| *self.of(corner, moved, track));
        let points = SurfacePoint::within([0, 1, 2]);
        let points = points.iter().map(|point| Track::of(point, &corners));
        points.map(|point| self.single(&point)).sum()
    }

    /// The part of a point in the sum.
    fn single(&self, track: &Track) -> f32 {
        let nearest = self.posing.nearest(track);
        nearest.map_or(0.0, |(_, square)| self.power(square))
    }

    fn of<'b>(&'b self, vertex: u32, moved: u32, track: &'b Track) -> &'b Track {
        match vertex == moved {
            true => track,
            false => &self.tracks[vertex as usize],
        }
    }

    /// The triangle that stays nearest to a used vertex.
    fn tie(&self, point: u32, triangles: &[Ring<'_>]) -> Tie {
        let point = &self.posing.tracks[point as usize];
        let at = point.at(0);
        let mut best = Tie {
            at: 0,
            square: f32::INFINITY,
            weights: [0.0; 3],
        };
        for (number, ring) in triangles.iter().enumerate() {
            let weights = nearest_on_triangle(at, ring.rest);
            let [a, b, c] = ring.rest;
            let nearest = a * weights[0] + b * weights[1] + c * weights[2];
            if nearest.distance_squared(at) >= best.square {
                continue;
            }
            let square = point.distance_squared(ring.tracks, weights, best.square);
            if square < best.square {
                best = Tie {
                    at: number,
                    square,
                    weights,
                };
            }
        }
        best
    }

    /// Triangles, one vertex of which is moved.
    fn ring<'b>(
        &'b self,
        triangles: &[(u32, [u32; 3])],
        moved: u32,
        track: &'b Track,
    ) -> Vec<Ring<'b>> {
        let all = triangles.iter().map(|(_, corners)| {
            let tracks = corners.map(|corner| self.of(corner, moved, track));
            Ring {
                tracks,
                rest: tracks.map(|track| track.at(0)),
            }
        });
        all.collect()
    }

    /// The collapse of an edge. `None` if it is none.
    fn change(&self, kept: u32, gone: u32) -> Option<Change> {
        let around = |vertex: u32| self.around[vertex as usize].iter();
        let corners = |number: u32| self.triangles[number as usize].corners;
        let (mut changed, mut dying) = (Vec::new(), Vec::new());
        for number in around(kept).chain(around(gone)) {
            let corners = corners(*number);
            if corners.contains(&kept) && corners.contains(&gone) {
                dying.push(*number);
            } else {
                let merged = corners.map(|corner| if corner == gone { kept } else { corner });
                changed.push((*number, merged));
            }
        }
        dying.sort_unstable();
        dying.dedup();
        if dying.is_empty() {
            return None;
        }
        // Two triangles with the same corners face each other.
        let set = |mut corners: [u32; 3]| {
            corners.sort_unstable();
            corners
        };
        let mut at = 0;
        while at < changed.len() {
            let own = set(changed[at].1);
            match changed[at + 1..]
                .iter()
                .position(|other| set(other.1) == own)
            {
                Some(other) => {
                    dying.push(changed.remove(at + 1 + other).0);
                    dying.push(changed.remove(at).0);
                }
                None => at += 1,
            }
        }
        if changed.is_empty() {
            return self.removal(kept);
        }
        let entry = self.mesh.entries[kept as usize];
        let rest = &self.posing.palettes[0][entry as usize];
        let [a, b] = [kept, gone].map(|vertex| self.tracks[vertex as usize].at(0));
        let middle = rest.inverse().transform_point3a((a + b) * 0.5);
        let track = self.posing.track(entry, middle);
        let old = || {
            let all = changed.iter().map(|(number, _)| number).chain(&dying);
            all.map(|number| &self.triangles[*number as usize])
        };
        let points: Vec<(u32, f32)> = old().flat_map(|of| of.tied.iter().copied()).collect();
        let position = self.placed(kept, entry, middle, &points, &changed, &track)?;
        let track = self.posing.track(entry, position);
        let mut cost = 0.0;
        let ring = self.ring(&changed, kept, &track);
        let tied = points.iter().map(|(point, before)| {
            let tie = self.tie(*point, &ring);
            cost += self.power(tie.square) - self.power(*before);
            (*point, changed[tie.at].0, tie.square)
        });
        let tied: Vec<(u32, u32, f32)> = tied.collect();
        cost -= old().map(|triangle| triangle.own).sum::<f32>();
        cost -= self.single[kept as usize] + self.single[gone as usize];
        cost.is_finite().then_some(Change {
            position,
            track,
            triangles: changed,
            tied,
            gone: dying,
            cost,
        })
    }

    fn neighbours(&self, vertex: u32) -> Vec<u32> {
        let around = self.around[vertex as usize].iter();
        let corners = around.flat_map(|number| self.triangles[*number as usize].corners);
        let mut near: Vec<u32> = corners.filter(|corner| *corner != vertex).collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    /// The position of a vertex at which points are nearest, by weighted least squares.
    fn placed(
        &self,
        kept: u32,
        entry: u32,
        start: Vec3A,
        points: &[(u32, f32)],
        changed: &[(u32, [u32; 3])],
        track: &Track,
    ) -> Option<Vec3A> {
        let mut sum = STAY;
        let mut rest = Track::default();
        rest.add(track, STAY);
        let total: f32 = points.iter().map(|(_, square)| square).sum();
        let ring = self.ring(changed, kept, track);
        for (point, _) in points {
            let Tie {
                at,
                square,
                weights,
            } = self.tie(*point, &ring);
            let strength = square / total.max(f32::MIN_POSITIVE);
            let (_, corners) = &changed[at];
            let own = corners
                .iter()
                .zip(weights)
                .filter(|(corner, _)| **corner == kept);
            let own: f32 = own.map(|(_, weight)| weight).sum();
            if own == 0.0 {
                continue;
            }
            // The vertex alone should be at `wanted / own`.
            let factor = strength * own;
            sum += factor * own;
            rest.add(&self.posing.tracks[*point as usize], factor);
            for (corner, weight) in corners.iter().zip(weights) {
                if *corner != kept {
                    rest.add(&self.tracks[*corner as usize], -factor * weight);
                }
            }
        }
        let (mut matrix, mut right) = (Mat3A::ZERO, Vec3A::ZERO);
        for (pose, palette) in self.posing.palettes.iter().enumerate() {
            let of = &palette[entry as usize];
            let back = of.matrix3.transpose();
            matrix += back * of.matrix3 * sum;
            right += back * (rest.at(pose) - of.translation * sum);
        }
        let scale = matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z;
        let least = scale * 1e-6;
        matrix += Mat3A::from_diagonal(Vec3::splat(least));
        right += start * least;
        let at = matrix.inverse() * right;
        at.is_finite().then_some(at)
    }

    /// The change by which a small piece vanishes.
    fn removal(&self, vertex: u32) -> Option<Change> {
        let mut gone = self.around[vertex as usize].clone();
        let mut at = 0;
        while at < gone.len() && gone.len() <= PIECE {
            for corner in self.triangles[gone[at] as usize].corners {
                for number in &self.around[corner as usize] {
                    if !gone.contains(number) {
                        gone.push(*number);
                    }
                }
            }
            at += 1;
        }
        if gone.is_empty() || gone.len() > PIECE || gone.len() == self.live {
            return None;
        }
        let others = (0..).zip(&self.triangles);
        let others = others.filter(|(number, of)| !of.is_gone && !gone.contains(number));
        let others: Vec<(u32, [u32; 3])> =
            others.map(|(number, of)| (number, of.corners)).collect();
        let (mut cost, mut tied) = (0.0, Vec::new());
        let track = self.tracks[vertex as usize];
        let ring = self.ring(&others, u32::MAX, &track);
        for triangle in &gone {
            let triangle = &self.triangles[*triangle as usize];
            cost -= triangle.own;
            for (point, before) in &triangle.tied {
                let tie = self.tie(*point, &ring);
                cost += self.power(tie.square) - self.power(*before);
                tied.push((*point, others[tie.at].0, tie.square));
            }
        }
        Some(Change {
            position: self.mesh.positions[vertex as usize],
            track,
            triangles: Vec::new(),
            tied,
            gone,
            cost,
        })
    }

    fn apply(&mut self, kept: u32, gone: u32, change: &Change) {
        let mut near = Vec::new();
        for number in &change.gone {
            let triangle = &mut self.triangles[*number as usize];
            triangle.is_gone = true;
            triangle.tied.clear();
            for corner in triangle.corners {
                self.around[corner as usize].retain(|at| at != number);
                near.push(corner);
            }
        }
        self.live -= change.gone.len();
        self.mesh.positions[kept as usize] = change.position;
        self.tracks[kept as usize] = change.track;
        self.single[kept as usize] = self.single(&change.track);
        for (number, corners) in &change.triangles {
            let own = self.own(*corners, kept, &change.track);
            let triangle = &mut self.triangles[*number as usize];
            (triangle.corners, triangle.own) = (*corners, own);
            triangle.tied.clear();
            near.extend(corners);
        }
        for (point, number, square) in &change.tied {
            self.triangles[*number as usize]
                .tied
                .push((*point, *square));
        }
        if kept != gone {
            let moved = core::mem::take(&mut self.around[gone as usize]);
            self.around[kept as usize].extend(moved);
            near.push(kept);
        }
        near.sort_unstable();
        near.dedup();
        for vertex in near {
            self.changes[vertex as usize] += 1;
        }
        if kept != gone {
            self.enqueue(&[kept]);
        }
    }

    /// Adds all edges at these vertices.
    fn enqueue(&mut self, vertices: &[u32]) {
        let edges = vertices.iter().flat_map(|vertex| {
            let near = self.neighbours(*vertex).into_iter();
            near.flat_map(|other| [(*vertex, other), (other, *vertex)])
        });
        let mut edges: Vec<(u32, u32)> = edges.collect();
        edges.sort_unstable();
        edges.dedup();
        let candidates = edges.into_par_iter().filter_map(|(kept, gone)| {
            Some(Reverse(Candidate {
                cost: self.change(kept, gone)?.cost.into(),
                kept,
                gone,
                changes: self.changes(kept, gone),
                is_exact: false,
            }))
        });
        let candidates: Vec<Reverse<Candidate>> = candidates.collect();
        self.queue.extend(candidates);
    }
}
