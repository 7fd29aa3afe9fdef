//! Walls that an engine draws before the crowd, and the pictures that it draws to.

use crate::support::own::depth_pipeline;
use crate::support::read_image::{ImageRead, read_image};
use throng::ash::{self, vk};
use throng::glam::{Mat4, Vec3};
use throng::gpu_allocator::MemoryLocation;
use throng::{Depth, View};
use throng_standalone::{Buffer, Context, Target, TargetDesc};

/// The most triangles of walls.
const MOST: usize = 64;

/// Triangles in world space.
pub(crate) struct Walls {
    buffer: Buffer,
    vertices: u32,
    layout: vk::PipelineLayout,
}

/// A picture with its pipeline for walls.
pub(crate) struct Canvas {
    pub(crate) target: Target,
    pub(crate) samples: u32,
    pipeline: vk::Pipeline,
}

impl Walls {
    pub(crate) fn new(context: &Context) -> Self {
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX,
            offset: 0,
            size: 112,
        }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        let (bytes, usage) = (MOST as u64 * 36, vk::BufferUsageFlags::VERTEX_BUFFER);
        let location = MemoryLocation::CpuToGpu;
        Self {
            buffer: Buffer::new(context, "walls", bytes, usage, location).unwrap(),
            vertices: 0,
            layout: unsafe { context.device.create_pipeline_layout(&info, None) }.unwrap(),
        }
    }

    /// Replaces all triangles. No submitted work may use them.
    pub(crate) fn set(&mut self, triangles: &[[Vec3; 3]]) {
        let triangles = &triangles[..triangles.len().min(MOST)];
        let numbers = triangles.as_flattened().iter().flat_map(|v| v.to_array());
        let bytes: Vec<u8> = numbers.flat_map(f32::to_ne_bytes).collect();
        if !bytes.is_empty() {
            self.buffer.write(0, &bytes).unwrap();
        }
        self.vertices = triangles.len() as u32 * 3;
    }

    /// Draws the walls as an eye of a view sees them.
    pub(crate) fn draw(
        &self,
        (device, cmd): (&ash::Device, vk::CommandBuffer),
        canvas: &Canvas,
        view: &View,
        reversed_z: bool,
    ) {
        let mut jitter = Mat4::IDENTITY;
        jitter.w_axis = view.eye.jitter.extend(0.0).extend(1.0);
        let numbers = (jitter * view.eye.clip_from_world).to_cols_array();
        let unit = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let push: Vec<u8> = numbers
            .iter()
            .chain(&unit)
            .flat_map(|v: &f32| v.to_ne_bytes())
            .collect();
        let (offset, extent) = (view.viewport.offset, view.viewport.extent);
        let [x, y, width, height] = [
            offset.x as f32,
            offset.y as f32,
            extent.width as f32,
            extent.height as f32,
        ];
        let (y, height) = if view.flip_y {
            (y + height, -height)
        } else {
            (y, height)
        };
        let viewports = [vk::Viewport {
            x,
            y,
            width,
            height,
            min_depth: 0.0,
            max_depth: 1.0,
        }];
        let [left, top] = [offset.x, offset.y].map(|first| first.max(0));
        let side =
            |first: i32, length: u32, from: i32| (first + length as i32 - from).max(0) as u32;
        let scissors = [vk::Rect2D {
            offset: vk::Offset2D { x: left, y: top },
            extent: vk::Extent2D {
                width: side(offset.x, extent.width, left),
                height: side(offset.y, extent.height, top),
            },
        }];
        let compare = if reversed_z {
            vk::CompareOp::GREATER_OR_EQUAL
        } else {
            vk::CompareOp::LESS_OR_EQUAL
        };
        unsafe {
            device.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::GRAPHICS, canvas.pipeline);
            device.cmd_set_viewport(cmd, 0, &viewports);
            device.cmd_set_scissor(cmd, 0, &scissors);
            device.cmd_set_depth_compare_op(cmd, compare);
            let stage = vk::ShaderStageFlags::VERTEX;
            device.cmd_push_constants(cmd, self.layout, stage, 0, &push);
            device.cmd_bind_vertex_buffers(cmd, 0, &[self.buffer.handle()], &[0]);
            device.cmd_draw(cmd, self.vertices, 1, 0, 0);
        }
    }

    pub(crate) fn destroy(self, context: &Context) {
        unsafe { context.device.destroy_pipeline_layout(self.layout, None) };
    }
}

impl Canvas {
    pub(crate) fn new(context: &Context, walls: &Walls, size: [u32; 2], samples: u32) -> Self {
        let format = TargetDesc::default().color_format;
        Self::of_format(context, walls, (size, samples), format)
    }

