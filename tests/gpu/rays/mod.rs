//! Rays meet the crowd: its records and structures against the CPU's, and what the layer says.

mod tracer;

use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::sides::parted;
use crate::support::frames::FramesInFlight;
use crate::support::{SMALL, Setup, each_with_rays, placed, view};
use throng::animator::{ActorId, Animator, Play};
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::palette::Mat3x4;
use throng::skin::PosedVertices;
use throng::{
    Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Culling, Detail, InstanceId, RayDesc,
    RayStats, Spawn, Stages, View, builtin,
};
use tracer::{Hit, Ray, Record, Tracer};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 480,
};

/// A crowd, and a ray view of it.
struct World {
    crowd: Crowd,
    frames: FramesInFlight,
    tracer: Tracer,
    view: View,
    next: u32,
    now_s: f64,
    /// The character with an offset of 7 in shader binding tables.
    first: Option<CharacterId>,
}

/// The results of a frame.
struct Traced {
    hits: Vec<Option<Hit>>,
    records: Vec<Record>,
    stats: RayStats,
}

impl World {
    fn new(setup: &mut Setup, rays: RayDesc, capacity: Capacity) -> Self {
        let desc = CrowdDesc {
            stages: Stages::Gpu,
            rays: Some(rays),
            ..setup.crowd_desc(2, capacity)
        };
        let device = setup.device();
        let crowd = Crowd::new(&device, &mut setup.allocator(), &desc).unwrap();
        let eye = Vec3::new(0.0, 3.0, 60.0);
        let seen = view(eye, Vec3::Y, EXTENT);
        Self {
            frames: FramesInFlight::new(&setup.context, 2),
            tracer: Tracer::new(&setup.context, crowd.ray_set_layout().unwrap()),
            crowd,
            view: View {
                culling: Culling::Rays,
                detail: Detail {
                    pose_error_px: 1e9,
                    ..seen.detail
                },
                ..seen
            },
            next: 0,
            now_s: 0.0,
            first: None,
        }
    }

    /// Traces rays in a frame, and waits for it.
    fn frame(&mut self, setup: &mut Setup, rays: &[Ray]) -> Traced {
        let frame_index = self.next;
        self.next = (self.next + 1) % 2;
        self.now_s += 0.02;
        let device = setup.context.device.clone();
        let cmd = self.frames.begin(&setup.context, frame_index);
        let mut frame = setup.begin(&mut self.crowd, frame_index, self.now_s);
        let count;
        unsafe {
            let views = frame.record_prepare(cmd, &[self.view]).unwrap();
            let traced = frame.record_rays(cmd, views[0]).unwrap();
            self.tracer.record((&device, cmd), &traced, rays);
            count = traced.count;
        }
        let stats = frame.ray_stats().unwrap();
        self.frames.submit(&setup.context, frame_index);
        self.frames.wait(&setup.context, frame_index);
        Traced {
            hits: self.tracer.hits(),
            records: self.tracer.records(count),
            stats,
        }
    }

    /// Frames until all structures are built and compacted.
    fn settle(&mut self, setup: &mut Setup) -> RayStats {
        for _ in 0..40 {
            self.frame(setup, &[]);
        }
        let stats = self.frame(setup, &[]).stats;
        assert_eq!((stats.waiting, stats.built), (0, 0), "{stats:?}");
        stats
    }

    /// Records a frame that is never submitted.
    fn abandon(&mut self, setup: &mut Setup) {
        self.now_s += 0.02;
        let cmd = self.frames.begin(&setup.context, self.next);
        let mut frame = setup.begin(&mut self.crowd, self.next, self.now_s);
        unsafe {
            let views = frame.record_prepare(cmd, &[self.view]).unwrap();
            frame.record_rays(cmd, views[0]).unwrap();
            self.crowd.abandon_frame();
        }
    }

