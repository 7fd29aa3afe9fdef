//! The loop over a primitive's blocks, for every skinning method and vector unit.

use super::deformer::{Deformer, Dual, Matrix};
use super::lanes::{Influence, Lanes};
use super::pack::{Entries, Packed, Streams};
use crate::mesh::Aabb;
use crate::palette::Mat3x4;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::{Baseline, BaselineEight as Eight, Row as Block, SimdLevel, Unit, WIDTH, phase};
use glam::Vec3;

/// A primitive in one pose.
pub(super) struct Task<'a> {
    pub(super) packed: &'a Packed,
    /// The primitive's own streams, or the morphed ones.
    pub(super) streams: &'a Streams,
    pub(super) entries: Entries,
    /// The character's whole palette.
    pub(super) palette: &'a [Mat3x4],
}

/// The destination of deformed vertices.
///
/// Every stream is written once, in ascending order, and never read.
pub(super) struct Out {
    pub(super) positions: *mut f32,
    pub(super) normals: Option<*mut f32>,
    pub(super) tangents: Option<*mut f32>,
}

/// The SIMD level that runs for a unit.
///
/// AVX-512 has no code of its own here.
pub(super) const fn level(unit: Unit) -> SimdLevel {
    match unit.level() {
        SimdLevel::Avx512 => SimdLevel::Avx2,
        level => level,
    }
}

/// Calls a function that is compiled for AVX2, or else one for any unit, with the deformer of the
/// entries.
macro_rules! dispatch {
    ($unit:expr, $entries:expr, $avx2:ident, $any:ident, $($argument:expr),*) => {
        match (level($unit), $entries) {
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx2, Entries::Matrix) => $avx2::<Matrix<Avx2>>($($argument),*),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx2, Entries::Dual) => $avx2::<Dual<Avx2, false>>($($argument),*),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx2, Entries::DualStretch) => $avx2::<Dual<Avx2, true>>($($argument),*),
            (_, Entries::Matrix) => {
                phase!(Baseline, $any::<Eight, Matrix<Eight>>($($argument),*))
            }
            (_, Entries::Dual) => {
                phase!(Baseline, $any::<Eight, Dual<Eight, false>>($($argument),*))
            }
            (_, Entries::DualStretch) => {
                phase!(Baseline, $any::<Eight, Dual<Eight, true>>($($argument),*))
            }
        }
    };
}

/// Deforms all streams of the primitive.
///
/// # Safety
/// - The CPU must have `unit`.
/// - The palette must have as many entries as the palette that the primitive was built for.
/// - The pointers of `out` must be valid for writing all vertices of the primitive. The pointers
///   for normals and tangents must be `None` if the streams have none.
pub(super) unsafe fn write(unit: Unit, task: &Task<'_>, out: &Out) {
    // SAFETY: the caller guarantees the CPU's `unit`, which includes AVX2 and FMA where
    // `write_avx2` is called. The other requirements are the same.
    unsafe { dispatch!(unit, task.entries, write_avx2, write_blocks, task, out) }
}

/// The bounding box of the deformed positions, which are not stored.
///
/// # Safety
/// As [`write`], without `out`.
pub(super) unsafe fn bounds(unit: Unit, task: &Task<'_>) -> Aabb {
    // SAFETY: the caller guarantees the CPU's `unit`, which includes AVX2 and FMA where
    // `bounds_avx2` is called. The other requirements are the same.
    unsafe { dispatch!(unit, task.entries, bounds_avx2, bounds_blocks, task) }
}

/// [`write_blocks`] compiled for AVX2 and FMA.
///
/// # Safety
/// As [`write`]. The CPU must have AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn write_avx2<D: Deformer<Avx2>>(task: &Task<'_>, out: &Out) {
    // SAFETY: the caller guarantees AVX2 and FMA, and the rest of the contract of `write`.
    unsafe { write_blocks::<Avx2, D>(task, out) }
}

/// [`bounds_blocks`] compiled for AVX2 and FMA.
///
/// # Safety
/// As [`write`], without `out`. The CPU must have AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn bounds_avx2<D: Deformer<Avx2>>(task: &Task<'_>) -> Aabb {
    // SAFETY: the caller guarantees AVX2 and FMA, and the rest of the contract of `write`.
    unsafe { bounds_blocks::<Avx2, D>(task) }
}

