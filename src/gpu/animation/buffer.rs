//! The tables of a character's animation in a buffer.

use super::MAX_JOINTS;
use super::tables::{self, Source};
use crate::character::Character;
use crate::error::Result;
use crate::gpu::{Buffer, Device, MemoryAllocator, Upload, limit};
use crate::palette::{PaletteFormat, SkinningMethod};
use ash::vk;

/// What shaders need of a character to animate it: skeleton, palette, masks and clips.
///
/// It takes some more bytes than the packed clips. [`AnimatePipeline`](crate::AnimatePipeline)
/// reads it.
#[derive(Debug)]
pub struct AnimationTables {
    buffer: Buffer,
    format: PaletteFormat,
    entries: u32,
    joints: u32,
}

impl AnimationTables {
    /// Creates the buffer of a character and stages its upload.
    ///
    /// Palettes have the format of a [`SkinnedMesh`](crate::gpu::SkinnedMesh) with the same method.
    ///
    /// # Errors
    /// - [`Error::Capacity`](crate::Error::Capacity) for a skeleton of more than 300 joints, clips
    ///   of more than 8 GB, or a buffer that the device cannot have.
    /// - [`Error::Argument`](crate::Error::Argument) if the upload or the allocator is one of
    ///   another device.
    /// - [`Error::Unrepresentable`](crate::Error::Unrepresentable) if palettes of `method` cannot
    ///   represent the character.
    /// - [`Error::Memory`](crate::Error::Memory) and [`Error::Vulkan`](crate::Error::Vulkan) from
    ///   the device.
    pub fn new(
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        upload: &mut Upload,
        character: &Character,
        method: SkinningMethod,
    ) -> Result<Self> {
        upload.expect_of(device)?;
        let format = PaletteFormat::of(character, method)?;
        let joints = character.skeleton().joints();
        limit(
            "joints of a skeleton that shaders pose",
            joints.len() as u64,
            MAX_JOINTS.into(),
        )?;
        let words = tables::build(&Source {
            joints,
            palette: character.palette(),
            masks: &character.animation_set().masks,
            clips: character.clips(),
        })?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_DST;
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let name = "throng animation";
        let size = bytes.len() as u64;
        let mut buffer = Buffer::device_local(device, allocator, name, size, usage)?;
        if let Err(error) = upload.buffer(device, allocator, &buffer, bytes) {
            // SAFETY: no command buffer has used the buffer, because it was created above.
            unsafe { buffer.destroy(device, allocator) };
            return Err(error);
        }
        Ok(Self {
            buffer,
            format,
            entries: character.palette().len() as u32,
            joints: joints.len() as u32,
        })
    }

    /// The format of the palettes.
    #[must_use]
    pub fn format(&self) -> PaletteFormat {
        self.format
    }

    /// Joints of the skeleton.
    #[must_use]
    pub fn joints(&self) -> u32 {
        self.joints
    }

    /// Bytes of an instance's palette.
    #[must_use]
    pub fn palette_bytes(&self) -> u64 {
        u64::from(self.entries) * self.format.entry_bytes() as u64
    }

    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.buffer.bytes
    }

    pub(crate) fn address(&self) -> vk::DeviceAddress {
        self.buffer.address
    }

    /// Destroys the buffer.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` and `allocator` are those that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device, allocator: &mut dyn MemoryAllocator) {
        // SAFETY: the GPU does not use the buffer, by this function's contract.
        unsafe { self.buffer.destroy(device, allocator) };
    }
}
