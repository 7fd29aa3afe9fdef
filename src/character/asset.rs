//! The character: data that is checked once and then only read.

use super::animation_set::AnimationSet;
use super::flips::{ScaleRanges, mark_flips};
use crate::clip::{Clip, ClipOptions, ClipReach, CurveClip};
use crate::error::{ArgumentFault, Error, Object, ObjectKind, Result};
use crate::id::{Id, find};
use crate::mesh::{
    Aabb, Image, Material, MaterialVariant, Model, MorphWeight, PaletteJoint, PartId, Primitive,
    VariantId,
};
use crate::skeleton::{Joint, Skeleton};
use crate::spring::SpringRig;
use std::ops::Range;
use std::sync::Arc;

/// The forms in which a character keeps its clips, also those that are added later.
///
/// It keeps at least one of the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Packing {
    /// True if it keeps the file's own curves.
    pub(crate) curves: bool,
    /// The options for packed clips. `None`: it has only curves.
    pub(crate) options: Option<ClipOptions>,
}

impl Packing {
    /// Keeps no clips. A character never has it.
    pub(crate) const NEITHER: Self = Self {
        curves: false,
        options: None,
    };
}

impl Default for Packing {
    fn default() -> Self {
        Self {
            curves: false,
            options: Some(ClipOptions::default()),
        }
    }
}

/// An animated, skinned character: the checked contents of one file.
///
/// Invariants:
/// - Joints are stored breadth first, every parent before its children.
/// - The palette has an entry for each distinct (joint, inverse bind matrix) pair that a vertex
///   uses, and no unused entry. It repeats an entry only if 8-bit joint indices or a
///   [split](Character::split) require it.
/// - Every primitive addresses a contiguous range of the palette, and all of its joint indices lie
///   in that range. Its weights sum to exactly 65,535 at every vertex.
/// - Every triangle index is less than its primitive's vertex count. Positions are finite.
/// - Every clip is made for the skeleton. If curves are kept, each clip has the curves of the same
///   index.
/// - The joint of every curve exists, its key times are finite and strictly increasing, and its
///   values are finite.
/// - Every material and image index exists. There is at least one material.
/// - Every joint of a spring bone exists, swings in one chain only and lies below the one before
///   it.
/// - Every morph weight of an expression exists.
/// - Morph targets list vertices of their primitive in ascending order, their deltas are finite,
///   and the morph weight that drives them exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Character {
    pub(super) model: Model,
    /// Shared with the animators of the character, as are curves and animations.
    pub(super) clips: Arc<Vec<Clip>>,
    /// The lengths that each of the packed clips can change. Shared, too.
    pub(super) reaches: Arc<Vec<ClipReach>>,
    pub(super) curves: Arc<Vec<CurveClip>>,
    /// The form of the clips, also of those that are added later.
    pub(super) packing: Packing,
    pub(super) scales: ScaleRanges,
    pub(super) animations: Arc<AnimationSet>,
    pub(super) springs: Arc<SpringRig>,
}

impl Character {
    /// The parts that are posed and drawn, without the animation.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// A copy with another model of the same skeleton.
    pub(super) fn with_model(&self, model: Model) -> Self {
        Self {
            model,
            clips: Arc::clone(&self.clips),
            reaches: Arc::clone(&self.reaches),
            curves: Arc::clone(&self.curves),
            packing: self.packing,
            scales: self.scales.clone(),
            animations: Arc::clone(&self.animations),
            springs: Arc::clone(&self.springs),
        }
    }

    /// The same character with another model of its skeleton, whose extent is checked, and whose
    /// palette entries are marked as flipping.
    pub(crate) fn with_meshes_of(&self, mut model: Model) -> Result<Self> {
        mark_flips(&mut model, &self.scales);
        let character = self.with_model(model);
        character.check_extent()?;
        Ok(character)
    }

    /// Returns true if the model matrix of a joint may mirror or flatten: at rest, or with any clip
    /// that the character ever had.
    #[cfg(feature = "vulkan")]
    pub(crate) fn mirrors(&self) -> bool {
        self.scales.mirror(&self.model.skeleton)
    }

