//! Pieces of a primitive: their triangles and palette entries, and the primitives made of them.

use super::cut;
use super::cut::JointSets;
use crate::error::{Error, Result};
use crate::mesh::{JointIndices, MorphTarget, Primitive};
use std::ops::Range;

/// The most entries that a primitive's palette range can have, because indices have 16 bits.
pub(crate) const MAX_RANGE: usize = 65_536;

/// The limits of a cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The most palette entries that a piece may use, 1 to 65,536.
    pub(crate) max_joints: usize,
    /// The most pieces.
    pub(crate) max_parts: usize,
    /// The most joints in total, over all distinct sets that triangles follow.
    pub(crate) max_listed: usize,
    /// If true, a triangle that fits no piece is not an error: the primitive is then not cut.
    pub(crate) is_optional: bool,
}

/// One piece of a primitive: its triangles and the palette entries that they follow, both
/// ascending.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) triangles: Vec<u32>,
    pub(crate) entries: Vec<u32>,
}

/// Cuts the primitive. Entries count from the start of its palette range.
///
/// Returns `None` if that takes more pieces, or longer lists, than `bounds` allows.
///
/// # Errors
/// - [`Error::TriangleJoints`] if a single triangle follows more than `bounds.max_joints`.
/// - [`Error::Argument`], [`Error::NotFound`] or [`Error::Capacity`] for a primitive that is no
///   part of a [`Character`](crate::character::Character) and breaks its invariants.
pub(crate) fn cut(primitive: &Primitive, bounds: Bounds) -> Result<Option<Vec<Piece>>> {
    check(primitive)?;
    let used = used_joints(primitive);
    if used.len() <= bounds.max_joints {
        return Ok(Some(vec![Piece {
            triangles: (0..primitive.indices.len() as u32 / 3).collect(),
            entries: used.into_iter().map(u32::from).collect(),
        }]));
    }
    if used.len().div_ceil(bounds.max_joints) > bounds.max_parts {
        return Ok(None);
    }
    let Some(sets) = joint_sets(primitive, &used, bounds)? else {
        return Ok(None);
    };
    let parts = cut::cut(sets, used.len(), bounds.max_joints, bounds.max_parts);
    let entry = |number: u16| u32::from(used[usize::from(number)]);
    let piece = |part: cut::Part| Piece {
        triangles: part.triangles,
        entries: part.joints.into_iter().map(entry).collect(),
    };
    Ok(parts.map(|parts| parts.into_iter().map(piece).collect()))
}

/// The joints that a vertex follows: those with a weight, and always the strongest.
fn joints_of(primitive: &Primitive, vertex: u32) -> impl Iterator<Item = u16> + '_ {
    let per_vertex = primitive.influences_per_vertex as usize;
    let start = vertex as usize * per_vertex;
    let slots = (start..start + per_vertex)
        .filter(move |slot| *slot == start || primitive.weights.get(*slot).is_none_or(|w| *w > 0));
    slots.map(|slot| primitive.joints.get(slot) as u16)
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
fn joint_sets(primitive: &Primitive, used: &[u16], bounds: Bounds) -> Result<Option<JointSets>> {
    let mut places = vec![0_u16; primitive.palette.len()];
    for (place, joint) in used.iter().enumerate() {
        places[usize::from(*joint)] = place as u16;
    }
    let mut sets = JointSets::default();
    let mut joints = Vec::new();
    for (triangle, corners) in primitive.indices.as_chunks::<3>().0.iter().enumerate() {
        joints.clear();
        for vertex in corners {
            let followed = joints_of(primitive, *vertex);
            joints.extend(followed.map(|joint| places[usize::from(joint)]));
        }
        joints.sort_unstable();
        joints.dedup();
        if joints.len() > bounds.max_joints {
            if bounds.is_optional {
                return Ok(None);
            }
            return Err(Error::TriangleJoints {
                primitive: primitive.name.clone(),
                triangle,
                joints: joints.len(),
                cap: bounds.max_joints,
            });
        }
        sets.push(&joints);
        if sets.len() > bounds.max_listed {
            return Ok(None);
        }
    }
    Ok(Some(sets))
}

/// Checks the invariants of a character's primitives, because the caller may have built this one.
fn check(primitive: &Primitive) -> Result<()> {
    let count = primitive.vertex_count();
    let slots = count.saturating_mul(primitive.influences_per_vertex as usize);
    let has_weights = primitive.influences_per_vertex != 1 || !primitive.weights.is_empty();
    let per_vertex = |len: usize| (len, if len == 0 { 0 } else { count });
    let mut lengths = vec![
        ("joints", primitive.joints.len(), slots),
        (
            "weights",
            primitive.weights.len(),
            if has_weights { slots } else { 0 },
        ),
    ];
    for (what, len) in primitive.optional_streams() {
        let (got, need) = per_vertex(len);
        lengths.push((what, got, need));
    }
    for target in &primitive.targets {
        let moved = target.vertices.len();
        lengths.push(("positions of a morph target", target.positions.len(), moved));
        for (what, len) in [
            ("normals of a morph target", target.normals.len()),
            ("tangents of a morph target", target.tangents.len()),
        ] {
            lengths.push((what, len, if len == 0 { 0 } else { moved }));
        }
    }
    if let Some((what, got, need)) = lengths.into_iter().find(|(_, got, need)| got != need) {
        return Err(Error::length(what, got, need));
    }
    if primitive.influences_per_vertex == 0 || !primitive.indices.len().is_multiple_of(3) {
        return Err(Error::invalid(
            "primitive",
            "needs influences, and three indices per triangle",
        ));
    }
    if primitive.palette.len() > MAX_RANGE {
        let what = "palette entries of one primitive";
        let (asked, cap) = (primitive.palette.len() as u64, MAX_RANGE as u64);
        return Err(Error::Capacity { what, asked, cap });
    }
    let named = primitive.targets.iter().flat_map(|target| &target.vertices);
    let vertices = primitive.indices.iter().chain(named).copied();
    below("vertex", vertices.map(|v| v as usize), count)?;
    let joints = (0..primitive.joints.len()).map(|slot| primitive.joints.get(slot));
    below("palette entry", joints, primitive.palette.len())
}

