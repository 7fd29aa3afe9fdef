//! Bounds on the numbers in all poses of a character.

use super::asset::Character;
use crate::clip::Property;
use crate::error::{Error, Result};
use crate::mesh::{PaletteJoint, Primitive};
use crate::skeleton::NO_PARENT;
use glam::Vec3;

/// The largest translation and scale of a joint relative to its parent.
#[derive(Debug, Clone, Copy)]
struct Local {
    translation: f64,
    scale: f64,
}

/// The largest scale and distance that a transform can produce.
#[derive(Debug, Clone, Copy)]
struct Reach {
    scale: f64,
    distance: f64,
}

impl Reach {
    fn largest(&self) -> f64 {
        self.scale.max(self.distance)
    }
}

impl Character {
    /// The largest coordinate, in metres, and the largest scale in any pose.
    ///
    /// A character is refused if its rest pose and its clips can exceed it, alone or blended, in
    /// its joints, its palette or its vertices. The squares of distances are then far below the
    /// largest 32-bit number. Functions that take transforms, positions, poses or morph weights
    /// refuse larger numbers.
    ///
    /// Many layers of additive clips that enlarge the same joint multiply their scales. These
    /// products are not bounded.
    pub const MAX_EXTENT: f32 = crate::error::MAX_EXTENT;

    /// Checks that no pose exceeds [`Self::MAX_EXTENT`].
    ///
    /// Translations and scales are bounded by those of the rest pose and of all clips, which also
    /// bounds all blends of them. Rotations do not change lengths.
    pub(crate) fn check_extent(&self) -> Result<()> {
        let joints = self.joint_reaches()?;
        let entry = |entry: &PaletteJoint| {
            let joint = joints[usize::from(entry.joint)];
            let bind = &entry.inverse_bind;
            // The Frobenius norm: no vector grows by more.
            let linear = bind.matrix3.to_cols_array().map(f64::from);
            let linear = linear.iter().map(|v| v * v).sum::<f64>().sqrt();
            let offset = Vec3::from(bind.translation).as_dvec3().length();
            Reach {
                scale: joint.scale * linear,
                distance: joint.scale * offset + joint.distance,
            }
        };
        let entries: Vec<Reach> = self.palette().iter().map(entry).collect();
        for (index, entry) in self.palette().iter().enumerate() {
            let numbers = entry.inverse_bind.to_cols_array();
            let largest = numbers.into_iter().map(f32::abs).fold(0.0, f32::max);
            check("inverse bind matrix", index, largest.into())?;
        }
        for (index, entry) in entries.iter().enumerate() {
            check("palette entry", index, entry.largest())?;
        }
        let weights = self.weight_bounds();
        for (index, primitive) in self.primitives().iter().enumerate() {
            let distance = vertex_distance(primitive, &weights);
            let range = self.palette_range(primitive);
            let far = |far: f64, entry: &Reach| far.max(entry.scale * distance + entry.distance);
            check("primitive", index, entries[range].iter().fold(0.0, far))?;
        }
        Ok(())
    }

    /// Bounds the model transform of each joint.
    fn joint_reaches(&self) -> Result<Vec<Reach>> {
        let mut reaches: Vec<Reach> = Vec::with_capacity(self.skeleton().len());
        for (index, local) in self.locals().iter().enumerate() {
            let parent = match self.skeleton().joints()[index].parent_index() {
                NO_PARENT => Reach {
                    scale: 1.0,
                    distance: 0.0,
                },
                parent => reaches[usize::from(parent)],
            };
            let reach = Reach {
                scale: parent.scale * local.scale,
                distance: parent.scale * local.translation + parent.distance,
            };
            check("joint", index, reach.largest())?;
            reaches.push(reach);
        }
        Ok(reaches)
    }

    /// Bounds the local transform of each joint, over the rest pose and all clips.
    fn locals(&self) -> Vec<Local> {
        let rest = self.skeleton().joints().iter().map(|joint| Local {
            translation: joint.rest.translation.as_dvec3().length(),
            scale: joint.rest.scale.abs().max_element().into(),
        });
        let mut plain: Vec<Local> = rest.collect();
        let none = Local {
            translation: 0.0,
            scale: 1.0,
        };
        let mut added = vec![none; plain.len()];
        let additive = |clip: usize| {
            self.animations
                .clips
                .get(clip)
                .is_some_and(|of| of.additive)
        };
        let mut widen = |is_additive: bool, joint: usize, property, hull: crate::clip::Hull| {
            let list = if is_additive { &mut added } else { &mut plain };
            let Some(local) = list.get_mut(joint) else {
                return;
            };
            match property {
                Property::Translation => local.translation = local.translation.max(hull.length()),
                Property::Scale => local.scale = local.scale.max(hull.component()),
                Property::Rotation => {}
            }
        };
        for clip in self.clips() {
            for joint in 0..clip.joints() {
                for property in [Property::Translation, Property::Scale] {
                    let hull = clip.hull(joint, property);
                    widen(clip.is_additive(), joint, property, hull);
                }
            }
        }
        for (index, curve) in self.curves().iter().enumerate() {
            curve.hulls(|joint, property, hull| widen(additive(index), joint, property, hull));
        }
        for (local, added) in plain.iter_mut().zip(&added) {
            local.translation += added.translation;
            local.scale *= added.scale;
        }
        plain
    }

    /// Bounds each morph weight, over the rest pose, all clips and one use of each expression.
    fn weight_bounds(&self) -> Vec<f64> {
        let rest = self.morph_weights().iter();
        let mut bounds: Vec<f64> = rest.map(|weight| f64::from(weight.rest).abs()).collect();
        let mut widen = |weight: usize, bound: f64| {
            if let Some(own) = bounds.get_mut(weight) {
                *own = own.max(bound);
            }
        };
        for clip in self.clips() {
            clip.weight_bounds(&mut widen);
        }
        for curve in self.curves() {
            curve.weight_bounds(&mut widen);
        }
        for (weight, part) in self.expressions().iter().flat_map(|of| &of.morphs) {
            if let Some(own) = bounds.get_mut(weight.index()) {
                *own += f64::from(*part).abs();
            }
        }
        bounds
    }
}

/// The largest distance of a vertex from the origin of mesh space, with all morph targets.
fn vertex_distance(primitive: &Primitive, weights: &[f64]) -> f64 {
    let longest = |list: &[Vec3]| {
        let most = list.iter().fold(Vec3::ZERO, |most, v| most.max(v.abs()));
        most.as_dvec3().length()
    };
    let targets = (primitive.first_weight.index()..).zip(&primitive.targets);
    let targets = targets.map(|(weight, target)| {
        let weight = weights.get(weight).copied().unwrap_or(0.0);
        weight * longest(&target.positions)
    });
    longest(&primitive.positions) + targets.sum::<f64>()
}

/// Checks a bound. NaN, which arises from 0 times infinity, is too large.
fn check(what: &'static str, index: usize, bound: f64) -> Result<()> {
    let most = f64::from(Character::MAX_EXTENT);
    if bound <= most {
        return Ok(());
    }
    let why = Error::out_of_range("largest coordinate or scale of all poses", bound, 0.0, most);
    Err(why.at(what, index))
}
