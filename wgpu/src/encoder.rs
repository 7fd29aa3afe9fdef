//! The encoder: an ordered list of command buffers, of wgpu and of crowds.

use crate::check::scoped;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::order::{Draw, Reveal};
use core::mem;
use core::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// Records a submission: commands of wgpu, and draws of crowds between them.
///
/// It dereferences to a [`wgpu::CommandEncoder`], so use it as one. A draw of a crowd ends the
/// command buffer of what was recorded so far, because wgpu does not allow other commands in its
/// own command buffers. After that, a new one is open. So debug groups cannot be open across such
/// draws.
///
/// If it is dropped without [`Self::submit`], nothing is drawn.
///
/// # Order
/// Draws of a frame are submitted before the crowd's next frame is prepared, because that
/// overwrites what they read. [`Self::submit`] refuses later ones. Encoders with draws of the same
/// frame may be submitted in any order, from any thread, except that draws after a
/// [`Frame::reveal`](crate::Frame::reveal) are submitted after it. An encoder with a reveal is
/// submitted before the crowd's next frame begins.
///
/// ```no_run
/// use throng_wgpu::{Encoder, Error, Gpu, wgpu};
///
/// fn clear(gpu: &Gpu, target: &wgpu::Texture) -> Result<(), Error> {
///     let mut encoder = Encoder::new(gpu);
///     encoder.clear_texture(target, &wgpu::ImageSubresourceRange::default());
///     // Here, `Frame::draw` may draw crowds.
///     encoder.submit()?;
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Encoder {
    gpu: Gpu,
    done: Vec<wgpu::CommandBuffer>,
    draws: Vec<Draw>,
    /// Created when it is used: many encoders have draws of crowds alone.
    open: OnceLock<wgpu::CommandEncoder>,
}

impl Encoder {
    /// An empty encoder.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            gpu: gpu.clone(),
            done: Vec::new(),
            draws: Vec::new(),
            open: OnceLock::new(),
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
    /// and reveals of crowds are lost too. Nothing else is.
    ///
    /// # Errors
    /// - [`Error::Late`] if a crowd has prepared a later frame than that of its draws, or begun one
    ///   after that of a reveal. If another thread does that during this call, wgpu may report the
    ///   error itself, as for a destroyed buffer, whose label has the number of the frame.
    /// - [`Error::Unrevealed`] if draws come before the reveal of their frame.
    /// - [`Error::Rejected`], for an encoder with a reveal alone, if wgpu rejects the submission or
    ///   reports an error of a callback. Otherwise, wgpu reports these itself.
    ///
    /// Nothing is submitted then, and all commands are dropped.
    pub fn submit(mut self) -> Result<wgpu::SubmissionIndex> {
        for (number, draw) in self.draws.iter().enumerate() {
            draw.expect_in_time()?;
            draw.expect_revealed(self.draws.get(..number).unwrap_or_default())?;
        }
        let (commands, reveals) = self.finish();
        if reveals.is_empty() {
            return Ok(self.gpu.queue().submit(commands));
        }
        let device = self.gpu.device();
        let submitted = scoped(device, "the commands of an encoder", || {
            self.gpu.queue().submit(commands)
        })?;
        reveals.iter().for_each(|reveal| reveal.end_submission());
        Ok(submitted)
    }

    /// The command buffers, for engines that submit them with others.
    ///
    /// Until they have ended, or are dropped, they keep a frame of each of their crowds in flight.
    ///
    /// # Safety
    /// All of them are submitted to [`Gpu::queue`], in this order, in one call of
    /// [`wgpu::Queue::submit`]. Others may stand between them if they do not use the attachments of
    /// crowds. Or none is submitted. wgpu itself rejects a submission that comes after a crowd has
    /// prepared a later frame, as [`Self::submit`] does.
    ///
    /// If [`Frame::reveal`](crate::Frame::reveal) is among them, they are submitted before the next
    /// frame of its crowd begins, and before other draws that come after the reveal. If they are
    /// not, or if wgpu rejects them, [`Crowd::abandon_reveal`](crate::Crowd::abandon_reveal) is
    /// called instead.
    #[must_use]
    pub unsafe fn into_command_buffers(mut self) -> Vec<wgpu::CommandBuffer> {
        let (commands, reveals) = self.finish();
        reveals.iter().for_each(|reveal| reveal.end_submission());
        commands
    }

    /// Ends all command buffers. From now on, their frames are in flight.
    fn finish(&mut self) -> (Vec<wgpu::CommandBuffer>, Vec<Arc<Reveal>>) {
        self.close();
        let mut reveals = Vec::new();
        for draw in self.draws.drain(..) {
            draw.slot.begin();
            reveals.extend(draw.reveals);
        }
        reveals.iter().for_each(|reveal| reveal.begin_submission());
        (mem::take(&mut self.done), reveals)
    }

    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Ends what was recorded with wgpu's encoder.
    fn close(&mut self) {
        self.done
            .extend(self.open.take().map(wgpu::CommandEncoder::finish));
    }

    /// Appends a draw or a reveal of a crowd.
    pub(crate) fn draw(
        &mut self,
        draw: Draw,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
    ) {
        self.close();
        self.done.extend(commands);
        self.draws.push(draw);
    }
}

fn open(gpu: &Gpu) -> wgpu::CommandEncoder {
    let desc = wgpu::CommandEncoderDescriptor::default();
    gpu.device().create_command_encoder(&desc)
}

impl Deref for Encoder {
    type Target = wgpu::CommandEncoder;

    fn deref(&self) -> &wgpu::CommandEncoder {
        self.open.get_or_init(|| open(&self.gpu))
    }
}

impl DerefMut for Encoder {
    fn deref_mut(&mut self) -> &mut wgpu::CommandEncoder {
        self.open.get_or_init(|| open(&self.gpu));
        match self.open.get_mut() {
            Some(open) => open,
            None => unreachable!("it was opened above"),
        }
    }
}
