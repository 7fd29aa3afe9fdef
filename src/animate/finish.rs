//! Computes palettes from model poses, with palette entries in the lanes.

use super::group::Starts;
use super::palette_lanes::{LaneFormat, Rows, entries, product_row};
use super::poser::BatchPoser;
use super::rig::Entry;
use crate::palette::{Mat3x4, PaletteFormat, with_entry};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx2Fma, SimdLevel};
use crate::simd::{Baseline, BaselineFour, Instructions, Row, Unit, WIDTH, Wide, phase};
use crate::threads::Threads;
use glam::Affine3A;

impl BatchPoser {
    /// Computes the palettes of model poses, one instance after the other.
    ///
    /// Each palette is written in ascending order and never read. The result has the same bits as
    /// that of [`Self::run_planned`] for the same model poses.
    ///
    /// # Safety
    /// There is a start for each instance. It is aligned to 16 bytes and valid for writing a
    /// palette of the format during the call, by any thread. The palettes do not overlap.
    pub(crate) unsafe fn finish_to(
        &self,
        models: &[Affine3A],
        format: PaletteFormat,
        starts: Starts<'_>,
        threads: &Threads,
    ) {
        let joints = self.rig.joints.len().max(1);
        let instances = models.len() / joints;
        let one = |index: usize| {
            let model = &models[index * joints..][..joints];
            // SAFETY: `Unit::best` or `Unit::of` detected the unit. `model` has a matrix for each
            // joint of the rig, whose entries refer to its joints only (`Rig::new` took both from
            // one character). The caller guarantees the starts.
            unsafe {
                palette(
                    self.unit,
                    &self.rig.entries,
                    model,
                    format,
                    starts.at(index),
                )
            };
        };
        threads.for_each_init(instances, || (), |(), index| one(index));
    }
}

/// Computes the palette of an instance on a given unit.
///
/// # Safety
/// As for [`write_palette`], and the CPU has `unit`.
unsafe fn palette(
    unit: Unit,
    list: &[Entry],
    model: &[Affine3A],
    format: PaletteFormat,
    to: *mut u8,
) {
    // SAFETY: the caller guarantees `unit` and the contract of `write_palette`.
    unsafe {
        match unit.level() {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 | SimdLevel::Avx2 => palette_avx2(list, model, format, to),
            _ => write_palette::<Baseline, BaselineFour>(list, model, format, to),
        }
    }
}

/// Computes the palette of an instance with AVX2.
///
/// # Safety
/// As for [`write_palette`], and the CPU has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn palette_avx2(list: &[Entry], model: &[Affine3A], format: PaletteFormat, to: *mut u8) {
    // SAFETY: the caller guarantees AVX2, FMA and the contract of `write_palette`.
    unsafe { write_palette::<Avx2Fma, Avx2>(list, model, format, to) }
}

/// Computes the palette of an instance.
///
/// # Safety
/// - The CPU has the instructions that `W` needs.
/// - `model` has the joint of every entry.
/// - `to` is valid for writing all entries and aligned to 16 bytes.
#[inline(always)]
unsafe fn write_palette<K: Instructions, W: Wide>(
    list: &[Entry],
    model: &[Affine3A],
    format: PaletteFormat,
    to: *mut u8,
) {
    // SAFETY: `write_as` has the same contract.
    unsafe { with_entry!(format, E => phase!(K, write_as::<W, E>(list, model, to))) }
}

/// Memory that lanes without an entry write to.
#[repr(C, align(16))]
struct Aside([u8; size_of::<Mat3x4>()]);

/// A batch of entries: one for each lane of `W`, or fewer.
struct Lot {
    /// The first eight numbers of a model matrix or an inverse bind matrix, by rows. There is one
    /// row per entry.
    low: [Row; WIDTH],
    /// The last four numbers.
    high: [Row; WIDTH],
}

/// Computes the palette of an instance in one format.
///
/// # Safety
/// As for [`write_palette`].
#[inline(always)]
unsafe fn write_as<W: Wide, E: LaneFormat>(list: &[Entry], model: &[Affine3A], to: *mut u8) {
    let mut aside = Aside([0; size_of::<Mat3x4>()]);
    let mut models = Lot::EMPTY;
    let mut binds = Lot::EMPTY;
    for (lot, list) in list.chunks(W::WIDTH).enumerate() {
        for (lane, entry) in list.iter().enumerate() {
            // SAFETY: the caller guarantees that `model` has the joint of every entry.
            let model = unsafe { model.get_unchecked(usize::from(entry.joint)) };
            models.set(lane, &Mat3x4::from_affine(model));
            binds.set(lane, &entry.inverse_bind);
        }
        // SAFETY: the caller guarantees the CPU features and the output. Other lanes write aside.
        unsafe {
            let (model, bind): (Rows<W>, Rows<W>) = (models.rows(), binds.rows());
            let matrix = [
                product_row(model[0], &bind),
                product_row(model[1], &bind),
                product_row(model[2], &bind),
            ];
            let live = super::write::live::<W>(list.len());
            let found = entries::<W, E>(matrix, live);
            let mut lanes = [aside.0.as_mut_ptr(); WIDTH];
            for (lane, start) in lanes.iter_mut().enumerate().take(list.len()) {
                *start = to.add((lot * W::WIDTH + lane) * size_of::<E>());
            }
            for (number, row) in found.into_iter().take(E::ROWS).enumerate() {
                W::write4(row, lanes.as_ptr(), number * size_of::<[f32; 4]>());
            }
        }
    }
}

impl Lot {
    const EMPTY: Self = Self {
        low: [Row([0.0; WIDTH]); WIDTH],
        high: [Row([0.0; WIDTH]); WIDTH],
    };

    #[inline(always)]
    fn set(&mut self, lane: usize, matrix: &Mat3x4) {
        let [a, b, c] = matrix.rows;
        self.low[lane].0[..4].copy_from_slice(&a);
        self.low[lane].0[4..].copy_from_slice(&b);
        self.high[lane].0[..4].copy_from_slice(&c);
    }

    /// Loads the matrices by rows.
    ///
    /// # Safety
    /// The CPU has the instructions that `W` needs, and `W` has at most eight lanes.
    #[inline(always)]
    unsafe fn rows<W: Wide>(&self) -> Rows<W> {
        // SAFETY: the caller guarantees the CPU features and at most eight lanes, so there are
        // enough rows.
        unsafe {
            let [a, b, c, d, e, f, g, h] = W::columns(self.low.as_ptr());
            let [i, j, k, l, ..] = W::columns(self.high.as_ptr());
            [[a, b, c, d], [e, f, g, h], [i, j, k, l]]
        }
    }
}
