//! Whole frames with and without depth that hides instances: the same pictures, bit for bit.

use super::reference::{Picture, Volume, hides};
use super::walls::{Canvas, Walls};
use crate::occlusion_records::{Projection, Pyramid};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::reference::sweep::is_thorough;
use crate::shader_layout::GpuOcclusion;
use crate::sides::parted;
use crate::support::frames::FramesInFlight;
use crate::support::{SMALL, Setup, each, placed, reversed, view};
use throng::ash::vk;
use throng::character::Character;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Quat, Vec2, Vec3};
use throng::gpu::Features;
use throng::{
    Attachment, Capacity, CharacterId, Crowd, CrowdDesc, Culling, Depth, Detail, Eye, InstanceId,
    PassDesc, PassId, Play, SkinningStage, Spawn, Stages, Stats, View, ViewStats, builtin,
};
use throng_standalone::Begin;

/// Instances alive at the same time, at most.
const MOST: usize = 160;
/// Views whose levels of detail are remembered from frame to frame.
const REMEMBERED: usize = 10;

struct Member {
    id: InstanceId,
    kind: usize,
    attached: bool,
}

/// The views of a frame: the canvas of each, and the direction of its depth.
struct Shot {
    views: Vec<View>,
    /// The first view that is drawn.
    first: usize,
    /// Those of the views from there on.
    canvases: Vec<usize>,
    reversed_z: bool,
    /// Of these, the number with depth: for one eye each, or for two.
    behind: usize,
    /// Instances that the test on the CPU hides in the first view.
    hidden: Option<u32>,
}

/// What a frame drew, until its figures are known.
struct Drawn {
    shot: Shot,
    /// By view and crowd: colour and depth.
    pictures: Vec<Vec<(Vec<u8>, Option<Vec<f32>>)>>,
}

struct World {
    rng: Rng,
    /// The first is without depth, the second behind it.
    crowds: [Crowd; 2],
    kinds: Vec<CharacterId>,
    members: Vec<Member>,
    frames_in_flight: FramesInFlight,
    walls: Walls,
    canvases: Vec<Canvas>,
    /// By canvas, direction of depth and crowd.
    passes: Vec<[[PassId; 2]; 2]>,
    now_s: f64,
    drawn: Option<Drawn>,
    multiview: bool,
    /// Frames compared, hidden instances, and of those that the CPU hides, how many.
    seen: [u64; 4],
}

