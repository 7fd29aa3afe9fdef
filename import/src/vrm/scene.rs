//! The data that the readers of both versions work on.

use throng::error::{AssetFault, Object, ObjectKind};
use throng::import::{RawCharacter, Repair, RepairKind};
use throng::spring::{SpringChain, SpringCollider};

/// The character that is filled in, and what the file says about nodes.
pub(crate) struct VrmScene<'a> {
    pub(crate) raw: &'a mut RawCharacter,
    pub(crate) repairs: &'a mut Vec<Repair>,
    /// The children of a node, in the file's order.
    pub(crate) children: &'a dyn Fn(usize) -> &'a [u64],
    /// The mesh of a node.
    pub(crate) mesh: &'a dyn Fn(usize) -> Option<u64>,
}

impl VrmScene<'_> {
    /// Lists a part that does not follow the rules.
    pub(super) fn unusable(&mut self, part: String, why: AssetFault) {
        self.note(part, RepairKind::Unusable(why.into()), 1);
    }

    /// Lists parts that are not supported.
    pub(super) fn left_out(&mut self, part: String, count: usize) {
        self.note(part, RepairKind::LeftOut, count as u64);
    }

    /// Adds a chain that stands in this part of the file.
    pub(super) fn add_chain(&mut self, part: String, chain: SpringChain<usize>) {
        self.raw.springs.chains.push(chain);
        self.raw.spring_chain_parts.push(part.into());
    }

    /// Adds a collider that stands in this part of the file.
    pub(super) fn add_collider(&mut self, part: String, collider: SpringCollider<usize>) {
        self.raw.springs.colliders.push(collider);
        self.raw.spring_collider_parts.push(part.into());
    }

    fn note(&mut self, part: String, kind: RepairKind, count: u64) {
        let object = Object {
            kind: ObjectKind::File,
            index: None,
            part: part.into(),
        };
        Repair::note(self.repairs, &object, kind, count);
    }
}
