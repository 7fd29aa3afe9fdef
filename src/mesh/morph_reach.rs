//! The distances by which morph weights move vertices.

use super::primitive::Primitive;
use crate::order;
use glam::Vec3;

/// The distance by which a morph weight moves the vertices of a palette entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MorphReach {
    /// Index into [`Character::palette`].
    pub(crate) entry: u32,
    /// Index into [`Character::morph_weights`].
    pub(crate) weight: u32,
    /// Metres along each axis of mesh (bind) space, per unit of the weight.
    pub(crate) reach: Vec3,
}

/// The distance by which each weight moves the vertices of each palette entry, sorted by entry and
/// weight.
pub(crate) fn morph_reaches(primitives: &[Primitive]) -> Vec<MorphReach> {
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
                for (joint, weight) in primitive.influences(*vertex as usize) {
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
                weight: u32::from(primitive.first_weight.0) + number as u32,
                reach: std::mem::take(&mut reach[joint]),
            }));
        }
    }
    order::sort_by_key(&mut all, |reach| (reach.entry, reach.weight));
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
