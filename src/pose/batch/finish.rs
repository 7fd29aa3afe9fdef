//! Palettes from model poses.

use super::super::unit::{Code, Unit};
use super::lanes::Plain;
use super::rig::Entry;
use super::write::write_palette;
use super::{BatchPoser, Mat3x4, WriteOnly};
use crate::character::Affine;
use crate::error::Result;
use crate::pose::palette::expect_len;
use rayon::prelude::*;

#[cfg(target_arch = "aarch64")]
use super::lanes::Neon;
#[cfg(target_arch = "x86_64")]
use super::lanes::Sse2;

/// Where palettes go.
struct Out(*mut Mat3x4);

// SAFETY: threads take instances that are disjoint, and so is what they write.
unsafe impl Sync for Out {}

impl BatchPoser {
    /// See [`Self::palettes_of`].
    pub(super) fn finish(
        &self,
        models: &[Affine],
        mut out: WriteOnly<'_, Mat3x4>,
        threads: bool,
    ) -> Result<()> {
        let (joints, entries) = (self.rig.joints.len(), &self.rig.entries);
        // Without joints there are no entries, and nothing says how many instances there are.
        let instances = models.len().checked_div(joints).unwrap_or(0);
        expect_len("model poses", models.len(), instances * joints)?;
        expect_len("palettes", out.len(), instances * entries.len())?;
        let start = Out(out.as_mut_ptr());
        let one = |index: usize, model: &[Affine]| {
            let start = &start;
            // SAFETY: there is room for the palettes of all instances; the unit was detected; the model pose is whole.
            unsafe {
                palette(
                    self.unit,
                    entries,
                    model,
                    start.0.add(index * entries.len()),
                )
            };
        };
        if joints == 0 {
            return Ok(());
        }
        if threads {
            let all = models.par_chunks_exact(joints).enumerate();
            all.for_each(|(index, model)| one(index, model));
        } else {
            for (index, model) in models.chunks_exact(joints).enumerate() {
                one(index, model);
            }
        }
        Ok(())
    }
}

/// # Safety
/// As [`write_palette`]; the CPU has `unit`.
unsafe fn palette(unit: Unit, entries: &[Entry], model: &[Affine], to: *mut Mat3x4) {
    // SAFETY: the caller's contract.
    unsafe {
        match unit.code() {
            #[cfg(target_arch = "x86_64")]
            Code::Avx512 | Code::Avx2 => palette_avx2(entries, model, to),
            #[cfg(target_arch = "x86_64")]
            Code::Sse2 => write_palette::<Sse2<false>>(entries, model, to),
            #[cfg(target_arch = "aarch64")]
            Code::Neon => write_palette::<Neon>(entries, model, to),
            _ => write_palette::<Plain<4>>(entries, model, to),
        }
    }
}

/// # Safety
/// As [`write_palette`]; the CPU has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn palette_avx2(entries: &[Entry], model: &[Affine], to: *mut Mat3x4) {
    // SAFETY: the caller's contract.
    unsafe { write_palette::<Sse2<true>>(entries, model, to) }
}
