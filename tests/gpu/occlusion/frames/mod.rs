//! Whole frames with and without depth that hides instances: the same pictures, bit for bit.

mod changes;
mod shots;

use super::reference::{Picture, Volume, hides};
use super::walls::{Canvas, Walls};
use crate::occlusion_records::{Projection, Pyramid};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::reference::sweep::is_thorough;
use crate::shader_layout::GpuOcclusion;
use crate::sides::parted;
use crate::support::exceptions::{self, Needs};
use crate::support::frames::FramesInFlight;
use crate::support::read_image::{ImageRead, read_image};
use crate::support::{SMALL, Setup, each};
use shots::Shot;
use throng::ash::vk;
use throng::character::Character;
use throng::gpu::Features;
use throng::{
    Capacity, CharacterId, Crowd, Culling, Depth, InstanceId, PassDesc, PassId, PassKind, Stages,
    Stats, ViewStats, builtin,
};
use throng_standalone::Begin;

struct Member {
    id: InstanceId,
    kind: usize,
    attached: bool,
}

const MOTION: vk::Format = vk::Format::R32G32_SFLOAT;

/// Colour, depth and motion.
type Pixels = (Vec<u8>, Option<Vec<f32>>, Option<Vec<u8>>);

/// The pictures of a frame, until its figures are known.
struct Drawn {
    shot: Shot,
    /// By view and crowd.
    pictures: Vec<Vec<Pixels>>,
}

struct World {
    rng: Rng,
    /// The first is without depth, the second behind that of walls, and the third reveals instances
    /// that are not behind others.
    crowds: [Crowd; 3],
    kinds: Vec<CharacterId>,
    members: Vec<Member>,
    frames_in_flight: FramesInFlight,
    walls: Walls,
    canvases: Vec<Canvas>,
    /// By canvas, direction of depth and crowd.
    passes: Vec<[[PassId; 3]; 2]>,
    /// The same for motion vectors, if views have histories. Then all poses are shared.
    motions: Vec<(Canvas, [[PassId; 3]; 2])>,
    now_s: f64,
    drawn: Option<Drawn>,
    multiview: bool,
    /// Frames compared, hidden instances, and of those that the CPU hides, how many.
    seen: [u64; 6],
}

impl World {
    /// With no more samples than `samples` in any canvas.
    fn new(setup: &mut Setup, moves: bool, samples: u32) -> Self {
        let capacity = Capacity {
            histories: if moves { 2 } else { 0 },
            instances: 200,
            palette_entries: 32_768,
            skinned_words: 1 << 20,
            views: 12,
            depth_pixels: 4 * 257 * 151,
            late_views: 2,
            ..SMALL
        };
        let mut crowds = [(); 3].map(|()| setup.crowd_with(Stages::Gpu, 1, capacity));
        let walls = Walls::new(&setup.context);
        let sizes = [
            ([96, 96], 1),
            ([131, 67], 4),
            ([257, 131], 1),
            ([64, 65], 1),
            ([33, 80], 4),
            ([7, 5], 1),
            ([1, 1], 1),
        ];
        let canvases: Vec<_> = sizes
            .into_iter()
            .chain(sizes)
            .map(|(size, own)| Canvas::new(&setup.context, &walls, size, own.min(samples)))
            .collect();
        // Canvases of equal samples share passes: most of the time would go into pipelines.
        let mut made: Vec<(PassKind, u32, [[PassId; 3]; 2])> = Vec::new();
        let mut passes_of = |canvas: &Canvas, kind: PassKind| {
            let mut same = made.iter();
            if let Some((.., passes)) = same.find(|it| (it.0, it.1) == (kind, canvas.samples)) {
                return *passes;
            }
            let passes = [false, true].map(|reversed_z| {
                let desc = PassDesc {
                    kind,
                    reversed_z,
                    ..canvas.target.pass_desc()
                };
                crowds
                    .each_mut()
                    .map(|crowd| unsafe { crowd.create_pass(&desc) }.unwrap())
            });
            made.push((kind, canvas.samples, passes));
            passes
        };
        let passes = canvases.iter();
        let passes = passes.map(|canvas| passes_of(canvas, PassKind::Color));
        let passes = passes.collect();
        let of_motion = canvases.iter().filter(|_| moves).map(|canvas| {
            let extent = canvas.target.extent();
            let of = ([extent.width, extent.height], canvas.samples);
            let canvas = Canvas::of_format(&setup.context, &walls, of, MOTION);
            let passes = passes_of(&canvas, PassKind::Motion);
            (canvas, passes)
        });
        let motions = of_motion.collect();
        let mut world = Self {
            rng: Rng::new(48),
            crowds,
            kinds: Vec::new(),
            members: Vec::new(),
            frames_in_flight: FramesInFlight::new(&setup.context, 1),
            walls,
            canvases,
            passes,
            motions,
            now_s: 0.0,
            drawn: None,
            multiview: setup.device().enabled().contains(Features::MULTIVIEW),
            seen: [0; 6],
        };
        world.add(setup, &builtin::mannequin().unwrap().character);
        world.add(setup, &parted(3));
        for _ in 0..40 {
            world.spawn();
        }
        world
    }

