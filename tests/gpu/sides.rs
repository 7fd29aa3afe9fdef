//! The stage cull on the CPU and on the GPU: the same lists in the same order, the same figures,
//! the same pictures.

use crate::misuse::is_argument;
use crate::reference::explore::explore;
use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::reference::sweep::is_thorough;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, depth, pass, picture, target};
use crate::support::lists::{List, lists};
use crate::support::own::depth_pipeline;
use crate::support::probe::{Output, Probe};
use crate::support::{SMALL, Setup, each, placed, reversed, view};
use std::collections::HashMap;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Quat, Vec2, Vec3};
use throng::gpu::Features;
use throng::mesh::AlphaMode;
use throng::{
    Attachment, Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Culling, Detail, Eye,
    InstanceId, PassId, Play, Shadow, Spawn, Stages, View, ViewStats, builtin,
};
use throng_standalone::{Context, Target};

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

/// A view's lists of a character: for each level, flipped or not, the table indices in order.
/// Instances that hide parts come after the others.
type Listed = HashMap<(u32, bool), Vec<u32>>;

/// The lists of a frame in flight, with their places in the output.
///
/// By crowd, view and character.
type Flight = Vec<Vec<Vec<Vec<(usize, List)>>>>;

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

    fn transform(&mut self) -> Affine3A {
        let rng = &mut self.rng;
        let flip = if rng.chance(4) { -1.0 } else { 1.0 };
        let scale = Vec3::new(flip * rng.range(0.4, 1.6), rng.range(0.4, 1.6), 1.0);
        let far = if rng.chance(3) { 40.0 } else { 6.0 };
        let mut within = || rng.range(-far, far);
        let place = Vec3::new(within(), 0.3 * within(), within());
        let turn = Quat::from_rotation_y(self.rng.range(0.0, 6.0));
        Affine3A::from_scale_rotation_translation(scale, turn, place)
    }

    fn spawn(&mut self, setup: &mut Setup) {
        if self.members.len() >= MOST {
            return;
        }
        let kind = self.rng.below(self.kinds.len());
        // Mostly mannequins, because they have levels.
        let kind = if self.rng.chance(2) { 0 } else { kind };
        let world_from_model = self.transform();
        let clips = ["Walk", "Idle"];
        let plays = kind == 0 && self.rng.chance(8);
        let clip = clips[self.rng.below(2)];
        let play = if plays { Play::new(clip) } else { Play::REST };
        self.put(setup, kind, &world_from_model, play);
    }

    /// Spawns an instance in both crowds, which grow if they must.
    fn put(&mut self, setup: &mut Setup, kind: usize, world_from_model: &Affine3A, play: Play) {
        let spawn = placed(*world_from_model, play);
        let need = self.crowds[0].capacity();
        if self.members.len() as u32 == need.instances {
            let more = Capacity {
                instances: need.instances * 2,
                palette_entries: need.palette_entries * 2,
                views: need.views.max(3),
                ..need
            };
            for crowd in &mut self.crowds {
                setup.reserve(crowd, &more);
            }
            // Earlier counts of the GPU are not kept.
            self.reports = [None, None];
        }
        let id = self.kinds[kind].0;
        let ids = self
            .crowds
            .each_mut()
            .map(|crowd| crowd.spawn(id, &spawn).unwrap());
        assert_eq!(ids[0], ids[1]);
        let hidden = 0;
        let member = Member {
            id: ids[0],
            kind,
            hidden,
        };
        self.members.push(member);
    }

    /// One random call to both crowds.
    fn operate(&mut self, setup: &mut Setup) {
        let count = self.members.len();
        let operation = self.rng.below(12);
        if count < 2 || operation < 3 {
            return self.spawn(setup);
        }
        let at = self.rng.below(count);
        let id = self.members[at].id;
        match operation {
            3 if self.rng.chance(2) => {
                self.members.swap_remove(at);
                for crowd in &mut self.crowds {
                    crowd.despawn(id).unwrap();
                }
            }
            4..8 => {
                let place = self.transform();
                for crowd in &mut self.crowds {
                    crowd.live_mut(id).set_transform(&place).unwrap();
                }
            }
            8 => {
                let visible = self.rng.chance(2);
                for crowd in &mut self.crowds {
                    crowd.live_mut(id).set_visible(visible);
                }
            }
            9 => {
                let mask = [1, 2, 3, u32::MAX][self.rng.below(4)];
                for crowd in &mut self.crowds {
                    crowd.live_mut(id).set_view_mask(mask);
                }
            }
            10 if self.members[at].kind > 0 => {
                let part = self.rng.below(2);
                let visible = self.rng.chance(2);
                let bit = 1 << part;
                let hidden = &mut self.members[at].hidden;
                *hidden = if visible {
                    *hidden & !bit
                } else {
                    *hidden | bit
                };
                for crowd in &mut self.crowds {
                    let mut it = crowd.live_mut(id);
                    it.set_part_visible(["front", "back"][part], visible)
                        .unwrap();
                }
            }
            11 if self.members[at].kind == 0 => {
                let clip = ["Walk", "Idle", "Run"][self.rng.below(3)];
                let play = if self.rng.chance(2) {
                    Play::REST
                } else {
                    Play::new(clip).fade_s(0.1)
                };
                for crowd in &mut self.crowds {
                    crowd.live_mut(id).play(play).unwrap();
                }
            }
            _ => {}
        }
    }

    /// Adds, replaces or removes a character.
    fn recast(&mut self, setup: &mut Setup) {
        let last = self.kinds.len() - 1;
        if last > 1 && self.rng.chance(2) {
            let (id, _) = self.kinds.pop().unwrap();
            let (gone, kept) = std::mem::take(&mut self.members)
                .into_iter()
                .partition(|member| member.kind == last);
            self.members = kept;
            for crowd in &mut self.crowds {
                for member in &gone {
                    crowd.despawn(member.id).unwrap();
                }
                crowd.remove_character(id).unwrap();
            }
        } else if last < 4 {
            let joints = 2 + self.rng.below(5);
            self.add(setup, parted(joints));
        } else {
            let joints = 2 + self.rng.below(5);
            let (id, _) = self.kinds[last];
            for crowd in &mut self.crowds {
                let allocator = &mut setup.context.allocator();
                let issues = crowd.replace_character(allocator, id, &parted(joints));
                assert_eq!(issues.unwrap(), []);
            }
            self.kinds[last].1 = parted(joints);
        }
        // The work buffer may have grown.
        self.reports = [None, None];
    }

    fn views(&mut self) -> Vec<View> {
        let count = 1 + self.rng.below(self.crowds[0].capacity().views as usize);
        (0..count).map(|_| self.view(true)).collect()
    }

    /// A view of any kind. Its depth is reversed only if `reverses`.
    fn view(&mut self, reverses: bool) -> View {
        let orthographic = self.rng.chance(4);
        let reverses = reverses && !orthographic && self.rng.chance(4);
        let seen = self.eye(orthographic, reverses);
        let eyes = self.multiview && self.rng.chance(2);
        let eyes = if eyes {
            self.rng.below(View::MAX_EYES)
        } else {
            0
        };
        let mut more_eyes = [None; View::MAX_EYES - 1];
        for eye in more_eyes.iter_mut().take(eyes) {
            let seen = self.eye(orthographic, reverses);
            *eye = Some(Eye::new(seen.eye.clip_from_world, seen.eye.position));
        }
        let rng = &mut self.rng;
        let culling = [
            Culling::Frustum,
            Culling::Frustum,
            Culling::Sides,
            Culling::Off,
        ];
        View {
            culling: culling[rng.below(4)],
            detail: Detail {
                error_px: [0.0, 0.5, 1.0, 1.0, 3.0][rng.below(5)],
                pose_error_px: 0.5,
                level: [None, None, None, Some(2)][rng.below(4)],
                max_triangles: [None, None, Some(20_000), Some(2_000)][rng.below(4)],
            },
            mask: [u32::MAX, u32::MAX, 1, 2][rng.below(4)],
            eye: Eye {
                jitter: Vec2::new(rng.range(-0.02, 0.02), 0.01),
                ..seen.eye
            },
            flip_y: rng.chance(4),
            more_eyes,
            ..seen
        }
    }

    fn eye(&mut self, orthographic: bool, reverses: bool) -> View {
        let rng = &mut self.rng;
        let mut point = |far: f32| {
            let mut within = || rng.range(-far, far);
            Vec3::new(within(), 0.2 * within(), within())
        };
        let (eye, at) = (point(12.0), point(4.0) + Vec3::Y);
        if !orthographic {
            let seen = view(eye, at, EXTENT);
            return if reverses { reversed(&seen) } else { seen };
        }
        let half = self.rng.range(1.0, 8.0);
        let clip_from_view = rh::proj::vulkan::orthographic(-half, half, -half, half, 0.1, 30.0);
        let view_from_world = rh::view::look_at_mat4(eye, at, Vec3::Y);
        View::new(clip_from_view * view_from_world, eye, EXTENT)
    }

    /// Prepares a frame with random views in both crowds, and compares what they list.
    fn frame(&mut self, setup: &mut Setup) {
        let views = self.views();
        let members = self.members.iter().map(|member| member.id);
        let some: Vec<InstanceId> = members.filter(|_| self.rng.chance(2)).collect();
        let with_list = self.rng.chance(3).then(|| self.rng.below(views.len()));
        self.show(setup, &views, with_list.map(|view| (view, &some[..])));
    }

    /// Prepares a frame in both crowds, and compares what they list. One view may have a list.
    /// Returns what each view lists of each character.
    fn show(
        &mut self,
        setup: &mut Setup,
        views: &[View],
        with_list: Option<(usize, &[InstanceId])>,
    ) -> Vec<Vec<Listed>> {
        self.now_s += 0.05;
        self.frame_index = 1 - self.frame_index;
        let (index, now_s) = (self.frame_index, self.now_s);
        let cmd = self.frames_in_flight.begin(&setup.context, index);
        let (mut flight, mut told) = (Flight::new(), Vec::new());
        let mut at = [0; 2];
        let report = self.reports[index as usize].take();
        for (side, crowd) in self.crowds.iter_mut().enumerate() {
            let context = &mut setup.context;
            crowd.update(now_s).unwrap();
            let begun = unsafe { crowd.begin_frame(&mut context.allocator(), index, now_s) };
            let mut frame = begun.unwrap();
            if side == 1
                && let Some(report) = &report
            {
                assert_eq!(frame.view_stats(), report);
            }
            let mut own = views.to_vec();
            if let Some((view, some)) = with_list {
                own[view].list = Some(frame.make_list(some).unwrap());
            }
            let ids = unsafe { frame.record_prepare(cmd, &own) }.unwrap();
            let mut of_views = Vec::new();
            for id in ids.iter() {
                let mut of_kinds = Vec::new();
                for (kind, _) in &self.kinds {
                    let all = frame.instances_of(*kind).unwrap().len();
                    let made = lists(&frame, *id, *kind, all).into_iter().map(|list| {
                        let start = at[side];
                        let on = (&self.probe, &self.outputs[side]);
                        list.record((&context.device, cmd), on, 0, start);
                        at[side] += list.words(0);
                        (start, list)
                    });
                    of_kinds.push(made.collect());
                }
                of_views.push(of_kinds);
            }
            flight.push(of_views);
            if side == 0 {
                // The levels, by view and table index.
                for id in ids.iter() {
                    let levels = self.members.iter().map(|member| {
                        let level = frame.level(*id, member.id).unwrap();
                        let index = frame.live(member.id).table_index();
                        (index, (level, member.hidden))
                    });
                    told.push(levels.collect::<HashMap<_, _>>());
                }
                self.reports[index as usize] = Some(frame.view_stats().to_vec());
            }
        }
        Probe::finish(&setup.context.device, cmd);
        self.frames_in_flight.submit(&setup.context, index);
        self.frames_in_flight.wait(&setup.context, index);
        let words = self.outputs.each_ref().map(|output| output.words());
        let mut listed = Vec::new();
        for (view, told) in told.iter().enumerate() {
            let mut of_view = Vec::new();
            let kinds = flight[0][view].iter().zip(&flight[1][view]);
            for (kind, (of_cpu, of_gpu)) in kinds.enumerate() {
                let of = |side: usize| {
                    let lists = [of_cpu, of_gpu][side].iter();
                    let words = &words[side];
                    lists.flat_map(move |(at, list)| {
                        let each = list.read(words, 0, *at).into_iter();
                        each.map(|words| (list.flipped, list.level, list.primitive, words[0]))
                    })
                };
                let (mut cpu, mut gpu) = (Listed::new(), Listed::new());
                for (flipped, _, _, index) in of(0) {
                    let (level, hidden) = told[&index];
                    if hidden == BOTH {
                        // No draw has it.
                        continue;
                    }
                    cpu.entry((level.unwrap(), flipped))
                        .or_default()
                        .push(index);
                }
                for (flipped, level, primitive, index) in of(1) {
                    let (level, hidden) = (level.unwrap(), told[&index].1);
                    assert_eq!(primitive.is_some(), hidden != 0);
                    assert!(primitive.is_none_or(|it| hidden >> it & 1 == 0));
                    self.seen[0] += usize::from(level == 0);
                    self.seen[1] += usize::from(level > 0);
                    self.seen[2] += usize::from(flipped);
                    self.seen[3] += usize::from(primitive.is_some());
                    gpu.entry((level, flipped)).or_default().push(index);
                }
                // The CPU sorts those that hide parts by the parts.
                for list in gpu.values_mut() {
                    list.sort_by_key(|index| told[index].1);
                }
                assert_eq!(gpu, cpu, "view {view}, character {kind}");
                of_view.push(gpu);
            }
            listed.push(of_view);
        }
        listed
    }

    /// Begins a frame in both crowds and gives it up. It has no views, because what they show
    /// decides which levels the next frame starts from.
    fn give_up(&mut self, setup: &mut Setup, how: GiveUp) {
        self.frame_index = 1 - self.frame_index;
        let index = self.frame_index;
        let cmd = self.frames_in_flight.begin(&setup.context, index);
        for crowd in &mut self.crowds {
            let allocator = &mut setup.context.allocator();
            unsafe {
                crowd.update(self.now_s).unwrap();
                let mut frame = crowd.begin_frame(allocator, index, self.now_s).unwrap();
                if how == GiveUp::AbandonPrepared {
                    frame.record_prepare(cmd, &[]).unwrap();
                }
                if how != GiveUp::Drop {
                    crowd.abandon_frame();
                }
            }
        }
        // Nothing of what was recorded is submitted.
        let again = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
        let unused = std::mem::replace(&mut self.frames_in_flight, again);
        unused.destroy(&setup.context);
        self.reports = [None, None];
    }

    /// Draws both crowds, and compares the pictures. Returns the number of pixels that they cover.
    fn look(&mut self, setup: &mut Setup) -> usize {
        self.now_s += 0.05;
        self.frame_index = 1 - self.frame_index;
        let seen = View {
            mask: u32::MAX,
            ..self.view(false)
        };
        let [wanted, drawn] = [0, 1].map(|side| {
            picture(
                &mut setup.context,
                &mut self.crowds[side],
                &mut self.frames_in_flight,
                (self.frame_index, self.now_s),
                (&self.target, self.passes[side], &NORMAL_Z),
                &[seen],
            )
        });
        self.reports[self.frame_index as usize] = None;
        assert_eq!(different(&drawn, &wanted, 0), 0);
        covered(&drawn)
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

/// An engine's own pipeline over the indirect draws sees what the crate's depth pass draws, bit for
/// bit: levels, flipped instances, hidden parts.
#[test]
fn an_own_pipeline_draws_what_the_gpu_lists() {
    each(|setup| {
        let mut crowd = setup.crowd_with(Stages::GpuCull, 1, START);
        let target = target(&mut setup.context);
        let own = crate::support::frames::target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let allocator = &mut setup.context.allocator();
        let kinds = [builtin::mannequin().unwrap().character, parted(4)].map(|character| {
            crowd
                .add_character(allocator, &character, &CharacterDesc::default())
                .unwrap()
        });
        let mut rng = Rng::new(33);
        for number in 0..40 {
            let kind = number % 2;
            let flip = if number % 3 == 0 { -1.0 } else { 1.0 };
            let place = Vec3::new(rng.range(-3.0, 3.0), 0.0, rng.range(-30.0, 2.0));
            let id = crowd
                .spawn(
                    kinds[kind],
                    &placed(
                        Affine3A::from_scale_rotation_translation(
                            Vec3::new(flip, 1.0, 1.0),
                            Quat::from_rotation_y(rng.range(0.0, 6.0)),
                            place,
                        ),
                        if kind == 0 {
                            Play::new("Walk")
                        } else {
                            Play::REST
                        },
                    ),
                )
                .unwrap();
            if number % 4 == 1 {
                let part = ["front", "back"][number / 4 % 2];
                crowd.live_mut(id).set_part_visible(part, false).unwrap();
            }
        }
        let device = setup.context.device.clone();
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX,
            offset: 0,
            size: 12,
        }];
        let sets = [crowd.set_layout().handle()];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&sets)
            .push_constant_ranges(&push);
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.unwrap();
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let dynamic = [vk::DynamicState::CULL_MODE, vk::DynamicState::FRONT_FACE];
        let own_pass = target.pass_desc();
        let make = |context: &Context, variant: u32| {
            let shader = ("test/indirect.vert", variant, layout);
            depth_pipeline(context, &own_pass, shader, &input, &dynamic)
        };
        // One for each way in which primitives are deformed. Coarse levels follow one joint.
        let mut pipelines: HashMap<u32, vk::Pipeline> = HashMap::new();
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let cmd = frames_in_flight.begin(&setup.context, 0);
        let camera = view(Vec3::new(1.0, 2.0, 8.0), Vec3::Y, EXTENT);
        let mut levels = [0; 2];
        unsafe {
            let context = &mut setup.context;
            crowd.update(0.3).unwrap();
            let mut frame = crowd.begin_frame(&mut context.allocator(), 0, 0.3).unwrap();
            let seen = frame.record_prepare(cmd, &[camera]).unwrap()[0];
            target.begin(&device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, seen, pass).unwrap();
            target.end(&device, cmd);
            own.begin(&device, cmd, &NORMAL_Z);
            let point = vk::PipelineBindPoint::GRAPHICS;
            for kind in kinds {
                let indices = frame.mesh(kind).unwrap().index_buffer();
                for indirect in frame.indirect_draws(seen, kind).unwrap() {
                    levels[usize::from(indirect.level > 0)] += 1;
                    let draw = indirect.draw;
                    let variant = draw.variant;
                    let made = pipelines.entry(variant);
                    let pipeline = *made.or_insert_with(|| make(context, variant));
                    device.cmd_bind_pipeline(cmd, point, pipeline);
                    let (sets, offsets) = ([indirect.set], indirect.dynamic_offsets);
                    device.cmd_bind_descriptor_sets(cmd, point, layout, 0, &sets, &offsets);
                    device.cmd_bind_index_buffer(cmd, indices, 0, draw.index_type);
                    let cull = match draw.double_sided {
                        true => vk::CullModeFlags::NONE,
                        false => vk::CullModeFlags::BACK,
                    };
                    device.cmd_set_cull_mode(cmd, cull);
                    let front = match draw.flipped != indirect.flipped {
                        true => vk::FrontFace::CLOCKWISE,
                        false => vk::FrontFace::COUNTER_CLOCKWISE,
                    };
                    device.cmd_set_front_face(cmd, front);
                    let flip = draw.flip_code.unwrap_or(u32::MAX);
                    let push = [draw.primitive, flip, indirect.list];
                    let bytes: Vec<u8> = push.iter().flat_map(|word| word.to_ne_bytes()).collect();
                    let stage = vk::ShaderStageFlags::VERTEX;
                    device.cmd_push_constants(cmd, layout, stage, 0, &bytes);
                    let (buffer, offset) = (indirect.buffer, indirect.offset);
                    device.cmd_draw_indexed_indirect(cmd, buffer, offset, 1, 0);
                }
            }
            own.end(&device, cmd);
        }
        frames_in_flight.submit(&setup.context, 0);
        frames_in_flight.wait(&setup.context, 0);
        let [wanted, drawn] = [&target, &own].map(|target| depth(&mut setup.context, target));
        let covered = wanted.iter().filter(|depth| **depth < 1.0).count();
        assert!(
            covered > 500 && levels.iter().all(|draws| *draws >= 10),
            "{covered} {levels:?}"
        );
        let same = wanted.iter().zip(&drawn).filter(|(a, b)| a == b).count();
        assert_eq!(same, wanted.len());
        unsafe {
            for pipeline in pipelines.into_values() {
                device.destroy_pipeline(pipeline, None);
            }
            device.destroy_pipeline_layout(layout, None);
        }
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}
