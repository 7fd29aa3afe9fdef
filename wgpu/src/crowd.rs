//! The crowd: characters and their instances, drawn in wgpu.

use crate::check::scoped;
use crate::error::{Error, Result};
use crate::flight::{Remains, Slots};
use crate::frame::Frame;
use crate::gpu::Gpu;
use crate::pass::{Pass, PassDesc, formats_bundle, raw_desc};
use core::fmt;
use core::mem::{self, ManuallyDrop};
use core::ops::Deref;
use std::sync::Arc;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::Affine3A;
use throng::skin::{Faces, Ray};
use throng::{
    Capacity, CharacterDesc, CharacterId, CrowdDesc, CrowdSnapshot, Id, IkSolver, InstanceHit,
    InstanceId, InstanceMut, Misfit, MoreInstances, PassId, Shadow, ShadowMap, Spawn, WarmUp,
};
use wgpu::hal::vulkan::Api as Vulkan;

/// Characters and their instances, drawn in wgpu.
///
/// It is a [`throng::Crowd`], to which it dereferences for everything that reads. What changes it
/// has the same names as there, without an allocator.
///
/// # Frames in flight
/// A frame uses one of [`CrowdDesc::frames_in_flight`] indices until the GPU has ended its work.
/// [`Self::begin_frame`] asks wgpu, without waiting, which of them are free. wgpu itself has
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
/// use throng_wgpu::{Crowd, Encoder, Gpu, PassDesc, Result, throng, view};
/// use throng::glam::{Mat4, Vec3};
///
/// fn draw(gpu: &Gpu, color: &wgpu::TextureView, clip_from_world: Mat4) -> Result<()> {
///     let mut crowd = Crowd::new(gpu, &throng::CrowdDesc::default())?;
///     let pass = crowd.create_pass(&PassDesc {
///         color_formats: &[Some(color.texture().format())],
///         ..Default::default()
///     })?;
///     let mannequin = crowd.add_character(&builtin::mannequin()?.character)?;
///     crowd.spawn(mannequin, &Spawn { play: "Walk".into(), ..Default::default() })?;
///
///     let mut encoder = Encoder::new(gpu);
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
///     encoder.submit();
///     Ok(())
/// }
/// ```
pub struct Crowd {
    /// Taken when this is dropped.
    inner: ManuallyDrop<throng::Crowd>,
    gpu: Gpu,
    passes: Vec<Pass>,
    shadow: Option<ShadowTexture>,
    slots: Slots,
    /// True if the frame begun last was prepared, but could not be submitted.
    lost: bool,
    remains: Arc<Remains>,
}

/// The shadow map that passes sample.
#[derive(Debug)]
pub(crate) struct ShadowTexture {
    pub(crate) texture: wgpu::Texture,
    pub(crate) view: wgpu::TextureView,
}

/// Fails if a texture was destroyed. wgpu itself finds that when commands are submitted.
pub(crate) fn expect_alive(what: &'static str, texture: &wgpu::Texture) -> Result<()> {
    // SAFETY: the texture is not destroyed through the guard.
    let alive = unsafe { texture.as_hal::<Vulkan>() };
    alive.map(drop).ok_or(Error::Destroyed(what))
}