    /// A random change of a person.
    fn operate(&mut self, rng: &mut Rng, kinds: &[CharacterId], people: &mut Vec<InstanceId>) {
        let place = Affine3A::from_scale_rotation_translation(
            Vec3::new(if rng.chance(4) { -1.0 } else { 1.0 }, 1.0, 1.0) * rng.range(0.5, 1.5),
            Quat::from_rotation_y(rng.range(0.0, 6.0)),
            Vec3::new(rng.range(-5.0, 5.0), 0.0, rng.range(-5.0, 5.0)),
        );
        let crowd = &mut self.crowd;
        if people.len() < 10 || rng.chance(4) && people.len() < 60 {
            let kind = kinds[rng.below(kinds.len())];
            let spawn = Spawn {
                world_from_model: place,
                ..Spawn::default()
            };
            people.push(crowd.spawn(kind, &spawn).unwrap());
            return;
        }
        let at = rng.below(people.len());
        if rng.chance(6) {
            crowd.despawn(people.swap_remove(at)).unwrap();
            return;
        }
        let mut it = crowd.live_mut(people[at]);
        match rng.below(5) {
            0 => it.set_transform(&place).unwrap(),
            1 => it.set_visible(rng.chance(2)),
            2 => it.set_view_mask([u32::MAX, 0x0100_0001, 0xFF00_0000][rng.below(3)]),
            3 => {
                let _ = it.set_part_visible("front", rng.chance(2));
            }
            _ => {
                let clip = ["Walk", "Run", "Idle", "sway"][rng.below(4)];
                let _ = it.play(Play::new(clip).fade_s(0.1));
            }
        }
    }

    /// Compares records with the people.
    fn check(&self, people: &[InstanceId], traced: &Traced, seen: &mut [u64; 4]) {
        let crowd = &self.crowd;
        let (filled, empty): (Vec<&Record>, Vec<&Record>) = traced
            .records
            .iter()
            .partition(|record| record.structure != 0 || record.mask != 0);
        let ends = traced
            .records
            .iter()
            .rposition(|it| it.mask != 0 || it.structure != 0);
        assert_eq!(ends.map_or(0, |end| end + 1), filled.len());
        let zero = Record::default();
        assert!(empty.iter().all(|record| **record == zero));
        let mut indices = Vec::new();
        for record in &filled {
            let id = crowd.instance_at(record.index).unwrap();
            assert!(people.contains(&id));
            let it = crowd.live(id);
            assert!(it.is_visible());
            let rows = Mat3x4::from_affine(&it.transform()).rows;
            assert_eq!(record.transform.as_slice(), rows.as_flattened());
            assert_eq!(record.mask, it.view_mask() >> 24);
            let is_first = Some(it.character()) == self.first;
            assert_eq!(record.sbt_offset, if is_first { 7 } else { 0 });
            seen[1] += u64::from(record.structure != 0);
            indices.push(record.index);
        }
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), filled.len());
        for hit in traced.hits.iter().flatten() {
            let record = traced.records[hit.record as usize];
            assert_eq!(record.index, hit.index);
            seen[2] += 1;
        }
        seen[0] += filled.len() as u64;
        seen[3] += u64::from(traced.stats.structures);
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames.destroy(&setup.context);
        self.tracer.destroy(&setup.context);
        setup.destroy(self.crowd);
    }
}

/// The triangles of people in world space, as the CPU has them.
struct Person {
    id: InstanceId,
    actor: ActorId,
    world: Affine3A,
}

/// The triangles of a person at a level: geometry and corners.
fn triangles(
    character: &Character,
    level: usize,
    palette: &[Mat3x4],
    world: &Affine3A,
) -> Vec<(u32, [Vec3; 3])> {
    let mut all = Vec::new();
    let weights = vec![0.0; character.morph_weights().len()];
    for (number, primitive) in (0..).zip(character.primitives()) {
        let mut posed = PosedVertices::default();
        character
            .skin_primitive(primitive, palette, &weights, &mut posed)
            .unwrap();
        let indices = match level.checked_sub(1) {
            None => &primitive.indices,
            Some(at) => &primitive.levels[at].indices,
        };
        for corners in indices.as_chunks::<3>().0 {
            let corners = corners.map(|at| world.transform_point3(posed.positions[at as usize]));
            all.push((number, corners));
        }
    }
    all
}

/// The distance at which a ray meets a triangle. After Möller and Trumbore, "Fast, Minimum Storage
/// Ray-Triangle Intersection", 1997.
fn meets(ray: &Ray, corners: &[Vec3; 3]) -> Option<f64> {
    let [a, b, c] = corners.map(|at| at.as_dvec3());
    let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(ac);
    let determinant = ab.dot(across);
    let from = origin - a;
    let u = from.dot(across) / determinant;
    let along = from.cross(ab);
    let v = direction.dot(along) / determinant;
    let distance = ac.dot(along) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some(distance)
}

