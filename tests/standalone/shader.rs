//! A dispatch that fills a storage buffer, to plant hazards with.

use std::path::Path;
use throng::ash::util::read_spv;
use throng::ash::{self, vk};

/// `shaders/test/fill.comp`, which fills 64 bytes.
pub(crate) struct Fill {
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
}

impl Fill {
    /// It fills `buffer`.
    pub(crate) fn new(device: &ash::Device, buffer: vk::Buffer) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shaders/spv/test/fill.comp.spv");
        let words = read_spv(&mut std::fs::File::open(path).expect("SPIR-V")).expect("SPIR-V");
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 1,
        }];
        let pool = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        // SAFETY: the device and the buffer are alive, and the shader has this one binding.
        unsafe {
            let set_layout = device
                .create_descriptor_set_layout(&info, None)
                .expect("a layout");
            let layouts = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            let layout = device
                .create_pipeline_layout(&info, None)
                .expect("a layout");
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = device.create_shader_module(&info, None).expect("a module");
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout)];
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            device.destroy_shader_module(module, None);
            let pool = device.create_descriptor_pool(&pool, None).expect("a pool");
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&info).expect("a set")[0];
            let buffers = [vk::DescriptorBufferInfo::default()
                .buffer(buffer)
                .range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .descriptor_type(kind)
                .buffer_info(&buffers);
            device.update_descriptor_sets(&[write], &[]);
            Self {
                set_layout,
                layout,
                pipeline: made.expect("a pipeline")[0],
                pool,
                set,
            }
        }
    }

    pub(crate) fn record(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: `cmd` is recording, and the objects are alive until its work has ended.
        unsafe {
            device.cmd_bind_pipeline(cmd, point, self.pipeline);
            device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &[self.set], &[]);
            device.cmd_dispatch(cmd, 1, 1, 1);
        }
    }

    pub(crate) fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller has waited for the work that uses them.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
