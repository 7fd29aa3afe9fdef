//! Reordering of a primitive's vertices.

use super::cache_order::first_use_order;
use super::primitive::{JointIndices, MorphTarget, Primitive};
use glam::Vec3;

impl Primitive {
    /// The vertices in the order of their first use: by the coarsest level, then by the next finer
    /// ones, last by the full level. Vertices that no level uses are left out.
    ///
    /// In this order, each level uses a prefix of the vertices.
    pub(crate) fn level_order(&self) -> Vec<u32> {
        let levels = self.levels.iter().rev().map(|level| &level.indices);
        let all: Vec<u32> = levels.chain([&self.indices]).flatten().copied().collect();
        first_use_order(&all, self.vertex_count())
    }

    /// Reorders everything that is stored per vertex, and returns the new number of each vertex.
    ///
    /// `order` has the old number of each vertex, each once. Triangles keep their order and their
    /// corners. [`MeshLevel::vertices`](super::MeshLevel::vertices) is set anew.
    pub(crate) fn reorder_vertices(&mut self, order: &[u32]) -> Vec<u32> {
        let mut number_of = vec![0; order.len()];
        for (new, old) in (0..).zip(order) {
            number_of[*old as usize] = new;
        }
        let per_vertex = self.influences_per_vertex as usize;
        let levels = self.levels.iter_mut().map(|level| &mut level.indices);
        for index in levels.chain([&mut self.indices]).flatten() {
            *index = number_of[*index as usize];
        }
        reorder(&mut self.positions, order, 1);
        reorder(&mut self.normals, order, 1);
        reorder(&mut self.tangents, order, 1);
        reorder(&mut self.uvs, order, 1);
        reorder(&mut self.uvs1, order, 1);
        reorder(&mut self.colors, order, 1);
        reorder(&mut self.weights, order, per_vertex);
        match &mut self.joints {
            JointIndices::U8(joints) => reorder(joints, order, per_vertex),
            JointIndices::U16(joints) => reorder(joints, order, per_vertex),
        }
        for target in &mut self.targets {
            *target = renumbered(target, &number_of);
        }
        let mut used = 0;
        for level in self.levels.iter_mut().rev() {
            let last = level.indices.iter().copied().max();
            used = last.map_or(used, |last| used.max(last + 1));
            level.vertices = used;
        }
        number_of
    }
}

/// Reorders a list of `width` elements per vertex. An absent stream stays empty.
pub(crate) fn reorder<T: Copy>(list: &mut Vec<T>, order: &[u32], width: usize) {
    if list.is_empty() {
        return;
    }
    let start = |vertex: &u32| *vertex as usize * width;
    let elements = order.iter().map(start);
    let elements = elements.flat_map(|start| &list[start..start + width]);
    *list = elements.copied().collect();
}

/// The target with its vertices renumbered, ascending again.
fn renumbered(target: &MorphTarget, number_of: &[u32]) -> MorphTarget {
    let vertices = target.vertices.iter();
    let renumbered = vertices.map(|vertex| number_of[*vertex as usize]).zip(0..);
    let mut sorted: Vec<(u32, usize)> = renumbered.collect();
    sorted.sort_unstable();
    let pick = |list: &[Vec3]| {
        let picked = sorted.iter().filter_map(|(_, at)| list.get(*at).copied());
        picked.collect()
    };
    MorphTarget {
        vertices: sorted.iter().map(|(vertex, _)| *vertex).collect(),
        positions: pick(&target.positions),
        normals: pick(&target.normals),
        tangents: pick(&target.tangents),
    }
}
