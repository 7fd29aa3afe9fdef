//! The stage pyramid: every texel is the farthest depth of its pixels.

use crate::occlusion_records::Pyramid;
use crate::push_layout::PyramidPush;
use crate::reference::rng::Rng;
use crate::shader_layout::GpuOcclusion;
use crate::support::depths::{depth_of, known_depths};
use crate::support::probe::compute_pipeline;
use crate::support::{CONFIGS, Setup};
use std::mem::size_of;
use throng::ash::vk;
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, Context, Target};

/// Push constants and workgroups of the dispatches for a picture.
type Steps = [Option<(PyramidPush, [u32; 2])>; 2];

/// A word that no depth has.
const POISON: u32 = 0xFFC0_1234;

/// A picture of which a pyramid is made.
#[derive(Debug, Clone, Copy)]
struct Case {
    viewport: vk::Rect2D,
    /// The level of the image's texels.
    texel_level: u32,
    reversed_z: bool,
}

/// The pipelines of the stage as they are committed, and a set of an image.
struct Stage {
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    /// For the image, and for the levels above.
    pipelines: [vk::Pipeline; 2],
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
}

impl Stage {
    fn new(context: &Context, samples: u32, image: vk::ImageView, pyramids: &Buffer) -> Self {
        let device = &context.device;
        let kinds = [
            vk::DescriptorType::STORAGE_BUFFER,
            vk::DescriptorType::SAMPLED_IMAGE,
        ];
        let stages = vk::ShaderStageFlags::COMPUTE;
        let binding = |(number, kind)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(stages)
        };
        let bindings = [(0, kinds[0]), (1, kinds[1])].map(binding);
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layout = unsafe { device.create_descriptor_set_layout(&info, None) }.unwrap();
        let layouts = [set_layout];
        let push = [vk::PushConstantRange {
            stage_flags: stages,
            offset: 0,
            size: size_of::<PyramidPush>() as u32,
        }];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(&push);
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.unwrap();
        let of_image = match samples {
            1 => "pyramid.comp",
            _ => "pyramid_samples.comp",
        };
        let pipelines = [of_image, "pyramid_top.comp"];
        let pipelines = pipelines.map(|name| compute_pipeline(device, name, layout));
        let sizes = kinds.map(|ty| vk::DescriptorPoolSize {
            ty,
            descriptor_count: 1,
        });
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        let pool = unsafe { device.create_descriptor_pool(&info, None) }.unwrap();
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        let set = unsafe { device.allocate_descriptor_sets(&info) }.unwrap()[0];
        let buffers = [vk::DescriptorBufferInfo {
            buffer: pyramids.handle(),
            offset: 0,
            range: vk::WHOLE_SIZE,
        }];
        let images = [vk::DescriptorImageInfo {
            image_view: image,
            image_layout: vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            sampler: vk::Sampler::null(),
        }];
        let write = |number, kind| {
            vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(number)
                .descriptor_type(kind)
        };
        let writes = [
            write(0, kinds[0]).buffer_info(&buffers),
            write(1, kinds[1]).image_info(&images),
        ];
        unsafe { device.update_descriptor_sets(&writes, &[]) };
        Self {
            set_layout,
            layout,
            pipelines,
            pool,
            set,
        }
    }

    /// Records the dispatches of all pyramids, between barriers.
    fn record(
        &self,
        (device, cmd): (&throng::ash::Device, vk::CommandBuffer),
        (target, pyramids): (&Target, &Buffer),
        steps: &[Steps],
    ) {
        use vk::{AccessFlags2 as Access, ImageLayout as Layout, PipelineStageFlags2 as Stages};
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::DEPTH,
            level_count: 1,
            layer_count: 1,
            ..vk::ImageSubresourceRange::default()
        };
        let images = [vk::ImageMemoryBarrier2::default()
            .image(target.depth().unwrap().0)
            .subresource_range(range)
            .src_stage_mask(Stages::ALL_COMMANDS)
            .src_access_mask(Access::MEMORY_WRITE)
            .old_layout(Layout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL)
            .dst_stage_mask(Stages::COMPUTE_SHADER)
            .dst_access_mask(Access::SHADER_READ)
            .new_layout(Layout::DEPTH_STENCIL_READ_ONLY_OPTIMAL)];
        let barrier = |from: (Stages, Access), to: (Stages, Access)| {
            let barriers = [vk::MemoryBarrier2::default()
                .src_stage_mask(from.0)
                .src_access_mask(from.1)
                .dst_stage_mask(to.0)
                .dst_access_mask(to.1)];
            let info = vk::DependencyInfo::default().memory_barriers(&barriers);
            unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
        };
        let (filled, made) = (
            (Stages::CLEAR, Access::TRANSFER_WRITE),
            (Stages::COMPUTE_SHADER, Access::SHADER_STORAGE_WRITE),
        );
        let used = Access::SHADER_STORAGE_READ | Access::SHADER_STORAGE_WRITE;
        unsafe {
            let info = vk::DependencyInfo::default().image_memory_barriers(&images);
            device.cmd_pipeline_barrier2(cmd, &info);
            device.cmd_fill_buffer(cmd, pyramids.handle(), 0, vk::WHOLE_SIZE, POISON);
            for (step, pipeline) in self.pipelines.into_iter().enumerate() {
                let before = if step == 0 { filled } else { made };
                barrier(before, (Stages::COMPUTE_SHADER, used));
                let (point, sets) = (vk::PipelineBindPoint::COMPUTE, [self.set]);
                device.cmd_bind_pipeline(cmd, point, pipeline);
                device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &sets, &[]);
                for (push, [x, y]) in steps.iter().filter_map(|steps| steps[step]) {
                    let (stage, bytes) = (vk::ShaderStageFlags::COMPUTE, bytemuck::bytes_of(&push));
                    device.cmd_push_constants(cmd, self.layout, stage, 0, bytes);
                    device.cmd_dispatch(cmd, x, y, 1);
                }
            }
            barrier(made, (Stages::HOST, Access::HOST_READ));
        }
    }

    fn destroy(self, context: &Context) {
        let device = &context.device;
        unsafe {
            device.destroy_descriptor_pool(self.pool, None);
            for pipeline in self.pipelines {
                device.destroy_pipeline(pipeline, None);
            }
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// The depths of a picture, and the farthest of any block of its texels.
struct Depths {
    width: u32,
    samples: u32,
    all: Vec<f32>,
}

impl Depths {
    fn new(extent: vk::Extent2D, samples: u32) -> Self {
        let pixels = (0..extent.height).flat_map(|y| (0..extent.width).map(move |x| (x, y)));
        let all = pixels.flat_map(|(x, y)| (0..samples).map(move |number| depth_of(x, y, number)));
        Self {
            width: extent.width,
            samples,
            all: all.collect(),
        }
    }

    fn farthest(&self, [x, y]: [std::ops::Range<u32>; 2], reversed_z: bool) -> f32 {
        let rows = y.map(|y| {
            let row = y * self.width;
            let [first, end] = [row + x.start, row + x.end].map(|at| (at * self.samples) as usize);
            &self.all[first..end]
        });
        let signed = |depth: &f32| if reversed_z { -depth } else { *depth };
        rows.flatten().map(signed).fold(f32::NEG_INFINITY, f32::max)
    }
}

/// Compares a pyramid with the depths of its picture, texel by texel. Returns their number.
fn compare(case: &Case, pyramid: &Pyramid, depths: &Depths, words: &[u32]) -> usize {
    let edge = |axis: usize, pixel: u32| {
        let pixel = pixel.min(pyramid.size[axis]) + pyramid.origin[axis];
        pixel.div_ceil(1 << case.texel_level)
    };
    let (places, mut count) = (pyramid.places().0, 0);
    for (level, [start, width]) in (pyramid.first_level..).zip(&places[..pyramid.levels as usize]) {
        let [columns, rows] = pyramid.size.map(|pixels| pixels.div_ceil(1 << level));
        assert_eq!(*width, columns);
        for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            let block =
                |axis, texel: u32| edge(axis, texel << level)..edge(axis, (texel + 1) << level);
            let want = depths.farthest([block(0, x), block(1, y)], case.reversed_z);
            let have = f32::from_bits(words[(start + y * columns + x) as usize]);
            assert_eq!(have, want, "{case:?}, level {level}, texel {x}, {y}");
            count += 1;
        }
    }
    assert_eq!(
        pyramid
            .size
            .map(|pixels| pixels.div_ceil(1 << (level_of_top(pyramid)))),
        [1; 2]
    );
    count
}

fn level_of_top(pyramid: &Pyramid) -> u32 {
    pyramid.first_level + pyramid.levels - 1
}

/// Makes pyramids of parts of one picture, and compares each.
fn check(setup: &mut Setup, extent: vk::Extent2D, samples: u32, cases: &[Case]) -> usize {
    let target = known_depths(&mut setup.context, extent, samples);
    // A word lies between any two.
    let mut end = 1;
    let pyramids: Vec<_> = cases
        .iter()
        .map(|case| {
            let pyramid = Pyramid::new(case.viewport, case.texel_level, end);
            let words = pyramid.end() - end;
            let most = pyramid.texels() * 4 / 3 + u64::from(Pyramid::MOST_EXTRA_WORDS);
            assert!(u64::from(words) <= most, "{case:?}");
            assert!(pyramid.levels as usize <= GpuOcclusion::LEVELS);
            end = pyramid.end() + 1;
            pyramid
        })
        .collect();
    let buffer = Buffer::new(
        &setup.context,
        "pyramids",
        u64::from(end) * 4,
        vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST,
        MemoryLocation::GpuToCpu,
    )
    .unwrap();
    let stage = Stage::new(&setup.context, samples, target.depth().unwrap().1, &buffer);
    let steps: Vec<_> = pyramids
        .iter()
        .zip(cases)
        .map(|(pyramid, case)| pyramid.dispatches((case.texel_level, samples), case.reversed_z))
        .collect();
    let record = |device: &throng::ash::Device, cmd| {
        stage.record((device, cmd), (&target, &buffer), &steps);
    };
    setup.context.submit_and_wait(record).unwrap();
    let mut words = vec![0_u32; end as usize];
    let bytes = bytemuck::cast_slice_mut(&mut words);
    buffer.read_mapped(0, bytes).unwrap();
    assert_eq!(words[0], POISON);
    let depths = Depths::new(extent, samples);
    let mut texels = 0;
    for (case, pyramid) in cases.iter().zip(&pyramids) {
        texels += compare(case, pyramid, &depths, &words);
        assert_eq!(words[pyramid.end() as usize], POISON, "{case:?}");
    }
    stage.destroy(&setup.context);
    texels
}

fn case(offset: [i32; 2], size: [u32; 2], texel_level: u32, reversed_z: bool) -> Case {
    let [x, y] = offset;
    let [width, height] = size;
    let viewport = vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width, height },
    };
    Case {
        viewport,
        texel_level,
        reversed_z,
    }
}

