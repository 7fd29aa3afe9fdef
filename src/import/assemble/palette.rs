//! The palette: the distinct (joint, inverse bind) pairs that vertices use.

use super::fault::joint_or_missing;
use super::skeleton;
use crate::error::{AssetFault, Object, ObjectKind, Result};
use crate::id::Id;
use crate::import::fault::{fault, wrong_count};
use crate::import::repair::{Repair, RepairKind};
use crate::import::{RawCharacter, RawPrimitive};
use crate::mesh::{Aabb, PaletteJoint, Primitive, bound_entries, flipped_vertices, linear};
use crate::order;
use glam::{Affine3A, DMat3};
use std::cmp::Ordering;
use std::collections::HashMap;

/// All pairs that may end up in the palette, numbered in the order in which they are found.
#[derive(Debug)]
pub(super) struct Entries {
    list: Vec<Entry>,
    numbers: HashMap<(u16, [u32; 12]), u32>,
    of_skin: Vec<Vec<u32>>,
}

#[derive(Debug)]
struct Entry {
    joint: u16,
    inverse_bind: Affine3A,
    used: bool,
}

impl Entries {
    /// The pairs of the skins that primitives use.
    pub(super) fn new(
        raw: &RawCharacter,
        joint_of: &[Option<u16>],
        repairs: &mut Vec<Repair>,
    ) -> Result<Self> {
        let mut all = Self {
            list: Vec::new(),
            numbers: HashMap::new(),
            of_skin: vec![Vec::new(); raw.skins.len()],
        };
        let used = RawPrimitive::used_skins(&raw.primitives, raw.skins.len());
        for (index, skin) in raw.skins.iter().enumerate().filter(|(i, _)| used[*i]) {
            let (got, need) = (skin.inverse_bind.len(), skin.joints.len());
            if got != 0 && got < need {
                let why = wrong_count("the list of inverse bind matrices", got, need);
                return Err(fault(ObjectKind::Skin, index, "inverseBindMatrices", why));
            }
            // Numbered by joint, so the order of the skin does not matter.
            let mut order = Vec::with_capacity(need);
            for (at, node) in skin.joints.iter().enumerate() {
                let joint = joint_or_missing(joint_of.get(*node).copied().flatten())?;
                order.push((joint, at));
            }
            order::sort(&mut order);
            let mut numbers = vec![0; need];
            let mut repaired = 0;
            for (joint, at) in order {
                let inverse_bind = match skin.inverse_bind.get(at) {
                    None => Affine3A::IDENTITY,
                    Some(matrix) => {
                        repaired += u64::from(!skeleton::is_affine(matrix));
                        skeleton::affine_part(matrix).map_err(|why| {
                            let part = format!("inverseBindMatrices[{at}]");
                            fault(ObjectKind::Skin, index, part, AssetFault::Invalid(why))
                        })?
                    }
                };
                numbers[at] = all.number(joint, inverse_bind);
            }
            let at = Object::new(ObjectKind::Skin, index, "inverseBindMatrices");
            Repair::note(repairs, &at, RepairKind::InverseBindLastRow, repaired);
            all.of_skin[index] = numbers;
        }
        Ok(all)
    }

    /// The numbers of a skin's joints, in the skin's order.
    pub(super) fn of_skin(&self, skin: usize) -> &[u32] {
        self.of_skin.get(skin).map_or(&[], Vec::as_slice)
    }

    /// The order of two pairs in the palette.
    pub(super) fn order(&self, a: u32, b: u32) -> Ordering {
        let key = |number: u32| (self.list[number as usize].joint, number);
        key(a).cmp(&key(b))
    }

    /// All pairs, ordered by number.
    pub(super) fn pairs(&self) -> Vec<(u16, Affine3A)> {
        let pair = |entry: &Entry| (entry.joint, entry.inverse_bind);
        self.list.iter().map(pair).collect()
    }

    /// The number of a pair. A new pair gets the next number.
    pub(super) fn number(&mut self, joint: u16, inverse_bind: Affine3A) -> u32 {
        // Adding 0 makes −0 and 0 the same.
        let columns = inverse_bind.to_cols_array().map(|value| value + 0.0);
        let next = self.list.len() as u32;
        let number = *self
            .numbers
            .entry((joint, columns.map(f32::to_bits)))
            .or_insert(next);
        if number == next {
            self.list.push(Entry {
                joint,
                inverse_bind: Affine3A::from_cols_array(&columns),
                used: false,
            });
        }
        number
    }

    /// Records that a vertex uses the pair with this number.
    pub(super) fn mark(&mut self, number: u32) {
        self.list[number as usize].used = true;
    }

    /// The used pairs, sorted by joint, so that the entries of a primitive are close together.
    pub(super) fn finish(self, rest: &[Affine3A]) -> Result<Palette> {
        let mut order: Vec<usize> = (0..self.list.len())
            .filter(|at| self.list[*at].used)
            .collect();
        order::sort_by_key(&mut order, |at| self.list[*at].joint);
        let mut position = vec![0; self.list.len()];
        let mut joints = Vec::with_capacity(order.len());
        let mut linears = Vec::with_capacity(order.len());
        for (new, old) in order.into_iter().enumerate() {
            let entry = &self.list[old];
            position[old] = new as u32;
            let at_rest = linear(&rest[usize::from(entry.joint)]) * linear(&entry.inverse_bind);
            linears.push(at_rest);
            joints.push(PaletteJoint {
                joint: Id::new(entry.joint),
                inverse_bind: entry.inverse_bind,
                flipped: at_rest.determinant() < 0.0,
                may_flip: false,
                bounds: Aabb::EMPTY,
            });
        }
        Ok(Palette {
            joints,
            position,
            linear: linears,
        })
    }
}

/// The palette in its final order.
#[derive(Debug)]
pub(super) struct Palette {
    joints: Vec<PaletteJoint>,
    position: Vec<u32>,
    /// The linear part of each skinning matrix at rest.
    linear: Vec<DMat3>,
}

impl Palette {
    pub(super) fn position(&self, number: u32) -> u32 {
        self.position[number as usize]
    }

    /// For each vertex, true if the rest pose flips it: its blended matrix has a negative
    /// determinant. `positions` and `weights` hold `per_vertex` influences per vertex.
    pub(super) fn flipped_vertices(
        &self,
        positions: &[u32],
        weights: &[u16],
        per_vertex: usize,
    ) -> Vec<bool> {
        let entries = positions.iter().map(|position| *position as usize);
        flipped_vertices(
            &self.linear,
            entries.zip(weights.iter().copied()),
            per_vertex,
        )
    }

    /// The entries, each with the bounds of the vertices that it moves.
    pub(super) fn into_joints(mut self, primitives: &[Primitive]) -> Vec<PaletteJoint> {
        bound_entries(&mut self.joints, primitives);
        self.joints
    }
}
