//! Local poses of eight instances: read and blended with joints in the lanes, then transposed.

use super::clip::{Block, Property};
use super::fetch::{fetch3, fetch4};
use super::kernel::{Blend, Group, Played, Scratch};
use super::lanes::Lanes;

/// The local poses of a block's joints, instances in the lanes. What is at rest in all of them is left out; its flags are
/// the result.
///
/// # Safety
/// As [`super::kernel::run`]; the CPU has what `L` needs, and the clips have such a block.
#[inline(always)]
pub(super) unsafe fn sample_block<L: Lanes>(
    group: &Group<'_>,
    block: usize,
    scratch: &mut Scratch,
) -> u8 {
    let blends = &group.blends[..group.count];
    let mut resting = u8::MAX;
    for played in blends.iter().flat_map(Blend::all) {
        // SAFETY: the caller's contract.
        resting &= unsafe { played.clip.blocks.get_unchecked(block) }.flags;
    }
    let rests = |property: Property| resting & (Block::REST << property as u8) != 0;
    // SAFETY: the caller's contract.
    unsafe {
        for (instance, blend) in blends.iter().enumerate() {
            let all = |property| blend.moving(block, property);
            if !rests(Property::Rotation) {
                put(
                    rotation::<L>(all(Property::Rotation), block),
                    0,
                    instance,
                    scratch,
                );
            }
            for property in [Property::Translation, Property::Scale] {
                if !rests(property) {
                    let values = vector::<L>(all(property), block, property);
                    put(values, property.first(), instance, scratch);
                }
            }
        }
        for property in Property::ALL.into_iter().filter(|p| !rests(*p)) {
            for component in property.first()..property.first() + property.len() {
                let lanes = L::transpose(&scratch.sampled[component]);
                for (row, lanes) in scratch.local[component].iter_mut().zip(&lanes) {
                    lanes.store(row);
                }
            }
        }
    }
    resting
}

#[inline(always)]
fn put<L: Lanes, const N: usize>(
    values: [L; N],
    first: usize,
    instance: usize,
    scratch: &mut Scratch,
) {
    for (number, value) in values.iter().enumerate() {
        value.store(&mut scratch.sampled[first + number][instance]);
    }
}

/// The blended rotations of a block's joints, at any length.
///
/// # Safety
/// As [`super::kernel::run`].
#[inline(always)]
unsafe fn rotation<L: Lanes>(all: &[Played<'_>], block: usize) -> [L; 4] {
    // SAFETY: the caller's contract.
    unsafe {
        let first = all.get_unchecked(0);
        let one = fetch4::<L>(first, block);
        let Some(others) = all.get(1..).filter(|others| !others.is_empty()) else {
            return one;
        };
        let weight = L::splat(first.weight).times(inverse_length(one));
        let mut sum = [
            one[0].times(weight),
            one[1].times(weight),
            one[2].times(weight),
            one[3].times(weight),
        ];
        for other in others {
            let next = fetch4::<L>(other, block);
            let weight = L::splat(other.weight).times(inverse_length(next));
            let weight = weight.flipped_by(dot(sum, next));
            for (sum, component) in sum.iter_mut().zip(&next) {
                *sum = component.times_plus(weight, *sum);
            }
        }
        sum
    }
}

/// One over the length of what lies between two neighbouring keys, which is near 1: two of Newton's steps from there. Off by
/// 5e-7 for keys an eighth of a turn apart, and 1e-4 for a quarter, which only the weights of a blend see.
///
/// # Safety
/// The CPU has what `L` needs.
#[inline(always)]
unsafe fn inverse_length<L: Lanes>(q: [L; 4]) -> L {
    // SAFETY: the caller's contract.
    let (half, more) = unsafe { (L::splat(0.5), L::splat(1.5)) };
    let halved = dot(q, q).times(half);
    let guess = more.minus(halved);
    guess.times(halved.times(guess).times_from(guess, more))
}

#[inline(always)]
fn dot<L: Lanes>(a: [L; 4], b: [L; 4]) -> L {
    let [x, y, z, w] = a;
    let low = x.times_plus(b[0], y.times(b[1]));
    low.plus(z.times_plus(b[2], w.times(b[3])))
}

/// The blended translations or scales of a block's joints.
///
/// # Safety
/// As [`super::kernel::run`].
#[inline(always)]
unsafe fn vector<L: Lanes>(all: &[Played<'_>], block: usize, property: Property) -> [L; 3] {
    // SAFETY: the caller's contract.
    unsafe {
        let first = all.get_unchecked(0);
        let mut sum = fetch3::<L>(first, block, property);
        let Some(others) = all.get(1..).filter(|others| !others.is_empty()) else {
            return sum;
        };
        let weight = L::splat(first.weight);
        sum = [
            sum[0].times(weight),
            sum[1].times(weight),
            sum[2].times(weight),
        ];
        for other in others {
            let next = fetch3::<L>(other, block, property);
            let weight = L::splat(other.weight);
            for (sum, component) in sum.iter_mut().zip(&next) {
                *sum = component.times_plus(weight, *sum);
            }
        }
        sum
    }
}
