//! Conversion of raw primitives to drawable ones.

use super::fault::{fault_at, joint_or_missing, object};
use super::influences::{Dropped, Tally, VertexInfluences};
use super::levels::check_total;
use super::palette::{Entries, Palette};
use super::targets::Streams;
use super::{directions, influences, targets, weld};
use crate::error::{AssetFault, Object, Result};
use crate::id::Id;
use crate::import::fault::{check_cap, wrong_count};
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, RepairKind};
use crate::import::{RawLevel, RawPrimitive};
use crate::mesh::{JointIndices, MeshLevel, MorphWeight, Primitive, VariantId, flip_triangles};
use glam::{Affine3A, Vec2, Vec3, Vec4};
use std::borrow::Cow;
use std::collections::HashMap;

/// A primitive whose palette positions are not known yet.
#[derive(Debug)]
pub(super) struct Draft {
    object: Object,
    /// Complete except for its material, its palette range and its joint indices.
    pub(super) primitive: Primitive,
    pub(super) material: Option<usize>,
    /// The numbers of the palette entries of all influences.
    pub(super) entries: Vec<u32>,
    /// The number of vertices that were merged with others.
    pub(super) merged: usize,
    /// The number of vertices that no triangle used.
    pub(super) unused: usize,
    /// The influences that its vertices lost to a limit, by its own vertex indices.
    pub(super) dropped: Vec<Dropped>,
}

/// The data that all primitives of a character share.
pub(super) struct Drafting<'a> {
    pub(super) entries: &'a mut Entries,
    pub(super) joint_of: &'a [Option<u16>],
    pub(super) options: &'a ImportOptions,
    pub(super) repairs: &'a mut Vec<Repair>,
}

impl Drafting<'_> {
    /// Checks, repairs and welds. Returns `None` if there is no triangle.
    ///
    /// `coarser` are the levels of detail that are primitives of their own.
    pub(super) fn draft(
        &mut self,
        raw: &RawPrimitive,
        coarser: &[Option<RawPrimitive>],
    ) -> Result<Option<Draft>> {
        check(raw)?;
        let levels = raw.levels.iter().map(|level| &level.indices);
        if [&raw.indices].into_iter().chain(levels).all(Vec::is_empty) {
            return Ok(None);
        }
        let mut vertices = self.vertices(raw)?;
        for level in coarser {
            let level = match level {
                Some(level) => {
                    check(level)?;
                    self.vertices(level)?
                }
                None => Vertices::default(),
            };
            let other = object(&level.raw, "");
            let count = vertices.append(level)?;
            Repair::note(self.repairs, &other, RepairKind::LevelAttributes, count);
        }
        Ok(Some(weld_vertices(&vertices, self.entries)))
    }

    fn vertices<'r>(&mut self, raw: &'r RawPrimitive) -> Result<Vertices<'r>> {
        let object = object(raw, "");
        let influences = self.influences(raw, &object)?;
        let mut normals = Cow::Borrowed(&*raw.normals);
        if !normals.is_empty() {
            let own = normals.to_mut();
            let count = directions::normalise_normals(own, &raw.positions, &raw.indices);
            Repair::note(self.repairs, &object, RepairKind::NormalNormalised, count);
        } else if self.options.smooth_normals {
            normals = Cow::Owned(directions::smooth_normals(&raw.positions, &raw.indices));
        }
        let tangents = directions::tangents(raw, &normals, &object, self.repairs);
        Ok(Vertices {
            raw: Cow::Borrowed(raw),
            normals,
            tangents,
            influences,
        })
    }

    fn influences(&mut self, raw: &RawPrimitive, object: &Object) -> Result<VertexInfluences> {
        let Some(skin) = raw.skin else {
            let joint = joint_or_missing(self.joint_of.get(raw.node).copied().flatten())?;
            let entry = self.entries.number(joint, Affine3A::IDENTITY);
            return Ok(VertexInfluences::rigid(entry, raw.positions.len()));
        };
        let mut tally = Tally::default();
        let limit = influences::limit(self.options.max_influences)?;
        let all = influences::read(raw, skin, self.entries, limit, &mut tally)?;
        for (kind, count) in [
            (RepairKind::WeightsRenormalised, tally.renormalised),
            (RepairKind::WeightlessVertex, tally.weightless),
            (RepairKind::UnusedJointIndex, tally.unused_index),
            (RepairKind::RepeatedJoint, tally.repeated),
            (RepairKind::InfluencesDropped, all.dropped().len() as u64),
        ] {
            Repair::note(self.repairs, object, kind, count);
        }
        Ok(all)
    }
}

