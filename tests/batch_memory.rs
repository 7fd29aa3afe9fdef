//! The batch allocates nothing once it has run. One test, so that nothing else allocates meanwhile.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use throng::pose::{BatchInstance, BatchPoser, Clip, ClipOptions, ClipSample, Mat3x4, WriteOnly};

/// Counts what is allocated.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: it passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
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
fn nothing_is_allocated_after_the_first_call() {
    let character = throng::builtin::mannequin().unwrap().character;
    let raw = character.clips().iter();
    let clips: Vec<Clip> = raw
        .map(|clip| Clip::new(&character, clip, &ClipOptions::default()).unwrap())
        .collect();
    let kept = clips.iter().map(|clip| clip.report().kept_tracks);
    println!("{} tracks are kept", kept.sum::<usize>());
    let sample = |clip, time_s| ClipSample {
        clip,
        time_s,
        weight: 0.5,
        mask: None,
        level: 0,
    };
    let last = clips.len() - 1;
    let instances: Vec<_> = (0..203)
        .map(|number| {
            let time_s = 0.02 * f64::from(number);
            let all = [
                sample(0, time_s),
                sample(last, 2.0 * time_s),
                sample(0, 0.3),
            ];
            BatchInstance::blend(&all[..(number % 4) as usize]).unwrap()
        })
        .collect();
    let mut out = vec![Mat3x4::IDENTITY; instances.len() * character.palette().len()];
    for poser in [
        BatchPoser::new(&character).unwrap(),
        BatchPoser::new(&character).unwrap().portable(),
    ] {
        let mut run = || {
            let to = WriteOnly::over(&mut out);
            poser.palettes(&clips, &instances, to).unwrap();
        };
        run();
        let before = COUNT.load(Relaxed);
        for _ in 0..10 {
            run();
        }
        assert_eq!(COUNT.load(Relaxed) - before, 0);
    }
}
