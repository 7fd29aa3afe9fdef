//! The shadow map that the built-in shading samples.

use crate::error::Result;
use crate::gpu::{Device, Guard, Object, VkCall};
use ash::vk;

/// The engine's shadow map: a depth image with one layer for each of a view's [shadow
/// layers](crate::Shadow::clip_from_world).
///
/// # Steps
/// `examples/shadows.rs` does all of this with one layer.
///
/// Once:
/// 1. Create a depth image with the usages `DEPTH_STENCIL_ATTACHMENT` and `SAMPLED`, a
///    `2D_ARRAY` view of all layers, and a view of each layer to draw into.
/// 2. [`Crowd::set_shadow_map`](crate::Crowd::set_shadow_map).
/// 3. [`Crowd::create_pass`](crate::Crowd::create_pass) with
///    [`PassKind::Shadow`](crate::PassKind::Shadow) and the image's format, without colour formats.
/// 4. `create_pass` for the picture, with
///    [`PassDesc::shadow_map`](crate::PassDesc::shadow_map) set to true.
///
/// In every frame:
/// 1. For each layer, compute the matrix from the world to the light's clip space, and make a view
///    with it: [`View::shadow_of`](crate::View::shadow_of). Its viewport is the whole layer.
/// 2. Set [`View::shadow`](crate::View::shadow) of the camera's view to
///    [`Shadow::of`](crate::Shadow::of) these views.
/// 3. [`Frame::record_prepare`](crate::Frame::record_prepare) with the camera's and the light's
///    views.
/// 4. For each layer, transition it to `DEPTH_ATTACHMENT_OPTIMAL`, begin rendering with depth
///    cleared to the farthest value (1, or 0 with [`Self::reversed_z`]),
///    [`record_draw`](crate::Frame::record_draw) with the light's view and the shadow pass, and end
///    rendering.
/// 5. Transition the image to [`Self::layout`], with a barrier from `LATE_FRAGMENT_TESTS` to
///    `FRAGMENT_SHADER`.
/// 6. Begin rendering the picture, and `record_draw` with the camera's view and its pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadowMap {
    /// A `2D_ARRAY` view of its depth aspect.
    pub view: vk::ImageView,
    /// Its layout when it is sampled.
    pub layout: vk::ImageLayout,
    /// Its width and height in texels.
    pub edge: u32,
    /// True if depth 1 is near, as in [`PassDesc::reversed_z`](crate::PassDesc::reversed_z) of the
    /// shadow pass.
    pub reversed_z: bool,
}

/// The sampler that compares depth.
pub(crate) fn sampler<'g>(
    device: &'g Device,
    map: &ShadowMap,
) -> Result<Guard<'g, Object<vk::Sampler>>> {
    let compare = if map.reversed_z {
        vk::CompareOp::GREATER_OR_EQUAL
    } else {
        vk::CompareOp::LESS_OR_EQUAL
    };
    // Shaders gather texels and filter them, so the format needs no linear filter.
    let info = vk::SamplerCreateInfo::default()
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .compare_enable(true)
        .compare_op(compare);
    // SAFETY: the info is alive during the call and asks for no feature.
    let made = unsafe { device.raw.create_sampler(&info, None) }.call("vkCreateSampler")?;
    Ok(Object::new(device, made, "throng shadow map"))
}
