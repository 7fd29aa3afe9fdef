//! Rays meet the crowd: its records and structures against the CPU's, and what the layer says.

mod commands;
mod geometry;
mod hazards;
mod hidden;
mod hits;
mod masks;
pub(crate) mod modelled;
mod motion;
mod normals;
mod records;
mod refused;
mod shadows;
mod slots;
mod still;
mod tracer;

use crate::reference::rng::Rng;
use crate::support::frames::FramesInFlight;
use crate::support::{Setup, view};
use throng::animator::ActorId;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::gpu::Device;
use throng::palette::Mat3x4;
use throng::skin::PosedVertices;
use throng::{
    Capacity, CharacterId, Crowd, CrowdDesc, Culling, Detail, InstanceId, RayDesc, RayStats,
    Stages, View,
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
    /// Another view of the frame.
    camera: Option<View>,
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
        let device = setup.device();
        Self::on(&device, setup, rays, capacity)
    }

    /// As [`Self::new`], on a device with other functions.
    fn on(device: &Device, setup: &mut Setup, rays: RayDesc, capacity: Capacity) -> Self {
        let desc = CrowdDesc {
            stages: Stages::Gpu,
            rays: Some(rays),
            ..setup.crowd_desc(2, capacity)
        };
        let crowd = Crowd::new(device, &mut setup.allocator(), &desc).unwrap();
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
            camera: None,
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
            let seen: Vec<View> = [self.view].into_iter().chain(self.camera).collect();
            let views = frame.record_prepare(cmd, &seen).unwrap();
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
