//! Casters whose shadow no camera sees: they are left out of the shadow map, and no pixel changes.

use super::walls::{Canvas, Walls};
use crate::more_validation::shadow::depth_image::{self, DepthImage, DepthImageDesc};
use crate::reference::rng::Rng;
use crate::reference::sweep::is_thorough;
use crate::support::frames::FramesInFlight;
use crate::support::{SMALL, Setup, each, placed, reversed, view};
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Mat4, Quat, Vec3, Vec4, vec3};
use throng::gpu::Features;
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::{
    Capacity, CharacterId, Crowd, Detail, Lighting, PassDesc, PassId, PassKind, Play, Receivers,
    Shadow, ShadowMap, Spawn, Stages, View, builtin,
};
use throng_standalone::Begin;

/// Width and height of maps. With few texels, a lookup reaches far, and pictures tell how far. With
/// many, they tell how long a shadow is.
const EDGES: [u32; 2] = [128, 768];
const CASTERS: usize = 100;
/// The height of the ground.
const FLOOR_M: f32 = 0.0;

struct World {
    rng: Rng,
    /// The first shows all casters.
    crowds: [Crowd; 2],
    /// People, and crates that fill the boxes that are tested.
    kinds: [CharacterId; 2],
    map: DepthImage,
    /// By crowd: for both directions of depth, and of the light.
    passes: Vec<[PassId; 3]>,
    walls: Walls,
    canvas: Canvas,
    frames: FramesInFlight,
    time_s: f64,
    multiview: bool,
    /// Casters in the light's view, and those of them that are left out.
    seen: [u64; 2],
}

impl World {
    fn new(setup: &mut Setup, edge: u32) -> Self {
        let capacity = Capacity {
            instances: 128,
            palette_entries: 16_384,
            depth_pixels: 160 * 120,
            ..SMALL
        };
        let walls = Walls::new(&setup.context);
        let canvas = Canvas::new(&setup.context, &walls, [160, 120], 1);
        let desc = DepthImageDesc {
            name: "a shadow map",
            extent: vk::Extent2D {
                width: edge,
                height: edge,
            },
            view_type: vk::ImageViewType::TYPE_2D_ARRAY,
            farthest: 1.0,
            reader: vk::PipelineStageFlags2::FRAGMENT_SHADER,
        };
        let map = DepthImage::new(&mut setup.context, desc).unwrap();
        let mut kinds = None;
        let mut passes = Vec::new();
        let crowds = [(); 2].map(|()| {
            let mut crowd = setup.crowd_with(Stages::Gpu, 1, capacity);
            let sampled = ShadowMap {
                view: map.view,
                layout: depth_image::READ,
                edge,
                reversed_z: false,
            };
            let shadow = PassDesc {
                kind: PassKind::Shadow,
                depth_format: depth_image::FORMAT,
                ..PassDesc::default()
            };
            let [near_0, near_1] = [false, true].map(|reversed_z| PassDesc {
                reversed_z,
                shadow_map: true,
                ..canvas.target.pass_desc()
            });
            passes.push(unsafe {
                crowd.set_shadow_map(&sampled).unwrap();
                [&near_0, &near_1, &shadow].map(|desc| crowd.create_pass(desc).unwrap())
            });
            // What receives shadows, near and far: a ground and steps on it.
            let box_of = |size: Vec3, at: Vec3| RawPrimitive::cuboid(size).translated(at);
            let ground = box_of(vec3(60.0, 0.2, 60.0), Vec3::Y * (FLOOR_M - 0.1));
            let step = box_of(vec3(2.0, 0.5, 9.0), vec3(3.0, 0.25, -2.0));
            // Sides of posts move lookups sideways.
            let mut rng = Rng::new(486);
            let posts = core::iter::repeat_with(|| {
                let size = vec3(0.3, rng.range(0.3, 2.0), 0.3);
                let at = rng.vector(-10.0, 10.0).with_y(0.5 * size.y);
                box_of(size, at)
            });
            let shapes = posts.take(60).chain([ground, step]).collect();
            let raw = RawCharacter::rigid("ground", shapes, Vec::new());
            let ground = raw.build(&ImportOptions::default()).unwrap().character;
            let ground = setup.add(&mut crowd, &ground);
            let shape = box_of(vec3(0.5, 1.7, 0.5), 0.85 * Vec3::Y);
            let raw = RawCharacter::rigid("crate", vec![shape], Vec::new());
            let crate_ = raw.build(&ImportOptions::default()).unwrap().character;
            let person = builtin::mannequin().unwrap().character;
            kinds = Some([person, crate_].map(|kind| setup.add(&mut crowd, &kind)));
            crowd.spawn(ground, &Spawn::default()).unwrap();
            crowd
        });
        let mut world = Self {
            rng: Rng::new(485),
            crowds,
            kinds: kinds.unwrap(),
            map,
            passes,
            walls,
            canvas,
            frames: FramesInFlight::new(&setup.context, 1),
            time_s: 0.0,
            multiview: setup.device().enabled().contains(Features::MULTIVIEW),
            seen: [0; 2],
        };
        for _ in 0..CASTERS {
            world.spawn();
        }
        world
    }

