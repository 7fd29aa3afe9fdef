//! Random events between frames, in any order.

use super::stage::{HISTORIES, World, dancer, face, worst};
use crate::reference::explore::{Operation, explore};
use crate::reference::rng::Rng;
use crate::reference::sweep::rounds;
use crate::support::frames::EXTENT;
use crate::support::{Setup, each, stages, view};
use std::iter::repeat_n;
use throng::glam::{Affine3A, Quat, Vec2, Vec3};
use throng::palette::SkinningMethod;
use throng::{Capacity, Eye, SkinningStage, Stages, View};

const MODES: [SkinningStage; 4] = [
    SkinningStage::Vertex,
    SkinningStage::Vertex,
    SkinningStage::Compute,
    SkinningStage::Cpu,
];

fn place(rng: &mut Rng) -> Affine3A {
    let mirror = if rng.chance(4) { -1.0 } else { 1.0 };
    Affine3A::from_scale_rotation_translation(
        Vec3::new(mirror, 1.0, 1.0),
        Quat::from_rotation_y(rng.range(-3.0, 3.0)),
        Vec3::new(
            rng.range(-1.6, 1.6),
            rng.range(-2.0, 0.0),
            rng.range(-1.0, 1.0),
        ),
    )
}

fn clip(rng: &mut Rng) -> Option<usize> {
    [None, Some(0), Some(1)][rng.below(3)]
}

/// One or two views. Most of them have their own history.
fn views(rng: &mut Rng, histories: u32) -> Vec<View> {
    let first = rng.below(histories as usize) as u32;
    let numbers = [first, (first + 1) % histories];
    let each = numbers.into_iter().take(1 + rng.below(2)).map(|number| {
        let eye = Vec3::new(
            rng.range(-1.0, 1.0),
            rng.range(-0.5, 1.0),
            rng.range(5.0, 7.0),
        );
        View {
            history: (!rng.chance(6)).then_some(number),
            eye: Eye {
                jitter: Vec2::new(rng.range(-0.02, 0.02), rng.range(-0.02, 0.02)),
                ..view(eye, Vec3::ZERO, EXTENT).eye
            },
            ..view(eye, Vec3::ZERO, EXTENT)
        }
    });
    each.collect()
}

/// Something happens at a time, which goes back if the crowd does.
fn happen(rng: &mut Rng, setup: &mut Setup, world: &mut World, time: &mut f64) {
    let actor = rng.below(world.actors.len().max(1));
    let some = !world.actors.is_empty();
    let time_s = *time;
    // A restore can leave few of them.
    let few = world.actors.len() < 4 && rng.chance(2);
    match if few { 0 } else { rng.below(20) } {
        19 => world.shift((rng.vector(-2.0, 2.0) - world.origin()) * 0.7),
        15 => world.save(),
        16 if rng.chance(2) => {
            // Mostly to one of the first, which have few actors.
            let most = if rng.chance(3) { world.saved.len() } else { 2 };
            let at = rng.below(most).min(world.saved.len() - 1);
            *time = world.restore(at).unwrap_or(time_s);
        }
        17 => {
            let character = rng.below(world.characters.len());
            world.renew(setup, character);
        }
        18 => {
            // The second has one joint more or fewer than it had.
            let joints = 3 + rng.below(3);
            world.replace(setup, 1, dancer(joints));
        }
        13 | 14 if some => world.show(actor, rng.chance(2)),
        0 | 1 if world.actors.len() < 6 => {
            let character = rng.below(world.characters.len());
            let (place, clip) = (place(rng), clip(rng));
            world.spawn_as(character, place, clip, MODES[rng.below(4)]);
        }
        2 if some => world.despawn(actor),
        3 | 4 if some => world.place(actor, place(rng)),
        5 if some => world.teleport(actor, place(rng)),
        6 if some => world.play(actor, clip(rng)),
        7 if some => {
            let weights = [rng.range(-0.5, 1.0), rng.range(0.0, 1.0)];
            let choices = [None, Some(0.0), Some(weights[0]), Some(weights[1])];
            let set = [0, 1].map(|_| choices[rng.below(4)]);
            world.morph(actor, set);
        }
        8 if rng.chance(2) => {
            let now = world.crowd.capacity();
            let more = Capacity {
                instances: now.instances + rng.below(3) as u32,
                palette_entries: now.palette_entries + rng.below(3) as u32,
                morph_weights: now.morph_weights + 1,
                skinned_words: now.skinned_words + 3,
                ..now
            };
            world.reserve(setup, &more);
        }
        12 if some => world.skin(actor, MODES[rng.below(4)]),
        9 => world.drop_frame(setup, time_s),
        10 => {
            let views = views(rng, 3);
            world.abandon(setup, time_s, &views);
        }
        11 => {
            let views = views(rng, 3);
            world.pass_by(setup, time_s, &views);
        }
        _ => {}
    }
}

#[test]
fn whatever_happens_motion_is_what_the_model_says() {
    let mut all = Seen::default();
    let each_stages = repeat_n([stages(), Stages::Gpu, Stages::GpuCull], 3).flatten();
    for (seed, stages) in (41..).zip(each_stages) {
        explore(seed, rounds(450), |operations| {
            each(|setup| play(setup, operations, stages, &mut all));
        });
    }
    println!("{all:?}");
    assert!(all.pixels > 20_000 && all.moving > 5_000 && all.posed_on_gpu > 10);
    assert!(all.combined > 0);
}

/// Counts of what was compared, in all frames.
#[derive(Debug, Default)]
struct Seen {
    pixels: usize,
    moving: usize,
    posed_on_gpu: u32,
    /// Instances whose weights came from a clip and from the caller, on the GPU.
    combined: usize,
    /// The largest error of motion, as a part of its bound.
    largest: f64,
}

/// Compares the motion of many frames.
fn play(setup: &mut Setup, operations: &[Operation], stages: Stages, all: &mut Seen) {
    setup.guard_memory();
    // Capacity for the palettes of at most six, so that they are compacted now and then.
    let capacity = Capacity {
        palette_entries: 26,
        skinned_words: 700,
        ..HISTORIES
    };
    let characters = [
        (dancer(3), SkinningMethod::Linear),
        (dancer(4), SkinningMethod::DualQuat),
        (dancer(3), SkinningMethod::QuatOffset),
        (face(3), SkinningMethod::Linear),
    ];
    let mut world = World::with(setup, stages, capacity, &characters);
    world.save();
    let mut time_s = 0.0;
    for operation in operations {
        let weights = [(62, "event"), (35, "frame"), (3, "frames without events")];
        let (what, mut rng) = operation.choose(&weights);
        let frames = match what {
            "event" => {
                happen(&mut rng, setup, &mut world, &mut time_s);
                continue;
            }
            "frame" => 1,
            // More than there are frames in flight.
            _ => 5,
        };
        for _ in 0..frames {
            time_s += f64::from(rng.range(0.0, 0.1));
            let views = views(&mut rng, 3);
            for pixels in world.frame(setup, time_s, &views) {
                let worst = worst(&pixels);
                all.largest = all.largest.max(worst);
                assert!(worst < 1.0, "{worst} of the bound, {stages:?}");
                all.pixels += pixels.len();
                let far = pixels.iter().filter(|p| p.expected.length() > 0.01);
                all.moving += far.count();
            }
            all.posed_on_gpu += world.crowd.stats().posed_on_gpu;
            all.combined += world.combined_on_gpu();
        }
    }
    world.destroy(setup);
}
