//! People whom depth hides from the camera, with rays in the same frame.

use super::still::{Poses, palettes};
use super::tracer::Ray;
use super::{Person, World, meets, triangles};
use crate::occlusion::walls::{Canvas, Walls};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::frames::EXTENT;
use crate::support::{SMALL, Setup, each_with_rays, view};
use throng::animator::Animator;
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3, vec3};
use throng::mesh::Sphere;
use throng::palette::Mat3x4;
use throng::{Capacity, Crowd, Culling, Depth, Frame, PassId, RayCrowd, Stages, View, builtin};
use throng_standalone::Begin;

const IN_FRONT: usize = 8;
const BEHIND: usize = 14;

/// As [`triangles`] returns them.
type Triangles = Vec<(u32, [Vec3; 3])>;

/// The way in which the wall hides people from the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phases {
    /// Its depth is known when the frame is prepared.
    One,
    /// The camera is a late view, and the depth is known later. Rays are recorded before that, or
    /// afterwards.
    Two { rays_first: bool },
}

/// A camera that looks at a wall.
struct Scene {
    camera: View,
    canvas: Canvas,
    walls: Walls,
    phases: Phases,
}

impl Scene {
    fn new(setup: &mut Setup, poses: Poses) -> Self {
        let mut walls = Walls::new(&setup.context);
        let [a, b, c, d] =
            [[-4.0, -1.0], [4.0, -1.0], [4.0, 4.0], [-4.0, 4.0]].map(|[x, y]| vec3(x, y, 0.0));
        walls.set(&[[a, b, c], [a, c, d]]);
        Self {
            camera: View {
                detail: poses.detail(),
                ..view(vec3(0.0, 1.6, 9.0), Vec3::Y, EXTENT)
            },
            canvas: Canvas::new(&setup.context, &walls, [EXTENT.width, EXTENT.height], 1),
            walls,
            phases: Phases::One,
        }
    }

    /// Draws the crowd as the camera sees it, and with `rays` records those.
    fn record(
        &self,
        (device, cmd): (&throng::ash::Device, throng::ash::vk::CommandBuffer),
        frame: &mut Frame<'_>,
        pass: PassId,
        rays: Option<View>,
    ) -> Option<RayCrowd> {
        let canvas = &self.canvas;
        let camera = View {
            late: self.phases != Phases::One,
            ..self.camera
        };
        let views: Vec<View> = core::iter::once(camera).chain(rays).collect();
        let depth = canvas.depth(false);
        // Views of rays are not tested, with depth or without.
        let depths = [depth, Depth { view: 1, ..depth }];
        let depths = &depths[..views.len()];
        let mut traced = None;
        unsafe {
            let draw_wall = || {
                canvas.target.begin(device, cmd, &Begin::default());
                self.walls.draw((device, cmd), canvas, &camera, false);
            };
            match self.phases {
                Phases::One => {
                    draw_wall();
                    canvas.target.end(device, cmd);
                    canvas.read_only(device, cmd);
                    let ids = frame.record_prepare_behind(cmd, &views, depths).unwrap();
                    traced = rays.map(|_| frame.record_rays(cmd, ids[1]).unwrap());
                    canvas.resume(device, cmd);
                    frame.record_draw(cmd, ids[0], pass).unwrap();
                }
                Phases::Two { rays_first } => {
                    let ids = frame.record_prepare(cmd, &views).unwrap();
                    if rays_first {
                        traced = rays.map(|_| frame.record_rays(cmd, ids[1]).unwrap());
                    }
                    draw_wall();
                    frame.record_draw(cmd, ids[0], pass).unwrap();
                    canvas.target.end(device, cmd);
                    canvas.read_only(device, cmd);
                    frame.record_reveal(cmd, depths).unwrap();
                    if !rays_first {
                        traced = rays.map(|_| frame.record_rays(cmd, ids[1]).unwrap());
                    }
                    canvas.resume(device, cmd);
                    frame.record_draw(cmd, ids[0].late(), pass).unwrap();
                }
            }
            canvas.target.end(device, cmd);
        }
        traced
    }
}

/// The places of people, those in front of the wall first.
fn places(rng: &mut Rng) -> Vec<Affine3A> {
    let each = (0..IN_FRONT + BEHIND).map(|number| {
        let column = (number % 7) as f32 * 0.8 - 2.4;
        let z = match number {
            ..IN_FRONT => 1.0 + rng.range(0.0, 2.0),
            _ => -2.0 - rng.range(0.0, 4.0),
        };
        let turn = Quat::from_rotation_y(rng.range(0.0, 6.0));
        Affine3A::from_rotation_translation(turn, vec3(column, 0.0, z))
    });
    each.collect()
}

