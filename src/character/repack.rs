//! Rebuilding of a palette so that its primitives address short ranges.

use super::asset::Character;
use super::pieces;
use super::pieces::{Bounds, MAX_RANGE, Piece};
use super::ranges::Ranges;
use crate::error::{Error, Result};
use crate::mesh::{Aabb, JointIndices, PaletteJoint, Primitive};
use std::ops::Range;

/// The cost of cutting a primitive whose range is too long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    /// The number of parts.
    pub(crate) parts: usize,
    /// The number of vertices. A vertex that several parts use counts once for each.
    pub(crate) vertices: usize,
    /// The number of palette entries that would be repeated.
    pub(crate) repeats: usize,
}

/// Selects the primitives to repack, and the cost that is acceptable.
pub(crate) trait Policy {
    /// The most entries that a range should have.
    fn max_joints(&self) -> usize;
    /// The limits for cutting this primitive. `None` leaves it as it is.
    fn bounds(&self, primitive: &Primitive) -> Option<Bounds>;
    /// True if the cut is worth its cost.
    fn accepts(&self, primitive: &Primitive, offer: Offer) -> bool;
}

/// A character's palette and primitives after repacking.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) palette: Vec<PaletteJoint>,
    pub(crate) primitives: Vec<Primitive>,
    /// For each primitive, the index of its original, and the vertices it took of it if it is a
    /// part.
    pub(crate) origins: Vec<(usize, Option<Vec<u32>>)>,
    /// The number of primitives that were repacked.
    pub(crate) packed: usize,
    /// The number of parts that were made of them.
    pub(crate) parts: usize,
    /// The number of palette entries that repeat an earlier one.
    pub(crate) repeats: usize,
}

/// Repacks the primitives whose palette range is longer than the policy allows.
///
/// Returns `None` if there are none, or if none can be repacked at an acceptable cost. The new
/// palette begins with the entries that the other primitives use, in their order. The ranges of the
/// repacked primitives follow one by one and may overlap at their ends.
pub(crate) fn repack(character: &Character, policy: &impl Policy) -> Result<Option<Packed>> {
    let max = policy.max_joints().min(MAX_RANGE);
    let all = &character.model.primitives;
    let is_long = |primitive: &Primitive| primitive.palette.len() > max;
    if !all.iter().any(is_long) {
        return Ok(None);
    }
    let mut ranges = Ranges::new(character.model.palette.len());
    let short = all.iter().filter(|primitive| !is_long(primitive));
    for entry in used_entries(character, short) {
        ranges.push(entry);
    }
    let mut plans = Vec::with_capacity(all.len());
    for primitive in all {
        plans.push(if is_long(primitive) {
            plan(primitive, policy, max, &mut ranges)?
        } else {
            None
        });
    }
    if plans.iter().all(Option::is_none) {
        return Ok(None);
    }
    // Primitives with long ranges can address their entries at any position.
    let long = all.iter().zip(&plans);
    let long = long.filter_map(|(p, plan)| (is_long(p) && plan.is_none()).then_some(p));
    for entry in used_entries(character, long) {
        if ranges.first(entry).is_none() {
            ranges.push(entry);
        }
    }
    assemble(character, plans, &ranges)
}

/// The pieces of a primitive, and their ranges.
type Plan = (Vec<Piece>, Vec<Range<u32>>);

fn plan(
    primitive: &Primitive,
    policy: &impl Policy,
    max: usize,
    ranges: &mut Ranges,
) -> Result<Option<Plan>> {
    let Some(bounds) = policy.bounds(primitive) else {
        return Ok(None);
    };
    let Some(mut pieces) = pieces::cut(primitive, bounds)? else {
        return Ok(None);
    };
    for entry in pieces.iter_mut().flat_map(|piece| &mut piece.entries) {
        *entry += primitive.palette.start;
    }
    let mut entries: Vec<u32> = pieces.iter().flat_map(|p| p.entries.clone()).collect();
    entries.sort_unstable();
    entries.dedup();
    let before = ranges.order.len();
    let new = entries.len() - ranges.known(&entries);
    let placed = place(&pieces, max, ranges);
    let offer = Offer {
        parts: pieces.len(),
        vertices: pieces.iter().map(|piece| vertices(primitive, piece)).sum(),
        repeats: ranges.order.len() - before - new,
    };
    if policy.accepts(primitive, offer) {
        return Ok(Some((pieces, placed)));
    }
    ranges.truncate(before);
    Ok(None)
}

