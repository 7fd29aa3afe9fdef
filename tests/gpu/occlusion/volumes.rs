//! The test of volumes against depth: nothing that could be seen is hidden, and little else is
//! shown.

use super::reference::{Picture, Volume, hidden_by_pixels, hides, project};
use crate::occlusion_records::{Projection, Pyramid};
use crate::reference::rng::Rng;
use crate::shader_layout::GpuOcclusion;
use crate::support::probe::compute_pipeline;
use crate::support::{CONFIGS, Setup};
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Mat3, Mat4, Vec2, Vec3};
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, Context};

/// Volumes of each picture.
const VOLUMES: usize = 1024;
/// Points of each hidden volume that are looked at.
const POINTS: usize = 200;

/// A picture of walls, and the eye that sees them.
struct Scene {
    eye: Projection,
    picture: Picture,
    pyramid: Pyramid,
    record: GpuOcclusion,
    volumes: Vec<Volume>,
}

fn eye(rng: &mut Rng) -> Projection {
    let side = |rng: &mut Rng| {
        let bits = 1 + rng.below(8);
        1 + rng.below(1 << bits) as u32
    };
    let (width, height) = (side(rng), side(rng));
    let orthographic = rng.chance(4);
    let reversed_z = rng.chance(2);
    let aspect = width as f32 / height as f32;
    let (near, far) = (rng.range(0.05, 0.5), rng.range(60.0, 400.0));
    let projection = match (orthographic, reversed_z) {
        (true, _) => {
            let half = rng.range(5.0, 40.0);
            let bounds = [-half * aspect, half * aspect, -half, half];
            let [left, right, bottom, top] = bounds;
            rh::proj::vulkan::orthographic(left, right, bottom, top, near, far)
        }
        (false, _) => rh::proj::vulkan::perspective(rng.range(0.4, 1.6), aspect, near, far),
    };
    // Depth z becomes w - z.
    let reverse = Mat4::from_cols_array_2d(&[
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0],
    ]);
    let projection = if reversed_z {
        reverse * projection
    } else {
        projection
    };
    let place = rng.vector(-200.0, 200.0) * if rng.chance(2) { 1.0 } else { 0.02 };
    let view = rh::view::look_at_mat4(place, place + rng.direction(), Vec3::Y);
    let mut offset = |length: u32| match rng.below(3) {
        0 => 0,
        1 => rng.below(40) as i32,
        _ => -(rng.below(length as usize) as i32),
    };
    let (x, y) = (offset(width), offset(height));
    Projection {
        clip_from_world: projection * view,
        jitter: Vec2::new(
            rng.range(-1.0, 1.0) / width as f32,
            rng.range(-1.0, 1.0) / height as f32,
        ),
        viewport: vk::Rect2D {
            offset: vk::Offset2D { x, y },
            extent: vk::Extent2D { width, height },
        },
        flip_y: rng.chance(3),
        reversed_z,
        margin_m: if rng.chance(4) {
            rng.range(0.0, 0.5)
        } else {
            0.0
        },
        depth_step: 0.0,
    }
}

/// A volume in front of the eye, at a depth between near and far.
fn volume(rng: &mut Rng, eye: &Projection) -> Volume {
    let world = eye.clip_from_world.inverse();
    let ndc = Vec3::new(rng.range(-1.1, 1.1), rng.range(-1.1, 1.1), 0.0);
    let ends = [0.0, 1.0].map(|z| world.project_point3(ndc.with_z(z)));
    let part = rng.range(-0.02, 1.0).powi(2);
    let center = ends[0].lerp(ends[1], if eye.reversed_z { 1.0 - part } else { part });
    let size = rng.range(0.05, 1.5);
    if rng.chance(2) {
        return Volume::Sphere {
            center,
            radius: size,
        };
    }
    let scale = Mat3::from_diagonal(size * rng.vector(0.1, 1.0));
    let mut edges = Mat3::from_quat(rng.rotation()) * scale;
    if rng.chance(5) {
        edges.x_axis += edges.y_axis * 0.5;
    }
    Volume::Box { center, edges }
}

