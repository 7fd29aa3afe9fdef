//! Traces rays against the top-level structure of a frame.

use crate::support::probe::compute_pipeline;
use throng::RayCrowd;
use throng::ash::{self, vk};
use throng::glam::Vec3;
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, Context};

/// The most rays of a frame.
const MOST: usize = 4096;
/// The most records that are read.
const RECORDS: u64 = 1024;

#[derive(Debug, Clone, Copy)]
pub(super) struct Ray {
    pub(super) origin: Vec3,
    pub(super) direction: Vec3,
    pub(super) mask: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    pub(super) distance: f32,
    pub(super) index: u32,
    pub(super) geometry: u32,
    pub(super) triangle: u32,
    pub(super) candidates: u32,
    pub(super) sbt_offset: u32,
    pub(super) front: bool,
    pub(super) record: u32,
    pub(super) position: Vec3,
    /// In the last frame of the history.
    pub(super) previous: Vec3,
    pub(super) normal: Vec3,
    pub(super) uv: [f32; 2],
    /// Of the texture of the base colour.
    pub(super) texture_uv: [f32; 2],
    pub(super) color: [f32; 3],
    /// The metres along a ray from its surface at which it should start.
    pub(super) start_m: f32,
    pub(super) user: u32,
    pub(super) material: u32,
}

/// A `VkAccelerationStructureInstanceKHR`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Record {
    pub(super) transform: [f32; 12],
    pub(super) index: u32,
    pub(super) mask: u32,
    pub(super) sbt_offset: u32,
    pub(super) flags: u32,
    pub(super) structure: u64,
}

pub(super) struct Tracer {
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    rays: Buffer,
    hits: Buffer,
    records: Buffer,
    count: u32,
}

