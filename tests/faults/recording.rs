//! Recording a frame allocates nothing on the CPU and the GPU. This includes the first frame.

use crate::counting::{Counted, failing};
use crate::reference::handles::Handles;
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, target};
use crate::support::{SMALL, described, each, placed, view};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use throng::glam::{Affine3A, Vec3};
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::mesh::AlphaMode;
use throng::palette::SkinningMethod;
use throng::skeleton::Joint;
use throng::{
    Attachment, Capacity, CharacterDesc, CharacterId, CrowdSnapshot, Id, IkSolver, IkTarget,
    InstanceId, Play, SkinningStage, Spawn, View,
};

struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The number of allocations of this thread while `work` ran.
fn allocations<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATIONS.with(Cell::get);
    let result = work();
    (result, ALLOCATIONS.with(Cell::get) - before)
}

#[test]
fn nothing_is_allocated_while_a_frame_is_recorded() {
    assert_eq!(allocations(|| vec![0_u8; 100]).1, 1, "the counter counts");
    each(|setup| {
        let mut counted = Counted::new(setup);
        let capacity = Capacity {
            histories: 1,
            ..SMALL
        };
        let mut crowd = counted.crowd(setup, 2, capacity);
        let target = target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let kinds: Vec<CharacterId> = [3, 30, 9]
            .map(|joints| {
                let character = built(ribbon(joints)).character;
                crowd
                    .add_character(
                        &mut counted.allocator,
                        &character,
                        &CharacterDesc::default(),
                    )
                    .unwrap()
            })
            .to_vec();
        let limb = TwoBone::new(Id::new(0), Id::new(1), Id::new(2));
        let limb = IkSolver::TwoBone(limb);
        let solvers: Vec<Id<IkSolver>> = kinds
            .iter()
            .map(|kind| crowd.add_solver(*kind, limb.clone()).unwrap())
            .collect();
        let camera = View {
            history: Some(0),
            ..view(Vec3::new(0.0, 2.0, 8.0), Vec3::ZERO, EXTENT)
        };
        for number in 0..4 {
            for (kind, solver) in kinds.iter().zip(&solvers) {
                let spawn = placed(Affine3A::IDENTITY, "sway");
                // One instance plays, one reaches, and one is in the middle of a cut.
                crowd.spawn(*kind, &spawn).unwrap();
                let reaching = crowd.spawn(*kind, &spawn).unwrap();
                let target = TwoBoneTarget::at(Vec3::new(0.3, 0.5, 0.2));
                let target = IkTarget::TwoBone(target);
                crowd
                    .live_mut(reaching)
                    .set_target(*solver, target, 0.0)
                    .unwrap();
                let cut = crowd.spawn(*kind, &spawn).unwrap();
                let play = Play::new("sway").offset_s(0.3).inertial_s(0.5);
                crowd.live_mut(cut).play(play).unwrap();
            }
            if number == 2 {
                // The next frame moves the history to its new buffer.
                let more = Capacity {
                    instances: capacity.instances + 1,
                    ..capacity
                };
                crowd.reserve(&mut counted.allocator, &more).unwrap();
            }
            let frame_index = number % 2;
            let cmd = frames_in_flight.begin(&setup.context, frame_index);
            let allocator = &mut counted.allocator;
            crowd.update(0.1).unwrap();
            let mut frame = unsafe { crowd.begin_frame(allocator, frame_index, 0.1) }.unwrap();
            // The call after the last one would fail, but there is no such call.
            let ((views, some), made) = failing(0, || {
                allocations(|| unsafe { frame.record_prepare(cmd, &[camera]) })
            });
            assert_eq!((some, made), (0, None), "preparing frame {number}");
            let views = views.unwrap();
            unsafe { target.begin(&setup.context.device, cmd, &NORMAL_Z) };
            let ((drawn, some), made) = failing(0, || {
                allocations(|| unsafe { frame.record_draw(cmd, views[0], pass) })
            });
            drawn.unwrap();
            assert_eq!((some, made), (0, None), "drawing frame {number}");
            unsafe { target.end(&setup.context.device, cmd) };
            frames_in_flight.submit(&setup.context, frame_index);
        }
        frames_in_flight.destroy(&setup.context);
        unsafe { crowd.destroy(&mut counted.allocator) };
        counted.finish();
    });
}

