//! The error of levels of detail over all poses.

use super::cover::covers;
use super::poses::{Poses, Shot};
use super::surface::{Surface, SurfacePoint};
use super::whole::{Whole, WholePose};
use crate::character::asset::Character;
use crate::error::Result;
use crate::mesh::{Aabb, MeshLevel, Primitive};
use glam::Vec3A;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;

/// The factor from the largest distance in the measured poses to the error of a level.
///
/// It covers the poses between the measured ones.
const MARGIN: f32 = 1.1;

/// The number of poses in which points of the level are compared at first.
const TYING_POSES: usize = 12;
/// The number of times that points are compared, each time in more poses: those in which they were
/// farthest apart.
const ROUNDS: usize = 3;
/// The factor by which other poses may be worse than the compared ones before there is another
/// round.
const NEAR: f32 = 1.1;

/// The largest distances between the surface of a primitive, or of the character, and that of one
/// level.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Distance {
    /// As the level is drawn if it is not rigid.
    pub(super) blended: f32,
    /// If each vertex of the level follows its strongest joint alone.
    pub(super) rigid: f32,
}

impl Distance {
    /// Larger than all others.
    const NONE: Self = Self {
        blended: f32::INFINITY,
        rigid: f32::INFINITY,
    };

    fn min(self, other: Self) -> Self {
        Self {
            blended: self.blended.min(other.blended),
            rigid: self.rigid.min(other.rigid),
        }
    }

    /// That of a level, which is rigid or not.
    pub(super) fn of(self, level: &MeshLevel) -> f32 {
        if level.rigid {
            self.rigid
        } else {
            self.blended
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            blended: self.blended.max(other.blended),
            rigid: self.rigid.max(other.rigid),
        }
    }
}

/// The triangles of one level, to be measured against those of the full level.
pub(super) struct Candidate<'a> {
    pub(super) of: Of,
    /// The triangles of the level, with the numbers of the primitive or of the [`Whole`].
    pub(super) indices: &'a [u32],
    /// True if the rigid error is wanted.
    pub(super) rigid: bool,
}

/// The full surface that a level replaces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Of {
    Primitive(usize),
    Whole,
}

/// Points of the full surface and points of a level that are tied to each other.
struct Tied {
    /// Empty if the level has no triangles.
    ties: Vec<(SurfacePoint, SurfacePoint)>,
    /// The largest distance in the poses in which they were compared.
    distance_m: f32,
    /// The vertices of the surface that the level replaces.
    vertices: Range<u32>,
    rigid: bool,
}

/// Measures levels in the poses of some clips, and in blends of these with all clips.
///
/// Each vertex of the full surface is tied to a point of the level's surface, and points within
/// each triangle of the level are tied to the full surface. In every pose, the distance between the
/// two is a bound of the point's distance from the other surface. Morph weights take any value of
/// their range, each by itself. The error of a level without triangles is the size of what it
/// replaces.
pub(super) fn measure(
    poses: &Poses<'_>,
    whole: &Whole<'_>,
    shots: &[Shot],
    candidates: &[Candidate<'_>],
) -> Result<Vec<Distance>> {
    let mut rest = Rest::new(poses, whole)?;
    let mut best = vec![Distance::NONE; candidates.len()];
    let mut open: Vec<usize> = (0..candidates.len()).collect();
    for _ in 0..ROUNDS {
        let tied = open.par_iter().map(|at| rest.tie(&candidates[*at]));
        let tied: Vec<Tied> = tied.collect();
        let worst = worst(poses, whole, shots, &tied)?;
        let mut added = BTreeSet::new();
        let all = open.iter().zip(worst).zip(&tied);
        let far = all.filter_map(|((at, (distance, shot)), tied)| {
            best[*at] = best[*at].min(distance);
            let is_far = distance.blended > tied.distance_m * NEAR;
            is_far.then(|| {
                added.insert(shot);
                *at
            })
        });
        open = far.collect();
        for shot in added {
            rest.add(poses, shots[shot])?;
        }
    }
    Ok(best)
}

/// The largest distances in all shots, each with the shot in which the level is farthest away.
fn worst(
    poses: &Poses<'_>,
    whole: &Whole<'_>,
    shots: &[Shot],
    tied: &[Tied],
) -> Result<Vec<(Distance, usize)>> {
    let any_rigid = tied.iter().any(|tied| tied.rigid);
    let none = || vec![(Distance::default(), 0); tied.len()];
    let at_pose = |(number, shot): (usize, &Shot)| {
        let palette = poses.palette(*shot)?;
        let posing = Posing {
            blended: whole.posed(&palette, false),
            rigid: any_rigid.then(|| whole.posed(&palette, true)),
            weights: &poses.weights,
        };
        let each = tied.iter().map(|tied| (posing.distance(tied), number));
        Ok(each.collect())
    };
    let merge = |a: Vec<(Distance, usize)>, b: Vec<(Distance, usize)>| {
        let pairs = a.into_iter().zip(b).map(|(a, b)| {
            let shot = if b.0.blended > a.0.blended { b.1 } else { a.1 };
            (a.0.max(b.0), shot)
        });
        Ok(pairs.collect())
    };
    let all = shots.par_iter().enumerate().map(at_pose);
    all.try_reduce(none, merge)
}

/// The character in the rest pose and in some others.
struct Rest<'a> {
    whole: &'a Whole<'a>,
    /// The triangles of the full level.
    indices: Vec<u32>,
    /// The vertices at rest in character space, with their morph weights, and in other poses
    /// without.
    positions: Vec<Vec<Vec3A>>,
}

