//! One frame of a crowd: begin, prepare, draw.

use crate::attachments::Attachments;
use crate::bind_group::{BindGroup, Groups};
use crate::check::{scoped, with_own};
use crate::depth::{Depth, Readable, readable};
use crate::encoder::Encoder;
use crate::error::{Error, Result};
use crate::flight::{Begun, Commands, InFlight, Remains, SlotUse};
use crate::gpu::Gpu;
use crate::order::{Draw, FrameToken, Order, Reveal, Submission};
use crate::rendering::{self, Pass};
use crate::sampled::Sampled;
use crate::shading::Shading;
use std::sync::Arc;
use throng::ash::vk;
use throng::{PassId, View, ViewId, Views};
use wgpu::hal::vulkan::Api as Vulkan;

/// A frame of a crowd, from [`Crowd::begin_frame`](crate::Crowd::begin_frame) on.
///
/// It has methods of a [`throng::Frame`] under the same names, and dereferences to a
/// [`throng::Crowd`], to read. Dropping it before [`Self::prepare`] skips it.
///
/// # Order
/// [`Self::prepare`] submits the frame's uploads and poses to the queue at once, as
/// [`wgpu::Queue::write_buffer`] does at the next submission. [`Self::draw`] only records. So an
/// [`Encoder`] that is dropped, or rejected by wgpu, loses draws and nothing else, and the draws of
/// several crowds can be mixed in one encoder. Draws are submitted before the next frame is
/// prepared. [`Self::reveal`] only records, too, and is submitted before the next frame begins.
#[derive(Debug)]
pub struct Frame<'a> {
    pub(crate) inner: throng::Frame<'a>,
    pub(crate) gpu: &'a Gpu,
    pub(crate) passes: &'a [Pass],
    pub(crate) shadow: Option<&'a Sampled>,
    pub(crate) environment: Option<&'a Sampled>,
    pub(crate) open: &'a mut Open,
    pub(crate) remains: &'a Arc<Remains>,
    pub(crate) order: &'a mut Order,
    /// True if the game may have changed since the frame was prepared.
    pub(crate) is_resumed: bool,
}

/// The state of the frame begun last, which the crowd keeps so that it can be resumed.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) begun: Begun,
    /// The prepared views, each with its viewport.
    pub(crate) viewports: Vec<(ViewId, vk::Rect2D)>,
}

