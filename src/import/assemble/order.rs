//! The order of triangles and vertices for drawing.

use super::primitive::Draft;
use crate::import::GeometryReport;
use crate::mesh::{AlphaMode, Material, Primitive, cache_order, reorder, shaded_vertices};

/// Orders all primitives, unless `keep` is true, and reports on them in the file's order.
pub(super) fn apply(drafts: &mut [Draft], materials: &[Material], keep: bool) -> GeometryReport {
    let mut report = GeometryReport::default();
    for draft in drafts {
        let others = draft.primitive.variants.iter().map(|(_, at)| *at as usize);
        let mut used = draft.material.into_iter().chain(others);
        let blended = used.any(|at| {
            let material = materials.get(at);
            material.is_some_and(|material| material.alpha == AlphaMode::Blend)
        });
        let lists = drawn_lists(&draft.primitive, blended);
        let count = draft.primitive.vertex_count();
        let of_draw = |list: &Vec<u32>| shaded_vertices(list, count);
        report.file_shaded_vertices += lists.iter().map(of_draw).sum::<u64>();
        report.merged_vertices += draft.merged as u64;
        report.unused_vertices += draft.unused as u64;
        if !keep {
            optimise(draft, &lists, blended);
        }
        // The vertices of coarser levels come first in any case.
        if !keep || !draft.primitive.levels.is_empty() {
            let order = draft.primitive.level_order();
            renumber(draft, &order);
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

/// Puts triangles into vertex cache order, unless they are blended.
///
/// Every triangle keeps its corners.
fn optimise(draft: &mut Draft, lists: &[Vec<u32>], blended: bool) {
    let count = draft.primitive.vertex_count();
    let indices: Vec<u32> = if blended {
        lists.concat()
    } else {
        let lists = lists.iter();
        lists.flat_map(|list| cache_order(list, count)).collect()
    };
    draft.primitive.indices = indices;
    for level in draft.primitive.levels.iter_mut().filter(|_| !blended) {
        level.indices = cache_order(&level.indices, count);
    }
}

/// Reorders everything that is stored per vertex. `order` has the old number of each vertex.
///
/// All vertices of a draft are used.
fn renumber(draft: &mut Draft, order: &[u32]) {
    let per_vertex = draft.primitive.influences_per_vertex as usize;
    reorder(&mut draft.entries, order, per_vertex);
    let number_of = draft.primitive.reorder_vertices(order);
    for dropped in &mut draft.dropped {
        dropped.vertex = number_of[dropped.vertex as usize];
    }
}
