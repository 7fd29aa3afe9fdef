//! Pieces of a primitive: their triangles, and palette ranges that overlap as much as possible.

use super::partition::{JointPiece, JointSets, partition};
use crate::error::{Error, Result};
use crate::mesh::{JointIndices, MeshLevel, MorphTarget, Primitive};
use std::ops::Range;

/// One piece of a primitive: its triangles and the palette entries that they follow, both
/// ascending.
#[derive(Debug)]
pub(super) struct Piece {
    triangles: Vec<u32>,
    /// Counted from the start of the character's palette.
    pub(super) entries: Vec<u32>,
}

/// Cuts a primitive of a character into pieces that use at most `max` entries each.
pub(super) fn cut(primitive: &Primitive, max: usize) -> Result<Vec<Piece>> {
    let used = used_joints(primitive);
    let entry = |joint: u16| primitive.palette.start + u32::from(joint);
    if used.len() <= max {
        return Ok(vec![Piece {
            triangles: (0..primitive.indices.len() as u32 / 3).collect(),
            entries: used.into_iter().map(entry).collect(),
        }]);
    }
    let sets = joint_sets(primitive, &used, max)?;
    let cut = partition(sets, used.len(), max).into_iter();
    let to_piece = |piece: JointPiece| Piece {
        triangles: piece.triangles,
        entries: (piece
            .joints
            .into_iter()
            .map(|number| entry(used[usize::from(number)])))
        .collect(),
    };
    Ok(cut.map(to_piece).collect())
}

/// The joints that a vertex follows: those with a weight, and always the strongest.
fn joints_of(primitive: &Primitive, vertex: u32) -> impl Iterator<Item = u16> + '_ {
    let per_vertex = primitive.influences_per_vertex as usize;
    let start = vertex as usize * per_vertex;
    let influences = (start..start + per_vertex).filter(move |index| {
        *index == start || primitive.weights.get(*index).is_none_or(|w| *w > 0)
    });
    influences.map(|index| primitive.joints.get(index) as u16)
}

/// All joints that the vertices of triangles follow, ascending.
fn used_joints(primitive: &Primitive) -> Vec<u16> {
    let mut vertices = vec![false; primitive.vertex_count()];
    let mut joints = vec![false; primitive.palette.len()];
    for index in &primitive.indices {
        if !std::mem::replace(&mut vertices[*index as usize], true) {
            for joint in joints_of(primitive, *index) {
                joints[usize::from(joint)] = true;
            }
        }
    }
    let used = joints.iter().enumerate().filter(|(_, used)| **used);
    used.map(|(joint, _)| joint as u16).collect()
}

/// The joints of each triangle, as indices into `used`.
fn joint_sets(primitive: &Primitive, used: &[u16], max: usize) -> Result<JointSets> {
    let mut numbers = vec![0_u16; primitive.palette.len()];
    for (number, joint) in (0..).zip(used) {
        numbers[usize::from(*joint)] = number;
    }
    let mut sets = JointSets::default();
    let mut joints = Vec::new();
    for (triangle, corners) in primitive.indices.as_chunks::<3>().0.iter().enumerate() {
        joints.clear();
        for vertex in corners {
            let followed = joints_of(primitive, *vertex);
            joints.extend(followed.map(|joint| numbers[usize::from(joint)]));
        }
        joints.sort_unstable();
        joints.dedup();
        if joints.len() > max {
            return Err(Error::TriangleJoints {
                primitive: primitive.name.clone(),
                triangle,
                joints: joints.len(),
                cap: max,
            });
        }
        sets.push(&joints);
    }
    Ok(sets)
}

/// Makes primitives of the pieces.
///
/// They have the levels of detail of the whole primitive, or none if a triangle of a level has
/// corners in several pieces only. `ranges` gives for each piece the range of the palette `order`
/// that contains its entries.
pub(super) fn primitives(
    whole: &Primitive,
    pieces: &[Piece],
    ranges: &[Range<u32>],
    order: &[u32],
) -> Vec<Primitive> {
    let mut numbers = vec![u32::MAX; whole.vertex_count()];
    let mut table = vec![0_u16; whole.palette.len()];
    let (mut made, mut vertices) = (Vec::new(), Vec::new());
    for (piece, range) in pieces.iter().zip(ranges) {
        for (at, entry) in order[range.start as usize..range.end as usize]
            .iter()
            .enumerate()
            .rev()
        {
            // The range may contain other entries between those that the piece uses.
            let joint = entry.checked_sub(whole.palette.start);
            if let Some(number) = joint.and_then(|joint| table.get_mut(joint as usize)) {
                *number = at as u16;
            }
        }
        let (one, own) = primitive(whole, piece, range, &table, &mut numbers);
        made.push(one);
        vertices.push(own);
    }
    deal_targets(whole, &mut made, &vertices);
    deal_levels(whole, &mut made, &vertices);
    made
}

