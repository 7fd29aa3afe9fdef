//! The batch allocates nothing once it has run, on one thread or on a thread pool.

use crate::counting::{allocations, measure};
use throng::animate::BatchPoser;
use throng::clip::{Clip, ClipOptions};
use throng::glam::Affine3A;
use throng::motion::{ClipSample, SampleList};
use throng::palette::{DualQuat, Mat3x4, WriteOnly};
use throng::simd::SimdLevel;
use throng::skeleton::Mask;
use throng::skeleton::Transform;
use throng::{Id, Threads};

/// Number of instances in each frame.
const INSTANCES: usize = 203;

#[test]
fn nothing_is_allocated_after_the_first_call() {
    let _measurement = measure();
    let character = throng::import::RawCharacter::mannequin()
        .build(&throng::import::ImportOptions::curves_only())
        .unwrap()
        .character;
    let raw = character.curves().iter();
    let clips: Vec<Clip> = raw
        .map(|clip| Clip::new(&character, clip, &ClipOptions::default()).unwrap())
        .collect();
    let last = clips.len() - 1;
    let mask = [Mask::all(character.skeleton())];
    let fill = |list: &mut SampleList, frame: usize| {
        list.clear();
        for number in 0..INSTANCES {
            let time_s = 0.02 * number as f64 + 0.016 * frame as f64;
            let all = [
                ClipSample::new(Id::new(0), time_s).weighted(0.5),
                ClipSample::new(Id::new(last as u16), 2.0 * time_s),
                ClipSample::new(Id::new(1), 0.3).masked(Id::new(0)),
                ClipSample::new(Id::new(0), 0.3).on_level(1).weighted(0.2),
                ClipSample::new(Id::new(1), time_s).on_level(1),
            ];
            list.push(all.into_iter().take(number % 6));
        }
    };
    let mut list = SampleList::new();
    fill(&mut list, 0);
    let joints = INSTANCES * character.skeleton().len();
    let mut palettes = vec![Mat3x4::IDENTITY; INSTANCES * character.palette().len()];
    let mut duals = vec![DualQuat::IDENTITY; palettes.len()];
    let mut local = vec![Transform::IDENTITY; joints];
    let mut models = vec![Affine3A::IDENTITY; joints];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
    pool.unwrap().install(|| {
        for code in SimdLevel::available() {
            let poser = BatchPoser::new(&character).unwrap();
            let poser = poser.with_simd_level(code).unwrap();
            let poser = poser.with_masks(&mask).unwrap();
            let mut poser = poser;
            let mut frame = |number: usize| {
                fill(&mut list, number);
                for threads in [Threads::Rayon, Threads::One] {
                    poser.set_threads(threads);
                    let to = WriteOnly::over(&mut palettes);
                    poser.palettes(&clips, &list, to).unwrap();
                    poser.local_poses(&clips, &list, &mut local).unwrap();
                    poser.model_poses(&clips, &list, &mut models).unwrap();
                    let to = WriteOnly::over(&mut duals);
                    poser.palettes(&clips, &list, to).unwrap();
                    let to = WriteOnly::over(&mut palettes);
                    poser.finish(&models, to).unwrap();
                }
            };
            // Rayon's threads allocate their own memory when they first take work from each other.
            for number in 0..20 {
                frame(number);
            }
            let before = allocations();
            for number in 20..35 {
                frame(number);
            }
            assert_eq!(allocations() - before, 0, "{code}");
        }
    });
}