/// The vertices of a primitive, and of its levels that were primitives of their own.
#[derive(Default)]
struct Vertices<'a> {
    /// Its normals, tangents, skin, joints and weights do not count.
    raw: Cow<'a, RawPrimitive>,
    normals: Cow<'a, [Vec3]>,
    tangents: Cow<'a, [Vec4]>,
    influences: VertexInfluences,
}

impl Vertices<'_> {
    /// Adds a coarser level with vertices of its own, which has no morph targets or as many.
    ///
    /// The level gets the streams that the finest level has. Returns the number of its vertices if
    /// it had others.
    fn append(&mut self, level: Vertices<'_>) -> Result<u64> {
        let raw = self.raw.to_mut();
        let (before, more) = (raw.positions.len(), level.raw.positions.len());
        check_total(raw, before, more)?;
        let own = &*level.raw;
        let mut same = [
            extend(&mut raw.uvs, &own.uvs, (before, more), Vec2::ZERO),
            extend(&mut raw.uvs1, &own.uvs1, (before, more), Vec2::ZERO),
            extend(&mut raw.colors, &own.colors, (before, more), [1.0; 4]),
            self.normals.is_empty() == level.normals.is_empty(),
            self.tangents.is_empty() == level.tangents.is_empty(),
        ]
        .iter()
        .all(|same| *same);
        if !self.normals.is_empty() {
            let normals = match level.normals.is_empty() {
                true => Cow::Owned(directions::smooth_normals(&own.positions, &own.indices)),
                false => level.normals,
            };
            if !self.tangents.is_empty() {
                let tangents = self.tangents.to_mut();
                tangents.extend(&*level.tangents);
                let made = normals.iter().skip(level.tangents.len());
                tangents.extend(made.map(|n| n.any_orthonormal_vector().extend(1.0)));
            }
            self.normals.to_mut().extend(&*normals);
        }
        raw.positions.extend(&own.positions);
        let base = before as u32;
        for (target, more) in raw.targets.iter_mut().zip(&own.targets) {
            targets::append(target, more, base);
        }
        raw.levels.push(RawLevel {
            indices: own.indices.iter().map(|index| index + base).collect(),
            ..RawLevel::default()
        });
        self.influences.append(level.influences);
        same |= more == 0;
        Ok(if same { 0 } else { more as u64 })
    }
}

/// Appends a stream of `more` vertices to one of `before`, if there is one. Returns true if the
/// streams are both present, or both absent.
fn extend<T: Copy>(all: &mut Vec<T>, own: &[T], (before, more): (usize, usize), made: T) -> bool {
    let same = all.is_empty() == own.is_empty();
    if !all.is_empty() {
        all.extend(own);
        all.resize(before + more, made);
    }
    same
}

/// Merges equal vertices.
fn weld_vertices(vertices: &Vertices<'_>, entries: &mut Entries) -> Draft {
    let Vertices {
        raw,
        normals,
        tangents,
        influences: all,
    } = vertices;
    let object = object(raw, "");
    let per_vertex = per_vertex(raw, all);
    let morphed = Streams {
        normals: !normals.is_empty(),
        tangents: !tangents.is_empty(),
    };
    let classes = targets::classes(raw, morphed);
    let (keys, width) = keys(raw, normals, tangents, all, per_vertex, &classes);
    let used = raw.used_indices();
    let welded = weld::merge_duplicates(&keys, width, &used);
    let count = welded.kept.len() * per_vertex;
    let (mut numbers, mut weights) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for vertex in &welded.kept {
        for (entry, weight) in padded(all.of(*vertex), per_vertex) {
            entries.mark(entry);
            numbers.push(entry);
            weights.push(weight);
        }
    }
    let part = match &*raw.part {
        "" => &raw.name,
        _ => &raw.part,
    };
    let dropped = renumbered(all.dropped(), &used, &welded.indices);
    let (indices, mut rest) = welded.indices.split_at(raw.indices.len());
    let levels = raw.levels.iter().map(|level| {
        let (own, others) = rest.split_at(level.indices.len());
        rest = others;
        MeshLevel {
            indices: own.to_vec(),
            vertices: 0,
            rigid: level.rigid,
            error_m: level.error_m.unwrap_or(MeshLevel::UNMEASURED_M),
            cover: level.cover.unwrap_or(MeshLevel::UNMEASURED_M),
        }
    });
    let levels = levels.collect();
    let primitive = Primitive {
        name: raw.name.clone(),
        part: part.clone(),
        material: 0,
        variants: variants(raw),
        palette: 0..0,
        positions: pick(&raw.positions, &welded.kept),
        normals: pick(normals, &welded.kept),
        tangents: pick(tangents, &welded.kept),
        uvs: pick(&raw.uvs, &welded.kept),
        uvs1: pick(&raw.uvs1, &welded.kept),
        colors: pick(&raw.colors, &welded.kept),
        influences_per_vertex: per_vertex as u32,
        joints: JointIndices::U8(Vec::new()),
        weights,
        targets: targets::welded(&raw.targets, morphed, &welded.kept, raw.positions.len()),
        first_weight: Id::new(0),
        indices: indices.to_vec(),
        levels,
    };
    Draft {
        object,
        primitive,
        material: raw.material,
        entries: numbers,
        merged: welded.merged,
        unused: welded.unused,
        dropped,
    }
}

