//! Histories survive growth and compaction of their buffers.

use super::events::{at, camera};
use super::stage::{HISTORIES, World, dancer, moves, stands};
use crate::reference::handles::Handles;
use crate::support::{Setup, each, posed_by_cpu};
use throng::palette::SkinningMethod;
use throng::{Capacity, View};

const SWAY: Option<usize> = Some(0);

fn scene(setup: &mut Setup, test: impl FnOnce(&mut Setup, &mut World)) {
    let characters = [
        (dancer(3), SkinningMethod::Linear),
        (dancer(4), SkinningMethod::DualQuat),
    ];
    let mut world = World::new(setup, HISTORIES, &characters);
    world.spawn(0, at(-1.0), SWAY);
    world.spawn(1, at(0.0), SWAY);
    world.spawn(0, at(1.0), None);
    test(setup, &mut world);
    world.destroy(setup);
}

fn more(world: &World) -> Capacity {
    let now = world.crowd.capacity();
    Capacity {
        instances: now.instances + 13,
        palette_entries: now.palette_entries + 7,
        morph_weights: now.morph_weights + 5,
        histories: now.histories + 1,
        ..now
    }
}

#[test]
fn histories_outlive_growth() {
    each(|setup| {
        scene(setup, |setup, world| {
            world.frame(setup, 0.1, &[camera()]);
            for (frame, growths) in [1, 2, 0, 3].into_iter().enumerate() {
                for _ in 0..growths {
                    let more = more(world);
                    world.reserve(setup, &more);
                }
                let time_s = 0.2 + 0.08 * frame as f64;
                if frame == 1 {
                    // The frame that moves the histories does not have their view.
                    world.pass_by(setup, time_s, &[]);
                }
                world.place(2, at(1.2 - 0.1 * frame as f32));
                let seen = world.frame(setup, time_s, &[camera()]);
                (0..3).for_each(|actor| moves(&seen[0], actor));
                let seen = world.frame(setup, time_s, &[camera()]);
                (0..3).for_each(|actor| stands(&seen[0], actor));
            }
            // A history that was added by the growth.
            let newest = View {
                history: Some(8),
                ..camera()
            };
            let seen = world.frame(setup, 0.6, &[newest]);
            (0..3).for_each(|actor| stands(&seen[0], actor));
            let seen = world.frame(setup, 0.7, &[newest, camera()]);
            (0..2).for_each(|actor| moves(&seen[0], actor));
            (0..2).for_each(|actor| moves(&seen[1], actor));
        });
    });
}

#[test]
fn an_abandoned_frame_gives_back_what_it_moved() {
    each(|setup| {
        scene(setup, |setup, world| {
            world.frame(setup, 0.1, &[camera()]);
            let wider = more(world);
            world.reserve(setup, &wider);
            world.abandon(setup, 0.2, &[camera()]);
            world.abandon(setup, 0.25, &[]);
            world.place(2, at(1.2));
            let seen = world.frame(setup, 0.3, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));

            // Growth between a frame and the call that abandons it.
            let wider = more(world);
            world.reserve(setup, &wider);
            world.prepare_in_vain(setup, 0.35, &[camera()]);
            let wider = more(world);
            world.reserve(setup, &wider);
            unsafe { world.crowd.abandon_frame() };
            unsafe { world.crowd.abandon_frame() };
            world.place(2, at(1.0));
            let seen = world.frame(setup, 0.4, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            let seen = world.frame(setup, 0.4, &[camera()]);
            (0..3).for_each(|actor| stands(&seen[0], actor));
        });
    });
}

#[test]
fn palettes_that_are_packed_again_are_no_motion() {
    each(|setup| {
        let characters = [
            (dancer(3), SkinningMethod::Linear),
            (dancer(4), SkinningMethod::Linear),
        ];
        let capacity = Capacity {
            palette_entries: 10,
            ..HISTORIES
        };
        // The CPU poses: else, instances have no ranges of the ring between frames.
        let stages = posed_by_cpu();
        let mut world = World::with(setup, stages, capacity, &characters);
        world.spawn(0, at(-1.0), SWAY);
        world.spawn(0, at(0.0), SWAY);
        world.spawn(1, at(1.0), SWAY);
        world.frame(setup, 0.3, &[camera()]);
        let base = |world: &World, actor: usize| {
            let record = world.crowd.live(world.actors[actor].id).record();
            (record.palette, record.morphs)
        };
        let before = base(&world, 2);
        world.despawn(0);
        world.despawn(0);
        let new = world.spawn(1, at(-0.5), SWAY);
        let after = base(&world, 0);
        assert!(
            before.0 != after.0 && before.1 != after.1,
            "nothing was compacted"
        );
        let seen = world.frame(setup, 0.3, &[camera()]);
        stands(&seen[0], 0);
        stands(&seen[0], new);
        let seen = world.frame(setup, 0.4, &[camera()]);
        moves(&seen[0], 0);
        moves(&seen[0], new);
        world.destroy(setup);
    });
}
