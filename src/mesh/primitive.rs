//! Primitives: vertex streams, influences and triangles.

use glam::{Vec2, Vec3, Vec4};
use std::ops::Range;

/// The most influences one vertex can have.
pub const MAX_INFLUENCES: usize = 256;

/// The joint indices of a primitive's influences, relative to the start of its palette range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JointIndices {
    /// The palette range has at most 256 entries.
    U8(Vec<u8>),
    /// It has more.
    U16(Vec<u16>),
}

impl JointIndices {
    /// How many indices there are: vertices × influences per vertex.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::U8(list) => list.len(),
            Self::U16(list) => list.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Positions in a palette relative to the start of `range`, which holds them and at most 65,536
    /// entries.
    pub(crate) fn packed(positions: &[u32], range: &Range<u32>) -> Self {
        let relative = positions.iter().map(|position| position - range.start);
        if range.len() <= 256 {
            Self::U8(relative.map(|index| index as u8).collect())
        } else {
            Self::U16(relative.map(|index| index as u16).collect())
        }
    }

    /// Index `at`, counted over all vertices.
    ///
    /// # Panics
    /// If `at` is not less than [`Self::len`].
    #[must_use]
    pub fn get(&self, at: usize) -> usize {
        match self {
            Self::U8(list) => usize::from(list[at]),
            Self::U16(list) => usize::from(list[at]),
        }
    }
}

/// Which joints move each vertex, and how much: `per_vertex` influences for every vertex,
/// strongest first, padded with weight 0 on an index that the vertex uses anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Influences {
    /// 1, 2, 4, 8, or a greater multiple of 4.
    pub per_vertex: u32,
    /// `vertices × per_vertex` indices into the primitive's palette range.
    pub joints: JointIndices,
    /// `vertices × per_vertex` weights in units of 1/65,535, summing to exactly 65,535 at every
    /// vertex. Empty if `per_vertex` is 1: the weight is then 1.
    pub weights: Vec<u16>,
}

impl Influences {
    /// The influences of one vertex: (index into the palette range, weight in 0..=1).
    ///
    /// # Panics
    /// While iterating, if there is no such vertex.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let k = self.per_vertex as usize;
        (vertex * k..vertex * k + k).map(|at| {
            let weight = if self.weights.is_empty() {
                1.0
            } else {
                f32::from(self.weights[at]) / 65535.0
            };
            (self.joints.get(at), weight)
        })
    }
}

/// What a morph target adds to the vertices that it moves, per unit of its weight, in mesh (bind)
/// space, before skinning.
///
/// Sparse: only vertices that something is added to are listed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MorphTarget {
    /// The vertices that it moves, ascending, each once.
    pub vertices: Vec<u32>,
    /// Metres, one for each of `vertices`.
    pub positions: Vec<Vec3>,
    /// Added to the normal before that is normalised; one for each of `vertices`, or empty.
    pub normals: Vec<Vec3>,
    /// Added to the tangent's direction before that is normalised; one for each of `vertices`, or
    /// empty.
    pub tangents: Vec<Vec3>,
}

/// A drawable part of a character: one material, one set of streams, one range of the palette.
///
/// Streams hold one element per vertex and are empty where the file has none. Identical
/// vertices have been merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Primitive {
    /// Name of the mesh (or of the node that carries it) and the number of the primitive in it.
    pub name: Box<str>,
    /// Name of the node that carries it, or of its mesh where the node has none: what
    /// [`Character::part`](crate::character::Character::part) finds it by.
    pub part: Box<str>,
    /// Index into [`Character::materials`](crate::character::Character::materials).
    pub material: u32,
    /// The contiguous range of the character's palette that the joint indices address.
    pub palette: Range<u32>,
    /// Metres, in mesh (bind) space.
    pub positions: Vec<Vec3>,
    /// Unit vectors in mesh (bind) space; empty: the triangles are shaded flat.
    pub normals: Vec<Vec3>,
    /// Unit vectors in mesh (bind) space along which the first texture coordinate grows, and in `w`
    /// the sign (1 or -1) of the bitangent `cross(normal, tangent) * w`. May be empty, and is where
    /// there are no normals. Nothing keeps a file's tangent from lying along the normal.
    pub tangents: Vec<Vec4>,
    /// Texture coordinates of the textures whose [`uv_set`](crate::mesh::TextureRef::uv_set)
    /// is 0, origin in the upper left corner. Each texture's transform is still to be applied, and
    /// as some files put the scale of quantised coordinates there, these may lie far from 0..1. May
    /// be empty: then all vertices are at 0, 0.
    pub uvs: Vec<Vec2>,
    /// The same for textures whose `uv_set` is 1; may be empty.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA; may be empty.
    pub colors: Vec<[f32; 4]>,
    /// Joints and weights.
    pub influences: Influences,
    /// Morph targets: target `i` is driven by weight `first_weight + i` of
    /// [`Character::morph_weights`](crate::character::Character::morph_weights).
    pub targets: Vec<MorphTarget>,
    /// The character's morph weight that drives the first target; 0 if there are no targets.
    pub first_weight: u32,
    /// Three a triangle, counter-clockwise seen from the front in the rest pose: mirroring by the
    /// rest pose is already accounted for, triangle by triangle.
    pub indices: Vec<u32>,
}

impl Primitive {
    /// How many vertices there are.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }
}