/// Rays from around the crowd into it.
fn rays_into(rng: &mut Rng, count: usize, radius: f32) -> Vec<Ray> {
    (0..count)
        .map(|_| {
            let at = Vec3::new(
                rng.range(-radius, radius),
                rng.range(0.0, 1.8),
                rng.range(-radius, radius),
            );
            let direction = rng.direction();
            Ray {
                origin: at - direction * 20.0,
                direction,
                mask: 0xFF,
            }
        })
        .collect()
}

/// People in shared poses, mirrored and scaled: rays meet the triangles of the CPU's vertices.
#[test]
fn rays_meet_what_the_cpu_poses() {
    each_with_rays(|setup| {
        let character = builtin::mannequin().unwrap().character;
        let rays = RayDesc {
            near_slots: 0,
            ..RayDesc::default()
        };
        let mut world = World::new(setup, rays, SMALL);
        let kind = setup.add(&mut world.crowd, &character);
        let level = world.crowd.ray_levels(kind).unwrap().unwrap()[1] as usize;
        let mut animator = Animator::new(&character).unwrap();
        let mut rng = Rng::new(50);
        let mut people = Vec::new();
        for number in 0..24 {
            let clip = character.clip(["Walk", "Idle", "Run"][number % 3]).unwrap();
            let steps = character.pose_steps(clip).unwrap().unwrap().count;
            let duration_s = character.clips()[clip.index()].duration_s();
            let step = rng.below(steps as usize) as f64;
            let start_s = duration_s * step / f64::from(steps);
            let play = Play::new(clip).start_s(start_s).speed(0.0);
            let sign = if number % 4 == 0 { -1.0 } else { 1.0 };
            let world_from_model = Affine3A::from_scale_rotation_translation(
                Vec3::new(sign, 1.0, 1.0) * rng.range(0.6, 1.6),
                Quat::from_rotation_y(rng.range(0.0, 6.0)),
                Vec3::new(rng.range(-5.0, 5.0), 0.0, rng.range(-5.0, 5.0)),
            );
            let id = world
                .crowd
                .spawn(kind, &placed(world_from_model, play))
                .unwrap();
            let actor = animator.add(play).unwrap();
            people.push(Person {
                id,
                actor,
                world: world_from_model,
            });
        }
        let stats = world.settle(setup);
        assert_eq!((stats.people, stats.approximated), (24, 0), "{stats:?}");
        assert_eq!(
            (stats.without_structure, stats.left_out),
            (0, 0),
            "{stats:?}"
        );
        let mut palette = vec![Mat3x4::from_affine(&Affine3A::IDENTITY); character.palette().len()];
        let all: Vec<_> = people
            .iter()
            .map(|person| {
                animator
                    .palettes(&[person.actor], &mut palette[..])
                    .unwrap();
                triangles(&character, level, &palette, &person.world)
            })
            .collect();
        let (mut met, mut worst) = (0, 0.0_f64);
        for _ in 0..4 {
            let rays = rays_into(&mut rng, 2000, 6.0);
            let traced = world.frame(setup, &rays);
            for (ray, hit) in rays.iter().zip(&traced.hits) {
                let each = people.iter().zip(&all).flat_map(|(person, triangles)| {
                    triangles.iter().filter_map(|(geometry, corners)| {
                        let distance = meets(ray, corners)?;
                        Some((distance, person.id, *geometry))
                    })
                });
                let nearest = each.min_by(|a, b| a.0.total_cmp(&b.0));
                match (nearest, hit) {
                    (None, None) => {}
                    (Some((distance, id, geometry)), Some(hit)) => {
                        let apart = (distance - f64::from(hit.distance)).abs();
                        worst = worst.max(apart);
                        met += 1;
                        let same = (Some(id), geometry)
                            == (world.crowd.instance_at(hit.index), hit.geometry);
                        assert!(apart < 1e-3, "{ray:?} {nearest:?} {hit:?}");
                        assert!(same || apart < 1e-4, "{ray:?} {nearest:?} {hit:?}");
                    }
                    other => panic!("{ray:?}: {other:?}"),
                }
            }
        }
        println!("{met} rays met, {worst} m apart");
        assert!(met > 1000, "{met}");
        world.destroy(setup);
    });
}

