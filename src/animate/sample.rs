//! Samples the local poses of a group: blends with joints in the lanes, then transposes.

use super::fetch::fetch;
use super::few::is_few;
use super::group::{Group, Played, rests};
use super::layers::{self, Layers};
use super::poser::Scratch;
use super::quaternion::{dot, inverse_length};
use super::rig::Rig;
use crate::clip::{Block, Property};
use crate::simd::{Eight, Instructions, Lanes, WIDTH, Wide, phase};
use crate::skeleton::Transform;
use glam::{Quat, Vec3};

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
            rotations::<K, L>(rig, group, (block, any), resting, scratch);
            transpose::<K, W, ROW>(group, Property::Rotation, scratch);
        }
        if !rests(resting, Property::Translation) {
            vectors::<K, L>(rig, group, (block, any), Property::Translation, scratch);
            transpose::<K, W, ROW>(group, Property::Translation, scratch);
        }
        if !rests(resting, Property::Scale) {
            vectors::<K, L>(rig, group, (block, any), Property::Scale, scratch);
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
            for component in property.first()..property.first() + property.len() {
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

/// Samples the rotations of all instances, with joints in the lanes.
///
/// `any` has the flags that any clip of the group has, and `all` those that all clips have.
///
/// # Safety
/// As for [`sample_block`].
#[inline(always)]
unsafe fn rotations<K: Instructions, L: Eight>(
    rig: &Rig,
    group: &Group<'_>,
    (block, any): (usize, u8),
    all: u8,
    scratch: &mut Scratch,
) {
    let all_near = all & Block::NEAR != 0;
    // SAFETY: the caller guarantees the CPU features, and that the clips have this block.
    unsafe {
        phase!(K, {
            for (number, instance) in group.instances.iter().enumerate().take(group.count) {
                let all = group.played_by(instance);
                let values = if instance.layered {
                    let layers = layers_of(rig, group, all, block);
                    phase!(K, layers::rotation::<L>(&layers))
                } else {
                    let all = moving(all, (block, any), Property::Rotation);
                    rotation::<L>(all, block, all_near || is_near(all, block))
                };
                put(values, 0, number, scratch);
            }
        });
    }
}

/// Samples the translations or scales of all instances, with joints in the lanes.
///
/// # Safety
/// As for [`sample_block`].
#[inline(always)]
unsafe fn vectors<K: Instructions, L: Eight>(
    rig: &Rig,
    group: &Group<'_>,
    (block, any): (usize, u8),
    property: Property,
    scratch: &mut Scratch,
) {
    // SAFETY: the caller guarantees the CPU features, and that the clips have this block.
    unsafe {
        phase!(K, {
            for (number, instance) in group.instances.iter().enumerate().take(group.count) {
                let all = group.played_by(instance);
                let values = if instance.layered {
                    let layers = layers_of(rig, group, all, block);
                    phase!(K, layers::vector::<L>(&layers, property))
                } else {
                    vector::<L>(moving(all, (block, any), property), block, property)
                };
                put(values, property.first(), number, scratch);
            }
        });
    }
}

/// The clips of an instance with masks, layers or additive clips.
#[inline(always)]
fn layers_of<'a>(
    rig: &'a Rig,
    group: &Group<'a>,
    played: &'a [Played<'a>],
    block: usize,
) -> Layers<'a> {
    Layers {
        played,
        masks: group.masks,
        rest: &rig.rest_rows,
        block,
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
        let flags = unsafe { played.clip.blocks.get_unchecked(block) }.flags;
        if !rests(flags, property) {
            return all;
        }
    }
    &all[..1]
}

#[inline(always)]
fn put<L: Lanes, const N: usize>(
    values: [L; N],
    first: usize,
    instance: usize,
    scratch: &mut Scratch,
) {
    for (number, value) in values.iter().enumerate() {
        let to = &mut scratch.sampled[first + number][instance];
        // SAFETY: a row has as many numbers as eight lanes and is aligned to them.
        unsafe { value.store(to.0.as_mut_ptr()) };
    }
}

