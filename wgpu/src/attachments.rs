//! The attachments of a crowd's own rendering, between the passes of wgpu.

use crate::check::expect_alive;
use crate::error::{Error, Result};
use crate::sampled::{SHADOW, Sampled};
use core::num::NonZeroU32;
use throng::ash::{self, vk};
use wgpu::RenderPassDescriptor;
use wgpu::hal::vulkan::Api as Vulkan;

pub(crate) struct Attachments<'a> {
    colors: Vec<Option<&'a wgpu::TextureView>>,
    depth: Option<&'a wgpu::TextureView>,
    view_mask: u32,
}

impl<'a> Attachments<'a> {
    /// Checks what wgpu allows, but a crowd cannot do.
    pub(crate) fn new(desc: &RenderPassDescriptor<'a>, sampled: &[&Sampled]) -> Result<Self> {
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
        for map in sampled {
            if attachments.views().any(|it| map.texture == *it.texture()) {
                let why = match map.what {
                    SHADOW => "is an attachment of a pass that samples it (PassDesc::shadow_map)",
                    _ => "is an attachment of a pass that samples it (PassDesc::environment)",
                };
                return fault(map.what, why);
            }
        }
        for view in attachments.views() {
            expect_alive("an attachment", view.texture())?;
        }
        for map in sampled {
            expect_alive(map.what, &map.texture)?;
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
