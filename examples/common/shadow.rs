//! A shadow map: a depth image that is drawn from the sun before the picture.

use std::error::Error;

use throng::ash::{self, vk};
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec3};
use throng::gpu::{MemoryAllocator, MemoryBlock, MemoryRequest};
use throng::gpu_allocator::MemoryLocation;
use throng::{Lighting, PassDesc, PassKind, Shadow, ShadowMap, View};
use throng_standalone::Context;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const FORMAT: vk::Format = vk::Format::D32_SFLOAT;
/// The layout in which the picture's shaders sample the map.
const SAMPLED: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
const WRITTEN: vk::ImageLayout = vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL;

/// A depth image with one layer, and the sun's view of the crowd.
pub(crate) struct ShadowImage {
    image: vk::Image,
    view: vk::ImageView,
    memory: Option<MemoryBlock>,
    edge: u32,
    clip_from_world: Mat4,
}

impl ShadowImage {
    /// Creates a map of `edge` × `edge` texels.
    ///
    /// It covers everything between the ground, within `rim`, and `height_m` above it, until
    /// [`Self::aim`].
    pub(crate) fn new(
        context: &mut Context,
        edge: u32,
        (rim, height_m): (&[Vec3], f32),
        lighting: &Lighting,
    ) -> Result<Self> {
        let most = context.properties.limits.max_image_dimension2_d;
        if edge > most {
            return Err(
                format!("a shadow map of {edge} texels: the device has at most {most}").into(),
            );
        }
        let above = rim.iter().map(|point| *point + Vec3::Y * height_m);
        let points = rim.iter().copied().chain(above);
        let mut shadow = Self {
            image: vk::Image::null(),
            view: vk::ImageView::null(),
            memory: None,
            edge,
            clip_from_world: fit(points, 0.0, lighting.sun_direction),
        };
        match shadow.build(context) {
            Ok(()) => Ok(shadow),
            Err(error) => {
                shadow.destroy(context);
                Err(error)
            }
        }
    }

    /// Covers these corners of a box instead, and the ground at least `depth_m` behind them along
    /// the light.
    ///
    /// While a box of one size moves, edges of shadows stand still: the map moves by whole texels.
    #[allow(dead_code, reason = "most examples show a place that stays")]
    pub(crate) fn aim(&mut self, corners: &[Vec3], depth_m: f32, sun_direction: Vec3) {
        let fitted = fit(corners.iter().copied(), depth_m, sun_direction);
        let texel = 2.0 / self.edge as f32;
        let origin = fitted.w_axis;
        let snapped = (origin / texel).round() * texel;
        let (x, y) = (snapped.x - origin.x, snapped.y - origin.y);
        self.clip_from_world = Mat4::from_translation(Vec3::new(x, y, 0.0)) * fitted;
    }

    fn build(&mut self, context: &mut Context) -> Result<()> {
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(FORMAT)
            .extent(self.extent().into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: every device supports this format with this usage, and the edge is within the
        // device's limit.
        unsafe {
            self.image = context.device.create_image(&info, None)?;
            let requirements = context.device.get_image_memory_requirements(self.image);
            let memory = context.allocator().allocate(&MemoryRequest {
                name: "shadow map",
                requirements,
                location: MemoryLocation::GpuOnly,
                linear: false,
                device_address: false,
            });
            let memory = memory.map_err(|error| -> Box<dyn Error> { error })?;
            let (block, offset) = (memory.memory, memory.offset);
            self.memory = Some(memory);
            context
                .device
                .bind_image_memory(self.image, block, offset)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(self.image)
                .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
                .format(FORMAT)
                .subresource_range(DEPTH_LAYER);
            self.view = context.device.create_image_view(&info, None)?;
        }
        Ok(())
    }

    fn extent(&self) -> vk::Extent2D {
        vk::Extent2D {
            width: self.edge,
            height: self.edge,
        }
    }

    /// The pass that draws into the map.
    pub(crate) fn pass_desc() -> PassDesc<'static> {
        PassDesc {
            kind: PassKind::Shadow,
            depth_format: FORMAT,
            ..PassDesc::default()
        }
    }

    /// The map in the form that crowds sample it.
    pub(crate) fn map(&self) -> ShadowMap {
        ShadowMap {
            view: self.view,
            layout: SAMPLED,
            edge: self.edge,
            reversed_z: false,
        }
    }

    /// The view of the sun.
    pub(crate) fn view(&self) -> View {
        View::shadow_of(self.clip_from_world, Vec3::ZERO, self.extent())
    }

    /// The mapping from the world to the shadow map, for a camera's view.
    pub(crate) fn shadow(&self) -> Shadow {
        Shadow::of(&[self.view()])
    }

