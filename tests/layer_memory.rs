//! Blends, layers and transitions allocate nothing once they have run. One test, so that nothing else allocates meanwhile.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use throng::glam::Vec2;
use throng::pose::{
    BLEND_THRESHOLD, BlendSpace2, Ease, GradientBands, Inertia, Layer, LayerStack, Mask, Moving,
    PoseLayer, SampleList, blend,
};

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
fn nothing_is_allocated_after_the_first_round() {
    let character = throng::builtin::mannequin_with(&throng::import::ImportOptions::curves_only())
        .unwrap()
        .character;
    let skeleton = character.skeleton();
    let rest: Vec<_> = skeleton.joints().iter().map(|joint| joint.rest).collect();
    let mask = Mask::all(skeleton);
    let corners = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE];
    let (space, bands) = (
        BlendSpace2::new(&corners).unwrap(),
        GradientBands::new(&corners).unwrap(),
    );
    let (mut layers, mut list, mut inertia) =
        (LayerStack::new(), SampleList::new(), Inertia::new());
    let (mut out, mut weights) = (rest.clone(), [0.0; 4]);
    let durations_s = [1.2, 0.8];
    let mut round = |number: u32| {
        layers.clear();
        layers.play(Layer::new(0, 0.0));
        for turn in 0..20 {
            let now = f64::from(number) + 0.05 * f64::from(turn);
            let to = Layer::new(turn as usize % 2, now);
            layers.cross_fade_in_step(to, now, 0.3, Ease::Smooth, &durations_s);
            layers.cross_fade(to.on_level(1), now, 0.3, Ease::Linear);
            list.clear();
            list.push(layers.samples(now, &durations_s));
        }
        space.weights(Vec2::splat(0.3), &mut weights).unwrap();
        bands.weights(Vec2::splat(0.3), &mut weights).unwrap();
        let standing = Moving {
            earlier: &rest,
            now: &rest,
        };
        inertia.begin(&standing, &standing, 0.1, 0.0, 1.0).unwrap();
        let one = PoseLayer::new(&rest).masked(&mask);
        blend(
            &rest,
            &[one, one.weighted(0.5).on_level(1)],
            BLEND_THRESHOLD,
            &mut out,
        )
        .unwrap();
        inertia.apply(0.5, &mut out).unwrap();
    };
    round(0);
    let before = COUNT.load(Relaxed);
    for number in 1..20 {
        round(number);
    }
    assert_eq!(COUNT.load(Relaxed), before);
}
