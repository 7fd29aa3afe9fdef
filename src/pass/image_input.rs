//! An image of the engine that the built-in shading samples, in a set of its own.

use crate::error::Result;
use crate::gpu::sets::{self, Sets};
use crate::gpu::{Device, Guard, Object, destroy_fields};
use ash::vk;

const TYPE: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;

/// The layout of the set, and the set if there is an image.
#[derive(Debug)]
pub(crate) struct ImageInput {
    name: &'static str,
    layout: Object<vk::DescriptorSetLayout>,
    pub(crate) bound: Option<BoundImage>,
    /// The edge of a shadow map in texels, or the levels of an environment map.
    pub(crate) extent: u32,
}

destroy_fields!(ImageInput, &'a Device: bound, layout);

/// A set that refers to an image.
#[derive(Debug)]
pub(crate) struct BoundImage {
    sets: Sets,
    /// The crowd's own, or null.
    sampler: Object<vk::Sampler>,
}

destroy_fields!(BoundImage, &'a Device: sets, sampler);

impl ImageInput {
    /// Creates the set layout. No image is bound.
    pub(crate) fn new<'g>(device: &'g Device, name: &'static str) -> Result<Guard<'g, Self>> {
        let bindings = [sets::binding(0, TYPE, vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layout = sets::layout(device, name, &info)?;
        let (bound, extent) = (None, 0);
        Ok(layout.map(|layout| Self {
            name,
            layout,
            bound,
            extent,
        }))
    }

    pub(crate) fn layout(&self) -> vk::DescriptorSetLayout {
        self.layout.handle
    }

    pub(crate) fn set(&self) -> Option<vk::DescriptorSet> {
        self.bound.as_ref().map(|bound| bound.sets.first())
    }

    /// Makes a set that refers to an image. `own` is a sampler of the crowd, if `image` has none.
    ///
    /// # Safety
    /// The layout and all handles belong to `device` and are alive.
    pub(crate) unsafe fn bind(
        &self,
        device: &Device,
        own: Option<Guard<'_, Object<vk::Sampler>>>,
        image: vk::DescriptorImageInfo,
    ) -> Result<BoundImage> {
        let sizes = [vk::DescriptorPoolSize {
            ty: TYPE,
            descriptor_count: 1,
        }];
        let sets = sets::with_pool(device, self.name, &sizes, self.layout.handle, 1, None)?;
        let sampler = own.as_ref().map_or(image.sampler, |own| own.handle);
        let image = [image.sampler(sampler)];
        let write = sets::write(sets.first(), 0, TYPE).image_info(&image);
        // SAFETY: no command buffer has used the new set. Sampler and view are alive, by this
        // function's contract.
        unsafe { device.raw.update_descriptor_sets(&[write], &[]) };
        Ok(BoundImage {
            sets: sets.keep(),
            sampler: own.map(Guard::keep).unwrap_or_default(),
        })
    }
}
