//! Primitives: vertex streams, influences, triangles and levels of detail.

use super::expression::MorphWeight;
use super::variants::VariantId;
use crate::id::Id;
use glam::{Vec2, Vec3, Vec4};
use std::ops::Range;

/// Joint indices of influences, relative to the primitive's palette range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JointIndices {
    /// For palette ranges of at most 256 entries.
    U8(Vec<u8>),
    /// For longer palette ranges.
    U16(Vec<u16>),
}

impl JointIndices {
    /// The number of indices: vertices × influences per vertex.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::U8(list) => list.len(),
            Self::U16(list) => list.len(),
        }
    }

    /// Packs palette positions relative to the start of `range`. The range contains them all and
    /// has at most 65,536 entries.
    pub(crate) fn packed(positions: &[u32], range: &Range<u32>) -> Self {
        let relative = positions.iter().map(|position| position - range.start);
        if range.len() <= 256 {
            Self::U8(relative.map(|index| index as u8).collect())
        } else {
            Self::U16(relative.map(|index| index as u16).collect())
        }
    }

    /// The index at position `at`, counted over all vertices.
    ///
    /// # Panics
    /// If `at` is not less than [`Self::len`].
    pub(crate) fn get(&self, at: usize) -> usize {
        match self {
            Self::U8(list) => usize::from(list[at]),
            Self::U16(list) => usize::from(list[at]),
        }
    }
}

/// Offsets that a morph target adds to vertices, per unit of its weight.
///
/// They are in mesh (bind) space and added before skinning. The lists are sparse: they hold only
/// the vertices that the target changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MorphTarget {
    /// The vertices that it changes, ascending, each once.
    pub vertices: Vec<u32>,
    /// Position offsets in metres, one for each of `vertices`.
    pub positions: Vec<Vec3>,
    /// Added to the normal before normalisation. One for each of `vertices`, or empty.
    pub normals: Vec<Vec3>,
    /// Added to the tangent's direction before normalisation. One for each of `vertices`, or empty.
    pub tangents: Vec<Vec3>,
}

/// A drawable part of a character: one material, one set of streams, one palette range.
///
/// A stream holds one element per vertex, or is empty if the file does not have it. Identical
/// vertices have been merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Primitive {
    /// Mesh name and index of the primitive in the mesh.
    ///
    /// The name of the node is used if the mesh has none.
    pub name: Box<str>,
    /// The name of its node, or of its mesh if the node has none.
    ///
    /// [`Character::part`](crate::character::Character::part) searches for this name.
    pub part: Box<str>,
    /// Index into [`Character::materials`](crate::character::Character::materials).
    pub material: u32,
    /// Other materials that variants choose, ascending by variant, each once.
    ///
    /// In all other variants, the primitive has its own [`material`](Self::material). See
    /// [`Self::material_in`].
    pub variants: Vec<(VariantId, u32)>,
    /// The contiguous range of the character's palette that the joint indices address.
    pub palette: Range<u32>,
    /// Metres, in mesh (bind) space.
    pub positions: Vec<Vec3>,
    /// Unit vectors in mesh (bind) space. If empty, the triangles are shaded flat.
    pub normals: Vec<Vec3>,
    /// Tangents: unit vectors in mesh (bind) space, in the direction of increasing u.
    ///
    /// `w` is the sign (1 or -1) of the bitangent `cross(normal, tangent) * w`. May be empty, and
    /// is always empty if there are no normals. A tangent from a file may be parallel to the
    /// normal.
    pub tangents: Vec<Vec4>,
    /// Texture coordinates for textures whose [`uv_set`](crate::mesh::TextureRef::uv_set) is 0.
    ///
    /// The origin is in the upper left corner. Each texture's transform is not applied yet. Some
    /// files put the scale of quantised coordinates into that transform, so these values may lie
    /// far outside 0..1. If empty, all vertices are at 0, 0.
    pub uvs: Vec<Vec2>,
    /// The same for textures whose `uv_set` is 1. May be empty.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA. May be empty.
    pub colors: Vec<[f32; 4]>,
    /// The number of joints and weights per vertex: 1, 2, 4, 8, or a larger multiple of 4.
    pub influences_per_vertex: u32,
    /// `vertices × influences_per_vertex` indices into the primitive's palette range.
    ///
    /// Strongest first at every vertex. Unused ones have weight 0 and an index that the vertex uses
    /// anyway.
    pub joints: JointIndices,
    /// One weight for each element of `joints`, in units of 1/65,535.
    ///
    /// They sum to exactly 65,535 at every vertex. Empty if there is one influence per vertex,
    /// because the weight is then 1.
    pub weights: Vec<u16>,
    /// Morph targets: target `i` is driven by weight `first_weight + i` of
    /// [`Character::morph_weights`](crate::character::Character::morph_weights).
    pub targets: Vec<MorphTarget>,
    /// The morph weight that drives the first target, or 0 without targets.
    pub first_weight: Id<MorphWeight>,
    /// Three per triangle, counter-clockwise seen from the front in the rest pose.
    ///
    /// Triangles that the rest pose flips have already been corrected, one by one. Empty for a mesh
    /// that only a coarser level of detail draws.
    pub indices: Vec<u32>,
    /// Coarser levels of detail, finest first, without the full level that `indices` are.
    ///
    /// All primitives of a character have as many. A primitive that cannot be simplified further
    /// repeats its last level.
    pub levels: Vec<MeshLevel>,
}

