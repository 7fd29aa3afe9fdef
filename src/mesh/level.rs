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
    /// The level uses vertices `0..vertices`.
    pub vertices: u32,
    /// True if each vertex follows its strongest joint alone at this level.
    pub rigid: bool,
    /// The largest distance in metres between a vertex of the full primitive and the surface of
    /// this level.
    ///
    /// Skinning is linear blending. It covers poses of each of the character's clips, blends of two
    /// clips, and any sum of morph targets with weights in 0..=1, or beyond if clips drive them
    /// further. IK and springs can exceed it. It is measured at a selection of frames and enlarged
    /// by a tenth. 0 only if the level is the full one.
    pub error_m: f32,
}

impl MeshLevel {
    /// The largest number of coarser levels of a primitive that crowds draw.
    pub(crate) const MAX_COUNT: usize = 7;

    /// The error of a level before it is measured.
    pub(crate) const UNMEASURED_M: f32 = f32::INFINITY;
}
