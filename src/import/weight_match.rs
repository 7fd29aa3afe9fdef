//! Matching of the morph weights of two characters.

use crate::clip::{Keys, WeightTrack};
use crate::id::Id;
use crate::mesh::MorphWeight;
use std::collections::HashMap;
use std::hash::Hash;

/// For each weight of `from`, the matching one of `to`.
///
/// These match, in this order:
/// 1. Weights with the same owner and target name.
/// 2. If one side has no target names, weights with the same owner, if both sides have as many.
/// 3. Weights whose target name occurs only once on each side.
///
/// Weights that are equal in all of that are matched in order, if there are as many on both sides.
pub(super) fn match_weights(from: &[MorphWeight], to: &[MorphWeight]) -> Vec<Option<u32>> {
    let mut found = Found {
        of: vec![None; from.len()],
        taken: vec![false; to.len()],
        sides: [from, to],
    };
    found.pass(
        |w| Some((&w.owner, &w.name)),
        |[ours, theirs]| ours.len() == theirs.len(),
    );
    let unnamed = |side: &[u32], all: &[MorphWeight]| {
        side.iter()
            .all(|index| all[*index as usize].name.is_empty())
    };
    found.pass(
        |w| Some(&w.owner),
        |[ours, theirs]| ours.len() == theirs.len() && (unnamed(ours, from) || unnamed(theirs, to)),
    );
    found.pass(
        |w| (!w.name.is_empty()).then_some(&w.name),
        |[ours, theirs]| ours.len() == 1 && theirs.len() == 1,
    );
    found.of
}

struct Found<'a> {
    of: Vec<Option<u32>>,
    taken: Vec<bool>,
    sides: [&'a [MorphWeight]; 2],
}

impl<'a> Found<'a> {
    /// Groups the unmatched weights by a key, and matches groups that fit, in order.
    fn pass<K: Hash + Eq>(
        &mut self,
        key: impl Fn(&'a MorphWeight) -> Option<K>,
        fits: impl Fn([&[u32]; 2]) -> bool,
    ) {
        let mut groups: HashMap<K, [Vec<u32>; 2]> = HashMap::new();
        for (side, weights) in self.sides.into_iter().enumerate() {
            for (index, weight) in weights.iter().enumerate() {
                let is_open = match side {
                    0 => self.of[index].is_none(),
                    _ => !self.taken[index],
                };
                if let (true, Some(key)) = (is_open, key(weight)) {
                    groups.entry(key).or_default()[side].push(index as u32);
                }
            }
        }
        for [ours, theirs] in groups.into_values() {
            if fits([&ours, &theirs]) {
                for (ours, theirs) in ours.into_iter().zip(theirs) {
                    self.of[ours as usize] = Some(theirs);
                    self.taken[theirs as usize] = true;
                }
            }
        }
    }
}

/// The parts of a track whose weights are matched, on the weights they are matched with.
pub(super) fn matched_parts(track: &WeightTrack, of: &[Option<u32>]) -> Vec<WeightTrack> {
    let count = track.count as usize;
    let target = |at: usize| of.get(track.first_weight.index() + at).copied().flatten();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < count {
        let start = at;
        at += 1;
        let Some(first) = target(start) else {
            continue;
        };
        while at < count && target(at) == Some(first + (at - start) as u32) {
            at += 1;
        }
        let rows = track.keys.values.chunks_exact(count);
        parts.push(WeightTrack {
            first_weight: Id::new(first as u16),
            count: (at - start) as u32,
            keys: Keys {
                times_s: track.keys.times_s.clone(),
                values: rows.flat_map(|row| &row[start..at]).copied().collect(),
                interpolation: track.keys.interpolation,
            },
        });
    }
    parts
}