/// Gives each triangle of each level to the first piece that has all of its corners.
///
/// If there is none for a triangle, no piece gets a level. Vertices of pieces are in the order of
/// the whole primitive, so levels use prefixes of them, too.
fn deal_levels(whole: &Primitive, pieces: &mut [Primitive], vertices: &[Vec<u32>]) {
    for level in &whole.levels {
        for (piece, own) in pieces.iter_mut().zip(vertices) {
            piece.levels.push(MeshLevel {
                indices: Vec::new(),
                vertices: own.partition_point(|vertex| *vertex < level.vertices) as u32,
                ..*level
            });
        }
        for triangle in level.indices.as_chunks::<3>().0 {
            let found = pieces.iter_mut().zip(vertices).find_map(|(piece, own)| {
                let mut corners = [0; 3];
                for (corner, vertex) in corners.iter_mut().zip(triangle) {
                    *corner = own.binary_search(vertex).ok()? as u32;
                }
                Some((piece.levels.last_mut()?, corners))
            });
            let Some((level, corners)) = found else {
                pieces.iter_mut().for_each(|piece| piece.levels.clear());
                return;
            };
            level.indices.extend(corners);
        }
    }
}

/// One piece without its morph targets, and its vertices. `numbers` is scratch memory with one
/// element for each vertex of the whole primitive.
fn primitive(
    whole: &Primitive,
    piece: &Piece,
    range: &Range<u32>,
    table: &[u16],
    numbers: &mut [u32],
) -> (Primitive, Vec<u32>) {
    let triangles = whole.indices.as_chunks::<3>().0;
    let corners = || {
        piece
            .triangles
            .iter()
            .flat_map(|at| triangles[*at as usize])
    };
    let mut vertices: Vec<u32> = corners().collect();
    vertices.sort_unstable();
    vertices.dedup();
    for (number, vertex) in vertices.iter().enumerate() {
        numbers[*vertex as usize] = number as u32;
    }
    let made = Primitive {
        name: whole.name.clone(),
        part: whole.part.clone(),
        material: whole.material,
        variants: whole.variants.clone(),
        palette: range.clone(),
        positions: pick(&whole.positions, &vertices),
        normals: pick(&whole.normals, &vertices),
        tangents: pick(&whole.tangents, &vertices),
        uvs: pick(&whole.uvs, &vertices),
        uvs1: pick(&whole.uvs1, &vertices),
        colors: pick(&whole.colors, &vertices),
        influences_per_vertex: whole.influences_per_vertex,
        joints: joints(whole, &vertices, table, range.len()),
        weights: weights(whole, &vertices),
        targets: Vec::new(),
        first_weight: whole.first_weight,
        indices: corners().map(|vertex| numbers[vertex as usize]).collect(),
        levels: Vec::new(),
    };
    (made, vertices)
}

/// The chosen elements. Empty for an absent stream.
fn pick<T: Copy>(all: &[T], chosen: &[u32]) -> Vec<T> {
    let chosen = chosen.iter().filter_map(|at| all.get(*at as usize));
    chosen.copied().collect()
}

/// The joints of the chosen vertices, mapped by `table`. A joint without weight is replaced by the
/// strongest one.
fn joints(whole: &Primitive, vertices: &[u32], table: &[u16], entries: usize) -> JointIndices {
    let joint = |(start, index): (usize, usize)| {
        let counts = whole.weights.get(index).is_none_or(|weight| *weight > 0);
        table[whole.joints.get(if counts { index } else { start })]
    };
    let joints = influences(whole, vertices).map(joint);
    if entries <= 256 {
        JointIndices::U8(joints.map(|joint| joint as u8).collect())
    } else {
        JointIndices::U16(joints.collect())
    }
}

fn weights(whole: &Primitive, vertices: &[u32]) -> Vec<u16> {
    if whole.weights.is_empty() {
        return Vec::new();
    }
    let influences = influences(whole, vertices);
    influences.map(|(_, index)| whole.weights[index]).collect()
}

/// The indices of the chosen vertices' influences, each with the first index of its vertex.
fn influences(whole: &Primitive, vertices: &[u32]) -> impl Iterator<Item = (usize, usize)> {
    let per_vertex = whole.influences_per_vertex as usize;
    vertices.iter().flat_map(move |vertex| {
        let start = *vertex as usize * per_vertex;
        (start..start + per_vertex).map(move |index| (start, index))
    })
}

