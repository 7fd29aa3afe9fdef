//! The parts of a character that are posed and drawn.

use super::{
    Aabb, Expression, HubReach, Image, Material, MaterialVariant, MorphReach, MorphWeight,
    PaletteJoint, Parts, Primitive,
};
use crate::id::Id;
use crate::skeleton::{Joint, Skeleton};
use std::ops::Range;

/// The name and joints of a skin in the file, for listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skin {
    pub(crate) name: Box<str>,
    /// The skin's joints, in the file's order.
    pub(crate) joints: Vec<Id<Joint>>,
}

/// A character without its animation: skeleton, palette, primitives, materials.
///
/// It has the invariants of [`Character`](crate::character::Character).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    pub(crate) name: Box<str>,
    pub(crate) skeleton: Skeleton,
    pub(crate) palette: Vec<PaletteJoint>,
    pub(crate) primitives: Vec<Primitive>,
    pub(crate) materials: Vec<Material>,
    pub(crate) variants: Vec<MaterialVariant>,
    pub(crate) images: Vec<Image>,
    pub(crate) morph_weights: Vec<MorphWeight>,
    pub(crate) expressions: Vec<Expression>,
    pub(crate) skins: Vec<Skin>,
    pub(crate) parts: Parts,
    pub(crate) rest_bounds: Aabb,
    /// Sorted by entry, then weight. Each pair occurs once.
    pub(crate) morph_reaches: Vec<MorphReach>,
    /// Sorted by hub, then entry. Each pair occurs once.
    pub(crate) hub_reaches: Vec<HubReach>,
}

impl Model {
    /// A copy with other primitives and images.
    pub(crate) fn with_meshes(&self, primitives: Vec<Primitive>, images: Vec<Image>) -> Self {
        Self {
            name: self.name.clone(),
            skeleton: self.skeleton.clone(),
            palette: self.palette.clone(),
            primitives,
            materials: self.materials.clone(),
            variants: self.variants.clone(),
            images,
            morph_weights: self.morph_weights.clone(),
            expressions: self.expressions.clone(),
            skins: self.skins.clone(),
            parts: self.parts.clone(),
            rest_bounds: self.rest_bounds,
            morph_reaches: self.morph_reaches.clone(),
            hub_reaches: self.hub_reaches.clone(),
        }
    }

    /// The palette range that `primitive` addresses.
    pub(crate) fn palette_range(&self, primitive: &Primitive) -> Range<usize> {
        primitive.palette.start as usize..primitive.palette.end as usize
    }
}