/// The nearest people have slots: rays meet them in their present poses, at the level of slots,
/// also while they walk around and fade, mirrored or not.
#[test]
fn the_nearest_people_have_structures_of_their_own() {
    const SLOTS: usize = 6;
    each_with_rays(|setup| {
        let character = builtin::mannequin().unwrap().character;
        let rays = RayDesc {
            near_slots: SLOTS as u32,
            ..RayDesc::default()
        };
        let mut world = World::new(setup, rays, SMALL);
        let kind = setup.add(&mut world.crowd, &character);
        let [near, far] = world.crowd.ray_levels(kind).unwrap().unwrap();
        assert!(near < far, "{near} {far}");
        world.view.eye = view(Vec3::new(4.0, 2.0, 8.0), Vec3::Y, EXTENT).eye;
        world.view.detail.pose_error_px = 0.0;
        let mut animator = Animator::new(&character).unwrap();
        let mut rng = Rng::new(52);
        let mut people = Vec::new();
        for number in 0..24 {
            let play =
                Play::new(["Walk", "Idle", "Run"][number % 3]).offset_s(rng.range(0.0, 2.0).into());
            let id = world
                .crowd
                .spawn(kind, &placed(Affine3A::IDENTITY, play))
                .unwrap();
            let actor = animator.add(play).unwrap();
            people.push(Person {
                id,
                actor,
                world: Affine3A::IDENTITY,
            });
        }
        let mut palette = vec![Mat3x4::from_affine(&Affine3A::IDENTITY); character.palette().len()];
        let (mut met, mut worst) = (0, 0.0_f64);
        for number in 0..30 {
            for person in &mut people {
                let sign = if rng.chance(3) { -1.0 } else { 1.0 };
                person.world = Affine3A::from_scale_rotation_translation(
                    Vec3::new(sign, 1.0, 1.0) * rng.range(0.8, 1.3),
                    Quat::from_rotation_y(rng.range(0.0, 6.0)),
                    Vec3::new(rng.range(-4.0, 4.0), 0.0, rng.range(-4.0, 4.0)),
                );
                let mut it = world.crowd.live_mut(person.id);
                it.set_transform(&person.world).unwrap();
                if rng.chance(10) {
                    let play = Play::new("Wave").fade_s(0.3);
                    it.play(play).unwrap();
                    animator.live_mut(person.actor).play(play).unwrap();
                }
            }
            let rays = rays_into(&mut rng, 600, 4.0);
            let traced = world.frame(setup, &rays);
            animator.update(world.now_s).unwrap();
            if number < 8 {
                // Structures of slots are built, and late counts are unknown.
                continue;
            }
            assert_eq!(traced.stats.near, SLOTS as u32, "{:?}", traced.stats);
            assert_eq!(traced.stats.refitted, SLOTS as u32);
            let eye = world.view.eye.position;
            let mut order: Vec<_> = people.iter().collect();
            let key = |person: &&Person| {
                let sphere = world.crowd.live(person.id).bounding_sphere();
                let scale = person.world.matrix3.y_axis.length();
                (sphere.center - eye).length_squared() / (scale * scale)
            };
            order.sort_by(|a, b| key(a).total_cmp(&key(b)));
            let nearest: Vec<_> = order[..SLOTS]
                .iter()
                .map(|person| {
                    animator
                        .palettes(&[person.actor], &mut palette[..])
                        .unwrap();
                    let all = triangles(&character, near as usize, &palette, &person.world);
                    (person.id, all)
                })
                .collect();
            for (ray, hit) in rays.iter().zip(&traced.hits) {
                let Some(hit) = hit else { continue };
                let id = world.crowd.instance_at(hit.index).unwrap();
                let Some((_, all)) = nearest.iter().find(|(near, _)| *near == id) else {
                    continue;
                };
                let distances = all.iter().filter_map(|(_, corners)| meets(ray, corners));
                let distance = distances.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
                let apart = (distance - f64::from(hit.distance)).abs();
                worst = worst.max(apart);
                met += 1;
                assert!(apart < 1e-3, "frame {number}: {ray:?} {hit:?} {distance}");
            }
        }
        println!("{met} rays met people near by, {worst} m apart");
        assert!(met > 500, "{met}");
        world.destroy(setup);
    });
}

