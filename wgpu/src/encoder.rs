//! The encoder: an ordered list of command buffers, of wgpu and of crowds.

use crate::gpu::Gpu;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};

/// Records a submission: commands of wgpu, and draws of crowds between them.
///
/// It dereferences to a [`wgpu::CommandEncoder`], so use it as one. A draw of a crowd ends the
/// command buffer of what was recorded so far, because wgpu does not allow other commands in its
/// own command buffers. After that, a new one is open. So debug groups cannot be open across such
/// draws.
///
/// If it is dropped without [`Self::submit`], nothing is drawn.
///
/// ```no_run
/// use throng_wgpu::{Encoder, Gpu};
///
/// fn clear(gpu: &Gpu, target: &wgpu::Texture) {
///     let mut encoder = Encoder::new(gpu);
///     encoder.clear_texture(target, &wgpu::ImageSubresourceRange::default());
///     // Here, `Frame::draw` may draw crowds.
///     encoder.submit();
/// }
/// ```
#[derive(Debug)]
pub struct Encoder {
    gpu: Gpu,
    done: Vec<wgpu::CommandBuffer>,
    open: wgpu::CommandEncoder,
    /// True if `open` may have commands, or callbacks for its submission.
    used: AtomicBool,
}

impl Encoder {
    /// An empty encoder.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            gpu: gpu.clone(),
            done: Vec::new(),
            open: open(gpu),
            used: AtomicBool::new(false),
        }
    }

    /// Appends a command buffer of wgpu that was recorded elsewhere.
    pub fn append(&mut self, commands: wgpu::CommandBuffer) {
        self.close();
        self.done.push(commands);
    }

    /// Submits everything, in the order in which it was recorded.
    ///
    /// If wgpu rejects the submission, because of an error in the program's own commands, the draws
    /// of crowds are lost too. Nothing else is.
    pub fn submit(mut self) -> wgpu::SubmissionIndex {
        self.close();
        self.gpu.queue().submit(mem::take(&mut self.done))
    }

    /// The command buffers, for engines that submit them with others.
    ///
    /// # Safety
    /// All of them are submitted to [`Gpu::queue`], in this order, in one call of
    /// [`wgpu::Queue::submit`]. Others may stand between them if they do not use the attachments of
    /// crowds. Or none is submitted.
    #[must_use]
    pub unsafe fn into_command_buffers(mut self) -> Vec<wgpu::CommandBuffer> {
        self.close();
        mem::take(&mut self.done)
    }

    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Ends what was recorded with wgpu's encoder.
    fn close(&mut self) {
        if mem::take(self.used.get_mut()) {
            let full = mem::replace(&mut self.open, open(&self.gpu));
            self.done.push(full.finish());
        }
    }

    /// Appends the commands of a crowd.
    pub(crate) fn extend(&mut self, commands: impl IntoIterator<Item = wgpu::CommandBuffer>) {
        self.close();
        self.done.extend(commands);
    }
}

fn open(gpu: &Gpu) -> wgpu::CommandEncoder {
    let desc = wgpu::CommandEncoderDescriptor::default();
    gpu.device().create_command_encoder(&desc)
}

impl Deref for Encoder {
    type Target = wgpu::CommandEncoder;

    fn deref(&self) -> &wgpu::CommandEncoder {
        self.used.store(true, Ordering::Relaxed);
        &self.open
    }
}

impl DerefMut for Encoder {
    fn deref_mut(&mut self) -> &mut wgpu::CommandEncoder {
        *self.used.get_mut() = true;
        &mut self.open
    }
}
