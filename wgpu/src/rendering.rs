//! The render pass around a draw: wgpu's before and after it, and the crowd's own.

use crate::check::scoped;
use crate::crowd::{ShadowTexture, expect_alive, sampled};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::pass::Pass;
use core::num::NonZeroU32;
use throng::ash::{self, vk};
use wgpu::hal::vulkan::Api as Vulkan;
use wgpu::{LoadOp, Operations, RenderPassColorAttachment, RenderPassDescriptor, StoreOp};

/// The part of the attachments that a viewport covers.
///
/// Parts left of them or above are cut off. wgpu rejects those on the other sides.
pub(crate) fn area(viewport: vk::Rect2D) -> vk::Rect2D {
    let cut = |at: i32, len: u32| {
        let end = i64::from(at) + i64::from(len);
        let start = at.max(0);
        (start, (end - i64::from(start)).max(0) as u32)
    };
    let (x, width) = cut(viewport.offset.x, viewport.extent.width);
    let (y, height) = cut(viewport.offset.y, viewport.extent.height);
    vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width, height },
    }
}

/// Records a pass of wgpu that loads or clears the attachments, and leaves them ready to be drawn
/// into.
///
/// wgpu validates the attachments, so this fails for all that would make the draw invalid.
pub(crate) fn before(
    gpu: &Gpu,
    desc: &RenderPassDescriptor<'_>,
    (pass, shadow): (&Pass, Option<&ShadowTexture>),
    area: vk::Rect2D,
) -> Result<wgpu::CommandBuffer> {
    let timestamps = desc.timestamp_writes.clone();
    let timestamps = timestamps.and_then(|it| {
        it.beginning_of_pass_write_index?;
        Some(wgpu::RenderPassTimestampWrites {
            end_of_pass_write_index: None,
            ..it
        })
    });
    let colors = desc.color_attachments.iter().map(|color| {
        color.clone().map(|color| RenderPassColorAttachment {
            resolve_target: None,
            ops: stored(color.ops),
            ..color
        })
    });
    let colors: Vec<_> = colors.collect();
    let mut depth = desc.depth_stencil_attachment.clone();
    if let Some(depth) = &mut depth {
        depth.depth_ops = depth.depth_ops.map(stored);
        depth.stencil_ops = depth.stencil_ops.map(stored);
    }
    let before = RenderPassDescriptor {
        label: Some("throng begin"),
        color_attachments: &colors,
        depth_stencil_attachment: depth,
        timestamp_writes: timestamps,
        occlusion_query_set: None,
        multiview_mask: desc.multiview_mask,
    };
    scoped(gpu.device(), "the attachments", || {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        if let Some(shadow) = shadow {
            let map = [sampled(&shadow.texture)].into_iter();
            encoder.transition_resources(core::iter::empty(), map);
        }
        let mut rendering = encoder.begin_render_pass(&before);
        let (at, size) = (area.offset, area.extent);
        rendering.set_scissor_rect(at.x as u32, at.y as u32, size.width, size.height);
        rendering.execute_bundles([&pass.formats]);
        drop(rendering);
        encoder.finish()
    })
}

/// Records a pass of wgpu that resolves and discards, if `desc` asks for that.
pub(crate) fn after(
    gpu: &Gpu,
    desc: &RenderPassDescriptor<'_>,
) -> Result<Option<wgpu::CommandBuffer>> {
    let timestamps = desc.timestamp_writes.clone();
    let timestamps = timestamps.and_then(|it| {
        it.end_of_pass_write_index?;
        Some(wgpu::RenderPassTimestampWrites {
            beginning_of_pass_write_index: None,
            ..it
        })
    });
    let colors = desc.color_attachments.iter().map(|color| {
        color.clone().map(|color| RenderPassColorAttachment {
            ops: loaded(color.ops),
            ..color
        })
    });
    let colors: Vec<_> = colors.collect();
    let mut depth = desc.depth_stencil_attachment.clone();
    if let Some(depth) = &mut depth {
        depth.depth_ops = depth.depth_ops.map(loaded);
        depth.stencil_ops = depth.stencil_ops.map(loaded);
    }
    let finishes = |color: &RenderPassColorAttachment<'_>| {
        color.resolve_target.is_some() || color.ops.store == StoreOp::Discard
    };
    let of_depth = depth.iter();
    let of_depth = of_depth.flat_map(|it| {
        let stores = [
            it.depth_ops.map(|it| it.store),
            it.stencil_ops.map(|it| it.store),
        ];
        stores.into_iter().flatten()
    });
    let discards_depth = of_depth.into_iter().any(|store| store == StoreOp::Discard);
    let mut finished = colors.iter().flatten();
    if !finished.any(finishes) && !discards_depth && timestamps.is_none() {
        return Ok(None);
    }
    let after = RenderPassDescriptor {
        label: Some("throng end"),
        color_attachments: &colors,
        depth_stencil_attachment: depth,
        timestamp_writes: timestamps,
        occlusion_query_set: None,
        multiview_mask: desc.multiview_mask,
    };
    let recorded = scoped(gpu.device(), "the attachments", || {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        drop(encoder.begin_render_pass(&after));
        encoder.finish()
    });
    recorded.map(Some)
}

/// Loads or clears, and keeps the result.
fn stored<V>(ops: Operations<V>) -> Operations<V> {
    Operations {
        store: StoreOp::Store,
        ..ops
    }
}

/// Loads what was drawn.
fn loaded<V>(ops: Operations<V>) -> Operations<V> {
    Operations {
        load: LoadOp::Load,
        store: ops.store,
    }
}

