//! Samples the local poses of a group: blends with joints in the lanes, then transposes.

use super::fetch::fetch;
use super::few::is_few;
use super::group::{Group, Played, rests};
use super::layers::{self, Layers};
use super::poser::Scratch;
use super::quaternion::{dot, inverse_length, resized};
use super::rig::Rig;
use crate::clip::{Block, Property};
use crate::simd::{Eight, Instructions, Lanes, WIDTH, Wide, phase};
use crate::skeleton::Transform;

/// Samples the local poses of a block's joints, with instances in the lanes.
///
/// Properties that are at rest in all instances are skipped. Returns the flags of those.
///
/// # Safety
/// As for [`super::kernel::run`]. Also, the CPU has the instructions that `L` and `W` need, and the
/// clips have this block.
#[inline(always)]
pub(super) unsafe fn sample_block<K: Instructions, L: Eight, W: Wide, const ROW: usize>(
    rig: &Rig,
    group: &Group<'_>,
    block: usize,
    scratch: &mut Scratch,
) -> u8 {
    // SAFETY: the caller guarantees the CPU features, and that the clips have this block.
    unsafe {
        let (resting, any) = group.clips.flags(group.played, block);
        if !rests(resting, Property::Rotation) {
            let near = resting & Block::NEAR != 0;
            samples::<K, L, 4>(group, (rig, block, any), near, Property::Rotation, scratch);
            transpose::<K, W, ROW>(group, Property::Rotation, scratch);
        }
        if !rests(resting, Property::Translation) {
            samples::<K, L, 3>(
                group,
                (rig, block, any),
                false,
                Property::Translation,
                scratch,
            );
            transpose::<K, W, ROW>(group, Property::Translation, scratch);
        }
        if !rests(resting, Property::Scale) {
            samples::<K, L, 3>(group, (rig, block, any), false, Property::Scale, scratch);
            transpose::<K, W, ROW>(group, Property::Scale, scratch);
        }
        resting
    }
}

/// Transposes the samples of a property, so that instances are in the lanes, unless there are few.
///
/// # Safety
/// As for [`sample_block`].
#[inline(always)]
unsafe fn transpose<K: Instructions, W: Wide, const ROW: usize>(
    group: &Group<'_>,
    property: Property,
    scratch: &mut Scratch,
) {
    if is_few::<W>(group.count) {
        return;
    }
    // SAFETY: the caller guarantees the CPU features. The scratch has rows for all parts.
    unsafe {
        phase!(K, {
            for component in property.range() {
                for part in (0..group.count).step_by(W::WIDTH) {
                    let columns = W::columns(scratch.sampled[component].as_ptr().add(part));
                    let to: *mut f32 = scratch.local[component].as_mut_ptr().cast();
                    for (joint, column) in columns.iter().enumerate() {
                        column.store(to.add(joint * ROW + part));
                    }
                }
            }
        });
    }
}

/// Samples a property of all instances, with joints in the lanes. It has `N` components.
///
/// `any` has the flags that any clip of the group has. If `near` is true, all of them have
/// [`Block::NEAR`].
///
/// # Safety
/// As for [`sample_block`].
#[inline(always)]
unsafe fn samples<K: Instructions, L: Eight, const N: usize>(
    group: &Group<'_>,
    (rig, block, any): (&Rig, usize, u8),
    near: bool,
    property: Property,
    scratch: &mut Scratch,
) {
    // SAFETY: the caller guarantees the CPU features, and that the clips have this block.
    unsafe {
        phase!(K, {
            for (number, instance) in group.instances.iter().enumerate().take(group.count) {
                let all = group.played_by(instance);
                let values: [L; N] = if instance.layered {
                    let layers = Layers {
                        played: all,
                        masks: group.masks,
                        rest: &rig.rest_rows,
                        block,
                    };
                    phase!(K, layers::blend(&layers, property))
                } else {
                    let all = moving(all, (block, any), property);
                    let near = N == 4 && (near || is_near(all, block));
                    blend(all, block, property, near)
                };
                for (value, rows) in values.iter().zip(&mut scratch.sampled[property.first()..]) {
                    // A row has as many numbers as eight lanes and is aligned to them.
                    value.store(rows[number].0.as_mut_ptr());
                }
            }
        });
    }
}

/// Returns the clips of an instance, or only one of them if all are in the rest pose.
///
/// If they all are, the result then has the bits of that one clip, whatever other instances do.
/// `any` has the flags that any clip of the group has.
///
/// # Safety
/// The clips have this block.
#[inline(always)]
unsafe fn moving<'a, 'b>(
    all: &'b [Played<'a>],
    (block, any): (usize, u8),
    property: Property,
) -> &'b [Played<'a>] {
    if !rests(any, property) {
        return all;
    }
    for played in all {
        // SAFETY: the caller guarantees that the clips have this block.
        if !rests(unsafe { played.flags(block) }, property) {
            return all;
        }
    }
    &all[..1]
}

