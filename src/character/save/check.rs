//! Checks a loaded character for everything that an import checks.

use crate::bytes::invalid;
use crate::character::asset::Character;
use crate::error::{Error, Object, ObjectKind, Result};
use crate::mesh::{JointIndices, Model, MorphReach, MorphTarget, MorphWeight, Primitive};
use crate::skeleton::{Joint, Skeleton};
use glam::Vec3;
use std::ops::Range;

/// Returns an error unless `holds`.
fn expect(holds: bool, what: &'static str, why: &'static str) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(invalid(what, why))
    }
}

/// Returns an error with the first of the conditions that does not hold.
fn expect_all<const N: usize>(what: &'static str, all: [(bool, &'static str); N]) -> Result<()> {
    all.into_iter()
        .try_for_each(|(holds, why)| expect(holds, what, why))
}

impl Skeleton {
    /// Creates the skeleton of these joints.
    pub(super) fn of_joints(joints: Vec<Joint>) -> Result<Self> {
        let what = "joint";
        expect(joints.len() <= Self::MAX_JOINTS, what, "is past the limit")?;
        let mut depths: Vec<usize> = Vec::with_capacity(joints.len());
        let mut levels: Vec<Range<u16>> = Vec::new();
        for (number, joint) in joints.iter().enumerate() {
            let is_finite = joint.rest.is_finite();
            expect(is_finite, what, "has a rest transform that is not finite")?;
            let depth = match depths.get(usize::from(joint.parent_index())) {
                Some(parent) => parent + 1,
                None => {
                    expect(joint.parent.is_none(), what, "comes before its parent")?;
                    0
                }
            };
            let at = number as u16;
            if depth == levels.len() {
                levels.push(at..at);
            }
            let before = number.checked_sub(1).map(|before| &joints[before]);
            let ascends = before.is_none_or(|before| before.parent <= joint.parent);
            let in_order = depth + 1 == levels.len() && ascends;
            expect(in_order, what, "is not in breadth-first order")?;
            levels[depth].end = at + 1;
            depths.push(depth);
        }
        Ok(Self {
            joints: joints.into(),
            levels,
            roles: std::sync::Arc::default(),
            vrm: None,
        })
    }
}

impl Character {
    /// Checks everything except the clips.
    pub(super) fn check_saved(&self) -> Result<()> {
        check_model(&self.model)?;
        let scales = self.scales.len() == self.model.skeleton.len();
        expect(scales, "scales", "do not match the number of joints")
    }

    /// Checks that the number of clips matches the import's options.
    pub(super) fn check_clips(&self) -> Result<()> {
        let [clips, curves] = [self.clips.len(), self.curves.len()];
        let right = match (self.packing.curves, self.packing.options) {
            (false, Some(_)) => curves == 0,
            (true, Some(_)) => clips == curves,
            (true, None) => clips == 0,
            (false, None) => false,
        };
        expect(
            right,
            "character",
            "has clips in a different form than it states",
        )
    }
}

fn check_model(model: &Model) -> Result<()> {
    let joints = model.skeleton.len();
    for entry in &model.palette {
        let (known, bind) = (usize::from(entry.joint) < joints, &entry.inverse_bind);
        let finite = bind.matrix3.is_finite() && bind.translation.is_finite();
        let all = [
            (known, "refers to a joint that does not exist"),
            (finite, "is not finite"),
        ];
        expect_all("palette entry", all)?;
    }
    for skin in &model.skins {
        let known = skin.joints.iter().all(|joint| usize::from(*joint) < joints);
        expect(known, "skin", "refers to joints that do not exist")?;
    }
    for (index, image) in model.images.iter().enumerate() {
        let at = || Object::new(ObjectKind::Image, index, "");
        image.check().map_err(|why| Error::asset(at(), why))?;
    }
    expect(!model.materials.is_empty(), "character", "has no material")?;
    let textures = model
        .materials
        .iter()
        .flat_map(|material| material.textures());
    for texture in textures.flatten() {
        let known = (texture.image as usize) < model.images.len();
        expect_all(
            "material",
            [
                (known, "refers to an image that does not exist"),
                (
                    texture.uv_set < 2,
                    "uses a third set of texture coordinates",
                ),
            ],
        )?;
    }
    for image in &model.images {
        expect(image.width > 0 && image.height > 0, "image", "has no texel")?;
    }
    let few = model.morph_weights.len() <= MorphWeight::MAX_COUNT;
    expect(few, "morph weights", "are more than 65,536")?;
    for weight in &model.morph_weights {
        expect(weight.rest.is_finite(), "morph weight", "is not finite")?;
    }
    let levels = model.primitives.first();
    let levels = levels.map_or(0, |primitive| primitive.levels.len());
    for primitive in &model.primitives {
        check_primitive(model, primitive)?;
        check_influences(primitive)?;
        check_levels(primitive, levels)?;
        for target in &primitive.targets {
            check_target(target, primitive.vertex_count())?;
        }
    }
    let (what, reaches) = ("morph reach", &model.morph_reaches);
    let key = |reach: &MorphReach| (reach.entry, reach.weight);
    let sorted = reaches.is_sorted_by(|a, b| key(a) < key(b));
    expect(sorted, what, "is out of order")?;
    let known = |reach: &MorphReach| {
        (reach.entry as usize) < model.palette.len()
            && (reach.weight as usize) < model.morph_weights.len()
    };
    let why = "refers to an entry or weight that does not exist";
    expect(reaches.iter().all(known), what, why)
}

