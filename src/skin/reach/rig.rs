//! The lengths of a character.

use crate::character::Character;
use crate::mesh::{Aabb, HubReach, MorphReach, linear};
use crate::palette::DISPLACEMENT;
use crate::skeleton::Transform;
use glam::{DMat3, DVec3, Vec3};

/// The largest relative error of one rounding.
pub(crate) const UNIT: f64 = 1.0 / 16_777_216.0;

/// A character's lengths at rest, and what its palette entries reach.
#[derive(Debug, Clone)]
pub(crate) struct ReachRig {
    pub(super) joints: Box<[Bone]>,
    pub(super) entries: Box<[Entry]>,
    /// Sorted by entry.
    pub(super) morphs: Box<[MorphReach]>,
    /// For each morph weight, its size at rest, and the largest distance that it moves a vertex.
    pub(super) weights: Box<[[f64; 2]]>,
    /// For dual quaternions. Sorted by hub.
    pub(super) hubs: Box<[HubReach]>,
    /// The allowed error of palette formats other than matrices, in metres.
    pub(super) format_m: f64,
    /// The margin for rounding, relative to the largest sum of lengths.
    ///
    /// Each level of the hierarchy rounds a product of matrices, whose rotations are normalised:
    /// at most 16 roundings of each coordinate. Interpolation and blending of the clips, palettes
    /// and skinning are covered by 128.
    pub(super) rounding: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bone {
    pub(super) parent: u16,
    pub(super) rest: Transform,
}

/// A palette entry: the box of its vertices, and the matrix to its joint's space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) joint: u16,
    pub(super) bounds: Aabb,
    pub(super) bind: DMat3,
    pub(super) offset: DVec3,
}

impl ReachRig {
    pub(crate) fn new(character: &Character) -> Self {
        let model = character.model();
        let joints = model.skeleton.joints();
        let mut depths: Vec<u32> = Vec::with_capacity(joints.len());
        for joint in joints {
            let above = depths.get(usize::from(joint.parent_index()));
            depths.push(above.map_or(1, |above| above + 1));
        }
        let depth = depths.into_iter().max().unwrap_or(0);
        let entries = model.palette.iter().map(|entry| Entry {
            joint: entry.joint.0,
            bounds: entry.bounds,
            bind: linear(&entry.inverse_bind),
            offset: Vec3::from(entry.inverse_bind.translation).as_dvec3(),
        });
        let rest = model.morph_weights.iter();
        let mut weights: Box<[[f64; 2]]> =
            rest.map(|weight| [weight.rest.abs().into(), 0.0]).collect();
        for own in &model.morph_reaches {
            if let Some([_, most]) = weights.get_mut(own.weight as usize) {
                *most = most.max(own.reach.as_dvec3().length());
            }
        }
        let size = model.rest_bounds.size().max_element();
        Self {
            joints: joints
                .iter()
                .map(|joint| Bone {
                    parent: joint.parent_index(),
                    rest: joint.rest,
                })
                .collect(),
            entries: entries.collect(),
            morphs: model.morph_reaches.clone().into(),
            weights,
            hubs: model.hub_reaches.clone().into(),
            format_m: f64::from(DISPLACEMENT) * f64::from(size),
            rounding: UNIT * (128.0 + 16.0 * f64::from(depth)),
        }
    }

    /// The distance by which overridden weights and expressions move vertices beyond a sphere, per
    /// unit of [`Reach::morph_scale`].
    ///
    /// `weights` has the sizes that the weights may have at most because of them, with their
    /// indices.
    pub(crate) fn morphed_m(&self, weights: impl Iterator<Item = (usize, f64)>) -> f64 {
        let more = weights.filter_map(|(weight, size)| {
            let [_, most] = self.weights.get(weight)?;
            Some(size * most)
        });
        more.sum()
    }

    /// The size of a morph weight at rest.
    pub(crate) fn rest_weight(&self, weight: usize) -> f64 {
        self.weights.get(weight).map_or(0.0, |[rest, _]| *rest)
    }
}