impl<'a> Rest<'a> {
    fn new(poses: &Poses<'_>, whole: &'a Whole<'a>) -> Result<Self> {
        let mut rest = Self {
            whole,
            indices: whole.triangles(0),
            positions: Vec::new(),
        };
        for shot in poses.spread(TYING_POSES)? {
            rest.add(poses, shot)?;
        }
        Ok(rest)
    }

    /// Adds a pose.
    fn add(&mut self, poses: &Poses<'_>, shot: Shot) -> Result<()> {
        let palette = poses.palette(shot)?;
        self.positions.push(match shot {
            Shot::Rest => self.whole.morphed(&palette),
            _ => self.whole.posed(&palette, false).positions,
        });
        Ok(())
    }

    /// Ties points of both surfaces to the points of the other that stay nearest.
    fn tie(&self, candidate: &Candidate<'_>) -> Tied {
        let (vertices, full, level) = match candidate.of {
            Of::Whole => {
                let end = self.positions[0].len() as u32;
                (0..end, self.indices.clone(), candidate.indices.to_vec())
            }
            Of::Primitive(number) => {
                let own = self.whole.vertices(number);
                let full = self.whole.primitives()[number].indices.iter();
                let full = full.map(|index| own.start + index).collect();
                let level = self.whole.numbered(number, candidate.indices).collect();
                (own, full, level)
            }
        };
        let mut used: Vec<u32> = full.clone();
        used.sort_unstable();
        used.dedup();
        let coarse = Surface::new(&self.positions[0], &level);
        let fine = Surface::new(&self.positions[0], &full);
        let there = used.into_iter().filter_map(|vertex| {
            let vertex = SurfacePoint::vertex(vertex);
            let (nearest, square) = self.nearest(&vertex, &coarse)?;
            Some(((vertex, nearest), square))
        });
        let triangles = level.as_chunks::<3>().0.iter();
        let within = triangles.flat_map(|corners| SurfacePoint::within(*corners));
        // Other corners are those of the full level.
        let corners = level.iter().filter(|_| candidate.of == Of::Whole);
        let corners = corners.map(|corner| SurfacePoint::vertex(*corner));
        let back = within.chain(corners).filter_map(|point| {
            let (nearest, square) = self.nearest(&point, &fine)?;
            Some(((nearest, point), square))
        });
        let (ties, squares): (Vec<_>, Vec<f32>) = there.chain(back).unzip();
        Tied {
            ties,
            distance_m: squares.into_iter().fold(0.0, f32::max).sqrt(),
            vertices,
            rigid: candidate.rigid,
        }
    }