/// Walls at the depths of points among the volumes.
fn picture(rng: &mut Rng, eye: &Projection, volumes: &[Volume]) -> Picture {
    let vk::Rect2D { offset, extent } = eye.viewport;
    let edge = |first: i32, length: u32| (first + length as i32).max(1) as u32;
    let (width, height) = (edge(offset.x, extent.width), edge(offset.y, extent.height));
    let far = if eye.reversed_z { 0.0 } else { 1.0 };
    let mut depths: Vec<f32> = vec![far; (width * height) as usize];
    for _ in 0..rng.below(12) {
        let seen = &volumes[rng.below(volumes.len())];
        let place = project(eye, seen.point(Vec3::ZERO));
        let Some(place) = place.filter(|place| (0.0..=1.0).contains(&place.z)) else {
            continue;
        };
        let (x0, y0) = (rng.below(width as usize), rng.below(height as usize));
        let (x1, y1) = (
            x0 + 1 + rng.below(width as usize),
            y0 + 1 + rng.below(height as usize),
        );
        for y in y0..y1.min(height as usize) {
            for x in x0..x1.min(width as usize) {
                let depth = &mut depths[y * width as usize + x];
                let wall = place.z as f32;
                *depth = if eye.reversed_z {
                    depth.max(wall)
                } else {
                    depth.min(wall)
                };
            }
        }
    }
    Picture { width, depths }
}

impl Scene {
    fn new(rng: &mut Rng, start: u32) -> Self {
        let eye = eye(rng);
        let volumes: Vec<_> = (0..VOLUMES).map(|_| volume(rng, &eye)).collect();
        let picture = picture(rng, &eye, &volumes);
        let pyramid = Pyramid::new(eye.viewport, 0, start);
        let record = GpuOcclusion::new(&pyramid, &eye);
        Self {
            eye,
            picture,
            pyramid,
            record,
            volumes,
        }
    }

    /// True if a point would be drawn: it is in the picture, and not behind a wall.
    fn shows(&self, point: Vec3, volume: &Volume) -> bool {
        let Some(place) = project(&self.eye, volume.point(point)) else {
            return true;
        };
        let pixel = [place.x, place.y].map(|along| along.floor());
        let inside = pixel.iter().enumerate().all(|(axis, along)| {
            let first = f64::from(self.pyramid.origin[axis]);
            (first..first + f64::from(self.pyramid.size[axis])).contains(along)
        });
        if !inside || !(0.0..=1.0).contains(&place.z) {
            return false;
        }
        let wall = f64::from(self.picture.at(pixel[0] as u32, pixel[1] as u32));
        if self.eye.reversed_z {
            place.z >= wall
        } else {
            place.z <= wall
        }
    }
}

/// Runs `shaders/test/occlusion.comp`.
fn hidden(context: &Context, inputs: [&[u8]; 3], count: usize) -> Vec<u32> {
    let device = &context.device;
    let kind = vk::DescriptorType::STORAGE_BUFFER;
    let stages = vk::ShaderStageFlags::COMPUTE;
    let bindings = [0, 1, 2, 3].map(|number| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number)
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(stages)
    });
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let mut buffers: Vec<_> = inputs
        .iter()
        .map(|bytes| {
            let (bytes, location) = (bytes.len() as u64, MemoryLocation::CpuToGpu);
            Buffer::new(context, "input", bytes, usage, location).unwrap()
        })
        .collect();
    for (buffer, bytes) in buffers.iter_mut().zip(inputs) {
        buffer.write(0, bytes).unwrap();
    }
    let (bytes, location) = (count as u64 * 4, MemoryLocation::GpuToCpu);
    buffers.push(Buffer::new(context, "hidden", bytes, usage, location).unwrap());
    unsafe {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layout = device.create_descriptor_set_layout(&info, None).unwrap();
        let (layouts, push) = (
            [set_layout],
            [vk::PushConstantRange {
                stage_flags: stages,
                offset: 0,
                size: 4,
            }],
        );
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(&push);
        let layout = device.create_pipeline_layout(&info, None).unwrap();
        let pipeline = compute_pipeline(device, "test/occlusion.comp", layout);
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 4,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        let set = device.allocate_descriptor_sets(&info).unwrap()[0];
        for (number, buffer) in (0..).zip(&buffers) {
            let content = [vk::DescriptorBufferInfo {
                buffer: buffer.handle(),
                offset: 0,
                range: vk::WHOLE_SIZE,
            }];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(number)
                .descriptor_type(kind)
                .buffer_info(&content);
            device.update_descriptor_sets(&[write], &[]);
        }
        let record = |device: &throng::ash::Device, cmd| {
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(cmd, point, pipeline);
            device.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], &[]);
            device.cmd_push_constants(cmd, layout, stages, 0, &(count as u32).to_ne_bytes());
            device.cmd_dispatch(cmd, (count as u32).div_ceil(64), 1, 1);
            crate::support::probe::Probe::finish(device, cmd);
        };
        context.submit_and_wait(record).unwrap();
        device.destroy_descriptor_pool(pool, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_descriptor_set_layout(set_layout, None);
    }
    let mut found = vec![0_u32; count];
    let output = buffers.last().unwrap();
    output
        .read_mapped(0, bytemuck::cast_slice_mut(&mut found))
        .unwrap();
    found
}