/// Instances that are skinned before they are drawn allocate nothing either.
///
/// For CPU skinning, this holds after the first frames, in which its working memory grows.
#[test]
fn nothing_is_allocated_for_skinning_before_the_draw() {
    let capacity = Capacity {
        skinned_words: 60_000,
        cpu_skinned_words: 60_000,
        ..SMALL
    };
    for (mode, warm) in [(SkinningStage::Compute, 0), (SkinningStage::Cpu, 3)] {
        each(|setup| {
            let mut counted = Counted::new(setup);
            let mut crowd = counted.crowd(setup, 2, capacity);
            let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
            let kinds: Vec<CharacterId> = [
                SkinningMethod::Linear,
                SkinningMethod::DualQuat,
                SkinningMethod::QuatOffset,
            ]
            .map(|method| {
                let character = built(ribbon(9)).character;
                let desc = described(method, true);
                let allocator = &mut counted.allocator;
                let added = crowd.add_character(allocator, &character, &desc);
                added.unwrap()
            })
            .to_vec();
            for number in 0..6 {
                for (at, kind) in kinds.iter().enumerate() {
                    let spawn = Spawn {
                        play: if at == 1 { Play::REST } else { "sway".into() },
                        skinning_stage: mode,
                        ..Spawn::default()
                    };
                    crowd.spawn(*kind, &spawn).unwrap();
                }
                let frame_index = number % 2;
                let cmd = frames_in_flight.begin(&setup.context, frame_index);
                let allocator = &mut counted.allocator;
                crowd.update(0.1).unwrap();
                let mut frame = unsafe { crowd.begin_frame(allocator, frame_index, 0.1) }.unwrap();
                let ((views, some), made) = failing(0, || {
                    allocations(|| unsafe { frame.record_prepare(cmd, &[]) })
                });
                views.unwrap();
                assert_eq!(made, None, "preparing frame {number}");
                assert!(
                    some == 0 || number < warm,
                    "{mode:?}: {some} in frame {number}"
                );
                frames_in_flight.submit(&setup.context, frame_index);
            }
            frames_in_flight.destroy(&setup.context);
            unsafe { crowd.destroy(&mut counted.allocator) };
            counted.finish();
        });
    }
}

/// Neither do views that show different instances, hidden parts, and attached instances.
#[test]
fn nothing_is_allocated_for_who_shows_what_and_who_hangs_where() {
    each(|setup| {
        let mut counted = Counted::new(setup);
        let mut crowd = counted.crowd(setup, 2, SMALL);
        let target = target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let kinds = [AlphaMode::Opaque, AlphaMode::Blend].map(|alpha| {
            let mut raw = ribbon(5);
            for (primitive, name) in raw.primitives.iter_mut().zip(["front", "back"]) {
                primitive.part = name.into();
            }
            raw.materials[0].alpha = alpha;
            let character = built(raw).character;
            let parts = ["front", "back"].map(|name| character.part(name).unwrap());
            let allocator = &mut counted.allocator;
            (
                crowd
                    .add_character(allocator, &character, &CharacterDesc::default())
                    .unwrap(),
                parts,
            )
        });
        let mut all: Vec<InstanceId> = Vec::new();
        for number in 0..6_u32 {
            for (at, (kind, parts)) in kinds.iter().enumerate() {
                for more in 0..3_usize {
                    let play = Play::from("sway");
                    let id = crowd
                        .spawn(*kind, &placed(Affine3A::IDENTITY, play))
                        .unwrap();
                    crowd.live_mut(id).set_view_mask(1 << more);
                    let part = parts[(more + number as usize) % 2];
                    crowd
                        .live_mut(id)
                        .set_part_visible(part, more == 0)
                        .unwrap();
                    if at > 0 {
                        // A chain that gets longer.
                        let parent = *all.last().unwrap();
                        let offset = Affine3A::from_translation(Vec3::X * 0.01);
                        crowd
                            .live_mut(id)
                            .attach_to(Attachment::new(parent, Id::<Joint>::new(4)).at(offset))
                            .unwrap();
                    }
                    all.push(id);
                }
            }
            crowd.live_mut(all[number as usize]).set_visible(false);
            if number == 4 {
                crowd.live_mut(all[4]).detach();
            }
            let frame_index = number % 2;
            let cmd = frames_in_flight.begin(&setup.context, frame_index);
            let allocator = &mut counted.allocator;
            crowd.update(0.1).unwrap();
            let mut frame = unsafe { crowd.begin_frame(allocator, frame_index, 0.1) }.unwrap();
            let listed = &all[all.len() / 2..];
            let ((views, some), made) = failing(0, || {
                allocations(|| {
                    let list = frame.make_list(listed)?;
                    let camera = view(Vec3::new(0.0, 2.0, 8.0), Vec3::ZERO, EXTENT);
                    let views = [
                        View { mask: 1, ..camera },
                        View { mask: 6, ..camera },
                        View {
                            list: Some(list),
                            ..camera
                        },
                    ];
                    unsafe { frame.record_prepare(cmd, &views) }
                })
            });
            assert_eq!((some, made), (0, None), "preparing frame {number}");
            let views = views.unwrap();
            unsafe { target.begin(&setup.context.device, cmd, &NORMAL_Z) };
            let ((drawn, some), made) = failing(0, || {
                allocations(|| {
                    let mut each = views.iter();
                    each.try_for_each(|view| unsafe { frame.record_draw(cmd, *view, pass) })
                })
            });
            drawn.unwrap();
            assert_eq!((some, made), (0, None), "drawing frame {number}");
            unsafe { target.end(&setup.context.device, cmd) };
            frames_in_flight.submit(&setup.context, frame_index);
        }
        frames_in_flight.destroy(&setup.context);
        unsafe { crowd.destroy(&mut counted.allocator) };
        counted.finish();
    });
}

