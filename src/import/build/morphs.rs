//! Morph targets and weights: checked, welded with their vertices, numbered over the character.

use super::dangling;
use super::primitive::fault_at;
use crate::character::{MorphReach, MorphTarget, MorphWeight, Primitive};
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::{RawCharacter, RawMorph, RawPrimitive, fault};
use glam::Vec3;
use std::collections::HashMap;

/// The weights that drive what is drawn, and where each node's are.
#[derive(Debug)]
pub(super) struct Morphs {
    weights: Vec<MorphWeight>,
    /// Of each raw morph: its number of weights, and the first of them where it drives something.
    places: Vec<(usize, Option<u32>)>,
    of_node: HashMap<usize, usize>,
}

/// Where a channel's weights are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Driven {
    pub(super) count: usize,
    /// The character's first weight of them, where they drive something.
    pub(super) first: Option<u32>,
}

impl Morphs {
    pub(super) fn new(raw: &RawCharacter) -> Result<Self> {
        let mut drawn = vec![false; raw.morphs.len()];
        for primitive in &raw.primitives {
            check_reference(primitive, &raw.morphs)?;
            if let Some(drawn) = primitive.morph.and_then(|morph| drawn.get_mut(morph)) {
                *drawn |= !primitive.indices.is_empty();
            }
        }
        let mut all = Self {
            weights: Vec::new(),
            places: Vec::with_capacity(raw.morphs.len()),
            of_node: HashMap::new(),
        };
        for (index, morph) in raw.morphs.iter().enumerate() {
            check(morph, raw.nodes.len())?;
            if all.of_node.insert(morph.node, index).is_some() {
                let why = AssetFault::Invalid("has morph weights twice");
                return Err(fault(ObjectKind::Node, morph.node, "weights", why));
            }
            let first = drawn[index].then(|| all.take(morph)).transpose()?;
            all.places.push((morph.weights.len(), first));
        }
        Ok(all)
    }

    fn take(&mut self, morph: &RawMorph) -> Result<u32> {
        let first = self.weights.len();
        let asked = first as u64 + morph.weights.len() as u64;
        let (Ok(first), Ok(_)) = (u32::try_from(first), u32::try_from(asked)) else {
            let (what, cap) = ("morph weights", u64::from(u32::MAX));
            let why = AssetFault::Cap { what, asked, cap };
            return Err(fault(ObjectKind::Node, morph.node, "weights", why));
        };
        let names = morph.names.iter().cloned();
        let names = names.chain(std::iter::repeat(Box::default()));
        self.weights.extend(
            morph
                .weights
                .iter()
                .zip(names)
                .map(|(rest, name)| MorphWeight {
                    name,
                    owner: morph.owner.clone(),
                    rest: *rest,
                }),
        );
        Ok(first)
    }

    /// The weights of a node that has some.
    pub(super) fn of_node(&self, node: usize) -> Option<Driven> {
        let (count, first) = *self.places.get(*self.of_node.get(&node)?)?;
        Some(Driven { count, first })
    }

    /// The weight that drives the first target of a primitive.
    pub(super) fn first_weight(&self, raw: &RawPrimitive) -> u32 {
        let place = raw.morph.and_then(|morph| self.places.get(morph));
        place.and_then(|(_, first)| *first).unwrap_or(0)
    }

    /// How many weights there are.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// All of them.
    pub(super) fn into_weights(self) -> Vec<MorphWeight> {
        self.weights
    }
}

fn check(morph: &RawMorph, nodes: usize) -> Result<()> {
    let at = |part: &str, why| Err(fault(ObjectKind::Node, morph.node, part, why));
    if morph.node >= nodes {
        return at("weights", dangling("node", morph.node, nodes));
    }
    if let Some(index) = morph.weights.iter().position(|w| !w.is_finite()) {
        let why = AssetFault::Value {
            what: "weight",
            index: index as u64,
            value: morph.weights[index].into(),
        };
        return at("weights", why);
    }
    let (got, need) = (morph.names.len() as u64, morph.weights.len() as u64);
    if got > need {
        let what = "the list of morph targets' names";
        return at("weights", AssetFault::Count { what, got, need });
    }
    Ok(())
}

/// A primitive with targets has a morph, with as many weights.
fn check_reference(raw: &RawPrimitive, morphs: &[RawMorph]) -> Result<()> {
    let need = match raw.morph {
        None => 0,
        Some(morph) => match morphs.get(morph) {
            Some(morph) => morph.weights.len(),
            None => {
                let why = dangling("morph", morph, morphs.len());
                return Err(fault_at(raw, "morph", why));
            }
        },
    };
    if raw.targets.len() == need {
        return Ok(());
    }
    let why = AssetFault::Count {
        what: "the list of morph targets (one for each weight)",
        got: raw.targets.len() as u64,
        need: need as u64,
    };
    Err(fault_at(raw, "targets", why))
}