fn below(what: &'static str, mut indices: impl Iterator<Item = usize>, count: usize) -> Result<()> {
    match indices.find(|index| *index >= count) {
        None => Ok(()),
        Some(index) => Err(Error::NotFound {
            what,
            index: index as u64,
            count: count as u64,
        }),
    }
}

/// Makes primitives of the pieces.
///
/// `ranges` gives for each piece the range of the palette `order` that contains its entries. The
/// primitive's own entries start at `base` there. Also returns, for each piece, its vertices as
/// indices into the primitive's.
pub(crate) fn primitives(
    whole: &Primitive,
    pieces: &[Piece],
    ranges: &[Range<u32>],
    order: &[u32],
    base: u32,
) -> (Vec<Primitive>, Vec<Vec<u32>>) {
    let mut numbers = vec![u32::MAX; whole.vertex_count()];
    let mut table = vec![0_u16; whole.palette.len()];
    let (mut parts, mut vertices) = (Vec::new(), Vec::new());
    for (piece, range) in pieces.iter().zip(ranges) {
        for (at, entry) in order[range.start as usize..range.end as usize]
            .iter()
            .enumerate()
            .rev()
        {
            // The range may contain other entries between those that the piece uses.
            let joint = entry.checked_sub(base);
            if let Some(place) = joint.and_then(|joint| table.get_mut(joint as usize)) {
                *place = at as u16;
            }
        }
        let (part, own) = primitive(whole, piece, range, &table, &mut numbers);
        parts.push(part);
        vertices.push(own);
    }
    deal_targets(whole, &mut parts, &vertices);
    (parts, vertices)
}

/// One part without its morph targets, and its vertices. `numbers` is scratch memory with one
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
    let part = Primitive {
        name: whole.name.clone(),
        part: whole.part.clone(),
        material: whole.material,
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
    };
    (part, vertices)
}

/// The chosen elements. Empty for an absent stream.
fn pick<T: Copy>(all: &[T], chosen: &[u32]) -> Vec<T> {
    let chosen = chosen.iter().filter_map(|at| all.get(*at as usize));
    chosen.copied().collect()
}

/// The joints of the chosen vertices, mapped by `table`. A joint without weight is replaced by the
/// strongest one.
fn joints(whole: &Primitive, vertices: &[u32], table: &[u16], entries: usize) -> JointIndices {
    let joint = |(start, slot): (usize, usize)| {
        let counts = whole.weights.get(slot).is_none_or(|weight| *weight > 0);
        table[whole.joints.get(if counts { slot } else { start })]
    };
    let joints = slots(whole, vertices).map(joint);
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
    let slots = slots(whole, vertices);
    slots.map(|(_, slot)| whole.weights[slot]).collect()
}

/// The slots of the chosen vertices' influences, each with the first slot of its vertex.
fn slots(whole: &Primitive, vertices: &[u32]) -> impl Iterator<Item = (usize, usize)> {
    let per_vertex = whole.influences_per_vertex as usize;
    vertices.iter().flat_map(move |vertex| {
        let start = *vertex as usize * per_vertex;
        (start..start + per_vertex).map(move |slot| (start, slot))
    })
}

/// Distributes each morph target over the parts, in one iteration over the target.
fn deal_targets(whole: &Primitive, parts: &mut [Primitive], vertices: &[Vec<u32>]) {
    if whole.targets.is_empty() {
        return;
    }
    // For each vertex of the whole primitive, the (part, vertex in the part) pairs, concatenated.
    let mut starts = vec![0_usize; whole.vertex_count() + 1];
    for vertex in vertices.iter().flatten() {
        starts[*vertex as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut places = vec![(0_u32, 0_u32); vertices.iter().map(Vec::len).sum()];
    for (part, own) in vertices.iter().enumerate() {
        for (number, vertex) in own.iter().enumerate() {
            places[next[*vertex as usize]] = (part as u32, number as u32);
            next[*vertex as usize] += 1;
        }
    }
    for (number, target) in whole.targets.iter().enumerate() {
        for part in parts.iter_mut() {
            part.targets.push(MorphTarget::default());
        }
        for (delta, vertex) in target.vertices.iter().enumerate() {
            let vertex = *vertex as usize;
            for (part, own) in &places[starts[vertex]..starts[vertex + 1]] {
                let to = &mut parts[*part as usize].targets[number];
                to.vertices.push(*own);
                to.positions.extend(target.positions.get(delta));
                to.normals.extend(target.normals.get(delta));
                to.tangents.extend(target.tangents.get(delta));
            }
        }
    }
}