    fn add(&mut self, setup: &mut Setup, character: &Character) {
        let ids = self
            .crowds
            .each_mut()
            .map(|crowd| setup.add(crowd, character));
        assert!(ids.iter().all(|id| *id == ids[0]));
        self.kinds.push(ids[0]);
    }

    /// The depth pictures of a shot, once its canvases have them.
    fn depths(&self, shot: &Shot) -> Vec<Depth> {
        let eyes = shot.canvases[..shot.behind].iter().map(|canvas| {
            let depth = self.canvases[*canvas].depth(shot.reversed_z);
            // Any margin only shows more.
            Depth {
                margin_m: if self.now_s % 1.0 < 0.2 { 0.1 } else { 0.0 },
                ..depth
            }
        });
        let eyes: Vec<_> = eyes.collect();
        let of = |view: usize, eye: usize| Depth {
            view: (shot.first + view) as u32,
            eye: eye as u32,
            ..eyes[(view + eye) % eyes.len()]
        };
        (0..shot.behind)
            .flat_map(|view| (0..shot.behind).map(move |eye| of(view, eye)))
            .collect()
    }

    /// Instances that the test on the CPU hides in the only view, from the depth of the walls.
    fn hidden_by_walls(&mut self, setup: &Setup, shot: &Shot) -> Option<u32> {
        let camera = &shot.views[shot.first];
        let canvas = &self.canvases[shot.canvases[0]];
        let one = shot.canvases.len() == 1 && camera.culling == Culling::Frustum;
        if !one || camera.detail.error_px > 0.0 || canvas.samples > 1 {
            return None;
        }
        let begin = begin(shot.reversed_z);
        let record = |device: &throng::ash::Device, cmd| unsafe {
            canvas.target.begin(device, cmd, &begin);
            self.walls
                .draw((device, cmd), canvas, camera, shot.reversed_z);
            canvas.target.end(device, cmd);
        };
        setup.context.submit_and_wait(record).unwrap();
        let picture = Picture {
            width: canvas.target.extent().width,
            depths: canvas.depths(&setup.context)?,
        };
        let pyramid = Pyramid::new(camera.viewport, 0, 0);
        let eye = Projection {
            clip_from_world: camera.eye.clip_from_world,
            jitter: camera.eye.jitter,
            viewport: camera.viewport,
            flip_y: camera.flip_y,
            reversed_z: shot.reversed_z,
            margin_m: self.depths(shot)[0].margin_m,
            depth_step: 0.0,
        };
        let record = GpuOcclusion::new(&pyramid, &eye);
        let pyramids = picture.pyramid(&pyramid, shot.reversed_z);
        let crowd = &self.crowds[0];
        let hidden = self.members.iter().filter(|member| {
            let it = crowd.live(member.id);
            let sphere = it.bounding_sphere();
            let volume = Volume::Sphere {
                center: sphere.center,
                radius: sphere.radius,
            };
            let shown = it.is_visible() && it.view_mask() & camera.mask != 0;
            shown && !member.attached && hides(&record, &pyramids, &volume) == Some(true)
        });
        Some(hidden.count() as u32)
    }

