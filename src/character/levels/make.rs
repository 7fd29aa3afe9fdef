//! New levels of detail: simplified, measured, and chosen.

use super::measure::{Candidate, Distance, error_m, measure};
use super::poses::Poses;
use super::simplify::{Prepared, Setting};
use crate::character::asset::Character;
use crate::error::{Error, Result};
use crate::mesh::{AlphaMode, MeshLevel, Primitive, cache_order, even_levels};
use rayon::prelude::*;
use std::sync::Arc;

/// The levels of detail that [`Character::with_levels`] makes.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelOptions {
    /// The largest error of each level in metres, finest first.
    ///
    /// A level is the coarsest one that was found with at most this error, so it is left out if
    /// a finer level is already as coarse. If the list is empty, `ratio` decides. A crowd draws
    /// at most 7 levels besides the full one, so no more are allowed.
    pub errors_m: Vec<f32>,
    /// The number of triangles of each level relative to the next finer one, about: 0.1..=0.9.
    ///
    /// The coarsest level has about `fewest_triangles`, and there are at most 7 levels. Only used
    /// without `errors_m`.
    pub ratio: f32,
    /// The number of triangles of the whole character below which no level is made, at least 1.
    pub fewest_triangles: usize,
    /// The largest error of a level, relative to the longest edge of
    /// [`Character::rest_bounds`]. Coarser levels are left out.
    pub max_error: f32,
    /// True if vertices of the coarsest levels may follow their strongest joint alone, if that
    /// hardly makes the error larger. They are skinned faster.
    pub rigid: bool,
}

impl Default for LevelOptions {
    fn default() -> Self {
        Self {
            errors_m: Vec::new(),
            ratio: 0.4,
            fewest_triangles: 150,
            max_error: 0.15,
            rigid: true,
        }
    }
}

/// The reason for which a primitive could not be simplified.
fn reason(error: meshoptimizer_rs::Error) -> &'static str {
    use meshoptimizer_rs::Error::{AllocationFailed, LimitExceeded, SizeOverflow};
    match error {
        // As thousands of triangles at one vertex do.
        AllocationFailed | LimitExceeded | SizeOverflow => "it takes too much memory or time",
        // Such as triangles of extreme sizes.
        _ => "its geometry is numerically unsuitable",
    }
}

/// The settings that are tried.
///
/// The larger weight is often better for fine levels, the smaller one for coarse levels. Few
/// triangles cannot keep the seams.
const SETTINGS: [Setting; 3] = {
    let seams = Setting {
        skin_weight: 1.0,
        seams: true,
        prune: false,
    };
    let plain = Setting {
        seams: false,
        ..seams
    };
    let stiff = Setting {
        skin_weight: 3.0,
        ..plain
    };
    [plain, stiff, seams]
};
/// The factor by which the error may be larger if seams are kept.
const SEAM_FACTOR: f32 = 1.5;
/// The ratio between neighbours of the levels from which those with the wanted errors are chosen.
const FINE_RATIO: f32 = 0.8;
const MOST_TRIED: usize = 32;
/// A level with more than this part of the triangles of the next finer one is left out.
const LEAST_SAVING: f32 = 0.85;
/// The part by which a level may exceed its number of triangles.
const SLACK: f32 = 1.25;
/// The factor by which the error may grow if vertices follow one joint.
const RIGID_FACTOR: f32 = 1.25;
/// A level can be rigid if it has at most this many times `fewest_triangles`.
const RIGID_TRIANGLES: usize = 4;
/// The fewest indices that a primitive is simplified to.
const FEWEST_INDICES: usize = 12;
/// The number of errors that are tried for characters of several primitives.
const STEPS: usize = 28;
/// The ratio between them.
const STEP: f32 = 1.35;

