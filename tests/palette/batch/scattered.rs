//! Palettes of actors whose poses need more than clips, among others: the kernel then writes each
//! palette to an address of its own.

use crate::reference::batch::{Batch, Sample};
use crate::reference::handles::Handles;
use throng::animator::{Pose, ShowPose};
use throng::builtin;
use throng::glam::Affine3A;
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset};
use throng::{SimdLevel, Threads};

fn crowd(count: usize) -> Vec<Vec<Sample>> {
    let instance = |instance: usize| {
        let time_s = 0.137 * instance as f64;
        let sample = |number: usize| Sample::new((instance + number) % 3, time_s).weighted(0.3);
        (0..instance % 4).map(sample).collect()
    };
    (0..count).map(instance).collect()
}

/// Compares with the palettes of a crowd in which no actor is special.
fn check<E: PaletteEntry + PartialEq>() {
    let character = builtin::mannequin().unwrap().character;
    let unwritten = E::project(&Affine3A::from_translation([9.0; 3].into()));
    let pose = vec![Affine3A::IDENTITY; character.skeleton().len()];
    let entries = character.palette().len();
    for level in SimdLevel::available() {
        for count in [1, 2, 4, 5, 8, 9, 15, 16, 17, 35] {
            let crowd = crowd(count);
            let even = Batch::new(&character, level, &crowd).palettes(unwritten);
            let mut batch = Batch::new(&character, level, &crowd);
            for actor in batch.actors.iter().step_by(3) {
                let mut actor = batch.animator.live_mut(*actor);
                actor
                    .set_pose(Pose::Model(&pose), &ShowPose::default())
                    .unwrap();
            }
            for threads in [Threads::One, Threads::Rayon] {
                batch.animator.set_threads(threads);
                let got = batch.palettes(unwritten);
                let pairs = got.chunks(entries).zip(even.chunks(entries));
                for (number, (got, even)) in pairs.enumerate() {
                    if number % 3 == 0 {
                        assert!(got.iter().all(|entry| *entry != unwritten));
                    } else {
                        assert!(got == even, "{:?} {level} {number} of {count}", E::FORMAT);
                    }
                }
            }
        }
    }
}

#[test]
fn scattered_palettes_equal_even_ones() {
    check::<Mat3x4>();
    check::<DualQuat>();
    check::<DualQuatStretch>();
    check::<QuatOffset>();
}