    pub(crate) fn of_format(
        context: &Context,
        walls: &Walls,
        ([width, height], samples): ([u32; 2], u32),
        color_format: vk::Format,
    ) -> Self {
        let desc = TargetDesc {
            color_format,
            extent: vk::Extent2D { width, height },
            samples: vk::SampleCountFlags::from_raw(samples),
            depth_usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC,
            ..TargetDesc::default()
        };
        let target = Target::new(context, &desc).unwrap();
        let bindings = [vk::VertexInputBindingDescription::default().stride(12)];
        let attributes =
            [vk::VertexInputAttributeDescription::default().format(vk::Format::R32G32B32_SFLOAT)];
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let dynamic = [
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::DEPTH_COMPARE_OP,
        ];
        let shader = ("test/static_mesh.vert", 0, walls.layout);
        let pipeline = depth_pipeline(context, &target.pass_desc(), shader, &input, &dynamic);
        Self {
            target,
            samples,
            pipeline,
        }
    }

    /// Its depth as the crowd takes it, in the layout after [`Self::read_only`].
    pub(crate) fn depth(&self, reversed_z: bool) -> Depth {
        let extent = self.target.extent();
        Depth {
            samples: vk::SampleCountFlags::from_raw(self.samples),
            reversed_z,
            ..Depth::new(self.target.depth().unwrap().1, extent)
        }
    }

    /// Makes the depth that was drawn visible to the stage pyramid.
    pub(crate) fn read_only(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        use vk::{AccessFlags2 as Access, ImageLayout as Layout, PipelineStageFlags2 as Stages};
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::DEPTH,
            level_count: 1,
            layer_count: 1,
            ..vk::ImageSubresourceRange::default()
        };
        let images = [vk::ImageMemoryBarrier2::default()
            .image(self.target.depth().unwrap().0)
            .subresource_range(range)
            .src_stage_mask(Stages::LATE_FRAGMENT_TESTS | Stages::EARLY_FRAGMENT_TESTS)
            .src_access_mask(Access::DEPTH_STENCIL_ATTACHMENT_WRITE)
            .old_layout(Layout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL)
            .dst_stage_mask(Stages::COMPUTE_SHADER)
            .dst_access_mask(Access::SHADER_READ)
            .new_layout(Layout::DEPTH_STENCIL_READ_ONLY_OPTIMAL)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&images);
        unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
    }

    /// Begins rendering once more after [`Self::read_only`], on top of what was drawn. It has one
    /// sample.
    pub(crate) fn resume(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        use vk::{AccessFlags2 as Access, ImageLayout as Layout, PipelineStageFlags2 as Stages};
        let (color, depth) = (self.target.color(), self.target.depth().unwrap());
        let image = |(image, _), aspect_mask, [old, new]: [Layout; 2]| {
            let range = vk::ImageSubresourceRange {
                aspect_mask,
                level_count: 1,
                layer_count: 1,
                ..vk::ImageSubresourceRange::default()
            };
            vk::ImageMemoryBarrier2::default()
                .image(image)
                .subresource_range(range)
                .src_stage_mask(Stages::ALL_COMMANDS)
                .src_access_mask(Access::MEMORY_WRITE)
                .old_layout(old)
                .dst_stage_mask(Stages::ALL_COMMANDS)
                .dst_access_mask(Access::MEMORY_READ | Access::MEMORY_WRITE)
                .new_layout(new)
        };
        let drawn = Layout::COLOR_ATTACHMENT_OPTIMAL;
        let tested = Layout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let read = Layout::DEPTH_STENCIL_READ_ONLY_OPTIMAL;
        let images = [
            image(
                color,
                vk::ImageAspectFlags::COLOR,
                [Layout::TRANSFER_SRC_OPTIMAL, drawn],
            ),
            image(depth, vk::ImageAspectFlags::DEPTH, [read, tested]),
        ];
        let attachment = |(_, view), layout| {
            vk::RenderingAttachmentInfo::default()
                .image_view(view)
                .image_layout(layout)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
        };
        let colors = [attachment(color, drawn)];
        let depth = attachment(depth, tested);
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D::default().extent(self.target.extent()))
            .layer_count(1)
            .color_attachments(&colors)
            .depth_attachment(&depth);
        unsafe {
            let barriers = vk::DependencyInfo::default().image_memory_barriers(&images);
            device.cmd_pipeline_barrier2(cmd, &barriers);
            device.cmd_begin_rendering(cmd, &info);
        }
    }

    /// The depth that was drawn last, or `None` with several samples.
    pub(crate) fn depths(&self, context: &Context) -> Option<Vec<f32>> {
        if self.samples > 1 {
            return None;
        }
        let read = ImageRead {
            image: self.target.depth().unwrap().0,
            aspect: vk::ImageAspectFlags::DEPTH,
            layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            layer: 0,
            extent: self.target.extent(),
            texel_bytes: 4,
        };
        let bytes = unsafe { read_image(context, &read) }.unwrap();
        Some(
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|b| f32::from_le_bytes(*b))
                .collect(),
        )
    }

    pub(crate) fn destroy(self, context: &Context) {
        unsafe { context.device.destroy_pipeline(self.pipeline, None) };
    }
}
