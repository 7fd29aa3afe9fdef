//! A crowd's palettes, and the operations that are timed on them.

use crate::Outcome;
use crate::poser::Poser;
use std::hint::black_box;
use std::ptr::NonNull;
use throng::ash::vk;
use throng::character::Character;
use throng::gpu::{
    Device, MemoryAllocator, MemoryBlock, MemoryRequest, PaletteRing, PaletteRingDesc,
};
use throng::gpu_allocator::MemoryLocation;
use throng::palette::{Mat3x4, WriteOnly};
use throng_standalone::{Buffer, Context};

/// The only frame index in use. Nothing is in flight when the CPU writes.
const FRAME_INDEX: u32 = 0;

/// The operation that is timed, for one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Converts poses to palettes in ordinary memory.
    Evaluate,
    /// Converts poses to palettes directly in the mapped ring.
    EvaluateIntoRing,
    /// Writes finished palettes to the ring, with one [`PaletteRing::writer`] per instance.
    WriteEach,
    /// Writes finished palettes to the ring with a single [`PaletteRing::writer`].
    Write,
    /// Copies finished palettes to the ring with a single `memcpy`.
    Memcpy,
    /// Copies finished palettes to the ring with one `memcpy` per instance.
    MemcpyEach,
    /// Runs a staged ring's [`PaletteRing::record_upload`], submitted and waited for.
    StagingCopy,
    /// Runs the driver's `vkCmdCopyBuffer` for as many bytes to the same buffer.
    ///
    /// It is submitted and waited for.
    DriverCopy,
}

impl Figure {
    pub(crate) const ALL: [Self; 8] = [
        Self::Evaluate,
        Self::EvaluateIntoRing,
        Self::WriteEach,
        Self::Write,
        Self::Memcpy,
        Self::MemcpyEach,
        Self::StagingCopy,
        Self::DriverCopy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Evaluate => "evaluate",
            Self::EvaluateIntoRing => "evaluate into ring",
            Self::WriteEach => "write each",
            Self::Write => "write",
            Self::Memcpy => "memcpy",
            Self::MemcpyEach => "memcpy each",
            Self::StagingCopy => "staging copy",
            Self::DriverCopy => "driver copy",
        }
    }
}

/// A crowd, and all destinations of its palettes.
pub(crate) struct Load<'a> {
    pub(crate) character: &'a Character,
    pub(crate) instances: usize,
    poser: Poser,
    finished: Vec<Mat3x4>,
    ring: PaletteRing,
    /// The mapped memory of `ring`.
    mapped: NonNull<Mat3x4>,
    staged: PaletteRing,
    /// In host memory on every device, like the staged ring's buffer.
    host: Buffer,
}

impl<'a> Load<'a> {
    pub(crate) fn new(
        context: &mut Context,
        device: &Device,
        character: &'a Character,
        instances: usize,
    ) -> Outcome<Self> {
        let entries = instances * character.palette().len();
        let host = Buffer::new(
            context,
            "palettes (driver's copy)",
            size_of::<Mat3x4>() as u64 * entries as u64,
            vk::BufferUsageFlags::TRANSFER_SRC,
            MemoryLocation::GpuToCpu,
        )?;
        let mut allocator = context.allocator();
        let mut allocator = Watched {
            inner: &mut allocator,
            mapped: None,
        };
        let mut ring = |staged| {
            let desc = PaletteRingDesc {
                frames_in_flight: 1,
                entries: entries as u32,
                staged,
                ..PaletteRingDesc::default()
            };
            PaletteRing::new(device, &mut allocator, &desc)
        };
        let staged = ring(true)?;
        let ring = ring(false)?;
        let mapped = allocator.mapped.ok_or("the ring is not mapped")?;
        let mut load = Self {
            character,
            instances,
            poser: Poser::new(),
            finished: vec![Mat3x4::IDENTITY; entries],
            ring,
            mapped: mapped.cast(),
            staged,
            host,
        };
        load.fill(context)?;
        Ok(load)
    }

    /// Touches every page, and fills the sources of the copies with palettes.
    fn fill(&mut self, context: &mut Context) -> Outcome {
        self.evaluate()?;
        // SAFETY: nothing has been submitted yet.
        let mut to = unsafe {
            self.staged
                .writer(FRAME_INDEX, 0, self.finished.len() as u32)?
        };
        to.copy_from(&self.finished)?;
        self.host.write(0, bytemuck::cast_slice(&self.finished))?;
        context.wait_idle()?;
        Ok(())
    }