/// Four rows of a volume before the picture of this number.
fn rows(volume: &Volume, number: u32) -> [[f32; 4]; 4] {
    let row = |v: Vec3, w: f32| v.extend(w).to_array();
    let number = f32::from_bits(number);
    match *volume {
        Volume::Sphere { center, radius } => [
            row(center, number),
            row(Vec3::ZERO, radius),
            [0.0; 4],
            [0.0; 4],
        ],
        Volume::Box { center, edges } => [
            row(center, number),
            row(edges.x_axis, 0.0),
            row(edges.y_axis, 0.0),
            row(edges.z_axis, 0.0),
        ],
    }
}

/// Random spheres and boxes before random pictures: perspective and orthographic, both directions
/// of depth, flipped, with jitter, cut at the upper and left edge, and with margins.
#[test]
fn only_what_nobody_sees_is_hidden() {
    let setup = Setup::new(CONFIGS[0]);
    let mut rng = Rng::new(11);
    let (mut scenes, mut pyramids) = (Vec::<Scene>::new(), Vec::new());
    for _ in 0..200 {
        let scene = Scene::new(&mut rng, pyramids.len() as u32);
        pyramids.extend(scene.picture.pyramid(&scene.pyramid, scene.eye.reversed_z));
        scenes.push(scene);
    }
    let records: Vec<_> = scenes.iter().map(|scene| scene.record).collect();
    let volumes: Vec<_> = (0..)
        .zip(&scenes)
        .flat_map(|(number, scene)| scene.volumes.iter().map(move |volume| rows(volume, number)))
        .collect();
    let inputs = [
        bytemuck::cast_slice(&records),
        bytemuck::cast_slice(&pyramids),
        bytemuck::cast_slice(&volumes),
    ];
    let found = hidden(&setup.context, inputs, volumes.len());
    let (mut by_shader, mut by_pixels, mut both, mut unlike) = (0, 0, 0, 0);
    let mut each = scenes
        .iter()
        .flat_map(|scene| scene.volumes.iter().map(move |v| (scene, v)));
    for (number, found) in found.into_iter().enumerate() {
        let (scene, volume) = each.next().unwrap();
        let hidden = found != 0;
        let with = (&scene.record, &scene.pyramid);
        let truth = hidden_by_pixels(&scene.eye, with, &scene.picture, volume);
        assert!(
            truth != Some(false) || !hidden,
            "volume {number}: {volume:?}, {:?}",
            scene.eye
        );
        let counted = scene.eye.margin_m == 0.0 && truth == Some(true);
        by_shader += usize::from(hidden);
        by_pixels += usize::from(counted);
        both += usize::from(hidden && counted);
        unlike += usize::from(hidden != hides(&scene.record, &pyramids, volume).unwrap_or(true));
        if hidden {
            for _ in 0..POINTS {
                let point = rng.vector(-1.0, 1.0);
                assert!(
                    !scene.shows(point, volume),
                    "volume {number}: {volume:?} at {point}"
                );
            }
        }
    }
    println!("{by_shader} hidden; {both} of {by_pixels} without margin; {unlike} unlike the CPU");
    assert!(by_pixels > 20_000, "{by_pixels}");
    assert!(both * 100 > by_pixels * 95, "{both} of {by_pixels}");
    // Quotients may be rounded in another way.
    assert!(unlike * 10_000 < VOLUMES * 200, "{unlike}");
}