impl Tracer {
    /// `hit_layout` is that of the crowd's set.
    pub(super) fn new(context: &Context, hit_layout: vk::DescriptorSetLayout) -> Self {
        let device = &context.device;
        let kinds = [
            vk::DescriptorType::ACCELERATION_STRUCTURE_KHR,
            vk::DescriptorType::STORAGE_BUFFER,
            vk::DescriptorType::STORAGE_BUFFER,
        ];
        let bindings = (0..).zip(kinds).map(|(number, kind)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let bindings: Vec<_> = bindings.collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let buffer = |name, bytes, usage, location| {
            Buffer::new(context, name, bytes, usage, location).unwrap()
        };
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        unsafe {
            let set_layout = device.create_descriptor_set_layout(&info, None).unwrap();
            let push = [vk::PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: 4,
            }];
            let layouts = [set_layout];
            let both = [set_layout, hit_layout];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&both)
                .push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None).unwrap();
            let sizes = [
                vk::DescriptorPoolSize {
                    ty: kinds[0],
                    descriptor_count: 1,
                },
                vk::DescriptorPoolSize {
                    ty: kinds[1],
                    descriptor_count: 2,
                },
            ];
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            Self {
                pipeline: compute_pipeline(device, "test/trace.comp", layout),
                set: device.allocate_descriptor_sets(&info).unwrap()[0],
                set_layout,
                layout,
                pool,
                rays: buffer("rays", MOST as u64 * 32, storage, MemoryLocation::CpuToGpu),
                hits: buffer("hits", MOST as u64 * 112, storage, MemoryLocation::GpuToCpu),
                records: buffer(
                    "records",
                    RECORDS * 64,
                    vk::BufferUsageFlags::TRANSFER_DST,
                    MemoryLocation::GpuToCpu,
                ),
                count: 0,
            }
        }
    }

    /// Records the trace of rays, and the copy of the records. The frame before has ended.
    pub(super) fn record(
        &mut self,
        (device, cmd): (&ash::Device, vk::CommandBuffer),
        crowd: &RayCrowd,
        rays: &[Ray],
    ) {
        let numbers = rays.iter().flat_map(|ray| {
            let mask = f32::from_bits(ray.mask);
            [ray.origin.extend(mask), ray.direction.extend(1000.0)]
        });
        let bytes: Vec<u8> = numbers
            .flat_map(|row| row.to_array())
            .flat_map(f32::to_ne_bytes)
            .collect();
        self.rays.write(0, &bytes).unwrap();
        self.count = rays.len() as u32;
        let structures = [crowd.tlas.unwrap()];
        let mut structures = vk::WriteDescriptorSetAccelerationStructureKHR::default()
            .acceleration_structures(&structures);
        let whole = |buffer: &Buffer| {
            [vk::DescriptorBufferInfo {
                buffer: buffer.handle(),
                offset: 0,
                range: vk::WHOLE_SIZE,
            }]
        };
        let (of_rays, of_hits) = (whole(&self.rays), whole(&self.hits));
        let write = |number, kind| {
            vk::WriteDescriptorSet::default()
                .dst_set(self.set)
                .dst_binding(number)
                .descriptor_count(1)
                .descriptor_type(kind)
        };
        let storage = vk::DescriptorType::STORAGE_BUFFER;
        let kind = vk::DescriptorType::ACCELERATION_STRUCTURE_KHR;
        let writes = [
            write(0, kind).push_next(&mut structures),
            write(1, storage).buffer_info(&of_rays),
            write(2, storage).buffer_info(&of_hits),
        ];
        let copy = [vk::BufferCopy {
            size: 64 * u64::from(crowd.count).min(RECORDS),
            ..vk::BufferCopy::default()
        }];
        let point = vk::PipelineBindPoint::COMPUTE;
        let stages = vk::ShaderStageFlags::COMPUTE;
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        unsafe {
            device.update_descriptor_sets(&writes, &[]);
            if crowd.count > 0 {
                device.cmd_copy_buffer(cmd, crowd.records, self.records.handle(), &copy);
            }
            device.cmd_bind_pipeline(cmd, point, self.pipeline);
            let sets = [self.set, crowd.set];
            device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &sets, &[]);
            let count = self.count.to_ne_bytes();
            device.cmd_push_constants(cmd, self.layout, stages, 0, &count);
            device.cmd_dispatch(cmd, self.count.div_ceil(64), 1, 1);
            device.cmd_pipeline_barrier(
                cmd,
                vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }

    /// The hits of the last frame.
    pub(super) fn hits(&self) -> Vec<Option<Hit>> {
        let mut words = vec![0_u32; self.count as usize * 28];
        let bytes = bytemuck::cast_slice_mut(&mut words);
        self.hits.read_mapped(0, bytes).unwrap();
        let each = words.as_chunks::<28>().0.iter();
        each.map(|words| {
            let [
                distance,
                index,
                geometry,
                triangle,
                candidates,
                sbt_offset,
                front,
                record,
            ] = *words.first_chunk().unwrap();
            let number = |at: usize| f32::from_bits(words[8 + at]);
            let vector = |at: usize| Vec3::new(number(at), number(at + 1), number(at + 2));
            let distance = f32::from_bits(distance);
            (distance >= 0.0).then_some(Hit {
                distance,
                index,
                geometry,
                triangle,
                candidates,
                sbt_offset,
                front: front != 0,
                record,
                position: vector(0),
                previous: vector(14),
                normal: vector(3),
                uv: [number(6), number(7)],
                texture_uv: [number(17), number(18)],
                color: vector(8).to_array(),
                start_m: number(11),
                user: words[20],
                material: words[21],
            })
        })
        .collect()
    }

    /// The first `count` records of the last frame.
    pub(super) fn records(&self, count: u32) -> Vec<Record> {
        let mut words = vec![0_u32; count as usize * 16];
        let bytes = bytemuck::cast_slice_mut(&mut words);
        self.records.read_mapped(0, bytes).unwrap();
        let each = words.as_chunks::<16>().0.iter();
        each.map(|words| Record {
            transform: core::array::from_fn(|at| f32::from_bits(words[at])),
            index: words[12] & 0xFF_FFFF,
            mask: words[12] >> 24,
            sbt_offset: words[13] & 0xFF_FFFF,
            flags: words[13] >> 24,
            structure: u64::from(words[14]) | u64::from(words[15]) << 32,
        })
        .collect()
    }

    pub(super) fn destroy(self, context: &Context) {
        let device = &context.device;
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
