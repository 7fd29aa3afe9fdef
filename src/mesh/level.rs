//! Levels of detail of a primitive.

/// A coarser level of detail of a primitive: fewer triangles over the same vertices.
///
/// A primitive's vertices are ordered so that each level uses a prefix of them. The coarsest
/// level's vertices come first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeshLevel {
    /// Three per triangle, like [`Primitive::indices`](crate::mesh::Primitive::indices).
    ///
    /// All are below `vertices`. Empty if the primitive is not drawn at this level.
    pub indices: Vec<u32>,
    /// The level uses no vertices but the first so many.
    pub vertices: u32,
    /// True if each vertex follows its strongest joint alone at this level.
    pub rigid: bool,
    /// The largest distance in metres between a vertex of the full primitive and the surface of
    /// this level.
    ///
    /// It covers every pose of the character's clips and every morph target.
    pub error_m: f32,
}
