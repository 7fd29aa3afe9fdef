//! The description of a character in a crowd.

use crate::palette::SkinningMethod;

/// Options for adding a character to a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CharacterDesc {
    /// The skinning method, which also decides the palette format.
    pub method: SkinningMethod,
    /// Keeps the meshes on the CPU, without images.
    ///
    /// They are required for [`SkinningStage::Cpu`](super::SkinningStage::Cpu) and for
    /// [`Crowd::pick`](super::Crowd::pick). Vertex streams are kept twice: as they are in the
    /// character, and in the layout of a [`Skinner`](crate::skin::Skinner).
    pub cpu_skinning: bool,
}