/// Finds a range for each piece, one after the other.
pub(crate) fn place(pieces: &[Piece], max: usize, ranges: &mut Ranges) -> Vec<Range<u32>> {
    let next = pieces.iter().skip(1).map(|piece| piece.entries.as_slice());
    let next = next.chain([[].as_slice()]);
    let pieces = pieces.iter().zip(next);
    pieces
        .map(|(piece, next)| ranges.place(&piece.entries, next, max))
        .collect()
}

fn vertices(primitive: &Primitive, piece: &Piece) -> usize {
    let triangles = primitive.indices.as_chunks::<3>().0;
    let corners = piece
        .triangles
        .iter()
        .flat_map(|at| triangles[*at as usize]);
    let mut corners: Vec<u32> = corners.collect();
    corners.sort_unstable();
    corners.dedup();
    corners.len()
}

/// The entries that vertices of these primitives follow, ascending.
fn used_entries<'a>(
    character: &Character,
    primitives: impl Iterator<Item = &'a Primitive>,
) -> Vec<u32> {
    let mut used = vec![false; character.model.palette.len()];
    for primitive in primitives {
        let start = primitive.palette.start as usize;
        for slot in 0..primitive.joints.len() {
            if let Some(used) = used.get_mut(start + primitive.joints.get(slot)) {
                *used = true;
            }
        }
    }
    let used = used.iter().enumerate().filter(|(_, used)| **used);
    used.map(|(entry, _)| entry as u32).collect()
}

fn assemble(
    character: &Character,
    plans: Vec<Option<Plan>>,
    ranges: &Ranges,
) -> Result<Option<Packed>> {
    let mut packed = Packed {
        palette: Vec::with_capacity(ranges.order.len()),
        primitives: Vec::new(),
        origins: Vec::new(),
        packed: 0,
        parts: 0,
        repeats: 0,
    };
    let bare = |entry: &u32| PaletteJoint {
        bounds: Aabb::EMPTY,
        ..character.model.palette[*entry as usize]
    };
    packed.palette.extend(ranges.order.iter().map(bare));
    for (number, (primitive, plan)) in character.model.primitives.iter().zip(plans).enumerate() {
        let Some((pieces, placed)) = plan else {
            let Some(moved) = moved(primitive, ranges)? else {
                return Ok(None);
            };
            packed.primitives.push(moved);
            packed.origins.push((number, None));
            continue;
        };
        let (parts, vertices) = pieces::primitives(
            primitive,
            &pieces,
            &placed,
            &ranges.order,
            primitive.palette.start,
        );
        packed.packed += 1;
        packed.parts += parts.len();
        packed.primitives.extend(parts);
        let origins = vertices.into_iter().map(|own| (number, Some(own)));
        packed.origins.extend(origins);
    }
    let distinct = (0..character.model.palette.len()).filter(|e| ranges.first(*e as u32).is_some());
    packed.repeats = ranges.order.len() - distinct.count();
    bound(&mut packed.palette, &packed.primitives);
    Ok(Some(packed))
}

/// The primitive with its entries at their first positions. `None` if they lie too far apart.
fn moved(primitive: &Primitive, ranges: &Ranges) -> Result<Option<Primitive>> {
    let joints = &primitive.joints;
    let place = |joint: usize| {
        let entry = primitive.palette.start + joint as u32;
        ranges.first(entry).ok_or(Error::NotFound {
            what: "palette entry",
            index: entry.into(),
            count: ranges.order.len() as u64,
        })
    };
    let places: Vec<u32> = (0..joints.len())
        .map(|slot| place(joints.get(slot)))
        .collect::<Result<_>>()?;
    let start = places.iter().copied().min().unwrap_or(0);
    let end = places.iter().copied().max().map_or(0, |last| last + 1);
    let range = start..end;
    if range.len() > MAX_RANGE {
        return Ok(None);
    }
    let mut primitive = primitive.clone();
    primitive.joints = JointIndices::packed(&places, &range);
    primitive.palette = range;
    Ok(Some(primitive))
}

/// Sets the bounds of every entry to the box around the vertices that it moves.
pub(crate) fn bound(palette: &mut [PaletteJoint], primitives: &[Primitive]) {
    for primitive in primitives {
        for (vertex, position) in primitive.positions.iter().enumerate() {
            for (joint, weight) in primitive.influences(vertex) {
                if let (true, Some(entry)) = (
                    weight > 0.0,
                    palette.get_mut(primitive.palette.start as usize + joint),
                ) {
                    entry.bounds = entry.bounds.with_point(*position);
                }
            }
        }
    }
}