    /// Draws a random frame without depth and behind it, and compares the one before.
    fn frame(&mut self, setup: &mut Setup) {
        self.now_s += 0.05;
        for crowd in &mut self.crowds {
            crowd.update(self.now_s).unwrap();
        }
        let mut shot = self.shot();
        shot.hidden = self.hidden_by_walls(setup, &shot);
        let depths = self.depths(&shot);
        let abandons = self.rng.chance(20);
        let mut figures = Vec::new();
        let mut pictures: Vec<Vec<Pixels>> = vec![Vec::new(); shot.canvases.len()];
        // The third crowd holds instances back in some views, with or without the depth of walls.
        let late = [(); 2].map(|()| shot.first == 0 && self.rng.chance(2));
        let reveals = late[0] || shot.behind > 1 && late[1];
        let knows_walls = !reveals || self.rng.chance(2);
        for side in 0..3 {
            let device = setup.context.device.clone();
            let cmd = self.frames_in_flight.begin(&setup.context, 0);
            let begin = begin(shot.reversed_z);
            let draw_walls = |view: usize| unsafe {
                let canvas = &self.canvases[shot.canvases[view]];
                canvas.target.begin(&device, cmd, &begin);
                let seen = &shot.views[shot.first + view];
                self.walls
                    .draw((&device, cmd), canvas, seen, shot.reversed_z);
                &canvas.target
            };
            let behind = side == 1 || side == 2 && knows_walls;
            for view in 0..if behind { shot.behind } else { 0 } {
                unsafe { draw_walls(view).end(&device, cmd) };
                self.canvases[shot.canvases[view]].read_only(&device, cmd);
            }
            let crowd = &mut self.crowds[side];
            let allocator = &mut setup.context.allocator();
            let mut frame = unsafe { crowd.begin_frame(allocator, 0, self.now_s) }.unwrap();
            figures.push((frame.view_stats().to_vec(), frame.stats()));
            let mut views = shot.views.clone();
            if !self.motions.is_empty() {
                let each = (0..).zip(&mut views[shot.first..]);
                each.for_each(|(number, view)| view.history = Some(number));
            }
            if side == 2 {
                let held = views[shot.first..].iter_mut().take(shot.behind);
                held.zip(late).for_each(|(view, late)| view.late = late);
            }
            let of_walls = if behind { &depths[..] } else { &[] };
            let ids = unsafe { frame.record_prepare_behind(cmd, &views, of_walls) };
            let ids = ids.unwrap();
            let pass_of = |canvas: usize| self.passes[canvas][usize::from(shot.reversed_z)][side];
            if side == 2 && reveals {
                for (view, canvas) in shot.canvases.iter().enumerate().take(shot.behind) {
                    let (target, id) = (draw_walls(view), ids[shot.first + view]);
                    unsafe {
                        frame.record_draw(cmd, id, pass_of(*canvas)).unwrap();
                        target.end(&device, cmd);
                    }
                    self.canvases[*canvas].read_only(&device, cmd);
                }
                unsafe { frame.record_reveal(cmd, &depths) }.unwrap();
            }
            for (view, canvas) in shot.canvases.iter().enumerate() {
                let (target, id) = (draw_walls(view), ids[shot.first + view]);
                unsafe {
                    frame.record_draw(cmd, id, pass_of(*canvas)).unwrap();
                    target.end(&device, cmd);
                }
            }
            for (view, canvas) in shot.canvases.iter().enumerate() {
                let Some((canvas, passes)) = self.motions.get(*canvas) else {
                    continue;
                };
                let seen = &shot.views[shot.first + view];
                let pass = passes[usize::from(shot.reversed_z)][side];
                unsafe {
                    canvas.target.begin(&device, cmd, &begin);
                    let to = (&device, cmd);
                    self.walls.draw(to, canvas, seen, shot.reversed_z);
                    frame
                        .record_draw(cmd, ids[shot.first + view], pass)
                        .unwrap();
                    canvas.target.end(&device, cmd);
                }
            }
            if abandons {
                unsafe { crowd.abandon_frame() };
                continue;
            }
            self.frames_in_flight.submit(&setup.context, 0);
            self.frames_in_flight.wait(&setup.context, 0);
            for (pictures, number) in pictures.iter_mut().zip(&shot.canvases) {
                let canvas = &self.canvases[*number];
                let color = canvas.target.read_rgba().unwrap();
                let motion = self.motions.get(*number);
                let motion = motion.map(|(canvas, _)| {
                    let read = ImageRead {
                        image: canvas.target.color().0,
                        aspect: vk::ImageAspectFlags::COLOR,
                        layout: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                        layer: 0,
                        extent: canvas.target.extent(),
                        texel_bytes: 8,
                    };
                    unsafe { read_image(&setup.context, &read) }.unwrap()
                });
                pictures.push((color, canvas.depths(&setup.context), motion));
            }
        }
        let drawn = (!abandons).then_some(Drawn { shot, pictures });
        if let Some(before) = std::mem::replace(&mut self.drawn, drawn) {
            for side in [1, 2] {
                self.compare(&before, &figures[0], &figures[side], side);
            }
        }
    }

