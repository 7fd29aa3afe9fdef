//! Draws the panels with `egui-ash-renderer`, and the scene's picture between them.

use egui::{ClippedPrimitive, TextureId};
use egui_ash_renderer::allocator::DefaultAllocator;
use egui_ash_renderer::{DynamicRendering, Options, RenderMode, Renderer};
use throng::ash::vk;
use throng_standalone::Context;

use super::Result;
use super::scene::FRAMES_IN_FLIGHT;

/// The panels' renderer, and the set that shows the picture.
pub(crate) struct Painter {
    /// `None` once it is destroyed.
    renderer: Option<Renderer<DefaultAllocator>>,
    set_layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    sampler: vk::Sampler,
    /// The texture of the picture.
    pub(crate) picture: TextureId,
    /// Textures that the last frame no longer used.
    freed: Vec<TextureId>,
}

/// A frame's panels as triangles.
pub(crate) struct Painted {
    pub(crate) primitives: Vec<ClippedPrimitive>,
    pub(crate) pixels_per_point: f32,
}

impl Painter {
    /// Creates the renderer for images of this format, without depth and with one sample.
    pub(crate) fn new(context: &mut Context, format: vk::Format) -> Result<Self> {
        let mode = RenderMode::DynamicRendering(DynamicRendering {
            color_attachment_format: format,
            depth_attachment_format: None,
            stencil_attachment_format: None,
        });
        let options = Options {
            in_flight_frames: FRAMES_IN_FLIGHT as usize,
            srgb_framebuffer: true,
            ..Options::default()
        };
        let (instance, device) = (&context.instance, context.device.clone());
        let physical = context.physical_device;
        let renderer = Renderer::with_default_allocator(instance, physical, device, mode, options)?;
        let mut painter = Self {
            renderer: Some(renderer),
            set_layout: vk::DescriptorSetLayout::null(),
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            sampler: vk::Sampler::null(),
            picture: TextureId::default(),
            freed: Vec::new(),
        };
        match painter.build(context) {
            Ok(()) => Ok(painter),
            Err(error) => {
                painter.destroy(context);
                Err(error.into())
            }
        }
    }

    /// Creates the set of the picture, with the layout of the renderer's own sets.
    fn build(&mut self, context: &Context) -> Result<(), vk::Result> {
        let kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 1,
        }];
        let device = &context.device;
        // SAFETY: the device is alive, and every other handle was created above its use.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            self.set_layout = device.create_descriptor_set_layout(&info, None)?;
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            self.pool = device.create_descriptor_pool(&info, None)?;
            let layouts = [self.set_layout];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&layouts);
            self.set = device.allocate_descriptor_sets(&info)?[0];
            let info = vk::SamplerCreateInfo::default()
                .mag_filter(vk::Filter::LINEAR)
                .min_filter(vk::Filter::LINEAR)
                .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
            self.sampler = device.create_sampler(&info, None)?;
        }
        if let Some(renderer) = &mut self.renderer {
            self.picture = renderer.add_user_texture(self.set);
        }
        Ok(())
    }

    /// Shows this image from now on. The device must be idle.
    pub(crate) fn set_picture(&self, context: &Context, view: vk::ImageView) {
        let images = [vk::DescriptorImageInfo {
            sampler: self.sampler,
            image_view: view,
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.set)
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&images);
        // SAFETY: the set and the view are alive, and the device is idle.
        unsafe { context.device.update_descriptor_sets(&[write], &[]) };
    }

    /// Applies the texture changes of a frame that is about to be drawn.
    ///
    /// Textures that it no longer uses are freed with the changes of a later frame.
    pub(crate) fn update(
        &mut self,
        context: &mut Context,
        mut delta: egui::TexturesDelta,
    ) -> Result<()> {
        let Some(renderer) = &mut self.renderer else {
            return Ok(());
        };
        if !delta.set.is_empty() || !self.freed.is_empty() {
            // The renderer changes textures without waiting for the frames that sample them.
            context.wait_idle()?;
        }
        for id in self.freed.drain(..) {
            renderer.free_texture(id)?;
        }
        let (queue, pool) = (context.queue, context.command_pool);
        for (id, changes) in delta.set.drain() {
            for change in changes {
                renderer.set_texture(queue, pool, id, &change)?;
            }
        }
        self.freed.extend(delta.free.drain());
        Ok(())
    }

    /// Records the panels.
    ///
    /// # Safety
    /// `cmd` is recording, inside rendering to an image of this extent and of the format given to
    /// [`Self::new`].
    pub(crate) unsafe fn record(
        &mut self,
        cmd: vk::CommandBuffer,
        extent: vk::Extent2D,
        painted: &Painted,
    ) -> Result<()> {
        let Some(renderer) = &mut self.renderer else {
            return Ok(());
        };
        let Painted {
            primitives,
            pixels_per_point,
        } = painted;
        Ok(renderer.cmd_draw(cmd, extent, *pixels_per_point, primitives)?)
    }

    /// Destroys everything. The device must be idle.
    pub(crate) fn destroy(mut self, context: &Context) {
        self.renderer = None;
        // SAFETY: the device is idle. Null handles are ignored.
        unsafe {
            context.device.destroy_sampler(self.sampler, None);
            context.device.destroy_descriptor_pool(self.pool, None);
            context
                .device
                .destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
