//! Material variants: other materials for primitives, which an instance chooses by one name.

use crate::id::Id;

/// A material variant of a character: a name for other materials of some primitives.
///
/// [`Primitive::variants`](crate::mesh::Primitive::variants) has the materials. An instance chooses
/// one with [`Instance::set_variant`](crate::Instance::set_variant). See
/// [`Character::variants`](crate::character::Character::variants).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaterialVariant {
    /// Its name. In a file, several may have the same one; then the first is found.
    pub name: Box<str>,
}

/// The index of a [`MaterialVariant`].
pub type VariantId = Id<MaterialVariant>;
