//! A whole list, group after group, on one thread or on all.

use super::kernel;
use super::kernel::{GROUP, Group, Instance, Played, Product, Scratch};
use super::plan::{Distinct, Library, Listed, PlanSource, Planner};
use super::poser::BatchPoser;
use crate::error::{Result, expect_len};
use crate::motion::SampleList;
use crate::palette::{PaletteEntry, WriteOnly};
use crate::simd::Unit;
use crate::skeleton::{Affine, Transform};
use crate::threads::Threads;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is made of a batch, and where it goes: one instance after the other.
pub(crate) struct Output {
    pub(crate) product: Product,
    pub(crate) start: *mut u8,
    /// How many elements there is room for.
    pub(crate) len: usize,
}

/// Where the parts of the instances start.
#[derive(Clone, Copy)]
pub(crate) enum Starts<'a> {
    /// One after the other: where the first starts, and how many bytes each has.
    Even(*mut u8, usize),
    /// Each somewhere.
    #[allow(dead_code, reason = "taken by the animator")]
    Each(&'a [*mut u8]),
}

// SAFETY: they are addresses; whoever writes to them says that no two threads write to one.
unsafe impl Sync for Starts<'_> {}

impl Starts<'_> {
    #[inline]
    pub(crate) fn at(&self, index: usize) -> *mut u8 {
        match self {
            Self::Even(start, bytes) => start.wrapping_add(index * bytes),
            Self::Each(starts) => starts[index],
        }
    }
}

impl Output {
    pub(crate) fn palettes<E: PaletteEntry>(mut out: WriteOnly<'_, E>) -> Self {
        Self {
            product: Product::Palette(E::FORMAT),
            start: out.as_mut_ptr().cast(),
            len: out.len(),
        }
    }

    pub(crate) fn local(out: &mut [Transform]) -> Self {
        Self {
            product: Product::Local,
            start: out.as_mut_ptr().cast(),
            len: out.len(),
        }
    }

    pub(crate) fn models(out: &mut [Affine]) -> Self {
        Self {
            product: Product::Model,
            start: out.as_mut_ptr().cast(),
            len: out.len(),
        }
    }
}

/// A line of memory, in bytes.
const LINE_BYTES: usize = 64;

/// A batch in work.
struct Job<'a, S> {
    poser: &'a BatchPoser,
    source: &'a S,
    product: Product,
    starts: Starts<'a>,
}

impl<S: PlanSource> Job<'_, S> {
    fn unit(&self) -> Unit {
        self.poser.unit
    }

    fn groups(&self) -> usize {
        self.source.len().div_ceil(kernel::group_size(self.unit()))
    }

    /// How many instances a group has.
    fn count(&self, number: usize) -> usize {
        let size = kernel::group_size(self.unit());
        size.min(self.source.len() - number * size)
    }

    /// Which instance stands in a lane of a group. Where instances lie side by side, and each
    /// starts at another place of a line of 64 bytes, a group has every fourth: they start at the
    /// same place, so that whole lines can be stored.
    #[inline]
    fn instance(&self, number: usize, lane: usize) -> usize {
        let size = kernel::group_size(self.unit());
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

    /// Where the instances of a group go, and how far into a line of 64 bytes if all go equally
    /// far. Lanes without an instance go to the spill.
    fn out(&self, number: usize, scratch: &mut Scratch) -> ([*mut u8; GROUP], Option<usize>) {
        let count = self.count(number);
        let mut out = [std::ptr::null_mut(); GROUP];
        for (lane, out) in out.iter_mut().enumerate().take(count) {
            *out = self.starts.at(self.instance(number, lane));
        }
        let phase = out[0].addr() % LINE_BYTES;
        let spill = scratch.spill.as_mut_ptr().cast::<u8>();
        out[count..].fill(spill.wrapping_add(phase));
        let same = out.iter().all(|out| out.addr() % LINE_BYTES == phase);
        (out, same.then_some(phase))
    }

    /// # Safety
    /// The group exists, and was checked. The output has room for all instances, and no one else
    /// writes to this group's.
    unsafe fn run(&self, number: usize, scratch: &mut Scratch) {
        let count = self.count(number);
        let (out, phase) = self.out(number, scratch);
        let mut played: Vec<Played<'_>> = mem::take(&mut scratch.played);
        let mut instances = [Instance::default(); GROUP];
        for (lane, instance) in instances.iter_mut().enumerate().take(count) {
            let (rig, threshold) = (&self.poser.rig, self.poser.threshold);
            let mut planner = Planner::new(rig, threshold, &mut played);
            self.source.plan(self.instance(number, lane), &mut planner);
            *instance = planner.finish();
        }
        let group = Group {
            clips: Distinct::of(&self.poser.rig.rest, &played),
            played: &played,
            instances,
            count,
            masks: &self.poser.masks,
            threshold: self.poser.threshold,
            product: self.product,
            out,
            phase,
        };
        // SAFETY: the unit was detected; all clips and masks were checked; the scratch was made for
        // the rig; the caller's contract.
        unsafe { kernel::run(self.unit(), &self.poser.rig, &group, scratch) };
        played.clear();
        // SAFETY: nothing of the shorter lifetime is in it any more.
        scratch.played = unsafe { mem::transmute::<Vec<Played<'_>>, Vec<Played<'static>>>(played) };
    }
}

