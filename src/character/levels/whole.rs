//! All primitives of a character as one list of vertices, in any pose.

use super::poses::{Deltas, Posed};
use crate::character::asset::Character;
use crate::mesh::Primitive;
use glam::{Affine3A, Vec3A};
use std::ops::Range;

/// The vertices of all primitives, one primitive after the other.
pub(super) struct Whole<'a> {
    character: &'a Character,
    deltas: Vec<Deltas>,
    /// The first vertex of each primitive, and the number of all vertices.
    starts: Vec<u32>,
}

impl<'a> Whole<'a> {
    pub(super) fn new(character: &'a Character) -> Self {
        let primitives = character.primitives();
        let mut starts = Vec::with_capacity(primitives.len() + 1);
        let mut next = 0;
        for primitive in primitives {
            starts.push(next);
            next += primitive.vertex_count() as u32;
        }
        starts.push(next);
        Self {
            character,
            deltas: primitives.iter().map(Deltas::new).collect(),
            starts,
        }
    }

    /// The vertices of a primitive.
    pub(super) fn vertices(&self, primitive: usize) -> Range<u32> {
        self.starts[primitive]..self.starts[primitive + 1]
    }

    /// Triangles of a primitive with the numbers of this list.
    pub(super) fn numbered(&self, primitive: usize, indices: &[u32]) -> impl Iterator<Item = u32> {
        let start = self.starts[primitive];
        indices.iter().map(move |index| start + index)
    }

    /// The triangles of a level of all primitives. 0 is the full one.
    pub(super) fn triangles(&self, level: usize) -> Vec<u32> {
        let all = self.character.primitives().iter().enumerate();
        let all = all.flat_map(|(number, primitive)| {
            let coarser = level.checked_sub(1).and_then(|at| primitive.levels.get(at));
            let indices = coarser.map_or(&primitive.indices, |level| &level.indices);
            self.numbered(number, indices)
        });
        all.collect()
    }

    /// The longest edge of the bounds at rest, in metres.
    pub(super) fn size(&self) -> f32 {
        self.character.rest_bounds().size().max_element()
    }

    pub(super) fn primitives(&self) -> &'a [Primitive] {
        self.character.primitives()
    }

    /// The primitive of a vertex, and the number of the vertex in it.
    #[cfg(feature = "lod")]
    pub(super) fn source(&self, vertex: u32) -> (&'a Primitive, u32) {
        let number = self.number(vertex);
        (
            &self.character.primitives()[number],
            vertex - self.starts[number],
        )
    }

    /// The number of a vertex's primitive. Primitives without vertices start where the next one
    /// does.
    fn number(&self, vertex: u32) -> usize {
        self.starts.partition_point(|start| *start <= vertex) - 1
    }

    /// All vertices in the pose of a palette, without morph targets. If `rigid`, each follows its
    /// strongest joint alone.
    pub(super) fn posed(&self, palette: &[Affine3A], rigid: bool) -> WholePose<'_> {
        let mut positions = Vec::with_capacity(self.starts.last().map_or(0, |end| *end as usize));
        let primitives = self.character.primitives().iter().zip(&self.deltas);
        let parts = primitives.map(|(primitive, deltas)| {
            let mut posed = Posed::new(primitive, deltas, palette, rigid);
            positions.append(&mut posed.positions);
            posed
        });
        WholePose {
            parts: parts.collect(),
            positions,
            whole: self,
        }
    }

    /// All vertices in the pose of a palette, with the morph weights of the rest pose.
    pub(super) fn morphed(&self, palette: &[Affine3A]) -> Vec<Vec3A> {
        let morphs = self.character.morph_weights();
        let posed = self.posed(palette, false);
        let all = (0..).zip(&posed.positions);
        let all = all.map(|(vertex, position)| {
            let offsets = posed.offsets(vertex);
            offsets.fold(*position, |sum, (weight, offset)| {
                sum + offset * morphs.get(weight).map_or(0.0, |weight| weight.rest)
            })
        });
        all.collect()
    }
}

/// All vertices in one pose.
pub(super) struct WholePose<'a> {
    whole: &'a Whole<'a>,
    parts: Vec<Posed<'a>>,
    pub(super) positions: Vec<Vec3A>,
}

impl WholePose<'_> {
    /// The morph weights that move a vertex, and its offsets at weight 1.
    pub(super) fn offsets(&self, vertex: u32) -> impl Iterator<Item = (usize, Vec3A)> + '_ {
        let number = self.whole.number(vertex);
        let first = self.whole.character.primitives()[number].first_weight;
        let offsets = self.parts[number].offsets(vertex - self.whole.starts[number]);
        offsets.map(move |(target, offset)| (first.index() + target, offset))
    }
}
