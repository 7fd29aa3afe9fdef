//! Blends instances with masks, layers or additive clips, with joints in the lanes.
//!
//! It follows the rule documented at [`ClipSample`](crate::motion::ClipSample) step by step.

use super::fetch::{fetch, load};
use super::group::{Played, rests};
use super::quaternion::{dot, inverse_length, resized};
use crate::clip::{COMPONENTS, Property};
use crate::motion::FULL_WEIGHT;
use crate::simd::{Eight, Row};

/// The clips that an instance plays, sorted by layer, and the current block.
pub(super) struct Layers<'a> {
    pub(super) played: &'a [Played<'a>],
    pub(super) masks: &'a [Vec<Row>],
    /// The rest pose `[block][component][lane]`.
    pub(super) rest: &'a [Row],
    pub(super) block: usize,
}

/// The weights of a layer's clips and of the pose below it.
struct Weighing<L> {
    /// True if the layer has a clip that is not additive.
    covers: bool,
    below: L,
    divisor: L,
}

impl Layers<'_> {
    /// Returns true if no sample moves the property away from the rest pose.
    fn rests(&self, property: Property) -> bool {
        self.played.iter().all(|one| self.rest_in(one, property))
    }

    /// Returns true if a sample has the rest pose here, or no difference if it is additive.
    fn rest_in(&self, played: &Played<'_>, property: Property) -> bool {
        rests(played.clip.blocks[self.block].flags, property)
    }

    /// Returns true if a sample adds a difference here.
    fn adds(&self, played: &Played<'_>, property: Property) -> bool {
        played.clip.additive && !self.rest_in(played, property)
    }

    /// The rest pose, from component `first` on.
    fn rest(&self, first: usize) -> *const Row {
        self.rest[self.block * COMPONENTS + first..].as_ptr()
    }

    /// Computes a sample's weights for the block's joints.
    ///
    /// # Safety
    /// The CPU has the instructions that `L` needs, and the mask exists.
    #[inline(always)]
    unsafe fn weight<L: Eight>(&self, played: &Played<'_>) -> L {
        // SAFETY: the caller guarantees the CPU features and the mask, which has as many blocks as
        // the rig.
        unsafe {
            let weight = L::splat(played.weight);
            match played.mask {
                None => weight,
                Some(mask) => {
                    let rows = self.masks.get_unchecked(usize::from(mask));
                    weight.mul(L::load(rows.as_ptr().add(self.block).cast()))
                }
            }
        }
    }

    /// Computes the weights of a layer.
    ///
    /// # Safety
    /// As for [`Self::weight`].
    #[inline(always)]
    unsafe fn weighing<L: Eight>(&self, layer: &[Played<'_>]) -> Weighing<L> {
        // SAFETY: the caller guarantees the CPU features and all masks of the layer.
        unsafe {
            let first = layer.first().is_none_or(|played| played.layer == 0);
            let full = L::splat(if first { FULL_WEIGHT } else { 1.0 });
            let (mut sum, mut covers) = (L::splat(0.0), false);
            for played in layer {
                if !played.clip.additive {
                    sum = sum.add(self.weight(played));
                    covers = true;
                }
            }
            Weighing {
                covers,
                below: full.sub(sum).max(L::splat(0.0)),
                divisor: sum.max(full),
            }
        }
    }
}

/// Computes a property of a block's joints. Rotations, with `N` = 4, are normalised.
///
/// # Safety
/// The CPU has the instructions that `L` needs, and all clips and masks have this block.
#[inline(always)]
pub(super) unsafe fn blend<L: Eight, const N: usize>(
    layers: &Layers<'_>,
    property: Property,
) -> [L; N] {
    // SAFETY: the caller guarantees the CPU features, and that all clips and masks have this block.
    unsafe {
        let mut now: [L; N] = load(layers.rest(property.first()));
        if layers.rests(property) {
            return now;
        }
        if N == 4 {
            now = unit(now);
        }
        for layer in layers.played.chunk_by(|a, b| a.layer == b.layer) {
            now = covered(layers, layer, property, now);
            for played in layer.iter().filter(|one| layers.adds(one, property)) {
                let change: [L; N] = fetch(played, layers.block, property);
                let weight = layers.weight::<L>(played);
                if N == 4 {
                    now = turned(now, part(unit(change), weight));
                    continue;
                }
                for (now, change) in now.iter_mut().zip(&change) {
                    *now = match property {
                        Property::Scale => {
                            let one = L::splat(1.0);
                            now.mul(change.sub(one).mul_add(weight, one))
                        }
                        _ => change.mul_add(weight, *now),
                    };
                }
            }
        }
        now
    }
}

