//! Morph targets: checked, welded with their vertices, and measured.

use super::fault::fault_at;
use crate::error::{AssetFault, Result};
use crate::import::RawPrimitive;
use crate::import::fault::wrong_count;
use crate::mesh::MorphTarget;
use glam::Vec3;
use std::collections::HashMap;

/// Checks the lengths of lists, that vertices exist and ascend, and that deltas are finite.
pub(super) fn check_targets(raw: &RawPrimitive) -> Result<()> {
    for (number, target) in raw.targets.iter().enumerate() {
        let at = |part: &str, why| Err(fault_at(raw, &format!("targets[{number}]{part}"), why));
        let need = target.vertices.len();
        for (part, list, optional) in [
            (".POSITION", &target.positions, false),
            (".NORMAL", &target.normals, true),
            (".TANGENT", &target.tangents, true),
        ] {
            if list.len() != need && !(optional && list.is_empty()) {
                return at(part, wrong_count("the list of deltas", list.len(), need));
            }
            if let Some(index) = list.iter().position(|delta| !delta.is_finite()) {
                let broken = list[index].to_array().into_iter().find(|v| !v.is_finite());
                let (vertex, value) = (target.vertices[index], broken.unwrap_or(f32::NAN));
                return at(
                    part,
                    AssetFault::value("vertex", vertex as usize, value, "finite"),
                );
            }
        }
        if !target.vertices.is_sorted_by(|a, b| a < b) {
            let why = AssetFault::Invalid("the vertices are not in ascending order");
            return at("", why);
        }
        let count = raw.positions.len();
        if let Some(last) = target.vertices.last().filter(|v| **v as usize >= count) {
            return at("", AssetFault::dangling("vertex", *last as usize, count));
        }
    }
    Ok(())
}

/// Adds the changes of other vertices, whose numbers start at `base`.
pub(super) fn append(target: &mut MorphTarget, more: &MorphTarget, base: u32) {
    let before = target.vertices.len();
    target
        .vertices
        .extend(more.vertices.iter().map(|vertex| vertex + base));
    target.positions.extend(&more.positions);
    let count = target.vertices.len();
    for (all, own) in [
        (&mut target.normals, &more.normals),
        (&mut target.tangents, &more.tangents),
    ] {
        if !(all.is_empty() && own.is_empty()) {
            all.resize(before, Vec3::ZERO);
            all.extend(own);
            all.resize(count, Vec3::ZERO);
        }
    }
}

/// The streams that the targets of a primitive can change, besides positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    pub(super) normals: bool,
    pub(super) tangents: bool,
}

impl Streams {
    /// The change of the vertex at one index of the target's lists. `None` if it is zero.
    fn delta(self, target: &MorphTarget, index: usize) -> Option<[Vec3; 3]> {
        let of = |list: &[Vec3]| list.get(index).copied().unwrap_or(Vec3::ZERO);
        let delta = [
            of(&target.positions),
            of(if self.normals { &target.normals } else { &[] }),
            of(if self.tangents { &target.tangents } else { &[] }),
        ];
        (delta != [Vec3::ZERO; 3]).then_some(delta)
    }
}

/// A number for every vertex. Two vertices at one position have the same number only if all targets
/// change both by the same amount. Empty without targets.
pub(super) fn classes(raw: &RawPrimitive, streams: Streams) -> Vec<u64> {
    if raw.targets.is_empty() {
        return Vec::new();
    }
    // Most vertices are alone at their position, so they need no distinction.
    let shared = shared_positions(&raw.positions);
    let mut classes = vec![0_u64; raw.positions.len()];
    let mut next = 1;
    let mut parts = HashMap::new();
    // Each target splits the classes that existed before it. Vertices that it does not change stay.
    for target in &raw.targets {
        parts.clear();
        for (index, vertex) in target.vertices.iter().enumerate() {
            if !shared[*vertex as usize] {
                continue;
            }
            if let Some(delta) = streams.delta(target, index) {
                // Adding 0 makes −0 and 0 the same.
                let bits = delta.map(|d| (d + Vec3::ZERO).to_array().map(f32::to_bits));
                let class = &mut classes[*vertex as usize];
                *class = *parts.entry((*class, bits)).or_insert_with(|| {
                    next += 1;
                    next - 1
                });
            }
        }
    }
    classes
}

/// For each vertex, true if another vertex is at the same position.
fn shared_positions(positions: &[Vec3]) -> Vec<bool> {
    let mut shared = vec![false; positions.len()];
    let mut first_at = HashMap::with_capacity(positions.len());
    for (vertex, position) in positions.iter().enumerate() {
        let first = *first_at
            .entry(position.to_array().map(f32::to_bits))
            .or_insert(vertex);
        if first != vertex {
            shared[first] = true;
            shared[vertex] = true;
        }
    }
    shared
}

/// The targets for the vertices in `kept`, which ascend, out of `count` vertices.
pub(super) fn welded(
    targets: &[MorphTarget],
    streams: Streams,
    kept: &[usize],
    count: usize,
) -> Vec<MorphTarget> {
    if targets.is_empty() {
        return Vec::new();
    }
    let mut number_of = vec![u32::MAX; count];
    for (number, vertex) in kept.iter().enumerate() {
        number_of[*vertex] = number as u32;
    }
    let welded = |target: &MorphTarget| {
        let listed = target.vertices.iter().enumerate();
        // The list index and the new number of each vertex that stays and that the target moves.
        let kept = listed.filter_map(|(index, vertex)| {
            let number = number_of[*vertex as usize];
            let moves = number != u32::MAX && streams.delta(target, index).is_some();
            moves.then_some((index, number))
        });
        let kept: Vec<(usize, u32)> = kept.collect();
        let of = |wanted: bool, list: &[Vec3]| -> Vec<Vec3> {
            let list = if wanted { list } else { &[] };
            let picked = kept
                .iter()
                .filter_map(|(index, _)| list.get(*index).copied());
            let picked: Vec<Vec3> = picked.collect();
            if picked.iter().all(|delta| *delta == Vec3::ZERO) {
                Vec::new()
            } else {
                picked
            }
        };
        MorphTarget {
            vertices: kept.iter().map(|(_, number)| *number).collect(),
            positions: kept
                .iter()
                .map(|(index, _)| target.positions[*index])
                .collect(),
            normals: of(streams.normals, &target.normals),
            tangents: of(streams.tangents, &target.tangents),
        }
    };
    targets.iter().map(welded).collect()
}
