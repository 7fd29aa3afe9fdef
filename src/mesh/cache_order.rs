//! Orders of triangles and vertices that let a GPU shade and fetch vertices seldom.

use super::vertex_reuse::shaded_vertices;

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