/// The materials of variants, ascending by variant.
fn variants(raw: &RawPrimitive) -> Vec<(VariantId, u32)> {
    let pair = |(variant, material): &(usize, usize)| (Id::new(*variant as u16), *material as u32);
    let mut all: Vec<_> = raw.variants.iter().map(pair).collect();
    all.sort_unstable();
    all
}

/// Renumbers to the welded vertices, without those that no index uses.
fn renumbered(dropped: &[Dropped], before: &[u32], now: &[u32]) -> Vec<Dropped> {
    if dropped.is_empty() {
        return Vec::new();
    }
    let numbers: HashMap<u32, u32> = before.iter().copied().zip(now.iter().copied()).collect();
    let renumbered = |one: &Dropped| {
        let vertex = *numbers.get(&one.vertex)?;
        Some(Dropped {
            vertex,
            ..one.clone()
        })
    };
    dropped.iter().filter_map(renumbered).collect()
}

/// The chosen elements. Empty for an absent stream.
fn pick<T: Copy>(all: &[T], kept: &[usize]) -> Vec<T> {
    kept.iter().filter_map(|at| all.get(*at).copied()).collect()
}

fn check(raw: &RawPrimitive) -> Result<()> {
    let count = raw.positions.len();
    for (what, len) in [
        ("NORMAL", raw.normals.len()),
        ("TANGENT", raw.tangents.len()),
        ("TEXCOORD", raw.uvs.len()),
        ("second TEXCOORD", raw.uvs1.len()),
        ("COLOR_0", raw.colors.len()),
    ] {
        if len != 0 && len != count {
            return Err(fault_at(raw, "attributes", wrong_count(what, len, count)));
        }
    }
    check_cap(
        || object(raw, ""),
        "vertices",
        count as u64,
        u64::from(u32::MAX) - 1,
    )?;
    check_finite(raw, "POSITION", &raw.positions, |v| v.to_array())?;
    check_finite(raw, "NORMAL", &raw.normals, |v| v.to_array())?;
    check_finite(raw, "TANGENT", &raw.tangents, |v| v.to_array())?;
    check_finite(raw, "TEXCOORD", &raw.uvs, |v| v.to_array())?;
    check_finite(raw, "second TEXCOORD", &raw.uvs1, |v| v.to_array())?;
    check_finite(raw, "COLOR_0", &raw.colors, |v| *v)?;
    targets::check_targets(raw)?;
    check_triangles(raw, "indices", &raw.indices)?;
    for (number, level) in raw.levels.iter().enumerate() {
        let part = format!("levels[{number}]");
        check_triangles(raw, &part, &level.indices)?;
        if let Some(error_m) = level.error_m.filter(|m| !m.is_finite() || *m < 0.0) {
            let why = AssetFault::value("level", number, error_m, "a length");
            return Err(fault_at(raw, &format!("{part}.error_m"), why));
        }
        if let Some(cover) = level.cover.filter(|of| !of.is_finite() || *of < 0.0) {
            let why = AssetFault::value("level", number, cover, "a number from 0");
            return Err(fault_at(raw, &format!("{part}.cover"), why));
        }
    }
    Ok(())
}

fn check_triangles(raw: &RawPrimitive, part: &str, indices: &[u32]) -> Result<()> {
    if !indices.len().is_multiple_of(3) {
        let why = AssetFault::Invalid("the number of indices is not a multiple of 3");
        return Err(fault_at(raw, part, why));
    }
    let count = raw.positions.len();
    if let Some(at) = indices.iter().position(|i| *i as usize >= count) {
        let why = AssetFault::dangling("vertex", indices[at] as usize, count);
        return Err(fault_at(raw, &format!("{part}[{at}]"), why));
    }
    Ok(())
}

