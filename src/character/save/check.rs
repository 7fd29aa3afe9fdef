//! Checks a loaded character for everything that an import checks.

use crate::bytes::invalid;
use crate::character::asset::Character;
use crate::error::Result;
use crate::mesh::{Image, Material, MorphTarget, Primitive};
use crate::skeleton::{Joint, Skeleton, Transform};
use glam::{Affine3A, Vec3};
use std::ops::Range;

/// Returns an error unless `holds`.
fn expect(holds: bool, what: &'static str, why: &'static str) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(invalid(what, why))
    }
}

fn finite(transform: &Transform) -> bool {
    transform.translation.is_finite()
        && transform.rotation.is_finite()
        && transform.scale.is_finite()
}

fn finite_affine(affine: &Affine3A) -> bool {
    affine.matrix3.is_finite() && affine.translation.is_finite()
}

impl Skeleton {
    /// Creates the skeleton of these joints.
    ///
    /// # Errors
    /// [`Error::Saved`](crate::Error::Saved) if there are too many joints, if they are not in
    /// breadth-first order, or if a rest pose is not finite.
    pub(super) fn of_joints(joints: Vec<Joint>) -> Result<Self> {
        let what = "joint";
        expect(joints.len() <= Self::MAX_JOINTS, what, "is past the limit")?;
        let mut depths: Vec<usize> = Vec::with_capacity(joints.len());
        let mut levels: Vec<Range<u16>> = Vec::new();
        for (number, joint) in joints.iter().enumerate() {
            expect(
                finite(&joint.rest),
                what,
                "has a rest transform that is not finite",
            )?;
            let depth = match depths.get(usize::from(joint.parent_index())) {
                Some(parent) => parent + 1,
                None => {
                    expect(joint.parent.is_none(), what, "comes before its parent")?;
                    0
                }
            };
            let number = number as u16;
            if depth == levels.len() {
                levels.push(number..number);
            }
            expect(
                depth + 1 == levels.len(),
                what,
                "is not in breadth-first order",
            )?;
            levels[depth].end = number + 1;
            depths.push(depth);
        }
        Ok(Self {
            joints: joints.into(),
            levels,
            roles: std::sync::Arc::default(),
        })
    }
}

impl Character {
    /// Checks everything except the clips.
    ///
    /// # Errors
    /// [`Error::Saved`](crate::Error::Saved) with the invalid part.
    pub(super) fn check_saved(&self) -> Result<()> {
        let joints = self.model.skeleton.len();
        for entry in &self.model.palette {
            let what = "palette entry";
            expect(
                usize::from(entry.joint) < joints,
                what,
                "refers to a joint that does not exist",
            )?;
            expect(finite_affine(&entry.inverse_bind), what, "is not finite")?;
        }
        for skin in &self.model.skins {
            let known = skin.joints.iter().all(|joint| usize::from(*joint) < joints);
            expect(known, "skin", "refers to joints that do not exist")?;
        }
        expect(
            !self.model.materials.is_empty(),
            "character",
            "has no material",
        )?;
        for material in &self.model.materials {
            self.check_material(material)?;
        }
        self.model.images.iter().try_for_each(check_image)?;
        for weight in &self.model.morph_weights {
            expect(weight.rest.is_finite(), "morph weight", "is not finite")?;
        }
        for primitive in &self.model.primitives {
            self.check_primitive(primitive)?;
        }
        let reaches = &self.model.morph_reaches;
        let sorted = |pair: &[crate::mesh::MorphReach]| {
            (pair[0].entry, pair[0].weight) < (pair[1].entry, pair[1].weight)
        };
        expect(
            reaches.windows(2).all(sorted),
            "morph reach",
            "is out of order",
        )?;
        for reach in reaches {
            let known = (reach.entry as usize) < self.model.palette.len()
                && (reach.weight as usize) < self.model.morph_weights.len();
            expect(
                known,
                "morph reach",
                "refers to an entry or weight that does not exist",
            )?;
        }
        expect(
            self.scales.len() == joints,
            "scales",
            "do not match the number of joints",
        )
    }

    /// Checks that the number of clips matches the import's options.
    ///
    /// # Errors
    /// As [`Self::check_saved`].
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

