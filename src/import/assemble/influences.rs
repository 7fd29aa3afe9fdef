//! Vertex influences: merged, sorted and quantised.

use super::fault::{fault_at, object};
use super::palette::Entries;
use crate::error::{AssetFault, Error, Result};
use crate::import::RawPrimitive;
use crate::import::fault::check_cap;
use crate::mesh::Primitive;
use crate::order;

/// The largest deviation from 1 of a vertex's weight sum that is not reported.
const SUM_TOLERANCE: f64 = 1e-3;
/// A weight of 1.
const WHOLE: u32 = 65_535;

/// An entry of the palette (by its index in [`super::palette::Entries`]) and its weight in units of
/// 1/65,535.
pub(super) type Influence = (u32, u16);

/// The influences of every vertex, at least one each, strongest first.
#[derive(Debug, Default)]
pub(super) struct VertexInfluences {
    ends: Vec<usize>,
    list: Vec<Influence>,
    dropped: Vec<Dropped>,
}

/// The influences that a vertex lost to the limit.
#[derive(Debug, Clone)]
pub(super) struct Dropped {
    /// The vertex of the raw primitive.
    pub(super) vertex: u32,
    /// Palette entries by index, and the weight by which each is larger without the limit, in units
    /// of 1/65,535.
    pub(super) change: Box<[(u32, i32)]>,
}

impl VertexInfluences {
    /// Every vertex follows one entry.
    pub(super) fn rigid(entry: u32, vertices: usize) -> Self {
        Self {
            ends: (1..=vertices).collect(),
            list: vec![(entry, WHOLE as u16); vertices],
            dropped: Vec::new(),
        }
    }

    /// Adds the influences of other vertices.
    pub(super) fn append(&mut self, other: Self) {
        let (vertices, influences) = (self.ends.len() as u32, self.list.len());
        self.ends
            .extend(other.ends.iter().map(|end| end + influences));
        self.list.extend(other.list);
        self.dropped
            .extend(other.dropped.into_iter().map(|one| Dropped {
                vertex: one.vertex + vertices,
                ..one
            }));
    }

    /// The vertices that lost influences to the limit, in order.
    pub(super) fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    pub(super) fn of(&self, vertex: usize) -> &[Influence] {
        let start = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.list[start..self.ends[vertex]]
    }
}

/// The number of vertices that needed each repair.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) renormalised: u64,
    pub(super) weightless: u64,
    pub(super) unused_index: u64,
    pub(super) repeated: u64,
}

pub(super) fn limit(asked: Option<u32>) -> Result<usize> {
    match asked {
        None => Ok(usize::MAX),
        Some(limit) if (1..=Primitive::MAX_INFLUENCES).contains(&(limit as usize)) => {
            Ok(limit as usize)
        }
        Some(limit) => {
            let most = Primitive::MAX_INFLUENCES as f64;
            Err(Error::out_of_range("max_influences", limit, 1.0, most))
        }
    }
}

/// Reads the influences of a primitive with this skin, at most `limit` per vertex.
pub(super) fn read(
    primitive: &RawPrimitive,
    skin: usize,
    all_entries: &Entries,
    limit: usize,
    tally: &mut Tally,
) -> Result<VertexInfluences> {
    check_lists(primitive)?;
    let entries = all_entries.of_skin(skin);
    let Some(first) = entries.first() else {
        return Err(fault_at(primitive, "skin", AssetFault::Missing("joints")));
    };
    let mut all = VertexInfluences::default();
    let (mut scratch, mut full) = (Vec::new(), Vec::new());
    let per_vertex = primitive.influences_per_vertex;
    let rows = primitive.joints.chunks_exact(per_vertex);
    let rows = rows.zip(primitive.weights.chunks_exact(per_vertex));
    for (vertex, (joints, weights)) in rows.enumerate() {
        scratch.clear();
        let stray = gather(primitive, vertex, joints, weights, entries, &mut scratch)?;
        tally.unused_index += u64::from(stray);
        tally.repeated += u64::from(merge(&mut scratch));
        if scratch.is_empty() {
            tally.weightless += 1;
            let joint = joints.first().and_then(|j| entries.get(*j as usize));
            scratch.push((*joint.unwrap_or(first), 1.0));
        }
        let (asked, cap) = (scratch.len() as u64, Primitive::MAX_INFLUENCES as u64);
        check_cap(
            || object(primitive, &format!("vertex {vertex}")),
            "influences",
            asked,
            cap,
        )?;
        // Among equal weights, the lower joint comes first, and so the lower palette entry.
        order::sort_by(&mut scratch, |a, b| {
            b.1.total_cmp(&a.1).then(all_entries.order(a.0, b.0))
        });
        full.clear();
        tally.renormalised += u64::from(quantise(&scratch, &mut full));
        let start = all.list.len();
        if full.len() > limit {
            quantise(&scratch[..limit], &mut all.list);
            let change = change(&full, &all.list[start..]);
            let vertex = vertex as u32;
            all.dropped.push(Dropped { vertex, change });
        } else {
            all.list.extend(&full);
        }
        all.ends.push(all.list.len());
    }
    Ok(all)
}

