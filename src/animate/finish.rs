//! Computes palettes from model poses, with palette entries in the lanes.

use super::group::Starts;
use super::palette_lanes::{LaneFormat, entries, product_row};
use super::poser::BatchPoser;
use super::rig::Entry;
use super::write::live;
use crate::palette::{Mat3x4, PaletteFormat, with_entry};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx2Fma, SimdLevel};
use crate::simd::{Baseline, BaselineFour, Row, WIDTH, Wide, phase};
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
        let one = |index: usize| {
            let model = &models[index * joints..][..joints];
            let (list, to) = (&self.rig.entries, starts.at(index));
            // SAFETY: `Unit::best` or `Unit::of` detected the unit. `model` has a matrix for each
            // joint, and entries refer to these (`Rig::new`). The caller guarantees the starts.
            unsafe {
                with_entry!(format, E => match self.unit.level() {
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx512 | SimdLevel::Avx2 => {
                        phase!(Avx2Fma, write_as::<Avx2, E>(list, model, to));
                    }
                    _ => phase!(Baseline, write_as::<BaselineFour, E>(list, model, to)),
                });
            }
        };
        threads.for_each_init(models.len() / joints, || (), |(), index| one(index));
    }
}

/// Computes the palette of an instance in one format, with an entry in each lane.
///
/// # Safety
/// - The CPU has the instructions that `W` needs, which has at most eight lanes.
/// - `model` has the joint of every entry.
/// - `to` is valid for writing all entries and aligned to 16 bytes.
#[inline(always)]
unsafe fn write_as<W: Wide, E: LaneFormat>(list: &[Entry], model: &[Affine3A], to: *mut u8) {
    // Lanes without an entry write here.
    let mut aside = Mat3x4::IDENTITY;
    // Of model and inverse bind matrices: the first eight numbers by rows, and the last four.
    let mut both = [[[Row([0.0; WIDTH]); WIDTH]; 2]; 2];
    for (list, first) in list.chunks(W::WIDTH).zip((0..).step_by(W::WIDTH)) {
        let mut lanes = [(&raw mut aside).cast::<u8>(); WIDTH];
        for (lane, entry) in list.iter().enumerate() {
            // SAFETY: the caller guarantees the joint of every entry, and the output.
            let model = unsafe {
                lanes[lane] = to.add((first + lane) * size_of::<E>());
                Mat3x4::from_affine(model.get_unchecked(usize::from(entry.joint)))
            };
            for (matrix, rows) in [&model, &entry.inverse_bind].iter().zip(&mut both) {
                let [a, b, c] = matrix.rows;
                rows[0][lane].0[..4].copy_from_slice(&a);
                rows[0][lane].0[4..].copy_from_slice(&b);
                rows[1][lane].0[..4].copy_from_slice(&c);
            }
        }
        // SAFETY: the caller guarantees `W` and its lanes, each of which has memory for an entry.
        unsafe {
            let mut matrices = [[[W::splat(0.0); 4]; 3]; 2];
            for (matrix, [low, high]) in matrices.iter_mut().zip(&both) {
                let [a, b, c, d, e, f, g, h] = W::columns(low.as_ptr());
                let [i, j, k, l, ..] = W::columns(high.as_ptr());
                *matrix = [[a, b, c, d], [e, f, g, h], [i, j, k, l]];
            }
            let [mut matrix, bind] = matrices;
            for row in &mut matrix {
                *row = product_row(*row, &bind);
            }
            let found = entries::<W, E>(matrix, live::<W>(list.len()));
            for (number, row) in found.into_iter().take(E::ROWS).enumerate() {
                W::write4(row, lanes.as_ptr(), number * size_of::<[f32; 4]>());
            }
        }
    }
}
