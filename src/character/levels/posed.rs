//! The vertices of a primitive in one pose.

use crate::mesh::Primitive;
use glam::{Affine3A, Vec3A};

/// The morph deltas of a primitive, by vertex.
pub(super) struct Deltas {
    /// The deltas of vertex `v` are `all[starts[v]..starts[v + 1]]`.
    starts: Vec<u32>,
    /// The target, and the offset of the position in mesh space.
    all: Vec<(u32, Vec3A)>,
}

impl Deltas {
    pub(super) fn new(primitive: &Primitive) -> Self {
        let mut starts = vec![0_u32; primitive.vertex_count() + 1];
        let targets = || {
            let targets = (0..).zip(&primitive.targets);
            targets.flat_map(|(number, target)| {
                let deltas = target.vertices.iter().zip(&target.positions);
                deltas.map(move |(vertex, delta)| (number, *vertex as usize, Vec3A::from(*delta)))
            })
        };
        for (_, vertex, _) in targets() {
            starts[vertex + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut all = vec![(0, Vec3A::ZERO); starts.last().map_or(0, |end| *end as usize)];
        for (number, vertex, delta) in targets() {
            all[next[vertex] as usize] = (number, delta);
            next[vertex] += 1;
        }
        Self { starts, all }
    }

    /// The deltas of a vertex, as a range of all deltas.
    fn range(&self, vertex: u32) -> core::ops::Range<usize> {
        let at = vertex as usize;
        self.starts[at] as usize..self.starts[at + 1] as usize
    }
}

/// The vertices of a primitive and its morph deltas in one pose, in character space.
///
/// Skinning is linear blending.
pub(super) struct Posed<'a> {
    deltas: &'a Deltas,
    /// Without morph targets.
    pub(super) positions: Vec<Vec3A>,
    /// The vectors of all deltas.
    vectors: Vec<Vec3A>,
}

impl<'a> Posed<'a> {
    /// `palette` is that of the character. If `rigid`, each vertex follows its strongest joint
    /// alone.
    pub(super) fn new(
        primitive: &Primitive,
        deltas: &'a Deltas,
        palette: &[Affine3A],
        rigid: bool,
    ) -> Self {
        let entries = &palette[primitive.palette.start as usize..primitive.palette.end as usize];
        let most = if rigid { 1 } else { usize::MAX };
        let count = primitive.vertex_count();
        let mut positions = Vec::with_capacity(count);
        let morphed = if deltas.all.is_empty() { 0 } else { count };
        let ends = deltas.starts[morphed] as usize;
        let mut vectors = Vec::with_capacity(ends);
        for vertex in 0..count {
            let mut influences = primitive.influences(vertex).take(most);
            let Some((first, _)) = influences.next() else {
                continue;
            };
            // Equal matrices give exactly their own result, whatever the weights.
            let mut matrix = entries[first];
            for (joint, weight) in influences.filter(|influence| influence.1 > 0.0) {
                let (other, first) = (&entries[joint], &entries[first]);
                matrix.matrix3 += (other.matrix3 - first.matrix3) * weight;
                matrix.translation += (other.translation - first.translation) * weight;
            }
            positions.push(matrix.transform_point3a(primitive.positions[vertex].into()));
            if morphed > 0 {
                let own = &deltas.all[deltas.range(vertex as u32)];
                vectors.extend(own.iter().map(|(_, delta)| matrix.matrix3 * *delta));
            }
        }
        Self {
            deltas,
            positions,
            vectors,
        }
    }

    /// The morph targets that move a vertex, and its offsets at weight 1.
    pub(super) fn offsets(&self, vertex: u32) -> impl Iterator<Item = (usize, Vec3A)> + '_ {
        let range = match self.vectors.is_empty() {
            true => 0..0,
            false => self.deltas.range(vertex),
        };
        let numbers = self.deltas.all[range.clone()].iter();
        let vectors = self.vectors[range].iter();
        let pairs = numbers.zip(vectors);
        pairs.map(|((target, _), vector)| (*target as usize, *vector))
    }
}