    /// Compares the figures and the pictures of a frame.
    fn compare(
        &mut self,
        Drawn { shot, pictures }: &Drawn,
        (without, poses): &(Vec<ViewStats>, Stats),
        (behind, fewer): &(Vec<ViewStats>, Stats),
        side: usize,
    ) {
        assert!(fewer.shared_poses <= poses.shared_poses);
        assert!(fewer.skinned_on_gpu <= poses.skinned_on_gpu);
        let views = || without.iter().zip(behind).skip(shot.first);
        assert_eq!(without.len(), shot.views.len());
        let alike = views().all(|(all, some)| all.error_factor == some.error_factor);
        for (number, (all, some)) in views().enumerate() {
            assert_eq!((all.hidden, all.outside), (0, some.outside));
            assert_eq!(all.too_small, some.too_small);
            assert_eq!(all.shown, some.shown + some.hidden);
            assert!(some.error_factor <= all.error_factor);
            let off = shot.views[shot.first].culling == Culling::Off;
            assert!(some.hidden == 0 || number < shot.behind && !off);
            assert!(some.late <= some.shown && (side == 2 || some.late == 0));
            if alike {
                let mut levels = all.levels.iter().zip(some.levels);
                assert!(levels.all(|(all, some)| *all >= some));
            }
            self.seen[if side == 1 { 1 } else { 4 }] += u64::from(some.hidden);
            self.seen[5] += u64::from(some.late);
        }
        if let Some(hidden) = shot.hidden.filter(|_| side == 1) {
            self.seen[2] += u64::from(hidden);
            self.seen[3] += u64::from(hidden.min(behind[shot.first].hidden));
        }
        if !alike {
            return;
        }
        self.seen[0] += u64::from(side == 1);
        for (view, sides) in pictures.iter().enumerate() {
            if sides[0] != sides[side] {
                let what = &shot.views[shot.first + view];
                let count = shot.views.len();
                panic!(
                    "view {view} of {count}, crowd {side}: {what:?}\n{}",
                    difference(&sides[0], &sides[side])
                );
            }
        }
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        for crowd in self.crowds {
            unsafe { crowd.destroy(&mut setup.context.allocator()) };
        }
        let motions = self.motions.into_iter().map(|(canvas, _)| canvas);
        for canvas in self.canvases.into_iter().chain(motions) {
            canvas.destroy(&setup.context);
        }
        self.walls.destroy(&setup.context);
    }
}

