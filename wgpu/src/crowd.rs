//! The crowd: characters and their instances, drawn in wgpu.

use crate::error::{Error, Result};
use crate::flight::{Commands, Remains, Slots};
use crate::frame::{Frame, Open};
use crate::gpu::Gpu;
use crate::order::{Order, Submission};
use crate::pass::{PassDesc, formats_bundle, raw_desc};
use crate::rendering::Pass;
use crate::sampled::Sampled;
use crate::shading::Shading;
use core::fmt;
use core::mem::ManuallyDrop;
use std::sync::Arc;
use throng::ash::vk;
use throng::{CrowdDesc, EnvironmentLight, EnvironmentMap, MaterialDesc, PassId, ShadowMap};

/// Characters and their instances, drawn in wgpu.
///
/// It dereferences to a [`throng::Crowd`], to read, and has the methods that change one under the
/// same names, without an allocator.
///
/// # Order
/// Draws of a frame are submitted before the next frame is prepared, because both use the same
/// instance table. [`Encoder::submit`](crate::Encoder::submit) refuses those that come later.
///
/// # Frames in flight
/// A frame uses one of [`CrowdDesc::frames_in_flight`] indices until the GPU has ended its work.
/// [`Self::begin_frame`] asks wgpu, without waiting, which of them are free. Encoders that were not
/// submitted use none, even if they are never dropped. wgpu itself has
/// [`desired_maximum_frame_latency`](wgpu::SurfaceConfiguration::desired_maximum_frame_latency)
/// frames in flight, by default 2, so a crowd with one more never runs out of them in a window.
///
/// # Drop
/// Crowds, encoders, devices and textures may be dropped in any order. What the GPU still uses is
/// destroyed when it has ended its work, in [`wgpu::Device::poll`], [`wgpu::Queue::submit`], or
/// when the queue is dropped.
///
/// ```no_run
/// use throng::{Spawn, builtin};
/// use throng_wgpu::{Crowd, Encoder, Error, Gpu, PassDesc, throng, view, wgpu};
/// use throng::glam::{Mat4, Vec3};
///
/// fn draw(gpu: &Gpu, color: &wgpu::TextureView, clip_from_world: Mat4) -> Result<(), Error> {
///     let mut crowd = Crowd::new(gpu, &throng::CrowdDesc::default())?;
///     let pass = crowd.create_pass(&PassDesc {
///         color_formats: &[Some(color.texture().format())],
///         ..Default::default()
///     })?;
///     let mannequin = builtin::mannequin()?.character;
///     let mannequin = crowd.add_character(&mannequin, &Default::default())?;
///     crowd.spawn(mannequin, &Spawn { play: "Walk".into(), ..Default::default() })?;
///
///     let mut encoder = Encoder::new(gpu);
///     crowd.update(0.25)?;
///     let mut frame = crowd.begin_frame(0.25)?;
///     let camera = view(clip_from_world, Vec3::Z, color.texture().size());
///     let views = frame.prepare(&[camera])?;
///     frame.draw(&mut encoder, views[0], pass, &wgpu::RenderPassDescriptor {
///         color_attachments: &[Some(wgpu::RenderPassColorAttachment {
///             view: color,
///             depth_slice: None,
///             resolve_target: None,
///             ops: wgpu::Operations::default(),
///         })],
///         ..Default::default()
///     })?;
///     encoder.submit()?;
///     Ok(())
/// }
/// ```
pub struct Crowd {
    /// Taken when this is dropped.
    pub(crate) inner: ManuallyDrop<throng::Crowd>,
    pub(crate) gpu: Gpu,
    passes: Vec<Pass>,
    pub(crate) shadow: Option<Sampled>,
    pub(crate) environment: Option<Sampled>,
    slots: Slots,
    order: Order,
    remains: Arc<Remains>,
    /// The frame begun last, until something changes that its draws use.
    pub(crate) open: Option<Open>,
}

