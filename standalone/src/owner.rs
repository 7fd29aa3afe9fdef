//! The device, which a context shares with everything that was created with it.

use super::Result;
use super::device::Candidate;
use super::error::Check;
use super::instance::InstanceOwner;
use ash::vk;
use gpu_allocator::vulkan::{Allocation, Allocator};
use std::fmt;
use std::mem::{forget, take};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use throng::gpu::FeatureChain;

/// A device that uses none of the objects that are about to be destroyed.
pub(crate) struct Idle<'a> {
    pub(crate) device: &'a ash::Device,
    pub(crate) allocator: &'a mut Allocator,
}

impl Idle<'_> {
    /// Frees memory, and logs an error if the allocator does not know it.
    pub(crate) fn free(&mut self, name: &str, allocation: Option<Allocation>) {
        if let Some(allocation) = allocation
            && let Err(error) = self.allocator.free(allocation)
        {
            log::error!("cannot free the memory of `{name}`: {error}");
        }
    }
}

/// Destroys the Vulkan objects that it owns.
pub(crate) type Destroy = Box<dyn FnOnce(&mut Idle<'_>) + Send>;

/// The device, the command pool for one-off work, and their instance.
///
/// The context and each of its objects hold one reference. The last one destroys the device.
pub(crate) struct DeviceOwner {
    pub(crate) device: ash::Device,
    pub(crate) pool: vk::CommandPool,
    left: Mutex<Left>,
    // Declared after `device`, because the instance must be destroyed last.
    instance: Arc<InstanceOwner>,
}

/// The objects that are destroyed with the device.
#[derive(Default)]
struct Left {
    /// Objects that were dropped without `destroy`. The device may be using them.
    objects: Vec<Destroy>,
    /// The allocator, once the context was dropped.
    allocator: Option<Allocator>,
}

impl fmt::Debug for DeviceOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceOwner").finish_non_exhaustive()
    }
}

impl DeviceOwner {
    pub(crate) fn new(instance: &Arc<InstanceOwner>, candidate: &Candidate) -> Result<Self> {
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(candidate.queue_family)
            .queue_priorities(&[1.0])];
        let extensions: Vec<_> = candidate.extensions.iter().map(|e| e.as_ptr()).collect();
        let enabled = &candidate.enabled;
        // Every device of Vulkan 1.3 has timeline semaphores, dynamic rendering and
        // synchronization2. Targets and images of `standalone` need the last two.
        let mut of_12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let mut of_13 = vk::PhysicalDeviceVulkan13Features::default()
            .dynamic_rendering(true)
            .synchronization2(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut of_12)
            .push_next(&mut of_13);
        let mut chain = FeatureChain::new(*enabled);
        // SAFETY: the chain is that of this function, and the device supports what is enabled.
        let info = unsafe { chain.add_to(info) };
        // SAFETY: everything enabled is supported, and `info` lives until the call returns.
        let device = unsafe {
            let physical_device = candidate.physical_device;
            instance
                .instance
                .create_device(physical_device, &info, None)
        }
        .check("vkCreateDevice")?;
        let mut owner = Self {
            device,
            pool: vk::CommandPool::null(),
            left: Mutex::default(),
            instance: Arc::clone(instance),
        };
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(candidate.queue_family);
        // SAFETY: the device was created with this queue family.
        owner.pool = unsafe { owner.device.create_command_pool(&info, None) }
            .check("vkCreateCommandPool")?;
        Ok(owner)
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Destroys an object that was dropped without `destroy` together with the device.
    pub(crate) fn drop_later(&self, destroy: Destroy) {
        self.left().objects.push(destroy);
    }

    /// Takes the allocator of a context that is dropped.
    pub(crate) fn keep(&self, allocator: Allocator) {
        self.left().allocator = Some(allocator);
    }
}

impl Drop for DeviceOwner {
    fn drop(&mut self) {
        let Left { objects, allocator } = take(&mut *self.left());
        // SAFETY: this was the last reference, so no other thread uses the queue.
        if let Err(error) = unsafe { settle(&self.device) } {
            log::error!("the device is not destroyed: {error}");
            // The device may still use everything that was created with it.
            forget((objects, allocator, Arc::clone(&self.instance)));
            return;
        }
        // Objects were created with a context, which has left its allocator.
        if let Some(mut allocator) = allocator {
            let (device, allocator) = (&self.device, &mut allocator);
            let mut idle = Idle { device, allocator };
            objects.into_iter().for_each(|destroy| destroy(&mut idle));
        }
        // SAFETY: every object of this module holds a reference until it is destroyed. Callers of
        // unsafe functions have destroyed their own objects before they dropped the context, by the
        // documentation of `Handles::device`.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
        }
    }
}

/// Waits until the device uses none of its objects.
///
/// A lost device counts as idle, because its objects may be destroyed. A wait that runs out of
/// memory is repeated.
///
/// # Safety
///
/// The device is alive, and no other thread uses its queues.
pub(crate) unsafe fn settle(device: &ash::Device) -> Result<()> {
    const ATTEMPTS: u32 = 10;
    let mut attempt = 1;
    loop {
        // SAFETY: the caller guarantees that no other thread uses the queues.
        match unsafe { device.device_wait_idle() } {
            Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST) => return Ok(()),
            Err(result) if attempt == ATTEMPTS => return Err(result).check("vkDeviceWaitIdle"),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
        attempt += 1;
    }
}
