//! The Vulkan objects that a program needs before it can draw.

use crate::device::{self, Candidate};
use crate::error::Check;
use crate::instance::Instance;
use crate::surface::{self, Surface};
use crate::{ContextDesc, Messages, Result, StandaloneError};
use ash::vk;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use std::ffi::CString;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::rc::Rc;
use std::time::Duration;
use throng::gpu::{self, FeatureChain, Features, GpuAllocator};

/// Instance, device and queue of a [`Context`], as read-only fields.
///
/// A context dereferences to them. Everything that is created with it shares them, so they cannot
/// be changed, and the last owner destroys the device:
///
/// ```compile_fail,E0594
/// # use throng::ash::vk;
/// # use throng_standalone::Context;
/// fn not_possible(context: &mut Context) {
///     context.queue = vk::Queue::null();
/// }
/// ```
#[non_exhaustive]
pub struct Handles {
    /// The device.
    ///
    /// A clone borrows nothing. Destroy what you create with it before the context is dropped.
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
    /// The names of the device and its driver, and its Vulkan version, for display.
    pub info: String,
    /// True if validation is on and checks for hazards across submissions.
    pub across_submits: bool,
    /// The messages of the validation layer. A clone outlives the context.
    pub messages: Messages,
    /// Transient command pool of `queue_family`, for one-off work.
    pub command_pool: vk::CommandPool,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) max_buffer_bytes: u64,
    debug: Option<ash::ext::debug_utils::Device>,
    /// Destroyed after the device.
    pub(crate) owner: ManuallyDrop<Instance>,
    /// The queue is used by one thread at a time, so these stay on theirs.
    one_thread: PhantomData<*const ()>,
}

impl Handles {
    fn new(owner: Instance, candidate: &Candidate) -> Result<Self> {
        let (instance, physical_device) = (owner.instance.clone(), candidate.physical_device);
        let device = create_device(&instance, candidate)?;
        let debug = owner
            .debug_utils
            .then(|| ash::ext::debug_utils::Device::new(&instance, &device));
        // SAFETY: the instance is alive and has this device, which was made with one queue of this
        // family.
        let (memory, queue) = unsafe {
            (
                instance.get_physical_device_memory_properties(physical_device),
                device.get_device_queue(candidate.queue_family, 0),
            )
        };
        let mut handles = Self {
            device,
            queue,
            queue_family: candidate.queue_family,
            timestamp_bits: candidate.timestamp_bits,
            entry: owner.entry.clone(),
            instance,
            physical_device,
            properties: candidate.properties,
            info: candidate.info.clone(),
            across_submits: owner.across_submits,
            messages: owner.messages.clone(),
            command_pool: vk::CommandPool::null(),
            memory,
            max_buffer_bytes: candidate.max_buffer_bytes,
            debug,
            owner: ManuallyDrop::new(owner),
            one_thread: PhantomData,
        };
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(candidate.queue_family);
        // SAFETY: the device was created with this queue family.
        handles.command_pool = unsafe { handles.device.create_command_pool(&info, None) }
            .check("vkCreateCommandPool")?;
        Ok(handles)
    }

    /// Waits until the device is idle.
    ///
    /// # Errors
    ///
    /// Returns the error of `vkDeviceWaitIdle`.
    pub fn wait_idle(&self) -> Result<()> {
        // SAFETY: the device is alive. Only this thread uses the queue in safe code, and callers of
        // unsafe functions with the raw handle synchronise it.
        unsafe { self.device.device_wait_idle() }.check("vkDeviceWaitIdle")
    }

