//! What is proven once and then only read: the skeleton, the meshes with their
//! influences, the clips and the materials of one character.
//!
//! A [`Character`] is made by [`crate::import`] or [`crate::builtin`]; all of its
//! parts are immutable. Its invariants are listed at [`Character`] and are relied
//! on, without being checked again, by everything behind it.

mod added_clips;
mod animation_set;
mod clip;
mod clip_names;
mod cut;
mod flips;
mod ids;
mod material;
mod mesh;
mod name_match;
mod pack_clips;
mod parts;
mod pieces;
mod ranges;
mod reach;
mod repack;
pub(crate) mod save;
mod skeleton;
mod skeleton_build;
mod split;
mod triangles;

#[cfg(feature = "toml")]
pub use animation_set::AnimationText;
pub use animation_set::{
    AdditiveDesc, AdditiveReferenceDesc, AnimationDesc, AnimationError, AnimationList,
    AnimationPart, AnimationSet, BlendAt, BlendPointDesc, BlendShape, BlendSpace, BlendSpaceDesc,
    ClipDesc, EventDesc, Gait, NamedSocket, RootMotionDesc, SocketDesc,
};
pub(crate) use clip::is_opposite;
pub use clip::{CurveClip, Interpolation, Keys, Track, TrackValues, WeightTrack};
pub use ids::{
    BlendSpaceId, ClipId, EventId, JointId, MaskId, MorphWeightId, ParameterId, SocketId, StateId,
};
pub use material::{AlphaMode, Filter, Image, Material, Sampler, TextureRef, Wrap};
pub use mesh::{Influences, JointIndices, MAX_INFLUENCES, MorphTarget, Primitive};
pub use parts::{MAX_HIDEABLE, PartId};
pub(crate) use skeleton::NO_PARENT;
pub use skeleton::{Affine, Joint, Skeleton, Transform};
pub use triangles::Facing;

pub(crate) use animation_set::{AnimationSource, ClipDraft, NamedTimes};
pub(crate) use flips::{ScaleRanges, mark_flips};
pub(crate) use ids::{find, unknown};
pub(crate) use name_match::{NameMatch, match_names};
pub(crate) use pack_clips::Packing;
pub(crate) use parts::Parts;
#[cfg(feature = "vulkan")]
pub(crate) use parts::bits as part_bits;
pub(crate) use pieces::Bounds;
pub(crate) use reach::reaches;
pub(crate) use repack::{Offer, Policy, bound, repack};
pub use split::{Split, SplitReport};

use crate::error::Result;
use crate::pose::Clip;
use glam::Vec3;
use std::ops::Range;
use std::sync::Arc;

/// An axis-aligned box, in metres; empty when `min > max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// The corner with the least coordinates.
    pub min: Vec3,
    /// The corner with the greatest coordinates.
    pub max: Vec3,
}

impl Aabb {
    /// The box that contains nothing.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// Whether the box contains no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.min.cmpgt(self.max).any()
    }

    /// The box grown to contain `point`.
    #[must_use]
    pub fn with_point(self, point: Vec3) -> Self {
        Self {
            min: self.min.min(point),
            max: self.max.max(point),
        }
    }

    /// The smallest box that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The centre; the origin for an empty box.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            self.min * 0.5 + self.max * 0.5
        }
    }

    /// Edge lengths in metres; zero for an empty box.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            self.max - self.min
        }
    }

    /// The box around this one after `transform`: exact for the box, conservative for what is in
    /// it.
    #[must_use]
    pub fn transformed(&self, transform: &Affine) -> Self {
        if self.is_empty() {
            return *self;
        }
        let half = self.size() * 0.5;
        let center = transform.transform_point3(self.center());
        let m = transform.matrix3;
        let reach = Vec3::from(m.x_axis.abs()) * half.x
            + Vec3::from(m.y_axis.abs()) * half.y
            + Vec3::from(m.z_axis.abs()) * half.z;
        Self {
            min: center - reach,
            max: center + reach,
        }
    }
}

/// One entry of a character's palette: a joint and the inverse bind matrix that goes with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaletteJoint {
    /// The joint that it follows.
    pub joint: JointId,
    /// Mesh space to the joint's space at bind time.
    pub inverse_bind: Affine,
    /// Whether its skinning matrix mirrors in the rest pose: has a negative determinant.
    pub mirrored: bool,
    /// Whether some pose of a clip, or of a blend of clips, may mirror where the rest pose does
    /// not, or the other way round: the joint or an ancestor of it has a scale that a clip drives
    /// to another sign. Conservative: told from the ranges of the scale tracks, and never false
    /// where the sign does change. Poses that a caller makes are not looked at.
    pub may_flip: bool,
    /// Box around every vertex that this entry influences, in mesh (bind) space, without morph
    /// targets. A posed vertex is a convex combination of its entries' images, so the union of
    /// these boxes under the palette bounds the posed character.
    pub bounds: Aabb,
}

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

/// How far a morph weight moves the vertices that a palette entry influences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MorphReach {
    /// Index into [`Character::palette`].
    pub(crate) entry: u32,
    /// Index into [`Character::morph_weights`].
    pub(crate) weight: u32,
    /// Metres along each axis of mesh (bind) space, per unit of the weight.
    pub(crate) reach: Vec3,
}

/// A weight that drives a morph target of every primitive of one mesh of a character.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphWeight {
    /// The target's name in the file, or empty.
    pub name: Box<str>,
    /// The name of the node or mesh that it belongs to, or empty.
    pub owner: Box<str>,
    /// Its value where neither a clip nor the caller sets another.
    pub rest: f32,
}

/// What is remembered of a file's skin, for listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkinInfo {
    /// The skin's name, or empty.
    pub name: Box<str>,
    /// The skin's joints, in the file's order.
    pub joints: Vec<JointId>,
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

/// Names joined by commas, cut after about 300 characters.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> Box<str> {
    let mut text = String::new();
    for name in names {
        if text.len() + name.len() > 300 {
            text.push_str(", …");
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    if text.is_empty() {
        "none".into()
    } else {
        text.into()
    }
}