    fn spawn(&mut self) {
        let rng = &mut self.rng;
        let high = if rng.chance(5) { 2.0 } else { 0.0 };
        let at = vec3(
            rng.range(-12.0, 12.0),
            rng.range(0.0, high),
            rng.range(-12.0, 12.0),
        );
        let turn = Quat::from_rotation_y(rng.range(0.0, 6.0));
        let scale = Vec3::splat(rng.range(0.6, 1.5));
        let kind = rng.below(2);
        let play = match rng.below(4) {
            _ if kind == 1 => Play::REST,
            0 => Play::REST,
            1 => Play::new("Run"),
            _ => Play::new("Walk"),
        };
        let play = play.offset_s(rng.range(0.0, 2.0).into());
        let place = Affine3A::from_scale_rotation_translation(scale, turn, at);
        for crowd in &mut self.crowds {
            crowd.spawn(self.kinds[kind], &placed(place, play)).unwrap();
        }
    }

    /// A sun, or a lamp.
    fn light(&mut self) -> (Vec3, View) {
        let rng = &mut self.rng;
        let sun = vec3(
            rng.range(-1.0, 1.0),
            rng.range(0.2, 1.0),
            rng.range(-1.0, 1.0),
        )
        .normalize();
        let at = vec3(rng.range(-4.0, 4.0), 0.0, rng.range(-4.0, 4.0));
        let extent = self.map.extent();
        let eye = at + sun * 20.0;
        let up = if sun.y > 0.95 { Vec3::X } else { Vec3::Y };
        let clip_from_view: Mat4 = match rng.below(3) {
            0 => rh::proj::vulkan::perspective(1.0, 1.0, 1.0, 40.0),
            _ => {
                let half = rng.range(4.0, 16.0);
                rh::proj::vulkan::orthographic(-half, half, -half, half, 1.0, 45.0)
            }
        };
        let view_from_world = rh::view::look_at_mat4(eye, at, up);
        (
            sun,
            View::shadow_of(clip_from_view * view_from_world, eye, extent),
        )
    }