/// Several hundred sizes, with offsets, at one sample and at four, in both directions of depth, for
/// pictures whose texels are pixels or blocks.
#[test]
fn texels_are_the_farthest_depths_of_their_pixels() {
    let mut setup = Setup::new(CONFIGS[0]);
    let mut rng = Rng::new(7);
    for samples in [1, 4] {
        let extent = vk::Extent2D {
            width: 260,
            height: 200,
        };
        let mut cases = vec![
            case([0, 0], [1, 1], 0, false),
            case([-3, -5], [263, 205], 0, true),
            case([-9, 0], [10, 1], 0, false),
            case([128, 64], [64, 64], 0, true),
            case([0, 0], [257, 131], 0, false),
            case([64, 32], [65, 129], 0, false),
        ];
        for _ in 0..200 {
            let texel_level = rng.below(5).saturating_sub(2) as u32;
            // Small sizes are the likeliest.
            let mut side = |most: u32| {
                let bits = rng.below(9) as u32;
                let length = 1 + (rng.bits() as u32 & ((1 << bits) - 1)).min(most - 1);
                let first = rng.below((most - length + 1) as usize) as u32;
                (first >> texel_level << texel_level, length << texel_level)
            };
            let ((x, width), (y, height)) = (side(extent.width), side(extent.height));
            let scaled =
                |most: u32, first: u32, length: u32| length.min((most << texel_level) - first);
            let size = [scaled(260, x, width), scaled(200, y, height)];
            cases.push(case([x as i32, y as i32], size, texel_level, rng.chance(2)));
        }
        let texels = check(&mut setup, extent, samples, &cases);
        assert!(texels > 300_000, "{texels}");
    }
    // Pictures too long for a level of their pixels.
    let extent = vk::Extent2D {
        width: 2300,
        height: 70,
    };
    let long = [
        case([0, 0], [2048, 70], 0, false),
        case([1, 3], [2049, 66], 0, true),
        case([3, 0], [2297, 69], 0, false),
        case([0, 0], [9200, 280], 2, false),
    ];
    check(&mut setup, extent, 1, &long);
}
