//! Blending of dual quaternions, with an optional stretch applied first.

use super::linear::unit_or;
use super::vertices::{Blend, Deform, each};
use crate::error::Result;
use crate::palette::{DualQuat, DualQuatStretch, rotate, translation};
use glam::{Vec3, Vec4};

/// A blended dual quaternion with a real part of unit length, and the stretch applied before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Motion {
    pub(crate) real: Vec4,
    pub(crate) dual: Vec4,
    pub(crate) stretch: Vec3,
}

impl Motion {
    fn rigid(entry: &DualQuat) -> Self {
        Self {
            real: Vec4::from_array(entry.real),
            dual: Vec4::from_array(entry.dual),
            stretch: Vec3::ONE,
        }
    }

    fn with_stretch(entry: &DualQuatStretch) -> Self {
        Self {
            stretch: Vec4::from_array(entry.stretch).truncate(),
            ..Self::rigid(&entry.rigid)
        }
    }
}

/// A blend has no direction if the squared length of its real part is less than this.
pub(crate) const DEGENERATE: f32 = 1e-12;

/// Dual quaternion linear blending (Kavan et al. 2008, algorithm 1), in this order:
///
/// 1. The first influence, which is the strongest, is the base, `q₀`. An entry whose real part has
///    a negative dot product with the base's is negated, both real and dual part. `q` and `−q` are
///    the same transform, but only the nearer of the two blends on the shorter arc.
/// 2. `b = q₀ + Σ wᵢ (±qᵢ − q₀)` over the other influences, for real part, dual part and stretch
///    alike. This is exact if the entries are equal.
/// 3. Real and dual part are divided by the length of the real part. That length is at least the
///    base's weight, because no dot product is negative. It can vanish only if entries are not unit
///    quaternions. The base is then used unchanged, with the blended stretch.
///
/// A single influence is used unchanged.
fn blend(first: Motion, others: impl Iterator<Item = Result<(Motion, f32)>>) -> Result<Motion> {
    let mut sum = first;
    let mut alone = true;
    for other in others {
        let (entry, weight) = other?;
        let sign = if entry.real.dot(first.real) < 0.0 {
            -1.0
        } else {
            1.0
        };
        sum.real += weight * (sign * entry.real - first.real);
        sum.dual += weight * (sign * entry.dual - first.dual);
        sum.stretch += weight * (entry.stretch - first.stretch);
        alone = false;
    }
    if alone {
        return Ok(sum);
    }
    let squared = sum.real.length_squared();
    if squared > DEGENERATE {
        let length = squared.sqrt();
        sum.real /= length;
        sum.dual /= length;
    } else {
        (sum.real, sum.dual) = (first.real, first.dual);
    }
    Ok(sum)
}

impl Blend for DualQuat {
    type Blended = Motion;

    fn blend(entries: &[Self], influences: impl Iterator<Item = (usize, f32)>) -> Result<Motion> {
        let (first, others) = each(entries, influences)?;
        blend(
            Motion::rigid(first),
            others.map(|other| other.map(|(entry, w)| (Motion::rigid(entry), w))),
        )
    }
}

impl Blend for DualQuatStretch {
    type Blended = Motion;

    fn blend(entries: &[Self], influences: impl Iterator<Item = (usize, f32)>) -> Result<Motion> {
        let (first, others) = each(entries, influences)?;
        blend(
            Motion::with_stretch(first),
            others.map(|other| other.map(|(entry, w)| (Motion::with_stretch(entry), w))),
        )
    }
}

impl Deform for Motion {
    /// Stretches, rotates and moves: `p' = rotate(real, stretch p) + translation(real, dual)`.
    fn point(&self, point: Vec3) -> Vec3 {
        rotate(self.real, self.stretch * point) + translation(self.real, self.dual)
    }

    fn directions(&self, normal: Option<&mut Vec3>, tangent: Option<&mut Vec4>) {
        let shape = self.shape();
        if let Some(normal) = normal {
            *normal = self.normal(shape, *normal);
        }
        if let Some(tangent) = tangent {
            *tangent = self.tangent(shape, *tangent);
        }
    }
}

impl Motion {
    /// The stretch divided by its largest factor.
    fn shape(&self) -> Vec3 {
        let largest = self.stretch.abs().max_element();
        if largest > 0.0 {
            self.stretch / largest
        } else {
            self.stretch
        }
    }

    /// Multiplies by the stretch's cofactors `(yz, zx, xy)`, then rotates.
    fn normal(&self, Vec3 { x, y, z }: Vec3, normal: Vec3) -> Vec3 {
        let image = Vec3::new(y * z, z * x, x * y) * normal;
        unit_or(rotate(self.real, image), normal)
    }

    /// Stretches and rotates. The sign of the bitangent stays, because nothing is flipped.
    fn tangent(&self, shape: Vec3, tangent: Vec4) -> Vec4 {
        let direction = tangent.truncate();
        let image = rotate(self.real, shape * direction);
        unit_or(image, direction).extend(tangent.w)
    }
}