impl Crowd {
    /// Creates an empty crowd.
    ///
    /// # Errors
    /// As [`throng::Crowd::new`].
    pub fn new(gpu: &Gpu, desc: &CrowdDesc) -> Result<Self> {
        let shared = &gpu.shared;
        let frames = desc.frames_in_flight;
        let remains = Remains::new(shared, frames.min(throng::Crowd::MAX_FRAMES_IN_FLIGHT))?;
        let inner = throng::Crowd::new(&shared.throng, &mut shared.allocator(), desc)?;
        Ok(Self {
            inner: ManuallyDrop::new(inner),
            gpu: gpu.clone(),
            passes: Vec::new(),
            shadow: None,
            environment: None,
            slots: Slots::new(frames),
            order: Order::new(),
            remains,
            open: None,
        })
    }

    /// The device and queue.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Creates a pass: the pipelines that draw the crowd into attachments of these formats.
    ///
    /// Call this before the first frame, because it compiles shaders. See
    /// [`throng::Crowd::create_pass`].
    ///
    /// # Errors
    /// - [`Error::Format`] if the device cannot draw into a format as the pass does.
    /// - [`Error::Limit`] if the attachments are too many or too large together.
    /// - [`Error::Rejected`] if wgpu rejects the [`MaterialDesc`](crate::MaterialDesc): a fault in
    ///   its WGSL, a binding that is missing in its layouts, an output that does not fit the
    ///   format, and so on. Lines are those of [`wgsl`](crate::MaterialDesc::wgsl).
    /// - [`Error::Shader`], and [`Error::OtherDevice`] for its layouts.
    /// - [`Error::DeviceLost`].
    /// - As [`throng::Crowd::create_pass`].
    pub fn create_pass(&mut self, desc: &PassDesc<'_>) -> Result<PassId> {
        let raw = raw_desc(&self.gpu, desc)?;
        self.open = None;
        let material = desc.material.as_ref();
        let material = material
            .map(|it| Shading::new(&self.gpu, desc, it))
            .transpose()?;
        let (shading, fragment_spirv) = material.unzip();
        let set_layouts = shading.as_ref().map_or(Vec::new(), Shading::raw_layouts);
        let material = fragment_spirv
            .as_deref()
            .map(|fragment_spirv| MaterialDesc {
                fragment_spirv,
                set_layouts: &set_layouts,
                push_bytes: 0,
            });
        // SAFETY: `raw_desc` found that the device supports the formats with this sample count, and
        // blending for the first one. `Shading` keeps its layouts, and wgpu accepted its shader for
        // them, and all layouts together.
        let id = unsafe {
            self.inner
                .create_pass(&throng::PassDesc { material, ..raw })?
        };
        // After the crowd's own checks: wgpu panics where there is no attachment at all.
        let formats = formats_bundle(&self.gpu, desc);
        let formats = formats.inspect_err(|_| drop(self.inner.remove_pass(id)))?;
        self.passes.push(Pass {
            id,
            shadow_map: desc.shadow_map,
            environment_map: desc.environment == EnvironmentLight::Map,
            shading,
            formats,
        });
        Ok(id)
    }

    /// Removes a pass. See [`throng::Crowd::remove_pass`].
    ///
    /// # Errors
    /// [`throng::Error::NotFound`] if it was removed before.
    pub fn remove_pass(&mut self, pass: PassId) -> Result<()> {
        self.open = None;
        self.inner.remove_pass(pass)?;
        self.passes.retain(|other| other.id != pass);
        Ok(())
    }

    /// Sets the shadow map that passes with [`PassDesc::shadow_map`] sample.
    ///
    /// It is a square depth texture with the usages `RENDER_ATTACHMENT` and `TEXTURE_BINDING`, one
    /// mip level, one sample, and a layer for each of a view's
    /// [shadow layers](throng::Shadow).
    /// Draw into views of its layers with a pass of kind [`Shadow`](throng::PassKind::Shadow). It
    /// may also be drawn into and sampled by the program's own pipelines.
    ///
    /// # Errors
    /// - [`Error::Format`] and [`Error::Attachment`] if it is another kind of texture.
    /// - [`Error::OtherDevice`] if it is of another device, as in
    ///   [`Frame::draw`](crate::Frame::draw).
    /// - [`Error::Destroyed`] if it was destroyed.
    pub fn set_shadow_map(&mut self, texture: &wgpu::Texture, reversed_z: bool) -> Result<()> {
        let shadow = Sampled::shadow(&self.gpu, texture)?;
        self.open = None;
        let map = ShadowMap {
            view: shadow.raw()?,
            // Of sampled depth textures in wgpu.
            layout: vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            edge: texture.width(),
            reversed_z,
        };
        // SAFETY: the view is of this device and samples an array of depth. The crowd and its draws
        // in flight keep it. Before each draw, wgpu changes the layout to this one.
        unsafe { self.inner.set_shadow_map(&map)? };
        self.shadow = Some(shadow);
        Ok(())
    }

