//! The Vulkan objects that a program needs before it can draw.

use super::error::Check;
use super::instance::{ContextDesc, InstanceOwner};
use super::owner::{DeviceOwner, Idle, settle};
use super::{
    DeviceInfo, Messages, Rejected, Result, StandaloneError, Surface, Window, device, surface,
};
use ash::vk;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;
use throng::gpu::{self, GpuAllocator};

/// Read-only handles and properties of a [`Context`].
///
/// They cannot be changed through the context, because every object created with it relies on them.
///
/// ```compile_fail,E0594
/// # use throng_standalone::Context;
/// # use throng::ash::vk;
/// fn not_possible(context: &mut Context) {
///     context.queue = vk::Queue::null();
/// }
/// ```
#[non_exhaustive]
pub struct Handles {
    /// The device.
    ///
    /// A clone costs some kilobytes of function pointers and borrows nothing. Clone it to keep
    /// using the device while the context is borrowed mutably. Destroy what you create with it
    /// before the context is dropped.
    pub device: ash::Device,
    /// The device's one queue, for graphics, compute and, if there is a window, presenting.
    pub queue: vk::Queue,
    /// Index of the family of `queue`.
    pub queue_family: u32,
    /// Valid bits of a timestamp on `queue`. It is 0 if timestamps are not supported.
    pub timestamp_bits: u32,
    /// The Vulkan entry points.
    pub entry: ash::Entry,
    /// The instance.
    pub instance: ash::Instance,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
    /// Limits and identifiers of the device.
    pub properties: vk::PhysicalDeviceProperties,
    /// Names of the device and its driver.
    pub info: DeviceInfo,
    /// True if validation is on and checks for hazards across submissions.
    pub across_submits: bool,
    /// Transient command pool of `queue_family`, for one-off work.
    pub command_pool: vk::CommandPool,
    /// The device as throng takes it.
    gpu: gpu::Device,
    debug: Option<ash::ext::debug_utils::Device>,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) max_buffer_bytes: u64,
}

impl fmt::Debug for Handles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handles")
            .field("info", &self.info)
            .field("queue_family", &self.queue_family)
            .finish_non_exhaustive()
    }
}

/// An instance, a device, its one queue and an allocator.
///
/// The read-only fields, such as `context.device`, come from [`Handles`]. The device is the best
/// that meets throng's requirements, or the one that the environment variable
/// [`THRONG_DEVICE`](super::DEVICE_VARIABLE) names.
///
/// Objects that are still alive when the context is dropped keep the device and their memory. When
/// the last of them is dropped, everything that was dropped without `destroy` is destroyed, and
/// then the device. If the driver cannot wait for the device, it and all objects are leaked.
///
/// The Vulkan loader and the drivers stay in memory until the process ends, because threads that
/// used a driver can crash after it is unloaded.
///
/// # Lost devices
///
/// After [`StandaloneError::DeviceLost`], destroy every object and drop the context as usual. Then
/// create a new context and everything in it. Waiting for a lost device returns at once.
#[non_exhaustive]
pub struct Context {
    // Moved to `device_owner` on drop. Safe code gets no mutable reference to it, with which it
    // could swap it for another device's.
    pub(crate) allocator: ManuallyDrop<Allocator>,
    handles: Handles,
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
    pub(crate) fn check_surface(&self, surface: &Surface) -> Result<()> {
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
        let candidate = device::choose(&instance_owner, surface)?;
        let owner = DeviceOwner::new(&instance_owner, &candidate)?;
        let instance = instance_owner.instance.clone();
        let physical_device = candidate.physical_device;
        let allocator = allocator(&instance, &owner.device, physical_device)?;
        log::info!("vulkan device {}: {}", candidate.info.index, candidate.info);
        // Not on software drivers, for two reasons. They take several times as long for a picture
        // that is anisotropically filtered throughout. And Mesa 25's lavapipe samples black where
        // texture coordinates have no gradient, which is the case for models that take the colour
        // of a whole triangle from one texel.
        let is_software = candidate.info.kind == vk::PhysicalDeviceType::CPU;
        let asked = desc.sampler_anisotropy && !is_software;
        let enabled = candidate.enabled;
        let enabled = enabled
            .with_sampler_anisotropy(enabled.sampler_anisotropy && asked)
            .with_debug_utils(instance_owner.debug_utils);
        // SAFETY: the handles are from each other, and `device_owner` keeps them alive until the
        // context is dropped. The device was selected and created with the required features and
        // those of `enabled`. `gpu_device` demands that copies are not used afterwards.
        let gpu = unsafe { gpu::Device::new(&instance, physical_device, &owner.device, &enabled) };
        let gpu = gpu.map_err(|error| StandaloneError::NoDevice {
            asked: None,
            devices: vec![Rejected {
                info: candidate.info.clone(),
                why: error.to_string(),
            }],
        })?;
        let debug = instance_owner
            .debug_utils
            .then(|| ash::ext::debug_utils::Device::new(&instance, &owner.device));
        // SAFETY: the handles are alive and belong together.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical_device) };
        let handles = Handles {
            device: owner.device.clone(),
            // SAFETY: the device was made with one queue of this family.
            queue: unsafe { owner.device.get_device_queue(candidate.queue_family, 0) },
            queue_family: candidate.queue_family,
            timestamp_bits: candidate.timestamp_bits,
            entry: instance_owner.entry.clone(),
            instance,
            physical_device,
            properties: candidate.properties,
            info: candidate.info,
            across_submits: instance_owner.across_submits,
            command_pool: owner.pool,
            gpu,
            debug,
            memory,
            max_buffer_bytes: candidate.max_buffer_bytes,
        };
        Ok(Self {
            allocator: ManuallyDrop::new(allocator),
            handles,
            device_owner: Arc::new(owner),
            instance_owner,
        })
    }