/// The same people in two crowds, one of which has rays.
struct Twins {
    world: World,
    plain: Crowd,
    passes: [PassId; 2],
    scene: Scene,
    people: Vec<Person>,
    character: Character,
    animator: Animator,
    /// The level that rays meet.
    level: usize,
    rng: Rng,
}

impl Twins {
    fn new(setup: &mut Setup, poses: Poses) -> Self {
        let character = builtin::mannequin().unwrap().character;
        let capacity = Capacity {
            palette_entries: 16_384,
            depth_pixels: 2 * EXTENT.width * EXTENT.height,
            late_views: 1,
            ..SMALL
        };
        let mut world = World::new(setup, poses.rays(), capacity);
        let mut plain = setup.crowd_with(Stages::Gpu, 2, capacity);
        let scene = Scene::new(setup, poses);
        world.view = View {
            culling: Culling::Rays,
            ..scene.camera
        };
        let mut animator = Animator::new(&character).unwrap();
        let (mut rng, mut people) = (Rng::new(57), Vec::new());
        let crowds = [&mut world.crowd, &mut plain];
        let kinds = crowds.map(|crowd| setup.add(crowd, &character));
        for (number, place) in places(&mut rng).into_iter().enumerate() {
            let clip = ["Walk", "Idle"][number % 2];
            let mut spawn = poses.spawn(&character, (clip, place), &mut rng);
            spawn.play.speed = if poses == Poses::Own { 1.0 } else { 0.0 };
            plain.spawn(kinds[1], &spawn).unwrap();
            people.push(Person {
                id: world.crowd.spawn(kinds[0], &spawn).unwrap(),
                actor: animator.add(spawn.play).unwrap(),
                world: place,
            });
        }
        world.settle(setup);
        let desc = scene.canvas.target.pass_desc();
        let level = poses.level(&world, kinds[0]);
        let crowds = [&mut world.crowd, &mut plain];
        Self {
            level,
            passes: crowds.map(|crowd| unsafe { crowd.create_pass(&desc) }.unwrap()),
            world,
            plain,
            scene,
            people,
            character,
            animator,
            rng,
        }
    }

    /// Draws both crowds, and returns the pictures and what the cameras hid two frames ago.
    fn frame(&mut self, setup: &mut Setup, rays: &[Ray]) -> [(Vec<u8>, Option<u32>); 2] {
        let world = &mut self.world;
        let frame_index = world.next;
        world.next = (world.next + 1) % 2;
        world.now_s += 0.02;
        let device = setup.context.device.clone();
        [true, false].map(|has_rays| {
            let cmd = world.frames.begin(&setup.context, frame_index);
            let (crowd, pass) = match has_rays {
                true => (&mut world.crowd, self.passes[0]),
                false => (&mut self.plain, self.passes[1]),
            };
            let mut frame = setup.begin(crowd, frame_index, world.now_s);
            let hidden = frame.view_stats().first().map(|stats| stats.hidden);
            let view = has_rays.then_some(world.view);
            let traced = self.scene.record((&device, cmd), &mut frame, pass, view);
            if let Some(traced) = traced {
                assert_eq!(traced.count as usize, IN_FRONT + BEHIND);
                world.tracer.record((&device, cmd), &traced, rays);
            }
            world.frames.submit(&setup.context, frame_index);
            world.frames.wait(&setup.context, frame_index);
            (self.scene.canvas.target.read_rgba().unwrap(), hidden)
        })
    }

    /// Rays from around everybody at them.
    fn rays(&mut self) -> Vec<Ray> {
        let rays = self.people.iter().flat_map(|person| {
            let sphere = self.world.crowd.live(person.id).bounding_sphere();
            let each = (0..12).map(|_| {
                let by = self.rng.direction() * self.rng.range(0.0, 0.4) * sphere.radius;
                let direction = self.rng.direction();
                Ray {
                    origin: sphere.center + by - direction * 12.0,
                    direction,
                    mask: 0xFF,
                }
            });
            each.collect::<Vec<_>>()
        });
        rays.collect()
    }