impl Crowd {
    /// Creates an empty crowd.
    ///
    /// # Errors
    /// As [`throng::Crowd::new`].
    pub fn new(gpu: &Gpu, desc: &CrowdDesc) -> Result<Self> {
        let shared = &gpu.shared;
        let inner = throng::Crowd::new(&shared.throng, &mut shared.allocator(), desc)?;
        Ok(Self {
            inner: ManuallyDrop::new(inner),
            gpu: gpu.clone(),
            passes: Vec::new(),
            shadow: None,
            slots: Slots::new(desc.frames_in_flight),
            lost: false,
            remains: Remains::new(shared),
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
    /// - As [`throng::Crowd::create_pass`].
    pub fn create_pass(&mut self, desc: &PassDesc<'_>) -> Result<PassId> {
        let raw = raw_desc(&self.gpu, desc)?;
        // SAFETY: `raw_desc` found that the device supports the formats with this sample count, and
        // blending for the first one. There is no material.
        let id = unsafe { self.inner.create_pass(&raw.get())? };
        // After the crowd's own checks: wgpu panics where there is no attachment at all.
        let formats = formats_bundle(&self.gpu, desc);
        let formats = formats.inspect_err(|_| drop(self.inner.remove_pass(id)))?;
        self.passes.push(Pass {
            id,
            shadow_map: desc.shadow_map,
            formats,
        });
        Ok(id)
    }

    /// Removes a pass. See [`throng::Crowd::remove_pass`].
    ///
    /// # Errors
    /// [`throng::Error::NotFound`] if it was removed before.
    pub fn remove_pass(&mut self, pass: PassId) -> Result<()> {
        self.inner.remove_pass(pass)?;
        self.passes.retain(|other| other.id != pass);
        Ok(())
    }

    /// Sets the shadow map that passes with [`PassDesc::shadow_map`] sample.
    ///
    /// It is a square depth texture with the usages `RENDER_ATTACHMENT` and `TEXTURE_BINDING`, one
    /// mip level, one sample, and a layer for each of a view's [shadow layers](shadow). Draw into
    /// views of its layers with a pass of kind [`Shadow`](throng::PassKind::Shadow). It may also be
    /// drawn into and sampled by the program's own pipelines.
    ///
    /// # Errors
    /// - [`Error::Format`] and [`Error::Attachment`] if it is another kind of texture.
    /// - [`Error::OtherDevice`] if it is of another device.
    /// - [`Error::Destroyed`] if it was destroyed.
    pub fn set_shadow_map(&mut self, texture: &wgpu::Texture, reversed_z: bool) -> Result<()> {
        check_shadow_map(texture)?;
        expect_alive("the shadow map", texture)?;
        let device = self.gpu.device();
        // The encoder is dropped: this only finds whether the texture may be sampled.
        let view = scoped(device, "the shadow map", || {
            let mut encoder = device.create_command_encoder(&Default::default());
            encoder.transition_resources(core::iter::empty(), [sampled(texture)].into_iter());
            drop(encoder.finish());
            texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some("throng shadow map"),
                dimension: Some(wgpu::TextureViewDimension::D2Array),
                aspect: wgpu::TextureAspect::DepthOnly,
                ..Default::default()
            })
        })?;
        // SAFETY: the view is not destroyed through the guard.
        let raw = unsafe { view.as_hal::<Vulkan>() };
        let raw = raw.ok_or(Error::Destroyed("the shadow map"))?;
        let map = ShadowMap {
            // SAFETY: the handle is not destroyed.
            view: unsafe { raw.raw_handle() },
            // Of sampled depth textures in wgpu.
            layout: vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            edge: texture.width(),
            reversed_z,
        };
        // SAFETY: the view is of this device and samples an array of depth. The crowd and its draws
        // in flight keep it. Before each draw, wgpu changes the layout to this one.
        unsafe { self.inner.set_shadow_map(&map)? };
        drop(raw);
        self.shadow = Some(ShadowTexture {
            texture: texture.clone(),
            view,
        });
        Ok(())
    }

    /// Begins a frame. `time_s` is the program's time in seconds, from an origin of its choice.
    ///
    /// It never waits for the GPU.
    ///
    /// # Errors
    /// - [`Error::InFlight`] if the GPU still uses all frames. Nothing has changed then.
    /// - [`Error::DeviceLost`] if it never will end them.
    /// - As [`throng::Crowd::begin_frame`].
    pub fn begin_frame(&mut self, time_s: f64) -> Result<Frame<'_>> {
        let index = self.free_slot()?;
        if mem::take(&mut self.lost) {
            // SAFETY: wgpu rejected the command buffer of that frame, so it is never submitted.
            unsafe { self.inner.abandon_frame() };
        }
        let allocator = &mut self.gpu.shared.allocator();
        // SAFETY: no command buffer has the slot of this index, so all work of it has ended or will
        // never be submitted. `Frame::prepare` submits what it records, or sets `lost`.
        let inner = unsafe { self.inner.begin_frame(allocator, index, time_s)? };
        Ok(Frame {
            inner,
            gpu: &self.gpu,
            passes: &self.passes,
            shadow: self.shadow.as_ref(),
            slot: self.slots.begin(index),
            remains: &self.remains,
            lost: &mut self.lost,
            viewports: Vec::new(),
        })
    }