    /// Waits until `object` may be destroyed. Logs an error and returns false if it must be leaked.
    ///
    /// The objects of a lost device may be destroyed. A wait that runs out of memory is repeated.
    pub(crate) fn may_destroy(&self, object: &str) -> bool {
        const ATTEMPTS: u32 = 10;
        for attempt in 1..=ATTEMPTS {
            match self.wait_idle() {
                Ok(()) | Err(StandaloneError::DeviceLost { .. }) => return true,
                Err(error) if attempt == ATTEMPTS => log::error!("{object} is leaked: {error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        false
    }

    /// Submits command buffers that wait for one semaphore and signal another.
    ///
    /// # Safety
    ///
    /// The command buffers have valid commands. The semaphore to wait for has a signal pending,
    /// the other two objects have none.
    pub(crate) unsafe fn submit(
        &self,
        cmds: &[vk::CommandBuffer],
        wait: Option<(vk::Semaphore, vk::PipelineStageFlags2)>,
        signal: Option<vk::Semaphore>,
        fence: vk::Fence,
    ) -> Result<()> {
        let of = |(semaphore, stages)| {
            vk::SemaphoreSubmitInfo::default()
                .semaphore(semaphore)
                .stage_mask(stages)
        };
        let wait = wait.map(of);
        let signal = signal.map(|signal| of((signal, vk::PipelineStageFlags2::ALL_COMMANDS)));
        let of =
            |cmd: &vk::CommandBuffer| vk::CommandBufferSubmitInfo::default().command_buffer(*cmd);
        let cmds: Vec<_> = cmds.iter().map(of).collect();
        let submit = vk::SubmitInfo2::default()
            .wait_semaphore_infos(wait.as_slice())
            .command_buffer_infos(&cmds)
            .signal_semaphore_infos(signal.as_slice());
        // SAFETY: the caller guarantees it, and only this thread uses the queue.
        unsafe { self.device.queue_submit2(self.queue, &[submit], fence) }.check("vkQueueSubmit2")
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
}

impl Drop for Handles {
    fn drop(&mut self) {
        if self.may_destroy("the device") {
            // SAFETY: every object of this crate shares the handles until it is destroyed. Callers
            // of unsafe functions destroy theirs first, by the documentation of `device`. The
            // instance is destroyed last, and not used afterwards.
            unsafe {
                self.device.destroy_command_pool(self.command_pool, None);
                self.device.destroy_device(None);
                ManuallyDrop::drop(&mut self.owner);
            }
        }
    }
}

/// An instance, a device, its one queue and an allocator.
///
/// The read-only fields, such as `context.device`, come from [`Handles`]. The device is the best
/// that meets throng's requirements, or the one that the environment variable
/// `THRONG_DEVICE` names, by its index or a part of its name.
///
/// The Vulkan loader and the drivers stay in memory until the process ends, because threads that
/// used a driver can crash after it is unloaded.
///
/// # Lost devices
///
/// After [`StandaloneError::DeviceLost`], drop everything, and create a new context and everything
/// in it. Waiting for a lost device returns at once.
pub struct Context {
    // Safe code gets no mutable reference to it, with which it could swap it for another device's.
    allocator: ManuallyDrop<Allocator>,
    gpu: gpu::Device,
    shared: Rc<Handles>,
}

impl Deref for Context {
    type Target = Rc<Handles>;

    fn deref(&self) -> &Rc<Handles> {
        &self.shared
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("info", &self.info)
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
        let owner = Instance::new(desc, &[])?;
        let candidate = device::choose(&owner, None, desc.rays)?;
        Self::on(desc, owner, candidate)
    }

    /// Creates a context whose queue can present to a window, and to others of its window system.
    ///
    /// # Errors
    ///
    /// As [`Context::new`]. Also returns an error if the window has no handle.
    pub fn for_window(
        desc: &ContextDesc<'_>,
        window: &(impl HasDisplayHandle + HasWindowHandle),
    ) -> Result<Self> {
        let owner = Instance::new(desc, &surface::required_extensions(window)?)?;
        let surface = Surface::new(&owner, window)?;
        let candidate = device::choose(&owner, Some(&surface), desc.rays)?;
        drop(surface);
        Self::on(desc, owner, candidate)
    }

    fn on(desc: &ContextDesc<'_>, owner: Instance, candidate: Candidate) -> Result<Self> {
        let handles = Rc::new(Handles::new(owner, &candidate)?);
        log::info!("vulkan device {}", handles.info);
        let mut enabled = candidate.enabled;
        if !desc.sampler_anisotropy {
            enabled = enabled - Features::SAMPLER_ANISOTROPY;
        }
        if handles.owner.debug_utils {
            enabled |= Features::DEBUG_UTILS;
        }
        let (instance, device) = (&handles.instance, &handles.device);
        let physical_device = handles.physical_device;
        // SAFETY: the handles belong together and live until the context is dropped. The device was
        // created with the features of `enabled`. `gpu_device` demands that copies are not used
        // afterwards.
        let gpu = unsafe { gpu::Device::new(instance, physical_device, device, enabled) };
        let gpu = gpu.map_err(|error| StandaloneError::NoDevice {
            asked: None,
            devices: vec![(candidate.info, error.to_string())],
        })?;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device,
            debug_settings: Default::default(),
            buffer_device_address: true,
            allocation_sizes: Default::default(),
        })
        .map_err(|source| StandaloneError::Allocator { source })?;
        Ok(Self {
            allocator: ManuallyDrop::new(allocator),
            gpu,
            shared: handles,
        })
    }

    /// The allocator of device memory for throng's objects.
    pub fn allocator(&mut self) -> GpuAllocator<&mut Allocator> {
        // SAFETY:
        // - `on` made it for this device, with `buffer_device_address`. `shared` keeps the device
        //   alive longer than the result, which borrows the context.
        // - It lives until the context is dropped. A block is only data, so safe code can keep it
        //   longer, but not use it: `gpu_device`, without which throng makes nothing with it,
        //   demands that nothing made with the result is used after the context was dropped.
        // - No safe function gives out another allocator of this device.
        unsafe { GpuAllocator::new(&self.shared.device, &mut *self.allocator) }
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
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.may_destroy("the allocator") {
            // SAFETY: nothing uses it after this, and the device does not use its memory.
            unsafe { ManuallyDrop::drop(&mut self.allocator) };
        }
    }
}

fn create_device(instance: &ash::Instance, candidate: &Candidate) -> Result<ash::Device> {
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(candidate.queue_family)
        .queue_priorities(&[1.0])];
    let extensions: Vec<_> = candidate.extensions.iter().map(|e| e.as_ptr()).collect();
    // Every device of Vulkan 1.3 has timeline semaphores, dynamic rendering and synchronization2.
    // Targets and images of this crate need the last two.
    let mut of_12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let mut of_13 = vk::PhysicalDeviceVulkan13Features::default()
        .dynamic_rendering(true)
        .synchronization2(true);
    let mut queries = vk::PhysicalDeviceRayQueryFeaturesKHR::default().ray_query(true);
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .push_next(&mut of_12)
        .push_next(&mut of_13);
    if candidate.enabled.contains(Features::ACCELERATION_STRUCTURE) {
        info = info.push_next(&mut queries);
    }
    let mut chain = FeatureChain::new(candidate.enabled);
    // SAFETY: the chain is that of this function, the device supports what is enabled, and `info`
    // lives until the call returns.
    unsafe {
        let info = chain.add_to(info);
        instance.create_device(candidate.physical_device, &info, None)
    }
    .check("vkCreateDevice")
}