/// Lists as long as they must be, vertices that there are, ascending, and finite deltas.
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
                let why = AssetFault::Count {
                    what: "the list of deltas",
                    got: list.len() as u64,
                    need: need as u64,
                };
                return at(part, why);
            }
            if let Some(slot) = list.iter().position(|delta| !delta.is_finite()) {
                let broken = list[slot].to_array().into_iter().find(|v| !v.is_finite());
                let why = AssetFault::Value {
                    what: "vertex",
                    index: target.vertices[slot].into(),
                    value: broken.unwrap_or(f32::NAN).into(),
                };
                return at(part, why);
            }
        }
        if !target.vertices.is_sorted_by(|a, b| a < b) {
            let why = AssetFault::Invalid("the vertices do not ascend");
            return at("", why);
        }
        let count = raw.positions.len();
        if let Some(last) = target.vertices.last().filter(|v| **v as usize >= count) {
            return at("", dangling("vertex", *last as usize, count));
        }
    }
    Ok(())
}

/// The streams that the targets of a primitive can add to, beside positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    pub(super) normals: bool,
    pub(super) tangents: bool,
}

impl Streams {
    /// What a target adds to the vertex in one of its slots; `None` for nothing.
    fn delta(self, target: &MorphTarget, slot: usize) -> Option<[Vec3; 3]> {
        let of = |list: &[Vec3]| list.get(slot).copied().unwrap_or(Vec3::ZERO);
        let delta = [
            of(&target.positions),
            of(if self.normals { &target.normals } else { &[] }),
            of(if self.tangents { &target.tangents } else { &[] }),
        ];
        (delta != [Vec3::ZERO; 3]).then_some(delta)
    }
}

/// A number for every vertex, the same for two of them only if all targets add the same to both.
/// Empty without targets.
pub(super) fn classes(raw: &RawPrimitive, streams: Streams) -> Vec<u64> {
    if raw.targets.is_empty() {
        return Vec::new();
    }
    let mut classes = vec![0_u64; raw.positions.len()];
    let mut next = 1;
    let mut parts = HashMap::new();
    // Each target parts the classes that there were before it; vertices that it leaves alone stay.
    for target in &raw.targets {
        parts.clear();
        for (slot, vertex) in target.vertices.iter().enumerate() {
            if let Some(delta) = streams.delta(target, slot) {
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

/// The targets over the vertices that stay, which are `kept`, ascending, out of `count`.
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
        let mut out = MorphTarget::default();
        for (slot, vertex) in target.vertices.iter().enumerate() {
            let number = number_of[*vertex as usize];
            let delta = streams.delta(target, slot).filter(|_| number != u32::MAX);
            if let Some([position, normal, tangent]) = delta {
                out.vertices.push(number);
                out.positions.push(position);
                out.normals.push(normal);
                out.tangents.push(tangent);
            }
        }
        for list in [&mut out.normals, &mut out.tangents] {
            if list.iter().all(|delta| *delta == Vec3::ZERO) {
                list.clear();
            }
            list.shrink_to_fit();
        }
        out.positions.shrink_to_fit();
        out.vertices.shrink_to_fit();
        out
    };
    targets.iter().map(welded).collect()
}

/// How far each weight moves what each palette entry influences, sorted by entry and weight.
pub(super) fn reaches(primitives: &[Primitive]) -> Vec<MorphReach> {
    let mut all: Vec<MorphReach> = Vec::new();
    for primitive in primitives {
        let start = primitive.palette.start;
        let mut reach = vec![Vec3::ZERO; primitive.palette.len()];
        let mut touched = Vec::new();
        for (number, target) in primitive.targets.iter().enumerate() {
            for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
                if *delta == Vec3::ZERO {
                    continue;
                }
                for (joint, weight) in primitive.influences.of(*vertex as usize) {
                    if weight > 0.0 {
                        if reach[joint] == Vec3::ZERO {
                            touched.push(joint);
                        }
                        reach[joint] = reach[joint].max(delta.abs());
                    }
                }
            }
            all.extend(touched.drain(..).map(|joint| MorphReach {
                entry: start + joint as u32,
                weight: primitive.first_weight + number as u32,
                reach: std::mem::take(&mut reach[joint]),
            }));
        }
    }
    all.sort_unstable_by_key(|reach| (reach.entry, reach.weight));
    all.dedup_by(|next, kept| {
        let same = (next.entry, next.weight) == (kept.entry, kept.weight);
        if same {
            kept.reach = kept.reach.max(next.reach);
        }
        same
    });
    all.shrink_to_fit();
    all
}