    /// The device, which every object created with this context keeps alive.
    pub(crate) fn owner(&self) -> Arc<DeviceOwner> {
        Arc::clone(&self.device_owner)
    }

    /// The device and the allocator, to destroy objects that the device does not use.
    pub(crate) fn idle(&mut self) -> Idle<'_> {
        Idle {
            device: &self.device_owner.device,
            allocator: &mut self.allocator,
        }
    }

    /// Fails if `object` was created with another context.
    pub(crate) fn check_own(&self, owner: &Arc<DeviceOwner>, object: &str) -> Result<()> {
        if Arc::ptr_eq(owner, &self.device_owner) {
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
    pub(crate) fn may_destroy(&mut self, owner: &Arc<DeviceOwner>, object: &str) -> bool {
        if let Err(error) = self.check_own(owner, object) {
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
    fn settle(&mut self) -> Result<()> {
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
    /// Its [`gpu::Device::enabled`] are all optional features that the device supports. On software
    /// drivers, textures are never sampled anisotropically.
    ///
    /// ```no_run
    /// use throng_standalone::{Context, ContextDesc};
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
        self.gpu.clone()
    }

    /// The messages of the validation layer, in a list that outlives the context.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.instance_owner.messages.clone()
    }

    /// Sets the name of an object that tools and messages show, if debug utils are there.
    ///
    /// # Safety
    ///
    /// `object` is a live object of this device, and no other thread uses it.
    pub(crate) unsafe fn set_name(&self, object: impl vk::Handle, name: &str) -> Result<()> {
        let Some(loader) = &self.debug else {
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
        let mut work = OneOff {
            device: &self.device,
            pool: self.command_pool,
            cmd: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            submitted: false,
        };
        work.begin()?;
        let value = record(&self.device, work.cmd);
        work.run(self.queue)?;
        Ok(value)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: nothing uses `self.allocator` after this.
        let allocator = unsafe { ManuallyDrop::take(&mut self.allocator) };
        self.device_owner.keep(allocator);
    }
}

fn allocator(
    instance: &ash::Instance,
    device: &ash::Device,
    physical_device: vk::PhysicalDevice,
) -> Result<Allocator> {
    Allocator::new(&AllocatorCreateDesc {
        instance: instance.clone(),
        device: device.clone(),
        physical_device,
        debug_settings: Default::default(),
        buffer_device_address: true,
        allocation_sizes: Default::default(),
    })
    .map_err(|source| StandaloneError::Allocator {
        name: "allocator".to_owned(),
        source,
    })
}

/// One command buffer and its fence, freed on drop.
struct OneOff<'a> {
    device: &'a ash::Device,
    pool: vk::CommandPool,
    cmd: vk::CommandBuffer,
    fence: vk::Fence,
    /// True while the device may be working on it.
    submitted: bool,
}

impl OneOff<'_> {
    fn begin(&mut self) -> Result<()> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .command_buffer_count(1);
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool belongs to this device, and is borrowed through the context.
        unsafe {
            let cmds = self.device.allocate_command_buffers(&info);
            let cmds = cmds.check("vkAllocateCommandBuffers")?;
            self.cmd = cmds.first().copied().unwrap_or_default();
            let fence = self.device.create_fence(&Default::default(), None);
            self.fence = fence.check("vkCreateFence")?;
            let begun = self.device.begin_command_buffer(self.cmd, &begin);
            begun.check("vkBeginCommandBuffer")
        }
    }

    fn run(&mut self, queue: vk::Queue) -> Result<()> {
        let cmds = [vk::CommandBufferSubmitInfo::default().command_buffer(self.cmd)];
        let submit = [vk::SubmitInfo2::default().command_buffer_infos(&cmds)];
        // SAFETY: the command buffer is recording, the fence is new, and the queue belongs to the
        // context, which is borrowed mutably.
        unsafe {
            let device = self.device;
            let ended = device.end_command_buffer(self.cmd);
            ended.check("vkEndCommandBuffer")?;
            let submitted = device.queue_submit2(queue, &submit, self.fence);
            submitted.check("vkQueueSubmit2")?;
            self.submitted = true;
            let waited = device.wait_for_fences(&[self.fence], true, u64::MAX);
            waited.check("vkWaitForFences")?;
        }
        self.submitted = false;
        Ok(())
    }
}

impl Drop for OneOff<'_> {
    fn drop(&mut self) {
        if self.submitted {
            // The wait failed. Another one is enough.
            // SAFETY: the device is alive, and the context, which owns the queue, is borrowed.
            if let Err(error) = unsafe { settle(self.device) } {
                log::error!("a fence and a command buffer are leaked: {error}");
                return;
            }
        }
        // SAFETY: the work was never submitted, has finished, or was lost with the device, so the
        // device does not use these objects. Null is ignored.
        unsafe {
            self.device.destroy_fence(self.fence, None);
            if self.cmd != vk::CommandBuffer::null() {
                self.device.free_command_buffers(self.pool, &[self.cmd]);
            }
        }
    }
}
