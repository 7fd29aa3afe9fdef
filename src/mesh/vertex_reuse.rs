//! The measure of how often a draw runs the vertex shader.

/// The vertices that the model of a GPU's cache of shaded vertices holds.
const CACHE: u64 = 32;

/// The number of times that drawing these triangles runs the vertex shader.
///
/// GPUs keep the results of the latest vertices. The model of this cache is a queue of 32 vertices:
/// an index that is not in the queue is shaded and pushes the oldest vertex out. Real GPUs differ,
/// but an order that does well in this model does well on them.
///
/// `indices` are those of one draw. They are less than `vertex_count`; any others count as shaded
/// each time. Divided by the number of vertices, the result is at least 1 if all of them are drawn;
/// 1 is ideal. [`VertexReuse`] has this ratio for a whole character.
///
/// ```
/// use throng::mesh::shaded_vertices;
///
/// // Two triangles share an edge, so four vertices are shaded, each once.
/// assert_eq!(shaded_vertices(&[0, 1, 2, 2, 1, 3], 4), 4);
/// ```
#[must_use]
#[doc(alias = "ACMR")]
#[doc(alias = "ATVR")]
pub fn shaded_vertices(indices: &[u32], vertex_count: usize) -> u64 {
    // For each vertex, how many had been shaded when it was shaded last, itself included.
    let mut shaded_at = vec![0_u64; vertex_count];
    let mut shaded = 0;
    for index in indices {
        let at = shaded_at.get_mut(*index as usize);
        let is_queued = at
            .as_ref()
            .is_some_and(|at| **at > 0 && shaded - **at < CACHE);
        if !is_queued {
            shaded += 1;
            if let Some(at) = at {
                *at = shaded;
            }
        }
    }
    shaded
}

/// The number of times that one draw shades vertices; see [`shaded_vertices`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VertexReuse {
    /// The number of times that the vertex shader runs, over all draws.
    pub shaded: u64,
    /// The number of vertices.
    pub vertices: u64,
}

impl VertexReuse {
    /// Shaded vertices per vertex: 1 is ideal. 0 if there are no vertices.
    ///
    /// ```
    /// use throng::mesh::VertexReuse;
    ///
    /// let reuse = VertexReuse { shaded: 5, vertices: 4 };
    /// assert_eq!(reuse.ratio(), 1.25);
    /// ```
    #[must_use]
    pub fn ratio(self) -> f64 {
        self.shaded as f64 / self.vertices.max(1) as f64
    }
}