/// Distributes each morph target over the pieces, in one iteration over the target.
fn deal_targets(whole: &Primitive, pieces: &mut [Primitive], vertices: &[Vec<u32>]) {
    if whole.targets.is_empty() {
        return;
    }
    // For each vertex of the whole primitive, the (piece, vertex in the piece) pairs, concatenated.
    let mut starts = vec![0_usize; whole.vertex_count() + 1];
    for vertex in vertices.iter().flatten() {
        starts[*vertex as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut copies = vec![(0_u32, 0_u32); vertices.iter().map(Vec::len).sum()];
    for (piece, own) in vertices.iter().enumerate() {
        for (number, vertex) in own.iter().enumerate() {
            copies[next[*vertex as usize]] = (piece as u32, number as u32);
            next[*vertex as usize] += 1;
        }
    }
    for (number, target) in whole.targets.iter().enumerate() {
        for piece in pieces.iter_mut() {
            piece.targets.push(MorphTarget::default());
        }
        for (delta, vertex) in target.vertices.iter().enumerate() {
            let vertex = *vertex as usize;
            for (piece, own) in &copies[starts[vertex]..starts[vertex + 1]] {
                let to = &mut pieces[*piece as usize].targets[number];
                to.vertices.push(*own);
                to.positions.extend(target.positions.get(delta));
                to.normals.extend(target.normals.get(delta));
                to.tangents.extend(target.tangents.get(delta));
            }
        }
    }
}

/// The number of positions of an entry that the search for an existing range tries.
const LOOKED_AT: usize = 8;

/// A palette under construction: entries of another palette, some of them repeated.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    pub(super) order: Vec<u32>,
    /// The positions of each entry in `order`.
    positions: Vec<Vec<u32>>,
}

impl Ranges {
    /// An empty palette, made from one with this many entries.
    pub(super) fn new(entries: usize) -> Self {
        Self {
            order: Vec::new(),
            positions: vec![Vec::new(); entries],
        }
    }

    /// The first position of an entry, which must be in the palette.
    pub(super) fn first(&self, entry: u32) -> u32 {
        self.positions[entry as usize][0]
    }

    pub(super) fn push(&mut self, entry: u32) {
        self.positions[entry as usize].push(self.order.len() as u32);
        self.order.push(entry);
    }

    /// Finds or appends a range of at most `max` entries that contains all of `set`.
    ///
    /// `set` is ascending and has 1 to `max` entries. The range either exists already, or begins
    /// with as many entries at the end of the palette as possible and is completed. Entries that
    /// `next` has too come last, so that the range of `next` can begin with them.
    pub(super) fn find_or_append(&mut self, set: &[u32], next: &[u32], max: usize) -> Range<u32> {
        if let Some(found) = self.find(set, max) {
            return found;
        }
        let mut taken = vec![false; set.len()];
        let mut start = self.order.len();
        while let Some(before) = start.checked_sub(1) {
            match set.binary_search(&self.order[before]) {
                Ok(at) if !taken[at] => taken[at] = true,
                _ => break,
            }
            start = before;
        }
        for in_next in [false, true] {
            for (entry, _) in set.iter().zip(&taken).filter(|(_, taken)| !**taken) {
                if next.binary_search(entry).is_ok() == in_next {
                    self.push(*entry);
                }
            }
        }
        start as u32..self.order.len() as u32
    }

    /// The shortest range of at most `max` entries that contains all of `set`, near one of the
    /// first positions of its rarest entry.
    fn find(&self, set: &[u32], max: usize) -> Option<Range<u32>> {
        let rarest = set.iter().map(|entry| &self.positions[*entry as usize]);
        let rarest = rarest.min_by_key(|positions| positions.len())?;
        let near = rarest.iter().take(LOOKED_AT).filter_map(|position| {
            let at = *position as usize;
            let end = at.saturating_add(max).min(self.order.len());
            self.shortest(set, at.saturating_sub(max - 1)..end)
        });
        near.filter(|found| found.len() <= max)
            .min_by_key(|found| (found.len(), found.start))
    }

    /// The shortest range in `within` that contains all of `set`. The end advances first; the start
    /// follows as long as the range still contains the set.
    fn shortest(&self, set: &[u32], within: Range<usize>) -> Option<Range<u32>> {
        let index_in_set = |at: usize| set.binary_search(&self.order[at]).ok();
        let mut counts = vec![0_u32; set.len()];
        let (mut held, mut start) = (0, within.start);
        let mut best: Option<Range<u32>> = None;
        for end in within {
            if let Some(at) = index_in_set(end) {
                held += usize::from(counts[at] == 0);
                counts[at] += 1;
            }
            while held == set.len() {
                match index_in_set(start) {
                    Some(at) if counts[at] == 1 => break,
                    Some(at) => counts[at] -= 1,
                    None => {}
                }
                start += 1;
            }
            let found = start as u32..end as u32 + 1;
            if held == set.len() && best.as_ref().is_none_or(|best| found.len() < best.len()) {
                best = Some(found);
            }
        }
        best
    }
}