/// Returns true if the rotations of all clips of an instance are near, see [`Block::NEAR`].
///
/// # Safety
/// The clips have this block.
#[inline(always)]
unsafe fn is_near(all: &[Played<'_>], block: usize) -> bool {
    for played in all {
        // SAFETY: the caller guarantees that the clips have this block.
        let flags = unsafe { played.clip.blocks.get_unchecked(block) }.flags;
        if flags & Block::NEAR == 0 {
            return false;
        }
    }
    true
}

/// Blends the rotations of a block's joints. The result is not normalised.
///
/// If all clips are near, all rotations lie in one half space.
///
/// # Safety
/// As for [`super::kernel::run`].
#[inline(always)]
unsafe fn rotation<L: Eight>(all: &[Played<'_>], block: usize, near: bool) -> [L; 4] {
    // SAFETY: the caller guarantees the CPU features, and that the clips have this block.
    unsafe {
        let first = all.get_unchecked(0);
        let one = fetch::<L, 4>(first, block, Property::Rotation);
        let Some(others) = all.get(1..).filter(|others| !others.is_empty()) else {
            return one;
        };
        let weight = weighed(first, one, near);
        let mut sum = [
            one[0].mul(weight),
            one[1].mul(weight),
            one[2].mul(weight),
            one[3].mul(weight),
        ];
        for other in others {
            let next = fetch::<L, 4>(other, block, Property::Rotation);
            let mut weight = weighed(other, next, near);
            if !near {
                weight = weight.flipped_by(dot(sum, next));
            }
            for (sum, component) in sum.iter_mut().zip(&next) {
                *sum = component.mul_add(weight, *sum);
            }
        }
        sum
    }
}

/// Computes the weight of a clip's rotations, divided by their length to normalise them.
///
/// # Safety
/// The CPU has the instructions that `L` needs.
#[inline(always)]
unsafe fn weighed<L: Lanes>(played: &Played<'_>, rotation: [L; 4], near: bool) -> L {
    // SAFETY: the caller guarantees the CPU features.
    unsafe {
        let weight = L::splat(played.weight);
        if near {
            weight.mul(near_inverse_length(rotation))
        } else {
            weight.mul(inverse_length(rotation))
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

/// Blends the translations or scales of a block's joints.
///
/// # Safety
/// As for [`super::kernel::run`].
#[inline(always)]
unsafe fn vector<L: Eight>(all: &[Played<'_>], block: usize, property: Property) -> [L; 3] {
    // SAFETY: the caller guarantees the CPU features, and that the clips have this block.
    unsafe {
        let first = all.get_unchecked(0);
        let mut sum = fetch::<L, 3>(first, block, property);
        let Some(others) = all.get(1..).filter(|others| !others.is_empty()) else {
            return sum;
        };
        let weight = L::splat(first.weight);
        sum = [sum[0].mul(weight), sum[1].mul(weight), sum[2].mul(weight)];
        for other in others {
            let next = fetch::<L, 3>(other, block, property);
            let weight = L::splat(other.weight);
            for (sum, component) in sum.iter_mut().zip(&next) {
                *sum = component.mul_add(weight, *sum);
            }
        }
        sum
    }
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
        unsafe {
            let flags = (first / WIDTH, u8::MAX);
            rotations::<K, L>(rig, group, flags, 0, scratch);
            vectors::<K, L>(rig, group, flags, Property::Translation, scratch);
            vectors::<K, L>(rig, group, flags, Property::Scale, scratch);
        }
        for instance in 0..group.count {
            // SAFETY: the caller guarantees an output of one transform per joint.
            unsafe {
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
    let value = |component: usize| scratch.sampled[component][instance].0[lane];
    let rotation = Quat::from_array([value(0), value(1), value(2), value(3)]);
    Transform {
        translation: Vec3::new(value(4), value(5), value(6)),
        rotation: rotation.normalize(),
        scale: Vec3::new(value(7), value(8), value(9)),
    }
}