impl Primitive {
    /// The most influences that one vertex can have.
    pub const MAX_INFLUENCES: usize = 256;

    /// The number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// True for a mesh of the whole character that is drawn at one of the coarsest levels of detail
    /// alone, in place of all other primitives. Its full level has no triangles.
    pub(crate) fn is_far(&self) -> bool {
        let mut levels = self.levels.iter();
        self.indices.is_empty() && levels.any(|level| !level.indices.is_empty())
    }

    /// The joints that move one vertex: (index into the palette range, weight in 0..=1).
    ///
    /// # Panics
    /// While iterating, if there is no such vertex.
    pub fn influences(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let k = self.influences_per_vertex as usize;
        (vertex * k..vertex * k + k).map(|at| {
            let weight = if self.weights.is_empty() {
                1.0
            } else {
                f32::from(self.weights[at]) / 65535.0
            };
            (self.joints.get(at), weight)
        })
    }

    /// Its material in a variant. `None` means the materials of the file.
    #[must_use]
    pub fn material_in(&self, variant: Option<VariantId>) -> u32 {
        let own = variant.and_then(|variant| {
            let list = &self.variants;
            let at = list.binary_search_by_key(&variant, |(of, _)| *of).ok()?;
            list.get(at)
        });
        own.map_or(self.material, |(_, material)| *material)
    }

    /// Its materials, each once: that of the file, and those of variants, ascending.
    pub(crate) fn all_materials(&self) -> Vec<u32> {
        let others = self.variants.iter().map(|(_, material)| *material);
        let others = others.filter(|material| *material != self.material);
        let others = std::collections::BTreeSet::from_iter(others);
        core::iter::once(self.material).chain(others).collect()
    }

    /// The optional streams and their lengths: the number of vertices, or 0.
    pub(crate) fn optional_streams(&self) -> [(&'static str, usize); 5] {
        [
            ("normals", self.normals.len()),
            ("tangents", self.tangents.len()),
            ("uvs", self.uvs.len()),
            ("uvs1", self.uvs1.len()),
            ("colors", self.colors.len()),
        ]
    }
}

/// Gives all primitives as many levels.
///
/// A primitive with fewer levels repeats its last one, or the full level.
pub(crate) fn even_levels(primitives: &mut [Primitive]) {
    let most = primitives.iter().map(|primitive| primitive.levels.len());
    let most = most.max().unwrap_or(0);
    for primitive in primitives {
        let last = match primitive.levels.last() {
            Some(last) => last.clone(),
            None => MeshLevel {
                indices: primitive.indices.clone(),
                vertices: primitive.vertex_count() as u32,
                ..MeshLevel::default()
            },
        };
        primitive.levels.resize(most, last);
    }
}

/// A coarser level of detail of a primitive: fewer triangles over the same vertices.
///
/// A primitive's vertices are ordered so that each level uses a prefix of them. The coarsest
/// level's vertices come first.
///
/// The coarsest levels of a character may be meshes of their own, see
/// [`Character::with_levels`](crate::character::Character::with_levels). Each of these is a
/// primitive that has triangles at its level alone, where the other primitives have none.
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
    /// The largest distance in metres between the surfaces of the full primitive and of this level:
    /// from each vertex of the full primitive to the level, and from points of the level's
    /// triangles to the full primitive. For a mesh of its own, the full primitive is the whole
    /// character.
    ///
    /// Skinning is linear blending. It covers poses of each of the character's clips, blends of two
    /// clips, and any sum of morph targets with weights in 0..=1, or beyond if clips drive them
    /// further. IK and springs can exceed it. It is measured at a selection of frames and enlarged
    /// by a tenth. 0 only if the level is the full one.
    pub error_m: f32,
    /// The area that the whole character covers at this level, see
    /// [`LevelInfo::cover`](crate::character::LevelInfo::cover).
    pub cover: f32,
}

impl MeshLevel {
    /// The largest number of coarser levels of a primitive that crowds draw.
    pub(crate) const MAX_COUNT: usize = 7;

    /// The number of vertices that drawing it needs.
    pub(crate) fn drawn_vertices(&self) -> u32 {
        if self.indices.is_empty() {
            0
        } else {
            self.vertices
        }
    }

    /// The error of a level before it is measured.
    pub(crate) const UNMEASURED_M: f32 = f32::INFINITY;
}
