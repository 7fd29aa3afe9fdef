//! Evaluates a whole batch, group by group, on one thread or on all.

use super::group::{
    Distinct, GROUP, Group, Instance, PlanSource, Planner, Played, Product, Starts, in_step,
};
use super::kernel;
use super::poser::{BatchPoser, Scratch};
use crate::scratch_pool::Lent;
use crate::threads::Threads;
use std::mem;

/// Size of a cache line, in bytes.
const LINE_BYTES: usize = 64;

/// A batch that is being evaluated.
struct Job<'a, S> {
    poser: &'a BatchPoser,
    source: &'a S,
    product: Product,
    starts: Starts<'a>,
    /// Most instances in a group.
    size: usize,
}

impl<S: PlanSource> Job<'_, S> {
    /// The number of instances in a group.
    fn count(&self, number: usize) -> usize {
        self.size.min(self.source.len() - number * self.size)
    }

    /// The instance in a lane of a group.
    ///
    /// If outputs are contiguous but their size is not a multiple of 64 bytes, they start at
    /// different offsets into a line. A group then has every fourth instance: those start at the
    /// same offset, so that whole lines can be stored.
    #[inline]
    fn instance(&self, number: usize, lane: usize) -> usize {
        let size = self.size;
        let four = number / 4 * 4 * size;
        match self.starts {
            Starts::Even(_, bytes)
                if bytes % LINE_BYTES != 0 && four + 4 * size <= self.source.len() =>
            {
                four + 4 * lane + number % 4
            }
            _ => number * size + lane,
        }
    }

    /// The output addresses of a group, and their offset into a line of 64 bytes, or 0 if it
    /// differs. Lanes without an instance write to the spill memory.
    fn out(&self, number: usize, scratch: &mut Scratch) -> ([*mut u8; GROUP], usize) {
        let count = self.count(number);
        let mut out = [std::ptr::null_mut(); GROUP];
        for (lane, out) in out.iter_mut().enumerate().take(count) {
            *out = self.starts.at(self.instance(number, lane));
        }
        let phase = out[0].addr() % LINE_BYTES;
        let spill = scratch.spill.as_mut_ptr().cast::<u8>();
        out[count..].fill(spill.wrapping_add(phase));
        let same = out.iter().all(|out| out.addr() % LINE_BYTES == phase);
        (out, if same { phase } else { 0 })
    }

    /// Evaluates one group.
    ///
    /// # Safety
    /// The group exists, and the source is one for this poser. The output has enough memory for all
    /// instances, and nothing else writes to this group's part.
    unsafe fn run(&self, number: usize, scratch: &mut Scratch) {
        let count = self.count(number);
        let (out, phase) = self.out(number, scratch);
        let mut played: Vec<Played<'_>> = mem::take(&mut scratch.played);
        let mut instances = [Instance::default(); GROUP];
        for (lane, instance) in instances.iter_mut().enumerate().take(count) {
            let mut planner = Planner::new(&self.poser.rig, &mut played);
            self.source.plan(self.instance(number, lane), &mut planner);
            *instance = planner.finish();
        }
        let palette = matches!(self.product, Product::Palette(_));
        let (count, copies) = if palette && in_step(&played, &instances[..count]) {
            (1, count)
        } else {
            (count, 1)
        };
        let group = Group {
            clips: Distinct::of(&self.poser.rig.rest, &played),
            played: &played,
            instances,
            count,
            copies,
            masks: &self.poser.masks,
            product: self.product,
            out,
            phase,
        };
        // SAFETY: `Unit::best` or `Unit::of` detected the unit. Clips and masks fit the poser, by
        // the contract of `PlanSource`, and `BatchPoser::new` gave each mask as many blocks as the
        // rig. `ScratchPool::lend` lends scratch of the rig. The caller guarantees the
        // output.
        unsafe { kernel::run(self.poser.unit, &self.poser.rig, &group, scratch) };
        scratch.played = emptied(played);
    }
}

/// An empty vector with the memory of `played`, for elements that borrow from something else.
///
/// `collect` keeps the memory of a vector that it consumes if the elements have the same layout.
/// The tests of memory see that it does: otherwise each group would allocate.
fn emptied<'a>(mut played: Vec<Played<'_>>) -> Vec<Played<'a>> {
    played.clear();
    played.into_iter().map_while(|_| None).collect()
}

impl BatchPoser {
    /// Evaluates a source.
    ///
    /// If a group has more than `samples` samples in total, memory is allocated. Each instance's
    /// output is written in ascending order and never read.
    ///
    /// # Safety
    /// - The source is one for this poser, see [`PlanSource`].
    /// - There is a start for each instance. It is aligned to 16 bytes (for local poses, to their
    ///   elements) and valid for writing the product during the call, by any thread.
    /// - The outputs do not overlap.
    pub(crate) unsafe fn run_planned<S: PlanSource>(
        &self,
        source: &S,
        samples: usize,
        product: Product,
        starts: Starts<'_>,
        threads: &Threads,
    ) {
        let job = Job {
            poser: self,
            source,
            product,
            starts,
            size: kernel::group_size(self.unit),
        };
        if !matches!(threads, Threads::One) {
            self.reserve(threads.count(), samples);
        }
        threads.for_each_init(
            source.len().div_ceil(job.size),
            || self.lend(samples),
            // SAFETY: `number` is that of a group, and the caller guarantees source and outputs.
            // `Job::instance` gives each instance to one group, and each group is evaluated once,
            // so no two threads write to the same output.
            |scratch, number| unsafe { job.run(number, scratch) },
        );
    }

    /// Allocates the memory that [`Self::run_planned`] needs for up to `samples` samples per
    /// instance.
    pub(crate) fn make_room(&self, samples: usize, threads: &Threads) {
        self.reserve(threads.count(), samples * GROUP);
    }

    /// Makes a scratch for each thread, with memory for a group's samples, so that nothing is
    /// allocated later, whichever threads take part.
    fn reserve(&self, threads: usize, samples: usize) {
        let make = || Scratch::new(&self.rig);
        self.scratch_pool
            .make_room(threads, make, |scratch| scratch.reserve(samples));
    }

    /// Borrows a scratch for groups of up to `samples` samples.
    fn lend(&self, samples: usize) -> Lent<'_, Scratch> {
        let mut scratch = self.scratch_pool.lend(|| Scratch::new(&self.rig));
        scratch.reserve(samples);
        scratch
    }
}
