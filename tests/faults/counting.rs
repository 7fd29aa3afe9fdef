//! A device whose functions count live objects, and fail on demand.

pub(crate) use crate::driver::{batches, failing};
pub(crate) use crate::objects::{KINDS, MEMORY, PIPELINES, live, objects};

use crate::driver::{intercepted, reset, set_device};
use crate::support::Setup;
use std::ffi::{CStr, c_void};
use throng::ash::{self, vk};
use throng::gpu::{Device, Features, GpuAllocator};
use throng::gpu_allocator::AllocationSizes;
use throng::gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use throng::{Capacity, Crowd, CrowdDesc, Threads};

/// The counting device of a setup, with its own allocator.
///
/// The counts are of this setup alone, because a thread has one setup at a time.
pub(crate) struct Counted {
    pub(crate) device: ash::Device,
    pub(crate) allocator: GpuAllocator<Box<Allocator>>,
    /// The cache that every pipeline must be created with.
    pub(crate) cache: vk::PipelineCache,
}

impl Counted {
    pub(crate) fn new(setup: &Setup) -> Self {
        reset();
        let context = &setup.context;
        let load = |name: &CStr| {
            let handle = context.device.handle();
            let real = unsafe { context.instance.get_device_proc_addr(handle, name.as_ptr()) };
            let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
            intercepted(name.to_str().unwrap(), real)
        };
        let device = unsafe { ash::Device::load_with(load, context.device.handle()) };
        set_device(Some(context.device.clone()));
        Self {
            allocator: allocator(setup, &device),
            device,
            cache: vk::PipelineCache::null(),
        }
    }

    /// Replaces the allocator by one that has not taken memory yet.
    pub(crate) fn renew(&mut self, setup: &Setup) {
        self.allocator = allocator(setup, &self.device);
        assert_eq!(live()[MEMORY], 0);
    }

    /// The counted device as throng takes it.
    pub(crate) fn device(&self, setup: &Setup) -> Device {
        self.device_of(setup, &setup.context.instance, &self.device)
    }

    /// As [`Self::device`], with other functions of the same instance and device.
    pub(crate) fn device_of(
        &self,
        setup: &Setup,
        instance: &ash::Instance,
        device: &ash::Device,
    ) -> Device {
        let physical_device = setup.context.physical_device;
        let mut enabled = Features::REQUIRED | Features::DYNAMIC_RENDERING;
        if !setup.config.bare {
            enabled |= Features::DEBUG_UTILS;
        }
        // SAFETY: the device has the required features and outlives what is made with it. So does
        // the cache, which is this device's.
        unsafe {
            let device = Device::new(instance, physical_device, device, enabled).unwrap();
            device.with_pipeline_cache(self.cache)
        }
    }

    pub(crate) fn crowd(
        &mut self,
        setup: &Setup,
        frames_in_flight: u32,
        capacity: Capacity,
    ) -> Crowd {
        // The queue of rayon's pool allocates now and then.
        let desc = CrowdDesc {
            threads: Threads::One,
            ..setup.crowd_desc(frames_in_flight, capacity)
        };
        Crowd::new(&self.device(setup), &mut self.allocator, &desc).unwrap()
    }

    /// The number of live allocations.
    pub(crate) fn allocations(&self) -> usize {
        self.allocator.generate_report().allocations.len()
    }

    /// Asserts that no object, no allocation and, without the allocator, no memory is left.
    pub(crate) fn finish(self) {
        assert_eq!(objects(), [0; KINDS]);
        assert_eq!(self.allocations(), 0);
        drop(self.allocator);
        assert_eq!(live(), [0; KINDS]);
    }
}

fn allocator(setup: &Setup, device: &ash::Device) -> GpuAllocator<Box<Allocator>> {
    let desc = AllocatorCreateDesc {
        instance: setup.context.instance.clone(),
        device: device.clone(),
        physical_device: setup.context.physical_device,
        debug_settings: Default::default(),
        buffer_device_address: true,
        // The blocks are small, so that there are several.
        allocation_sizes: AllocationSizes::new(4 << 20, 4 << 20),
    };
    let allocator = Box::new(Allocator::new(&desc).unwrap());
    // SAFETY: the allocator was made for this device, which outlives it.
    unsafe { GpuAllocator::new(device, allocator) }
}