fn check_finite<T, const N: usize>(
    raw: &RawPrimitive,
    what: &'static str,
    values: &[T],
    components: impl Fn(&T) -> [f32; N],
) -> Result<()> {
    for (vertex, value) in values.iter().enumerate() {
        if let Some(value) = components(value).into_iter().find(|v| !v.is_finite()) {
            let why = AssetFault::value("vertex", vertex, value, "finite");
            return Err(fault_at(raw, &format!("attributes.{what}"), why));
        }
    }
    Ok(())
}

/// 1, 2, 4, 8 or a larger multiple of 4: enough for every vertex that is drawn.
fn per_vertex(raw: &RawPrimitive, all: &VertexInfluences) -> usize {
    let used = raw.used_indices();
    let drawn = used.iter().map(|index| all.of(*index as usize).len());
    match drawn.max().unwrap_or(1) {
        most @ ..=2 => most.max(1),
        3..=4 => 4,
        5..=8 => 8,
        most => most.next_multiple_of(4),
    }
}

/// Pads to `per_vertex` with weight 0 on the strongest entry.
fn padded(
    of: &[influences::Influence],
    per_vertex: usize,
) -> impl Iterator<Item = influences::Influence> + '_ {
    let filler = of.first().map_or(0, |strongest| strongest.0);
    let fill = std::iter::repeat((filler, 0));
    of.iter().copied().chain(fill).take(per_vertex)
}

/// The words that distinguish vertices, and the number of words per vertex.
fn keys(
    raw: &RawPrimitive,
    normals: &[Vec3],
    tangents: &[Vec4],
    all: &VertexInfluences,
    per_vertex: usize,
    classes: &[u64],
) -> (Vec<u32>, usize) {
    let present = |there: bool, words: usize| if there { words } else { 0 };
    let width = 3
        + present(!normals.is_empty(), 3)
        + present(!tangents.is_empty(), 4)
        + present(!raw.uvs.is_empty(), 2)
        + present(!raw.uvs1.is_empty(), 2)
        + present(!raw.colors.is_empty(), 4)
        + present(!classes.is_empty(), 2)
        + per_vertex * 2;
    let mut keys = Vec::with_capacity(raw.positions.len() * width);
    for (vertex, position) in raw.positions.iter().enumerate() {
        let mut push = |values: &[f32]| keys.extend(values.iter().map(|v| v.to_bits()));
        push(&position.to_array());
        if let Some(normal) = normals.get(vertex) {
            push(&normal.to_array());
        }
        if let Some(tangent) = tangents.get(vertex) {
            push(&tangent.to_array());
        }
        for uvs in [&raw.uvs, &raw.uvs1] {
            if let Some(uv) = uvs.get(vertex) {
                push(&uv.to_array());
            }
        }
        if let Some(color) = raw.colors.get(vertex) {
            push(color);
        }
        if let Some(class) = classes.get(vertex) {
            keys.extend([*class as u32, (class >> 32) as u32]);
        }
        for (entry, weight) in padded(all.of(vertex), per_vertex) {
            keys.extend([entry, weight.into()]);
        }
    }
    (keys, width)
}

impl Draft {
    /// The same primitive, with its first target driven by this weight of the character.
    pub(super) fn driven_from(mut self, first_weight: Id<MorphWeight>) -> Self {
        self.primitive.first_weight = first_weight;
        self
    }

    /// The primitive with joint indices into its range of the palette.
    pub(super) fn finish(self, palette: &Palette, default_material: usize) -> Result<Primitive> {
        let mut finished = self.primitive;
        let per_vertex = finished.influences_per_vertex as usize;
        let positions: Vec<u32> = self.entries.iter().map(|n| palette.position(*n)).collect();
        let start = positions.iter().copied().min().unwrap_or(0);
        let end = positions.iter().copied().max().map_or(0, |last| last + 1);
        let weights = &finished.weights;
        let flipped = palette.flipped_vertices(&positions, weights, per_vertex);
        flip_triangles(&mut finished.indices, &flipped);
        for level in &mut finished.levels {
            flip_triangles(&mut level.indices, &flipped);
        }
        let what = "palette entries of one primitive";
        check_cap(|| self.object, what, (end - start).into(), 65_536)?;
        finished.material = self.material.unwrap_or(default_material) as u32;
        finished.palette = start..end;
        finished.joints = JointIndices::packed(&positions, &(start..end));
        if per_vertex == 1 {
            finished.weights = Vec::new();
        }
        Ok(finished)
    }
}
