//! The device, which a context shares with everything that was created with it.

use super::device::Candidate;
use super::error::Check;
use super::instance::InstanceOwner;
use super::{Result, StandaloneError};
use ash::vk;
use gpu_allocator::vulkan::{Allocation, Allocator};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Identifies the context that an object was created with.
///
/// No two contexts of a process share an id. A device handle is not enough, because a new device
/// may get the handle of a destroyed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContextId(u64);

impl ContextId {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A device that uses none of the objects that are about to be destroyed.
pub(super) struct Idle<'a> {
    pub(super) device: &'a ash::Device,
    pub(super) allocator: &'a mut Allocator,
}

impl Idle<'_> {
    /// Frees memory, and logs an error if the allocator does not know it.
    pub(super) fn free(&mut self, name: &str, allocation: Option<Allocation>) {
        if let Some(allocation) = allocation
            && let Err(error) = self.allocator.free(allocation)
        {
            log::error!("cannot free the memory of `{name}`: {error}");
        }
    }
}

/// Destroys the Vulkan objects that it owns.
pub(super) type Destroy = Box<dyn FnOnce(&mut Idle<'_>) + Send>;

/// The fate of objects that are dropped without `destroy`.
enum Dropped {
    /// The context is alive, so the device may be using them. They are kept until it is idle.
    Kept(Vec<Destroy>),
    /// The context was dropped, so the device is idle for good. They are destroyed at once.
    Destroyed(Box<Allocator>),
}

/// The device, the command pool for one-off work, and their instance.
///
/// The context and each of its objects hold one reference. The last one destroys the device.
pub(super) struct DeviceOwner {
    pub(super) device: ash::Device,
    pub(super) pool: vk::CommandPool,
    pub(super) id: ContextId,
    dropped: Mutex<Dropped>,
    // Declared after `device`, because the instance must be destroyed last.
    _instance: Arc<InstanceOwner>,
}

impl fmt::Debug for DeviceOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceOwner")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl DeviceOwner {
    /// Creates the device of the first candidate whose driver can.
    pub(super) fn first(
        instance: &Arc<InstanceOwner>,
        candidates: Vec<Candidate>,
    ) -> Result<(Self, Candidate)> {
        let mut first = None;
        for candidate in candidates {
            match Self::new(instance, &candidate) {
                Ok(owner) => return Ok((owner, candidate)),
                Err(error) => {
                    log::warn!("cannot create a device on {}: {error}", candidate.info);
                    first.get_or_insert(error);
                }
            }
        }
        Err(first.unwrap_or(StandaloneError::NoDevice {
            asked: None,
            devices: Vec::new(),
        }))
    }

    fn new(instance: &Arc<InstanceOwner>, candidate: &Candidate) -> Result<Self> {
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(candidate.queue_family)
            .queue_priorities(&priorities)];
        let extensions: Vec<_> = candidate.extensions.iter().map(|e| e.as_ptr()).collect();
        let mut features = candidate.enabled;
        let mut chain = features.chain();
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut chain);
        // SAFETY: everything enabled is supported, and `info` lives until the call returns.
        let device = unsafe {
            instance
                .instance
                .create_device(candidate.physical_device, &info, None)
        }
        .check("vkCreateDevice")?;
        let mut owner = Self {
            device,
            pool: vk::CommandPool::null(),
            id: ContextId::new(),
            dropped: Mutex::new(Dropped::Kept(Vec::new())),
            _instance: Arc::clone(instance),
        };
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(candidate.queue_family);
        // SAFETY: the device was created with this queue family.
        owner.pool = unsafe { owner.device.create_command_pool(&info, None) }
            .check("vkCreateCommandPool")?;
        Ok(owner)
    }

    /// Destroys objects that were dropped without `destroy`, now or when the context is dropped.
    ///
    /// Returns true if they were destroyed now.
    pub(super) fn drop_later(&self, destroy: Destroy) -> bool {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *dropped {
            Dropped::Kept(all) => {
                all.push(destroy);
                false
            }
            Dropped::Destroyed(allocator) => {
                let device = &self.device;
                destroy(&mut Idle { device, allocator });
                true
            }
        }
    }

    /// Takes the allocator of a context that is dropped, and destroys all objects that were kept.
    ///
    /// The device must be idle or lost, and nothing may be submitted to it any more.
    pub(super) fn close(&self, allocator: Allocator) {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        let mut allocator = Box::new(allocator);
        if let Dropped::Kept(all) = &mut *dropped {
            for destroy in all.drain(..) {
                let (device, allocator) = (&self.device, &mut *allocator);
                destroy(&mut Idle { device, allocator });
            }
        }
        *dropped = Dropped::Destroyed(allocator);
    }
}

impl Drop for DeviceOwner {
    fn drop(&mut self) {
        // The allocator frees its memory before the device is destroyed.
        *self
            .dropped
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner) = Dropped::Kept(Vec::new());
        // SAFETY: this was the last reference, and every object of this module holds one until it
        // is destroyed. Callers of unsafe functions have destroyed their own objects before they
        // dropped the context, by the documentation of `Handles::device`. The `Drop` of the context
        // has waited for the device, and leaks a reference if it cannot.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
        }
    }
}
