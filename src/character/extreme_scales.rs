//! Scales whose products overflow or vanish in `f32`, against which shaders need guards.

use super::Character;
use crate::clip::Hull;
use crate::mesh::{Primitive, linear};
use glam::{DMat3, DVec3};

/// Bounds of what a matrix makes of lengths.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    least: f64,
    greatest: f64,
}

impl Stretch {
    /// The lengths up to which products of several of them keep to the range of `f32`, also times
    /// the 16-bit numbers that encode normals.
    const SAFE: (f64, f64) = (1e-8, 1e6);

    /// That of scales in a hull.
    fn of_scales(hull: &Hull) -> Self {
        let (a, b) = (hull.least, hull.greatest);
        let greatest = a.abs().max(b.abs()).max_element();
        // A hull on both sides of zero contains zero.
        let crosses = (0..3).any(|axis| a[axis] <= 0.0 && b[axis] >= 0.0);
        let least = if crosses {
            0.0
        } else {
            a.abs().min(b.abs()).min_element()
        };
        Self { least, greatest }
    }

    /// That of a matrix, from its norm and its determinant.
    fn of_matrix(matrix: &DMat3) -> Self {
        let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
        let greatest = columns
            .map(DVec3::length_squared)
            .iter()
            .sum::<f64>()
            .sqrt();
        let least = matrix.determinant().abs() / (greatest * greatest).max(f64::MIN_POSITIVE);
        Self { least, greatest }
    }

    fn times(self, other: Self) -> Self {
        Self {
            least: self.least * other.least,
            greatest: self.greatest * other.greatest,
        }
    }

    fn is_safe(self) -> bool {
        self.least >= Self::SAFE.0 && self.greatest <= Self::SAFE.1
    }
}

impl Character {
    /// Returns true if products of the scales of joints that move a primitive could overflow or
    /// vanish, in the rest pose, a clip or a blend of clips. Poses of the caller are not
    /// considered.
    pub(crate) fn has_extreme_scales(&self, primitive: &Primitive) -> bool {
        let joints = self.skeleton().joints();
        let mut chain: Vec<Stretch> = Vec::with_capacity(joints.len());
        for (joint, range) in joints.iter().zip(&self.scales.joints) {
            let own = Stretch::of_scales(&range.hull);
            let parent = chain.get(usize::from(joint.parent_index()));
            chain.push(parent.map_or(own, |parent| parent.times(own)));
        }
        let range = primitive.palette.start as usize..primitive.palette.end as usize;
        let mut entries = self.palette().get(range).unwrap_or_default().iter();
        entries.any(|entry| {
            let bind = Stretch::of_matrix(&linear(&entry.inverse_bind));
            let joint = chain.get(usize::from(entry.joint));
            !joint.is_some_and(|joint| joint.times(bind).is_safe())
        })
    }
}
