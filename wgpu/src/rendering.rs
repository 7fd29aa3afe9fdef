//! The passes of wgpu before and after a draw, which load, clear, resolve and discard.

use crate::bind_group::Groups;
use crate::check::scoped;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::order::FrameToken;
use crate::sampled::{self, Sampled};
use crate::shading::Shading;
use throng::ash::vk;
use wgpu::{LoadOp, Operations, RenderPassColorAttachment, RenderPassDescriptor, StoreOp};

/// The data of a pass that its draws need.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) id: throng::PassId,
    pub(crate) shadow_map: bool,
    pub(crate) environment_map: bool,
    pub(crate) shading: Option<Shading>,
    /// An empty bundle of the same formats. wgpu compares it with the attachments.
    pub(crate) formats: wgpu::RenderBundle,
}

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
    (pass, sampled, groups): (&Pass, &[&Sampled], Groups<'_>),
    (area, token): (vk::Rect2D, &FrameToken),
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
    let what = match groups {
        [] => "the attachments",
        _ => "the attachments or bind groups",
    };
    scoped(gpu.device(), what, || {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        token.use_in(&mut encoder);
        if !sampled.is_empty() {
            let maps = sampled.iter().map(|it| sampled::sampled(&it.texture));
            encoder.transition_resources(core::iter::empty(), maps);
        }
        let mut rendering = encoder.begin_render_pass(&before);
        let (at, size) = (area.offset, area.extent);
        rendering.set_scissor_rect(at.x as u32, at.y as u32, size.width, size.height);
        rendering.execute_bundles([&pass.formats]);
        if let Some(shading) = &pass.shading {
            shading.prepare(&mut rendering, groups);
        }
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
