//! Deformed vertices as an engine draws them: as a static mesh.

use super::SkinnedMesh;
use crate::skin::SkinnedLayout;
use ash::vk;

/// A stream of deformed vertices: tightly packed `f32`s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkinnedStream {
    /// Bytes from the start of the buffer, a multiple of 16.
    pub offset: u64,
    /// Bytes from one vertex to the next: 12, or 16 for tangents.
    pub stride: u32,
    /// `R32G32B32_SFLOAT`, or `R32G32B32A32_SFLOAT` for tangents.
    pub format: vk::Format,
}

/// The deformed vertices of a primitive of an instance, in character space: vertex buffers, and the
/// indices to draw them with or to build an acceleration structure from. As
/// [`SkinnedLayout`](crate::skin::SkinnedLayout) says, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkinnedPrimitive {
    /// Its number.
    pub primitive: u32,
    /// Index of its material.
    pub material: u32,
    /// How many vertices there are.
    pub vertex_count: u32,
    /// One a vertex.
    pub positions: SkinnedStream,
    /// Unit vectors, where the primitive has some.
    pub normals: Option<SkinnedStream>,
    /// Unit vectors, and the bitangent's sign; where the primitive has some.
    pub tangents: Option<SkinnedStream>,
    /// Of the indices in [`SkinnedMesh::index_buffer`].
    pub index_type: vk::IndexType,
    /// First index, in units of `index_type`, from the start of that buffer.
    pub first_index: u32,
    /// Three a triangle: all of the primitive's. Front faces are counter-clockwise, seen in a space
    /// that is not mirrored.
    ///
    /// Triangles that a clip may turn over are the exception: they are the ranges of those of
    /// [`SkinnedMesh::draws`] that have a [`flip`](super::PrimitiveDraw::flip), and
    /// [`flipped_triangles`](crate::skin::flipped_triangles) tells on the CPU which are turned over
    /// in a pose. [`Character::facings`](crate::character::Character::facings) says whether there
    /// are any.
    pub index_count: u32,
}

impl SkinnedMesh {
    /// The primitives of an instance whose deformed vertices start at byte `start` of their buffer.
    pub fn skinned_primitives(&self, start: u64) -> impl Iterator<Item = SkinnedPrimitive> + '_ {
        let stream = move |word: u32, stride, format| SkinnedStream {
            offset: start + u64::from(word) * 4,
            stride,
            format,
        };
        let vectors = move |word| {
            stream(
                word,
                SkinnedLayout::VECTOR_BYTES,
                vk::Format::R32G32B32_SFLOAT,
            )
        };
        let tangents = move |word| {
            stream(
                word,
                SkinnedLayout::TANGENT_BYTES,
                vk::Format::R32G32B32A32_SFLOAT,
            )
        };
        let parts = (0..).zip(&self.skinned_layout().primitives);
        parts.map(move |(number, part)| {
            let own = self.draws().iter().filter(|draw| draw.primitive == number);
            // They follow each other; what may turn over is drawn twice.
            let first = own.clone().map(|draw| draw.first_index).min().unwrap_or(0);
            let end = own.clone().map(|draw| draw.first_index + draw.index_count);
            let any = own.clone().next();
            SkinnedPrimitive {
                primitive: number,
                material: any.map_or(0, |draw| draw.material),
                vertex_count: part.vertex_count,
                positions: vectors(part.positions),
                normals: part.normals.map(vectors),
                tangents: part.tangents.map(tangents),
                index_type: any.map_or(vk::IndexType::UINT16, |draw| draw.index_type),
                first_index: first,
                index_count: end.max().unwrap_or(first) - first,
            }
        })
    }
}