/// Shaders read hits on people in slots and in shared poses, mirrored ones too: the position lies
/// on the ray, the normal faces as the triangle does, colour, tint, user word and material are the
/// instance's, and hidden parts are not met.
#[test]
fn shaders_read_hits() {
    each_with_rays(|setup| {
        let (mannequin, ribbon) = (builtin::mannequin().unwrap().character, parted(3));
        let mut world = World::new(setup, RayDesc::default(), SMALL);
        world.view.eye = view(Vec3::new(3.0, 2.0, 9.0), Vec3::Y, EXTENT).eye;
        let kinds = [&mannequin, &ribbon].map(|it| setup.add(&mut world.crowd, it));
        let mut animators = [&mannequin, &ribbon].map(|it| Animator::new(it).unwrap());
        let mut rng = Rng::new(54);
        let mut people = Vec::new();
        for number in 0..24 {
            let kind = number % 2;
            let play = Play::new([["Walk", "Idle"], ["sway", "turn"]][kind][number / 2 % 2]);
            let sign = if rng.chance(3) { -1.0 } else { 1.0 };
            let world_from_model = Affine3A::from_scale_rotation_translation(
                Vec3::new(sign, rng.range(0.7, 1.3), 1.0),
                Quat::from_rotation_y(rng.range(0.0, 6.0)),
                Vec3::new(rng.range(-4.0, 4.0), 0.0, rng.range(-4.0, 4.0)),
            );
            let spawn = Spawn {
                tint: [0.5, 0.25, 1.0, 1.0],
                user_data: number as u32 * 3,
                ..placed(world_from_model, play)
            };
            let id = world.crowd.spawn(kinds[kind], &spawn).unwrap();
            if kind == 1 && rng.chance(2) {
                let mut it = world.crowd.live_mut(id);
                it.set_part_visible("front", false).unwrap();
            }
            let actor = animators[kind].add(play).unwrap();
            people.push((
                Person {
                    id,
                    actor,
                    world: world_from_model,
                },
                kind,
                number as u32 * 3,
            ));
        }
        world.settle(setup);
        let [mut met, mut of_ribbons, mut candidates] = [0; 3];
        for _ in 0..6 {
            let rays = rays_into(&mut rng, 1000, 5.0);
            let traced = world.frame(setup, &rays);
            for (ray, hit) in rays.iter().zip(&traced.hits) {
                let Some(hit) = hit else { continue };
                candidates += hit.candidates;
                let at = ray.origin + ray.direction * hit.distance;
                assert!(at.distance(hit.position) < 2e-4, "{ray:?} {hit:?}");
                let id = world.crowd.instance_at(hit.index).unwrap();
                let (person, kind, user) = people.iter().find(|it| it.0.id == id).unwrap();
                let character = [&mannequin, &ribbon][*kind];
                let primitive = &character.primitives()[hit.geometry as usize];
                assert_eq!((hit.user, hit.material), (*user, primitive.material));
                let hides = world.crowd.live(id).is_part_visible("front");
                assert!(hides.is_err() || hides == Ok(true) || hit.geometry != 0);
                assert!((hit.normal.length() - 1.0).abs() < 1e-4);
                assert!((0.0..0.2).contains(&hit.start_m), "{hit:?}");
                met += 1;
                if *kind == 1 {
                    // Flat faces towards ±Z, with the colours of the materials.
                    of_ribbons += 1;
                    let base = character.materials()[hit.material as usize].base_color;
                    let tinted = [base[0] * 0.5, base[1] * 0.25, base[2]];
                    for (is, expected) in hit.color.iter().zip(tinted) {
                        assert!((is - expected).abs() < 1e-3, "{hit:?} {tinted:?}");
                    }
                    let [u, v] = hit.uv;
                    let inside = (-0.01..=1.01).contains(&u) && (-0.01..=2.01).contains(&v);
                    assert!(inside, "{hit:?}");
                    let facing = hit.normal.dot(ray.direction) < 0.0;
                    assert_eq!(facing, hit.front, "{hit:?} {:?}", person.world);
                }
            }
        }
        println!("{met} hits, {of_ribbons} of ribbons, {candidates} candidates");
        assert!(met > 1000 && of_ribbons > 200 && candidates > 100);
        world.destroy(setup);
    });
}