    pub(crate) fn destroy(mut self, context: &mut Context, device: &Device) {
        let allocator = &mut context.allocator();
        // SAFETY: all submitted work was waited for.
        unsafe {
            self.ring.destroy(device, allocator);
            self.staged.destroy(device, allocator);
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(self.finished.as_slice()) as u64
    }

    /// Returns true if the mapped ring is in host memory, because no better memory exists.
    pub(crate) fn is_staged(&self) -> bool {
        self.ring.is_staged()
    }

    /// Runs one frame of `figure`.
    pub(crate) fn run(
        &mut self,
        context: &mut Context,
        device: &Device,
        figure: Figure,
    ) -> Outcome {
        match figure {
            Figure::Evaluate => self.evaluate(),
            Figure::EvaluateIntoRing => self.evaluate_into_ring(),
            Figure::WriteEach => self.write_each(),
            Figure::Write => self.write(),
            Figure::Memcpy => self.memcpy(self.finished.len()),
            Figure::MemcpyEach => self.memcpy(self.character.palette().len()),
            Figure::StagingCopy => self.staging_copy(context, device),
            Figure::DriverCopy => self.driver_copy(context),
        }
    }

    fn evaluate(&mut self) -> Outcome {
        let entries = self.character.palette().len();
        let parts = self.finished.chunks_exact_mut(entries).enumerate();
        for (instance, part) in parts {
            let clip = Some((0, time_s(instance)));
            self.poser
                .palette(self.character, clip, WriteOnly::from(part))?;
        }
        black_box(&mut self.finished);
        Ok(())
    }

    fn evaluate_into_ring(&mut self) -> Outcome {
        let entries = self.character.palette().len() as u32;
        for instance in 0..self.instances {
            let first = instance as u32 * entries;
            // SAFETY: no work was submitted with this ring.
            let part = unsafe { self.ring.writer(FRAME_INDEX, first, entries) }?;
            let clip = Some((0, time_s(instance)));
            self.poser.palette(self.character, clip, part)?;
        }
        Ok(())
    }

    fn write_each(&mut self) -> Outcome {
        let entries = self.character.palette().len();
        let parts = black_box(&self.finished).chunks_exact(entries).enumerate();
        for (instance, part) in parts {
            let first = (instance * entries) as u32;
            // SAFETY: no work was submitted with this ring.
            let mut to = unsafe { self.ring.writer(FRAME_INDEX, first, entries as u32)? };
            to.copy_from(part)?;
        }
        Ok(())
    }

    fn write(&mut self) -> Outcome {
        // SAFETY: no work was submitted with this ring.
        let mut to = unsafe {
            self.ring
                .writer(FRAME_INDEX, 0, self.finished.len() as u32)?
        };
        Ok(to.copy_from(black_box(&self.finished))?)
    }

    /// Copies in parts of `entries`.
    fn memcpy(&mut self, entries: usize) -> Outcome {
        let parts = black_box(&self.finished).chunks_exact(entries).enumerate();
        for (number, part) in parts {
            // SAFETY: the ring's only frame index starts there and holds as many entries, and
            // the GPU is idle.
            unsafe {
                let to = self.mapped.add(number * entries).as_ptr();
                std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
            }
        }
        Ok(())
    }

    fn staging_copy(&mut self, context: &mut Context, device: &Device) -> Outcome {
        let (ring, entries) = (&self.staged, self.finished.len() as u32);
        // SAFETY: the command buffer is recording, and the range was written before.
        let recorded = context.submit_and_wait(|_, cmd| unsafe {
            ring.record_upload(device, cmd, FRAME_INDEX, entries)
        })?;
        if recorded {
            Ok(())
        } else {
            Err("the staged ring recorded no copy".into())
        }
    }

    fn driver_copy(&mut self, context: &mut Context) -> Outcome {
        let (from, to) = (self.host.handle(), self.staged.buffer());
        let region = vk::BufferCopy::default().size(self.bytes());
        // SAFETY: the command buffer is recording, and both buffers hold as many bytes.
        context.submit_and_wait(|device, cmd| unsafe {
            device.cmd_copy_buffer(cmd, from, to, &[region]);
        })?;
        Ok(())
    }
}

/// An allocator that notes the mapped memory of its last block.
struct Watched<'a> {
    inner: &'a mut dyn MemoryAllocator,
    mapped: Option<NonNull<u8>>,
}

// SAFETY: everything is the inner allocator's.
unsafe impl MemoryAllocator for Watched<'_> {
    fn device(&self) -> vk::Device {
        self.inner.device()
    }

    fn allocate(
        &mut self,
        request: &MemoryRequest<'_>,
    ) -> Result<MemoryBlock, Box<dyn std::error::Error + Send + Sync>> {
        let block = self.inner.allocate(request)?;
        self.mapped = block.mapped.or(self.mapped);
        Ok(block)
    }

    unsafe fn free(
        &mut self,
        block: MemoryBlock,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        // SAFETY: this function has the same contract.
        unsafe { self.inner.free(block) }
    }
}

/// The time of each instance in the clip, which lasts one second.
///
/// The times are spread evenly, with neighbouring instances far apart.
fn time_s(instance: usize) -> f64 {
    (instance as f64 * 0.618_033_988_749_895).fract()
}
