//! Passes: their formats in wgpu's terms, and the checks that Vulkan leaves to the caller.

use crate::check::scoped;
use crate::descriptors::compare_op;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::material::MaterialDesc;
use core::num::NonZeroU32;
use throng::ash::vk;
use throng::{EnvironmentLight, PassKind};
use wgpu::hal::vulkan::Api as Vulkan;

/// The attachments and options of a pass.
///
/// Formats, sample count and multiview mask are those of a render pipeline of wgpu that draws into
/// the same pass.
///
/// ```
/// use throng_wgpu::{PassDesc, throng::PassKind, wgpu};
///
/// let color = PassDesc {
///     color_formats: &[Some(wgpu::TextureFormat::Bgra8UnormSrgb)],
///     depth_format: Some(wgpu::TextureFormat::Depth32Float),
///     sample_count: 4,
///     shadow_map: true,
///     ..Default::default()
/// };
/// let shadow = PassDesc {
///     kind: PassKind::Shadow,
///     depth_format: Some(wgpu::TextureFormat::Depth32Float),
///     ..Default::default()
/// };
/// # let _ = (color, shadow);
/// ```
#[derive(Debug, Clone)]
pub struct PassDesc<'a> {
    /// The purpose of the pass.
    pub kind: PassKind,
    /// Formats of the colour attachments. Colour is written to the first.
    pub color_formats: &'a [Option<wgpu::TextureFormat>],
    /// Format of the depth attachment. Stencil is not written.
    pub depth_format: Option<wgpu::TextureFormat>,
    /// Samples of every attachment.
    pub sample_count: u32,
    /// True if depth 1 is near. Clear depth to 0 then.
    pub reversed_z: bool,
    /// The layers that are drawn at once, for views with several
    /// [eyes](throng::View::more_eyes).
    ///
    /// The same mask is in [`wgpu::RenderPassDescriptor::multiview_mask`]. The device needs
    /// [`wgpu::Features::MULTIVIEW`].
    pub multiview_mask: Option<NonZeroU32>,
    /// The depth test after a [`PassKind::Depth`] pass: `Equal` or `LessEqual` (with
    /// [`Self::reversed_z`], `GreaterEqual`). See [`throng::PassDesc::after_prepass`].
    pub after_prepass: Option<wgpu::CompareFunction>,
    /// The constant part of the depth bias, or `None` for the default of `kind`.
    ///
    /// See [`throng::PassDesc::depth_bias_constant`].
    pub depth_bias_constant: Option<f32>,
    /// The depth bias for each unit of slope, or `None` for the default of `kind`.
    ///
    /// See [`throng::PassDesc::depth_bias_slope`].
    pub depth_bias_slope: Option<f32>,
    /// True to clamp depth instead of clipping it, as
    /// [`wgpu::PrimitiveState::unclipped_depth`].
    ///
    /// The device needs [`wgpu::Features::DEPTH_CLIP_CONTROL`]. See
    /// [`throng::PassDesc::depth_clamp`].
    pub depth_clamp: bool,
    /// The factors of x and y of the motion vectors, in a pass of kind [`PassKind::Motion`].
    ///
    /// They are `[1.0, 1.0]` by default, for normalised device coordinates with +y down.
    /// `[0.5, 0.5]` gives texture coordinates. See [`throng::PassDesc::motion_scale`].
    pub motion_scale: [f32; 2],
    /// True if the shading samples the map of
    /// [`Crowd::set_shadow_map`](crate::Crowd::set_shadow_map).
    pub shadow_map: bool,
    /// The light that the built-in shading has beside the sun.
    ///
    /// With [`EnvironmentLight::Map`], it samples the map of
    /// [`Crowd::set_environment_map`](crate::Crowd::set_environment_map).
    pub environment: EnvironmentLight,
    /// The program's own shading, for [`PassKind::Color`].
    pub material: Option<MaterialDesc<'a>>,
}

impl Default for PassDesc<'_> {
    fn default() -> Self {
        Self {
            kind: PassKind::Color,
            color_formats: &[],
            depth_format: None,
            sample_count: 1,
            reversed_z: false,
            multiview_mask: None,
            after_prepass: None,
            depth_bias_constant: None,
            depth_bias_slope: None,
            depth_clamp: false,
            motion_scale: [1.0; 2],
            shadow_map: false,
            environment: EnvironmentLight::Sky,
            material: None,
        }
    }
}