/// Points on the ground that a view sees, with rays from there to the sun.
fn ground(seen: &View, sun: Vec3, [width, height]: [u32; 2]) -> Vec<Ray> {
    let inverse = seen.eye.clip_from_world.inverse();
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let rays = pixels.filter_map(|(x, y)| {
        let at = |x: u32, width: u32| (x as f32 + 0.5) / width as f32 * 2.0 - 1.0;
        let far = inverse.project_point3(Vec3::new(at(x, width), at(y, height), 0.5));
        let toward = far - seen.eye.position;
        let origin = seen.eye.position - toward * (seen.eye.position.y / toward.y);
        let is_seen = toward.y < 0.0 && origin.length() < 30.0;
        is_seen.then_some(Ray {
            origin,
            direction: sun,
            mask: 0xFF,
        })
    });
    rays.collect()
}

/// The share of the ground, in the shadow of a walking crowd, that is lit as by structures for each
/// person in its own pose, at full detail or at level `exact`.
fn equal_shadows(
    setup: &mut Setup,
    (rays, desc): (RayDesc, &CharacterDesc),
    exact: usize,
    eye: Vec3,
) -> f64 {
    let character = builtin::mannequin().unwrap().character;
    let capacity = Capacity {
        instances: 256,
        palette_entries: 16_384,
        ..SMALL
    };
    let mut world = World::new(setup, rays, capacity);
    let kind = setup.add_with(&mut world.crowd, &character, desc);
    let seen = view(eye, Vec3::new(0.0, 0.8, 0.0), EXTENT);
    world.view = View {
        culling: Culling::Rays,
        detail: Detail::default(),
        ..seen
    };
    let mut animator = Animator::new(&character).unwrap();
    let mut rng = Rng::new(53);
    let mut people = Vec::new();
    for number in 0..196 {
        let clip = ["Walk", "Run", "Idle"][number % 3];
        let play = Play::new(clip).offset_s(rng.range(0.0, 2.0).into());
        let (x, z) = ((number % 14) as f32, (number / 14) as f32);
        let world_from_model = Affine3A::from_rotation_translation(
            Quat::from_rotation_y(rng.range(0.0, 6.0)),
            Vec3::new(x - 6.5, 0.0, z - 6.5) * 1.6,
        );
        let id = world
            .crowd
            .spawn(kind, &placed(world_from_model, play))
            .unwrap();
        let actor = animator.add(play).unwrap();
        people.push(Person {
            id,
            actor,
            world: world_from_model,
        });
    }
    world.settle(setup);
    let rays = ground(&world.view, Vec3::new(0.5, 0.7, 0.3).normalize(), [64, 48]);
    let traced = world.frame(setup, &rays);
    animator.update(world.now_s).unwrap();
    let mut palette = vec![Mat3x4::from_affine(&Affine3A::IDENTITY); character.palette().len()];
    let mut shadows = vec![false; rays.len()];
    for person in &people {
        animator
            .palettes(&[person.actor], &mut palette[..])
            .unwrap();
        let all = triangles(&character, exact, &palette, &person.world);
        let sphere = world.crowd.live(person.id).bounding_sphere();
        for (ray, shadow) in rays.iter().zip(&mut shadows) {
            let away = sphere.center - ray.origin;
            let along = away.dot(ray.direction);
            if away.length_squared() - along * along < sphere.radius * sphere.radius {
                *shadow |= all.iter().any(|(_, corners)| meets(ray, corners).is_some());
            }
        }
    }
    let equal = shadows.iter().zip(&traced.hits);
    let equal = equal.filter(|(shadow, hit)| **shadow == hit.is_some());
    let share = equal.count() as f64 / rays.len() as f64;
    let dark = shadows.iter().filter(|shadow| **shadow).count();
    println!(
        "{share} of {} points, of which {dark} are dark: {:?}",
        rays.len(),
        traced.stats
    );
    assert!(rays.len() > 1000 && dark * 10 > rays.len());
    world.destroy(setup);
    share
}

