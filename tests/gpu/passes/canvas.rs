//! Attachments with layers, drawn into with dynamic rendering or with render passes.

use crate::engine::{Engine, Image};
use crate::support::frames::EXTENT;
use throng::ash::vk;

pub(crate) const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
const COLOR_LAYOUT: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
const DEPTH_LAYOUT: vk::ImageLayout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
const CLEAR: [f32; 4] = [0.1, 0.2, 0.3, 1.0];

/// The contents of one layer.
#[derive(PartialEq)]
pub(crate) struct Layer {
    /// Empty if there is no such attachment.
    pub(crate) color: Vec<u8>,
    /// Empty with several samples, and if there is no such attachment.
    pub(crate) depth: Vec<u8>,
}

/// Colour and depth. With several samples, colour is resolved.
pub(crate) struct Canvas {
    pub(crate) format: vk::Format,
    pub(crate) samples: vk::SampleCountFlags,
    pub(crate) clear_depth: f32,
    layers: u32,
    color: Image,
    pub(crate) depth: Image,
    resolved: Option<Image>,
}

/// The views of some layers.
#[derive(Clone, Copy)]
struct Views {
    color: vk::ImageView,
    depth: vk::ImageView,
    resolved: Option<vk::ImageView>,
}

/// Subpasses of a render pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subpasses {
    /// One with colour and depth.
    Color,
    /// One with colour alone.
    ColorAlone,
    /// One with depth alone.
    Depth,
    /// One with depth alone, then one with colour and depth.
    Prepass,
}

impl Canvas {
    pub(crate) fn new(
        engine: &mut Engine,
        format: vk::Format,
        samples: vk::SampleCountFlags,
        (layers, clear_depth): (u32, f32),
    ) -> Self {
        let one = vk::SampleCountFlags::TYPE_1;
        Self {
            format,
            samples,
            clear_depth,
            layers,
            color: engine.image(format, EXTENT, (layers, samples)),
            depth: engine.image(DEPTH, EXTENT, (layers, samples)),
            resolved: (samples != one).then(|| engine.image(format, EXTENT, (layers, one))),
        }
    }

    fn views(&mut self, engine: &Engine, first: u32, count: u32) -> Views {
        Views {
            color: engine.view(&mut self.color, first, count),
            depth: engine.view(&mut self.depth, first, count),
            resolved: self
                .resolved
                .as_mut()
                .map(|image| engine.view(image, first, count)),
        }
    }

    /// Makes all layers ready to be drawn into. Their contents are lost.
    pub(crate) fn ready(&self, engine: &Engine, cmd: vk::CommandBuffer) {
        let undefined = vk::ImageLayout::UNDEFINED;
        engine.transition(cmd, &self.color, undefined, COLOR_LAYOUT);
        engine.transition(cmd, &self.depth, undefined, DEPTH_LAYOUT);
        if let Some(resolved) = &self.resolved {
            engine.transition(cmd, resolved, undefined, COLOR_LAYOUT);
        }
    }

    /// Makes all layers ready to be read.
    pub(crate) fn finish(&self, engine: &Engine, cmd: vk::CommandBuffer) {
        let read = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        let color = self.resolved.as_ref().unwrap_or(&self.color);
        engine.transition(cmd, color, COLOR_LAYOUT, read);
        engine.transition(cmd, &self.depth, DEPTH_LAYOUT, read);
    }

    /// Reads a layer that was drawn with these subpasses.
    pub(crate) fn read(&self, engine: &mut Engine, layer: u32, subpasses: Subpasses) -> Layer {
        let color = self.resolved.as_ref().unwrap_or(&self.color);
        Layer {
            color: match subpasses {
                Subpasses::Depth => Vec::new(),
                _ => engine.read(color, layer),
            },
            depth: match subpasses {
                Subpasses::ColorAlone => Vec::new(),
                _ if self.resolved.is_some() => Vec::new(),
                _ => engine.read(&self.depth, layer),
            },
        }
    }

    fn clears(&self) -> [vk::ClearValue; 2] {
        let depth_stencil = vk::ClearDepthStencilValue {
            depth: self.clear_depth,
            stencil: 0,
        };
        let color = vk::ClearColorValue { float32: CLEAR };
        [vk::ClearValue { color }, vk::ClearValue { depth_stencil }]
    }

    /// Draws with dynamic rendering: into one layer, or into those of a view mask. The attachments
    /// are those of the subpasses.
    pub(crate) fn dynamic(
        &mut self,
        engine: &Engine,
        cmd: vk::CommandBuffer,
        (layer, view_mask): (u32, u32),
        subpasses: Subpasses,
        draw: impl FnOnce(),
    ) {
        let count = if view_mask == 0 { 1 } else { self.layers };
        let views = self.views(engine, layer, count);
        let [color, depth] = self.clears();
        let (store, clear) = (vk::AttachmentStoreOp::STORE, vk::AttachmentLoadOp::CLEAR);
        let mut colors = [vk::RenderingAttachmentInfo::default()
            .image_view(views.color)
            .image_layout(COLOR_LAYOUT)
            .load_op(clear)
            .store_op(store)
            .clear_value(color)];
        if let Some(resolved) = views.resolved {
            colors[0] = colors[0]
                .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                .resolve_image_view(resolved)
                .resolve_image_layout(COLOR_LAYOUT);
        }
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(views.depth)
            .image_layout(DEPTH_LAYOUT)
            .load_op(clear)
            .store_op(store)
            .clear_value(depth);
        let mut info = vk::RenderingInfo::default()
            .render_area(EXTENT.into())
            .layer_count(1)
            .view_mask(view_mask);
        if subpasses != Subpasses::Depth {
            info = info.color_attachments(&colors);
        }
        if subpasses != Subpasses::ColorAlone {
            info = info.depth_attachment(&depth);
        }
        unsafe { engine.raw.cmd_begin_rendering(cmd, &info) };
        draw();
        unsafe { engine.raw.cmd_end_rendering(cmd) };
    }

