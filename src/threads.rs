//! The threads on which work on many instances runs.

use core::ops::Range;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::sync::Arc;

/// The threads that process many instances.
///
/// Results have the same bits on any number of threads.
///
/// ```
/// use throng::Threads;
/// use throng::animator::Animator;
///
/// let character = throng::builtin::mannequin()?.character;
/// let mut animator = Animator::new(&character)?;
/// animator.set_threads(Threads::Rayon);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
#[doc(alias = "parallel")]
pub enum Threads {
    /// Only the calling thread.
    #[default]
    One,
    /// The threads of rayon's current pool. The calling thread waits for them.
    ///
    /// This is the global pool, unless the call comes from a thread of another pool or from inside
    /// its `install`.
    Rayon,
    /// The threads of this pool. The calling thread waits for them.
    Pool(Arc<ThreadPool>),
}

impl Threads {
    /// Runs `each` for all numbers below `count`. Each thread first creates its own state.
    pub(crate) fn for_each_init<T>(
        &self,
        count: usize,
        init: impl Fn() -> T + Sync + Send,
        each: impl Fn(&mut T, usize) + Sync + Send,
    ) {
        let work = |range: Range<usize>| {
            let mut state = init();
            range.for_each(|number| each(&mut state, number));
        };
        match self {
            Self::One => work(0..count),
            _ => self.for_each_piece(count, &work),
        }
    }

    /// Runs `work` for pieces of `0..count`. It is compiled once for all kinds of work.
    fn for_each_piece(&self, count: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
        /// Several pieces a thread, for pieces that take different times.
        const PIECES: usize = 8;
        let length = count.div_ceil(PIECES * self.count()).max(1);
        self.install(|| {
            let starts = (0..count).into_par_iter().step_by(length);
            starts.for_each(|start| work(start..count.min(start + length)));
        });
    }

    /// Runs `each` for all of `all`, each with its own pose of `joints` joints.
    ///
    /// The poses are given as two lists, such as local and model transforms.
    pub(crate) fn for_each_pose<T: Send, A: Send, B: Send>(
        &self,
        joints: usize,
        all: &mut [T],
        (first, second): (&mut [A], &mut [B]),
        each: impl Fn(&mut T, &mut [A], &mut [B]) + Sync + Send,
    ) {
        /// The fewest poses that are worth a thread.
        const LEAST: usize = 8;
        let joints = joints.max(1);
        if matches!(self, Self::One) || all.len() <= LEAST {
            let poses = first.chunks_exact_mut(joints);
            let poses = poses.zip(second.chunks_exact_mut(joints));
            for (one, (first, second)) in all.iter_mut().zip(poses) {
                each(one, first, second);
            }
            return;
        }
        let poses = first.par_chunks_exact_mut(joints);
        let poses = poses.zip(second.par_chunks_exact_mut(joints));
        let all = all.par_iter_mut().zip(poses).with_min_len(LEAST);
        let run = || all.for_each(|(one, (first, second))| each(one, first, second));
        match self {
            Self::Pool(pool) => pool.install(run),
            _ => run(),
        }
    }

    /// Runs `work` where rayon finds these threads.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::One | Self::Rayon => work(),
            Self::Pool(pool) => pool.install(work),
        }
    }

    /// Runs both, at the same time if there are several threads. Only inside [`Self::install`].
    #[cfg(feature = "vulkan")]
    pub(crate) fn join<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self {
            Self::One => (one(), other()),
            Self::Rayon | Self::Pool(_) => rayon::join(one, other),
        }
    }

    /// The largest number of threads.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::One => 1,
            Self::Rayon => rayon::current_num_threads(),
            Self::Pool(pool) => pool.current_num_threads(),
        }
    }
}
