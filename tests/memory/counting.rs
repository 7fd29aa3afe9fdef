//! A global allocator that counts the allocations of measured threads.
//!
//! A measurement starts with [`measure`]. Until its guard is dropped, two things hold:
//!
//! - The calling thread and the threads of rayon's global pool are counted. The test harness and
//!   waiting tests may allocate meanwhile, because their threads are not counted.
//! - No other test of this program measures.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// Bytes allocated minus bytes freed, while measured. It can be negative.
static ALIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    // Constant and without a destructor, so reading it never allocates.
    static MEASURED: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if MEASURED.get() {
            COUNT.fetch_add(1, Relaxed);
            BYTES.fetch_add(layout.size(), Relaxed);
            let size = layout.size() as isize;
            PEAK.fetch_max(ALIVE.fetch_add(size, Relaxed) + size, Relaxed);
        }
        // SAFETY: the contract of this method is the same as that of the forwarded call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if MEASURED.get() {
            ALIVE.fetch_sub(layout.size() as isize, Relaxed);
        }
        // SAFETY: the contract of this method is the same as that of the forwarded call.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Ends a measurement when it is dropped.
pub(crate) struct Measurement {
    _alone: MutexGuard<'static, ()>,
}

impl Drop for Measurement {
    fn drop(&mut self) {
        MEASURED.set(false);
    }
}

/// Starts a measurement of the calling thread and the threads of rayon's global pool.
///
/// Waits for other measurements of this program first.
#[must_use]
pub(crate) fn measure() -> Measurement {
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    MEASURED.set(true);
    rayon::broadcast(|_| MEASURED.set(true));
    Measurement { _alone: alone }
}

/// Also counts the threads of `pool`.
pub(crate) fn measure_pool(pool: &rayon::ThreadPool) {
    pool.broadcast(|_| MEASURED.set(true));
}

/// The number of allocations so far.
pub(crate) fn allocations() -> usize {
    COUNT.load(Relaxed)
}

/// The sum of the bytes of all allocations so far.
pub(crate) fn allocated_bytes() -> usize {
    BYTES.load(Relaxed)
}

/// The bytes that are alive, of those that were allocated while measured.
pub(crate) fn alive_bytes() -> isize {
    ALIVE.load(Relaxed)
}

/// The peak of bytes that `work` keeps alive, beyond those alive before it.
pub(crate) fn peak_bytes<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = ALIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = work();
    ((PEAK.load(Relaxed) - before) as usize, result)
}

#[test]
fn what_this_thread_and_the_pool_allocate_is_counted() {
    let _measurement = measure();
    let (count, bytes) = (allocations(), allocated_bytes());
    let (peak, ()) = peak_bytes(|| drop(std::hint::black_box(vec![0_u8; 5000])));
    assert_eq!(
        (allocations(), allocated_bytes()),
        (count + 1, bytes + 5000)
    );
    assert_eq!(peak, 5000);
    let before = allocations();
    let threads = rayon::broadcast(|_| drop(std::hint::black_box(vec![0_u8; 100]))).len();
    assert!(allocations() - before >= threads);
}