    /// The point of a surface that stays nearest to another point.
    ///
    /// Each triangle offers the point that is nearest at rest. Of these, the one whose largest
    /// distance is least is taken, in the rest pose and some others. Otherwise, a finger could be
    /// tied to the next one. Any point of the surface is a tie that gives a bound, so the search
    /// may end early.
    fn nearest(&self, point: &SurfacePoint, surface: &Surface) -> Option<(SurfacePoint, f32)> {
        let places: Vec<Vec3A> = self.positions.iter().map(|all| point.of(all)).collect();
        let cost = |other: &SurfacePoint, least: f32| {
            let mut most = 0.0_f32;
            for (all, place) in self.positions.iter().zip(&places) {
                most = most.max(other.of(all).distance_squared(*place));
                if most >= least {
                    break;
                }
            }
            most
        };
        surface.nearest(&self.positions[0], places[0], cost)
    }
}

/// A character in one pose.
struct Posing<'a> {
    blended: WholePose<'a>,
    rigid: Option<WholePose<'a>>,
    /// The smallest and the largest value of each morph weight.
    weights: &'a [[f32; 2]],
}

impl Posing<'_> {
    fn distance(&self, tied: &Tied) -> Distance {
        if tied.ties.is_empty() {
            let own = tied.vertices.start as usize..tied.vertices.end as usize;
            let bounds = self.blended.positions[own].iter();
            let bounds = bounds.fold(Aabb::EMPTY, |all, at| all.with_point((*at).into()));
            let size = bounds.size().length();
            return Distance {
                blended: size,
                rigid: size,
            };
        }
        let largest = |level: &WholePose<'_>| {
            let mut sums = Sums::new(self.weights);
            let distance = |(full, point): &(SurfacePoint, SurfacePoint)| {
                self.distance_between(full, point, level, &mut sums)
            };
            tied.ties.iter().map(distance).fold(0.0, f32::max)
        };
        Distance {
            blended: largest(&self.blended),
            rigid: match &self.rigid {
                Some(rigid) if tied.rigid => largest(rigid),
                _ => 0.0,
            },
        }
    }

    /// The largest distance between a point of the full surface and one of the level, over all
    /// morph weights.
    #[inline]
    fn distance_between(
        &self,
        full: &SurfacePoint,
        point: &SurfacePoint,
        level: &WholePose<'_>,
        sums: &mut Sums<'_>,
    ) -> f32 {
        if self.weights.is_empty() {
            return full
                .of(&self.blended.positions)
                .distance(point.of(&level.positions));
        }
        sums.clear();
        let mut between = Vec3A::ZERO;
        for (posed, point, sign) in [(&self.blended, full, 1.0), (level, point, -1.0)] {
            for (corner, weight) in point.parts() {
                between += posed.positions[corner as usize] * (weight * sign);
                for (target, offset) in posed.offsets(corner) {
                    sums.add(target, offset * (weight * sign));
                }
            }
        }
        sums.longest(between)
    }
}

/// Sums of morph offsets by weight.
struct Sums<'a> {
    weights: &'a [[f32; 2]],
    sums: Vec<Vec3A>,
    is_touched: Vec<bool>,
    touched: Vec<usize>,
}

impl<'a> Sums<'a> {
    fn new(weights: &'a [[f32; 2]]) -> Self {
        Self {
            weights,
            sums: Vec::new(),
            is_touched: Vec::new(),
            touched: Vec::new(),
        }
    }

    fn clear(&mut self) {
        for target in self.touched.drain(..) {
            (self.sums[target], self.is_touched[target]) = (Vec3A::ZERO, false);
        }
    }

    fn add(&mut self, target: usize, offset: Vec3A) {
        if self.sums.len() <= target {
            self.sums.resize(target + 1, Vec3A::ZERO);
            self.is_touched.resize(target + 1, false);
        }
        if !core::mem::replace(&mut self.is_touched[target], true) {
            self.touched.push(target);
        }
        self.sums[target] += offset;
    }

    /// A bound of the length of `vector` plus the weighted sums, over all weights.
    ///
    /// The sums are those at the middle weights, plus at most half a range of each.
    fn longest(&self, vector: Vec3A) -> f32 {
        if self.touched.is_empty() {
            return vector.length();
        }
        let (mut middle, mut lengths, mut axes) = (vector, 0.0, Vec3A::ZERO);
        for target in &self.touched {
            let [least, most] = self.weights.get(*target).copied().unwrap_or([0.0, 1.0]);
            middle += self.sums[*target] * ((least + most) * 0.5);
            let half = self.sums[*target] * ((most - least) * 0.5);
            lengths += half.length();
            axes += half.abs();
        }
        (middle.length() + lengths).min((middle.abs() + axes).length())
    }
}

