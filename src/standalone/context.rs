//! The Vulkan objects that a program needs before it can draw.

use super::device::Candidate;
use super::device_owner::{ContextId, DeviceOwner, Idle};
use super::error::Check;
use super::idle::settle;
use super::instance::InstanceOwner;
use super::one_off::OneOff;
use super::{
    ContextDesc, FeatureSet, Handles, Message, Messages, Result, StandaloneError, Surface, Window,
    device, surface,
};
use crate::gpu::{self, Enabled, GpuAllocator};
use ash::{ext, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

/// An instance, a device, its one queue and an allocator.
///
/// The read-only fields, such as `context.device`, come from [`Handles`].
///
/// Dropping the context waits for the device. It destroys all objects that were dropped without
/// `destroy`. Objects that are still alive keep the device and their memory until they are dropped.
/// If the driver cannot wait, the device and all objects are leaked.
///
/// # Lost devices
///
/// After [`StandaloneError::DeviceLost`], destroy every object and drop the context as usual. Then
/// create a new context and everything in it. Waiting for a lost device returns at once.
#[non_exhaustive]
pub struct Context {
    // Moved to `device_owner` on drop. Safe code gets no mutable reference to it, with which it
    // could swap it for another device's.
    pub(super) allocator: ManuallyDrop<Allocator>,
    handles: Handles,
    names: Option<ext::debug_utils::Device>,
    useful: Enabled,
    device_owner: Arc<DeviceOwner>,
    instance_owner: Arc<InstanceOwner>,
}

impl Deref for Context {
    type Target = Handles;

    fn deref(&self) -> &Handles {
        &self.handles
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("info", &self.info)
            .field("queue_family", &self.queue_family)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Creates a context that draws without a window.
    ///
    /// # Errors
    ///
    /// Returns an error if:
    ///
    /// - there is no Vulkan loader,
    /// - validation is asked for and the layer is not installed,
    /// - no device is suitable,
    /// - a Vulkan call fails.
    pub fn new(desc: &ContextDesc<'_>) -> Result<Self> {
        let owner = Arc::new(InstanceOwner::new(desc, &[])?);
        Self::with_instance(desc, owner, None)
    }

    /// Creates a context whose queue can present to a window, and the window's surface.
    ///
    /// # Errors
    ///
    /// As [`Context::new`]. Also returns an error if the window has no handle.
    pub fn for_window(desc: &ContextDesc<'_>, window: Arc<dyn Window>) -> Result<(Self, Surface)> {
        let extensions = surface::required_extensions(&*window)?;
        let owner = InstanceOwner::new(desc, &extensions)?;
        let owner = Arc::new(owner);
        let surface = Surface::new(Arc::clone(&owner), window)?;
        let context = Self::with_instance(desc, owner, Some(&surface))?;
        Ok((context, surface))
    }

    /// Creates the surface of another window of the same window system.
    ///
    /// # Errors
    ///
    /// Returns an error if:
    ///
    /// - the context was not created for a window of this window system,
    /// - the window has no handle,
    /// - the queue cannot present to it.
    pub fn surface(&self, window: Arc<dyn Window>) -> Result<Surface> {
        let surface = Surface::new(Arc::clone(&self.instance_owner), window)?;
        self.check_surface(&surface)?;
        Ok(surface)
    }

    /// Fails if this context's queue cannot present to the surface.
    pub(super) fn check_surface(&self, surface: &Surface) -> Result<()> {
        let queue_family = self.queue_family;
        if surface.is_of(&self.instance_owner)
            && surface.presents(self.physical_device, queue_family)?
        {
            return Ok(());
        }
        Err(StandaloneError::Surface { queue_family })
    }

    // Objects created first are dropped last, also if a later step fails.
    fn with_instance(
        desc: &ContextDesc<'_>,
        instance_owner: Arc<InstanceOwner>,
        surface: Option<&Surface>,
    ) -> Result<Self> {
        let candidates = device::choose(&instance_owner, desc, surface)?;
        let (owner, candidate) = DeviceOwner::first(&instance_owner, candidates)?;
        let instance = instance_owner.instance.clone();
        let allocator = allocator(&instance, &owner.device, &candidate)?;
        log::info!("vulkan device {}: {}", candidate.info.index, candidate.info);
        // Not on software drivers, for two reasons. They take several times as long for a picture
        // that is anisotropically filtered throughout. And Mesa 25's lavapipe samples black where
        // texture coordinates have no gradient, which is the case for models that take the colour
        // of a whole triangle from one texel.
        let anisotropy = candidate.enabled.v10.sampler_anisotropy == vk::TRUE
            && candidate.info.kind != vk::PhysicalDeviceType::CPU;
        let names = instance_owner
            .debug_utils
            .then(|| ext::debug_utils::Device::new(&instance, &owner.device));
        let handles = Handles {
            device: owner.device.clone(),
            // SAFETY: the device was made with one queue of this family.
            queue: unsafe { owner.device.get_device_queue(candidate.queue_family, 0) },
            queue_family: candidate.queue_family,
            timestamp_bits: candidate.timestamp_bits,
            entry: instance_owner.entry.clone(),
            instance,
            physical_device: candidate.physical_device,
            properties: candidate.properties,
            info: candidate.info,
            enabled: candidate.enabled,
            extensions: candidate.extensions,
            debug_utils: instance_owner.debug_utils,
            across_submits: instance_owner.across_submits,
            command_pool: owner.pool,
        };
        Ok(Self {
            allocator: ManuallyDrop::new(allocator),
            useful: Enabled::NONE
                .with_sampler_anisotropy(anisotropy)
                .with_independent_blend(handles.enabled.v10.independent_blend == vk::TRUE)
                .with_descriptor_indexing(indexes_descriptors(&handles.enabled))
                .with_debug_utils(handles.debug_utils),
            handles,
            names,
            device_owner: Arc::new(owner),
            instance_owner,
        })
    }

    /// The device, which every object created with this context keeps alive.
    pub(super) fn owner(&self) -> Arc<DeviceOwner> {
        Arc::clone(&self.device_owner)
    }

    /// The device and the allocator, to destroy objects that the device does not use.
    pub(super) fn idle(&mut self) -> Idle<'_> {
        Idle {
            device: &self.device_owner.device,
            allocator: &mut self.allocator,
        }
    }

    /// Fails if `object` was created with another context.
    pub(super) fn check_own(&self, id: ContextId, object: &str) -> Result<()> {
        if id == self.device_owner.id {
            return Ok(());
        }
        Err(StandaloneError::ForeignContext {
            object: object.to_owned(),
        })
    }

    /// Waits for the device and returns true if `object` may be destroyed.
    ///
    /// If the object is of another context, or if the driver cannot wait, this logs an error, and
    /// the caller must drop the object instead.
    pub(super) fn may_destroy(&mut self, id: ContextId, object: &str) -> bool {
        if let Err(error) = self.check_own(id, object) {
            log::error!("{object} is not destroyed: {error}");
            return false;
        }
        if let Err(error) = self.settle() {
            log::error!("{object} is not destroyed: {error}");
            return false;
        }
        true
    }

    /// Waits until the device uses nothing any more. A lost device does not use anything.
    pub(super) fn settle(&mut self) -> Result<()> {
        // SAFETY: `device_owner` keeps the device alive. This method takes `&mut self`, and every
        // safe function that uses the queue takes the context mutably, too. Calls with the raw
        // handle are unsafe, and their callers synchronise the queue.
        unsafe { settle(&self.device) }
    }

    /// The allocator of device memory.
    pub fn allocator(&mut self) -> GpuAllocator<&mut Allocator> {
        // SAFETY:
        // - `allocator` made it for this device, with `buffer_device_address`. `device_owner` keeps
        //   the device alive longer than the result, which borrows the context.
        // - It lives until the context is dropped. A block is only data, so safe code can keep it
        //   longer, but not use it: `gpu_device`, without which throng makes nothing with it,
        //   demands that nothing made with the result is used after the context was dropped.
        // - No safe function gives out another allocator of this device.
        unsafe { GpuAllocator::new(&self.handles.device, &mut *self.allocator) }
    }

    /// The device in the form that throng takes.
    ///
    /// [`gpu::Device::enabled`] of the result are the features of [`FeatureSet::useful`] that this
    /// context enabled. On software drivers, textures are never sampled anisotropically.
    ///
    /// ```no_run
    /// use throng::standalone::{Context, ContextDesc};
    /// use throng::{Crowd, CrowdDesc};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut context = Context::new(&ContextDesc::default())?;
    /// // SAFETY: the crowd is destroyed before the context is dropped.
    /// let device = unsafe { context.gpu_device() };
    /// let crowd = Crowd::new(&device, &mut context.allocator(), &CrowdDesc::default())?;
    /// // The crowd is drawn here.
    /// context.wait_idle()?;
    /// // SAFETY: the device is idle.
    /// unsafe { crowd.destroy(&mut context.allocator()) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// The result, its clones and everything that is made with them are not used after the context
    /// was dropped.
    #[must_use]
    pub unsafe fn gpu_device(&self) -> gpu::Device {
        let Handles {
            instance,
            physical_device,
            device,
            ..
        } = &self.handles;
        // SAFETY: `with_instance` got the handles from each other. `device_owner` keeps them alive
        // until the context is dropped, and the result is not used afterwards by this function's
        // contract. The device was selected and created with the required features and those of
        // `useful`.
        unsafe { gpu::Device::supported(instance, *physical_device, device, &self.useful) }
    }

    /// All messages of the validation layer so far. Empty if validation is off.
    #[must_use]
    pub fn validation_messages(&self) -> Vec<Message> {
        self.instance_owner.messages.all()
    }

    /// The shared message list itself, which outlives the context.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.instance_owner.messages.clone()
    }

    /// Sets the name of an object that tools and messages show.
    ///
    /// Does nothing without debug utils.
    ///
    /// # Errors
    ///
    /// Returns the error of `vkSetDebugUtilsObjectNameEXT`.
    ///
    /// # Safety
    ///
    /// `object` is a live object of this device, and no other thread uses it.
    pub unsafe fn set_name(&self, object: impl vk::Handle, name: &str) -> Result<()> {
        let Some(loader) = &self.names else {
            return Ok(());
        };
        let name = CString::new(name.replace('\0', "")).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(object)
            .object_name(&name);
        // SAFETY: the caller guarantees that `object` is alive and that no other thread uses it.
        unsafe { loader.set_debug_utils_object_name(&info) }.check("vkSetDebugUtilsObjectNameEXT")
    }

    /// Waits until the device is idle.
    ///
    /// # Errors
    ///
    /// Returns the error of `vkDeviceWaitIdle`.
    pub fn wait_idle(&mut self) -> Result<()> {
        // SAFETY: as in `settle`.
        unsafe { self.device.device_wait_idle() }.check("vkDeviceWaitIdle")
    }

    /// Records commands, submits them and waits until they have finished.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls.
    pub fn submit_and_wait<T>(
        &mut self,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer) -> T,
    ) -> Result<T> {
        let mut work = OneOff::new(&self.device, self.command_pool)?;
        work.begin()?;
        let value = record(&self.device, work.cmd);
        work.run(self.queue)?;
        Ok(value)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Err(error) = self.settle() {
            log::error!("the device is not destroyed: {error}");
            // The device may still use everything that was created with it.
            std::mem::forget(self.owner());
            return;
        }
        // SAFETY: nothing uses `self.allocator` after this.
        let allocator = unsafe { ManuallyDrop::take(&mut self.allocator) };
        self.device_owner.close(allocator);
    }
}

/// Returns true if all features of [`Enabled::descriptor_indexing`] are enabled.
fn indexes_descriptors(enabled: &FeatureSet) -> bool {
    [
        enabled.v12.runtime_descriptor_array,
        enabled.v12.shader_sampled_image_array_non_uniform_indexing,
        enabled.v12.descriptor_binding_variable_descriptor_count,
    ]
    .iter()
    .all(|on| *on == vk::TRUE)
}

fn allocator(
    instance: &ash::Instance,
    device: &ash::Device,
    candidate: &Candidate,
) -> Result<Allocator> {
    Allocator::new(&AllocatorCreateDesc {
        instance: instance.clone(),
        device: device.clone(),
        physical_device: candidate.physical_device,
        debug_settings: Default::default(),
        buffer_device_address: true,
        allocation_sizes: Default::default(),
    })
    .map_err(|source| StandaloneError::Allocator {
        name: "allocator".to_owned(),
        source,
    })
}
