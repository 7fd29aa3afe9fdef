//! The order of triangles and vertices for drawing.

use super::primitive::Draft;
use crate::import::GeometryReport;
use crate::mesh::{
    AlphaMode, Material, MorphTarget, Primitive, VertexReuse, cache_order, first_use_order,
    shaded_vertices,
};
use glam::Vec3;

/// Orders all primitives, unless `keep` is true, and reports on them in the file's order.
pub(super) fn apply(drafts: &mut [Draft], materials: &[Material], keep: bool) -> GeometryReport {
    let mut report = GeometryReport::default();
    for draft in drafts {
        let material = draft.material.and_then(|at| materials.get(at));
        let blended = material.is_some_and(|material| material.alpha == AlphaMode::Blend);
        let VertexReuse { shaded, vertices } = &mut report.file_reuse;
        let lists = drawn_lists(&draft.primitive, blended);
        let count = draft.primitive.vertex_count();
        let of_draw = |list: &Vec<u32>| shaded_vertices(list, count);
        *shaded += lists.iter().map(of_draw).sum::<u64>();
        *vertices += count as u64;
        report.merged_vertices += draft.merged as u64;
        report.unused_vertices += draft.unused as u64;
        if !keep {
            optimise(draft, &lists, blended);
        }
    }
    report
}

/// The primitive's indices, in one list for each draw that does not depend on clips.
///
/// Triangles of a blended primitive stay together, because their author chose their order. See
/// [`Character::draw_groups`](crate::character::Character::draw_groups).
fn drawn_lists(primitive: &Primitive, blended: bool) -> Vec<Vec<u32>> {
    let (mut mixed, mut rigid) = (Vec::new(), Vec::new());
    let triangles = primitive.indices.as_chunks::<3>().0.iter();
    for (triangle, is_rigid) in triangles.zip(primitive.rigid_draw(&primitive.indices, blended)) {
        let list = if is_rigid { &mut rigid } else { &mut mixed };
        list.extend(triangle);
    }
    vec![mixed, rigid]
}

/// Puts triangles into vertex cache order, unless they are blended, and vertices into the order of
/// their first use.
///
/// Every triangle keeps its corners. All vertices of a draft are used.
fn optimise(draft: &mut Draft, lists: &[Vec<u32>], blended: bool) {
    let count = draft.primitive.vertex_count();
    let indices: Vec<u32> = if blended {
        lists.concat()
    } else {
        let lists = lists.iter();
        lists.flat_map(|list| cache_order(list, count)).collect()
    };
    let order = first_use_order(&indices, count);
    draft.primitive.indices = indices;
    renumber(draft, &order);
}

/// Reorders everything that is stored per vertex. `order` has the old number of each vertex.
fn renumber(draft: &mut Draft, order: &[u32]) {
    let mut number_of = vec![0; order.len()];
    for (new, old) in (0..).zip(order) {
        number_of[*old as usize] = new;
    }
    let primitive = &mut draft.primitive;
    let per_vertex = primitive.influences_per_vertex as usize;
    for index in &mut primitive.indices {
        *index = number_of[*index as usize];
    }
    reorder(&mut primitive.positions, order, 1);
    reorder(&mut primitive.normals, order, 1);
    reorder(&mut primitive.tangents, order, 1);
    reorder(&mut primitive.uvs, order, 1);
    reorder(&mut primitive.uvs1, order, 1);
    reorder(&mut primitive.colors, order, 1);
    reorder(&mut primitive.weights, order, per_vertex);
    reorder(&mut draft.entries, order, per_vertex);
    for target in &mut primitive.targets {
        *target = renumbered(target, &number_of);
    }
    for dropped in &mut draft.dropped {
        dropped.vertex = number_of[dropped.vertex as usize];
    }
}

/// Reorders a list of `width` elements per vertex. An absent stream stays empty.
fn reorder<T: Copy>(list: &mut Vec<T>, order: &[u32], width: usize) {
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
