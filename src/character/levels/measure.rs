//! The error of levels of detail over all poses.

use super::poses::{Deltas, Posed, Poses, Shot};
use super::surface::{Surface, SurfacePoint};
use crate::character::asset::Character;
use crate::error::Result;
use crate::mesh::{Aabb, Primitive};
use glam::{Affine3A, Vec3A};
use rayon::prelude::*;
use std::ops::Range;

/// The factor from the largest distance in the measured poses to the error of a level.
///
/// It covers the poses between the measured ones.
const MARGIN: f32 = 1.1;

/// The number of poses besides the rest pose in which points of the level are compared.
const TYING_POSES: usize = 8;

/// The largest distances between a primitive's vertices and the surface of one level.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Distance {
    /// As the level is drawn if it is not rigid.
    pub(super) blended: f32,
    /// If each vertex of the level follows its strongest joint alone.
    pub(super) rigid: f32,
}

impl Distance {
    fn max(self, other: Self) -> Self {
        Self {
            blended: self.blended.max(other.blended),
            rigid: self.rigid.max(other.rigid),
        }
    }
}

/// The triangles of one level of a primitive, to be measured.
pub(super) struct Candidate<'a> {
    pub(super) primitive: usize,
    pub(super) indices: &'a [u32],
    /// True if the rigid error is wanted.
    pub(super) rigid: bool,
}

/// A level whose vertices are tied to the full primitive's.
struct Tied {
    primitive: usize,
    /// The vertices of the full level, and the points of the level that they are tied to. Empty if
    /// the level has no triangles.
    ties: Vec<(u32, SurfacePoint)>,
    rigid: bool,
}

/// Measures levels in the poses of some clips, and in blends of these with all clips.
///
/// Each vertex of the full level is tied to a point of the level's surface. In every pose, the
/// distance between the two is a bound of the vertex's distance from the surface. Morph weights
/// take any value of their range, each by itself. The error of a level without triangles is the
/// primitive's size.
pub(super) fn measure(
    poses: &Poses<'_>,
    character: &Character,
    candidates: &[Candidate<'_>],
) -> Result<Vec<Distance>> {
    let primitives = character.primitives();
    let deltas: Vec<Deltas> = primitives.iter().map(Deltas::new).collect();
    let rest = Rest::new(poses, character, &deltas)?;
    let tied: Vec<Tied> = candidates
        .par_iter()
        .map(|candidate| rest.tie(character, candidate))
        .collect();
    let none = || vec![Distance::default(); tied.len()];
    let at_pose = |shot: &Shot| {
        let palette = poses.palette(*shot)?;
        let mut worst = none();
        for (number, primitive) in primitives.iter().enumerate() {
            let own = tied.iter().zip(&mut worst);
            let mut own: Vec<_> = own.filter(|(tied, _)| tied.primitive == number).collect();
            if own.is_empty() {
                continue;
            }
            let posing = Posing::new(poses, primitive, &deltas[number], &palette, &own);
            for (tied, worst) in &mut own {
                **worst = posing.distance(tied);
            }
        }
        Ok(worst)
    };
    let merge = |a: Vec<Distance>, b: Vec<Distance>| {
        let pairs = a.into_iter().zip(b);
        Ok(pairs.map(|(a, b)| a.max(b)).collect())
    };
    poses.shots.par_iter().map(at_pose).try_reduce(none, merge)
}

/// The character in the rest pose and in some others.
pub(super) struct Rest {
    /// For each primitive, its vertices at rest in character space, with their morph weights.
    pub(super) positions: Vec<Vec<Vec3A>>,
    /// For each primitive, its vertices in other poses.
    others: Vec<Vec<Vec<Vec3A>>>,
}

impl Rest {
    pub(super) fn new(poses: &Poses<'_>, character: &Character, deltas: &[Deltas]) -> Result<Self> {
        let palette = poses.palette(Shot::Rest)?;
        let morphs = character.morph_weights();
        let primitives = || character.primitives().iter().zip(deltas);
        let positions = primitives().map(|(primitive, deltas)| {
            let posed = Posed::new(primitive, deltas, &palette, false);
            let mut positions = posed.positions.clone();
            for (vertex, position) in (0..).zip(&mut positions) {
                for (target, offset) in posed.offsets(vertex) {
                    let weight = morphs.get(primitive.first_weight.index() + target);
                    *position += offset * weight.map_or(0.0, |weight| weight.rest);
                }
            }
            positions
        });
        let positions = positions.collect();
        let mut others = vec![Vec::new(); deltas.len()];
        let step = poses.shots.len().div_ceil(TYING_POSES).max(1);
        for shot in poses.shots.iter().skip(1).step_by(step) {
            let palette = poses.palette(*shot)?;
            for ((primitive, deltas), others) in primitives().zip(&mut others) {
                others.push(Posed::new(primitive, deltas, &palette, false).positions);
            }
        }
        Ok(Self { positions, others })
    }

    /// Ties each vertex to the point of the level that stays nearest.
    ///
    /// Each triangle of the level offers the point that is nearest at rest. Of these, the one whose
    /// largest distance is least is taken, in the rest pose and some others. Otherwise, a finger
    /// could be tied to the next one. Any point of the level is a tie that gives a bound, so the
    /// search may end early.
    fn tie(&self, character: &Character, candidate: &Candidate<'_>) -> Tied {
        let positions = &self.positions[candidate.primitive];
        let others = &self.others[candidate.primitive];
        let surface = Surface::new(positions, candidate.indices);
        let mut used = vec![false; positions.len()];
        for index in &character.primitives()[candidate.primitive].indices {
            used[*index as usize] = true;
        }
        let used = (0..).zip(used).filter(|(_, used)| *used);
        let ties = used.filter_map(|(vertex, _)| {
            let at = vertex as usize;
            let cost = |point: &SurfacePoint| {
                let all = core::iter::once(positions).chain(others);
                let all = all.map(|all| point.of(all).distance_squared(all[at]));
                all.fold(0.0, f32::max)
            };
            Some((vertex, surface.nearest(positions[at], cost)?))
        });
        Tied {
            primitive: candidate.primitive,
            ties: ties.collect(),
            rigid: candidate.rigid,
        }
    }
}

/// A primitive in one pose.
struct Posing<'a> {
    blended: Posed<'a>,
    rigid: Option<Posed<'a>>,
    /// The smallest and the largest weight of each target.
    weights: &'a [[f32; 2]],
}