impl Frame<'_> {
    /// Animates the crowd, and submits the frame's uploads and compute work.
    ///
    /// Make views with [`view`](crate::view), because the clip space of wgpu points up. The result
    /// has their ids, in the order of `views`.
    ///
    /// From now on, draws of earlier frames are refused ([`Error::Late`]).
    ///
    /// # What is submitted
    /// One command buffer: uploads of changed records and new characters, the stages that run on
    /// the GPU ([`throng::CrowdDesc::stages`]), and copies for motion vectors. Draws are not in it.
    ///
    /// It waits for nothing, neither for the frame before nor for the GPU. On the GPU, it runs
    /// after everything that was submitted before. wgpu orders submissions with semaphores, so a
    /// driver that waits for a semaphore in `vkQueueSubmit` waits here for the frame before, as it
    /// does in every submission of wgpu. Lavapipe does. SwiftShader, which submits in the
    /// background, does not. [`throng::Stats::prepare_ms`] is the time of the recording alone,
    /// without the submission.
    ///
    /// # Callbacks
    /// wgpu calls callbacks of the program that are due before this submits, as
    /// [`wgpu::Queue::submit`] does afterwards. Errors in those that become due meanwhile are
    /// logged, because they cannot reach the device's handler.
    ///
    /// # Errors
    /// - As [`throng::Frame::record_prepare`].
    /// - [`Error::DeviceLost`] and [`Error::Rejected`] if wgpu cannot record or submit. The frame
    ///   is then lost, and the next one uploads its changes.
    pub fn prepare(&mut self, views: &[View]) -> Result<Views> {
        self.prepare_behind(views, &[])
    }

    /// As [`Self::prepare`], but instances that depth hides are neither posed nor drawn: see
    /// [`throng::Frame::record_prepare_behind`].
    ///
    /// Submit the passes that draw the depth before this. The textures need no barriers.
    ///
    /// # Errors
    /// As [`Self::prepare`] and [`throng::Frame::record_prepare_behind`], and:
    ///
    /// - [`Error::Format`] for a texture without depth, and [`Error::Attachment`] for one that is
    ///   not 2D, has several mip levels, lacks the layer, or the usage `TEXTURE_BINDING`.
    /// - [`Error::OtherDevice`] and [`Error::Destroyed`] for a texture of another device, or a
    ///   destroyed one.
    pub fn prepare_behind(&mut self, views: &[View], depths: &[Depth<'_>]) -> Result<Views> {
        let token = FrameToken::new(self.gpu, self.open.begun.number)?;
        self.gpu.poll(wgpu::PollType::Poll)?;
        let index = self.open.begun.index;
        let Readable {
            views: kept,
            depths,
            before,
        } = readable(self.gpu, depths, None)?;
        let (prepared, commands) = self.record_prepare(views, &depths, kept)?;
        self.order.submission = Submission::Lost;
        let commands = commands?;
        self.order.end_current(self.open.begun.number);
        self.order.submission = Submission::Unknown(index);
        let submitted = scoped(self.gpu.device(), "the commands of a frame", || {
            self.gpu
                .queue()
                .submit(before.into_iter().chain([commands]));
        });
        if let Err(error) = submitted {
            // wgpu also reports errors here of callbacks that it called after it had submitted.
            let commands = (index, Commands::Prepare);
            if !self.remains.were_executed(self.gpu, commands)? {
                self.order.submission = Submission::Lost;
                return Err(error);
            }
            log::error!("in a callback of the program, while a frame was submitted: {error}");
        }
        self.order.submission = Submission::Done;
        self.order.current = Some((index, token));
        let ids = prepared.iter().copied();
        self.open.viewports = ids.zip(views.iter().map(|view| view.viewport)).collect();
        Ok(prepared)
    }

    /// Records the frame. From then on, its changes count as uploaded, even if there is an error
    /// instead of the commands.
    fn record_prepare(
        &mut self,
        views: &[View],
        depths: &[throng::Depth],
        kept: Vec<wgpu::TextureView>,
    ) -> Result<(Views, Result<wgpu::CommandBuffer>)> {
        let (inner, device) = (&mut self.inner, self.gpu.device());
        let (remains, begun) = (self.remains, &self.open.begun);
        let mut prepared = Err(Error::DeviceLost);
        let commands = scoped(device, "the commands of a frame", || {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("throng prepare"),
            });
            // SAFETY: the encoder is not used otherwise while it is recorded, and not ended.
            prepared = unsafe {
                encoder.as_hal_mut::<Vulkan, _, _>(|hal| {
                    let cmd = hal.ok_or(Error::DeviceLost)?.raw_handle();
                    // SAFETY: `cmd` is recording outside of rendering, for the queue of all frames.
                    // All earlier work of the frame index has ended. `prepare` submits it before
                    // everything that is recorded later, after it has ended the time for draws of
                    // earlier frames, or says in `order` that it never will be. The depth pictures
                    // are those of `kept`, which the frame keeps. wgpu makes them readable in a
                    // command buffer of the same submission, and waits for that before it changes
                    // them.
                    let prepared = inner.record_prepare_behind(cmd, views, depths)?;
                    let commands = (begun.index, Commands::Prepare);
                    Ok((prepared, remains.record_executed(cmd, commands)))
                })
            };
            let slot = SlotUse::new(&begun.slot);
            slot.begin();
            InFlight::new(self.gpu, slot, remains, (kept, Vec::new())).until_done(&encoder);
            encoder.finish()
        });
        let (prepared, executed) = prepared?;
        Ok((prepared, executed.and(commands)))
    }

    /// Shows the instances that [late](throng::View::late) views held back, except those that
    /// depth hides. See [`throng::Frame::record_reveal`].
    ///
    /// Draw the walls and the late views into `encoder` before this, and
    /// [`late()`](ViewId::late) of these views afterwards, into the same depth. The textures need
    /// no barriers.
    ///
    /// ```no_run
    /// use throng_wgpu::throng::{PassId, View};
    /// use throng_wgpu::{Crowd, Depth, Encoder, Error, wgpu};
    ///
    /// /// `first` clears depth, and `then` loads it.
    /// fn frame(
    ///     crowd: &mut Crowd,
    ///     camera: View,
    ///     (pass, depth): (PassId, &wgpu::Texture),
    ///     [first, then]: [&wgpu::RenderPassDescriptor<'_>; 2],
    ///     time_s: f64,
    /// ) -> Result<(), Error> {
    ///     let mut encoder = Encoder::new(&crowd.gpu().clone());
    ///     let camera = View { late: true, ..camera }; // of Capacity::late_views
    ///     crowd.update(time_s)?;
    ///     let mut frame = crowd.begin_frame(time_s)?;
    ///     let views = frame.prepare(&[camera])?;
    ///     frame.draw(&mut encoder, views[0], pass, first)?; // and walls
    ///     frame.reveal(&mut encoder, &[Depth::new(depth)])?;
    ///     frame.draw(&mut encoder, views[0].late(), pass, then)?;
    ///     encoder.submit()?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// If the encoder is not submitted, everybody whom the frame held back is missing in it, as its
    /// draws are, and histories stay as the frame before left them.
    ///
    /// # Errors
    /// - [`Error::NotPrepared`] before [`Self::prepare`], or if that failed.
    /// - [`Error::OtherEncoder`] if the encoder is of another [`Gpu`].
    /// - Those about textures of [`Self::prepare_behind`].
    /// - As [`throng::Frame::record_reveal`], and [`throng::Error::Argument`] if this was called
    ///   before in the frame, or if the frame was
    ///   [resumed](crate::Crowd::resume_frame).
    /// - [`Error::DeviceLost`] and [`Error::Rejected`] if wgpu cannot record. The reveal is then
    ///   lost, and so are draws after it ([`Error::Unrevealed`]).
    pub fn reveal(&mut self, encoder: &mut Encoder, depths: &[Depth<'_>]) -> Result<()> {
        let token = self.expect_prepared(encoder)?;
        let fault = |why| {
            let why = throng::error::ArgumentFault::Invalid(why);
            Err(throng::Error::Argument { what: "frame", why }.into())
        };
        if self.order.reveal.is_some() {
            return fault("was already revealed");
        }
        if self.is_resumed {
            return fault("was resumed, which is for draws alone");
        }
        let Readable {
            views: kept,
            depths,
            before,
        } = readable(self.gpu, depths, Some(&token))?;
        let slot = SlotUse::new(&self.open.begun.slot);
        let commands = self.record_reveal(&depths, kept, &slot)?;
        let reveal = Reveal::new(self.open.begun.number, self.open.begun.index);
        self.order.reveal = Some(Arc::clone(&reveal));
        let draw = Draw {
            token,
            slot,
            after: None,
            reveals: Some(reveal),
        };
        encoder.draw(draw, before.into_iter().chain([commands?]));
        Ok(())
    }

    /// Records the reveal. From then on, the frame counts as revealed, even if there is an error
    /// instead of the commands.
    fn record_reveal(
        &mut self,
        depths: &[throng::Depth],
        kept: Vec<wgpu::TextureView>,
        slot: &Arc<SlotUse>,
    ) -> Result<Result<wgpu::CommandBuffer>> {
        let (inner, device) = (&mut self.inner, self.gpu.device());
        let (remains, index) = (self.remains, self.open.begun.index);
        let mut revealed = Err(Error::DeviceLost);
        let commands = scoped(device, "the reveal of a frame", || {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("throng reveal"),
            });
            // SAFETY: the encoder is not used otherwise while it is recorded, and not ended.
            revealed = unsafe {
                encoder.as_hal_mut::<Vulkan, _, _>(|hal| {
                    let cmd = hal.ok_or(Error::DeviceLost)?.raw_handle();
                    // SAFETY: `cmd` is recording outside of rendering, for the queue of all frames.
                    // The frame is prepared, and that was submitted. `Encoder` submits this before
                    // draws that use the result, or refuses them, and before the next frame, which
                    // otherwise abandons it. The depth pictures are those of `kept`, which the
                    // frame keeps. wgpu makes them readable in a command buffer of the same
                    // submission, and waits for that before it changes them.
                    inner.record_reveal(cmd, depths)?;
                    Ok(remains.record_executed(cmd, (index, Commands::Reveal)))
                })
            };
            let kept = (kept, Vec::new());
            InFlight::new(self.gpu, Arc::clone(slot), remains, kept).until_done(&encoder);
            encoder.finish()
        });
        let executed = revealed?;
        Ok(executed.and(commands))
    }

    /// The token of the frame, if it is prepared, for commands in an encoder.
    fn expect_prepared(&self, encoder: &Encoder) -> Result<Arc<FrameToken>> {
        let current = self.order.current.as_ref();
        let current = current.filter(|_| !self.open.viewports.is_empty());
        let (_, token) = current.ok_or(Error::NotPrepared)?;
        if !encoder.gpu().is(self.gpu) {
            return Err(Error::OtherEncoder);
        }
        Ok(Arc::clone(token))
    }

    /// Records a render pass in which the crowd is drawn as `view` sees it.
    ///
    /// `desc` is that of [`wgpu::CommandEncoder::begin_render_pass`], with the same meaning: what
    /// is loaded, cleared, resolved, stored and discarded. wgpu itself does all of that, in passes
    /// of its own before and after the draw. So textures need no barriers, before or after.
    ///
    /// # Errors
    /// - [`Error::NotPrepared`] before [`Self::prepare`], or if that failed.
    /// - [`Error::OtherEncoder`] if the encoder is of another [`Gpu`].
    /// - [`throng::Error::NotFound`] if the pass does not exist, and [`throng::Error::Argument`] if
    ///   the view is of another frame, or the pass needs a shadow or environment map and there is
    ///   none.
    /// - [`Error::Attachment`] for a depth attachment without `depth_ops`, slices of 3D textures,
    ///   or a map that is an attachment and sampled at the same time.
    /// - [`Error::OtherDevice`] if a texture is of another device. One of another
    ///   [`wgpu::Instance`] also reports an error to its own device, which panics by default; the
    ///   panic is caught here.
    /// - [`Error::Destroyed`] if an attachment or a map was destroyed.
    /// - [`Error::Rejected`] for everything that wgpu rejects: formats or samples that are not
    ///   those of the pass, attachments of different sizes, a view whose viewport is larger.
    /// - [`Error::DeviceLost`].
    ///
    /// Nothing is recorded then.
    pub fn draw(
        &self,
        encoder: &mut Encoder,
        view: ViewId,
        pass: PassId,
        desc: &wgpu::RenderPassDescriptor<'_>,
    ) -> Result<()> {
        self.draw_with(encoder, view, pass, desc, &[])
    }

    /// As [`Self::draw`], with the bind groups of a pass that has a
    /// [`MaterialDesc`](crate::MaterialDesc).
    ///
    /// They are groups 1, 2 and so on, each with its dynamic offsets, as those of
    /// [`wgpu::RenderPass::set_bind_group`]. Their resources need no barriers: writes of wgpu
    /// before this in the encoder, or with [`wgpu::Queue::write_buffer`], are seen.
    ///
    /// # Errors
    /// As [`Self::draw`], and:
    /// - [`Error::BindGroups`] if they are not as many as the layouts of the pass.
    /// - [`Error::Destroyed`] if a resource of a group was destroyed.
    /// - [`Error::Rejected`] if a group does not fit its layout, for dynamic offsets that are out
    ///   of bounds, a resource that is an attachment of the same draw, and so on.
    pub fn draw_with(
        &self,
        encoder: &mut Encoder,
        view: ViewId,
        pass: PassId,
        desc: &wgpu::RenderPassDescriptor<'_>,
        groups: &[(&BindGroup, &[wgpu::DynamicOffset])],
    ) -> Result<()> {
        let token = self.expect_prepared(encoder)?;
        // The crowd's own error, which says how many there are.
        self.inner.pass_layout(pass)?;
        let known = self.passes.iter().find(|known| known.id == pass);
        let known = known.ok_or(Error::NotPrepared)?;
        let expected = known.shading.as_ref().map_or(0, Shading::group_count);
        if groups.len() != expected {
            let given = groups.len();
            return Err(Error::BindGroups { expected, given });
        }
        for (group, _) in groups {
            group.expect_alive()?;
        }
        let mut viewports = self.open.viewports.iter();
        let viewport = viewports.find(|(id, _)| id.late() == view.late());
        let foreign = throng::Error::Argument {
            what: "view",
            why: throng::error::ArgumentFault::Invalid("was not prepared in this frame"),
        };
        let (_, viewport) = viewport.ok_or(foreign)?;
        let shadow = self.shadow.filter(|_| known.shadow_map);
        let environment = self.environment.filter(|_| known.environment_map);
        let sampled: Vec<&Sampled> = shadow.into_iter().chain(environment).collect();
        let attachments = Attachments::new(desc, &sampled)?;
        let area = rendering::area(*viewport);
        let textures = attachments.views().map(wgpu::TextureView::texture);
        let before = with_own(self.gpu, ("an attachment", textures), || {
            rendering::before(self.gpu, desc, (known, &sampled, groups), (area, &token))
        })?;
        let slot = SlotUse::new(&self.open.begun.slot);
        let drawn = self.record(
            &attachments,
            (view, pass),
            (area, &slot),
            (&sampled, groups),
        )?;
        let after = rendering::after(self.gpu, desc)?;
        let commands = [before, drawn].into_iter().chain(after);
        let draw = Draw {
            token,
            slot,
            after: self.order.reveal.clone(),
            reveals: None,
        };
        encoder.draw(draw, commands);
        Ok(())
    }

    /// Records the draw, between barriers, into a command buffer of its own.
    fn record(
        &self,
        attachments: &Attachments<'_>,
        (view, pass): (ViewId, PassId),
        (area, slot): (vk::Rect2D, &Arc<SlotUse>),
        (sampled, groups): (&[&Sampled], Groups<'_>),
    ) -> Result<wgpu::CommandBuffer> {
        let device = self.gpu.device();
        let raw = attachments.raw()?;
        let layout = self.inner.pass_layout(pass)?;
        let sets: Vec<_> = groups.iter().map(|(group, _)| group.raw()).collect();
        let offsets = groups.iter().flat_map(|(_, offsets)| *offsets);
        let offsets: Vec<u32> = offsets.copied().collect();
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
            label: Some("throng draw"),
        });
        // SAFETY: the encoder is not used otherwise while it is recorded, and not ended.
        unsafe {
            encoder.as_hal_mut::<Vulkan, _, _>(|hal| {
                let cmd = hal.ok_or(Error::DeviceLost)?.raw_handle();
                let ash = &self.gpu.shared.raw;
                // SAFETY: `cmd` is recording. `rendering::before` was accepted by wgpu: so the
                // views are of this device, have the formats of the pass and contain the area, and
                // when this command buffer runs, they have the layouts of attachments. `Encoder`
                // submits both together. This comes after `record_prepare`, which was submitted,
                // and the slot of this frame is kept until this has run. wgpu accepted the groups
                // for the pass, with their offsets, and made their resources ready.
                raw.begin(ash, cmd, area);
                if !sets.is_empty() {
                    let point = vk::PipelineBindPoint::GRAPHICS;
                    ash.cmd_bind_descriptor_sets(cmd, point, layout, 1, &sets, &offsets);
                }
                let drawn = self.inner.record_draw(cmd, view, pass);
                raw.end(ash, cmd);
                Ok::<(), Error>(drawn?)
            })
        }?;
        let views = attachments.views().chain(sampled.iter().map(|it| &it.view));
        let views = views.cloned().collect();
        let groups = groups.iter().map(|(group, _)| (*group).clone()).collect();
        let kept = (views, groups);
        InFlight::new(self.gpu, Arc::clone(slot), self.remains, kept).until_done(&encoder);
        scoped(device, "the draw of a crowd", || encoder.finish())
    }
}