/// The shadows of a crowd are those of exact poses at full detail for 99 % of the ground, with the
/// defaults, and for more of it at equal levels.
#[test]
fn shadows_are_those_of_exact_poses() {
    each_with_rays(|setup| {
        for eye in [Vec3::new(9.0, 9.0, 14.0), Vec3::new(2.0, 1.7, 13.0)] {
            let defaults = (RayDesc::default(), &CharacterDesc::default());
            let share = equal_shadows(setup, defaults, 0, eye);
            assert!(share >= 0.99, "{share}");
            let rays = RayDesc {
                near_slots: 200,
                bytes_per_character: 64 << 20,
                ..RayDesc::default()
            };
            let same = CharacterDesc {
                ray_levels: Some([4, 4]),
                ..CharacterDesc::default()
            };
            let share = equal_shadows(setup, (rays, &same), 4, eye);
            assert!(share >= 0.999, "{share}");
        }
    });
}

/// Random crowds, in each of which people come, go, move, hide and play: the records are those of
/// the people whom the view shows, with their transforms, masks and structures that live, and zeros
/// behind. Characters come, are replaced and go, the crowd grows, and frames are given up.
#[test]
fn records_are_those_of_the_people_shown() {
    each_with_rays(|setup| {
        let mut rng = Rng::new(51);
        let mut seen = [0_u64; 4];
        let rays = RayDesc {
            max_people: 40,
            builds_per_frame: 5,
            ..RayDesc::default()
        };
        let mut world = World::new(setup, rays, SMALL);
        let mannequin = builtin::mannequin().unwrap().character;
        let (bare, parted) = (mannequin.clone().without_levels(), parted(3));
        let desc = CharacterDesc {
            sbt_offset: 7,
            ..CharacterDesc::default()
        };
        let mut kinds = vec![setup.add_with(&mut world.crowd, &mannequin, &desc)];
        world.first = Some(kinds[0]);
        let mut people: Vec<InstanceId> = Vec::new();
        for number in 0..160 {
            if number == 60 {
                let grown = Capacity {
                    instances: 200,
                    ..world.crowd.capacity()
                };
                setup.reserve(&mut world.crowd, &grown);
            }
            match rng.below(12) {
                0 if kinds.len() < 20 => {
                    let character = [&mannequin, &bare, &parted][rng.below(3)];
                    kinds.push(setup.add(&mut world.crowd, character));
                }
                1 => {
                    let kind = kinds[rng.below(kinds.len())];
                    let to = [&mannequin, &bare][rng.below(2)];
                    let mut allocator = setup.allocator();
                    let replaced = world.crowd.replace_character(&mut allocator, kind, to);
                    replaced.unwrap();
                }
                2 if kinds.len() > 1 => {
                    let kind = kinds.swap_remove(rng.below(kinds.len()));
                    people.retain(|id| {
                        let own = world.crowd.live(*id).character() == kind;
                        if own {
                            world.crowd.despawn(*id).unwrap();
                        }
                        !own
                    });
                    world.crowd.remove_character(kind).unwrap();
                    world.first = world.first.filter(|first| *first != kind);
                }
                _ => {}
            }
            for _ in 0..6 {
                world.operate(&mut rng, &kinds, &mut people);
            }
            let far = rng.range(20.0, 3000.0);
            let eye = Vec3::new(far, 4.0, 1.0);
            world.view.eye = view(eye, Vec3::Y, EXTENT).eye;
            if rng.chance(8) {
                world.abandon(setup);
                continue;
            }
            let traced = world.frame(setup, &rays_into(&mut rng, 64, 6.0));
            world.check(&people, &traced, &mut seen);
        }
        println!("{seen:?}");
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
        world.destroy(setup);
    });
}