    /// Walls that hide a part of the ground.
    fn build(&mut self, eye: Vec3) {
        let rng = &mut self.rng;
        let mut triangles = Vec::new();
        for _ in 0..rng.below(7) {
            let middle = vec3(rng.range(-9.0, 9.0), 1.0, rng.range(-9.0, 9.0));
            let middle = eye.lerp(middle, rng.range(0.3, 0.9));
            let facing = (eye - middle).with_y(0.0).normalize_or(Vec3::X);
            let along = facing.cross(Vec3::Y) * rng.range(0.5, 4.0);
            let up = Vec3::Y * rng.range(1.0, 4.0);
            let corner = |x: f32, y: f32| middle + along * x + up * y;
            let [a, b] = [corner(-1.0, -1.0), corner(1.0, -1.0)];
            let [c, d] = [corner(1.0, 1.0), corner(-1.0, 1.0)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        self.walls.set(&triangles);
    }

    /// Draws a random frame with and without the test, and compares the pictures.
    fn frame(&mut self, setup: &mut Setup) {
        self.time_s += 0.05;
        let (sun, mut light) = self.light();
        let rng = &mut self.rng;
        let reversed_z = rng.chance(2);
        let eye = vec3(
            rng.range(-14.0, 14.0),
            rng.range(0.6, 6.0),
            rng.range(-14.0, 14.0),
        );
        let at = vec3(rng.range(-6.0, 6.0), 0.5, rng.range(-6.0, 6.0));
        let mut camera = view(eye, at, self.canvas.target.extent());
        if reversed_z {
            camera = reversed(&camera);
        }
        // Poses do not depend on who is hidden if all views ask for the same.
        let pose_error_px = if rng.chance(2) { 1e6 } else { 0.0 };
        for view in [&mut camera, &mut light] {
            view.detail = Detail {
                pose_error_px,
                ..view.detail
            };
        }
        let coarse = self.map.extent().width == EDGES[0];
        let bias_texels = rng.range(0.5, if coarse { 6.0 } else { 1.0 });
        camera.shadow = Some(Shadow {
            bias_texels,
            ..Shadow::of(&[light])
        });
        camera.lighting = Lighting {
            sun_direction: sun,
            ..Lighting::default()
        };
        let floor = (!rng.chance(4)).then_some(Vec4::new(0.0, 1.0, 0.0, -FLOOR_M));
        let tested = View {
            receivers: Some(Receivers {
                floor,
                filter_texels: 3.0 + 2.0 * bias_texels,
                ..Receivers::of(0)
            }),
            ..light
        };
        let with_depth = !rng.chance(4);
        if self.multiview && rng.chance(3) {
            // It sees other shadows, and has no depth.
            let aside = vec3(rng.range(-6.0, 6.0), 2.0, rng.range(-6.0, 6.0));
            let other = view(aside, at, self.canvas.target.extent());
            let other = if reversed_z { reversed(&other) } else { other };
            camera.more_eyes[0] = Some(other.eye);
        }
        self.build(eye);
        let mut pictures = Vec::new();
        let mut figures = Vec::new();
        for (side, light) in [light, tested].into_iter().enumerate() {
            let device = setup.context.device.clone();
            let [color, shadow] = [usize::from(reversed_z), 2].map(|at| self.passes[side][at]);
            // Twice, because the figures are those of the frame before.
            for _ in 0..2 {
                let crowd = &mut self.crowds[side];
                crowd.update(self.time_s).unwrap();
                let cmd = self.frames.begin(&setup.context, 0);
                let begin = Begin {
                    depth: if reversed_z { 0.0 } else { 1.0 },
                    ..Begin::default()
                };
                let (walls, canvas) = (&self.walls, &self.canvas);
                unsafe {
                    canvas.target.begin(&device, cmd, &begin);
                    walls.draw((&device, cmd), canvas, &camera, reversed_z);
                    canvas.target.end(&device, cmd);
                    canvas.read_only(&device, cmd);
                    let allocator = &mut setup.context.allocator();
                    let mut frame = crowd.begin_frame(allocator, 0, self.time_s).unwrap();
                    figures.push(frame.view_stats().get(1).copied().unwrap_or_default());
                    let depths = [canvas.depth(reversed_z)];
                    let depths = if side == 1 && with_depth {
                        &depths[..]
                    } else {
                        &[]
                    };
                    let views = [camera, light];
                    let ids = frame.record_prepare_behind(cmd, &views, depths).unwrap();
                    self.map.begin(&device, cmd);
                    frame.record_draw(cmd, ids[1], shadow).unwrap();
                    self.map.end(&device, cmd);
                    canvas.target.begin(&device, cmd, &begin);
                    walls.draw((&device, cmd), canvas, &camera, reversed_z);
                    frame.record_draw(cmd, ids[0], color).unwrap();
                    canvas.target.end(&device, cmd);
                }
                self.frames.submit(&setup.context, 0);
                self.frames.wait(&setup.context, 0);
            }
            pictures.push(self.canvas.target.read_rgba().unwrap());
        }
        let (all, some) = (figures[1], figures[3]);
        assert_eq!(all.hidden, 0);
        assert_eq!(
            (all.outside, all.shown),
            (some.outside, some.shown + some.hidden)
        );
        self.seen[0] += u64::from(all.shown);
        self.seen[1] += u64::from(some.hidden);
        let different = pictures[0]
            .iter()
            .zip(&pictures[1])
            .filter(|(a, b)| a != b)
            .count();
        assert_eq!(different, 0, "{floor:?} {with_depth} {camera:?} {tested:?}");
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames.destroy(&setup.context);
        for crowd in self.crowds {
            unsafe { crowd.destroy(&mut setup.context.allocator()) };
        }
        self.map.destroy(&mut setup.context);
        self.canvas.destroy(&setup.context);
        self.walls.destroy(&setup.context);
    }
}

/// Random people, suns and lamps, walls and cameras with one eye or two, with a floor and without,
/// with depth and without, with shared poses and own ones.
#[test]
fn no_pixel_misses_a_shadow() {
    let frames = if is_thorough() { 2_500 } else { 150 };
    each(|setup| {
        for edge in EDGES {
            let mut world = World::new(setup, edge);
            for _ in 0..frames {
                world.frame(setup);
            }
            let [casters, hidden] = world.seen;
            println!("{hidden} of {casters} casters are left out");
            // 12 % on lavapipe.
            assert!(hidden * 10 > casters, "{hidden} of {casters}");
            world.destroy(setup);
        }
    });
}
