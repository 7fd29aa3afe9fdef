//! The stage cull on the CPU and on the GPU: the same lists in the same order, the same figures,
//! the same pictures.

mod calls;
mod lists;
mod own;

use crate::misuse::is_argument;
use crate::reference::explore::explore;
use crate::reference::handles::Handles;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::reference::sweep::is_thorough;
use crate::support::frames::{EXTENT, FramesInFlight, pass, target};
use crate::support::probe::{Output, Probe};
use crate::support::{SMALL, Setup, each, view};
use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::gpu::Features;
use throng::mesh::AlphaMode;
use throng::{
    Attachment, Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Detail, InstanceId, PassId,
    Play, Shadow, Spawn, Stages, View, ViewStats, builtin,
};
use throng_standalone::Target;

const FRAMES_IN_FLIGHT: u32 = 2;
const START: Capacity = Capacity {
    instances: 96,
    palette_entries: 8192,
    views: 2,
    ..SMALL
};
/// Instances alive at the same time, at most.
const MOST: usize = 420;
/// Both parts of a sheet.
const BOTH: u32 = 3;

/// An instance, which has the same id in both crowds.
struct Member {
    id: InstanceId,
    kind: usize,
    hidden: u32,
}

/// The ways to give up a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GiveUp {
    Drop,
    AbandonUnprepared,
    AbandonPrepared,
}

const GIVE_UPS: [GiveUp; 3] = [
    GiveUp::Drop,
    GiveUp::AbandonUnprepared,
    GiveUp::AbandonPrepared,
];

struct World {
    rng: Rng,
    /// The first culls on the CPU, the second on the GPU.
    crowds: [Crowd; 2],
    kinds: Vec<(CharacterId, Character)>,
    members: Vec<Member>,
    probe: Probe,
    outputs: [Output; 2],
    frames_in_flight: FramesInFlight,
    target: Target,
    passes: [PassId; 2],
    now_s: f64,
    frame_index: u32,
    /// By frame index, the figures that the GPU's crowd must report when it begins again.
    reports: [Option<Vec<ViewStats>>; 2],
    /// Lists of each kind that were not empty: finer and coarser levels, flipped, hiding.
    seen: [usize; 4],
    /// True if views may have several eyes.
    multiview: bool,
}

impl World {
    fn new(setup: &mut Setup) -> Self {
        let crowds = [Stages::Cpu, Stages::GpuCull].map(|stages| {
            let desc = CrowdDesc {
                stages,
                ..setup.crowd_desc(FRAMES_IN_FLIGHT, START)
            };
            let device = setup.device();
            Crowd::new(&device, &mut setup.context.allocator(), &desc).unwrap()
        });
        let set_0 = crowds[0].set_layout().handle();
        let probe = Probe::new(&setup.context, "test/crowd_probe.comp", set_0);
        let outputs = [(); 2].map(|()| probe.output(&mut setup.context, 1 << 21));
        let target = target(&mut setup.context);
        let mut crowds = crowds;
        let passes = crowds.each_mut().map(|crowd| pass(crowd, &target, false));
        let mut world = Self {
            rng: Rng::new(0),
            crowds,
            kinds: Vec::new(),
            members: Vec::new(),
            probe,
            outputs,
            frames_in_flight: FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT),
            target,
            passes,
            now_s: 0.0,
            frame_index: 0,
            reports: [None, None],
            seen: [0; 4],
            multiview: setup.device().enabled().contains(Features::MULTIVIEW),
        };
        world.add(setup, builtin::mannequin().unwrap().character);
        world.add(setup, parted(3));
        world
    }

    fn add(&mut self, setup: &mut Setup, character: Character) {
        let ids = self
            .crowds
            .each_mut()
            .map(|crowd| setup.add(crowd, &character));
        assert_eq!(ids[0], ids[1]);
        self.kinds.push((ids[0], character));
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        self.probe.destroy(&setup.context);
        setup.context.wait_idle().unwrap();
        for crowd in self.crowds {
            unsafe { crowd.destroy(&mut setup.context.allocator()) };
        }
        let report = setup.context.allocator().generate_report();
        assert!(report.allocations.is_empty(), "{:?}", report.allocations);
    }
}

/// A ribbon whose sides are parts.
pub(crate) fn parted(joints: usize) -> Character {
    let mut raw = ribbon(joints);
    for (primitive, name) in raw.primitives.iter_mut().zip(["front", "back"]) {
        primitive.part = name.into();
    }
    built(raw).character
}

