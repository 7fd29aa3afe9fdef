//! Morph weights.

/// A weight that drives one morph target in every primitive of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphWeight {
    /// The target's name in the file, or empty.
    pub name: Box<str>,
    /// The name of the node or mesh that has the weight, or empty.
    pub owner: Box<str>,
    /// The value if neither a clip nor the caller sets another.
    pub rest: f32,
}

impl MorphWeight {
    /// The largest number of morph weights of a character.
    pub const MAX_COUNT: usize = 1 << 16;
}