/// Checks the formats, and translates all but the material.
pub(crate) fn raw_desc(gpu: &Gpu, desc: &PassDesc<'_>) -> Result<throng::PassDesc<'static>> {
    check_formats(gpu, desc)?;
    check_limits(gpu, desc)?;
    let format = |format: Option<wgpu::TextureFormat>| {
        format.map_or(Ok(vk::Format::UNDEFINED), |it| raw_format(gpu, it))
    };
    let stencil = desc.depth_format.filter(|it| it.has_stencil_aspect());
    Ok(throng::PassDesc {
        kind: desc.kind,
        color_formats: desc
            .color_formats
            .iter()
            .map(|it| format(*it))
            .collect::<Result<_>>()?,
        depth_format: format(desc.depth_format)?,
        stencil_format: format(stencil)?,
        samples: vk::SampleCountFlags::from_raw(desc.sample_count),
        reversed_z: desc.reversed_z,
        view_mask: desc.multiview_mask.map_or(0, NonZeroU32::get),
        after_prepass: desc.after_prepass.map(compare_op),
        depth_bias_constant: desc.depth_bias_constant,
        depth_bias_slope: desc.depth_bias_slope,
        depth_clamp: desc.depth_clamp,
        motion_scale: desc.motion_scale,
        shadow_map: desc.shadow_map,
        environment: desc.environment,
        ..throng::PassDesc::default()
    })
}

/// The format of Vulkan that wgpu takes for one of its own.
pub(crate) fn raw_format(gpu: &Gpu, format: wgpu::TextureFormat) -> Result<vk::Format> {
    // SAFETY: the adapter is not destroyed through the guard.
    let guard = unsafe { gpu.adapter().as_hal::<Vulkan>() };
    let hal = guard.ok_or_else(|| Error::Backend(gpu.adapter().get_info().backend))?;
    Ok(hal.texture_format_as_raw(format))
}

/// Checks that the adapter can draw into the formats as the pass does.
fn check_formats(gpu: &Gpu, desc: &PassDesc<'_>) -> Result<()> {
    let colors = desc.color_formats.iter().flatten();
    let colors = colors.map(|format| ("PassDesc::color_formats", *format));
    let depth = desc.depth_format.iter();
    let depth = depth.map(|format| ("PassDesc::depth_format", *format));
    for (what, format) in colors.chain(depth) {
        let fault = |why| Err(Error::Format { what, format, why });
        let missing = format.required_features() - gpu.device().features();
        if !missing.is_empty() {
            return fault("needs a feature that the device was opened without");
        }
        if what == "PassDesc::depth_format" && !format.has_depth_aspect() {
            return fault("has no depth");
        }
        if what == "PassDesc::color_formats" && !format.has_color_aspect() {
            return fault("has no colour");
        }
        let features = format_features(gpu, format);
        let usages = features.allowed_usages;
        if !usages.contains(wgpu::TextureUsages::RENDER_ATTACHMENT) {
            return fault("is not a format of attachments");
        }
        if !features.flags.sample_count_supported(desc.sample_count) {
            return fault("does not support PassDesc::sample_count");
        }
    }
    // Blended materials are drawn into the first attachment of a colour pass.
    let first = desc.color_formats.first().copied().flatten();
    let first = first.filter(|_| desc.kind == PassKind::Color);
    if let Some(format) = first {
        let flags = format_features(gpu, format).flags;
        if !flags.contains(wgpu::TextureFormatFeatureFlags::BLENDABLE) {
            return Err(Error::Format {
                what: "PassDesc::color_formats",
                format,
                why: "is not a format that can be blended",
            });
        }
    }
    Ok(())
}

/// Checks limits of all colour attachments together.
fn check_limits(gpu: &Gpu, desc: &PassDesc<'_>) -> Result<()> {
    let limits = gpu.device().limits();
    let colors = desc.color_formats.iter().flatten();
    // As WebGPU's "calculating color attachment bytes per sample".
    let bytes = colors.fold(0, |sum: u32, format| {
        let cost = format.target_pixel_byte_cost().unwrap_or(0);
        let alignment = format.target_component_alignment().unwrap_or(1);
        sum.next_multiple_of(alignment).saturating_add(cost)
    });
    for (name, asked, allowed) in [
        (
            "max_color_attachments",
            desc.color_formats.len() as u64,
            limits.max_color_attachments,
        ),
        (
            "max_color_attachment_bytes_per_sample",
            bytes.into(),
            limits.max_color_attachment_bytes_per_sample,
        ),
    ] {
        let allowed = allowed.into();
        if asked > allowed {
            return Err(Error::Limit {
                name,
                asked,
                allowed,
            });
        }
    }
    Ok(())
}

/// The uses of a format that wgpu allows on this device.
fn format_features(gpu: &Gpu, format: wgpu::TextureFormat) -> wgpu::TextureFormatFeatures {
    let features = gpu.device().features();
    match features.contains(wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES) {
        true => gpu.adapter().get_texture_format_features(format),
        false => format.guaranteed_format_features(features),
    }
}

/// Makes an empty bundle of the formats of a pass.
pub(crate) fn formats_bundle(gpu: &Gpu, desc: &PassDesc<'_>) -> Result<wgpu::RenderBundle> {
    if gpu.is_lost() {
        return Err(Error::DeviceLost);
    }
    let make = || {
        let depth = desc.depth_format;
        let encoder = wgpu::RenderBundleEncoderDescriptor {
            label: Some("throng pass"),
            color_formats: desc.color_formats,
            depth_stencil: depth.map(|format| wgpu::RenderBundleDepthStencil {
                format,
                depth_read_only: false,
                stencil_read_only: true,
            }),
            sample_count: desc.sample_count,
            multiview: desc.multiview_mask,
        };
        let encoder = gpu.device().create_render_bundle_encoder(&encoder);
        encoder.finish(&wgpu::RenderBundleDescriptor::default())
    };
    // Another thread may destroy the device meanwhile.
    gpu.unless_lost(|| scoped(gpu.device(), "the formats of a pass", make))
}
