//! Morph weights, checked and numbered for the whole character.

use super::fault::fault_at;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::fault::dangling;
use crate::import::fault::fault;
use crate::import::{RawCharacter, RawMorph, RawPrimitive};
use crate::mesh::MorphWeight;
use std::collections::HashMap;

/// The morph weights that drive something drawn, with their positions for each node.
#[derive(Debug)]
pub(super) struct Morphs {
    weights: Vec<MorphWeight>,
    /// For each raw morph, its number of weights, and the index of the first if it drives
    /// something.
    places: Vec<(usize, Option<u32>)>,
    of_node: HashMap<usize, usize>,
}

/// The position of a channel's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Driven {
    pub(super) count: usize,
    /// The index of the first of them in the character, if they drive something.
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
        Self::driven(raw, &drawn)
    }

    /// The weights of all nodes, including those that drive nothing drawn.
    pub(super) fn every(raw: &RawCharacter) -> Result<Self> {
        Self::driven(raw, &vec![true; raw.morphs.len()])
    }

    fn driven(raw: &RawCharacter, drawn: &[bool]) -> Result<Self> {
        let mut all = Self {
            weights: Vec::new(),
            places: Vec::with_capacity(raw.morphs.len()),
            of_node: HashMap::new(),
        };
        for (index, morph) in raw.morphs.iter().enumerate() {
            check(morph, raw.nodes.len())?;
            if all.of_node.insert(morph.node, index).is_some() {
                let why = AssetFault::Invalid("has two lists of morph weights");
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

    /// The weights of a node, if it has some.
    pub(super) fn of_node(&self, node: usize) -> Option<Driven> {
        let (count, first) = *self.places.get(*self.of_node.get(&node)?)?;
        Some(Driven { count, first })
    }

    /// The index of the weight that drives the first target of a primitive.
    pub(super) fn first_weight(&self, raw: &RawPrimitive) -> u32 {
        let place = raw.morph.and_then(|morph| self.places.get(morph));
        place.and_then(|(_, first)| *first).unwrap_or(0)
    }

    /// The number of weights.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// All weights.
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
            allowed: "finite",
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

/// Checks that a primitive with targets has a morph with as many weights.
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