/// The number of differences between pictures.
fn difference(a: &Pixels, b: &Pixels) -> String {
    let colors = a.0.as_chunks::<4>().0.iter().zip(b.0.as_chunks::<4>().0);
    let colors = colors.filter(|(a, b)| a != b).count();
    let [a_depths, b_depths] = [a, b].map(|it| it.1.iter().flatten());
    let depths = a_depths.zip(b_depths).filter(|(a, b)| a != b).count();
    let [a, b] = [a, b].map(|it| it.2.iter().flat_map(|bytes| bytes.as_chunks::<4>().0));
    let motion = a
        .zip(b)
        .map(|(a, b)| (f32::from_le_bytes(*a), f32::from_le_bytes(*b)));
    let motion: Vec<(f32, f32)> = motion.filter(|(a, b)| a != b).collect();
    let most = motion.iter().map(|(a, b)| (a - b).abs());
    let most = most.fold(0.0, f32::max);
    let numbers = motion.len();
    format!("{colors} colours, {depths} depths, {numbers} numbers of motion by up to {most}")
}

fn begin(reversed_z: bool) -> Begin {
    Begin {
        depth: if reversed_z { 0.0 } else { 1.0 },
        ..Begin::default()
    }
}

/// Random crowds before random walls: clips, fades, scales, flips, masks, parts, attachments,
/// deformed vertices, two eyes, budgets, odd sizes, one sample and four, both directions of depth,
/// orthographic views, jitter, viewports that are cut, growth, and frames that are given up.
#[test]
fn pictures_are_the_same_behind_depth() {
    draw_frames(false);
}

/// The same with motion vectors, of instances that come back from behind others, too. All poses are
/// shared and no vertices are deformed before, because other poses of hidden instances are not
/// known in the next frame. Histories have gaps of random length.
#[test]
fn motion_is_the_same_behind_depth() {
    draw_frames(true);
}

fn draw_frames(moves: bool) {
    let frames = if is_thorough() { 10_000 } else { 400 };
    each(|setup| {
        let test = match moves {
            true => "occlusion::frames::motion_is_the_same_behind_depth",
            false => "occlusion::frames::pictures_are_the_same_behind_depth",
        };
        let has = exceptions::has(&setup.context, test, Needs::DepthOfSamples);
        let mut world = World::new(setup, moves, if has { 4 } else { 1 });
        for frame in 0..frames {
            if frame == 20 {
                let grown = Capacity {
                    instances: 300,
                    palette_entries: 40_000,
                    ..world.crowds[0].capacity()
                };
                for crowd in &mut world.crowds {
                    setup.reserve(crowd, &grown);
                }
                world.drawn = None;
            }
            for _ in 0..6 {
                world.operate();
            }
            world.frame(setup);
        }
        let [compared, hidden, by_cpu, of_those, hidden_late, late] = world.seen;
        println!("{compared} frames, {hidden} hidden, {of_those} of {by_cpu} that the CPU hides");
        println!("{hidden_late} hidden with reveals, {late} revealed");
        assert!(compared * 10 > frames * 8, "{compared}");
        assert!(
            hidden > frames * 4 && hidden_late * 2 > hidden,
            "{hidden}, {hidden_late}"
        );
        assert!(late > frames * 4, "{late}");
        // Of those whose spheres are hidden, some are outside of a plane, and some have boxes with
        // corners outside of their spheres.
        assert!(
            by_cpu > frames && of_those * 100 >= by_cpu * 95,
            "{of_those} of {by_cpu}"
        );
        world.destroy(setup);
    });
}