impl Character {
    /// False if the error or the cover of a level is not known yet.
    pub(in crate::character) fn has_measured_levels(&self) -> bool {
        let levels = self.primitives().iter().flat_map(|of| &of.levels);
        let mut levels = levels.into_iter();
        levels.all(|level| level.error_m.is_finite() && level.cover.is_finite())
    }

    /// Measures the errors and the covers of all levels in the poses of some clips.
    ///
    /// Errors that were measured for earlier clips stay if they are larger, unless the range starts
    /// with the first clip.
    ///
    /// # Errors
    /// Never fails, because the poses fit the skeleton.
    pub(in crate::character) fn measure_levels(&mut self, clips: Range<usize>) -> Result<()> {
        let is_all = clips.start == 0;
        if self.level_count() == 0 || clips.is_empty() && !is_all {
            return Ok(());
        }
        let poses = Poses::new(self, clips);
        let whole = Whole::new(self);
        let distances = distances(&poses, &whole, |at, of| of.levels[at].rigid)?;
        for (number, primitive) in self.model.primitives.iter_mut().enumerate() {
            for (at, level) in primitive.levels.iter_mut().enumerate() {
                let error_m = error_m(distances[at][number].of(level));
                level.error_m = match is_all {
                    true => error_m,
                    false => error_m.max(level.error_m),
                };
            }
        }
        match is_all {
            true => self.measure_covers(),
            false => Ok(()),
        }
    }

    /// Measures the covers of all levels in the poses of all clips.
    ///
    /// # Errors
    /// Never fails, because the poses fit the skeleton.
    pub(super) fn measure_covers(&mut self) -> Result<()> {
        let poses = Poses::new(self, 0..self.clip_count());
        let covers = covers(&poses, &Whole::new(self))?;
        for primitive in &mut self.model.primitives {
            for (level, cover) in primitive.levels.iter_mut().zip(&covers) {
                level.cover = *cover;
            }
        }
        Ok(())
    }
}

/// For each level, the distances of all primitives. `rigid` tells if those of a rigid level are
/// wanted.
///
/// That of a mesh of its own is measured against all others.
pub(super) fn distances(
    poses: &Poses<'_>,
    whole: &Whole<'_>,
    rigid: impl Fn(usize, &Primitive) -> bool,
) -> Result<Vec<Vec<Distance>>> {
    let primitives = whole.primitives();
    let count = primitives.first().map_or(0, |of| of.levels.len());
    let is_far = |at: usize| {
        let mut primitives = primitives.iter();
        primitives.any(|of| of.is_far() && !of.levels[at].indices.is_empty())
    };
    let far: Vec<bool> = (0..count).map(is_far).collect();
    let far_indices: Vec<Vec<u32>> = (0..count).map(|at| whole.triangles(at + 1)).collect();
    let mut all = Vec::with_capacity(count);
    let mut candidates = Vec::new();
    for at in 0..count {
        all.push(vec![Distance::default(); primitives.len()]);
        for (number, primitive) in primitives.iter().enumerate() {
            let level = &primitive.levels[at];
            let is_own = primitive.is_far() && !level.indices.is_empty();
            if is_own || !primitive.is_far() && !far[at] {
                let (of, indices) = match is_own {
                    true => (Of::Whole, &far_indices[at]),
                    false => (Of::Primitive(number), &level.indices),
                };
                let rigid = !is_own && rigid(at, primitive);
                candidates.push((at, number, Candidate { of, indices, rigid }));
            }
        }
    }
    let (places, candidates): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .map(|(at, number, candidate)| ((at, number), candidate))
        .unzip();
    let measured = measure(poses, whole, &poses.shots, &candidates)?;
    for ((at, number), mut distance) in places.into_iter().zip(measured) {
        if primitives[number].is_far() {
            // One influence a vertex: both are the same.
            distance.rigid = distance.blended;
        }
        all[at][number] = distance;
    }
    Ok(all)
}

/// The error of a level with this largest distance in the measured poses.
pub(super) fn error_m(distance: f32) -> f32 {
    distance * MARGIN
}
