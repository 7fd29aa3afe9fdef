//! An engine's pipeline for static meshes: positions from a vertex buffer, depth alone.

use crate::support::own::depth_pipeline;
use throng::ash::{self, vk};
use throng::glam::Mat4;
use throng::{PassDesc, SkinnedVertices};
use throng_standalone::Context;

pub(super) struct Plain {
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

const PUSH_BYTES: u32 = 64 + 48;

impl Plain {
    pub(super) fn new(context: &Context, pass: &PassDesc<'_>) -> Self {
        let device = &context.device;
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX,
            offset: 0,
            size: PUSH_BYTES,
        }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.unwrap();
        let bindings = [vk::VertexInputBindingDescription::default().stride(12)];
        let format = vk::Format::R32G32B32_SFLOAT;
        let attributes = [vk::VertexInputAttributeDescription::default().format(format)];
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let shader = "test/static_mesh.vert";
        let pipeline = depth_pipeline(context, pass, (shader, 0, layout), &input, &[]);
        Self { layout, pipeline }
    }

    /// Draws every primitive of an instance, given clip from world and the rows of world from
    /// model.
    pub(super) fn draw(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        (clip_from_world, rows): (Mat4, [[f32; 4]; 3]),
        (skinned, indices): (&SkinnedVertices<'_>, vk::Buffer),
    ) {
        let numbers = clip_from_world.to_cols_array();
        let all = numbers.iter().chain(rows.as_flattened());
        let push: Vec<u8> = all.flat_map(|value| value.to_ne_bytes()).collect();
        unsafe {
            device.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            let stage = vk::ShaderStageFlags::VERTEX;
            device.cmd_push_constants(cmd, self.layout, stage, 0, &push);
            for primitive in skinned.primitives() {
                let (buffers, offsets) = ([skinned.buffer], [primitive.positions]);
                device.cmd_bind_vertex_buffers(cmd, 0, &buffers, &offsets);
                device.cmd_bind_index_buffer(cmd, indices, 0, primitive.index_type);
                let (count, first) = (primitive.index_count, primitive.first_index);
                device.cmd_draw_indexed(cmd, count, 1, first, 0, 0);
            }
        }
    }

    pub(super) fn destroy(self, context: &Context) {
        unsafe {
            context.device.destroy_pipeline(self.pipeline, None);
            context.device.destroy_pipeline_layout(self.layout, None);
        }
    }
}
