//! A world against the model of it: random operations, shrunk to the shortest that still fail.

use crate::rng::Rng;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Once;
use std::time::{Duration, Instant};

/// The time for which a failure is shrunk.
const PATIENCE: Duration = Duration::from_secs(100);

thread_local! {
    /// The names of what the present run has done.
    static DONE: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    /// True while panics are expected.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Panics of this thread are not printed while it is quiet.
fn be_quiet(is_quiet: bool) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    QUIET.set(is_quiet);
}

/// Something that happens to a world and its model.
///
/// Its random numbers are its own, so it does the same to the same world without the operations
/// before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation(u64);

impl Operation {
    /// Its random numbers.
    pub const fn rng(self) -> Rng {
        Rng::new(self.0)
    }

    /// One of these names, each with its weight, and random numbers for the rest.
    pub fn choose(self, weights: &[(usize, &'static str)]) -> (&'static str, Rng) {
        let mut rng = self.rng();
        let mut left = rng.below(weights.iter().map(|(weight, _)| weight).sum());
        let chosen = weights.iter().find(|(weight, _)| {
            let is_chosen = left < *weight;
            left = left.saturating_sub(*weight);
            is_chosen
        });
        let name = chosen.unwrap().1;
        DONE.with_borrow_mut(|done| done.push(name));
        (name, rng)
    }
}

/// Runs this many random operations, and returns what `run` makes of them.
///
/// `run` makes a world and its model, applies the operations to both, and panics where they differ.
/// If it does, it runs again with fewer operations, until none of them can be left out. The
/// shortest failure is printed, and its panic goes on.
pub fn explore<T>(seed: u64, count: usize, mut run: impl FnMut(&[Operation]) -> T) -> T {
    let mut rng = Rng::new(seed);
    let all: Vec<_> = (0..count).map(|_| Operation(rng.bits())).collect();
    let mut attempt = |operations: &[Operation]| {
        DONE.take();
        catch_unwind(AssertUnwindSafe(|| run(operations)))
    };
    let first = match attempt(&all) {
        Ok(result) => return result,
        Err(panic) => panic,
    };
    let started = Instant::now();
    be_quiet(true);
    let shortest = shrink(all, |fewer| {
        started.elapsed() < PATIENCE && attempt(fewer).is_err()
    });
    be_quiet(false);
    let last = attempt(&shortest).err().unwrap_or(first);
    eprintln!(
        "seed {seed}: {} of {count} operations fail: {shortest:x?}, which are {:?}",
        shortest.len(),
        DONE.take()
    );
    resume_unwind(last)
}

/// Leaves out chunks, halves first and single operations last, while the rest still fails.
fn shrink(
    mut operations: Vec<Operation>,
    mut fails: impl FnMut(&[Operation]) -> bool,
) -> Vec<Operation> {
    let mut size = operations.len();
    while size > 0 {
        let before = operations.len();
        let mut at = 0;
        while at < operations.len() {
            let end = operations.len().min(at + size);
            let fewer = [&operations[..at], &operations[end..]].concat();
            if fails(&fewer) {
                operations = fewer;
            } else {
                at = end;
            }
        }
        // Single operations are tried again until none can go.
        if size > 1 || operations.len() == before {
            size /= 2;
        }
    }
    operations
}