/// The attachments of a draw.
pub(crate) struct Attachments<'a> {
    colors: Vec<Option<&'a wgpu::TextureView>>,
    depth: Option<&'a wgpu::TextureView>,
    view_mask: u32,
}

impl<'a> Attachments<'a> {
    /// Checks what wgpu allows, but a crowd cannot do.
    pub(crate) fn new(
        desc: &RenderPassDescriptor<'a>,
        shadow: Option<&ShadowTexture>,
    ) -> Result<Self> {
        let fault = |what, why| Err(Error::Attachment { what, why });
        let colors = desc.color_attachments.iter();
        if colors.clone().flatten().any(|it| it.depth_slice.is_some()) {
            return fault("depth_slice", "must be None: crowds draw into 2D textures");
        }
        if desc.occlusion_query_set.is_some() {
            return fault("occlusion_query_set", "must be None");
        }
        if let Some(depth) = &desc.depth_stencil_attachment
            && depth.depth_ops.is_none()
        {
            return fault("depth_ops", "must be Some, because a crowd writes depth");
        }
        let attachments = Self {
            colors: colors.map(|it| it.as_ref().map(|it| it.view)).collect(),
            depth: desc.depth_stencil_attachment.as_ref().map(|it| it.view),
            view_mask: desc.multiview_mask.map_or(0, NonZeroU32::get),
        };
        let samples = |view: &wgpu::TextureView| {
            shadow.is_some_and(|shadow| shadow.texture == *view.texture())
        };
        if attachments.views().any(samples) {
            return fault(
                "the shadow map",
                "is an attachment of a pass that samples it (PassDesc::shadow_map)",
            );
        }
        for view in attachments.views() {
            expect_alive("an attachment", view.texture())?;
        }
        if let Some(shadow) = shadow {
            expect_alive("the shadow map", &shadow.texture)?;
        }
        Ok(attachments)
    }

    pub(crate) fn views(&self) -> impl Iterator<Item = &'a wgpu::TextureView> + '_ {
        self.colors.iter().flatten().copied().chain(self.depth)
    }

    /// The handles of Vulkan.
    pub(crate) fn raw(&self) -> Result<RawAttachments> {
        let raw = |view: &wgpu::TextureView| {
            // SAFETY: the view is not destroyed through the guard.
            let hal = unsafe { view.as_hal::<Vulkan>() }.ok_or(Error::DeviceLost)?;
            // SAFETY: the handle is not destroyed.
            Ok::<_, Error>(unsafe { hal.raw_handle() })
        };
        let color = |view: &Option<&wgpu::TextureView>| view.map_or(Ok(vk::ImageView::null()), raw);
        let stencil = self.depth.filter(|view| {
            let format = view.texture().format();
            format.has_stencil_aspect()
        });
        Ok(RawAttachments {
            colors: self.colors.iter().map(color).collect::<Result<_>>()?,
            depth: self.depth.map(raw).transpose()?,
            stencil: stencil.map(raw).transpose()?,
            view_mask: self.view_mask,
        })
    }
}

/// The views that are drawn into.
pub(crate) struct RawAttachments {
    colors: Vec<vk::ImageView>,
    depth: Option<vk::ImageView>,
    stencil: Option<vk::ImageView>,
    view_mask: u32,
}

const STAGES: vk::PipelineStageFlags = vk::PipelineStageFlags::from_raw(
    vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT.as_raw()
        | vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS.as_raw()
        | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS.as_raw(),
);
const WRITES: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::COLOR_ATTACHMENT_WRITE.as_raw()
        | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
);
const ACCESS: vk::AccessFlags = vk::AccessFlags::from_raw(
    WRITES.as_raw()
        | vk::AccessFlags::COLOR_ATTACHMENT_READ.as_raw()
        | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ.as_raw(),
);

impl RawAttachments {
    /// Waits for earlier draws into the attachments, and begins rendering.
    ///
    /// # Safety
    /// `cmd` is recording outside of rendering. The views are alive, contain the area, and have the
    /// layouts that wgpu gives attachments.
    pub(crate) unsafe fn begin(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        area: vk::Rect2D,
    ) {
        let attachment = |view: vk::ImageView, layout| {
            vk::RenderingAttachmentInfo::default()
                .image_view(view)
                .image_layout(layout)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
        };
        let color = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let colors = self.colors.iter().map(|view| attachment(*view, color));
        let colors: Vec<_> = colors.collect();
        let depth_stencil = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let depth = self.depth.map(|view| attachment(view, depth_stencil));
        let stencil = self.stencil.map(|view| attachment(view, depth_stencil));
        let mut info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .view_mask(self.view_mask)
            .color_attachments(&colors);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = &stencil {
            info = info.stencil_attachment(stencil);
        }
        // SAFETY: this function has the same contract.
        unsafe {
            barrier(device, cmd);
            device.cmd_begin_rendering(cmd, &info);
        }
    }

    /// Ends rendering, and lets later draws wait for it.
    ///
    /// # Safety
    /// `cmd` is recording the rendering of [`Self::begin`].
    pub(crate) unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: this function has the same contract.
        unsafe {
            device.cmd_end_rendering(cmd);
            barrier(device, cmd);
        }
    }
}

/// Orders draws into attachments. Between passes of one texture, wgpu has no barrier.
///
/// # Safety
/// `cmd` is recording outside of rendering.
unsafe fn barrier(device: &ash::Device, cmd: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier::default()
        .src_access_mask(WRITES)
        .dst_access_mask(ACCESS)];
    // SAFETY: `cmd` is recording outside of rendering, by this function's contract.
    unsafe {
        device.cmd_pipeline_barrier(
            cmd,
            STAGES,
            STAGES,
            vk::DependencyFlags::empty(),
            &barriers,
            &[],
            &[],
        );
    }
}
