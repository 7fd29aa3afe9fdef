//! A device whose functions count live objects, and fail on demand.

use crate::support::Setup;
use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use throng::ash::{self, vk};
use throng::gpu::{Enabled, GpuAllocator, MemoryAllocator};
use throng::gpu_allocator::AllocationSizes;
use throng::gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use throng::{Capacity, Crowd, CrowdDesc, Gpu, Threads};

/// Number of calls that succeed until one fails. If it is negative, no call fails.
static UNTIL_FAILURE: AtomicI64 = AtomicI64::new(-1);
static FAILED: Mutex<Option<&'static str>> = Mutex::new(None);

const OUT_OF_MEMORY: i32 = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY.as_raw();

fn fails(call: &'static str) -> bool {
    let left = UNTIL_FAILURE.load(Relaxed);
    if left >= 0 {
        UNTIL_FAILURE.store(left - 1, Relaxed);
    }
    if left == 0 {
        *lock(&FAILED) = Some(call);
    }
    left == 0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) const KINDS: usize = 11;
pub(crate) const PIPELINES: usize = 9;
pub(crate) const MEMORY: usize = 10;
static LIVE: [AtomicI64; KINDS] = [const { AtomicI64::new(0) }; KINDS];

/// The number of live objects of each kind.
pub(crate) fn live() -> [i64; KINDS] {
    std::array::from_fn(|kind| LIVE[kind].load(Relaxed))
}

/// The same without memory blocks, which the allocator may keep.
pub(crate) fn objects() -> [i64; KINDS] {
    let mut live = live();
    live[MEMORY] = 0;
    live
}

/// Functions that create one object or a memory block: `fn(device, info, callbacks, out)`.
macro_rules! creators {
    ($($function:ident $name:literal $kind:expr;)*) => {
        $(mod $function {
            use super::*;
            pub(super) static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            type Function = unsafe extern "system" fn(*mut c_void, *const c_void, *const c_void, *mut u64) -> i32;
            pub(super) unsafe extern "system" fn call(
                device: *mut c_void, info: *const c_void, callbacks: *const c_void, out: *mut u64,
            ) -> i32 {
                if fails($name) {
                    return OUT_OF_MEMORY;
                }
                let real: Function = unsafe { transmute(REAL.load(Relaxed)) };
                let result = unsafe { real(device, info, callbacks, out) };
                LIVE[$kind].fetch_add(i64::from(result == 0), Relaxed);
                result
            }
        })*
        fn creator(name: &str) -> Option<(&'static AtomicPtr<c_void>, *const c_void)> {
            match name {
                $($name => Some((&$function::REAL, $function::call as *const c_void)),)*
                _ => None,
            }
        }
    };
}

/// Functions that destroy one object: `fn(device, object, callbacks)`.
macro_rules! destroyers {
    ($($function:ident $name:literal $kind:expr;)*) => {
        $(mod $function {
            use super::*;
            pub(super) static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            type Function = unsafe extern "system" fn(*mut c_void, u64, *const c_void);
            pub(super) unsafe extern "system" fn call(device: *mut c_void, object: u64, callbacks: *const c_void) {
                let real: Function = unsafe { transmute(REAL.load(Relaxed)) };
                unsafe { real(device, object, callbacks) };
                LIVE[$kind].fetch_sub(i64::from(object != 0), Relaxed);
            }
        })*
        fn destroyer(name: &str) -> Option<(&'static AtomicPtr<c_void>, *const c_void)> {
            match name {
                $($name => Some((&$function::REAL, $function::call as *const c_void)),)*
                _ => None,
            }
        }
    };
}

/// Functions with other arguments. Each creates one object of a kind, or none (`None`).
macro_rules! others {
    ($($function:ident $name:literal $kind:expr, ($($argument:ident: $type:ty),*) $on_failure:block;)*) => {
        $(mod $function {
            use super::*;
            pub(super) static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            type Function = unsafe extern "system" fn(*mut c_void, $($type),*) -> i32;
            pub(super) unsafe extern "system" fn call(device: *mut c_void, $($argument: $type),*) -> i32 {
                if fails($name) {
                    $on_failure
                    return OUT_OF_MEMORY;
                }
                let real: Function = unsafe { transmute(REAL.load(Relaxed)) };
                let result = unsafe { real(device, $($argument),*) };
                let kind: Option<usize> = $kind;
                if let Some(kind) = kind {
                    LIVE[kind].fetch_add(i64::from(result == 0), Relaxed);
                }
                result
            }
        })*
        fn other(name: &str) -> Option<(&'static AtomicPtr<c_void>, *const c_void)> {
            match name {
                $($name => Some((&$function::REAL, $function::call as *const c_void)),)*
                _ => None,
            }
        }
    };
}

creators! {
    create_buffer "vkCreateBuffer" 0;
    create_image "vkCreateImage" 1;
    create_image_view "vkCreateImageView" 2;
    create_sampler "vkCreateSampler" 3;
    create_descriptor_pool "vkCreateDescriptorPool" 4;
    create_descriptor_set_layout "vkCreateDescriptorSetLayout" 5;
    create_pipeline_layout "vkCreatePipelineLayout" 6;
    create_shader_module "vkCreateShaderModule" 7;
    create_query_pool "vkCreateQueryPool" 8;
    allocate_memory "vkAllocateMemory" MEMORY;
}

