//! The distances by which morph weights and dual quaternions move vertices.

use super::palette_joint::PaletteJoint;
use super::primitive::Primitive;
use crate::order;
use crate::skeleton::{NO_PARENT, Skeleton};
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

/// The vertices that several palette entries move together: what one of them may do to them.
///
/// Dual quaternions do not blend vertices into the convex hull of their images under the entries.
/// Let `tᵢ` be the image of a vertex under entry `i`, which is a rotation `rᵢ` and a translation,
/// `wᵢ` its weight, and `c` any point. The blended dual quaternion has the real part
/// `r̄ = Σ ±wᵢ rᵢ`. Blending does not depend on the origins of the two spaces. With the vertex and
/// `c` as origins, the dual part is `½ Σ ±wᵢ (tᵢ − c) rᵢ`, and so the blended vertex is
/// `c + Σ ±wᵢ (tᵢ − c) rᵢ r̄* / |r̄|²`, of which only the vector part counts. Its distance from
/// `c` is at most `Σ wᵢ |tᵢ − c| / |r̄|`.
///
/// Signs are chosen so that no `rᵢ` has a negative dot product with that of the strongest entry, so
/// `|r̄|² ≥ w₁² + max(0, w₂ − w₃ − w₄ − …)²`, with descending weights: the other rotations may be
/// perpendicular to the first, and cancel each other. `c` is the joint at which the chains of the
/// entries meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HubReach {
    /// The joint nearest to the entries' joints that is none of them or above all others, or
    /// [`NO_PARENT`] for the origin.
    pub(crate) hub: u16,
    /// Index into the palette.
    pub(crate) entry: u32,
    /// The largest `1 / |r̄|`.
    pub(crate) factor: f32,
    /// The largest distance of a vertex from the entry's joint at bind time, in the joint's space,
    /// times its factor.
    pub(crate) distance: f32,
}

/// The number of elements that are collected before they are merged.
const FEW: usize = 4096;

/// The vertices of all primitives, by hub and entry.
pub(crate) fn hub_reaches(
    skeleton: &Skeleton,
    palette: &[PaletteJoint],
    primitives: &[Primitive],
) -> Vec<HubReach> {
    let mut all: Vec<HubReach> = Vec::new();
    let mut own: Vec<(u32, f32)> = Vec::new();
    let mut limit = FEW;
    for primitive in primitives {
        let start = primitive.palette.start;
        for (vertex, position) in primitive.positions.iter().enumerate() {
            own.clear();
            let influences = primitive.influences(vertex);
            let influences = influences.filter(|(_, weight)| *weight > 0.0);
            own.extend(influences.map(|(joint, weight)| (start + joint as u32, weight)));
            if own.len() < 2 {
                continue;
            }
            let entries = own.iter().filter_map(|(at, _)| palette.get(*at as usize));
            let joints = entries.map(|entry| entry.joint.0);
            let hub = joints.reduce(|a, b| meeting(skeleton, a, b));
            let hub = hub.unwrap_or(NO_PARENT);
            let factor = factor(&mut own);
            for (at, _) in &own {
                let Some(entry) = palette.get(*at as usize) else {
                    continue;
                };
                let distance = entry.inverse_bind.transform_point3(*position).length();
                all.push(HubReach {
                    hub,
                    entry: *at,
                    factor,
                    distance: factor * distance,
                });
            }
            if all.len() >= limit {
                merge(&mut all);
                limit = 2 * all.len() + FEW;
            }
        }
    }
    merge(&mut all);
    all.shrink_to_fit();
    all
}

/// Merges what has the same hub and entry.
fn merge(all: &mut Vec<HubReach>) {
    order::sort_by_key(all, |reach| (reach.hub, reach.entry));
    all.dedup_by(|next, kept| {
        let same = (next.hub, next.entry) == (kept.hub, kept.entry);
        if same {
            kept.factor = kept.factor.max(next.factor);
            kept.distance = kept.distance.max(next.distance);
        }
        same
    });
}

/// The nearest joint that is above both or one of them. Parents have smaller indices.
fn meeting(skeleton: &Skeleton, mut a: u16, mut b: u16) -> u16 {
    let parent = |joint: u16| {
        let joint = skeleton.joints().get(usize::from(joint));
        joint.map_or(NO_PARENT, |joint| joint.parent_index())
    };
    while a != b {
        if a == NO_PARENT || b == NO_PARENT {
            return NO_PARENT;
        }
        if a > b {
            a = parent(a);
        } else {
            b = parent(b);
        }
    }
    a
}

/// The largest `1 / |r̄|` of a vertex with these entries and weights.
fn factor(own: &mut [(u32, f32)]) -> f32 {
    own.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut weights = own.iter().map(|(_, weight)| *weight);
    let (first, second) = (weights.next().unwrap_or(1.0), weights.next().unwrap_or(0.0));
    let beside = (second - weights.sum::<f32>()).max(0.0);
    1.0 / first.hypot(beside)
}