    /// Creates a render pass for this canvas with these subpasses. `with` gets what it is created
    /// with.
    pub(crate) fn render_pass(
        &self,
        engine: &Engine,
        subpasses: Subpasses,
        view_mask: u32,
        with: impl FnOnce(&vk::RenderPassCreateInfo2<'_>),
    ) -> vk::RenderPass {
        let one = |format, samples, layout| {
            vk::AttachmentDescription2::default()
                .format(format)
                .samples(samples)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .initial_layout(layout)
                .final_layout(layout)
        };
        // Depth stands first, so that the indices differ from the places.
        let mut attachments = vec![one(DEPTH, self.samples, DEPTH_LAYOUT)];
        if subpasses != Subpasses::Depth {
            attachments.push(one(self.format, self.samples, COLOR_LAYOUT));
            if self.resolved.is_some() {
                let samples = vk::SampleCountFlags::TYPE_1;
                attachments.push(one(self.format, samples, COLOR_LAYOUT));
            }
        }
        let reference = |index, layout, aspect| {
            vk::AttachmentReference2::default()
                .attachment(index)
                .layout(layout)
                .aspect_mask(aspect)
        };
        let depth = reference(0, DEPTH_LAYOUT, vk::ImageAspectFlags::DEPTH);
        let colors = [reference(1, COLOR_LAYOUT, vk::ImageAspectFlags::COLOR)];
        let resolved = [reference(2, COLOR_LAYOUT, vk::ImageAspectFlags::COLOR)];
        let depth_alone = vk::SubpassDescription2::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .view_mask(view_mask)
            .depth_stencil_attachment(&depth);
        let mut color = depth_alone.color_attachments(&colors);
        if self.resolved.is_some() {
            color = color.resolve_attachments(&resolved);
        }
        let described = match subpasses {
            Subpasses::Color => vec![color],
            Subpasses::ColorAlone => vec![vk::SubpassDescription2 {
                p_depth_stencil_attachment: std::ptr::null(),
                ..color
            }],
            Subpasses::Depth => vec![depth_alone],
            Subpasses::Prepass => vec![depth_alone, color],
        };
        let tests = vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS
            | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS;
        let multiview = match view_mask {
            0 => vk::DependencyFlags::empty(),
            _ => vk::DependencyFlags::VIEW_LOCAL,
        };
        let dependency = [vk::SubpassDependency2::default()
            .src_subpass(0)
            .dst_subpass(1)
            .src_stage_mask(tests)
            .dst_stage_mask(tests)
            .src_access_mask(vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE)
            .dst_access_mask(
                vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ
                    | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE,
            )
            .dependency_flags(vk::DependencyFlags::BY_REGION | multiview)];
        let dependencies = match subpasses {
            Subpasses::Prepass => &dependency[..],
            _ => &[],
        };
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&described)
            .dependencies(dependencies);
        with(&info);
        unsafe { engine.raw.create_render_pass2(&info, None) }.unwrap()
    }

    /// Draws in a render pass: into one layer, or all of them with a view mask. `draw` is called
    /// for each subpass. The framebuffer is to be destroyed after the work.
    pub(crate) fn in_render_pass(
        &mut self,
        engine: &Engine,
        cmd: vk::CommandBuffer,
        (render_pass, subpasses): (vk::RenderPass, Subpasses),
        (layer, view_mask): (u32, u32),
        mut draw: impl FnMut(u32),
    ) -> vk::Framebuffer {
        let count = if view_mask == 0 { 1 } else { self.layers };
        let views = self.views(engine, layer, count);
        let mut attached = vec![views.depth];
        if subpasses != Subpasses::Depth {
            attached.push(views.color);
            attached.extend(views.resolved);
        }
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(render_pass)
            .attachments(&attached)
            .width(EXTENT.width)
            .height(EXTENT.height)
            .layers(1);
        let [color, depth] = self.clears();
        let clears = [depth, color, color];
        unsafe {
            let framebuffer = engine.raw.create_framebuffer(&info, None).unwrap();
            let info = vk::RenderPassBeginInfo::default()
                .render_pass(render_pass)
                .framebuffer(framebuffer)
                .render_area(EXTENT.into())
                .clear_values(&clears);
            let inline = vk::SubpassContents::INLINE;
            engine.raw.cmd_begin_render_pass(cmd, &info, inline);
            draw(0);
            if subpasses == Subpasses::Prepass {
                engine.raw.cmd_next_subpass(cmd, inline);
                draw(1);
            }
            engine.raw.cmd_end_render_pass(cmd);
            framebuffer
        }
    }

    pub(crate) fn destroy(self, engine: &mut Engine) {
        for image in [self.color, self.depth].into_iter().chain(self.resolved) {
            engine.destroy_image(image);
        }
    }
}