impl BatchPoser {
    /// Evaluates a list.
    ///
    /// # Safety
    /// The output is valid for writing as many elements as it says, and aligned for them.
    pub(crate) unsafe fn run(
        &self,
        library: Library<'_>,
        list: &SampleList,
        output: Output,
    ) -> Result<()> {
        let (what, each) = match output.product {
            Product::Local => ("local poses", self.rig.joints.len()),
            Product::Model => ("model poses", self.rig.joints.len()),
            Product::Palette(_) => ("palettes", self.rig.entries.len()),
        };
        expect_len(what, output.len, each.saturating_mul(list.len()))?;
        let size_of_group = kernel::group_size(self.unit);
        let groups = list.len().div_ceil(size_of_group);
        let check = |number: usize| {
            let first = number * size_of_group;
            library.check_all(list, first, size_of_group.min(list.len() - first))
        };
        let samples = self.threads.reduce(groups, || Ok(0), check, most)?;
        let source = Listed { library, list };
        let starts = Starts::Even(output.start, output.product.bytes(&self.rig));
        // SAFETY: all groups were checked; there is room for all instances.
        unsafe { self.run_planned(&source, samples, output.product, starts, &self.threads) };
        Ok(())
    }

    /// Evaluates what a source says, which was checked: groups have at most `samples` samples, or
    /// memory is allocated. Each instance's part is written in ascending order, and never read.
    ///
    /// # Safety
    /// The clips were made for the rig's skeleton, the masks exist, levels ascend, weights are
    /// positive and finite. There is a start for each instance; it is aligned to 16 bytes (for
    /// local poses, to their elements), and valid for writing [`Product::bytes`] during the call,
    /// by any thread. The parts do not overlap.
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
        };
        if !matches!(threads, Threads::One) {
            self.spare.make_room(self, threads.count(), samples);
        }
        threads.for_each_init(
            job.groups(),
            || self.lend(samples),
            // SAFETY: the caller's contract; each group is taken once.
            |scratch, number| unsafe { scratch.run(&job, number) },
        );
    }

    /// Allocates now what [`Self::run_planned`] would for instances with up to `samples` samples.
    pub(crate) fn make_room(&self, samples: usize, threads: &Threads) {
        self.spare.make_room(self, threads.count(), samples * GROUP);
    }

    /// A scratch for groups of up to `samples` samples.
    fn lend(&self, samples: usize) -> Borrowed<'_> {
        let spare = self.spare.lock().list.pop();
        let mut scratch = spare.unwrap_or_else(|| {
            self.spare.lock().made += 1;
            Scratch::new(&self.rig)
        });
        scratch.reserve(samples);
        Borrowed {
            scratch: Some(scratch),
            spare: &self.spare,
        }
    }
}

/// The larger number; of faults the first.
fn most(a: Result<usize>, b: Result<usize>) -> Result<usize> {
    Ok(a?.max(b?))
}

impl Scratch {
    /// Makes room for a group's samples, each instance with the rest pose besides.
    fn reserve(&mut self, samples: usize) {
        self.played.clear();
        self.played.reserve(samples + GROUP);
    }
}

/// What is kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<SparePool>);

#[derive(Debug, Default)]
struct SparePool {
    list: Vec<Box<Scratch>>,
    /// How many there are, with those that are lent.
    made: usize,
}

impl Spare {
    fn lock(&self) -> MutexGuard<'_, SparePool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes as many as there are threads, each with room for a group's samples: so that nothing is
    /// allocated later, whichever threads are there then.
    fn make_room(&self, poser: &BatchPoser, threads: usize, samples: usize) {
        let mut kept = self.lock();
        while kept.made < threads {
            kept.made += 1;
            kept.list.push(Scratch::new(&poser.rig));
        }
        for scratch in &mut kept.list {
            scratch.reserve(samples);
        }
        let missing = kept.made - kept.list.len().min(kept.made);
        kept.list.reserve(missing);
    }
}

/// A scratch that goes back when it is dropped.
struct Borrowed<'a> {
    scratch: Option<Box<Scratch>>,
    spare: &'a Spare,
}

impl Borrowed<'_> {
    /// # Safety
    /// As [`Job::run`].
    unsafe fn run<S: PlanSource>(&mut self, job: &Job<'_, S>, number: usize) {
        if let Some(scratch) = &mut self.scratch {
            // SAFETY: the caller's contract.
            unsafe { job.run(number, scratch) };
        }
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.spare.lock().list.extend(self.scratch.take());
    }
}