    /// Compares the records with the people.
    fn check_records(&self) {
        let records = self.world.tracer.records((IN_FRONT + BEHIND) as u32);
        for person in &self.people {
            let index = self.world.crowd.live(person.id).table_index();
            let own: Vec<_> = records.iter().filter(|it| it.index == index).collect();
            assert_eq!(own.len(), 1, "{own:?}");
            let rows = Mat3x4::from_affine(&person.world).rows;
            assert_eq!(own[0].transform.as_slice(), rows.as_flattened());
            assert_ne!(own[0].structure, 0);
        }
    }

    /// Compares hits with the nearest triangles in the present poses.
    fn check_hits(&mut self, rays: &[Ray], met: &mut [u32]) {
        self.animator.update(self.world.now_s).unwrap();
        let palettes = palettes(&self.character, &mut self.animator, &self.people);
        let posed = self.people.iter().zip(&palettes).map(|(person, palette)| {
            let sphere = self.world.crowd.live(person.id).bounding_sphere();
            let all = triangles(&self.character, self.level, palette, &person.world);
            (sphere, all)
        });
        let posed: Vec<_> = posed.collect();
        for (ray, hit) in rays.iter().zip(self.world.tracer.hits()) {
            let who = hit.map(|hit| {
                let index = |it: &Person| self.world.crowd.live(it.id).table_index();
                let own = self.people.iter().position(|it| index(it) == hit.index);
                own.unwrap()
            });
            let same = |ray: &Ray| {
                let (distance, nearest) = nearest(ray, &posed);
                match hit {
                    Some(hit) => (distance - f64::from(hit.distance)).abs() < 1e-3,
                    None => nearest.is_none(),
                }
            };
            // Vertices are up to 6e-5 m apart, so rays may pass an edge on the other side.
            let nudged = |by: Vec3| {
                let origin = ray.origin + by * 1e-4;
                same(&Ray { origin, ..*ray })
            };
            let axes = [
                Vec3::X,
                Vec3::Y,
                Vec3::Z,
                Vec3::NEG_X,
                Vec3::NEG_Y,
                Vec3::NEG_Z,
            ];
            let fits = same(ray) || axes.into_iter().any(nudged);
            assert!(fits, "{ray:?} {:?} {hit:?}", nearest(ray, &posed));
            if let Some(who) = who {
                met[who] += 1;
            }
        }
    }

    fn destroy(self, setup: &mut Setup) {
        self.scene.canvas.destroy(&setup.context);
        self.scene.walls.destroy(&setup.context);
        unsafe { self.plain.destroy(&mut setup.context.allocator()) };
        self.world.destroy(setup);
    }
}

/// The distance of the nearest triangle, and whose it is.
fn nearest(ray: &Ray, posed: &[(Sphere, Triangles)]) -> (f64, Option<usize>) {
    let (mut nearest, mut who) = (f64::INFINITY, None);
    for (number, (sphere, triangles)) in posed.iter().enumerate() {
        let away = sphere.center - ray.origin;
        let along = away.dot(ray.direction);
        if away.length_squared() - along * along > sphere.radius * sphere.radius {
            continue;
        }
        let distances = triangles.iter().filter_map(|(_, it)| meets(ray, it));
        let distance = distances.fold(f64::INFINITY, f64::min);
        if distance < nearest {
            (nearest, who) = (distance, Some(number));
        }
    }
    (nearest, who)
}

/// A wall hides people from the camera, in frames of one and of two phases. Rays meet them in their
/// present poses, as they meet those in front, and the camera's picture is that of a crowd without
/// rays.
#[test]
fn rays_meet_people_whom_depth_hides() {
    each_with_rays(|setup| {
        for poses in [Poses::Own, Poses::Shared] {
            let mut twins = Twins::new(setup, poses);
            for phases in [
                Phases::One,
                Phases::Two { rays_first: true },
                Phases::Two { rays_first: false },
            ] {
                twins.scene.phases = phases;
                let mut met = [0; IN_FRONT + BEHIND];
                for number in 0..4 {
                    let rays = twins.rays();
                    let [with, without] = twins.frame(setup, &rays);
                    assert!(with.0 == without.0, "{phases:?}, frame {number}");
                    // Figures are those of two frames ago.
                    let hidden = [with.1, without.1];
                    let known = hidden == [Some(BEHIND as u32); 2];
                    assert!(number < 2 || known, "{hidden:?}");
                    twins.check_records();
                    twins.check_hits(&rays, &mut met);
                }
                println!("{phases:?}, {poses:?}: {met:?} rays met");
                assert!(met.iter().all(|count| *count >= 10), "{met:?}");
            }
            twins.destroy(setup);
        }
    });
}