impl Character {
    /// The same character with new levels of detail instead of those that it has.
    ///
    /// Edges are collapsed by meshoptimizer-rs, which weighs influences and morph targets like
    /// positions. Primitives are simplified to the same error with several settings, and the best
    /// result is taken. Triangles of blended materials keep their order. The error of each level is
    /// measured by this crate, in the poses of all clips, see
    /// [`MeshLevel::error_m`](crate::mesh::MeshLevel::error_m).
    ///
    /// Vertices are reordered, so that each level uses a prefix of them. Triangles of the full
    /// level keep their order. The work runs on rayon's current pool and takes seconds for large
    /// models, so tools do it once and [save](Self::save_file) the result. The time grows with the
    /// number of triangles, whatever their shapes: where thousands lie across each other, stated
    /// errors are larger than they need be. If a character has so few triangles that no level is
    /// worth it, it gets none.
    ///
    /// Also returns the primitives that cannot be simplified and are drawn in full at all levels,
    /// as indices into [`Self::primitives`], each with the reason for a message.
    ///
    /// ```
    /// use throng::character::LevelOptions;
    /// use throng::glam::Vec3;
    /// use throng::import::RawPrimitive;
    /// use throng::mesh::Material;
    ///
    /// let crate_mesh = RawPrimitive::cuboid(Vec3::ONE).build_rigid(Material::default())?;
    /// // Twelve triangles are few.
    /// let (made, kept) = crate_mesh.character.with_levels(&LevelOptions::default())?;
    /// assert!(made.levels().len() == 0 && kept.is_empty());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] for an option outside of its range, or if an error is not finite.
    #[cfg_attr(docsrs, doc(cfg(feature = "lod")))]
    #[doc(alias = "LOD")]
    #[doc(alias = "simplify")]
    #[doc(alias = "decimate")]
    pub fn with_levels(
        mut self,
        options: &LevelOptions,
    ) -> Result<(Self, Vec<(usize, &'static str)>)> {
        options.check()?;
        let poses = Poses::new(&self, 0..self.clip_count());
        let prepared = Prepared::all(&self, &poses)?;
        let tried = try_levels(&self, &poses, &prepared, options)?;
        let chosen = options.choose(tried, self.triangle_count(), self.size());
        let levels = self.finished(&poses, &chosen, options)?;
        let kept = prepared.iter().enumerate();
        let kept = kept.filter_map(|(index, of)| Some((index, reason(*of.failure.get()?))));
        let kept = kept.collect();
        if chosen.is_empty() {
            return Ok((self.without_levels(), kept));
        }
        let mut numbers = Vec::with_capacity(levels.len());
        for (primitive, levels) in self.model.primitives.iter_mut().zip(levels) {
            primitive.levels = levels;
            let order = primitive.level_order();
            // Vertices that no triangle uses come last.
            let mut known = vec![false; primitive.vertex_count()];
            for vertex in &order {
                known[*vertex as usize] = true;
            }
            let unused = (0..).zip(known).filter(|(_, known)| !known);
            let unused = unused.map(|(vertex, _)| vertex);
            let order: Vec<u32> = order.iter().copied().chain(unused).collect();
            numbers.push(primitive.reorder_vertices(&order));
        }
        for clip in Arc::make_mut(&mut self.clips) {
            clip.renumber_vertices(&numbers);
        }
        even_levels(&mut self.model.primitives);
        Ok((self, kept))
    }

    /// The longest edge of the bounds at rest.
    fn size(&self) -> f32 {
        self.rest_bounds().size().max_element()
    }

    /// The levels of each primitive, with their errors.
    fn finished(
        &self,
        poses: &Poses<'_>,
        chosen: &[Tried],
        options: &LevelOptions,
    ) -> Result<Vec<Vec<MeshLevel>>> {
        let may_be_rigid = |tried: &Tried| {
            options.rigid && tried.triangles() <= RIGID_TRIANGLES * options.fewest_triangles
        };
        let primitives = self.primitives();
        let candidates = chosen.iter().flat_map(|tried| {
            let rigid = may_be_rigid(tried);
            tried.candidates(move |at| rigid && primitives[at].influences_per_vertex > 1)
        });
        let candidates: Vec<Candidate<'_>> = candidates.collect();
        let distances = measure(poses, self, &candidates)?;
        let mut levels = vec![Vec::with_capacity(chosen.len()); primitives.len()];
        let per_level = candidates.chunks(primitives.len().max(1));
        let per_level = per_level.zip(distances.chunks(primitives.len().max(1)));
        for (candidates, distances) in per_level {
            let blended = distances.iter().map(|distance| distance.blended);
            let most = blended.fold(0.0, f32::max) * RIGID_FACTOR;
            for (candidate, distance) in candidates.iter().zip(distances) {
                let primitive = &primitives[candidate.primitive];
                let rigid = candidate.rigid && distance.rigid <= most;
                let distance = if rigid {
                    distance.rigid
                } else {
                    distance.blended
                };
                let indices = match self.is_blended(primitive) {
                    true => candidate.indices.to_vec(),
                    false => cache_order(candidate.indices, primitive.vertex_count()),
                };
                levels[candidate.primitive].push(MeshLevel {
                    indices,
                    vertices: 0,
                    rigid,
                    error_m: error_m(distance),
                });
            }
        }
        Ok(levels)
    }

    fn is_blended(&self, primitive: &Primitive) -> bool {
        let material = self.materials().get(primitive.material as usize);
        material.is_some_and(|material| material.alpha == AlphaMode::Blend)
    }
}

impl LevelOptions {
    fn check(&self) -> Result<()> {
        let expect = |what, value: f64, min: f64, max: f64| match (min..=max).contains(&value) {
            true => Ok(()),
            false => Err(Error::out_of_range(what, value, min, max)),
        };
        expect("ratio", self.ratio.into(), 0.1, 0.9)?;
        let most = f64::from(u32::MAX);
        expect("fewest_triangles", self.fewest_triangles as f64, 1.0, most)?;
        expect("max_error", self.max_error.into(), 0.0, f64::from(f32::MAX))?;
        let (count, most) = (self.errors_m.len(), MeshLevel::MAX_COUNT);
        expect("number of errors_m", count as f64, 0.0, most as f64)?;
        for (at, error_m) in self.errors_m.iter().enumerate() {
            let most = f64::from(Character::MAX_EXTENT);
            let right = expect("error", (*error_m).into(), 0.0, most);
            right.map_err(|why| why.at("errors_m", at))?;
        }
        Ok(())
    }

