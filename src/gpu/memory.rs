//! Buffers, images and other objects that know their name and report leaks.

use super::{
    Destroy, Device, Gpu, Guard, MemoryBlock, MemoryRequest, VkCall, destroy_fields, limit,
};
use crate::error::{Error, Result};
use ash::vk;
use core::ops::Deref;
use core::ptr::NonNull;
use gpu_allocator::MemoryLocation;

/// A kind of Vulkan object.
pub(crate) trait Kind: vk::Handle + Copy {
    /// Destroys the object.
    ///
    /// # Safety
    /// The handle belongs to the device, is alive or null, and is not in use.
    unsafe fn destroy(self, device: &ash::Device);
}

macro_rules! kinds {
    ($($handle:ident => $destroy:ident),+ $(,)?) => {$(
        impl Kind for vk::$handle {
            unsafe fn destroy(self, device: &ash::Device) {
                // SAFETY: the handle is this device's and not in use, by this function's contract.
                unsafe { device.$destroy(self, None) }
            }
        }
    )+};
}

kinds! {
    Buffer => destroy_buffer,
    DescriptorPool => destroy_descriptor_pool,
    DescriptorSetLayout => destroy_descriptor_set_layout,
    Event => destroy_event,
    Image => destroy_image,
    ImageView => destroy_image_view,
    Pipeline => destroy_pipeline,
    PipelineLayout => destroy_pipeline_layout,
    QueryPool => destroy_query_pool,
    Sampler => destroy_sampler,
    ShaderModule => destroy_shader_module,
}

/// A handle with its name. The default is a null handle.
#[derive(Debug, Default)]
pub(crate) struct Object<H: Kind> {
    pub(crate) handle: H,
    name: Box<str>,
}

impl<H: Kind> Object<H> {
    /// Takes ownership of a handle that was just created, and names it.
    pub(crate) fn new<'g>(device: &'g Device, handle: H, name: &str) -> Guard<'g, Self> {
        device.set_name(handle, name);
        let name = name.into();
        Guard::new(device, Self { handle, name })
    }
}

impl<H: Kind> Destroy for Object<H> {
    type With<'a> = &'a Device;

    unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the handle is this device's and not in use, by this function's contract; null is
        // allowed.
        unsafe { self.handle.destroy(&device.raw) };
        self.handle = H::from_raw(0);
    }
}

impl<H: Kind> Drop for Object<H> {
    fn drop(&mut self) {
        if self.handle.as_raw() != 0 {
            log::error!(
                "throng: leaked {:?} \"{}\": dropped without destroy",
                H::TYPE,
                self.name
            );
        }
    }
}

/// Least alignment in bytes of memory that the CPU writes, or that shaders read through an address:
/// a cache line, and the widest store.
///
/// Drivers may demand less, but the palettes' elements are aligned to 16 bytes. Vulkan aligns
/// mapped memory itself to at least 64 bytes (`minMemoryMapAlignment`).
pub(crate) const MAPPED_ALIGNMENT: u64 = 64;

/// The memory and usage of a buffer.
pub(crate) struct BufferDesc<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: u64,
    pub(crate) usage: vk::BufferUsageFlags,
    pub(crate) location: MemoryLocation,
    /// Memory types that may be used, as a mask.
    pub(crate) types: u32,
}

/// A buffer or image with its memory.
#[derive(Debug, Default)]
struct Backed<H: Kind> {
    object: Object<H>,
    block: Option<MemoryBlock>,
}

impl<H: Kind> Backed<H> {
    /// Takes ownership of a handle that was just created, and allocates the memory that `bind`
    /// binds to it.
    fn new<'g>(
        gpu: Gpu<'g>,
        handle: H,
        request: &MemoryRequest<'_>,
        bind: impl FnOnce(&MemoryBlock) -> Result<()>,
    ) -> Result<Guard<'g, Self>> {
        let object = Object::new(gpu.device, handle, request.name);
        let block = gpu.allocator.allocate(request)?;
        let bound = bind(&block);
        let (object, block) = (object.keep(), Some(block));
        let backed = Guard::new(gpu, Self { object, block });
        bound.map(|()| backed)
    }
}

impl<H: Kind> Destroy for Backed<H> {
    type With<'a> = Gpu<'a>;

    unsafe fn destroy(&mut self, gpu: Gpu<'_>) {
        // SAFETY: this function has the same contract. The block is as an allocator of this device
        // returned it. Once the object is destroyed, nothing is bound to it.
        unsafe {
            self.object.destroy(gpu.device);
            if let Some(block) = self.block.take() {
                gpu.allocator.free(block, &self.object.name);
            }
        }
    }
}

/// A buffer with its memory. The default is a null handle.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    backed: Backed<vk::Buffer>,
    pub(crate) bytes: u64,
    /// Its device address if it was made with `SHADER_DEVICE_ADDRESS`, otherwise 0.
    pub(crate) address: vk::DeviceAddress,
}

