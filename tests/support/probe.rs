//! Runs compute shaders of `shaders/test`, which record the content of set 0 that they see.

use std::path::Path;
use throng::ash::util::read_spv;
use throng::ash::{self, vk};
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, Context};

/// The committed SPIR-V of a shader, by its name under `shaders/`.
pub fn spirv(name: &str) -> Vec<u32> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../shaders/spv/{name}.spv"));
    let mut file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    read_spv(&mut file).unwrap()
}

/// The pipeline of a compute shader, by its name under `shaders/`.
pub fn compute_pipeline(
    device: &ash::Device,
    shader: &str,
    layout: vk::PipelineLayout,
) -> vk::Pipeline {
    let words = spirv(shader);
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    let module = unsafe { device.create_shader_module(&info, None) }.unwrap();
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout)];
    let cache = vk::PipelineCache::null();
    let made = unsafe { device.create_compute_pipelines(cache, &info, None) };
    unsafe { device.destroy_shader_module(module, None) };
    made.unwrap()[0]
}

/// A pipeline whose set 0 is throng's and whose set 1 is one storage buffer.
///
/// It has up to 16 such sets.
pub struct Probe {
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
}

/// The mapped output buffer of a probe.
pub struct Output {
    pub buffer: Buffer,
    set: vk::DescriptorSet,
}

impl Output {
    pub fn words(&self) -> Vec<u32> {
        let mut words = vec![0_u32; self.buffer.size() as usize / 4];
        let bytes = bytemuck::cast_slice_mut(&mut words);
        self.buffer.read_mapped(0, bytes).unwrap();
        words
    }
}

const PUSH_BYTES: u32 = 32;

impl Probe {
    pub fn new(context: &Context, shader: &str, set_0: vk::DescriptorSetLayout) -> Self {
        let device = &context.device;
        let stages = vk::ShaderStageFlags::COMPUTE;
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(stages)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        unsafe {
            let set_layout = device.create_descriptor_set_layout(&info, None).unwrap();
            let sets = [set_0, set_layout];
            let push = [vk::PushConstantRange {
                stage_flags: stages,
                offset: 0,
                size: PUSH_BYTES,
            }];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&sets)
                .push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None).unwrap();
            let pipeline = compute_pipeline(device, shader, layout);
            let sizes = [vk::DescriptorPoolSize {
                ty: kind,
                descriptor_count: 16,
            }];
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(16)
                .pool_sizes(&sizes);
            Self {
                set_layout,
                layout,
                pipeline,
                pool: device.create_descriptor_pool(&info, None).unwrap(),
            }
        }
    }

    pub fn output(&self, context: &mut Context, words: u64) -> Output {
        let buffer = Buffer::new(
            context,
            "probe output",
            words.max(4) * 4,
            vk::BufferUsageFlags::STORAGE_BUFFER,
            MemoryLocation::GpuToCpu,
        )
        .unwrap();
        let layouts = [self.set_layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.pool)
            .set_layouts(&layouts);
        let set = unsafe { context.device.allocate_descriptor_sets(&info) }.unwrap()[0];
        let content = [vk::DescriptorBufferInfo {
            buffer: buffer.handle(),
            offset: 0,
            range: vk::WHOLE_SIZE,
        }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&content);
        unsafe { context.device.update_descriptor_sets(&[write], &[]) };
        Output { buffer, set }
    }

    /// Binds set 0 and the output.
    pub fn bind(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        set_0: vk::DescriptorSet,
        offsets: &[u32],
        output: &Output,
    ) {
        let point = vk::PipelineBindPoint::COMPUTE;
        let sets = [set_0, output.set];
        unsafe {
            device.cmd_bind_pipeline(cmd, point, self.pipeline);
            device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &sets, offsets);
        }
    }

    /// Dispatches workgroups of 64 for `count` invocations, rounded up. `ring` is the address of
    /// the palettes in the ring.
    pub fn run(
        &self,
        (device, cmd): (&ash::Device, vk::CommandBuffer),
        push: &[u32],
        ring: vk::DeviceAddress,
        count: u32,
    ) {
        let stages = vk::ShaderStageFlags::COMPUTE;
        let push = push.iter().copied();
        let push = push.chain([ring as u32, (ring >> 32) as u32]);
        let bytes: Vec<u8> = push.flat_map(u32::to_ne_bytes).collect();
        unsafe {
            device.cmd_push_constants(cmd, self.layout, stages, 0, &bytes);
            device.cmd_dispatch(cmd, count.div_ceil(64), 1, 1);
        }
    }

    /// Makes the output visible to the host, once the fence is waited for.
    pub fn finish(device: &ash::Device, cmd: vk::CommandBuffer) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
    }

    pub fn destroy(self, context: &Context) {
        unsafe {
            let device = &context.device;
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