    /// Waits until [`Self::begin_frame`] succeeds, if all frames are in flight.
    ///
    /// Programs without a window call it before each frame. In a window,
    /// [`wgpu::Surface::get_current_texture`] waits already.
    ///
    /// # Errors
    /// - [`Error::InFlight`] if encoders that were not submitted keep all frames.
    /// - [`Error::DeviceLost`], and [`Error::Wait`] from wgpu.
    pub fn wait_for_frame(&mut self) -> Result<()> {
        if self.slots.free().is_none() {
            let wait = wgpu::PollType::wait_indefinitely();
            self.gpu.device().poll(wait).map_err(Error::Wait)?;
        }
        self.free_slot().map(drop)
    }

    /// A frame index that no command uses.
    fn free_slot(&mut self) -> Result<u32> {
        if let Some(index) = self.slots.free() {
            return Ok(index);
        }
        // wgpu learns here what has ended, and drops what it kept for that.
        let _ = self.gpu.device().poll(wgpu::PollType::Poll);
        match self.slots.free() {
            Some(index) => Ok(index),
            // wgpu may keep the last frames of a lost device until the queue is dropped.
            None if self.gpu.is_lost() => Err(Error::DeviceLost),
            None => Err(Error::InFlight {
                frames: self.slots.count(),
            }),
        }
    }
}

/// What [`throng::Crowd`] has under the same names.
impl Crowd {
    /// Adds a character, skinned by linear blending. See [`throng::Crowd::add_character`].
    ///
    /// # Errors
    /// As there.
    pub fn add_character(&mut self, character: &Character) -> Result<CharacterId> {
        self.add_character_with(character, &CharacterDesc::default())
    }

