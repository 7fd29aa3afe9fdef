//! Deformed vertices in the form of a static mesh.

use super::SkinnedMesh;
use ash::vk;

/// The deformed vertices of one primitive of an instance, in character space.
///
/// They are vertex buffers, with the indices to draw them or to build an acceleration structure.
/// The layout is that of [`SkinnedLayout`](crate::skin::SkinnedLayout), in bytes from the start of
/// the buffer. Every offset is a multiple of 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkinnedPrimitive {
    /// Index of the primitive.
    pub primitive: u32,
    /// Index of its material.
    pub material: u32,
    /// Number of vertices.
    pub vertex_count: u32,
    /// Offset of the positions: `R32G32B32_SFLOAT`, with a stride of 12 bytes.
    pub positions: u64,
    /// Offset of the normals (unit vectors) in the same format, if the primitive has them.
    pub normals: Option<u64>,
    /// Offset of the tangents, if the primitive has them.
    ///
    /// They are unit vectors, and the bitangent's sign: `R32G32B32A32_SFLOAT`, with a stride of 16
    /// bytes.
    pub tangents: Option<u64>,
    /// Type of the indices in [`SkinnedMesh::index_buffer`].
    pub index_type: vk::IndexType,
    /// First index, in units of `index_type`, from the start of that buffer.
    pub first_index: u32,
    /// Number of indices of all of the primitive's triangles, three per triangle.
    ///
    /// Front faces are counter-clockwise, seen in a space that is not flipped.
    ///
    /// Triangles that a clip may flip are the exception. They are the ranges of those
    /// [`SkinnedMesh::draws`] that have a [`flip_code`](super::PrimitiveDraw::flip_code). On the
    /// CPU, [`Character::flipped_triangles`](crate::character::Character::flipped_triangles) tells
    /// which of them a pose flips.
    /// [`Character::flipping_triangles`](crate::character::Character::flipping_triangles) tells if
    /// there are any.
    pub index_count: u32,
}

impl SkinnedMesh {
    /// The deformed primitives of an instance.
    ///
    /// The instance's deformed vertices start at byte `start` of their buffer.
    pub(crate) fn skinned_primitives(
        &self,
        start: u64,
    ) -> impl Iterator<Item = SkinnedPrimitive> + '_ {
        let at = move |word: u32| start.saturating_add(u64::from(word) * 4);
        let parts = (0..).zip(&self.skinned_layout().primitives);
        parts.map(move |(number, part)| {
            let full = self.draws().iter().take(1).flatten();
            let own = full.filter(move |draw| draw.primitive == number);
            // The draws' ranges are contiguous, and triangles that may flip have two draws.
            let first = own.clone().map(|draw| draw.first_index).min().unwrap_or(0);
            let end = own.clone().map(|draw| draw.first_index + draw.index_count);
            let any = own.clone().next();
            SkinnedPrimitive {
                primitive: number,
                material: any.map_or(0, |draw| draw.material),
                vertex_count: part.vertex_count,
                positions: at(part.positions),
                normals: part.normals.map(at),
                tangents: part.tangents.map(at),
                index_type: any.map_or(vk::IndexType::UINT16, |draw| draw.index_type),
                first_index: first,
                index_count: end.max().unwrap_or(first) - first,
            }
        })
    }
}