    fn check_material(&self, material: &Material) -> Result<()> {
        for texture in material.textures().into_iter().flatten() {
            let known = (texture.image as usize) < self.model.images.len();
            expect(known, "material", "refers to an image that does not exist")?;
            expect(
                texture.uv_set < 2,
                "material",
                "uses a third set of texture coordinates",
            )?;
        }
        Ok(())
    }

    fn check_primitive(&self, primitive: &Primitive) -> Result<()> {
        let what = "primitive";
        let known = (primitive.material as usize) < self.model.materials.len();
        expect(known, what, "refers to a material that does not exist")?;
        let palette = &primitive.palette;
        let inside =
            palette.start <= palette.end && palette.end as usize <= self.model.palette.len();
        expect(
            inside,
            what,
            "addresses entries past the end of the palette",
        )?;
        let vertices = primitive.positions.len();
        let fits = |len: usize| len == 0 || len == vertices;
        let streams = primitive.optional_streams();
        expect(
            streams.into_iter().all(|(_, len)| fits(len)),
            what,
            "has streams of different lengths",
        )?;
        let positions = primitive.positions.iter();
        expect(
            positions.clone().all(|p| p.is_finite()),
            what,
            "is not finite",
        )?;
        check_influences(primitive)?;
        let triangles = &primitive.indices;
        let inside = triangles.iter().all(|index| (*index as usize) < vertices);
        expect(
            inside && triangles.len().is_multiple_of(3),
            what,
            "has triangles without vertices",
        )?;
        let weights = u64::from(primitive.first_weight) + primitive.targets.len() as u64;
        let driven =
            primitive.targets.is_empty() || weights <= self.model.morph_weights.len() as u64;
        expect(driven, what, "has targets without morph weights")?;
        let mut targets = primitive.targets.iter();
        targets.try_for_each(|target| check_target(target, vertices))
    }
}

fn check_influences(primitive: &Primitive) -> Result<()> {
    let what = "influences";
    let most = Primitive::MAX_INFLUENCES;
    let per_vertex = primitive.influences_per_vertex as usize;
    expect(
        (1..=most).contains(&per_vertex),
        what,
        "are more than 256 per vertex, or none",
    )?;
    let all = primitive.positions.len().checked_mul(per_vertex);
    expect(
        all == Some(primitive.joints.len()),
        what,
        "do not match the number of vertices",
    )?;
    let known = match &primitive.joints {
        crate::mesh::JointIndices::U8(list) => list.iter().max().map(|max| usize::from(*max)),
        crate::mesh::JointIndices::U16(list) => list.iter().max().map(|max| usize::from(*max)),
    };
    let inside = known.is_none_or(|max| max < primitive.palette.len());
    expect(
        inside,
        what,
        "address entries past the primitive's palette range",
    )?;
    if primitive.weights.is_empty() {
        return expect(per_vertex == 1, what, "have no weights");
    }
    expect(
        all == Some(primitive.weights.len()),
        what,
        "have the wrong number of weights",
    )?;
    let whole = |weights: &[u16]| weights.iter().map(|w| u32::from(*w)).sum::<u32>() == 65_535;
    let sums = primitive.weights.chunks_exact(per_vertex).all(whole);
    expect(sums, what, "have weights that do not sum to 65,535")
}

fn check_target(target: &MorphTarget, vertices: usize) -> Result<()> {
    let what = "morph target";
    let list = &target.vertices;
    let inside = list.last().is_none_or(|last| (*last as usize) < vertices);
    let ascends = list.windows(2).all(|pair| pair[0] < pair[1]);
    expect(
        inside && ascends,
        what,
        "refers to vertices that do not exist, or to a vertex twice",
    )?;
    let fits = |deltas: &[Vec3]| deltas.len() == list.len();
    let fits_or_none = |deltas: &[Vec3]| deltas.is_empty() || fits(deltas);
    let right =
        fits(&target.positions) && fits_or_none(&target.normals) && fits_or_none(&target.tangents);
    expect(right, what, "has streams of different lengths")?;
    let streams = [&target.positions, &target.normals, &target.tangents];
    let finite = streams.into_iter().flatten().all(|delta| delta.is_finite());
    expect(finite, what, "is not finite")
}

fn check_image(image: &Image) -> Result<()> {
    expect(image.width > 0 && image.height > 0, "image", "has no texel")
}
