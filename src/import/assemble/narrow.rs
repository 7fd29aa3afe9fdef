//! Cuts primitives to 8-bit joint indices if that takes less memory.

use crate::character::{Bounds, Character, Offer, Policy, SplitReport, reaches, repack};
use crate::error::Result;
use crate::import::imported::InfluenceLoss;
use crate::mesh::{MorphTarget, Primitive};

/// The number of palette entries that 8 bits can address.
const ENTRIES: usize = 256;
/// Bytes of a palette entry.
const ENTRY_BYTES: u64 = 48;
/// The cost of a part besides its vertices: a separate draw, with its records. This is an estimate
/// of the cost of a draw in bytes, and prevents cutting primitives into very small parts.
const PART_BYTES: u64 = 4096;
/// No cut is tried if there are more joint indices than this. The first limit counts those of all
/// triangles, the second those of all distinct sets of joints.
const MAX_CORNERS: usize = 1 << 28;
const MAX_LISTED: usize = 1 << 25;

/// Changes primitives from 16-bit to 8-bit joint indices if that saves more than it costs, and
/// reports the result. The influence loss still names the same vertex afterwards.
pub(super) fn narrow(
    character: &mut Character,
    instances: u32,
    loss: &mut Option<InfluenceLoss>,
) -> Result<Option<SplitReport>> {
    let Some(packed) = repack(character, &Weigh { instances })? else {
        return Ok(None);
    };
    let report = SplitReport::of(&character.model.primitives, &packed);
    if let Some(loss) = loss {
        let place = |(number, (of, own)): (usize, &(usize, Option<Vec<u32>>))| {
            let vertex = match own {
                None => loss.vertex,
                Some(own) => own.binary_search(&(loss.vertex as u32)).ok()?,
            };
            (*of == loss.primitive).then_some((number, vertex))
        };
        let mut places = packed.origins.iter().enumerate().filter_map(place);
        if let Some((primitive, vertex)) = places.next() {
            (loss.primitive, loss.vertex) = (primitive, vertex);
        }
    }
    (character.model.palette, character.model.primitives) = (packed.palette, packed.primitives);
    character.model.morph_reaches = reaches(&character.model.primitives);
    Ok(Some(report))
}

/// Accepts a cut if it saves more bytes of vertices than it costs in palettes and parts.
struct Weigh {
    instances: u32,
}

impl Weigh {
    fn part_bytes(primitive: &Primitive) -> u64 {
        PART_BYTES + (primitive.targets.len() * size_of::<MorphTarget>()) as u64
    }
}

impl Policy for Weigh {
    fn max_joints(&self) -> usize {
        ENTRIES
    }

    fn bounds(&self, primitive: &Primitive) -> Option<Bounds> {
        let per_triangle = primitive.influences_per_vertex as usize;
        // The most that can be saved is one byte per index, of those that the GPU stores.
        let most = primitive.joint_bytes(1);
        let parts = 1 + most / Self::part_bytes(primitive);
        (primitive.indices.len().saturating_mul(per_triangle) <= MAX_CORNERS).then_some(Bounds {
            max_joints: ENTRIES,
            max_parts: parts as usize,
            max_listed: MAX_LISTED,
            is_optional: true,
        })
    }

    fn accepts(&self, primitive: &Primitive, offer: Offer) -> bool {
        let count = primitive.vertex_count() as u64;
        let narrow = primitive.stream_bytes() - primitive.joint_bytes(1);
        let repeated = (offer.vertices as u64).saturating_sub(count);
        let repeated = u128::from(narrow) * u128::from(repeated) / u128::from(count.max(1));
        // Once for the rest pose, and once for each instance.
        let palettes = u128::from(ENTRY_BYTES) * (u128::from(self.instances) + 1);
        let cost = repeated
            + palettes * offer.repeats as u128
            + u128::from(Self::part_bytes(primitive)) * (offer.parts as u128 - 1);
        u128::from(primitive.joint_bytes(1)) > cost
    }
}