    /// Adds a character with options. See [`throng::Crowd::add_character_with`].
    ///
    /// # Errors
    /// As there.
    pub fn add_character_with(
        &mut self,
        character: &Character,
        desc: &CharacterDesc,
    ) -> Result<CharacterId> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.add_character_with(allocator, character, desc)?)
    }

    /// Replaces a character by another one. See [`throng::Crowd::replace_character`].
    ///
    /// # Errors
    /// As there.
    pub fn replace_character(
        &mut self,
        id: CharacterId,
        character: &Character,
    ) -> Result<Vec<Misfit>> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.replace_character(allocator, id, character)?)
    }

    /// Removes a character that has no instances. See [`throng::Crowd::remove_character`].
    ///
    /// # Errors
    /// As there.
    pub fn remove_character(&mut self, id: CharacterId) -> Result<()> {
        Ok(self.inner.remove_character(id)?)
    }

    /// Adds an inverse kinematics solver to a character. See [`throng::Crowd::add_solver`].
    ///
    /// # Errors
    /// As there.
    pub fn add_solver(
        &mut self,
        character: CharacterId,
        solver: impl Into<IkSolver>,
    ) -> Result<Id<IkSolver>> {
        Ok(self.inner.add_solver(character, solver)?)
    }

    /// Grows the crowd to at least `capacity`. See [`throng::Crowd::reserve`].
    ///
    /// # Errors
    /// As there.
    pub fn reserve(&mut self, capacity: &Capacity) -> Result<()> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.reserve(allocator, capacity)?)
    }

    /// Grows the crowd for more instances. See [`throng::Crowd::reserve_for`].
    ///
    /// # Errors
    /// As there.
    pub fn reserve_for(&mut self, more: &[MoreInstances]) -> Result<()> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.reserve_for(allocator, more)?)
    }

    /// Creates the pipelines of characters that are added later. See [`throng::Crowd::warm_up`].
    ///
    /// # Errors
    /// As there.
    pub fn warm_up(&mut self, desc: &WarmUp<'_>) -> Result<()> {
        Ok(self.inner.warm_up(desc)?)
    }

    /// Adds an instance. See [`throng::Crowd::spawn`].
    ///
    /// # Errors
    /// As there.
    pub fn spawn(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<InstanceId> {
        Ok(self.inner.spawn(character, spawn)?)
    }

    /// Removes an instance. See [`throng::Crowd::despawn`].
    ///
    /// # Errors
    /// As there.
    pub fn despawn(&mut self, id: InstanceId) -> Result<()> {
        Ok(self.inner.despawn(id)?)
    }

    /// An instance, to read and control. See [`throng::Crowd::instance_mut`].
    ///
    /// # Errors
    /// As there.
    pub fn instance_mut(&mut self, id: InstanceId) -> Result<InstanceMut<'_>> {
        Ok(self.inner.instance_mut(id)?)
    }

    /// Moves many instances. See [`throng::Crowd::set_transforms`].
    ///
    /// # Errors
    /// As there.
    pub fn set_transforms(&mut self, transforms: &[(InstanceId, Affine3A)]) -> Result<()> {
        Ok(self.inner.set_transforms(transforms)?)
    }

    /// Finds the nearest hit of a ray. See [`throng::Crowd::pick`].
    ///
    /// # Errors
    /// As there.
    pub fn pick(&mut self, ray: &Ray, faces: Faces, view_mask: u32) -> Result<Option<InstanceHit>> {
        Ok(self.inner.pick(ray, faces, view_mask)?)
    }

    /// Finds all hits of a ray. See [`throng::Crowd::pick_all`].
    ///
    /// # Errors
    /// As there.
    pub fn pick_all(
        &mut self,
        ray: &Ray,
        faces: Faces,
        view_mask: u32,
    ) -> Result<Vec<InstanceHit>> {
        Ok(self.inner.pick_all(ray, faces, view_mask)?)
    }

    /// Goes back to a snapshot. See [`throng::Crowd::restore`].
    ///
    /// # Errors
    /// As there.
    pub fn restore(&mut self, from: &CrowdSnapshot) -> Result<()> {
        Ok(self.inner.restore(from)?)
    }
}

impl Deref for Crowd {
    type Target = throng::Crowd;

    fn deref(&self) -> &throng::Crowd {
        &self.inner
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
            .field("instances", &self.inner.len())
            .finish_non_exhaustive()
    }
}

/// The state in which shaders sample a depth texture.
pub(crate) fn sampled(texture: &wgpu::Texture) -> wgpu::TextureTransition<&wgpu::Texture> {
    wgpu::TextureTransition {
        texture,
        selector: None,
        state: wgpu::TextureUses::RESOURCE,
    }
}

fn check_shadow_map(texture: &wgpu::Texture) -> Result<()> {
    let (what, format) = ("the shadow map", texture.format());
    let fault = |why| Err(Error::Attachment { what, why });
    if !format.has_depth_aspect() {
        let why = "has no depth";
        return Err(Error::Format { what, format, why });
    }
    if texture.dimension() != wgpu::TextureDimension::D2 || texture.width() != texture.height() {
        return fault("is not a square 2D texture");
    }
    if texture.sample_count() != 1 || texture.mip_level_count() != 1 {
        return fault("has more than one sample or mip level");
    }
    if texture.depth_or_array_layers() as usize > Shadow::MAX_LAYERS {
        return fault("has more layers than Shadow::MAX_LAYERS");
    }
    if !texture
        .usage()
        .contains(wgpu::TextureUsages::TEXTURE_BINDING)
    {
        return fault("lacks the usage TEXTURE_BINDING");
    }
    Ok(())
}