/// Returns true if the rotations of all clips of an instance are near, see [`Block::NEAR`].
///
/// # Safety
/// The clips have this block.
#[inline(always)]
unsafe fn is_near(all: &[Played<'_>], block: usize) -> bool {
    // SAFETY: the caller guarantees that the clips have this block.
    let near = |one: &Played<'_>| unsafe { one.flags(block) } & Block::NEAR != 0;
    all.iter().all(near)
}

/// Blends a property of a block's joints. Rotations, with `N` = 4, are not normalised.
///
/// If all clips are near, all rotations lie in one half space.
///
/// # Safety
/// As for [`super::kernel::run`].
#[inline(always)]
unsafe fn blend<L: Eight, const N: usize>(
    all: &[Played<'_>],
    block: usize,
    property: Property,
    near: bool,
) -> [L; N] {
    // SAFETY: the caller guarantees the CPU features, and that the clips have this block.
    unsafe {
        let first = all.get_unchecked(0);
        let mut sum: [L; N] = fetch(first, block, property);
        let Some(others) = all.get(1..).filter(|others| !others.is_empty()) else {
            return sum;
        };
        let weight = weighed(first, sum, near);
        for sum in &mut sum {
            *sum = sum.mul(weight);
        }
        for other in others {
            let next: [L; N] = fetch(other, block, property);
            let mut weight = weighed(other, next, near);
            if N == 4 && !near {
                weight = weight.flipped_by(dot(resized(sum), resized(next)));
            }
            for (sum, component) in sum.iter_mut().zip(&next) {
                *sum = component.mul_add(weight, *sum);
            }
        }
        sum
    }
}

/// Computes the weight of a clip. That of rotations is divided by their length to normalise them.
///
/// # Safety
/// The CPU has the instructions that `L` needs.
#[inline(always)]
unsafe fn weighed<L: Lanes, const N: usize>(played: &Played<'_>, value: [L; N], near: bool) -> L {
    // SAFETY: the caller guarantees the CPU features.
    unsafe {
        let weight = L::splat(played.weight);
        if N != 4 {
            weight
        } else if near {
            weight.mul(near_inverse_length(resized(value)))
        } else {
            weight.mul(inverse_length(resized(value)))
        }
    }
}

/// Approximates the reciprocal length of a rotation between two keys that are near.
///
/// The fit is off by 1.7e-7 at most.
///
/// # Safety
/// The CPU has the instructions that `L` needs.
#[inline(always)]
unsafe fn near_inverse_length<L: Lanes>([x, y, z, w]: [L; 4]) -> L {
    // SAFETY: the caller guarantees the CPU features.
    let [one, a, b, c] = unsafe {
        [
            L::splat(1.0),
            L::splat(0.999_999_94),
            L::splat(0.500_030_5),
            L::splat(0.377_149),
        ]
    };
    let less = y.neg_mul_add(y, x.neg_mul_add(x, one));
    let less = w.neg_mul_add(w, z.neg_mul_add(z, less));
    less.mul_add(less.mul_add(c, b), a)
}

/// Samples the local poses of a group and writes them as the output.
///
/// # Safety
/// As for [`super::kernel::run`], for local poses. The CPU has the instructions that `L` needs.
#[inline(always)]
pub(super) unsafe fn local_blocks<K: Instructions, L: Eight>(
    rig: &Rig,
    group: &Group<'_>,
    scratch: &mut Scratch,
) {
    for first in (0..rig.joints.len()).step_by(WIDTH) {
        let count = WIDTH.min(rig.joints.len() - first);
        // SAFETY: the caller guarantees the group, whose clips have all blocks. No property is
        // skipped, because the flags say nothing about properties at rest: any clip may have any.
        // The caller guarantees an output of one transform per joint.
        unsafe {
            let block = (rig, first / WIDTH, u8::MAX);
            samples::<K, L, 4>(group, block, false, Property::Rotation, scratch);
            samples::<K, L, 3>(group, block, false, Property::Translation, scratch);
            samples::<K, L, 3>(group, block, false, Property::Scale, scratch);
            for instance in 0..group.count {
                let to: *mut Transform = group.out[instance].cast();
                for lane in 0..count {
                    to.add(first + lane)
                        .write(transform(scratch, instance, lane));
                }
            }
        }
    }
}

/// Reads the sample of a joint of an instance.
fn transform(scratch: &Scratch, instance: usize, lane: usize) -> Transform {
    let value = scratch.sampled.each_ref().map(|of| of[instance].0[lane]);
    let mut sampled = crate::clip::transform(value);
    sampled.rotation = sampled.rotation.normalize();
    sampled
}
