//! Morph weights, checked and numbered for the whole character.

use super::fault::fault_at;
use crate::error::{AssetFault, Object, ObjectKind, Result};
use crate::id::Id;
use crate::import::fault::{check_cap, fault, wrong_count};
use crate::import::{RawCharacter, RawMorph, RawPrimitive};
use crate::mesh::MorphWeight;
use std::collections::HashMap;

/// The morph weights that drive something drawn, and those of each node.
#[derive(Debug)]
pub(super) struct Morphs {
    weights: Vec<MorphWeight>,
    /// By raw morph.
    driven: Vec<Driven>,
    of_node: HashMap<usize, usize>,
}

/// The weights of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Driven {
    pub(super) count: usize,
    /// The first of them in the character, if they drive something.
    pub(super) first: Option<Id<MorphWeight>>,
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
        Self::of(raw, &drawn)
    }

    /// The weights of all nodes, including those that drive nothing drawn.
    pub(super) fn every(raw: &RawCharacter) -> Result<Self> {
        Self::of(raw, &vec![true; raw.morphs.len()])
    }

    fn of(raw: &RawCharacter, drawn: &[bool]) -> Result<Self> {
        let mut all = Self {
            weights: Vec::new(),
            driven: Vec::with_capacity(raw.morphs.len()),
            of_node: HashMap::new(),
        };
        for (index, morph) in raw.morphs.iter().enumerate() {
            check(morph, raw.nodes.len())?;
            if all.of_node.insert(morph.node, index).is_some() {
                let why = AssetFault::Invalid("has two lists of morph weights");
                return Err(fault(ObjectKind::Node, morph.node, "weights", why));
            }
            let first = drawn[index].then(|| all.take(morph)).transpose()?;
            let count = morph.weights.len();
            all.driven.push(Driven { count, first });
        }
        Ok(all)
    }

    fn take(&mut self, morph: &RawMorph) -> Result<Id<MorphWeight>> {
        let first = self.weights.len();
        let asked = first as u64 + morph.weights.len() as u64;
        let at = || Object::new(ObjectKind::Node, morph.node, "weights");
        check_cap(at, "morph weights", asked, MorphWeight::MAX_COUNT as u64)?;
        let names = morph.names.iter().cloned();
        let names = names.chain(std::iter::repeat(Box::default()));
        let weights = morph.weights.iter().zip(names);
        self.weights.extend(weights.map(|(rest, name)| MorphWeight {
            name,
            owner: morph.owner.clone(),
            rest: *rest,
        }));
        // A list without weights may start past the last id. Nothing uses its first weight.
        Ok(Id::new(u16::try_from(first).unwrap_or_default()))
    }

    /// The weights of a node, if it has some.
    pub(super) fn of_node(&self, node: usize) -> Option<Driven> {
        self.driven.get(*self.of_node.get(&node)?).copied()
    }

    /// The weight that drives the first target of a primitive.
    pub(super) fn first_weight(&self, raw: &RawPrimitive) -> Id<MorphWeight> {
        let driven = raw.morph.and_then(|morph| self.driven.get(morph));
        driven.and_then(|driven| driven.first).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn into_weights(self) -> Vec<MorphWeight> {
        self.weights
    }
}

fn check(morph: &RawMorph, nodes: usize) -> Result<()> {
    let at = |part: &str, why| Err(fault(ObjectKind::Node, morph.node, part, why));
    if morph.node >= nodes {
        return at("weights", AssetFault::dangling("node", morph.node, nodes));
    }
    if let Some(index) = morph.weights.iter().position(|w| !w.is_finite()) {
        let value = morph.weights[index];
        return at(
            "weights",
            AssetFault::value("weight", index, value, "finite"),
        );
    }
    let (got, need) = (morph.names.len(), morph.weights.len());
    if got > need {
        return at(
            "weights",
            wrong_count("the list of morph targets' names", got, need),
        );
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
                let why = AssetFault::dangling("morph", morph, morphs.len());
                return Err(fault_at(raw, "morph", why));
            }
        },
    };
    if raw.targets.len() == need {
        return Ok(());
    }
    let what = "the list of morph targets (one for each weight)";
    let why = wrong_count(what, raw.targets.len(), need);
    Err(fault_at(raw, "targets", why))
}