    /// Sets the environment map that passes with
    /// [`PassDesc::environment`](crate::PassDesc::environment) `Map` sample.
    ///
    /// It is a square texture with the six layers of a cube, the usage `TEXTURE_BINDING`, a format
    /// that can be filtered, and mip levels as [`EnvironmentMap`] describes them. A view's
    /// [`environment`](throng::View::environment) turns it and says how bright it is.
    ///
    /// # Errors
    /// As [`Self::set_shadow_map`].
    pub fn set_environment_map(&mut self, texture: &wgpu::Texture) -> Result<()> {
        let environment = Sampled::environment(&self.gpu, texture)?;
        self.open = None;
        let map = EnvironmentMap {
            view: environment.raw()?,
            sampler: None,
            // Of sampled textures of colour in wgpu.
            layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            levels: texture.mip_level_count(),
        };
        // SAFETY: the view is of this device and samples a cube of colour that can be filtered. The
        // crowd and its draws in flight keep it. Before each draw, wgpu changes the layout to this
        // one.
        unsafe { self.inner.set_environment_map(&map)? };
        self.environment = Some(environment);
        Ok(())
    }

    /// Begins a frame. `time_s` is the program's time in seconds, from an origin of its choice.
    ///
    /// It never waits for the GPU, unless a callback of the program panicked or failed while the
    /// frame before was submitted.
    ///
    /// If the crowd has a single free frame, and that was prepared last, its draws can no longer be
    /// submitted ([`Error::Late`]). A [reveal](Frame::reveal) of an earlier frame can no longer be
    /// submitted either. If it was not, this calls [`Self::abandon_reveal`].
    ///
    /// # Errors
    /// - [`Error::InFlight`] if the GPU still uses all frames. Nothing has changed then.
    /// - [`Error::DeviceLost`] if it never will end them.
    /// - As [`throng::Crowd::begin_frame`].
    pub fn begin_frame(&mut self, time_s: f64) -> Result<Frame<'_>> {
        self.open = None;
        let index = self.free_slot()?;
        if self.was_reveal_lost()? {
            self.abandon_reveal();
        }
        if self.was_lost()? {
            // SAFETY: wgpu rejected the command buffer of that frame, so it is never submitted.
            unsafe { self.inner.abandon_frame() };
            self.order.submission = Submission::Done;
        }
        let allocator = &mut self.gpu.shared.allocator();
        // SAFETY: no submission has the slot of this index, so all of its work has ended. Draws in
        // encoders are rejected, because the tokens of all its frames have ended. `Frame::prepare`
        // submits what it records, or says otherwise in `order`, which was looked at above.
        let inner = unsafe { self.inner.begin_frame(allocator, index, time_s)? };
        Ok(Frame {
            inner,
            gpu: &self.gpu,
            passes: &self.passes,
            shadow: self.shadow.as_ref(),
            environment: self.environment.as_ref(),
            open: self.open.insert(Open {
                begun: self.slots.begin(index),
                viewports: Vec::new(),
            }),
            remains: &self.remains,
            order: &mut self.order,
            is_resumed: false,
        })
    }

    /// The frame prepared last, once more, for draws.
    ///
    /// A [`Frame`] borrows the crowd. An engine that prepares in one place and draws in others, or
    /// whose game goes on while the picture is recorded, drops it after [`Frame::prepare`] and
    /// resumes it for each draw. The ids of views stay valid. In between, the game may update,
    /// spawn, despawn and change instances; the draws show what was prepared.
    ///
    /// # Errors
    /// [`Error::NotPrepared`] if no frame was prepared, and if a call in between has ended it:
    /// one that adds, replaces or removes a character, a pass or a solver, creates pipelines, sets
    /// a map, reserves capacity, or abandons the reveal.
    pub fn resume_frame(&mut self) -> Result<Frame<'_>> {
        let open = self.open.as_mut().ok_or(Error::NotPrepared)?;
        if open.viewports.is_empty() {
            return Err(Error::NotPrepared);
        }
        // SAFETY: the frame is prepared, and calls that change more than the game have ended it.
        // `Frame::reveal` refuses it.
        let inner = unsafe { self.inner.resume_frame()? };
        Ok(Frame {
            inner,
            gpu: &self.gpu,
            passes: &self.passes,
            shadow: self.shadow.as_ref(),
            environment: self.environment.as_ref(),
            open,
            remains: &self.remains,
            order: &mut self.order,
            is_resumed: true,
        })
    }

    /// Abandons the reveal of the frame prepared last. See [`throng::Crowd::abandon_reveal`].
    ///
    /// Only programs with command buffers of
    /// [`Encoder::into_command_buffers`](crate::Encoder::into_command_buffers) need this. The frame
    /// cannot be [resumed](Self::resume_frame) then.
    pub fn abandon_reveal(&mut self) {
        // Draws of late views would show lists that nothing has written.
        self.open = None;
        self.order.reveal = None;
        self.inner.abandon_reveal();
    }

    /// Ends the time for the reveal of the frame prepared last. True if it was not submitted.
    fn was_reveal_lost(&mut self) -> Result<bool> {
        let Some(reveal) = self.order.reveal.clone() else {
            return Ok(false);
        };
        self.order.end_current(self.slots.next());
        let lost = match reveal.settle() {
            Some(lost) => lost,
            None => {
                let commands = (reveal.index, Commands::Reveal);
                !self.remains.were_executed(&self.gpu, commands)?
            }
        };
        self.order.reveal = None;
        Ok(lost)
    }

    /// True if the commands of the frame begun last will never be submitted.
    fn was_lost(&mut self) -> Result<bool> {
        if let Submission::Unknown(index) = self.order.submission {
            let commands = (index, Commands::Prepare);
            self.order.submission = match self.remains.were_executed(&self.gpu, commands)? {
                true => Submission::Done,
                false => Submission::Lost,
            };
        }
        Ok(self.order.submission == Submission::Lost)
    }

    /// Waits until [`Self::begin_frame`] succeeds, if all frames are in flight.
    ///
    /// Programs without a window call it before each frame. In a window,
    /// [`wgpu::Surface::get_current_texture`] waits already.
    ///
    /// # Errors
    /// - [`Error::InFlight`] if command buffers of
    ///   [`Encoder::into_command_buffers`](crate::Encoder::into_command_buffers) that were not
    ///   submitted keep all frames.
    /// - [`Error::DeviceLost`], and [`Error::Wait`] from wgpu.
    pub fn wait_for_frame(&mut self) -> Result<()> {
        if self.slots.free().is_none() {
            self.gpu.poll(wgpu::PollType::wait_indefinitely())?;
        }
        match self.slots.free() {
            Some(_) => Ok(()),
            None => Err(self.none_free()),
        }
    }

    /// A frame index that no command uses. Draws that were not submitted can no longer use it.
    fn free_slot(&mut self) -> Result<u32> {
        let mut free = self.slots.free();
        if free.is_none() {
            // wgpu learns here what has ended, and drops what it kept for that.
            self.gpu.poll(wgpu::PollType::Poll)?;
            free = self.slots.free();
        }
        if free.is_some() && free == self.order.current.as_ref().map(|(index, _)| *index) {
            self.order.end_current(self.slots.next());
            // Another thread may have submitted them before that.
            free = self.slots.free();
        }
        free.ok_or_else(|| self.none_free())
    }

    fn none_free(&self) -> Error {
        match self.gpu.is_lost() {
            // wgpu may keep the last frames of a lost device until the queue is dropped.
            true => Error::DeviceLost,
            false => Error::InFlight {
                frames: self.slots.count(),
            },
        }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // SAFETY: nothing uses the field after this.
        let crowd = unsafe { ManuallyDrop::take(&mut self.inner) };
        self.remains.take(crowd);
    }
}

impl fmt::Debug for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowd")
            .field("gpu", &self.gpu)
            .field("instances", &self.inner.instances().len())
            .finish_non_exhaustive()
    }
}
