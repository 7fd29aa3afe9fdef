//! Evaluation allocates nothing once it has run, on one thread or on a thread pool.

use crate::counting::{allocations, measure};
use crate::reference::handles::Handles;
use throng::animator::{ActorId, Animator, Play};
use throng::builtin;
use throng::glam::Affine3A;
use throng::palette::{DualQuat, Mat3x4, WriteOnly};
use throng::skeleton::Transform;
use throng::{SimdLevel, Threads};

/// Number of instances in each frame.
const INSTANCES: usize = 203;

#[test]
fn nothing_is_allocated_after_the_first_call() {
    let _measurement = measure();
    let character = builtin::mannequin().unwrap().character;
    let joints = INSTANCES * character.skeleton().len();
    let mut palettes = vec![Mat3x4::IDENTITY; INSTANCES * character.palette().len()];
    let mut duals = vec![DualQuat::IDENTITY; palettes.len()];
    let mut local = vec![Transform::IDENTITY; joints];
    let mut models = vec![Affine3A::IDENTITY; joints];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
    pool.unwrap().install(|| {
        for level in SimdLevel::available() {
            let mut animator = Animator::new(&character).unwrap();
            animator.set_simd_level(level).unwrap();
            let actors: Vec<ActorId> = (0..INSTANCES)
                .map(|number| {
                    let walk = Play::new("Walk").offset_s(0.02 * number as f64);
                    let id = animator.add(walk).unwrap();
                    let mut actor = animator.live_mut(id);
                    for layer in 0..number % 4 {
                        let play = Play::new("Run").weight(0.5).fade_s(20.0);
                        actor.play(play.layer(layer as u8)).unwrap();
                    }
                    id
                })
                .collect();
            let mut frame = |number: usize| {
                animator.update(0.016 * number as f64).unwrap();
                for threads in [Threads::Rayon, Threads::One] {
                    animator.set_threads(threads);
                    let to = WriteOnly::from(&mut palettes);
                    animator.palettes(&actors, to).unwrap();
                    animator.local_poses(&actors, &mut local).unwrap();
                    animator.model_poses(&actors, &mut models).unwrap();
                    let to = WriteOnly::from(&mut duals);
                    animator.palettes(&actors, to).unwrap();
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
            assert_eq!(allocations() - before, 0, "{level}");
        }
    });
}
