//! The fast skin stage allocates nothing once it has run.

use crate::counting::{allocated_bytes, allocations, measure, measure_pool};
use crate::load::{Streams, each_format, made, palettes};
use crate::reference::rng::Rng;
use rayon::prelude::*;
use throng::palette::WriteOnly;
use throng::skin::{PosedVertices, Skinner};

#[test]
fn nothing_is_allocated_after_the_first_calls() {
    let _measurement = measure();
    let mut rng = Rng::new(101);
    let character = made(&mut rng, 500, 8, Streams::ALL[2]);
    let skinner = Skinner::new(&character).unwrap();
    let all = palettes(&mut rng, character.palette().len());
    let mut posed = PosedVertices::default();
    let mut out = vec![0.0; skinner.layout().words as usize];
    let mut every = || {
        each_format!(all, |palette| {
            skinner
                .skin(palette, &[], WriteOnly::from(&mut out))
                .unwrap();
            skinner.skin_primitive(0, palette, &[], &mut posed).unwrap();
            skinner.bounds(palette, &[]).unwrap();
        });
    };
    every();
    let before = allocations();
    for _ in 0..10 {
        every();
    }
    assert_eq!(allocations() - before, 0);

    // On several threads, the queues of the pool may occasionally grow by a block. Nothing
    // allocates for every instance.
    let words = skinner.layout().words as usize;
    let mut out = vec![0.0; words * 2000];
    let mut skin_all = || {
        let skin = |out| skinner.skin(&all.offsets, &[], WriteOnly::from(out));
        out.par_chunks_exact_mut(words).try_for_each(skin).unwrap();
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(4)
        .build()
        .unwrap();
    measure_pool(&pool);
    pool.install(&mut skin_all);
    let (count, bytes) = (allocations(), allocated_bytes());
    measure_pool(&pool);
    pool.install(&mut skin_all);
    let (count, bytes) = (allocations() - count, allocated_bytes() - bytes);
    assert!(
        count < 100 && bytes < 100_000,
        "{count} allocations, {bytes} bytes"
    );
}
