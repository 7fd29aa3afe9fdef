//! A two-dimensional image with its memory and one view, used for attachments.

use super::device_owner::{Destroy, DeviceOwner, Idle};
use super::error::Check;
use super::image_rules::{ImageDesc, aspect, check_image};
use super::{Context, Result, buffer, memory_rules};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;
use std::sync::Arc;

/// An image with one mip level and one layer, in device-local memory.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) owner: Arc<DeviceOwner>,
    name: String,
    pub(super) handle: vk::Image,
    pub(super) view: vk::ImageView,
    allocation: Option<Allocation>,
    /// Memory of a transient image that never leaves the chip. Null if the device has none.
    lazy: vk::DeviceMemory,
}

impl Image {
    pub(super) fn new(context: &mut Context, desc: &ImageDesc<'_>) -> Result<Self> {
        let mut image = Self {
            owner: context.owner(),
            name: desc.name.to_owned(),
            handle: vk::Image::null(),
            view: vk::ImageView::null(),
            allocation: None,
            lazy: vk::DeviceMemory::null(),
        };
        match image.build(context, desc) {
            Ok(()) => Ok(image),
            Err(error) => {
                image.release(&mut context.idle());
                Err(error)
            }
        }
    }

    fn build(&mut self, context: &mut Context, desc: &ImageDesc<'_>) -> Result<()> {
        check_image(context, desc)?;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(desc.format)
            .extent(desc.extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(desc.samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(desc.usage);
        // SAFETY: the device is alive, and supports this image, as was just checked.
        self.handle = unsafe { context.device.create_image(&info, None) }.check("vkCreateImage")?;
        // SAFETY: the image is new.
        unsafe { context.set_name(self.handle, desc.name) }?;
        self.bind(context, desc.usage)?;
        let info = vk::ImageViewCreateInfo::default()
            .image(self.handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(desc.format)
            .subresource_range(whole(aspect(desc.format)));
        // SAFETY: the image is bound to memory.
        self.view =
            unsafe { context.device.create_image_view(&info, None) }.check("vkCreateImageView")?;
        // SAFETY: the view is new.
        unsafe { context.set_name(self.view, desc.name) }
    }

    fn bind(&mut self, context: &mut Context, usage: vk::ImageUsageFlags) -> Result<()> {
        // SAFETY: the image is of this device.
        let requirements = unsafe { context.device.get_image_memory_requirements(self.handle) };
        if usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT)
            && let Some(kind) = memory_rules::lazy_type(context, requirements.memory_type_bits)
        {
            return self.bind_lazy(context, requirements.size, kind);
        }
        let location = MemoryLocation::GpuOnly;
        memory_rules::check_heap(context, &self.name, &requirements, location)?;
        let allocation = buffer::allocate(context, &self.name, requirements, location, false)?;
        // Stored before it is bound, so that an error frees it.
        let allocation = self.allocation.insert(allocation);
        // SAFETY: the memory was allocated for this image, and lives as long as the image.
        unsafe {
            context
                .device
                .bind_image_memory(self.handle, allocation.memory(), allocation.offset())
        }
        .check("vkBindImageMemory")
    }

    fn bind_lazy(&mut self, context: &Context, size: vk::DeviceSize, kind: u32) -> Result<()> {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(kind);
        // SAFETY: the image allows this memory type, and the memory lives as long as the image.
        unsafe {
            self.lazy = context
                .device
                .allocate_memory(&info, None)
                .check("vkAllocateMemory")?;
            context
                .device
                .bind_image_memory(self.handle, self.lazy, 0)
                .check("vkBindImageMemory")
        }
    }

    /// Destroys all handles that exist. The device must no longer use them.
    pub(super) fn release(&mut self, idle: &mut Idle<'_>) {
        self.take()(idle);
    }

    /// Takes all handles out of the image.
    fn take(&mut self) -> Destroy {
        let (view, handle) = (
            std::mem::take(&mut self.view),
            std::mem::take(&mut self.handle),
        );
        let (lazy, allocation) = (std::mem::take(&mut self.lazy), self.allocation.take());
        let name = self.name.clone();
        Box::new(move |idle| {
            // SAFETY: `build` created the handles with this device, which is idle. No one else has
            // their ownership. Null is ignored.
            unsafe {
                idle.device.destroy_image_view(view, None);
                idle.device.destroy_image(handle, None);
                idle.device.free_memory(lazy, None);
            }
            idle.free(&name, allocation);
        })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if self.handle != vk::Image::null() {
            log::warn!("image `{}` was dropped without destroy", self.name);
            let destroy = self.take();
            self.owner.drop_later(destroy);
        }
    }
}

/// The range of the only mip level and layer.
pub(super) fn whole(aspect: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default()
        .aspect_mask(aspect)
        .level_count(1)
        .layer_count(1)
}