/// Random crowds, views, lists, masks, hidden parts, budgets and levels that were; growth, new,
/// replaced and removed characters, frames that are given up.
#[test]
fn both_list_the_same_and_report_the_same() {
    let frames = if is_thorough() { 5000 } else { 250 };
    let seen = explore(302, frames * 9, |operations| {
        let mut seen = Vec::new();
        each(|setup| {
            let mut world = World::new(setup);
            let mut pixels = 0;
            for operation in operations {
                let (what, rng) = operation.choose(&[
                    (90, "call"),
                    (1, "recast"),
                    (1, "give up"),
                    (12, "frame"),
                    (2, "look"),
                ]);
                world.rng = rng;
                match what {
                    "call" => world.operate(setup),
                    "recast" => world.recast(setup),
                    "give up" => {
                        let how = GIVE_UPS[world.rng.below(3)];
                        world.give_up(setup, how);
                    }
                    "frame" => world.frame(setup),
                    _ => pixels += world.look(setup),
                }
            }
            seen.push((pixels, world.seen));
            world.destroy(setup);
        });
        seen
    });
    for (pixels, seen) in seen {
        assert!(pixels > frames * 20, "{pixels}");
        assert!(seen.iter().all(|count| *count > frames * 4), "{seen:?}");
    }
}

/// Views go on from the levels that they had, whatever becomes of frames and buffers in between.
#[test]
fn levels_outlast_frames_that_are_given_up() {
    each(|setup| {
        let mut world = World::new(setup);
        for number in 0..90 {
            let place = Affine3A::from_translation(0.5 * number as f32 * Vec3::Z);
            world.put(setup, 0, &place, Play::REST);
        }
        // Some levels that the first view has suit the second one as well, but it starts from
        // others.
        let [far, near] = [-10.0, -7.0].map(|z| View {
            detail: Detail {
                error_px: 0.2,
                ..view(Vec3::new(0.0, 1.5, z), Vec3::Z * 60.0, EXTENT).detail
            },
            ..view(Vec3::new(0.0, 1.5, z), Vec3::Z * 60.0, EXTENT)
        });
        for round in 0..9 {
            world.show(setup, &[far, near], None);
            let how = GIVE_UPS[(round + 1) % 3];
            if how == GiveUp::AbandonPrepared {
                // The table grows in the first of these rounds, and the GPU's work buffer, which
                // has space for 16 characters, in the others.
                for _ in 0..2 * world.kinds.len() {
                    world.add(setup, parted(3));
                }
                for number in 0..8 * round {
                    let place = Affine3A::from_translation(-(number as f32) * Vec3::Z);
                    world.put(setup, 0, &place, Play::REST);
                }
                world.reports = [None, None];
            }
            world.give_up(setup, how);
            let listed = world.show(setup, &[near, near], None);
            assert_ne!(listed[0][0], listed[1][0]);
        }
        world.destroy(setup);
    });
}