/// Wrong options and views are refused by name, and nothing is recorded then.
#[test]
fn what_cannot_be_is_refused() {
    each_with_rays(|setup| {
        let device = setup.device();
        let mut made = |change: fn(&mut CrowdDesc, &mut RayDesc)| {
            let mut desc = setup.crowd_desc(2, SMALL);
            desc.stages = Stages::Gpu;
            let mut rays = RayDesc::default();
            change(&mut desc, &mut rays);
            desc.rays = Some(rays);
            let made = Crowd::new(&device, &mut setup.allocator(), &desc);
            made.map(drop).unwrap_err().to_string()
        };
        let stages = made(|desc, _| desc.stages = Stages::GpuCull);
        assert!(
            stages.contains("CrowdDesc::rays: needs CrowdDesc::stages"),
            "{stages}"
        );
        let none = made(|_, rays| rays.max_people = 0);
        assert!(none.contains("RayDesc::max_people"), "{none}");
        let many = made(|_, rays| rays.max_people = u32::MAX);
        assert!(many.contains("maxInstanceCount"), "{many}");
        let many = made(|_, rays| rays.builds_per_frame = 1025);
        assert!(many.contains("RayDesc::builds_per_frame"), "{many}");
        let many = made(|_, rays| rays.near_slots = 1025);
        assert!(many.contains("RayDesc::near_slots"), "{many}");

        let mut world = World::new(setup, RayDesc::default(), SMALL);
        let mannequin = builtin::mannequin().unwrap().character;
        let desc = CharacterDesc {
            ray_levels: Some([1, 99]),
            ..CharacterDesc::default()
        };
        let added = world
            .crowd
            .add_character(&mut setup.allocator(), &mannequin, &desc);
        let added = added.unwrap_err().to_string();
        assert!(added.contains("level 99"), "{added}");
        let kind = setup.add(&mut world.crowd, &mannequin);
        world.crowd.spawn(kind, &Spawn::default()).unwrap();
        let cmd = world.frames.begin(&setup.context, 0);
        let mut frame = setup.begin(&mut world.crowd, 0, 0.1);
        let camera = View {
            culling: Culling::Frustum,
            ..world.view
        };
        unsafe {
            let late = View {
                late: true,
                ..world.view
            };
            let refused = frame.record_prepare(cmd, &[late]).unwrap_err().to_string();
            assert!(refused.contains("View::late: must be false"), "{refused}");
            let views = frame.record_prepare(cmd, &[camera, world.view]).unwrap();
            let why = |result: throng::Result<_>| match result {
                Ok(_) => panic!("it was recorded"),
                Err(error) => throng::Error::to_string(&error),
            };
            let wrong = why(frame.record_rays(cmd, views[0]));
            assert!(wrong.contains("view: must have Culling::Rays"), "{wrong}");
            frame.record_rays(cmd, views[1]).unwrap();
            let twice = why(frame.record_rays(cmd, views[1]));
            assert!(twice.contains("has recorded rays already"), "{twice}");
        }
        world.frames.submit(&setup.context, 0);
        world.frames.wait(&setup.context, 0);
        world.destroy(setup);
    });
}

/// A crowd without rays has nothing of them: no pipeline, no memory, no set, and a view of rays is
/// one that shows everything large enough.
#[test]
fn without_rays_there_is_nothing_of_them() {
    each_with_rays(|setup| {
        let mut names = Vec::new();
        for rays in [None, Some(RayDesc::default())] {
            let desc = CrowdDesc {
                stages: Stages::Gpu,
                rays,
                ..setup.crowd_desc(2, SMALL)
            };
            let device = setup.device();
            let mut crowd = Crowd::new(&device, &mut setup.allocator(), &desc).unwrap();
            setup.add(&mut crowd, &builtin::mannequin().unwrap().character);
            let pipelines = crowd.pipelines().map(|it| it.stage.to_owned());
            let pipelines: Vec<String> = pipelines.filter(|it| it.starts_with("ray")).collect();
            let report = setup.context.allocator().generate_report();
            let memory = report.allocations.iter().map(|it| it.name.clone());
            let own = ["ray", "people", "slots", "structures"];
            let memory = memory.filter(|name| own.iter().any(|own| name.contains(own)));
            names.push((pipelines.len(), memory.count()));
            assert_eq!(crowd.ray_stats().is_some(), rays.is_some());
            assert_eq!(crowd.ray_set_layout().is_some(), rays.is_some());
            setup.destroy(crowd);
        }
        assert_eq!(names[0], (0, 0));
        assert!(names[1].0 >= 4 && names[1].1 >= 7, "{names:?}");
    });
}
