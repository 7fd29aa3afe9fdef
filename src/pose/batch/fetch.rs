//! Reading a block's joints from a clip, joints in the lanes.

use super::clip::{Block, COMPONENTS, Property, components};
use super::kernel::Played;
use super::lanes::{Eight, Row, WIDTH};
use crate::character::Transform;

/// The rotations of a block's joints in a clip, between two keys.
///
/// # Safety
/// As [`super::sample::sample_block`].
#[inline(always)]
pub(super) unsafe fn fetch4<L: Eight>(played: &Played<'_>, block: usize) -> [L; 4] {
    // SAFETY: the caller's contract.
    unsafe {
        let info = played.clip.blocks.get_unchecked(block);
        if info.flags & Block::KEPT != 0 {
            return load4(with_kept(played, block).as_ptr());
        }
        if !info.moves(Property::Rotation) {
            return load4(played.clip.constants.as_ptr().add(block * COMPONENTS));
        }
        let [from, to] = frames(played, info, Property::Rotation);
        let (a, b, u) = (load4::<L>(from), load4::<L>(to), L::splat(played.place.u));
        [
            between(a[0], b[0], u),
            between(a[1], b[1], u),
            between(a[2], b[2], u),
            between(a[3], b[3], u),
        ]
    }
}

/// The translations or scales.
///
/// # Safety
/// As [`super::sample::sample_block`].
#[inline(always)]
pub(super) unsafe fn fetch3<L: Eight>(
    played: &Played<'_>,
    block: usize,
    property: Property,
) -> [L; 3] {
    let first = property.first();
    // SAFETY: the caller's contract.
    unsafe {
        let info = played.clip.blocks.get_unchecked(block);
        if info.flags & Block::KEPT != 0 {
            return load3(with_kept(played, block).as_ptr().add(first));
        }
        if !info.moves(property) {
            let constants = played.clip.constants.as_ptr();
            return load3(constants.add(block * COMPONENTS + first));
        }
        let [from, to] = frames(played, info, property);
        let (a, b, u) = (load3::<L>(from), load3::<L>(to), L::splat(played.place.u));
        [
            between(a[0], b[0], u),
            between(a[1], b[1], u),
            between(a[2], b[2], u),
        ]
    }
}

/// Where a property's keys before and after the time are.
///
/// # Safety
/// As [`super::sample::sample_block`]; the property moves in the block.
#[inline(always)]
unsafe fn frames(played: &Played<'_>, block: &Block, property: Property) -> [*const Row; 2] {
    let (clip, place) = (played.clip, &played.place);
    // SAFETY: a block's rows lie in the clip's frames, of which both of the place's exist.
    unsafe {
        let keys = clip
            .keys
            .as_ptr()
            .add(block.rows[property as usize] as usize);
        [
            keys.add(place.from * clip.stride),
            keys.add(place.to * clip.stride),
        ]
    }
}

#[inline(always)]
fn between<L: Eight>(a: L, b: L, u: L) -> L {
    b.minus(a).times_plus(u, a)
}

/// # Safety
/// The CPU has what `L` needs; `from` is valid for reading four rows.
#[inline(always)]
unsafe fn load4<L: Eight>(from: *const Row) -> [L; 4] {
    // SAFETY: the caller's contract.
    unsafe {
        let [a, b, c] = load3(from);
        [a, b, c, L::load(from.add(3).cast())]
    }
}

/// # Safety
/// The CPU has what `L` needs; `from` is valid for reading three rows.
#[inline(always)]
unsafe fn load3<L: Eight>(from: *const Row) -> [L; 3] {
    // SAFETY: the caller's contract.
    unsafe {
        [
            L::load(from.cast()),
            L::load(from.add(1).cast()),
            L::load(from.add(2).cast()),
        ]
    }
}

/// A block's joints where tracks are kept as the file has them: seldom, and by plain code.
#[cold]
#[inline(never)]
fn with_kept(played: &Played<'_>, block: usize) -> [Row; COMPONENTS] {
    let mut joints = [Transform::IDENTITY; WIDTH];
    played.clip.sample_block(&played.place, block, &mut joints);
    let mut rows = [Row::default(); COMPONENTS];
    for (lane, joint) in joints.iter().enumerate() {
        for (row, value) in rows.iter_mut().zip(components(joint)) {
            row.0[lane] = value;
        }
    }
    rows
}