fn check_primitive(model: &Model, primitive: &Primitive) -> Result<()> {
    let palette = &primitive.palette;
    let (vertices, triangles) = (primitive.positions.len(), &primitive.indices);
    let mut streams = primitive.optional_streams().into_iter();
    let weights = u64::from(primitive.first_weight) + primitive.targets.len() as u64;
    expect_all(
        "primitive",
        [
            (
                (primitive.material as usize) < model.materials.len(),
                "refers to a material that does not exist",
            ),
            (
                palette.start <= palette.end && palette.end as usize <= model.palette.len(),
                "addresses entries past the end of the palette",
            ),
            (
                streams.all(|(_, len)| len == 0 || len == vertices),
                "has streams of different lengths",
            ),
            (
                primitive.positions.iter().all(|p| p.is_finite()),
                "is not finite",
            ),
            (
                triangles.iter().all(|index| (*index as usize) < vertices)
                    && triangles.len().is_multiple_of(3),
                "has triangles without vertices",
            ),
            (
                primitive.targets.is_empty() || weights <= model.morph_weights.len() as u64,
                "has targets without morph weights",
            ),
        ],
    )
}

/// Checks that the levels of detail draw a prefix of the vertices, ever fewer of them.
fn check_levels(primitive: &Primitive, count: usize) -> Result<()> {
    let what = "level of detail";
    let same = primitive.levels.len() == count;
    expect(same, what, "is missing in a primitive")?;
    let mut before = primitive.vertex_count();
    for level in &primitive.levels {
        let vertices = level.vertices as usize;
        expect_all(
            what,
            [
                (vertices <= before, "has more vertices than a finer one"),
                (
                    level.indices.iter().all(|index| *index < level.vertices)
                        && level.indices.len().is_multiple_of(3),
                    "has triangles without vertices",
                ),
                (
                    level.error_m.is_finite() && level.error_m >= 0.0,
                    "has an error that is not a length",
                ),
                (
                    level.cover.is_finite() && level.cover >= 0.0,
                    "has a cover that is not a number from 0",
                ),
            ],
        )?;
        before = vertices;
    }
    Ok(())
}

fn check_influences(primitive: &Primitive) -> Result<()> {
    let (what, per_vertex) = ("influences", primitive.influences_per_vertex as usize);
    let all = primitive.positions.len().checked_mul(per_vertex);
    let largest = match &primitive.joints {
        JointIndices::U8(list) => list.iter().max().map(|max| usize::from(*max)),
        JointIndices::U16(list) => list.iter().max().map(|max| usize::from(*max)),
    };
    let known = largest.is_none_or(|max| max < primitive.palette.len());
    let count = (1..=Primitive::MAX_INFLUENCES).contains(&per_vertex);
    expect_all(
        what,
        [
            (count, "are more than 256 per vertex, or none"),
            (
                all == Some(primitive.joints.len()),
                "do not match the number of vertices",
            ),
            (known, "address entries past the primitive's palette range"),
        ],
    )?;
    if primitive.weights.is_empty() {
        return expect(per_vertex == 1, what, "have no weights");
    }
    let count = all == Some(primitive.weights.len());
    expect(count, what, "have the wrong number of weights")?;
    let whole = |weights: &[u16]| weights.iter().map(|w| u32::from(*w)).sum::<u32>() == 65_535;
    let sums = primitive.weights.chunks_exact(per_vertex).all(whole);
    expect(sums, what, "have weights that do not sum to 65,535")
}

fn check_target(target: &MorphTarget, vertices: usize) -> Result<()> {
    let list = &target.vertices;
    let inside = list.last().is_none_or(|last| (*last as usize) < vertices);
    let fits = |deltas: &[Vec3]| deltas.len() == list.len();
    let fits_or_none = |deltas: &[Vec3]| deltas.is_empty() || fits(deltas);
    let streams = [&target.positions, &target.normals, &target.tangents];
    expect_all(
        "morph target",
        [
            (
                inside && list.is_sorted_by(|a, b| a < b),
                "refers to vertices that do not exist, or to a vertex twice",
            ),
            (
                fits(streams[0]) && fits_or_none(streams[1]) && fits_or_none(streams[2]),
                "has streams of different lengths",
            ),
            (
                streams.into_iter().flatten().all(|delta| delta.is_finite()),
                "is not finite",
            ),
        ],
    )
}