impl World {
    fn new(setup: &mut Setup) -> Self {
        let capacity = Capacity {
            instances: 200,
            palette_entries: 32_768,
            skinned_words: 1 << 20,
            views: 12,
            depth_pixels: 4 * 257 * 151,
            ..SMALL
        };
        let mut crowds = [(); 2].map(|()| {
            let desc = CrowdDesc {
                stages: Stages::Gpu,
                ..setup.crowd_desc(1, capacity)
            };
            let device = setup.device();
            Crowd::new(&device, &mut setup.context.allocator(), &desc).unwrap()
        });
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
            .map(|(size, samples)| Canvas::new(&setup.context, &walls, size, samples))
            .collect();
        let passes = canvases.iter().map(|canvas| {
            [false, true].map(|reversed_z| {
                let desc = PassDesc {
                    reversed_z,
                    ..canvas.target.pass_desc()
                };
                crowds
                    .each_mut()
                    .map(|crowd| unsafe { crowd.create_pass(&desc) }.unwrap())
            })
        });
        let passes = passes.collect();
        let mut world = Self {
            rng: Rng::new(48),
            crowds,
            kinds: Vec::new(),
            members: Vec::new(),
            frames_in_flight: FramesInFlight::new(&setup.context, 1),
            walls,
            canvases,
            passes,
            now_s: 0.0,
            drawn: None,
            multiview: setup.device().enabled().contains(Features::MULTIVIEW),
            seen: [0; 4],
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
        assert_eq!(ids[0], ids[1]);
        self.kinds.push(ids[0]);
    }

    fn transform(&mut self) -> Affine3A {
        let rng = &mut self.rng;
        let flip = if rng.chance(4) { -1.0 } else { 1.0 };
        let scale = Vec3::new(flip * rng.range(0.4, 1.6), rng.range(0.4, 1.6), 1.0);
        let far = if rng.chance(3) { 20.0 } else { 5.0 };
        let mut within = || rng.range(-far, far);
        let place = Vec3::new(within(), 0.2 * within(), within());
        let turn = Quat::from_rotation_y(self.rng.range(0.0, 6.0));
        Affine3A::from_scale_rotation_translation(scale, turn, place)
    }

    fn spawn(&mut self) {
        if self.members.len() >= MOST {
            return;
        }
        let kind = usize::from(self.rng.chance(4));
        let clips = ["Walk", "Idle", "Run"];
        let plays = kind == 0 && !self.rng.chance(4);
        let clip = clips[self.rng.below(3)];
        let play = if plays { Play::new(clip) } else { Play::REST };
        let skinning_stage = match self.rng.below(6) {
            0 => SkinningStage::Compute,
            _ => SkinningStage::Vertex,
        };
        let spawn = Spawn {
            skinning_stage,
            ..placed(self.transform(), play)
        };
        let of = self.kinds[kind];
        let ids = self
            .crowds
            .each_mut()
            .map(|crowd| crowd.spawn(of, &spawn).unwrap());
        assert_eq!(ids[0], ids[1]);
        let (id, attached) = (ids[0], false);
        self.members.push(Member { id, kind, attached });
    }

    /// One random call to both crowds.
    fn operate(&mut self) {
        let count = self.members.len();
        let operation = self.rng.below(10);
        if count < 8 || operation == 0 {
            return self.spawn();
        }
        let at = self.rng.below(count);
        let Member { id, kind, .. } = self.members[at];
        let place = self.transform();
        let fade_s = self.rng.range(0.0, 0.4);
        let clip = ["Walk", "Idle", "Run", "Wave"][self.rng.below(3)];
        let mask = [1, 2, 3, u32::MAX][self.rng.below(4)];
        let (visible, part) = (self.rng.chance(2), ["front", "back"][self.rng.below(2)]);
        let parent = self.members[self.rng.below(count)].id;
        let attaches =
            operation == 8 && kind == 1 && self.crowds[0].live(parent).character() == self.kinds[0];
        if operation == 1 && self.rng.chance(2) {
            self.members.swap_remove(at);
        }
        self.members
            .iter_mut()
            .filter(|member| member.id == id)
            .for_each(|member| {
                member.attached |= attaches;
            });
        let despawned = self.members.iter().all(|member| member.id != id);
        for crowd in &mut self.crowds {
            if despawned {
                crowd.despawn(id).unwrap();
                continue;
            }
            let mut it = crowd.live_mut(id);
            match operation {
                2..5 if it.attachment().is_none() => it.set_transform(&place).unwrap(),
                5 => it.set_visible(visible || mask != 1),
                6 => it.set_view_mask(mask),
                7 if kind == 1 => it.set_part_visible(part, visible).unwrap(),
                8 if attaches => {
                    let hand = Attachment::new(parent, "RightHand");
                    it.attach_to(hand).unwrap();
                }
                9 if kind == 0 => it.play(Play::new(clip).fade_s(fade_s)).unwrap(),
                _ => {}
            }
        }
        // With an instance goes what is attached to it.
        let crowd = &self.crowds[0];
        self.members
            .retain(|member| crowd.instance(member.id).is_ok());
    }

    /// Walls between an eye and the middle, and among the instances.
    fn build(&mut self, eye: Vec3) {
        let rng = &mut self.rng;
        let mut triangles = Vec::new();
        for _ in 0..rng.below(9) {
            let middle = match rng.below(3) {
                0 => rng.vector(-5.0, 5.0),
                _ => eye.lerp(rng.vector(-3.0, 3.0), rng.range(0.1, 0.95)),
            };
            let facing = match rng.below(4) {
                0 => rng.direction(),
                _ => (eye - middle).normalize_or(Vec3::X),
            };
            let along = facing.any_orthonormal_vector() * rng.range(0.2, 5.0);
            let up = facing.cross(along).normalize_or(Vec3::Y) * rng.range(0.2, 5.0);
            let corner = |x: f32, y: f32| middle + along * x + up * y;
            let [a, b] = [corner(-1.0, -1.0), corner(1.0, -1.0)];
            let [c, d] = [corner(1.0, 1.0), corner(-1.0, 1.0)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        self.walls.set(&triangles);
    }

    /// An eye that sees part of a canvas.
    fn view(&mut self, canvas: usize, orthographic: bool, reversed_z: bool) -> View {
        let extent = self.canvases[canvas].target.extent();
        let rng = &mut self.rng;
        let mut point = |far: f32| {
            let mut within = || rng.range(-far, far);
            Vec3::new(within(), 0.2 * within(), within())
        };
        let (eye, at) = (point(14.0), point(4.0) + Vec3::Y);
        let side = |rng: &mut Rng, most: u32| match rng.below(4) {
            0 => {
                let first = rng.below(most as usize) as i32;
                (first, 1 + rng.below((most as i32 - first) as usize) as u32)
            }
            1 => {
                let cut = rng.below(20) as i32;
                (-cut, most + cut as u32)
            }
            _ => (0, most),
        };
        let ((x, width), (y, height)) = (side(rng, extent.width), side(rng, extent.height));
        let viewport = vk::Rect2D {
            offset: vk::Offset2D { x, y },
            extent: vk::Extent2D { width, height },
        };
        let mut seen = view(eye, at, viewport.extent);
        if orthographic {
            let half = rng.range(1.0, 8.0);
            let clip_from_view =
                rh::proj::vulkan::orthographic(-half, half, -half, half, 0.1, 60.0);
            let view_from_world = rh::view::look_at_mat4(eye, at, Vec3::Y);
            seen = View {
                detail: seen.detail,
                ..View::new(clip_from_view * view_from_world, eye, viewport)
            };
        }
        let seen = if reversed_z { reversed(&seen) } else { seen };
        let jitter = Vec2::new(rng.range(-0.02, 0.02), rng.range(-0.02, 0.02));
        View {
            viewport,
            eye: Eye { jitter, ..seen.eye },
            ..seen
        }
    }

    /// The views of a frame: a camera with one or two eyes, and maybe a light.
    fn shot(&mut self) -> Shot {
        let (orthographic, reversed_z) = (self.rng.chance(4), self.rng.chance(2));
        let half = self.canvases.len() / 2;
        let first = self.rng.below(half);
        // Another one of the same size.
        let second = first + half;
        let mut camera = self.view(first, orthographic, reversed_z);
        let rng = &mut self.rng;
        camera.flip_y = rng.chance(4);
        camera.culling = [
            Culling::Frustum,
            Culling::Frustum,
            Culling::Sides,
            Culling::Off,
        ][rng.below(4)];
        camera.mask = [u32::MAX, u32::MAX, 1, 2][rng.below(4)];
        camera.detail = Detail {
            error_px: [0.0, 0.0, 0.5, 1.0, 3.0][rng.below(5)],
            pose_error_px: [0.0, 0.5, 4.0][rng.below(3)],
            level: [None, None, None, Some(2)][rng.below(4)],
            max_triangles: [None, None, None, Some(20_000), Some(3_000)][rng.below(5)],
        };
        let kind = rng.below(if self.multiview { 4 } else { 3 });
        self.build(camera.eye.position);
        let shot = Shot {
            views: vec![camera],
            first: 0,
            canvases: vec![first],
            reversed_z,
            behind: 1,
            hidden: None,
        };
        if camera.detail.max_triangles.is_some() {
            // Levels are not remembered for such a view: budgets may differ, and so would they.
            let nothing = View { mask: 0, ..camera };
            let mut views = vec![nothing; REMEMBERED];
            views.push(camera);
            let first = REMEMBERED;
            return Shot {
                views,
                first,
                ..shot
            };
        }
        if kind < 2 {
            return shot;
        }
        // A shared pose may stand in for an own one where the view that asked for that is hidden.
        camera.detail.pose_error_px = 0.0;
        if kind == 2 {
            let mut light = self.view(second, false, reversed_z);
            light.culling = Culling::Off;
            return Shot {
                views: vec![camera, light],
                canvases: vec![first, second],
                ..shot
            };
        }
        // A pass without a view mask shows the first eye: each is once the first.
        let (mut left, mut right) = (camera, camera);
        right.eye = self.view(first, orthographic, reversed_z).eye;
        left.more_eyes[0] = Some(right.eye);
        right.more_eyes[0] = Some(left.eye);
        Shot {
            views: vec![left, right],
            canvases: vec![first, second],
            behind: 2,
            ..shot
        }
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
            shown && !member.attached && hides(&record, &pyramids, &volume)
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
        let mut pictures: Vec<Vec<(Vec<u8>, Option<Vec<f32>>)>> =
            vec![Vec::new(); shot.canvases.len()];
        for side in 0..2 {
            let (behind, device) = (side == 1, setup.context.device.clone());
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
            for view in 0..if behind { shot.behind } else { 0 } {
                unsafe { draw_walls(view).end(&device, cmd) };
                self.canvases[shot.canvases[view]].read_only(&device, cmd);
            }
            let crowd = &mut self.crowds[side];
            let allocator = &mut setup.context.allocator();
            let mut frame = unsafe { crowd.begin_frame(allocator, 0, self.now_s) }.unwrap();
            figures.push((frame.view_stats().to_vec(), frame.stats()));
            let depths = if behind { &depths[..] } else { &[] };
            let ids = unsafe { frame.record_prepare_behind(cmd, &shot.views, depths) };
            let ids = ids.unwrap();
            for (view, canvas) in shot.canvases.iter().enumerate() {
                let target = draw_walls(view);
                let pass = self.passes[*canvas][usize::from(shot.reversed_z)][side];
                unsafe {
                    frame
                        .record_draw(cmd, ids[shot.first + view], pass)
                        .unwrap();
                    target.end(&device, cmd);
                }
            }
            if abandons {
                unsafe { crowd.abandon_frame() };
                continue;
            }
            self.frames_in_flight.submit(&setup.context, 0);
            self.frames_in_flight.wait(&setup.context, 0);
            for (pictures, canvas) in pictures.iter_mut().zip(&shot.canvases) {
                let canvas = &self.canvases[*canvas];
                let color = canvas.target.read_rgba().unwrap();
                pictures.push((color, canvas.depths(&setup.context)));
            }
        }
        let drawn = (!abandons).then_some(Drawn { shot, pictures });
        if let Some(before) = std::mem::replace(&mut self.drawn, drawn) {
            let [without, behind] = [&figures[0], &figures[1]];
            self.compare(&before, without, behind);
        }
    }

    /// Compares the figures and the pictures of a frame.
    fn compare(
        &mut self,
        Drawn { shot, pictures }: &Drawn,
        (without, poses): &(Vec<ViewStats>, Stats),
        (behind, fewer): &(Vec<ViewStats>, Stats),
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
            if alike {
                let mut levels = all.levels.iter().zip(some.levels);
                assert!(levels.all(|(all, some)| *all >= some));
            }
            self.seen[1] += u64::from(some.hidden);
        }
        if let Some(hidden) = shot.hidden {
            self.seen[2] += u64::from(hidden);
            self.seen[3] += u64::from(hidden.min(behind[shot.first].hidden));
        }
        if !alike {
            return;
        }
        self.seen[0] += 1;
        for (view, sides) in pictures.iter().enumerate() {
            let what = &shot.views[shot.first + view];
            assert!(
                sides[0] == sides[1],
                "view {view} of {}: {what:?}",
                shot.views.len()
            );
        }
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        for crowd in self.crowds {
            unsafe { crowd.destroy(&mut setup.context.allocator()) };
        }
        for canvas in self.canvases {
            canvas.destroy(&setup.context);
        }
        self.walls.destroy(&setup.context);
    }
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
    let frames = if is_thorough() { 10_000 } else { 400 };
    each(|setup| {
        let mut world = World::new(setup);
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
        let [compared, hidden, by_cpu, of_those] = world.seen;
        println!("{compared} frames, {hidden} hidden, {of_those} of {by_cpu} that the CPU hides");
        assert!(compared * 10 > frames * 8, "{compared}");
        assert!(hidden > frames * 4, "{hidden}");
        // Of those whose spheres are hidden, some are outside of a plane, and some boxes are outside
        // of the attachments, in a part of the viewport that is cut off.
        assert!(
            by_cpu > frames && of_those * 100 >= by_cpu * 90,
            "{of_those} of {by_cpu}"
        );
        world.destroy(setup);
    });
}
