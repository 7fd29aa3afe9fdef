//! The deformed vertices of a primitive.

use glam::{Vec3, Vec4};

/// The deformed vertices of one primitive, in character space.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PosedVertices {
    /// In metres, one per vertex.
    pub positions: Vec<Vec3>,
    /// Unit vectors, one per vertex; empty if the primitive has none.
    pub normals: Vec<Vec3>,
    /// Unit vectors in the direction of the first texture coordinate, one per vertex.
    ///
    /// They are not made perpendicular to the normals. `w` is the bitangent's sign. Empty if the
    /// primitive has no tangents.
    pub tangents: Vec<Vec4>,
}
