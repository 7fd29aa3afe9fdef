//! Motion of instances that move, stand, appear and disappear between the frames of a view.

use super::stage::{HISTORIES, World, check, dancer, face, moves, stands};
use crate::reference::handles::Handles;
use crate::reference::ribbon::ribbon;
use crate::support::frames::EXTENT;
use crate::support::{SIDES, Setup, each, view};
use throng::glam::{Affine3A, Quat, Vec2, Vec3};
use throng::palette::SkinningMethod;
use throng::{Capacity, Culling, Eye, SkinningStage, Stages, View};

const METHODS: [SkinningMethod; 3] = [
    SkinningMethod::Linear,
    SkinningMethod::DualQuat,
    SkinningMethod::QuatOffset,
];
/// Clips of a dancer.
const SWAY: Option<usize> = Some(0);
const TURN: Option<usize> = Some(1);

pub(super) fn at(x: f32) -> Affine3A {
    Affine3A::from_translation(Vec3::new(x, -1.0, 0.0))
}

fn from(eye: Vec3) -> View {
    View {
        history: Some(0),
        ..view(eye, Vec3::ZERO, EXTENT)
    }
}

/// The view of history 0.
pub(super) fn camera() -> View {
    from(Vec3::new(0.3, 0.5, 6.0))
}

/// Runs a test in a world with a dancer of each method, side by side.
fn scene(setup: &mut Setup, play: [Option<usize>; 3], test: impl FnOnce(&mut Setup, &mut World)) {
    let characters = METHODS.map(|method| (dancer(3), method));
    let mut world = World::new(setup, HISTORIES, &characters);
    for (index, play) in play.into_iter().enumerate() {
        world.spawn(index, at(index as f32 * 1.1 - 1.1), play);
    }
    test(setup, &mut world);
    world.destroy(setup);
}

#[test]
fn a_still_crowd_under_a_still_camera_has_no_motion_and_jitter_is_not_seen() {
    each(|setup| {
        scene(setup, [SWAY, SWAY, None], |setup, world| {
            // One dancer shows its masked back.
            let turned = Quat::from_rotation_y(3.0);
            world.place(1, Affine3A::from_rotation_translation(turned, Vec3::NEG_Y));
            for frame in 0..4 {
                let jitter = Vec2::new(0.01, -0.004) * frame as f32;
                let view = View {
                    eye: Eye {
                        jitter,
                        ..camera().eye
                    },
                    ..camera()
                };
                let seen = world.frame(setup, 0.3, &[view]);
                (0..3).for_each(|actor| stands(&seen[0], actor));
            }
        });
    });
}