    /// The numbers of triangles to try for a character with `triangles`.
    fn budgets(&self, triangles: usize) -> Vec<usize> {
        let (full, fewest) = (triangles as f32, self.fewest_triangles as f32);
        let (ratio, most) = match self.errors_m.is_empty() {
            true => (self.ratio, MeshLevel::MAX_COUNT),
            false => (FINE_RATIO, MOST_TRIED),
        };
        let steps = ((fewest / full).ln() / ratio.ln()).round();
        if steps.is_nan() || steps < 1.0 {
            return Vec::new();
        }
        let steps = steps.min(most as f32);
        let ratio = (fewest / full).powf(1.0 / steps);
        let steps = 1..=steps as i32;
        steps
            .map(|at| (full * ratio.powi(at)).round() as usize)
            .collect()
    }

    /// The levels worth having, of a character with `triangles` and a size in metres.
    fn choose(&self, tried: Vec<Tried>, triangles: usize, size: f32) -> Vec<Tried> {
        let mut chosen: Vec<Tried> = Vec::new();
        for one in tried {
            if one.error_m > self.max_error * size {
                continue;
            }
            // A coarser level that is better replaces finer ones.
            while chosen
                .last()
                .is_some_and(|finer| finer.error_m >= one.error_m)
            {
                chosen.pop();
            }
            let before = chosen.last().map_or(triangles, Tried::triangles);
            if one.triangles() as f32 <= before as f32 * LEAST_SAVING {
                chosen.push(one);
            }
        }
        if self.errors_m.is_empty() {
            return chosen;
        }
        let wanted = self.errors_m.iter();
        let found = wanted.map(|wanted| {
            let good = chosen.iter().filter(|one| one.error_m <= *wanted);
            good.count()
        });
        // The errors ascend, so the last of the good ones is the coarsest.
        let mut found: Vec<usize> = found.filter(|count| *count > 0).collect();
        found.sort_unstable();
        found.dedup();
        let all = (1..).zip(chosen);
        let wanted = all.filter(|(count, _)| found.contains(count));
        wanted.map(|(_, one)| one).collect()
    }
}

/// One level of the whole character.
struct Tried {
    /// For each primitive, its triangles.
    indices: Vec<Vec<u32>>,
    error_m: f32,
    seams: bool,
}

impl Tried {
    fn triangles(&self) -> usize {
        triangles(&self.indices)
    }

    fn candidates(&self, rigid: impl Fn(usize) -> bool) -> impl Iterator<Item = Candidate<'_>> {
        let all = self.indices.iter().enumerate();
        all.map(move |(primitive, indices)| Candidate {
            primitive,
            indices,
            rigid: rigid(primitive),
        })
    }
}