/// Checks that there are as many joints and weights as the vertices need.
fn check_lists(primitive: &RawPrimitive) -> Result<()> {
    let vertices = primitive.positions.len();
    let per_vertex = primitive.influences_per_vertex;
    if per_vertex == 0 {
        let why = AssetFault::Missing("joints and weights");
        return Err(fault_at(primitive, "", why));
    }
    let need = (vertices as u64).saturating_mul(per_vertex as u64);
    for (what, got) in [
        ("the list of joints", primitive.joints.len()),
        ("the list of weights", primitive.weights.len()),
    ] {
        if got as u64 != need {
            let got = got as u64;
            return Err(fault_at(
                primitive,
                "",
                AssetFault::Count { what, got, need },
            ));
        }
    }
    Ok(())
}

/// Collects the influences with nonzero weight. Returns true if an influence with weight zero has a
/// joint that the skin does not have.
fn gather(
    primitive: &RawPrimitive,
    vertex: usize,
    joints: &[u32],
    weights: &[f32],
    entries: &[u32],
    out: &mut Vec<(u32, f64)>,
) -> Result<bool> {
    let mut stray = false;
    for (index, (joint, weight)) in joints.iter().zip(weights).enumerate() {
        if !(*weight >= 0.0 && weight.is_finite()) {
            let why = AssetFault::value("weight", index, *weight, "finite and at least 0");
            return Err(fault_at(primitive, &format!("vertex {vertex}"), why));
        }
        match (entries.get(*joint as usize), *weight > 0.0) {
            (Some(entry), true) => out.push((*entry, (*weight).into())),
            (Some(_), false) => {}
            (None, false) => stray = true,
            (None, true) => {
                let why = AssetFault::dangling("joint", *joint as usize, entries.len());
                return Err(fault_at(primitive, &format!("vertex {vertex}"), why));
            }
        }
    }
    Ok(stray)
}

/// Sorts by entry and adds up repeated entries. Returns true if there were any.
fn merge(list: &mut Vec<(u32, f64)>) -> bool {
    let before = list.len();
    order::sort_by_key(list, |(entry, _)| *entry);
    list.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    list.len() < before
}

/// The weight by which each entry of `full` is larger there than in `limited`, without zeros.
fn change(full: &[Influence], limited: &[Influence]) -> Box<[(u32, i32)]> {
    let weight = |list: &[Influence], at: usize| list.get(at).map_or(0, |i| i32::from(i.1));
    // Both are in the same order, and the limited list is the shorter one.
    let change = |(at, (entry, _)): (usize, &Influence)| {
        let change = weight(full, at) - weight(limited, at);
        (change != 0).then_some((*entry, change))
    };
    full.iter().enumerate().filter_map(change).collect()
}

/// Appends the influences with weights that sum to exactly 65,535, strongest first. Each weight is
/// rounded down to an integer, and the remaining units go to the largest remainders, so each weight
/// is off by less than one unit. Weights of 0 are left out. Returns true if the sum was not 1.
fn quantise(list: &[(u32, f64)], out: &mut Vec<Influence>) -> bool {
    let sum: f64 = list.iter().map(|(_, weight)| weight).sum();
    let exact = |weight: f64| weight / sum * f64::from(WHOLE);
    let start = out.len();
    let mut left = WHOLE;
    for (entry, weight) in list.iter() {
        let units = (exact(*weight).floor() as u32).min(left);
        left -= units;
        out.push((*entry, units as u16));
    }
    if left > 0 {
        let mut by_remainder: Vec<usize> = (0..list.len()).collect();
        let remainder = |at: usize| exact(list[at].1) - f64::from(out[start + at].1);
        order::sort_indices(&mut by_remainder, &|a, b| {
            remainder(b).total_cmp(&remainder(a))
        });
        let rounded_up: Vec<usize> = by_remainder.into_iter().take(left as usize).collect();
        for at in rounded_up {
            out[start + at].1 += 1;
        }
    }
    while out.len() > start + 1 && out.last().is_some_and(|last| last.1 == 0) {
        out.pop();
    }
    (sum - 1.0).abs() > SUM_TOLERANCE
}
