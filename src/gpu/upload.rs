//! The staging buffer for bytes that are copied into device-local memory.

use super::memory::color_range;
use super::ring::host_types;
use super::{Buffer, BufferDesc, Destroy, Device, Gpu, MemoryAllocator, destroy_fields};
use crate::error::Result;
use crate::mesh::ImageLevel;
use ash::vk;
use gpu_allocator::MemoryLocation;

/// Bytes of one chunk of the staging buffer. Larger requests get a chunk of their own size.
const CHUNK_BYTES: u64 = 1 << 20;
/// Alignment of copies. Copies into images need multiples of the texel size, and 16 suits every
/// device.
const ALIGNMENT: u64 = 16;

#[derive(Debug)]
struct Chunk {
    buffer: Buffer,
    used: u64,
}

destroy_fields!(Chunk, Gpu<'a>: buffer);

#[derive(Debug)]
struct BufferCopy {
    from: vk::Buffer,
    to: vk::Buffer,
    region: vk::BufferCopy,
}

#[derive(Debug)]
struct ImageCopy {
    from: vk::Buffer,
    to: vk::Image,
    regions: Vec<vk::BufferImageCopy>,
}

/// Pending copies to device-local memory.
///
/// Bytes are staged at once, copied by the commands that [`Self::record`] records, and freed when
/// these have run.
#[derive(Debug, Default)]
pub struct Upload {
    chunks: Vec<Chunk>,
    buffers: Vec<BufferCopy>,
    images: Vec<ImageCopy>,
    bytes: u64,
    /// The number of copies that are recorded, into buffers and into images.
    recorded: (usize, usize),
    /// The device of the chunks. `None` while there is none.
    device: Option<vk::Device>,
}

/// Copies into buffers, copies into images, bytes.
type Mark = (usize, usize, u64);

impl Upload {
    /// The number of bytes that are still to be copied.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Checks that what was staged so far belongs to `device`.
    pub(crate) fn expect_of(&self, device: &Device) -> Result<()> {
        self.device
            .map_or(Ok(()), |made_with| device.expect_same("Upload", made_with))
    }

    /// The present amount of staged data, for [`Self::rewind`].
    pub(crate) fn mark(&self) -> Mark {
        (self.buffers.len(), self.images.len(), self.bytes)
    }

    /// Drops what was staged since `mark`. Its memory stays allocated.
    pub(crate) fn rewind(&mut self, (buffers, images, bytes): Mark) {
        self.buffers.truncate(buffers);
        self.images.truncate(images);
        self.bytes = bytes;
    }

    /// Marks everything as not recorded, because the recorded commands will never run.
    pub(crate) fn unrecord(&mut self) {
        self.recorded = (0, 0);
        self.bytes = self.chunks.iter().map(|chunk| chunk.used).sum();
    }

    /// Stages `bytes` for the start of `to`.
    pub(crate) fn buffer(&mut self, gpu: Gpu<'_>, to: &Buffer, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (from, src_offset) = self.stage(gpu, bytes)?;
        let region = vk::BufferCopy {
            src_offset,
            dst_offset: 0,
            size: bytes.len() as u64,
        };
        self.buffers.push(BufferCopy {
            from,
            to: to.handle,
            region,
        });
        Ok(())
    }

    /// Stages mip levels, from the finest. Their bytes follow each other in `bytes`.
    pub(crate) fn image<'a>(
        &mut self,
        gpu: Gpu<'_>,
        to: vk::Image,
        bytes: &[u8],
        levels: impl Iterator<Item = ImageLevel<'a>>,
    ) -> Result<()> {
        let (from, mut at) = self.stage(gpu, bytes)?;
        let regions = levels.enumerate().map(|(index, level)| {
            let start = at;
            at += level.bytes.len() as u64;
            vk::BufferImageCopy::default()
                .buffer_offset(start)
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    mip_level: index as u32,
                    base_array_layer: 0,
                    layer_count: 1,
                })
                .image_extent(vk::Extent3D {
                    width: level.width,
                    height: level.height,
                    depth: 1,
                })
        });
        self.images.push(ImageCopy {
            from,
            to,
            regions: regions.collect(),
        });
        Ok(())
    }

    fn stage(&mut self, gpu: Gpu<'_>, bytes: &[u8]) -> Result<(vk::Buffer, u64)> {
        let need = bytes.len() as u64;
        let fits = |chunk: &Chunk| chunk.used + need <= chunk.buffer.bytes;
        if !self.chunks.last().is_some_and(fits) {
            let desc = BufferDesc {
                name: "throng staging",
                bytes: need.max(CHUNK_BYTES),
                usage: vk::BufferUsageFlags::TRANSFER_SRC,
                location: MemoryLocation::CpuToGpu,
                types: host_types(gpu.device),
            };
            let buffer = Buffer::new(gpu, &desc)?.keep();
            self.chunks.push(Chunk { buffer, used: 0 });
            self.device = Some(gpu.device.raw.handle());
        }
        let last = self.chunks.len() - 1;
        let chunk = &mut self.chunks[last];
        let mapped = chunk.buffer.mapped()?;
        let at = chunk.used;
        // SAFETY: `fits` or the new chunk's size keeps the range inside the mapped buffer. The
        // range comes after all that were used, so no recorded command reads it.
        unsafe {
            core::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                mapped.as_ptr().add(at as usize),
                bytes.len(),
            )
        };
        chunk.used = (at + need).next_multiple_of(ALIGNMENT);
        self.bytes += need;
        Ok((chunk.buffer.handle, at))
    }

    /// Records the copies, and barriers that make them visible to all later commands.
    ///
    /// Images are in the layout `SHADER_READ_ONLY_OPTIMAL` afterwards. Shaders of every stage may
    /// read the buffers and images, and index fetch the buffers, without further barriers.
    ///
    /// Afterwards nothing is pending. The chunks stay allocated until [`Self::free`].
    ///
    /// # Safety
    /// - `device` is the one that it was filled with, and `cmd` is one of its command buffers.
    /// - `cmd` is recording, outside a render pass, and will be submitted before any use of what is
    ///   filled.
    /// - The targets are alive and have not been used yet.
    pub unsafe fn record(&mut self, device: &Device, cmd: vk::CommandBuffer) {
        let raw = &device.raw;
        for copy in self.buffers.iter().skip(self.recorded.0) {
            // SAFETY: the bytes were staged into buffers of those sizes; the targets are alive and
            // unused, by this function's contract.
            unsafe { raw.cmd_copy_buffer(cmd, copy.from, copy.to, &[copy.region]) };
        }
        use vk::{AccessFlags as Access, ImageLayout as Layout, PipelineStageFlags as Stage};
        let new = (Stage::TOP_OF_PIPE, Access::empty(), Layout::UNDEFINED);
        let transfer = (Stage::TRANSFER, Access::TRANSFER_WRITE);
        let filled = (transfer.0, transfer.1, Layout::TRANSFER_DST_OPTIMAL);
        // Shaders of every stage, also of stages that exist only with extensions.
        let read = (
            Stage::ALL_COMMANDS,
            Access::SHADER_READ,
            Layout::SHADER_READ_ONLY_OPTIMAL,
        );
        for copy in self.images.iter().skip(self.recorded.1) {
            // SAFETY: the targets are alive and unused, by this function's contract, so the content
            // of the new image may be discarded.
            unsafe {
                transition(raw, cmd, copy.to, [new, filled]);
                raw.cmd_copy_buffer_to_image(cmd, copy.from, copy.to, filled.2, &copy.regions);
                transition(raw, cmd, copy.to, [filled, read]);
            }
        }
        let readers = (Stage::ALL_COMMANDS, Access::MEMORY_READ);
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract.
        unsafe { device.barrier(cmd, transfer, readers) };
        self.recorded = (self.buffers.len(), self.images.len());
        self.bytes = 0;
    }

    /// Frees the staging memory. What was not recorded is dropped.
    ///
    /// # Safety
    /// The recorded commands have run, or will never run; `device` and `allocator` are those that
    /// it was filled with.
    pub unsafe fn free(&mut self, device: &Device, allocator: &mut dyn MemoryAllocator) {
        // SAFETY: the recorded commands do not read the chunks any more, and device and allocator
        // are theirs, by this function's contract.
        unsafe { Gpu::destroy(self, device, allocator) };
    }
}

impl Destroy for Upload {
    type With<'a> = Gpu<'a>;

    unsafe fn destroy(&mut self, gpu: Gpu<'_>) {
        // SAFETY: this function has the same contract.
        unsafe { self.chunks.destroy(gpu) };
        *self = Self::default();
    }
}

/// Records a layout transition of an image, between these stages, accesses and layouts.
///
/// # Safety
/// As [`Upload::record`].
unsafe fn transition(
    raw: &ash::Device,
    cmd: vk::CommandBuffer,
    image: vk::Image,
    [from, to]: [(vk::PipelineStageFlags, vk::AccessFlags, vk::ImageLayout); 2],
) {
    let barriers = [vk::ImageMemoryBarrier::default()
        .image(image)
        .old_layout(from.2)
        .new_layout(to.2)
        .src_access_mask(from.1)
        .dst_access_mask(to.1)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .subresource_range(color_range())];
    let flags = vk::DependencyFlags::empty();
    // SAFETY: `cmd` is recording outside a render pass, by this function's contract.
    unsafe { raw.cmd_pipeline_barrier(cmd, from.0, to.0, flags, &[], &[], &barriers) };
}
