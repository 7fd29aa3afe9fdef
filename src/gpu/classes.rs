//! The materials of a primitive in the variants of its character, in classes that one draw can
//! draw.

use super::Blending;
#[cfg(doc)]
use super::PrimitiveDraw;
use crate::character::Character;
use crate::mesh::{Primitive, VariantId};

/// The materials of a primitive that variants change, in classes. Each class has a draw.
#[derive(Debug, Clone, Default)]
pub(crate) struct MaterialClasses(Vec<Vec<u32>>);

impl MaterialClasses {
    /// The classes of a primitive, the first of which has its own material first. None if variants
    /// do not change it.
    ///
    /// If `shared`, one descriptor set has the textures of all materials. Then those of a class are
    /// alike in all that a pipeline and its state depend on. Otherwise each has a class of its own.
    pub(crate) fn new(character: &Character, primitive: &Primitive, shared: bool) -> Self {
        let mut classes: Vec<Vec<u32>> = Vec::new();
        if primitive.variants.is_empty() {
            return Self(classes);
        }
        let key = |material: &u32| {
            let material = character.materials().get(*material as usize);
            material.map(|it| {
                let tints = (
                    it.tint_by_alpha,
                    it.has_tint_weights(),
                    it.tint_mask.is_some(),
                );
                (Blending::of(it.alpha), it.double_sided, tints)
            })
        };
        for material in primitive.all_materials() {
            let alike =
                |class: &&mut Vec<u32>| shared && class.first().map(key) == Some(key(&material));
            match classes.iter_mut().find(alike) {
                Some(class) => class.push(material),
                None => classes.push(vec![material]),
            }
        }
        Self(classes)
    }

    /// The materials of each class, with its number: [`PrimitiveDraw::class`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        (0..).zip(self.0.iter().map(Vec::as_slice))
    }

    /// For no variant and for each one of a character: the material of the primitive, and its
    /// class. Empty if variants do not change it.
    pub(crate) fn table(&self, character: &Character, primitive: &Primitive) -> Vec<[u32; 2]> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let each = (0..).map(VariantId::new).take(character.variants().len());
        let each = core::iter::once(None).chain(each.map(Some));
        let row = |variant| {
            let material = primitive.material_in(variant);
            let class = self.0.iter().position(|class| class.contains(&material));
            [material, class.unwrap_or(0) as u32]
        };
        each.map(row).collect()
    }
}
