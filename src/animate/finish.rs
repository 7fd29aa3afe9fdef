//! Computes palettes from model poses, in the way of [`few`](super::few).

use super::few::write_four;
use super::group::Starts;
use super::palette_lanes::LaneFormat;
use super::poser::BatchPoser;
use super::rig::Entry;
use crate::palette::{Mat3x4, PaletteFormat, with_entry};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2Fma, SimdLevel, Sse2};
use crate::simd::{Baseline, BaselineFour, Wide, phase};
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
            let (list, to) = (&self.rig.entries, starts.at(index));
            // SAFETY: `Unit::best` or `Unit::of` detected the unit. `model` has a matrix for each
            // joint of the rig, whose entries refer to its joints only (`Rig::new` took both from
            // one character). The caller guarantees the starts.
            unsafe {
                with_entry!(format, E => match self.unit.level() {
                    #[cfg(target_arch = "x86_64")]
                    SimdLevel::Avx512 | SimdLevel::Avx2 => {
                        phase!(Avx2Fma, write_as::<Sse2<true>, E>(list, model, to));
                    }
                    _ => phase!(Baseline, write_as::<BaselineFour, E>(list, model, to)),
                });
            }
        };
        threads.for_each_init(instances, || (), |(), index| one(index));
    }
}

/// Computes the palette of an instance in one format, four entries at a time.
///
/// # Safety
/// - The CPU has the instructions that `W` needs, which has four lanes.
/// - `model` has the joint of every entry.
/// - `to` is valid for writing all entries and aligned to 16 bytes.
#[inline(always)]
unsafe fn write_as<W: Wide, E: LaneFormat>(list: &[Entry], model: &[Affine3A], to: *mut u8) {
    for (list, first) in list.chunks(W::WIDTH).zip((0..).step_by(W::WIDTH)) {
        let mut matrices = [Mat3x4::IDENTITY; 4];
        let mut from = [std::ptr::null(); 4];
        for ((entry, matrix), from) in list.iter().zip(&mut matrices).zip(&mut from) {
            // SAFETY: the caller guarantees that `model` has the joint of every entry.
            let model = unsafe { model.get_unchecked(usize::from(entry.joint)) };
            *matrix = Mat3x4::from_affine(model);
            *from = matrix.rows.as_ptr().cast();
        }
        // SAFETY: the caller guarantees the CPU features and the output.
        unsafe { write_four::<W, E>((list, first), |lane| from[lane], &[to]) };
    }
}
