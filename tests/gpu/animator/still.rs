//! Instances that stand still are evaluated once per frame in flight, and drawn right in all
//! frames.

use super::{FRAMES_IN_FLIGHT, JOINTS, Member, World};
use crate::reference::handles::Handles;
use crate::support::{SMALL, Setup, each, posed_by_cpu};
use throng::animator::{Play, Pose, ShowPose};
use throng::glam::Quat;
use throng::skeleton::Transform;
use throng::{Capacity, InstanceId, Stages};

/// For each character: one moving instance, four that stand, and one at rest.
const STANDING: u32 = 4;

struct Cast {
    /// The instances whose clips are held, one of each character.
    held: Vec<InstanceId>,
    paused: Vec<InstanceId>,
    resting: Vec<InstanceId>,
}

fn populate(world: &mut World) -> Cast {
    let mut cast = Cast {
        held: Vec::new(),
        paused: Vec::new(),
        resting: Vec::new(),
    };
    for kind in 0..world.kinds.len() {
        world.spawn(kind, "sway".into());
        let paused = world.spawn(kind, Play::new("sway").offset_s(0.3));
        world.both(
            paused,
            |crowd, id| crowd.instance_mut(id).map(|mut it| it.set_paused(true)),
            |animator, actor| animator.actor_mut(actor).map(|mut it| it.set_paused(true)),
        );
        world.spawn(kind, Play::new("sway").offset_s(0.4).once());
        let held = world.spawn(kind, Play::new("turn").offset_s(0.2).speed(0.0));
        let shown = world.spawn(kind, Play::REST);
        show(world, shown, kind);
        let rest = world.spawn(kind, Play::REST);
        cast.held.push(held.id);
        cast.paused.push(paused.id);
        cast.resting.push(rest.id);
    }
    cast
}

/// Shows a pose of the caller.
fn show(world: &mut World, member: Member, kind: usize) {
    let joints = world.kinds[kind].character.skeleton().joints();
    let turned = joints.iter().map(|joint| Transform {
        rotation: Quat::from_rotation_x(0.1),
        ..joint.rest
    });
    let local: Vec<Transform> = turned.collect();
    world.both(
        member,
        |crowd, id| {
            crowd.on(id, |mut it| {
                it.set_pose(Pose::Local(&local), &ShowPose::default())
            })
        },
        |animator, actor| {
            animator.on(actor, |mut it| {
                it.set_pose(Pose::Local(&local), &ShowPose::default())
            })
        },
    );
}

/// Records a frame with every frame index. Returns the number of palettes that each writes.
fn round(setup: &mut Setup, world: &mut World) -> [u32; FRAMES_IN_FLIGHT as usize] {
    [0, 1, 2].map(|frame_index| {
        world.now_s += 0.07;
        world.look(setup, frame_index).animated
    })
}

const MOVING: [u32; 3] = [4; 3];
const ALL: [u32; 3] = [4 * (1 + STANDING); 3];

/// A crowd whose standing instances have been written for all frames in flight.
fn settled(setup: &mut Setup, capacity: Capacity) -> (World, Cast) {
    // The figures are those of the CPU.
    let on_cpu = posed_by_cpu();
    let mut world = World::with(setup, on_cpu, capacity);
    let cast = populate(&mut world);
    world.now_s = 1.0;
    assert_eq!(round(setup, &mut world), ALL);
    assert_eq!(round(setup, &mut world), MOVING);
    (world, cast)
}

#[test]
fn what_stands_is_written_once_for_each_frame_in_flight() {
    each(|setup| {
        let (mut world, cast) = settled(setup, SMALL);
        // Only changed instances are written again.
        let member = world.members.iter().find(|of| of.id == cast.held[1]);
        let member = *member.unwrap();
        world.both(
            member,
            |crowd, id| crowd.on(id, |mut it| it.seek(0, 0.45)),
            |animator, actor| animator.on(actor, |mut it| it.seek(0, 0.45)),
        );
        assert_eq!(round(setup, &mut world), [5; 3]);
        assert_eq!(round(setup, &mut world), MOVING);
        // Back in time, instances that play once move again, and then stand at the end again.
        world.now_s = 0.2;
        assert_eq!(round(setup, &mut world), [8; 3]);
        world.now_s = 3.0;
        assert_eq!(round(setup, &mut world), [8; 3]);
        assert_eq!(round(setup, &mut world), MOVING);
        world.destroy(setup);
    });
}