destroy_fields!(Buffer, Gpu<'a>: backed);

impl Deref for Buffer {
    type Target = Object<vk::Buffer>;

    fn deref(&self) -> &Self::Target {
        &self.backed.object
    }
}

impl Buffer {
    pub(crate) fn device_local<'g>(
        gpu: Gpu<'g>,
        name: &str,
        bytes: u64,
        usage: vk::BufferUsageFlags,
    ) -> Result<Guard<'g, Self>> {
        let desc = BufferDesc {
            name,
            bytes,
            usage,
            location: MemoryLocation::GpuOnly,
            types: u32::MAX,
        };
        Self::new(gpu, &desc)
    }

    pub(crate) fn new<'g>(gpu: Gpu<'g>, desc: &BufferDesc<'_>) -> Result<Guard<'g, Self>> {
        let device = gpu.device;
        let most = device.limits.max_buffer_bytes;
        let bytes = limit("bytes of a buffer", desc.bytes, most)?.max(16);
        let info = vk::BufferCreateInfo::default()
            .size(bytes)
            .usage(desc.usage);
        // SAFETY: the info is alive during the call, and the device is alive by the contract of
        // `Device::new`.
        let handle = unsafe { device.raw.create_buffer(&info, None) }.call("vkCreateBuffer")?;
        // SAFETY: the buffer was just created on this device.
        let mut requirements = unsafe { device.raw.get_buffer_memory_requirements(handle) };
        requirements.memory_type_bits &= desc.types;
        let by_address = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let device_address = desc.usage.contains(by_address);
        // Shaders load 16 bytes at a time through addresses, and a driver may demand less.
        if desc.location != MemoryLocation::GpuOnly || device_address {
            requirements.alignment = requirements.alignment.max(MAPPED_ALIGNMENT);
        }
        let request = MemoryRequest {
            name: desc.name,
            requirements,
            location: desc.location,
            linear: true,
            device_address,
        };
        let backed = Backed::new(gpu, handle, &request, |block| {
            let (memory, offset) = (block.memory, block.offset);
            // SAFETY: the block meets the request with these requirements and nothing else uses
            // it, by the contract of `MemoryAllocator`. The buffer is new, so it is not bound yet.
            let bound = unsafe { device.raw.bind_buffer_memory(handle, memory, offset) };
            bound.call("vkBindBufferMemory")
        })?;
        let info = vk::BufferDeviceAddressInfo::default().buffer(handle);
        // SAFETY: the buffer has memory and the usage; the feature is enabled by the contract of
        // `Device::new`.
        let address =
            device_address.then(|| unsafe { device.raw.get_buffer_device_address(&info) });
        let buffer = backed.map(|backed| Self {
            backed,
            bytes,
            address: address.unwrap_or(0),
        });
        let why = "the allocator placed it at an address that is not a multiple of 16";
        buffer.expect_multiple(16, buffer.address, why)?;
        Ok(buffer)
    }

    /// Checks an address that the allocator chose.
    fn expect_multiple(&self, of: u64, address: u64, why: &'static str) -> Result<()> {
        if address.is_multiple_of(of) {
            return Ok(());
        }
        Err(Error::Memory {
            name: self.name.clone(),
            bytes: self.bytes,
            why: why.into(),
        })
    }

    /// The start of its mapped memory, which is aligned to [`MAPPED_ALIGNMENT`].
    pub(crate) fn mapped(&self) -> Result<NonNull<u8>> {
        let start = self.backed.block.as_ref().and_then(|block| block.mapped);
        let start = start.ok_or(Error::Vulkan {
            call: "vkMapMemory",
            result: vk::Result::ERROR_MEMORY_MAP_FAILED,
        })?;
        let why = "the allocator mapped it at an address that is not a multiple of 64";
        self.expect_multiple(MAPPED_ALIGNMENT, start.addr().get() as u64, why)?;
        Ok(start)
    }
}

/// A sampled 2D image with its memory and view.
#[derive(Debug)]
pub(crate) struct Image {
    backed: Backed<vk::Image>,
    pub(crate) view: Object<vk::ImageView>,
}

destroy_fields!(Image, Gpu<'a>: view, backed);

impl Image {
    /// Creates an image of `format` with `levels` mip levels, to be filled by a transfer and
    /// sampled.
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        name: &str,
        format: vk::Format,
        (width, height): (u32, u32),
        levels: u32,
    ) -> Result<Guard<'g, Self>> {
        let device = gpu.device;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D {
                width,
                height,
                depth: 1,
            })
            .mip_levels(levels)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::SAMPLED);
        // SAFETY: the info is alive during the call, and the device is alive by the contract of
        // `Device::new`.
        let handle = unsafe { device.raw.create_image(&info, None) }.call("vkCreateImage")?;
        // SAFETY: the image was just created on this device.
        let requirements = unsafe { device.raw.get_image_memory_requirements(handle) };
        let request = MemoryRequest {
            name,
            requirements,
            location: MemoryLocation::GpuOnly,
            linear: false,
            device_address: false,
        };
        let backed = Backed::new(gpu, handle, &request, |block| {
            let (memory, offset) = (block.memory, block.offset);
            // SAFETY: as for a buffer.
            let bound = unsafe { device.raw.bind_image_memory(handle, memory, offset) };
            bound.call("vkBindImageMemory")
        })?;
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(color_range());
        // SAFETY: the image is bound and has that format.
        let view =
            unsafe { device.raw.create_image_view(&info, None) }.call("vkCreateImageView")?;
        let view = Object::new(device, view, name).keep();
        Ok(backed.map(|backed| Self { backed, view }))
    }

    pub(crate) fn handle(&self) -> vk::Image {
        self.backed.object.handle
    }
}

/// All levels of a colour image.
pub(crate) fn color_range() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(vk::REMAINING_MIP_LEVELS)
        .layer_count(1)
}
