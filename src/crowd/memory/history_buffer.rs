//! The buffer of the histories of views.

use crate::crowd::Capacity;
use crate::error::Result;
use crate::gpu::{Buffer, Gpu, GpuInstance, Guard, destroy_fields};
use ash::vk;

/// Words of a record of the instance table.
pub(crate) const RECORD_WORDS: u64 = size_of::<GpuInstance>() as u64 / 4;
/// Words of a palette entry of the ring.
const ENTRY_WORDS: u64 = 12;

/// Words of each section of a half: records of the instance table, palettes, morph weights,
/// deformed vertices.
pub(crate) type Words = [u64; 4];

/// The words of each section that a frame uses.
pub(crate) fn words_in_use(records: usize, rows: u32, morphs: u32, skinned: u32) -> Words {
    [
        records as u64 * RECORD_WORDS,
        u64::from(rows) * 4,
        morphs.into(),
        skinned.into(),
    ]
}

/// The halves of all histories, in device memory.
#[derive(Debug, Default)]
pub(crate) struct HistoryBuffer {
    pub(crate) buffer: Buffer,
    /// The start of each section in a half.
    starts: Words,
    half_words: u64,
}

destroy_fields!(HistoryBuffer, Gpu<'a>: buffer);

impl HistoryBuffer {
    /// Creates the buffer.
    ///
    /// # Errors
    /// - [`Error::Capacity`](crate::Error::Capacity) if the device has no buffers of that size.
    /// - [`Error::Memory`](crate::Error::Memory) and [`Error::Vulkan`](crate::Error::Vulkan) from
    ///   the device.
    pub(crate) fn new<'g>(gpu: Gpu<'g>, capacity: &Capacity) -> Result<Guard<'g, Self>> {
        let sections = [
            u64::from(capacity.instances) * RECORD_WORDS,
            u64::from(capacity.palette_entries) * ENTRY_WORDS,
            u64::from(capacity.morph_words()),
            u64::from(capacity.skinned_words),
        ];
        let mut half_words = 0;
        // Shaders read whole rows of 16 bytes.
        let starts = sections.map(|words| {
            let start = half_words;
            half_words += words.next_multiple_of(4);
            start
        });
        let halves = u64::from(capacity.histories) * 2;
        let bytes = halves.saturating_mul(half_words).saturating_mul(4);
        let usage = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::TRANSFER_SRC;
        let buffer = Buffer::device_local(gpu, "throng histories", bytes, usage)?;
        Ok(buffer.map(|buffer| Self {
            buffer,
            starts,
            half_words,
        }))
    }

    /// The device address of a section of a half of a history.
    pub(crate) fn address(&self, history: u32, half: u32, section: usize) -> vk::DeviceAddress {
        self.buffer.address + self.start(history, half, section) * 4
    }

    /// The first word of a section of a half of a history.
    pub(crate) fn start(&self, history: u32, half: u32, section: usize) -> u64 {
        let half = u64::from(history) * 2 + u64::from(half);
        half * self.half_words + self.starts[section]
    }
}