/// Blends a layer's clips that are not additive over the pose below.
///
/// # Safety
/// As for [`blend`].
#[inline(always)]
unsafe fn covered<L: Eight, const N: usize>(
    layers: &Layers<'_>,
    layer: &[Played<'_>],
    property: Property,
    below: [L; N],
) -> [L; N] {
    // SAFETY: the caller guarantees the CPU features, and that all clips and masks have this block.
    unsafe {
        let weighing = layers.weighing::<L>(layer);
        if !weighing.covers {
            return below;
        }
        let mut sum = below;
        for component in &mut sum {
            *component = component.mul(weighing.below);
        }
        for played in layer.iter().filter(|played| !played.clip.additive) {
            let next: [L; N] = fetch(played, layers.block, property);
            let mut weight = layers.weight::<L>(played);
            if N == 4 {
                let next = resized(next);
                weight = weight.mul(inverse_length(next));
                weight = weight.flipped_by(dot(resized(sum), next));
            }
            for (sum, component) in sum.iter_mut().zip(&next) {
                *sum = component.mul_add(weight, *sum);
            }
        }
        // Divided first, so that squares of huge or tiny weights neither overflow nor underflow.
        for component in &mut sum {
            *component = component.div(weighing.divisor);
        }
        if N == 4 { unit(sum) } else { sum }
    }
}

/// Normalises a quaternion.
///
/// # Safety
/// The CPU has the instructions that `L` needs.
#[inline(always)]
unsafe fn unit<L: Eight, const N: usize>(mut q: [L; N]) -> [L; N] {
    let squared = dot(resized(q), resized(q));
    // SAFETY: the caller guarantees the CPU features.
    let inverse = unsafe { L::splat(1.0) }.div(squared.sqrt());
    for component in &mut q {
        *component = component.mul(inverse);
    }
    q
}

/// Scales a rotation by `weight`: 0 gives no rotation, 1 all of it. The result is normalised.
///
/// The rotation takes the shorter arc. The sum is 1 − w plus w times the rotation, divided by the
/// larger of w and 1, so it does not overflow. The real part is computed as 1 + w times the
/// difference of the rotation's real part from 1. Otherwise, for large w, cancellation would lose
/// the result of an identity rotation.
///
/// # Safety
/// The CPU has the instructions that `L` needs.
#[inline(always)]
unsafe fn part<L: Eight, const N: usize>(rotation: [L; N], weight: L) -> [L; 4] {
    let [x, y, z, w] = resized(rotation);
    // SAFETY: the caller guarantees the CPU features.
    unsafe {
        let one = L::splat(1.0);
        let over = one.div(weight.max(one).min(L::splat(1e12)));
        let weight = weight.min(one);
        let short = weight.flipped_by(w);
        let real = w.flipped_by(w).sub(one).mul_add(weight, over);
        unit([x.mul(short), y.mul(short), z.mul(short), real])
    }
}

/// The product of rotations: `b` is applied first, then `a`.
#[inline(always)]
fn turned<L: Eight, const N: usize>(a: [L; N], [bx, by, bz, bw]: [L; 4]) -> [L; N] {
    let [ax, ay, az, aw] = resized(a);
    let x = ax.mul_add(bw, aw.mul(bx));
    let x = az.neg_mul_add(by, ay.mul_add(bz, x));
    let y = ay.mul_add(bw, aw.mul(by));
    let y = ax.neg_mul_add(bz, az.mul_add(bx, y));
    let z = az.mul_add(bw, aw.mul(bz));
    let z = ay.neg_mul_add(bx, ax.mul_add(by, z));
    let w = ax.neg_mul_add(bx, aw.mul(bw));
    let w = az.neg_mul_add(bz, ay.neg_mul_add(by, w));
    resized([x, y, z, w])
}