/// Neither does going back: snapshots, a restore and the frames after it, once each has run once.
#[test]
fn nothing_is_allocated_for_a_rollback() {
    each(|setup| {
        let mut counted = Counted::new(setup);
        let mut crowd = counted.crowd(setup, 2, SMALL);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let kinds = [3, 9].map(|joints| {
            let character = built(ribbon(joints)).character;
            crowd
                .add_character(
                    &mut counted.allocator,
                    &character,
                    &CharacterDesc::default(),
                )
                .unwrap()
        });
        let mut ids: Vec<InstanceId> = Vec::new();
        for number in 0..8 {
            let spawn = Spawn {
                play: "sway".into(),
                layers: &[Play::new("turn").layer(1).weight(0.5)],
                visible: number != 5,
                ..Spawn::default()
            };
            ids.push(crowd.spawn(kinds[number % 2], &spawn).unwrap());
        }
        let attachment = Attachment::new(ids[0], Id::<Joint>::new(1));
        crowd.live_mut(ids[1]).attach_to(attachment).unwrap();
        let mut ring: Vec<CrowdSnapshot> = vec![CrowdSnapshot::default(); 4];
        for round in 0..4 {
            let mut some = Vec::new();
            for (step, saved) in (0..).zip(&mut ring) {
                let crowd = &mut crowd;
                let ((), made) = allocations(|| {
                    crowd.snapshot_into(saved);
                    // These are undone: another clip, a spawn and a despawn.
                    let id = ids[2 + step as usize];
                    crowd
                        .live_mut(id)
                        .play(Play::new("turn").fade_s(0.1))
                        .unwrap();
                    let born = crowd.spawn(kinds[0], &Spawn::default()).unwrap();
                    if step % 2 == 0 {
                        crowd.despawn(born).unwrap();
                    }
                });
                let cmd = frames_in_flight.begin(&setup.context, step % 2);
                let allocator = &mut counted.allocator;
                let ((), frame) = allocations(|| unsafe {
                    let now_s = 0.1 * f64::from(step + 1);
                    crowd.update(now_s).unwrap();
                    let mut frame = crowd.begin_frame(allocator, step % 2, now_s).unwrap();
                    frame.record_prepare(cmd, &[]).unwrap();
                });
                frames_in_flight.submit(&setup.context, step % 2);
                some.push((made, frame));
            }
            let (restored, made) = allocations(|| crowd.restore(&ring[0]));
            restored.unwrap();
            let none = some.iter().all(|some| *some == (0, 0)) && made == 0;
            assert!(round == 0 || none, "round {round}: {some:?}, {made}");
            assert!(crowd.instances().eq(ids.iter().copied()));
        }
        frames_in_flight.destroy(&setup.context);
        setup.context.wait_idle().unwrap();
        unsafe { crowd.destroy(&mut counted.allocator) };
        counted.finish();
    });
}