/// The best level that was found for each budget, finest first.
fn try_levels(
    character: &Character,
    poses: &Poses<'_>,
    prepared: &[Prepared<'_>],
    options: &LevelOptions,
) -> Result<Vec<Tried>> {
    let budgets = options.budgets(character.triangle_count());
    let mut all: Vec<Tried> = Vec::new();
    for setting in SETTINGS {
        let levels = levels(prepared, &budgets, character.size() * 0.5, setting);
        all.extend(levels.into_iter().map(|indices| Tried {
            indices,
            error_m: 0.0,
            seams: setting.seams,
        }));
    }
    let candidates = all.iter().flat_map(|tried| tried.candidates(|_| false));
    let candidates: Vec<Candidate<'_>> = candidates.collect();
    let distances = measure(poses, character, &candidates)?;
    let worst = distances.chunks(prepared.len().max(1)).map(|distances| {
        let all = distances.iter().map(|distance: &Distance| distance.blended);
        error_m(all.fold(0.0, f32::max))
    });
    let worst: Vec<f32> = worst.collect();
    for (tried, worst) in all.iter_mut().zip(worst) {
        tried.error_m = worst;
    }
    let mut others = all.split_off(budgets.len()).into_iter();
    let mut best = all;
    while others.len() > 0 {
        let pairs = best.into_iter().zip(others.by_ref());
        let pairs = pairs.zip(&budgets);
        best = pairs
            .map(|((a, b), budget)| better(a, b, *budget))
            .collect();
    }
    Ok(best)
}

/// The level with the smaller error, if both have about as many triangles as they may. Seams that
/// are kept count for a smaller error.
fn better(a: Tried, b: Tried, budget: usize) -> Tried {
    let most = budget as f32 * SLACK;
    let key = |one: &Tried| {
        let excess = (one.triangles() as f32).max(most);
        let factor = if one.seams { SEAM_FACTOR } else { 1.0 };
        (excess, one.error_m / factor)
    };
    let (of_a, of_b) = (key(&a), key(&b));
    let order = of_a.0.total_cmp(&of_b.0).then(of_a.1.total_cmp(&of_b.1));
    if order.is_le() { a } else { b }
}

/// One level for each budget, with about as many triangles.
fn levels(
    prepared: &[Prepared<'_>],
    budgets: &[usize],
    size: f32,
    setting: Setting,
) -> Vec<Vec<Vec<u32>>> {
    if let [one] = prepared {
        let simplified = |budget: &usize| {
            let simplified = |prune| one.simplified(budget * 3, size, Setting { prune, ..setting });
            let all = simplified(false);
            let is_few = all.len() as f32 <= *budget as f32 * 3.0 * SLACK;
            vec![if is_few { all } else { simplified(true) }]
        };
        return budgets.par_iter().map(simplified).collect();
    }
    let mut steps = Steps::new(prepared, size, setting, false);
    let mut found = Vec::with_capacity(budgets.len());
    for budget in budgets {
        let coarsest = steps.levels.last().map_or(0, |level| triangles(level));
        if !steps.prune && coarsest as f32 > *budget as f32 * SLACK {
            steps = Steps::new(prepared, size, setting, true);
        }
        found.push(steps.nearest(*budget));
    }
    found
}

fn triangles(level: &[Vec<u32>]) -> usize {
    level.iter().map(|indices| indices.len() / 3).sum()
}

/// Levels of several primitives, each simplified to one error, finest first.
struct Steps {
    levels: Vec<Vec<Vec<u32>>>,
    prune: bool,
}

impl Steps {
    fn new(prepared: &[Prepared<'_>], size: f32, setting: Setting, prune: bool) -> Self {
        let setting = Setting { prune, ..setting };
        let level = |at: usize| {
            let error_m = size * STEP.powi(at as i32 - STEPS as i32);
            let all = prepared.par_iter().with_max_len(1);
            let all = all.map(|one| one.simplified(FEWEST_INDICES, error_m, setting));
            all.collect()
        };
        let levels = (0..STEPS).into_par_iter().map(level).collect();
        Self { levels, prune }
    }

    /// The level whose number of triangles is nearest to `budget` by ratio.
    fn nearest(&self, budget: usize) -> Vec<Vec<u32>> {
        let ratio = |level: &[Vec<u32>]| {
            let ratio = triangles(level).max(1) as f32 / budget.max(1) as f32;
            ratio.ln().abs()
        };
        let all = self.levels.iter();
        let nearest = all.min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        nearest.cloned().unwrap_or_default()
    }
}
