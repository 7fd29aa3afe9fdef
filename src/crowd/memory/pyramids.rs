//! The memory of the stage pyramid.

use crate::crowd::visibility::occlusion::Pyramid;
use crate::crowd::{Capacity, CrowdDesc};
use crate::error::Result;
use crate::gpu::layout::GpuView;
use crate::gpu::sets::Sets;
use crate::gpu::{Buffer, Device, Features, Gpu, Guard, destroy_fields, limit};
use crate::pass::cull::{CullBuffers, CullPass};
use crate::pass::pyramid::PyramidPass;
use ash::vk;

/// The pyramids of a frame, and the sets of the stages that write and read them. Frames in flight
/// share them, because a pyramid lives from the stage pyramid to the stage cull.
#[derive(Debug)]
pub(crate) struct Pyramids {
    buffer: Buffer,
    /// Of the stage pyramid, for each frame index and each eye of its views, once before the crowd
    /// and once for the reveal.
    sets: Sets,
    /// Of the stage cull.
    pub(crate) cull: Sets,
    eyes: u32,
}

destroy_fields!(Pyramids, Gpu<'a>: cull, sets, buffer);

/// The most eyes of the views of a frame.
pub(crate) fn most_eyes(capacity: &Capacity, device: &Device) -> u32 {
    let multiview = device.enabled.contains(Features::MULTIVIEW);
    capacity.views * if multiview { GpuView::EYES as u32 } else { 1 }
}

impl Pyramids {
    /// The words for a capacity of pixels of so many pictures.
    pub(crate) fn words(pixels: u32, pictures: u32) -> u64 {
        let extra = u64::from(pictures) * u64::from(Pyramid::MOST_EXTRA_WORDS);
        u64::from(pixels) * 4 / 3 + extra
    }

    /// # Errors
    /// - [`Error::Capacity`](crate::Error::Capacity) if the device has no buffers of that size.
    /// - [`Error::Memory`](crate::Error::Memory) and [`Error::Vulkan`](crate::Error::Vulkan) from
    ///   the device.
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        desc: &CrowdDesc,
        (pass, cull): (&PyramidPass, &CullPass),
        buffers: &CullBuffers,
    ) -> Result<Guard<'g, Self>> {
        let (device, capacity) = (gpu.device, &desc.capacity);
        let eyes = most_eyes(capacity, device);
        let bytes = limit(
            "bytes of Capacity::depth_pixels (maxStorageBufferRange)",
            Self::words(capacity.depth_pixels, eyes) * 4,
            device.limits.max_storage_range,
        )?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let buffer = Buffer::device_local(gpu, "throng pyramids", bytes, usage)?;
        let whole = vk::DescriptorBufferInfo {
            buffer: buffer.handle,
            offset: 0,
            range: vk::WHOLE_SIZE,
        };
        let count = (desc.frames_in_flight * eyes * 2) as usize;
        let sets = pass.make_sets(device, count, whole)?;
        let cull = cull.make_set_behind(device, buffers, whole)?;
        let (sets, cull) = (sets.keep(), cull.keep());
        Ok(buffer.map(|buffer| Self {
            buffer,
            sets,
            cull,
            eyes,
        }))
    }

    /// The set for a picture of a frame, or of its reveal.
    pub(crate) fn set(
        &self,
        (frame_index, reveals): (u32, bool),
        picture: u32,
    ) -> vk::DescriptorSet {
        let first = (frame_index * 2 + u32::from(reveals)) * self.eyes;
        let set = self.sets.get(first + picture);
        set.unwrap_or_default()
    }
}