#[test]
fn a_moving_camera_moves_everything() {
    each(|setup| {
        scene(setup, [SWAY, TURN, None], |setup, world| {
            world.frame(setup, 0.3, &[camera()]);
            let jitter = Vec2::new(0.02, 0.01);
            let view = View {
                eye: Eye {
                    jitter,
                    ..from(Vec3::new(1.0, 0.2, 5.0)).eye
                },
                ..from(Vec3::new(1.0, 0.2, 5.0))
            };
            let seen = world.frame(setup, 0.3, &[view]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            let seen = world.frame(setup, 0.3, &[view]);
            (0..3).for_each(|actor| stands(&seen[0], actor));
        });
    });
}

#[test]
fn what_is_animated_morphed_or_moved_moves_and_nothing_else_does() {
    each(|setup| {
        scene(setup, [SWAY, TURN, SWAY], |setup, world| {
            world.frame(setup, 0.2, &[camera()]);
            let seen = world.frame(setup, 0.3, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            for moved in 0..3 {
                let turned = Quat::from_rotation_y(0.2);
                let place = Vec3::new(moved as f32 * 1.1 - 1.2, -0.9, 0.1);
                world.place(moved, Affine3A::from_rotation_translation(turned, place));
                let seen = world.frame(setup, 0.3, &[camera()]);
                for actor in 0..3 {
                    let expect = if actor == moved { moves } else { stands };
                    expect(&seen[0], actor);
                }
                world.morph(moved, [0.5, 0.0].map(Some));
                let seen = world.frame(setup, 0.3, &[camera()]);
                for actor in 0..3 {
                    let expect = if actor == moved { moves } else { stands };
                    expect(&seen[0], actor);
                }
            }
        });
    });
}

/// Clips of a face move no joint, but the face moves in each frame, on all sides.
#[test]
fn a_face_whose_joints_stand_still_moves() {
    each(|setup| {
        for stages in SIDES {
            let characters = [(face(3), SkinningMethod::Linear)];
            let mut world = World::with(setup, stages, HISTORIES, &characters);
            world.spawn(0, at(-0.5), SWAY);
            world.spawn(0, at(0.5), None);
            for frame in 0..6 {
                let seen = world.frame(setup, 0.05 * f64::from(frame), &[camera()]);
                if frame > 0 {
                    moves(&seen[0], 0);
                }
                stands(&seen[0], 1);
            }
            world.destroy(setup);
        }
    });
}

#[test]
fn a_mirrored_and_an_unevenly_scaled_instance_move_as_they_are_drawn() {
    each(|setup| {
        scene(setup, [SWAY; 3], |setup, world| {
            let scaled = |actor: usize, x: f32, y: f32| {
                let scale = Vec3::new(if actor == 1 { -x } else { x }, y, 1.3);
                let place = Vec3::new(actor as f32 * 1.1 - 1.1, -1.0, 0.0);
                Affine3A::from_scale_rotation_translation(scale, Quat::from_rotation_y(0.4), place)
            };
            for frame in 0..3 {
                let grow = 1.0 - 0.1 * frame as f32;
                (0..3).for_each(|actor| world.place(actor, scaled(actor, grow, 0.7 / grow)));
                let seen = world.frame(setup, 0.1 * f64::from(frame), &[camera()]);
                if frame > 0 {
                    (0..3).for_each(|actor| moves(&seen[0], actor));
                }
            }
        });
    });
}

#[test]
fn what_is_attached_moves_with_what_it_follows() {
    each(|setup| {
        scene(setup, [SWAY, None, None], |setup, world| {
            let offset = Affine3A::from_scale_rotation_translation(
                Vec3::splat(0.5),
                Quat::from_rotation_y(0.3),
                Vec3::new(1.2, -0.2, 0.1),
            );
            world.frame(setup, 0.1, &[camera()]);
            // Attaching is a motion from the old place.
            world.attach(1, 0, 2, offset);
            let seen = world.frame(setup, 0.1, &[camera()]);
            moves(&seen[0], 1);
            stands(&seen[0], 0);
            let seen = world.frame(setup, 0.1, &[camera()]);
            stands(&seen[0], 1);
            // The parent's pose and its transform move the child.
            let seen = world.frame(setup, 0.25, &[camera()]);
            moves(&seen[0], 1);
            stands(&seen[0], 2);
            world.place(0, at(-1.4));
            let seen = world.frame(setup, 0.25, &[camera()]);
            moves(&seen[0], 1);
            // A teleport of the parent includes the child.
            world.teleport(0, at(-1.0));
            let seen = world.frame(setup, 0.35, &[camera()]);
            stands(&seen[0], 0);
            stands(&seen[0], 1);
            let seen = world.frame(setup, 0.45, &[camera()]);
            moves(&seen[0], 1);
        });
    });
}

#[test]
fn what_returns_from_being_hidden_has_no_motion_in_its_first_frame() {
    each(|setup| {
        scene(setup, [SWAY, TURN, SWAY], |setup, world| {
            world.frame(setup, 0.1, &[camera()]);
            // Hiding and showing between two frames has no effect.
            world.show(1, false);
            world.show(1, true);
            let seen = world.frame(setup, 0.2, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            world.show(1, false);
            world.frame(setup, 0.3, &[camera()]);
            world.place(1, at(0.1));
            world.show(1, true);
            // In a frame that never runs, the instance does not count as seen.
            world.abandon(setup, 0.35, &[camera()]);
            let seen = world.frame(setup, 0.4, &[camera()]);
            [moves, stands, moves]
                .iter()
                .enumerate()
                .for_each(|(actor, expect)| expect(&seen[0], actor));
            let seen = world.frame(setup, 0.5, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            // Nor does it count as hidden.
            world.show(1, false);
            world.abandon(setup, 0.55, &[camera()]);
            world.show(1, true);
            let seen = world.frame(setup, 0.6, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
        });
    });
}

/// It costs nothing while it rests, so that no frame looks at it.
#[test]
fn what_rested_while_it_was_hidden_has_no_motion_in_its_first_frame() {
    each(|setup| {
        let mut world = World::new(setup, HISTORIES, &[(ribbon(3), SkinningMethod::Linear)]);
        let rests = world.spawn(0, at(-0.5), None);
        for number in 0..4 {
            let seen = world.frame(setup, 0.1 * f64::from(number), &[camera()]);
            stands(&seen[0], rests);
        }
        world.place(rests, at(-0.3));
        let seen = world.frame(setup, 0.4, &[camera()]);
        moves(&seen[0], rests);
        world.show(rests, false);
        world.frame(setup, 0.5, &[camera()]);
        world.place(rests, at(0.3));
        world.show(rests, true);
        let seen = world.frame(setup, 0.6, &[camera()]);
        stands(&seen[0], rests);
        world.place(rests, at(0.0));
        let seen = world.frame(setup, 0.7, &[camera()]);
        moves(&seen[0], rests);
        world.destroy(setup);
    });
}

#[test]
fn a_spawn_has_no_motion_in_its_first_frame() {
    each(|setup| {
        scene(setup, [SWAY, SWAY, None], |setup, world| {
            world.frame(setup, 0.1, &[camera()]);
            let new = world.spawn(0, at(0.6), TURN);
            world.place(2, at(-2.0));
            let seen = world.frame(setup, 0.2, &[camera()]);
            stands(&seen[0], new);
            (0..3).for_each(|actor| {
                check(&seen[0], actor);
            });
            moves(&seen[0], 0);
            let seen = world.frame(setup, 0.3, &[camera()]);
            moves(&seen[0], new);
        });
    });
}

#[test]
fn what_takes_the_place_of_a_despawned_instance_does_not_inherit_its_motion() {
    each(|setup| {
        scene(setup, [SWAY, SWAY, None], |setup, world| {
            world.frame(setup, 0.1, &[camera()]);
            let index = world.crowd.live(world.actors[1].id).table_index();
            world.despawn(1);
            let new = world.spawn(1, at(0.1), TURN);
            let taken = world.crowd.live(world.actors[new].id).table_index();
            assert_eq!(index, taken, "the table index differs");
            let seen = world.frame(setup, 0.2, &[camera()]);
            stands(&seen[0], new);
            moves(&seen[0], 0);
            // It is gone for a frame, and another instance gets its table index.
            world.despawn(new);
            world.frame(setup, 0.3, &[camera()]);
            let newer = world.spawn(2, at(0.2), SWAY);
            let seen = world.frame(setup, 0.4, &[camera()]);
            stands(&seen[0], newer);
            moves(&seen[0], 0);
            let seen = world.frame(setup, 0.45, &[camera()]);
            moves(&seen[0], newer);
        });
    });
}

#[test]
fn a_teleport_has_no_motion_and_the_frame_after_it_has() {
    each(|setup| {
        scene(setup, [SWAY, SWAY, None], |setup, world| {
            world.frame(setup, 0.1, &[camera()]);
            world.teleport(0, at(-0.7));
            world.teleport(2, at(1.5));
            let seen = world.frame(setup, 0.2, &[camera()]);
            stands(&seen[0], 0);
            stands(&seen[0], 2);
            moves(&seen[0], 1);
            let seen = world.frame(setup, 0.3, &[camera()]);
            moves(&seen[0], 0);
            stands(&seen[0], 2);
            // The camera's motion remains.
            world.teleport(2, at(1.2));
            let seen = world.frame(setup, 0.3, &[from(Vec3::new(0.6, 0.5, 6.0))]);
            moves(&seen[0], 2);
        });
    });
}

#[test]
fn a_change_of_what_plays_is_a_motion_from_what_played() {
    each(|setup| {
        scene(setup, [SWAY, None, TURN], |setup, world| {
            world.frame(setup, 0.4, &[camera()]);
            world.play(0, None);
            world.play(1, SWAY);
            world.play(2, SWAY);
            let seen = world.frame(setup, 0.4, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            let seen = world.frame(setup, 0.4, &[camera()]);
            (0..3).for_each(|actor| stands(&seen[0], actor));
        });
    });
}

#[test]
fn frames_without_the_view_do_not_count() {
    each(|setup| {
        scene(setup, [SWAY, SWAY, None], |setup, world| {
            world.frame(setup, 0.1, &[camera()]);
            let other = View {
                history: None,
                ..camera()
            };
            let other = View {
                culling: Culling::Off,
                ..other
            };
            // A frame without a view, with another view, not prepared, and never submitted.
            world.place(2, at(5.0));
            world.pass_by(setup, 0.2, &[]);
            world.pass_by(setup, 0.3, &[other]);
            world.drop_frame(setup, 0.35);
            world.abandon(setup, 0.4, &[camera()]);
            world.place(2, at(1.3));
            let seen = world.frame(setup, 0.45, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            // The abandoned frame was not the last.
            world.abandon(setup, 0.2, &[camera()]);
            world.abandon(setup, 0.3, &[camera()]);
            let seen = world.frame(setup, 0.45, &[camera()]);
            (0..3).for_each(|actor| stands(&seen[0], actor));
        });
    });
}

#[test]
fn a_view_without_a_history_sees_no_motion() {
    each(|setup| {
        scene(setup, [SWAY, SWAY, SWAY], |setup, world| {
            world.frame(setup, 0.1, &[camera()]);
            let other = View {
                history: None,
                ..from(Vec3::new(0.0, 1.0, 5.0))
            };
            let seen = world.frame(setup, 0.2, &[other, camera()]);
            (0..3).for_each(|actor| stands(&seen[0], actor));
            (0..3).for_each(|actor| moves(&seen[1], actor));
        });
    });
}

#[test]
fn histories_of_different_rates_keep_apart() {
    each(|setup| {
        scene(setup, [SWAY, SWAY, None], |setup, world| {
            let slow = View {
                history: Some(2),
                ..from(Vec3::new(-0.4, 0.4, 6.0))
            };
            for frame in 0..7 {
                let time_s = 0.05 * f64::from(frame);
                world.place(2, at(0.9 + 0.06 * frame as f32));
                let both = [camera(), slow];
                let views = if frame % 3 == 0 {
                    &both[..]
                } else {
                    &both[..1]
                };
                let seen = world.frame(setup, time_s, views);
                for (number, seen) in seen.iter().enumerate() {
                    if frame > 0 {
                        (0..3).for_each(|actor| moves(seen, actor));
                    }
                    assert!(number == 0 || frame % 3 == 0);
                }
            }
        });
    });
}

#[test]
fn deformed_vertices_have_a_past_too() {
    each(|setup| {
        scene(setup, [SWAY, TURN, SWAY], |setup, world| {
            for (actor, skin) in [(0, SkinningStage::Compute), (2, SkinningStage::Cpu)] {
                world.skin(actor, skin);
            }
            world.frame(setup, 0.2, &[camera()]);
            let seen = world.frame(setup, 0.3, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            let seen = world.frame(setup, 0.3, &[camera()]);
            (0..3).for_each(|actor| stands(&seen[0], actor));
            world.morph(0, [0.6, 0.0].map(Some));
            world.morph(2, [0.6, 0.0].map(Some));
            let seen = world.frame(setup, 0.3, &[camera()]);
            moves(&seen[0], 0);
            stands(&seen[0], 1);
            moves(&seen[0], 2);
            // From every skinning stage to another, across growth.
            world.skin(0, SkinningStage::Cpu);
            world.skin(1, SkinningStage::Compute);
            world.skin(2, SkinningStage::Vertex);
            let now = world.crowd.capacity();
            let more = Capacity {
                skinned_words: now.skinned_words + 100,
                ..now
            };
            world.reserve(setup, &more);
            let seen = world.frame(setup, 0.4, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            let seen = world.frame(setup, 0.35, &[camera()]);
            (0..3).for_each(|actor| moves(&seen[0], actor));
            let new = world.spawn_as(0, at(0.4), SWAY, SkinningStage::Compute);
            let seen = world.frame(setup, 0.35, &[camera()]);
            (0..=new).for_each(|actor| stands(&seen[0], actor));
        });
    });
}

/// Clips drive one morph weight, and the caller sets another: on the GPU, as on the other sides.
/// The weights that it set stay through frames without changes, growth and a way back in time.
#[test]
fn weights_of_clips_and_of_the_caller_go_together() {
    each(|setup| {
        for stages in SIDES {
            let characters = [
                (dancer(3), SkinningMethod::Linear),
                (face(3), SkinningMethod::QuatOffset),
            ];
            let mut world = World::with(setup, stages, HISTORIES, &characters);
            for number in 0..3 {
                world.spawn(number % 2, at(number as f32 * 1.1 - 1.1), SWAY);
            }
            let mut time_s = 0.05;
            let mut combined = Vec::new();
            for frame in 0..12 {
                match frame {
                    1 => world.morph(0, [None, Some(0.7)]),
                    2 => world.morph(1, [Some(0.4), None]),
                    4 => {
                        let now = world.crowd.capacity();
                        let more = Capacity {
                            instances: now.instances + 40,
                            morph_weights: now.morph_weights + 100,
                            ..now
                        };
                        world.reserve(setup, &more);
                    }
                    5 => world.morph(0, [Some(-0.3), None]),
                    6 => {
                        world.skin(2, SkinningStage::Compute);
                        world.morph(2, [None, Some(0.5)]);
                        world.save();
                    }
                    7 => world.morph(0, [None; 2]),
                    8 => world.pass_by(setup, time_s + 0.02, &[camera()]),
                    10 => time_s = world.restore(0).unwrap(),
                    _ => {}
                }
                time_s += 0.06;
                let seen = world.frame(setup, time_s, &[camera()]);
                for actor in 0..3 {
                    check(&seen[0], actor);
                }
                combined.push(world.combined_on_gpu());
            }
            let expected = match stages == Stages::Gpu {
                true => [0, 1, 2, 2, 2, 2, 3, 2, 2, 2, 3, 3],
                false => [0; 12],
            };
            assert_eq!(combined, expected);
            world.destroy(setup);
        }
    });
}
