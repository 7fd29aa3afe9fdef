//! What is proven once and then only read: the skeleton, the meshes with their

use super::animation_set::AnimationSet;
use super::flips::ScaleRanges;
use super::packing::Packing;
use crate::clip::{Clip, CurveClip};
use crate::error::Result;
use crate::ids::{ClipId, MorphWeightId, find};
use crate::mesh::{
    Aabb, Image, Material, Model, MorphWeight, PaletteJoint, PartId, Primitive, SkinInfo,
};
use crate::skeleton::Skeleton;
use std::ops::Range;
use std::sync::Arc;

/// An animated, skinned character: everything that came out of one file, proven.
///
/// Invariants:
/// - joints are stored breadth first, every parent before its children;
/// - the palette has an entry for each distinct (joint, inverse bind matrix) pair that a vertex
///   uses, and none that no vertex uses; it has more than one only where 8-bit joint indices or a
///   [split](Character::split) need it;
/// - every primitive addresses a contiguous range of the palette, and all of its joint indices
///   lie in that range; its weights sum to exactly 65,535 at every vertex;
/// - every triangle index is less than its primitive's vertex count; positions are finite;
/// - every clip is made for the skeleton; where curves are kept, each clip has one of the same
///   index;
/// - every curve's joint exists, its key times are finite and strictly increasing, and its values
///   are finite;
/// - every material, image and sampler index exists; there is at least one material;
/// - morph targets list vertices of their primitive in ascending order, their deltas are finite,
///   and each is driven by a morph weight that there is.
#[derive(Debug, Clone, PartialEq)]
pub struct Character {
    pub(crate) model: Model,
    /// Shared with what animates the character, as are curves and animations.
    pub(crate) clips: Arc<Vec<Clip>>,
    pub(crate) curves: Arc<Vec<CurveClip>>,
    /// How clips become part of it.
    pub(crate) packing: Packing,
    pub(crate) scales: ScaleRanges,
    pub(crate) animations: Arc<AnimationSet>,
}

impl Character {
    /// The part of it that is posed and drawn, without its animation.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// The name that the importer was given, usually the file's.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.model.name
    }

    /// The joints: names, hierarchy, rest pose.
    #[must_use]
    pub fn skeleton(&self) -> &Skeleton {
        &self.model.skeleton
    }

    /// The palette's entries in order: skinning matrix `i` = model matrix of
    /// `palette[i].joint` × `palette[i].inverse_bind`.
    #[must_use]
    pub fn palette(&self) -> &[PaletteJoint] {
        &self.model.palette
    }

    /// The drawable parts.
    #[must_use]
    pub fn primitives(&self) -> &[Primitive] {
        &self.model.primitives
    }

    /// The materials that the primitives refer to; at least one.
    #[must_use]
    pub fn materials(&self) -> &[Material] {
        &self.model.materials
    }

    /// The decoded images that the materials refer to.
    #[must_use]
    pub fn images(&self) -> &[Image] {
        &self.model.images
    }

    /// The clips, packed, in the file's order: what is played. Empty if the import left them as
    /// curves ([`ClipImport::Curves`](crate::character::ClipImport::Curves)).
    #[must_use]
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// The file's own curves, in the file's order: for tools, such as retargeting, and as the
    /// reference in tests. Empty unless the import was asked to keep them: see
    /// [`ImportOptions::clips`](crate::import::ImportOptions::clips).
    #[must_use]
    pub fn curves(&self) -> &[CurveClip] {
        &self.curves
    }

    /// The weights of the morph targets: what each drives, and its value at rest.
    #[must_use]
    pub fn morph_weights(&self) -> &[MorphWeight] {
        &self.model.morph_weights
    }

    /// The morph weight of this name: the first that matches exactly.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that there are.
    pub fn morph_weight(&self, name: &str) -> Result<MorphWeightId> {
        find(
            self.model.morph_weights.iter().map(|weight| &*weight.name),
            name,
        )
    }

    /// The file's skins whose joints are in the skeleton, for listings: those that are used, and
    /// those that share all joints with them. The palette holds what vertices use of them.
    #[must_use]
    pub fn skins(&self) -> &[SkinInfo] {
        &self.model.skins
    }

    /// Box around the mesh in the rest pose, in character space; around the joints if there is
    /// no mesh. Its largest edge is what tolerances call the model's size.
    #[must_use]
    pub fn rest_bounds(&self) -> Aabb {
        self.model.rest_bounds
    }

    /// The same without what only drawing needs: no primitives, no images. The materials stay.
    #[cfg(feature = "vulkan")]
    pub(crate) fn rig(&self) -> Self {
        let model = Model {
            primitives: Vec::new(),
            images: Vec::new(),
            ..self.model.clone()
        };
        Self {
            model,
            ..self.clone()
        }
    }

    /// The clip of this name: the first that matches exactly. Where there are only curves, one of
    /// them.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that there are.
    pub fn clip(&self, name: &str) -> Result<ClipId> {
        find(self.clip_names(), name)
    }

    /// How many vertices one instance has, all primitives together.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.model
            .primitives
            .iter()
            .map(Primitive::vertex_count)
            .sum()
    }

    /// How many triangles one instance has, all primitives together.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.model
            .primitives
            .iter()
            .map(|p| p.indices.len() / 3)
            .sum()
    }

    /// The palette range that `primitive` addresses.
    #[must_use]
    pub fn palette_range(&self, primitive: &Primitive) -> Range<usize> {
        self.model.palette_range(primitive)
    }

    /// The parts that instances can hide one by one, in the order of their ids: the name of each
    /// node that carries primitives, then the names of the primitives of those nodes that carry
    /// several.
    pub fn parts(&self) -> impl Iterator<Item = (PartId, &str)> {
        self.model.parts()
    }

    /// The bit of each primitive; 0 past [`MAX_HIDEABLE`]. The pieces of a split one share theirs.
    #[cfg(feature = "vulkan")]
    pub(crate) fn part_bits(&self, part: PartId) -> Result<u128> {
        self.model.part_bits(part)
    }

    /// The part of this name, for `Crowd::set_part_visible`.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that there are.
    pub fn part(&self, name: &str) -> Result<PartId> {
        self.model.part(name)
    }
}