impl<'a> Posing<'a> {
    fn new(
        poses: &'a Poses<'_>,
        primitive: &Primitive,
        deltas: &'a Deltas,
        palette: &[Affine3A],
        levels: &[(&Tied, &mut Distance)],
    ) -> Self {
        let posed = |rigid| Posed::new(primitive, deltas, palette, rigid);
        let first = primitive.first_weight.index();
        Self {
            blended: posed(false),
            rigid: (levels.iter().any(|(tied, _)| tied.rigid)).then(|| posed(true)),
            weights: poses.weights.get(first..).unwrap_or_default(),
        }
    }

    fn distance(&self, tied: &Tied) -> Distance {
        if tied.ties.is_empty() {
            let bounds = self.blended.positions.iter();
            let bounds = bounds.fold(Aabb::EMPTY, |all, at| all.with_point((*at).into()));
            let size = bounds.size().length();
            return Distance {
                blended: size,
                rigid: size,
            };
        }
        let largest = |level: &Posed<'_>| {
            let mut sums = Sums::new(self.weights);
            let distance = |(vertex, point): &(u32, SurfacePoint)| {
                self.distance_between(*vertex, point, level, &mut sums)
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

    /// The largest distance between a vertex and its point of the level, over all morph weights.
    fn distance_between(
        &self,
        vertex: u32,
        point: &SurfacePoint,
        level: &Posed<'_>,
        sums: &mut Sums<'_>,
    ) -> f32 {
        let mut between = self.blended.positions[vertex as usize];
        sums.clear();
        for (target, offset) in self.blended.offsets(vertex) {
            sums.add(target, offset);
        }
        for (corner, weight) in point.corners.into_iter().zip(point.weights) {
            between -= level.positions[corner as usize] * weight;
            for (target, offset) in level.offsets(corner) {
                sums.add(target, offset * -weight);
            }
        }
        sums.longest(between)
    }
}

/// Sums of morph offsets by target.
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
    /// False if the error of a level is not known yet.
    pub(in crate::character) fn has_measured_levels(&self) -> bool {
        let levels = self.primitives().iter().flat_map(|of| &of.levels);
        levels.into_iter().all(|level| level.error_m.is_finite())
    }

    /// Measures the errors of all levels in the poses of some clips.
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
        let primitives = (0..).zip(self.primitives());
        let candidates = primitives.flat_map(|(primitive, of)| {
            of.levels.iter().map(move |level| Candidate {
                primitive,
                indices: &level.indices,
                rigid: level.rigid,
            })
        });
        let candidates: Vec<Candidate<'_>> = candidates.collect();
        let mut distances = measure(&poses, self, &candidates)?.into_iter();
        for primitive in &mut self.model.primitives {
            for (level, distance) in primitive.levels.iter_mut().zip(&mut distances) {
                let error_m = error_m(if level.rigid {
                    distance.rigid
                } else {
                    distance.blended
                });
                level.error_m = match is_all {
                    true => error_m,
                    false => error_m.max(level.error_m),
                };
            }
        }
        Ok(())
    }
}

/// The error of a level with this largest distance in the measured poses.
pub(super) fn error_m(distance: f32) -> f32 {
    distance * MARGIN
}