    /// Clears the map and begins rendering.
    ///
    /// # Safety
    /// `cmd` is recording outside of rendering, and [`Self::end`] follows.
    pub(crate) unsafe fn begin(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(self.view)
            .image_layout(WRITTEN)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue {
                    depth: 1.0,
                    stencil: 0,
                },
            });
        let info = vk::RenderingInfo::default()
            .render_area(self.extent().into())
            .layer_count(1)
            .depth_attachment(&depth);
        // SAFETY: the caller guarantees that `cmd` is recording outside of rendering. The old
        // contents are discarded, and the barrier waits for their last readers.
        unsafe {
            let layouts = (vk::ImageLayout::UNDEFINED, WRITTEN);
            self.barrier(device, cmd, layouts, SAMPLING, TESTS);
            device.cmd_begin_rendering(cmd, &info);
        }
    }

    /// Ends rendering and makes the map visible to the picture's shaders.
    ///
    /// # Safety
    /// As [`Self::begin`], which must have been called before.
    pub(crate) unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: the caller guarantees that `cmd` is inside the rendering that `begin` began.
        unsafe {
            device.cmd_end_rendering(cmd);
            self.barrier(device, cmd, (WRITTEN, SAMPLED), TESTS, SAMPLING);
        }
    }

    /// Records a layout transition.
    ///
    /// # Safety
    /// `cmd` is recording, outside of rendering.
    unsafe fn barrier(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        (from, to): (vk::ImageLayout, vk::ImageLayout),
        before: Scope,
        after: Scope,
    ) {
        let barriers = [vk::ImageMemoryBarrier2::default()
            .image(self.image)
            .old_layout(from)
            .new_layout(to)
            .src_stage_mask(before.0)
            .src_access_mask(before.1)
            .dst_stage_mask(after.0)
            .dst_access_mask(after.1)
            .subresource_range(DEPTH_LAYER)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
        unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
    }

    /// Destroys the map. The device must be idle.
    pub(crate) fn destroy(mut self, context: &mut Context) {
        // SAFETY: nothing uses these handles any more. Null handles are ignored.
        unsafe {
            context.device.destroy_image_view(self.view, None);
            context.device.destroy_image(self.image, None);
        }
        // SAFETY: the memory is the context's, and the image that was bound to it is destroyed.
        let freed = self
            .memory
            .take()
            .map(|memory| unsafe { context.allocator().free(memory) });
        if let Some(Err(error)) = freed {
            log::error!("shadow map: {error}");
        }
    }
}

type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

const SAMPLING: Scope = (
    vk::PipelineStageFlags2::FRAGMENT_SHADER,
    vk::AccessFlags2::SHADER_SAMPLED_READ,
);
const TESTS: Scope = (
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
            | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw(),
    ),
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
            | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
    ),
);
const DEPTH_LAYER: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::DEPTH,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

/// The tightest box along the light around all points, and the ground at least `depth_m` behind.
fn fit(points: impl Iterator<Item = Vec3>, depth_m: f32, sun_direction: Vec3) -> Mat4 {
    let sun = sun_direction.normalize();
    // Any other direction does for light from straight above.
    let up = if sun.y.abs() > 0.99 { Vec3::Z } else { Vec3::Y };
    let light_from_world = rh::view::look_to_mat4(Vec3::ZERO, -sun, up);
    let points = points.map(|point| light_from_world.transform_point3(point));
    let boxed = points.map(|point| (point, point));
    let boxed = boxed.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (low, high) = boxed.unwrap_or((Vec3::NEG_ONE, Vec3::ONE));
    let margin = 0.02 * (high - low).max_element();
    let (low, high) = (low - margin, high + margin);
    // The box looks along -Z. Beyond the crowd it includes ground, as deep as the box is wide.
    let (near, far) = (-high.z, (high.y - low.y).max(depth_m) - low.z);
    // The offset is a separate translation, because glam 0.34 forgets to flip the offset of boxes
    // that are not centred.
    let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
    let centered = Mat4::from_translation(-middle.with_z(0.0));
    rh::proj::vulkan::orthographic(-half.x, half.x, -half.y, half.y, near, far)
        * centered
        * light_from_world
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that stands on the ground, and its shadow, is in the map.
    #[test]
    fn everything_is_covered() {
        let rim: Vec<_> = [(-9.0, 2.0), (7.0, 11.0), (3.0, -8.0)]
            .map(|(x, z)| Vec3::new(x, 0.0, z))
            .into();
        let sun = Vec3::new(0.5, 0.7, -0.4);
        let above = rim.iter().map(|at| *at + Vec3::Y * 2.0);
        let clip_from_world = fit(rim.iter().copied().chain(above), 0.0, sun);
        for at in rim {
            let top = at + Vec3::Y * 2.0;
            let shadow = top - sun * (2.0 / sun.y);
            for point in [at, top, shadow] {
                let clip = clip_from_world * point.extend(1.0);
                assert!(
                    clip.w == 1.0 && clip.x.abs() < 1.0 && clip.y.abs() < 1.0,
                    "{clip}"
                );
                assert!((0.0..=1.0).contains(&clip.z), "{clip}");
            }
        }
    }
}