#[test]
fn what_stands_survives_growth_and_frames_that_are_given_up() {
    each(|setup| {
        let (mut world, cast) = settled(setup, SMALL);
        let mut more = world.crowd.capacity();
        more.palette_entries += 100;
        setup.reserve(&mut world.crowd, &more);
        assert_eq!(round(setup, &mut world), ALL);
        assert_eq!(round(setup, &mut world), MOVING);
        // Neither an abandoned frame nor a frame that is only begun loses anything.
        let member = world.members.iter().find(|of| of.id == cast.held[0]);
        let member = *member.unwrap();
        for time_s in [0.1, 0.6] {
            world.both(
                member,
                |crowd, id| crowd.on(id, |mut it| it.seek(0, time_s)),
                |animator, actor| animator.on(actor, |mut it| it.seek(0, time_s)),
            );
            for prepares in [true, false] {
                world.now_s += 0.05;
                world.give_up(setup, 0, prepares);
            }
            let written = round(setup, &mut world);
            assert!(written[0] == 4 || written[0] == 5, "{written:?}");
            assert_eq!(written[1..], [5; 2]);
            assert_eq!(round(setup, &mut world), MOVING);
        }
        world.destroy(setup);
    });
}

#[test]
fn what_stands_survives_a_compaction() {
    // 24 instances with 9 entries each: 27 rows for matrices, and 18 rows for most other formats.
    let entries = 24 * JOINTS as u32;
    let tight = Capacity {
        palette_entries: entries,
        ..SMALL
    };
    each(|setup| {
        let (mut world, cast) = settled(setup, tight);
        // Free ranges that are not adjacent, and more matrices than fit without compaction.
        for id in cast.resting {
            world.despawn(id);
        }
        let mut refused = false;
        for _ in 0..12 {
            let spawn = throng::Spawn::default();
            let kind = world.kinds[0].id;
            if let Ok(id) = world.crowd.spawn(kind, &spawn) {
                world.crowd.despawn(id).unwrap();
                world.spawn(0, Play::new("turn").offset_s(0.8).speed(0.0));
            } else {
                refused = true;
            }
            let written = round(setup, &mut world);
            // The new one, or all instances after a compaction.
            assert!(written.iter().all(|count| *count >= 4));
            assert_eq!(round(setup, &mut world), MOVING);
        }
        assert!(refused, "the ring was full");
        world.destroy(setup);
    });
}

/// If the GPU poses the instances that play, rows of the ring are for the others. If most of these
/// end, the rest move together.
#[test]
fn what_stands_survives_that_gaps_close() {
    let on_gpu = Stages::Gpu;
    let tight = Capacity {
        palette_entries: 24 * JOINTS as u32,
        ..SMALL
    };
    each(|setup| {
        let mut world = World::with(setup, on_gpu, tight);
        let posed: Vec<Member> = (0..20)
            .map(|_| {
                let member = world.spawn(0, Play::REST);
                show(&mut world, member, 0);
                member
            })
            .collect();
        world.now_s = 1.0;
        assert_eq!(round(setup, &mut world), [20; 3]);
        assert_eq!(round(setup, &mut world), [0; 3]);
        for member in &posed[..19] {
            world.both(
                *member,
                |crowd, id| {
                    crowd
                        .instance_mut(id)
                        .and_then(|mut it| it.play(Play::REST))
                },
                |animator, actor| {
                    animator
                        .actor_mut(actor)
                        .and_then(|mut it| it.play(Play::REST))
                },
            );
        }
        assert_eq!(round(setup, &mut world), [1; 3]);
        assert_eq!(round(setup, &mut world), [0; 3]);
        world.destroy(setup);
    });
}

#[test]
fn what_stands_and_is_hidden_costs_nothing_and_comes_back() {
    each(|setup| {
        let (mut world, cast) = settled(setup, SMALL);
        for id in &cast.paused {
            world.crowd.live_mut(*id).set_visible(false);
        }
        assert_eq!(round(setup, &mut world), MOVING);
        let member = world.members.iter().find(|of| of.id == cast.paused[2]);
        let member = *member.unwrap();
        world.both(
            member,
            |crowd, id| crowd.on(id, |mut it| it.seek(0, 0.9)),
            |animator, actor| animator.on(actor, |mut it| it.seek(0, 0.9)),
        );
        assert_eq!(round(setup, &mut world), MOVING);
        for id in &cast.paused {
            world.crowd.live_mut(*id).set_visible(true);
        }
        assert_eq!(round(setup, &mut world), [5; 3]);
        assert_eq!(round(setup, &mut world), MOVING);
        world.destroy(setup);
    });
}

impl World {
    /// Begins a frame, prepares it if asked for, and abandons it.
    fn give_up(&mut self, setup: &mut Setup, frame_index: u32, prepares: bool) {
        self.update();
        let cmd = self.frames_in_flight.begin(&setup.context, frame_index);
        let allocator = &mut setup.context.allocator();
        self.crowd.update(self.now_s).unwrap();
        unsafe {
            let mut frame = self
                .crowd
                .begin_frame(allocator, frame_index, self.now_s)
                .unwrap();
            if prepares {
                frame.record_prepare(cmd, &[]).unwrap();
            }
            self.crowd.abandon_frame();
        }
    }
}
