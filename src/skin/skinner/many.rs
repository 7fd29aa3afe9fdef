//! Deforms many instances, on one thread or on many.

use super::cpu_skinner::Skinner;
use crate::error::{Result, expect_len};
use crate::palette::{PaletteEntry, PaletteRef, WriteOnly};
use crate::threads::Threads;

/// An instance to deform: the arguments of [`Skinner::skin`].
#[derive(Debug)]
pub struct SkinJob<'a> {
    skinner: &'a Skinner,
    palette: PaletteRef<'a>,
    weights: &'a [f32],
    out: WriteOnly<'a, f32>,
}

/// Deforms many instances, of one or several characters.
///
/// One thread deforms one instance, as [`Skinner::skin`] does. The results therefore have the same
/// bits, whatever the number of threads.
///
/// # Errors
/// [`Error::At`](crate::Error::At) with the first job that [`Skinner::skin`] would reject, and the
/// reason. Nothing is written then.
pub fn skin_many(jobs: &mut [SkinJob<'_>], threads: &Threads) -> Result<()> {
    for (index, job) in jobs.iter().enumerate() {
        job.check().map_err(|why| why.at("skin job", index))?;
    }
    threads.try_for_each(jobs, |job| {
        job.skinner
            .skin_any(job.palette, job.weights, job.out.reborrow())
    })
}

impl<'a> SkinJob<'a> {
    /// Deforms an instance into `out`, which has the layout of [`Skinner::layout`].
    ///
    /// The jobs of a call may have palettes in different formats.
    pub fn new<P: PaletteEntry>(
        skinner: &'a Skinner,
        palette: &'a [P],
        weights: &'a [f32],
        out: WriteOnly<'a, f32>,
    ) -> Self {
        Self {
            skinner,
            palette: palette.into(),
            weights,
            out,
        }
    }

    fn check(&self) -> Result<()> {
        self.skinner.check_lengths(self.palette, self.weights)?;
        let words = self.skinner.layout.words as usize;
        expect_len("skinned words", self.out.len(), words)
    }
}