destroyers! {
    destroy_buffer "vkDestroyBuffer" 0;
    destroy_image "vkDestroyImage" 1;
    destroy_image_view "vkDestroyImageView" 2;
    destroy_sampler "vkDestroySampler" 3;
    destroy_descriptor_pool "vkDestroyDescriptorPool" 4;
    destroy_descriptor_set_layout "vkDestroyDescriptorSetLayout" 5;
    destroy_pipeline_layout "vkDestroyPipelineLayout" 6;
    destroy_shader_module "vkDestroyShaderModule" 7;
    destroy_query_pool "vkDestroyQueryPool" 8;
    destroy_pipeline "vkDestroyPipeline" PIPELINES;
    free_memory "vkFreeMemory" MEMORY;
}

others! {
    allocate_descriptor_sets "vkAllocateDescriptorSets" None, (info: *const c_void, out: *mut u64) {};
    bind_buffer_memory "vkBindBufferMemory" None, (buffer: u64, memory: u64, offset: u64) {};
    bind_image_memory "vkBindImageMemory" None, (image: u64, memory: u64, offset: u64) {};
    map_memory "vkMapMemory" None,
        (memory: u64, offset: u64, size: u64, flags: u32, out: *mut *mut c_void) {};
}

/// Functions that create several pipelines: `fn(device, cache, count, infos, callbacks, out)`.
macro_rules! pipeline_creators {
    ($($function:ident $name:literal;)*) => {
        $(mod $function {
            use super::*;
            pub(super) static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            type Function = unsafe extern "system" fn(
                *mut c_void, u64, u32, *const c_void, *const c_void, *mut u64,
            ) -> i32;
            pub(super) unsafe extern "system" fn call(
                device: *mut c_void, cache: u64, count: u32, infos: *const c_void,
                callbacks: *const c_void, out: *mut u64,
            ) -> i32 {
                lock(&BATCHES).push((cache, count));
                if fails($name) {
                    unsafe { std::slice::from_raw_parts_mut(out, count as usize) }.fill(0);
                    return OUT_OF_MEMORY;
                }
                let real: Function = unsafe { transmute(REAL.load(Relaxed)) };
                let result = unsafe { real(device, cache, count, infos, callbacks, out) };
                if result == 0 {
                    LIVE[PIPELINES].fetch_add(count.into(), Relaxed);
                }
                result
            }
        })*
        fn pipeline_creator(name: &str) -> Option<(&'static AtomicPtr<c_void>, *const c_void)> {
            match name {
                $($name => Some((&$function::REAL, $function::call as *const c_void)),)*
                _ => None,
            }
        }
    };
}

pipeline_creators! {
    create_graphics_pipelines "vkCreateGraphicsPipelines";
    create_compute_pipelines "vkCreateComputePipelines";
}

/// The cache and the number of pipelines of every call that created pipelines.
static BATCHES: Mutex<Vec<(u64, u32)>> = Mutex::new(Vec::new());

/// The caches and numbers of pipelines of the calls since this was called last.
pub(crate) fn batches() -> Vec<(u64, u32)> {
    std::mem::take(&mut *lock(&BATCHES))
}

/// The counting device of a setup, with its own allocator.
///
/// The counts are of this setup alone, because there is one setup at a time.
pub(crate) struct Counted {
    pub(crate) device: ash::Device,
    pub(crate) allocator: GpuAllocator<Box<Allocator>>,
    /// The cache that every pipeline must be created with.
    pub(crate) cache: vk::PipelineCache,
}

impl Counted {
    pub(crate) fn new(setup: &Setup) -> Self {
        arm(-1);
        for count in &LIVE {
            count.store(0, Relaxed);
        }
        let context = &setup.context;
        let load = |name: &CStr| {
            let handle = context.device.handle();
            let real = unsafe { context.instance.get_device_proc_addr(handle, name.as_ptr()) };
            let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
            let text = name.to_str().unwrap();
            match creator(text)
                .or(destroyer(text))
                .or(other(text))
                .or(pipeline_creator(text))
            {
                Some((frame_index, counting)) => {
                    frame_index.store(real.cast_mut(), Relaxed);
                    counting
                }
                None => real,
            }
        };
        let device = unsafe { ash::Device::load_with(load, context.device.handle()) };
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

    pub(crate) fn parts<'a>(
        &'a mut self,
        setup: &'a Setup,
    ) -> (Gpu<'a>, &'a mut dyn MemoryAllocator) {
        const ALL: Enabled = Enabled::NONE.with_debug_utils(true);
        let gpu = Gpu {
            instance: &setup.context.instance,
            physical_device: setup.context.physical_device,
            device: &self.device,
            enabled: if setup.config.bare {
                &Enabled::NONE
            } else {
                &ALL
            },
            pipeline_cache: self.cache,
        };
        (gpu, &mut self.allocator)
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
        let (gpu, allocator) = self.parts(setup);
        unsafe { Crowd::new(&gpu, allocator, &desc) }.unwrap()
    }

    /// The number of live allocations.
    pub(crate) fn allocations(&self) -> usize {
        self.allocator.get().generate_report().allocations.len()
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

/// Makes the call fail that follows `successes` more calls. If it is negative, no call fails.
fn arm(successes: i64) {
    UNTIL_FAILURE.store(successes, Relaxed);
    *lock(&FAILED) = None;
}

/// Runs `work` while call number `number` fails. Returns that call, if it was reached.
pub(crate) fn failing<T>(number: i64, work: impl FnOnce() -> T) -> (T, Option<&'static str>) {
    arm(number);
    let result = work();
    let failed = lock(&FAILED).take();
    arm(-1);
    (result, failed)
}