/// Deforms all blocks of the primitive.
///
/// # Safety
/// As [`write`]. The CPU must have the vector unit of `L`.
#[inline(always)]
unsafe fn write_blocks<L: Lanes, D: Deformer<L>>(task: &Task<'_>, out: &Out) {
    let (packed, streams) = (task.packed, task.streams);
    let palette = task.palette.as_ptr();
    for run in &packed.runs {
        let influences = packed.influences[run.first..].chunks_exact(run.count);
        for (block, influences) in run.blocks.clone().zip(influences) {
            let vertices = packed.vertices - block * WIDTH;
            // SAFETY: the caller guarantees the vector unit, the palette's length and the pointers.
            // The primitive's offsets are those of entries of its character's palette, and
            // `run.count` is at least 1. A block starts before the primitive's last vertex, so its
            // writes stay within the streams.
            unsafe {
                let deformer = blend::<L, D>(palette, influences);
                let positions = deformer.point(load(&streams.positions[block]));
                put3(positions, out.positions.add(block * WIDTH * 3), vertices);
                if let Some(to) = out.normals {
                    let normals = deformer.normal(load(&streams.normals[block]));
                    put3(normals, to.add(block * WIDTH * 3), vertices);
                }
                if let Some(to) = out.tangents {
                    let tangents = deformer.tangent(load(&streams.tangents[block]));
                    put4(tangents, to.add(block * WIDTH * 4), vertices);
                }
            }
        }
    }
}

/// The bounding box of all blocks.
///
/// # Safety
/// As [`write`], without `out`. The CPU must have the vector unit of `L`.
#[inline(always)]
unsafe fn bounds_blocks<L: Lanes, D: Deformer<L>>(task: &Task<'_>) -> Aabb {
    let packed = task.packed;
    let palette = task.palette.as_ptr();
    // SAFETY: the caller guarantees the vector unit of `L`.
    let (mut min, mut max) = unsafe {
        let [low, high] = [f32::INFINITY, f32::NEG_INFINITY].map(|limit| L::splat(limit));
        ([low; 3], [high; 3])
    };
    for run in &packed.runs {
        let influences = packed.influences[run.first..].chunks_exact(run.count);
        for (block, influences) in run.blocks.clone().zip(influences) {
            // SAFETY: the caller guarantees the vector unit and the palette's length. The
            // primitive's offsets are those of entries of its character's palette, and `run.count`
            // is at least 1.
            let at = unsafe {
                blend::<L, D>(palette, influences).point(load(&task.streams.positions[block]))
            };
            for axis in 0..3 {
                min[axis] = at[axis].min(min[axis]);
                max[axis] = at[axis].max(max[axis]);
            }
        }
    }
    let least = |lanes: L| lanes.block().0.into_iter().fold(f32::INFINITY, f32::min);
    let most = |lanes: L| {
        lanes
            .block()
            .0
            .into_iter()
            .fold(f32::NEG_INFINITY, f32::max)
    };
    Aabb {
        min: Vec3::from_array(min.map(least)),
        max: Vec3::from_array(max.map(most)),
    }
}

/// Blends the entries of a block, with loops of constant length for common counts.
///
/// # Safety
/// As [`Lanes::blend`].
#[inline(always)]
unsafe fn blend<L: Lanes, D: Deformer<L>>(palette: *const Mat3x4, influences: &[Influence]) -> D {
    // SAFETY: each slice is all of `influences`, for which the caller guarantees an entry at each
    // offset, and at least one influence.
    unsafe {
        match influences {
            [_] => D::blend(palette, &influences[..1]),
            [_, _] => D::blend(palette, &influences[..2]),
            [_, _, _] => D::blend(palette, &influences[..3]),
            [_, _, _, _] => D::blend(palette, &influences[..4]),
            _ => D::blend(palette, influences),
        }
    }
}

/// Loads blocks into vectors.
///
/// # Safety
/// The CPU must have the vector unit of `L`.
#[inline(always)]
unsafe fn load<L: Lanes, const N: usize>(blocks: &[Block; N]) -> [L; N] {
    // SAFETY: the caller guarantees the vector unit of `L`.
    std::array::from_fn(|axis| unsafe { L::of(&blocks[axis]) })
}

/// Writes the first `vertices` vertices of a block, or all eight.
///
/// # Safety
/// `to` must be valid for writing these vertices, three numbers each.
#[inline(always)]
unsafe fn put3<L: Lanes>(vectors: [L; 3], to: *mut f32, vertices: usize) {
    // SAFETY: the caller guarantees that `to` is valid for `vertices * 3` numbers, or for a whole
    // block. `all` is a separate array of a whole block.
    unsafe {
        if vertices >= WIDTH {
            L::write3(vectors, to);
        } else {
            let mut all = [0.0; WIDTH * 3];
            L::write3(vectors, all.as_mut_ptr());
            to.copy_from_nonoverlapping(all.as_ptr(), vertices * 3);
        }
    }
}

/// [`put3`] for vectors of four numbers.
///
/// # Safety
/// `to` must be valid for writing these vertices, four numbers each.
#[inline(always)]
unsafe fn put4<L: Lanes>(vectors: [L; 4], to: *mut f32, vertices: usize) {
    // SAFETY: the caller guarantees that `to` is valid for `vertices * 4` numbers, or for a whole
    // block. `all` is a separate array of a whole block.
    unsafe {
        if vertices >= WIDTH {
            L::write4(vectors, to);
        } else {
            let mut all = [0.0; WIDTH * 4];
            L::write4(vectors, all.as_mut_ptr());
            to.copy_from_nonoverlapping(all.as_ptr(), vertices * 4);
        }
    }
}
