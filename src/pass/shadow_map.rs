//! The shadow map that the built-in shading samples: set 1 of its passes.

use crate::error::Result;
use crate::gpu::sets::{self, Sets};
use crate::gpu::{Device, Guard, Object, VkCall, destroy_fields};
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

/// Layout, sampler and set of the shadow map.
#[derive(Debug)]
pub(crate) struct ShadowInput {
    layout: Object<vk::DescriptorSetLayout>,
    pub(crate) bound: Option<BoundShadow>,
    pub(crate) edge: u32,
}

destroy_fields!(ShadowInput, &'a Device: bound, layout);

/// A set that refers to a shadow map.
#[derive(Debug)]
pub(crate) struct BoundShadow {
    sets: Sets,
    sampler: Object<vk::Sampler>,
}

destroy_fields!(BoundShadow, &'a Device: sets, sampler);

impl ShadowInput {
    /// Creates the set layout. No map is bound.
    pub(crate) fn new(device: &Device) -> Result<Guard<'_, Self>> {
        let (kind, stages) = (
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::ShaderStageFlags::FRAGMENT,
        );
        let bindings = [sets::binding(0, kind, stages)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layout = sets::layout(device, "throng shadow map", &info)?;
        let (bound, edge) = (None, 0);
        Ok(layout.map(|layout| Self {
            layout,
            bound,
            edge,
        }))
    }

    pub(crate) fn layout(&self) -> vk::DescriptorSetLayout {
        self.layout.handle
    }

    pub(crate) fn set(&self) -> Option<vk::DescriptorSet> {
        self.bound.as_ref().map(|bound| bound.sets.first())
    }
}

fn sampler<'g>(device: &'g Device, map: &ShadowMap) -> Result<Guard<'g, Object<vk::Sampler>>> {
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

/// Makes a set that refers to the map.
///
/// # Safety
/// `layout` and the view belong to `device` and are alive.
pub(crate) unsafe fn bind(
    device: &Device,
    layout: vk::DescriptorSetLayout,
    map: &ShadowMap,
) -> Result<BoundShadow> {
    let sampler = sampler(device, map)?;
    let ty = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    let sizes = [vk::DescriptorPoolSize {
        ty,
        descriptor_count: 1,
    }];
    let sets = sets::with_pool(device, "throng shadow map", &sizes, layout, 1, None)?;
    let image = [vk::DescriptorImageInfo {
        sampler: sampler.handle,
        image_view: map.view,
        image_layout: map.layout,
    }];
    let write = sets::write(sets.first(), 0, ty).image_info(&image);
    // SAFETY: no command buffer has used the new set. The sampler was created above, and the view
    // is alive, by this function's contract.
    unsafe { device.raw.update_descriptor_sets(&[write], &[]) };
    Ok(BoundShadow {
        sets: sets.keep(),
        sampler: sampler.keep(),
    })
}
