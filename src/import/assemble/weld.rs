//! Welding: merges vertices that are the same in every attribute.

use std::collections::HashMap;

/// The vertices that stay, and the new indices.
#[derive(Debug)]
pub(super) struct Welded {
    /// The vertices that stay, in their order.
    pub(super) kept: Vec<usize>,
    /// The triangles, with indices into `kept`.
    pub(super) indices: Vec<u32>,
    /// The number of vertices that were equal to one that stays.
    pub(super) merged: usize,
    /// The number of vertices that no index used.
    pub(super) unused: usize,
}

/// Merges vertices with equal keys and drops those that no index uses. `keys` holds `width` words
/// per vertex.
pub(super) fn merge_duplicates(keys: &[u32], width: usize, indices: &[u32]) -> Welded {
    let count = keys.len() / width.max(1);
    let mut used = vec![false; count];
    for index in indices {
        used[*index as usize] = true;
    }
    let mut numbers: HashMap<&[u32], u32> = HashMap::new();
    let mut number_of = vec![0; count];
    let mut kept = Vec::new();
    for (vertex, key) in keys.chunks_exact(width.max(1)).enumerate() {
        if !used[vertex] {
            continue;
        }
        number_of[vertex] = *numbers.entry(key).or_insert_with(|| {
            kept.push(vertex);
            kept.len() as u32 - 1
        });
    }
    let indices = indices.iter().map(|index| number_of[*index as usize]);
    let used = used.iter().filter(|used| **used).count();
    Welded {
        indices: indices.collect(),
        merged: used - kept.len(),
        unused: count - used,
        kept,
    }
}
