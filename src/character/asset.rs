//! What is proven once and then only read: the skeleton, the meshes with their

use crate::mesh::MorphReach;

use crate::mesh::MorphWeight;

use crate::mesh::SkinInfo;

use crate::mesh::PaletteJoint;

use crate::mesh::Aabb;

use crate::error::Result;

use crate::clip::Clip;

use std::ops::Range;

use std::sync::Arc;

use super::animation_set::AnimationSet;

use crate::ids::ClipId;

use crate::clip::CurveClip;

use crate::mesh::Image;

use crate::mesh::Material;

use crate::ids::MorphWeightId;

use super::packing::Packing;

use crate::mesh::Parts;

use crate::mesh::Primitive;

use super::flips::ScaleRanges;

use crate::skeleton::Skeleton;

use crate::ids::find;

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
    pub(crate) name: Box<str>,
    pub(crate) skeleton: Skeleton,
    pub(crate) palette: Vec<PaletteJoint>,
    pub(crate) primitives: Vec<Primitive>,
    pub(crate) materials: Vec<Material>,
    pub(crate) images: Vec<Image>,
    /// Shared with what animates the character, as are curves and animations.
    pub(crate) clips: Arc<Vec<Clip>>,
    pub(crate) curves: Arc<Vec<CurveClip>>,
    /// How clips become part of it.
    pub(crate) packing: Packing,
    pub(crate) scales: ScaleRanges,
    pub(crate) animations: Arc<AnimationSet>,
    pub(crate) morph_weights: Vec<MorphWeight>,
    pub(crate) skins: Vec<SkinInfo>,
    pub(crate) parts: Parts,
    pub(crate) rest_bounds: Aabb,
    /// Sorted by entry, then weight; each pair once.
    pub(crate) morph_reaches: Vec<MorphReach>,
}

impl Character {
    /// The name that the importer was given, usually the file's.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The joints: names, hierarchy, rest pose.
    #[must_use]
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The palette's entries in order: skinning matrix `i` = model matrix of
    /// `palette[i].joint` × `palette[i].inverse_bind`.
    #[must_use]
    pub fn palette(&self) -> &[PaletteJoint] {
        &self.palette
    }

    /// The drawable parts.
    #[must_use]
    pub fn primitives(&self) -> &[Primitive] {
        &self.primitives
    }

    /// The materials that the primitives refer to; at least one.
    #[must_use]
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// The decoded images that the materials refer to.
    #[must_use]
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// The clips, packed, in the file's order: what is played. Empty if the import left them as
    /// curves ([`ClipImport::Curves`](crate::import::ClipImport::Curves)).
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
        &self.morph_weights
    }

    /// The morph weight of this name: the first that matches exactly.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that there are.
    pub fn morph_weight(&self, name: &str) -> Result<MorphWeightId> {
        find(self.morph_weights.iter().map(|weight| &*weight.name), name)
    }

    /// The file's skins whose joints are in the skeleton, for listings: those that are used, and
    /// those that share all joints with them. The palette holds what vertices use of them.
    #[must_use]
    pub fn skins(&self) -> &[SkinInfo] {
        &self.skins
    }

    /// Box around the mesh in the rest pose, in character space; around the joints if there is
    /// no mesh. Its largest edge is what tolerances call the model's size.
    #[must_use]
    pub fn rest_bounds(&self) -> Aabb {
        self.rest_bounds
    }

    /// The same without what only drawing needs: no primitives, no images. The materials stay.
    #[cfg(feature = "vulkan")]
    pub(crate) fn rig(&self) -> Self {
        Self {
            name: self.name.clone(),
            skeleton: self.skeleton.clone(),
            palette: self.palette.clone(),
            primitives: Vec::new(),
            materials: self.materials.clone(),
            images: Vec::new(),
            clips: Arc::clone(&self.clips),
            curves: Arc::clone(&self.curves),
            packing: self.packing,
            scales: self.scales.clone(),
            animations: Arc::clone(&self.animations),
            morph_weights: self.morph_weights.clone(),
            skins: self.skins.clone(),
            parts: self.parts.clone(),
            rest_bounds: self.rest_bounds,
            morph_reaches: self.morph_reaches.clone(),
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
        self.primitives.iter().map(Primitive::vertex_count).sum()
    }

    /// How many triangles one instance has, all primitives together.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.primitives.iter().map(|p| p.indices.len() / 3).sum()
    }

    /// The palette range that `primitive` addresses.
    #[must_use]
    pub fn palette_range(&self, primitive: &Primitive) -> Range<usize> {
        primitive.palette.start as usize..primitive.palette.end as usize
    }
}