/// A crowd at rest uploads its views and nothing else, however large it is, and also when it has
/// just grown.
#[test]
fn a_quiet_crowd_uploads_its_views() {
    each(|setup| {
        let uploaded = [20, 200].map(|count| {
            let capacity = Capacity {
                instances: count,
                palette_entries: count * 64,
                views: 2,
                ..SMALL
            };
            let mut crowd = setup.crowd_with(Stages::GpuCull, FRAMES_IN_FLIGHT, capacity);
            let allocator = &mut setup.context.allocator();
            let mannequin = builtin::mannequin().unwrap().character;
            let kind = crowd
                .add_character(allocator, &mannequin, &CharacterDesc::default())
                .unwrap();
            let mut ids = Vec::new();
            for number in 0..count {
                let place = Vec3::new((number % 20) as f32 - 10.0, 0.0, (number / 20) as f32);
                let plays = number % 3 == 0;
                let spawn = Spawn {
                    world_from_model: Affine3A::from_translation(place),
                    play: if plays { Play::new("Wave") } else { Play::REST },
                    paused: plays,
                    ..Spawn::default()
                };
                ids.push(crowd.spawn(kind, &spawn).unwrap());
            }
            // A sword in a hand, so to say.
            let hand = Affine3A::from_translation(Vec3::X * 0.1);
            let hand = Attachment::new(ids[0], "LeftHand").at(hand);
            crowd.live_mut(ids[1]).attach_to(hand).unwrap();
            let shadow = Shadow {
                layers: 1,
                ..Shadow::default()
            };
            let camera = View {
                shadow: Some(shadow),
                ..view(Vec3::new(0.0, 2.0, -9.0), Vec3::Y, EXTENT)
            };
            let views = [
                camera,
                view(Vec3::new(0.0, 30.0, 9.0), Vec3::Z * 5.0, EXTENT),
            ];
            let mut frames_in_flight = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
            let mut frame = |crowd: &mut Crowd, setup: &mut Setup, number: u32| {
                let index = number % FRAMES_IN_FLIGHT;
                let cmd = frames_in_flight.begin(&setup.context, index);
                let context = &mut setup.context;
                let now_s = f64::from(number) * 0.1;
                crowd.update(now_s).unwrap();
                let begun = unsafe { crowd.begin_frame(&mut context.allocator(), index, now_s) };
                let mut frame = begun.unwrap();
                unsafe { frame.record_prepare(cmd, &views) }.unwrap();
                let stats = frame.stats();
                frames_in_flight.submit(&setup.context, index);
                stats
            };
            let first = frame(&mut crowd, setup, 0);
            assert_eq!(first.changes, count);
            assert!(first.animated > 0);
            for number in 1..4 {
                frame(&mut crowd, setup, number);
            }
            let quiet = frame(&mut crowd, setup, 4);
            assert_eq!((quiet.changes, quiet.animated), (0, 0));
            // Growth copies on the GPU. Only poses that stand still are written again, once for
            // each frame in flight.
            let more = Capacity {
                instances: count * 3,
                ..capacity
            };
            crowd
                .reserve(&mut setup.context.allocator(), &more)
                .unwrap();
            for number in 5..7 {
                let grown = frame(&mut crowd, setup, number);
                let palettes = u64::from(grown.palette_entries) * 48;
                assert_eq!((grown.changes, grown.animated), (0, first.animated));
                assert_eq!(grown.upload_bytes, quiet.upload_bytes + palettes);
            }
            let after = frame(&mut crowd, setup, 7);
            assert_eq!(after.upload_bytes, quiet.upload_bytes);
            frames_in_flight.destroy(&setup.context);
            setup.destroy(crowd);
            quiet.upload_bytes
        });
        assert_eq!(uploaded[0], uploaded[1]);
        assert!(uploaded[0] <= 1024, "{uploaded:?}");
    });
}

/// A figure that only one side knows is an error on the other.
#[test]
fn each_side_says_what_the_other_knows() {
    each(|setup| {
        for side in [Stages::Cpu, Stages::GpuCull] {
            let mut crowd = setup.crowd_with(side, 1, START);
            let allocator = &mut setup.context.allocator();
            let opaque = crowd
                .add_character(allocator, &parted(3), &CharacterDesc::default())
                .unwrap();
            let mut raw = ribbon(3);
            raw.materials[0].alpha = AlphaMode::Blend;
            let blended = built(raw).character;
            let blended = crowd
                .add_character(allocator, &blended, &CharacterDesc::default())
                .unwrap();
            let one = [opaque, blended].map(|kind| crowd.spawn(kind, &Spawn::default()).unwrap());
            let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
            let cmd = frames_in_flight.begin(&setup.context, 0);
            let context = &mut setup.context;
            let begun = unsafe { crowd.begin_frame(&mut context.allocator(), 0, 0.0) };
            let mut frame = begun.unwrap();
            let camera = view(Vec3::new(0.0, 2.0, 9.0), Vec3::Y, EXTENT);
            let seen = unsafe { frame.record_prepare(cmd, &[camera]) }.unwrap()[0];
            for (kind, id) in [opaque, blended].into_iter().zip(one) {
                let on_gpu = side != Stages::Cpu && kind == opaque;
                let of_cpu = [
                    frame.draw_bindings(seen, kind, 0).map(drop),
                    frame.draw_ranges(seen, kind, 0, false).map(drop),
                    frame.level(seen, id).map(drop),
                ];
                let of_gpu = frame.indirect_draws(seen, kind).map(drop);
                for result in of_cpu {
                    assert_eq!(result.is_err(), on_gpu, "{result:?}");
                    if on_gpu {
                        is_argument(result, "character");
                    }
                }
                match on_gpu {
                    true => of_gpu.unwrap(),
                    false => is_argument(of_gpu, "character"),
                }
            }
            frames_in_flight.submit(&setup.context, 0);
            frames_in_flight.destroy(&setup.context);
            setup.destroy(crowd);
        }
    });
}
