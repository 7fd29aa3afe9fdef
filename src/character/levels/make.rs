//! New levels of detail: simplified, measured, and chosen.

use super::cover::{Covering, covers_of};
use super::far::{Maker, Painter};
use super::info::LevelInfo;
use super::measure::{Candidate, Distance, Of, distances, error_m, measure};
use super::poses::{Poses, Shot};
use super::simplify::{Prepared, Setting};
use super::whole::Whole;
use crate::character::asset::Character;
use crate::error::{Error, Result};
use crate::mesh::{
    AlphaMode, Material, MeshLevel, Model, Parts, Primitive, bound_entries, cache_order,
    even_levels, hub_reaches,
};
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
            fewest_triangles: 24,
            max_error: 0.25,
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

/// The settings that are tried for several primitives, or without clips.
///
/// The larger weight of joints is often better for fine levels, the smaller one for coarse levels.
/// Few triangles cannot keep the seams.
const SETTINGS: [Setting; 5] = {
    let seams = Setting {
        skin_weight: 1.0,
        pose_weight: 0.0,
        seams: true,
        color_weight: COLOR_WEIGHT,
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
    [plain, stiff, seams, plain.pale(), stiff.pale()]
};
/// The settings that are tried for one primitive that is posed by clips.
///
/// Vertex weights do not tell how far a bend moves a removed vertex: half-way between two joints, a
/// vertex can have the mean position and the mean weights of its neighbours, and still not be
/// between them in a pose. With positions in poses, the built-in character and CesiumMan have about
/// half the error at equal numbers of triangles. Knight and BrainStem, of several primitives that
/// are mostly rigid, gained nothing. The weight of joints covers poses that no clip has.
const POSED: [Setting; 5] = {
    let plain = Setting {
        skin_weight: 0.3,
        pose_weight: 12.0,
        ..SETTINGS[0]
    };
    let coarse = Setting {
        pose_weight: 5.0,
        ..plain
    };
    let stiff = Setting {
        skin_weight: 1.0,
        pose_weight: 20.0,
        ..plain
    };
    let seams = Setting {
        seams: true,
        ..plain
    };
    [plain, coarse, stiff, seams, plain.pale()]
};
/// The weight at which edges between vertex colours stay where they are.
const COLOR_WEIGHT: f32 = 0.2;
/// The factor by which the error may be larger if edges between colours stay.
const COLOR_FACTOR: f32 = 1.25;
/// The factor by which the error may be larger if seams are kept.
const SEAM_FACTOR: f32 = 1.5;
/// The ratio between neighbours of the levels from which those with the wanted errors are chosen.
const FINE_RATIO: f32 = 0.8;
const MOST_TRIED: usize = 32;
/// A level with more than this part of the triangles of the next finer one is left out.
const LEAST_SAVING: f32 = 0.85;
/// The part by which a level may exceed its number of triangles.
pub(super) const SLACK: f32 = 1.25;
/// The factor by which the error may grow if vertices follow one joint.
const RIGID_FACTOR: f32 = 1.25;
/// A level can be rigid if it has at most this many triangles.
const RIGID_TRIANGLES: usize = 600;
/// A level can be a mesh of its own if it has at most this many triangles.
const FAR_TRIANGLES: usize = 600;
/// The most by which the area that a level covers may differ from the full one, if there is a mesh
/// of its own.
const COVER: f32 = 0.05;
/// The fewest indices that a primitive is simplified to.
const FEWEST_INDICES: usize = 12;
/// The number of errors that are tried for characters of several primitives.
const STEPS: usize = 28;
/// The ratio between them.
const STEP: f32 = 1.35;
/// The number of poses by which primitives are simplified, and in which settings of the simplifier
/// are compared.
const FEW_POSES: usize = 24;

impl Setting {
    /// The same setting with half the weight of colours.
    const fn pale(self) -> Self {
        Self {
            color_weight: 0.5 * COLOR_WEIGHT,
            ..self
        }
    }
}

impl Character {
    /// The same character with new levels of detail instead of those that it has.
    ///
    /// For levels near the camera, edges are collapsed by meshoptimizer-rs, which weighs influences
    /// and morph targets like positions. For a character of one primitive, it also weighs positions
    /// in poses of the clips. Primitives are simplified to the same error with several settings,
    /// and the best result is taken. Edges between vertex colours stay if the error is at most
    /// 1.25 times as large for it. Triangles of blended materials keep their order.
    ///
    /// From at most 600 triangles on, if that has too many triangles or covers too little, a level
    /// is one mesh of the whole character: a primitive with vertices and vertex colours of its own,
    /// one joint for each vertex, and no textures. Its colours are those that are seen from outside
    /// at rest. The area that a level covers in pictures is within 5 % of the full level's, see
    /// [`LevelInfo::cover`]. Other levels are left out. The error of each level is measured by this
    /// crate on both sides, in the poses of all clips, see
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
    /// [`Error::Argument`] for an option outside of its range, if an error is not finite, or if an
    /// image is compressed and throng was built without the Cargo feature `decode`.
    #[cfg_attr(docsrs, doc(cfg(feature = "lod")))]
    #[doc(alias = "LOD")]
    #[doc(alias = "simplify")]
    #[doc(alias = "decimate")]
    pub fn with_levels(
        mut self,
        options: &LevelOptions,
    ) -> Result<(Self, Vec<(usize, &'static str)>)> {
        options.check()?;
        self = self.without_levels();
        let poses = Poses::new(&self, 0..self.clip_count());
        let whole = Whole::new(&self);
        let size = whole.size();
        let few = poses.spread(FEW_POSES)?;
        let prepared = Prepared::all(&whole, &poses, &few)?;
        let budgets = options.budgets(self.triangle_count());
        let near = near_levels(&whole, &poses, &few, &prepared, &budgets)?;
        let kept = prepared.iter().enumerate();
        let kept = kept.filter_map(|(index, of)| Some((index, reason(*of.failure.get()?))));
        let kept: Vec<(usize, &'static str)> = kept.collect();
        let maker = Maker::new(&poses, &whole)?;
        let far = maker.make(&budgets[near.len()..])?;
        let painter = Painter::new(&self, &maker)?;
        let rest = poses.palette(Shot::Rest)?;
        let count = near.len() + far.len();
        let material = self.materials().len() as u32;
        let far_primitives = far
            .iter()
            .zip(near.len()..)
            .map(|(mesh, at)| mesh.primitive(&rest, painter.colors(mesh), material, [at, count]));
        let far_primitives: Vec<Primitive> = far_primitives.collect();
        let mut materials = self.materials().to_vec();
        if !far.is_empty() {
            materials.push(painter.material(&far));
        }
        let mut primitives = self.primitives().to_vec();
        for (number, primitive) in primitives.iter_mut().enumerate() {
            let near = near.iter().map(|level| unmeasured(level[number].clone()));
            primitive.levels = near.collect();
            primitive.levels.resize(count, unmeasured(Vec::new()));
        }
        primitives.extend(far_primitives);
        self = self.with_primitives(primitives, materials);
        self.measure_new_levels(options.rigid)?;
        let levels: Vec<LevelInfo> = self.levels().collect();
        let chosen = options.choose(&levels, self.triangle_count(), size);
        Ok((self.with_chosen(&chosen), kept))
    }

    /// Measures all levels. If `rigid`, vertices of coarse levels follow one joint if that hardly
    /// makes the error larger.
    fn measure_new_levels(&mut self, rigid: bool) -> Result<()> {
        if self.level_count() == 0 {
            return Ok(());
        }
        let few: Vec<bool> = self
            .levels()
            .map(|level| level.triangles <= RIGID_TRIANGLES)
            .collect();
        let poses = Poses::new(self, 0..self.clip_count());
        let whole = Whole::new(self);
        let may_be_rigid = |at: usize, primitive: &Primitive| {
            rigid && few[at] && primitive.influences_per_vertex > 1
        };
        let all = distances(&poses, &whole, may_be_rigid)?;
        for (number, primitive) in self.model.primitives.iter_mut().enumerate() {
            let influences = primitive.influences_per_vertex;
            for (at, level) in primitive.levels.iter_mut().enumerate() {
                let blended = all[at].iter().map(|distance| distance.blended);
                let most = blended.fold(0.0, f32::max) * RIGID_FACTOR;
                let distance = all[at][number];
                let is_rigid = rigid && few[at] && influences > 1 && distance.rigid <= most;
                level.rigid |= is_rigid;
                level.error_m = error_m(distance.of(level));
            }
        }
        self.measure_covers()
    }

    /// The same character with some of its levels alone.
    fn with_chosen(&self, chosen: &[usize]) -> Self {
        if chosen.is_empty() {
            return self.clone().without_levels();
        }
        let mut primitives = self.primitives().to_vec();
        for primitive in &mut primitives {
            let all = core::mem::take(&mut primitive.levels);
            let kept = all.into_iter().enumerate();
            let kept = kept.filter(|(at, _)| chosen.contains(at));
            primitive.levels = kept.map(|(_, level)| level).collect();
        }
        primitives.retain(|primitive| !primitive.indices.is_empty() || primitive.is_far());
        for primitive in &mut primitives {
            let count = primitive.vertex_count();
            if !self.is_blended(primitive) {
                for level in &mut primitive.levels {
                    level.indices = cache_order(&level.indices, count);
                }
            }
        }
        self.with_primitives(primitives, self.materials().to_vec())
    }

    /// The same character with these primitives, whose vertices are ordered by their levels.
    fn with_primitives(&self, mut primitives: Vec<Primitive>, materials: Vec<Material>) -> Self {
        let mut numbers = Vec::with_capacity(primitives.len());
        for primitive in &mut primitives {
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
        even_levels(&mut primitives);
        let mut palette = self.palette().to_vec();
        bound_entries(&mut palette, &primitives);
        let model = Model {
            hub_reaches: hub_reaches(self.skeleton(), &palette, &primitives),
            palette,
            parts: Parts::new(&primitives),
            materials,
            ..self
                .model
                .with_meshes(primitives, self.model.images.clone())
        };
        let mut character = self.with_model(model);
        for clip in Arc::make_mut(&mut character.clips) {
            clip.renumber_vertices(&numbers);
        }
        character
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

    /// The indices of the levels worth having, of a character with `triangles` and a size in
    /// metres.
    fn choose(&self, levels: &[LevelInfo], triangles: usize, size: f32) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        for (at, one) in levels.iter().enumerate() {
            if one.error_m > self.max_error * size || !has_cover(one.cover) {
                continue;
            }
            // A coarser level that is better replaces finer ones.
            let is_worse = |finer: &usize| levels[*finer].error_m >= one.error_m;
            while chosen.last().is_some_and(is_worse) {
                chosen.pop();
            }
            let before = chosen
                .last()
                .map_or(triangles, |finer| levels[*finer].triangles);
            if one.triangles as f32 <= before as f32 * LEAST_SAVING {
                chosen.push(at);
            }
        }
        if self.errors_m.is_empty() {
            return chosen;
        }
        let wanted = self.errors_m.iter();
        let found = wanted.filter_map(|wanted| {
            // The errors ascend, so the last of the good ones is the coarsest.
            let good = chosen.iter().rfind(|at| levels[**at].error_m <= *wanted);
            good.copied()
        });
        let mut found: Vec<usize> = found.collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn has_cover(cover: f32) -> bool {
    (cover - 1.0).abs() <= COVER
}

/// A level with these triangles.
fn unmeasured(indices: Vec<u32>) -> MeshLevel {
    MeshLevel {
        indices,
        error_m: MeshLevel::UNMEASURED_M,
        cover: MeshLevel::UNMEASURED_M,
        ..MeshLevel::default()
    }
}

/// One level of the whole character, made by the simplifier.
struct Tried {
    /// For each primitive, its triangles.
    indices: Vec<Vec<u32>>,
    distance_m: f32,
    /// The factor by which the error may be larger because of what the setting keeps.
    factor: f32,
}

/// The best near level that was found for each budget, finest first, up to the first that is better
/// replaced by a mesh of its own.
fn near_levels(
    whole: &Whole<'_>,
    poses: &Poses<'_>,
    few: &[Shot],
    prepared: &[Prepared<'_>],
    budgets: &[usize],
) -> Result<Vec<Vec<Vec<u32>>>> {
    let mut all: Vec<Tried> = Vec::new();
    let colored = prepared.iter().any(|one| one.has_colors());
    let is_tried = |setting: &Setting| colored || setting.color_weight == COLOR_WEIGHT;
    let settings = match prepared {
        [one] if one.has_poses() => POSED,
        _ => SETTINGS,
    };
    for setting in settings.into_iter().filter(is_tried) {
        let levels = levels(prepared, budgets, whole.size() * 0.5, setting);
        let factor = match setting {
            Setting { seams: true, .. } => SEAM_FACTOR,
            _ if colored && setting.color_weight == COLOR_WEIGHT => COLOR_FACTOR,
            _ => 1.0,
        };
        all.extend(levels.into_iter().map(|indices| Tried {
            indices,
            distance_m: 0.0,
            factor,
        }));
    }
    let candidates = all.iter().flat_map(|tried| {
        let all = tried.indices.iter().enumerate();
        all.map(|(primitive, indices)| Candidate {
            of: Of::Primitive(primitive),
            indices,
            rigid: false,
        })
    });
    let candidates: Vec<Candidate<'_>> = candidates.collect();
    let distances = measure(poses, whole, few, &candidates)?;
    let worst = distances.chunks(prepared.len().max(1)).map(|distances| {
        let all = distances.iter().map(|distance: &Distance| distance.blended);
        all.fold(0.0, f32::max)
    });
    let worst: Vec<f32> = worst.collect();
    for (tried, worst) in all.iter_mut().zip(worst) {
        tried.distance_m = worst;
    }
    let mut others = all.split_off(budgets.len()).into_iter();
    let mut best = all;
    while others.len() > 0 {
        let pairs = best.into_iter().zip(others.by_ref());
        let pairs = pairs.zip(budgets);
        best = pairs
            .map(|((a, b), budget)| better(a, b, *budget))
            .collect();
    }
    let covering = best.iter().map(|tried| {
        let all = tried.indices.iter().enumerate();
        let all = all.flat_map(|(number, indices)| whole.numbered(number, indices));
        Covering {
            indices: all.collect(),
            rigid: Vec::new(),
        }
    });
    let covers = covers_of(poses, whole, &covering.collect::<Vec<_>>())?;
    let enough = best.iter().zip(covers).zip(budgets);
    let enough = enough.take_while(|((tried, cover), budget)| {
        let is_few = triangles(&tried.indices) as f32 <= **budget as f32 * SLACK;
        **budget > FAR_TRIANGLES || is_few && has_cover(*cover)
    });
    let count = enough.count();
    let near = best.into_iter().take(count);
    Ok(near.map(|tried| tried.indices).collect())
}

/// The level with the smaller error, if both have about as many triangles as they may. Seams and
/// colours that are kept count for a smaller error.
fn better(a: Tried, b: Tried, budget: usize) -> Tried {
    let most = budget as f32 * SLACK;
    let key = |one: &Tried| {
        let excess = (triangles(&one.indices) as f32).max(most);
        (excess, one.distance_m / one.factor)
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
