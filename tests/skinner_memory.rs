//! The fast skin stage allocates nothing once it has run. One test, so that nothing else allocates
//! meanwhile.

#[path = "skinner/load.rs"]
mod load;
mod reference;

use load::{Streams, made, palettes};
use reference::rng::Rng;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use throng::palette::WriteOnly;
use throng::skin::{PosedVertices, SkinJob, Skinner, skin_many};

/// Counts what is allocated, and its bytes.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: it passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_allocated_after_the_first_calls() {
    let mut rng = Rng::new(101);
    let character = made(&mut rng, 500, 8, Streams::ALL[2]);
    let skinner = Skinner::new(&character).unwrap();
    let all = palettes(&mut rng, character.palette().len());
    let mut posed = PosedVertices::default();
    let mut out = vec![0.0; skinner.layout().words as usize];
    let mut every = || {
        for palette in all.refs() {
            skinner
                .skin(palette, &[], WriteOnly::over(&mut out))
                .unwrap();
            skinner.skin_primitive(0, palette, &[], &mut posed).unwrap();
            skinner.bounds(palette, &[]).unwrap();
        }
    };
    every();
    let before = COUNT.load(Relaxed);
    for _ in 0..10 {
        every();
    }
    assert_eq!(COUNT.load(Relaxed) - before, 0);

    // On several threads the queues of the pool may grow by a block now and then; nothing does for
    // every job.
    let jobs = 2000;
    let words = skinner.layout().words as usize;
    let mut out = vec![0.0; words * jobs];
    let palette = all.refs()[3];
    let job = |out| SkinJob {
        skinner: &skinner,
        palette,
        weights: &[],
        out: WriteOnly::over(out),
    };
    let mut jobs: Vec<_> = out.chunks_exact_mut(words).map(job).collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(4)
        .build()
        .unwrap();
    pool.install(|| skin_many(&mut jobs)).unwrap();
    let (count, bytes) = (COUNT.load(Relaxed), BYTES.load(Relaxed));
    pool.install(|| skin_many(&mut jobs)).unwrap();
    let (count, bytes) = (COUNT.load(Relaxed) - count, BYTES.load(Relaxed) - bytes);
    assert!(
        count < 100 && bytes < 100_000,
        "{count} allocations, {bytes} bytes"
    );
}
