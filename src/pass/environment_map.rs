//! The environment map that the built-in shading samples: the last set of its passes.

use crate::error::Result;
use crate::gpu::{Device, Guard, Object, VkCall};
use ash::vk;

/// The engine's prefiltered cube map of the surroundings, for reflections.
///
/// Level 0 has the radiance itself, linear RGB. A surface reads the level roughness × (levels − 1),
/// with the perceptual roughness of glTF. A level has the mean over the lobe of its roughness,
/// as if seen along the normal (the first sum of Karis, "Real Shading in Unreal Engine 4", 2013).
/// Faces are those of Vulkan's cube maps, looked up by the direction in the space of the
/// environment: [`Environment::world_from_environment`](crate::Environment::world_from_environment)
/// turns it. `EnvironmentImage` of the crate `throng-standalone` makes such levels, and
/// `examples/environment.rs` uploads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "reflection probe")]
pub struct EnvironmentMap {
    /// A `CUBE` view of its colour, with all levels.
    pub view: vk::ImageView,
    /// The sampler, or `None` for one of the crowd, which is linear between texels and levels.
    ///
    /// Its format must then support linear filters.
    pub sampler: Option<vk::Sampler>,
    /// Its layout when it is sampled.
    pub layout: vk::ImageLayout,
    /// The number of levels.
    pub levels: u32,
}

/// The crowd's own sampler.
pub(crate) fn sampler(device: &Device) -> Result<Guard<'_, Object<vk::Sampler>>> {
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .max_lod(vk::LOD_CLAMP_NONE);
    // SAFETY: the info is alive during the call and asks for no feature.
    let made = unsafe { device.raw.create_sampler(&info, None) }.call("vkCreateSampler")?;
    Ok(Object::new(device, made, "throng environment map"))
}
