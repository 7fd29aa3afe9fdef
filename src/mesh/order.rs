//! Orders of triangles and vertices that let a GPU shade and fetch vertices seldom.

use super::primitive::{JointIndices, MorphTarget, Primitive};
use glam::Vec3;

/// The number of vertices in the cache that triangles are ordered for.
///
/// The order gets worse for caches that are smaller than this number, and is the best for a cache
/// of exactly this size. So it is less than the 32 of [`shaded_vertices`]: down to 24, the order is
/// as good as that of meshoptimizer on the test models.
const CACHE: usize = 25;

/// Triangles in an order that shades few vertices again. Each keeps its corners.
///
/// This is Tipsify, which visits each vertex once and emits all triangles around it. The time is
/// linear in the indices, and there are no floating-point numbers, so the result is the same on
/// every machine. If the given order is better, it is returned. Indices are less than
/// `vertex_count`.
///
/// Source: Sander, Nehab, Barczak, "Fast Triangle Reordering for Vertex Locality and Reduced
/// Overdraw", 2007, section 3.
pub(crate) fn cache_order(indices: &[u32], vertex_count: usize) -> Vec<u32> {
    let ordered = Tipsify::new(indices, vertex_count).run();
    let shaded = |indices| shaded_vertices(indices, vertex_count);
    if shaded(&ordered) < shaded(indices) {
        ordered
    } else {
        indices.to_vec()
    }
}

/// The vertices in the order in which indices use them first. Others are left out.
pub(crate) fn first_use_order(indices: &[u32], vertex_count: usize) -> Vec<u32> {
    let mut known = vec![false; vertex_count];
    let is_new = |index: &u32| !std::mem::replace(&mut known[*index as usize], true);
    indices.iter().copied().filter(is_new).collect()
}

struct Tipsify<'a> {
    triangles: &'a [[u32; 3]],
    /// The triangles around vertex `v` are `around[starts[v]..starts[v + 1]]`.
    starts: Vec<usize>,
    around: Vec<u32>,
    /// For each vertex, the number of its corners in triangles that are not emitted.
    live: Vec<usize>,
    emitted: Vec<bool>,
    /// The time at which each vertex entered the cache.
    entered: Vec<usize>,
    /// One more for each vertex that enters.
    now: usize,
    /// Vertices of emitted triangles, to go on from the latest.
    dead_ends: Vec<u32>,
    /// All vertices before this one have no triangles left.
    first: usize,
    ordered: Vec<u32>,
}

impl<'a> Tipsify<'a> {
    fn new(indices: &'a [u32], vertex_count: usize) -> Self {
        let triangles = indices.as_chunks::<3>().0;
        let mut live = vec![0; vertex_count];
        for corner in triangles.as_flattened() {
            live[*corner as usize] += 1;
        }
        let mut starts = Vec::with_capacity(vertex_count + 1);
        let mut end = 0;
        starts.push(0);
        for count in &live {
            end += count;
            starts.push(end);
        }
        let mut next = starts.clone();
        let mut around = vec![0; end];
        for (number, triangle) in (0..).zip(triangles) {
            for corner in triangle {
                let at = &mut next[*corner as usize];
                around[*at] = number;
                *at += 1;
            }
        }
        Self {
            triangles,
            starts,
            around,
            live,
            emitted: vec![false; triangles.len()],
            entered: vec![0; vertex_count],
            // At first, all vertices have left the cache.
            now: CACHE + 1,
            dead_ends: Vec::new(),
            first: 0,
            ordered: Vec::with_capacity(indices.len()),
        }
    }

    fn run(mut self) -> Vec<u32> {
        let mut next = self.skip_dead_end();
        while let Some(vertex) = next {
            let start = self.ordered.len();
            self.emit_around(vertex as usize);
            next = self.best(start).or_else(|| self.skip_dead_end());
        }
        self.ordered
    }

    /// Emits the remaining triangles around a vertex.
    fn emit_around(&mut self, vertex: usize) {
        for at in self.starts[vertex]..self.starts[vertex + 1] {
            let number = self.around[at] as usize;
            if std::mem::replace(&mut self.emitted[number], true) {
                continue;
            }
            for corner in self.triangles[number] {
                let index = corner as usize;
                self.ordered.push(corner);
                self.dead_ends.push(corner);
                self.live[index] -= 1;
                if self.now - self.entered[index] > CACHE {
                    self.entered[index] = self.now;
                    self.now += 1;
                }
            }
        }
    }

    /// The vertex to go on with, among those emitted since `start`.
    ///
    /// Of those that will still be in the cache after all of their triangles, the oldest.
    fn best(&self, start: usize) -> Option<u32> {
        let mut best = None;
        for corner in &self.ordered[start..] {
            let live = self.live[*corner as usize];
            if live == 0 {
                continue;
            }
            let age = self.now - self.entered[*corner as usize];
            // Each triangle brings up to two vertices.
            let priority = if age + 2 * live <= CACHE { age } else { 0 };
            if best.is_none_or(|(most, _)| priority > most) {
                best = Some((priority, *corner));
            }
        }
        best.map(|(_, corner)| corner)
    }

    /// The latest vertex that has triangles left, or else the first. `None` if there is none.
    fn skip_dead_end(&mut self) -> Option<u32> {
        while let Some(vertex) = self.dead_ends.pop() {
            if self.live[vertex as usize] > 0 {
                return Some(vertex);
            }
        }
        while self.live.get(self.first).is_some_and(|live| *live == 0) {
            self.first += 1;
        }
        (self.first < self.live.len()).then_some(self.first as u32)
    }
}

/// The vertices that the model of a GPU's cache of shaded vertices holds.
const REUSED: u64 = 32;

/// The number of times that drawing these triangles runs the vertex shader.
///
/// [`GeometryReport`](crate::import::GeometryReport) describes the model of a GPU's cache, and has
/// the counts of a whole character. `indices` are those of one draw. They are less than
/// `vertex_count`; any others count as shaded each time. Divided by the number of vertices, the
/// result is at least 1 if all of them are drawn; 1 is ideal.
pub(crate) fn shaded_vertices(indices: &[u32], vertex_count: usize) -> u64 {
    // For each vertex, how many had been shaded when it was shaded last, itself included.
    let mut shaded_at = vec![0_u64; vertex_count];
    let mut shaded = 0;
    for index in indices {
        let at = shaded_at.get_mut(*index as usize);
        let is_queued = at
            .as_ref()
            .is_some_and(|at| **at > 0 && shaded - **at < REUSED);
        if !is_queued {
            shaded += 1;
            if let Some(at) = at {
                *at = shaded;
            }
        }
    }
    shaded
}

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