    /// The packed clips, to share them.
    pub(crate) fn shared_clips(&self) -> &Arc<Vec<Clip>> {
        &self.clips
    }

    /// The lengths that each packed clip can change, to share them.
    pub(crate) fn clip_reaches(&self) -> &Arc<Vec<ClipReach>> {
        &self.reaches
    }

    /// The animation data besides the clips, to share it.
    pub(crate) fn animation_set(&self) -> &Arc<AnimationSet> {
        &self.animations
    }

    /// The spring bones, ready to be simulated, to share them.
    pub(crate) fn spring_rig(&self) -> &Arc<SpringRig> {
        &self.springs
    }

    /// The name that the importer was given, usually the file's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.model.name
    }

    /// The joints: names, hierarchy, rest pose.
    #[must_use]
    pub fn skeleton(&self) -> &Skeleton {
        &self.model.skeleton
    }

    /// The palette's entries in order.
    ///
    /// Skinning matrix `i` = model matrix of `palette[i].joint` × `palette[i].inverse_bind`.
    #[must_use]
    pub fn palette(&self) -> &[PaletteJoint] {
        &self.model.palette
    }

    /// The drawable parts.
    #[must_use]
    pub fn primitives(&self) -> &[Primitive] {
        &self.model.primitives
    }

    /// The materials of the primitives. There is at least one.
    #[must_use]
    pub fn materials(&self) -> &[Material] {
        &self.model.materials
    }

    /// The images of the materials.
    #[must_use]
    pub fn images(&self) -> &[Image] {
        &self.model.images
    }

    /// The packed clips that are played, in the file's order.
    ///
    /// Empty if the import packed none; see
    /// [`ImportOptions::packing`](crate::import::ImportOptions::packing).
    #[must_use]
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// The file's own curves, in the file's order.
    ///
    /// They are for tools, such as retargeting, and serve as the reference in tests. Empty unless
    /// the import was asked to keep them: see
    /// [`ImportOptions::curves`](crate::import::ImportOptions::curves).
    #[must_use]
    pub fn curves(&self) -> &[CurveClip] {
        &self.curves
    }

    /// The weights of the morph targets: their names, owners and rest values.
    #[must_use]
    pub fn morph_weights(&self) -> &[MorphWeight] {
        &self.model.morph_weights
    }

    /// Finds the first morph weight with exactly this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn morph_weight(&self, name: &str) -> Result<Id<MorphWeight>> {
        find(
            "morph weight",
            self.model.morph_weights.iter().map(|weight| &*weight.name),
            name,
        )
    }

    /// The names and joints of the file's skins whose joints are all in the skeleton, for listings.
    ///
    /// These are the skins in use, and unused skins that have no other joints. The palette holds
    /// only the entries that vertices use.
    pub fn skins(&self) -> impl ExactSizeIterator<Item = (&str, &[Id<Joint>])> {
        let skins = self.model.skins.iter();
        skins.map(|skin| (&*skin.name, &*skin.joints))
    }

    /// Bounds of the mesh in the rest pose, in character space.
    ///
    /// Bounds of the joints if there is no mesh. Tolerances use the longest edge as the model's
    /// size.
    #[must_use]
    pub fn rest_bounds(&self) -> Aabb {
        self.model.rest_bounds
    }

    /// The same character with other images, such as compressed ones. Materials keep their indices.
    ///
    /// ```
    /// let character = throng::builtin::mannequin()?.character;
    /// let images = character.images().iter().map(|image| image.with_mips(true));
    /// let images = images.collect::<throng::Result<_>>()?;
    /// let character = character.with_images(images)?;
    /// assert!(character.images().iter().all(|image| image.levels().count() > 0));
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] unless there are as many images as before, and [`Error::Asset`] for one
    /// whose size and bytes do not agree.
    pub fn with_images(mut self, images: Vec<Image>) -> Result<Self> {
        let (got, need) = (images.len(), self.images().len());
        if got != need {
            let (what, why) = ("images", ArgumentFault::Length { got, need });
            return Err(Error::Argument { what, why });
        }
        for (index, image) in images.iter().enumerate() {
            let at = || Object::new(ObjectKind::Image, index, "");
            image.check().map_err(|why| Error::asset(at(), why))?;
        }
        self.model.images = images;
        Ok(self)
    }

    /// A copy without the data that only drawing needs: no primitives, no images. The materials
    /// stay.
    #[cfg(feature = "vulkan")]
    pub(crate) fn rig(&self) -> Self {
        self.with_model(self.model.with_meshes(Vec::new(), Vec::new()))
    }

    #[cfg(feature = "vulkan")]
    pub(crate) fn without_images(&self) -> Self {
        let primitives = self.model.primitives.clone();
        self.with_model(self.model.with_meshes(primitives, Vec::new()))
    }

    /// The clip to play if nobody chooses one: the first that changes something over time.
    ///
    /// Many files start with an empty clip, such as the `Take 001` of FBX. Additive clips are
    /// taken only if there is no other clip, and clips that hold one pose only if nothing moves.
    /// `None` if there are no clips. If the character has only curves, this chooses from them.
    ///
    /// ```
    /// use throng::import::{ImportOptions, RawCharacter};
    ///
    /// let mannequin = RawCharacter::mannequin().build(&ImportOptions::default())?;
    /// assert_eq!(mannequin.default_clip(), Some(mannequin.clip("Idle")?));
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    #[doc(alias = "first clip")]
    pub fn default_clip(&self) -> Option<Id<Clip>> {
        let packed = self.clips.iter();
        let packed = packed.map(|clip| (!clip.is_additive(), clip.moves()));
        let curves = self.curves.iter().skip(self.clips.len());
        let curves = curves.map(|clip| (true, clip.moves()));
        let ids = (0..).map(Id::new);
        let all = ids.zip(packed.chain(curves));
        // Of equal ones, the last of the reversed list is the first of the list.
        let mut all: Vec<_> = all.collect();
        all.reverse();
        all.into_iter()
            .max_by_key(|(_, rank)| *rank)
            .map(|(id, _)| id)
    }

    /// Finds the first clip with exactly this name.
    ///
    /// If the character has only curves, this searches the curves.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn clip(&self, name: &str) -> Result<Id<Clip>> {
        find("clip", self.clip_names(), name)
    }

    /// The number of vertices of one instance, over all primitives. Those that only coarser levels
    /// of detail draw count as well.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.model
            .primitives
            .iter()
            .map(Primitive::vertex_count)
            .sum()
    }

    /// The number of triangles of one instance at full detail, over all primitives.
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

    /// The material variants, in the order of their ids.
    ///
    /// They come from `KHR_materials_variants` of a glTF file, or from
    /// [`RawCharacter::variants`](crate::import::RawCharacter::variants).
    #[must_use]
    pub fn variants(&self) -> &[MaterialVariant] {
        &self.model.variants
    }

    /// Finds the first material variant with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn variant(&self, name: &str) -> Result<VariantId> {
        find("material variant", self.variant_names(), name)
    }

    pub(crate) fn variant_names(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.model.variants.iter().map(|variant| &*variant.name)
    }

    /// The parts that instances can hide individually, in the order of their ids.
    ///
    /// First come the names of all nodes that have primitives, then the names of the primitives of
    /// those nodes that have several.
    pub fn parts(&self) -> impl Iterator<Item = (PartId, &str)> {
        self.model.parts.iter()
    }

    /// The bits of a part's primitives. All pieces of a split primitive have the same bit.
    pub(crate) fn part_bits(&self, part: PartId) -> Result<u128> {
        self.model.parts.bits(part)
    }

    /// The part with the fewest primitives among those that have the primitive of this bit.
    #[cfg(feature = "vulkan")]
    pub(crate) fn smallest_part(&self, bit: u128) -> Option<PartId> {
        self.model.parts.smallest(bit)
    }

    /// Finds the part with this name, for `Instance::set_part_visible` and
    /// [`Posed::hiding`](crate::skin::Posed::hiding).
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn part(&self, name: &str) -> Result<PartId> {
        self.model.parts.find(name)
    }
}
