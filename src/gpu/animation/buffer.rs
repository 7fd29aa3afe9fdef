//! The tables of a character's animation in a buffer.

use super::MAX_JOINTS;
use super::tables::{self, Source};
use crate::character::Character;
use crate::clip::Clip;
use crate::error::Result;
use crate::gpu::{Buffer, Device, Gpu, Guard, MemoryAllocator, Upload, destroy_fields, limit};
use crate::palette::{PaletteFormat, SkinningMethod};
use ash::vk;
use core::cell::RefCell;

/// The data from which shaders animate a character: skeleton, palette, masks and clips.
///
/// It takes some more bytes than the packed clips. [`AnimatePipeline`](crate::gpu::AnimatePipeline)
/// reads it.
#[derive(Debug)]
pub struct AnimationTables {
    buffer: Buffer,
    entries: u32,
    variant: AnimateVariant,
}

destroy_fields!(AnimationTables, Gpu<'a>: buffer);

/// The kind of character that a pipeline of the stage animate is made for.
///
/// Few characters need [`Self::curves`] or [`Self::morph_weights`], and other pipelines are shorter
/// without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnimateVariant {
    /// The format of the palettes.
    pub(crate) format: PaletteFormat,
    /// Joints of the skeleton: at most 300.
    pub(crate) joints: u32,
    /// Some clips have tracks that packing
    /// [kept as curves](crate::clip::ClipReport::kept_tracks).
    pub(crate) curves: bool,
    /// Some clips [drive morph weights](Clip::drives_weights).
    pub(crate) morph_weights: bool,
}

impl AnimateVariant {
    /// The variant that a character needs for palettes of a format.
    pub(crate) fn of(character: &Character, format: PaletteFormat) -> Self {
        let clips = character.clips();
        Self {
            format,
            joints: character.skeleton().len() as u32,
            curves: clips.iter().any(|clip| !clip.kept.is_empty()),
            morph_weights: clips.iter().any(Clip::drives_weights),
        }
    }
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
        let allocator = RefCell::new(allocator);
        let gpu = Gpu::new(device, &allocator)?;
        Self::create(gpu, upload, character, method).map(Guard::keep)
    }

    /// [`Self::new`], guarded.
    pub(crate) fn create<'g>(
        gpu: Gpu<'g>,
        upload: &mut Upload,
        character: &Character,
        method: SkinningMethod,
    ) -> Result<Guard<'g, Self>> {
        let format = PaletteFormat::of(character, method)?;
        let joints = character.skeleton().joints();
        limit(
            "joints of a skeleton that shaders pose",
            joints.len() as u64,
            MAX_JOINTS.into(),
        )?;
        let weights = character.morph_weights().iter();
        let weights: Vec<f32> = weights.map(|weight| weight.rest).collect();
        let words = tables::build(&Source {
            joints,
            palette: character.palette(),
            masks: &character.animation_set().masks,
            clips: character.clips(),
            weights: &weights,
        })?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_DST;
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let size = bytes.len() as u64;
        let buffer = Buffer::device_local(gpu, "throng animation", size, usage)?;
        upload.buffer(gpu, &buffer, bytes)?;
        let (entries, variant) = (
            character.palette().len() as u32,
            AnimateVariant::of(character, format),
        );
        Ok(buffer.map(|buffer| Self {
            buffer,
            entries,
            variant,
        }))
    }

    /// The variant of the pipeline that poses instances of the character.
    pub(crate) fn variant(&self) -> AnimateVariant {
        self.variant
    }

    /// Bytes of an instance's palette.
    #[must_use]
    pub fn palette_bytes(&self) -> u64 {
        u64::from(self.entries) * self.variant.format.entry_bytes() as u64
    }

    pub(crate) fn address(&self) -> vk::DeviceAddress {
        self.buffer.address
    }

    /// Destroys the buffer.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` and `allocator` are those that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device, allocator: &mut dyn MemoryAllocator) {
        // SAFETY: this function has the same contract.
        unsafe { Gpu::destroy(self, device, allocator) };
    }
}
