//! A driver between the crate and the real one. It counts live objects, and calls fail on demand.
//!
//! Each thread has its own counts and its own failing calls. A test has a thread of its own, and
//! makes all its calls on it, so tests may run side by side.

use crate::objects::{DEVICES, EVENTS, INSTANCES, MEMORY, MESSENGERS, PIPELINES, count, forget};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use throng::ash::{self, vk};

type Handle = *mut c_void;
type In = *const c_void;

thread_local! {
    /// Number of calls that succeed until one fails. If it is negative, no call fails.
    static UNTIL_FAILURE: Cell<i64> = const { Cell::new(-1) };
    /// The result of the call that fails.
    static ANSWER: Cell<vk::Result> = const { Cell::new(vk::Result::SUCCESS) };
    static FAILED: Cell<Option<&'static str>> = const { Cell::new(None) };
    /// The device is lost: it answers so until it is revived.
    static LOST: Cell<bool> = const { Cell::new(false) };
    /// Waiting for the device always runs out of memory.
    static STUCK: Cell<bool> = const { Cell::new(false) };
    static TRACING: Cell<bool> = const { Cell::new(false) };
    static TRACE: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    /// The functions of the real device.
    static DEVICE: RefCell<Option<ash::Device>> = const { RefCell::new(None) };
    /// The cache and the number of pipelines of every call that created pipelines.
    static BATCHES: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

/// The calls that the specification lets answer `VK_ERROR_DEVICE_LOST`.
pub(crate) const LOSABLE: [&str; 9] = [
    "vkAcquireNextImageKHR",
    "vkCreateSwapchainKHR",
    "vkDeviceWaitIdle",
    "vkGetEventStatus",
    "vkGetQueryPoolResults",
    "vkQueuePresentKHR",
    "vkQueueSubmit2",
    "vkWaitForFences",
    "vkCreateDevice",
];

/// The result of this call, if the real driver must not be asked.
pub(crate) fn answer(call: &'static str) -> Option<vk::Result> {
    if LOST.get() && LOSABLE.contains(&call) {
        return Some(vk::Result::ERROR_DEVICE_LOST);
    }
    if TRACING.get() {
        TRACE.with_borrow_mut(|trace| trace.push(call));
    }
    if STUCK.get() && call == "vkDeviceWaitIdle" {
        return Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    }
    let left = UNTIL_FAILURE.get();
    if left >= 0 {
        UNTIL_FAILURE.set(left - 1);
    }
    if left != 0 {
        return None;
    }
    FAILED.set(Some(call));
    let answer = ANSWER.get();
    if answer == vk::Result::ERROR_DEVICE_LOST {
        // A lost device executes nothing. The real one finishes, so that the layer knows it, too.
        with_device(|device| unsafe { device.device_wait_idle() }.unwrap());
        LOST.set(true);
    }
    Some(answer)
}

/// Sets the functions of the real device.
pub(crate) fn set_device(device: Option<ash::Device>) {
    DEVICE.set(device);
}

/// Calls functions of the real device, if there is one.
pub(crate) fn with_device<T>(work: impl FnOnce(&ash::Device) -> T) -> Option<T> {
    let device = DEVICE.with_borrow(Option::clone);
    device.as_ref().map(work)
}

/// Makes the call fail that follows `successes` more calls. If it is negative, no call fails.
fn arm(successes: i64, answer: vk::Result) {
    ANSWER.set(answer);
    UNTIL_FAILURE.set(successes);
    FAILED.set(None);
}

/// Runs `work` while call number `number` fails with `answer`. Returns that call, if it was made.
///
/// A device that is lost by it stays lost until [`revive`].
pub(crate) fn failing_with<T>(
    number: i64,
    answer: vk::Result,
    work: impl FnOnce() -> T,
) -> (T, Option<&'static str>) {
    arm(number, answer);
    let result = work();
    let failed = FAILED.take();
    arm(-1, vk::Result::SUCCESS);
    (result, failed)
}

/// Runs `work` while call number `number` runs out of memory. Returns that call, if it was made.
pub(crate) fn failing<T>(number: i64, work: impl FnOnce() -> T) -> (T, Option<&'static str>) {
    failing_with(number, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, work)
}

/// Runs `work` while nobody can wait for the device.
pub(crate) fn stuck<T>(work: impl FnOnce() -> T) -> T {
    STUCK.set(true);
    let result = work();
    STUCK.set(false);
    result
}

/// Runs `work` and returns the calls that it made.
pub(crate) fn traced<T>(work: impl FnOnce() -> T) -> (T, Vec<&'static str>) {
    TRACE.take();
    TRACING.set(true);
    let result = work();
    TRACING.set(false);
    (result, TRACE.take())
}

/// The device is not lost any more.
pub(crate) fn revive() {
    LOST.set(false);
}

/// Forgets all failures and counts.
pub(crate) fn reset() {
    arm(-1, vk::Result::SUCCESS);
    revive();
    set_device(None);
    forget();
}

/// Functions that return a result. Each says the kind and number of the objects that it creates.
///
/// If the call fails, `or` does what the specification asks for besides.
macro_rules! calls {
    ($(
        $function:ident $name:literal ($($argument:ident: $type:ty),*)
        $made:expr $(, or $or:block)?;
    )*) => {
        $(mod $function {
            #[allow(unused_imports, reason = "not every function needs all of them")]
            use super::*;
            pub(super) static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            type Function = unsafe extern "system" fn($($type),*) -> vk::Result;
            pub(super) unsafe extern "system" fn call($($argument: $type),*) -> vk::Result {
                if let Some(answer) = answer($name) {
                    $($or)?
                    return answer;
                }
                let real: Function = unsafe { transmute(REAL.load(Relaxed)) };
                let result = unsafe { real($($argument),*) };
                let made: Option<(usize, u32)> = $made;
                if let Some((kind, number)) = made.filter(|_| result == vk::Result::SUCCESS) {
                    count(kind, number.into());
                }
                result
            }
        })*
        fn call(name: &str) -> Option<(&'static AtomicPtr<c_void>, In)> {
            match name {
                $($name => Some((&$function::REAL, $function::call as In)),)*
                _ => None,
            }
        }
    };
}

/// Functions that create one object: `fn(device, info, callbacks, out)`.
macro_rules! creators {
    ($($function:ident $name:literal $kind:expr;)*) => {
        mod create {
            use super::*;
            calls! {
                $($function $name (device: Handle, info: In, callbacks: In, out: In)
                    Some(($kind, 1));)*
            }
            pub(super) fn find(name: &str) -> Option<(&'static AtomicPtr<c_void>, In)> {
                call(name)
            }
        }
    };
}

/// Functions that destroy one object: `fn(device, object, callbacks)`.
macro_rules! destroyers {
    ($($function:ident $name:literal $kind:expr;)*) => {
        $(mod $function {
            use super::*;
            pub(super) static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            type Function = unsafe extern "system" fn(Handle, u64, In);
            pub(super) unsafe extern "system" fn call(device: Handle, object: u64, callbacks: In) {
                let real: Function = unsafe { transmute(REAL.load(Relaxed)) };
                unsafe { real(device, object, callbacks) };
                count($kind, -i64::from(object != 0));
            }
        })*
        fn destroyer(name: &str) -> Option<(&'static AtomicPtr<c_void>, In)> {
            match name {
                $($name => Some((&$function::REAL, $function::call as In)),)*
                _ => None,
            }
        }
    };
}

/// Functions that destroy an instance or a device: `fn(object, callbacks)`.
macro_rules! enders {
    ($($function:ident $name:literal $kind:expr;)*) => {
        $(mod $function {
            use super::*;
            pub(super) static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            type Function = unsafe extern "system" fn(Handle, In);
            pub(super) unsafe extern "system" fn call(object: Handle, callbacks: In) {
                if $kind == DEVICES {
                    set_device(None);
                }
                let real: Function = unsafe { transmute(REAL.load(Relaxed)) };
                unsafe { real(object, callbacks) };
                count($kind, -i64::from(!object.is_null()));
            }
        })*
        fn ender(name: &str) -> Option<(&'static AtomicPtr<c_void>, In)> {
            match name {
                $($name => Some((&$function::REAL, $function::call as In)),)*
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
    create_command_pool "vkCreateCommandPool" 11;
    create_fence "vkCreateFence" 12;
    create_semaphore "vkCreateSemaphore" 13;
    create_event "vkCreateEvent" EVENTS;
    create_device "vkCreateDevice" DEVICES;
    create_messenger "vkCreateDebugUtilsMessengerEXT" MESSENGERS;
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
    destroy_command_pool "vkDestroyCommandPool" 11;
    destroy_fence "vkDestroyFence" 12;
    destroy_semaphore "vkDestroySemaphore" 13;
    destroy_event "vkDestroyEvent" EVENTS;
    destroy_messenger "vkDestroyDebugUtilsMessengerEXT" MESSENGERS;
}

enders! {
    destroy_device "vkDestroyDevice" DEVICES;
    destroy_instance "vkDestroyInstance" INSTANCES;
}

calls! {
    allocate_command_buffers "vkAllocateCommandBuffers" (device: Handle, info: In, out: In) None;
    allocate_descriptor_sets "vkAllocateDescriptorSets" (device: Handle, info: In, out: In) None;
    begin_command_buffer "vkBeginCommandBuffer" (cmd: Handle, info: In) None;
    bind_buffer_memory "vkBindBufferMemory"
        (device: Handle, buffer: u64, memory: u64, offset: u64) None;
    bind_image_memory "vkBindImageMemory"
        (device: Handle, image: u64, memory: u64, offset: u64) None;
    create_compute_pipelines "vkCreateComputePipelines"
        (device: Handle, cache: u64, number: u32, infos: In, callbacks: In, out: *mut u64)
        made(cache, number), or { unmade(cache, number, out); };
    create_graphics_pipelines "vkCreateGraphicsPipelines"
        (device: Handle, cache: u64, number: u32, infos: In, callbacks: In, out: *mut u64)
        made(cache, number), or { unmade(cache, number, out); };
    device_wait_idle "vkDeviceWaitIdle" (device: Handle) None;
    end_command_buffer "vkEndCommandBuffer" (cmd: Handle) None;
    enumerate_device_extension_properties "vkEnumerateDeviceExtensionProperties"
        (device: Handle, layer: In, number: In, out: In) None;
    enumerate_instance_layer_properties "vkEnumerateInstanceLayerProperties"
        (number: In, out: In) None;
    enumerate_instance_version "vkEnumerateInstanceVersion" (out: In) None;
    enumerate_physical_devices "vkEnumeratePhysicalDevices"
        (instance: Handle, number: In, out: In) None;
    get_physical_device_image_format_properties "vkGetPhysicalDeviceImageFormatProperties"
        (device: Handle, format: i32, kind: i32, tiling: i32, usage: u32, flags: u32, out: In) None;
    get_event_status "vkGetEventStatus" (device: Handle, event: u64) None;
    get_query_pool_results "vkGetQueryPoolResults"
        (device: Handle, pool: u64, first: u32, number: u32, size: usize, out: In, stride: u64,
         flags: u32) None;
    map_memory "vkMapMemory"
        (device: Handle, memory: u64, offset: u64, size: u64, flags: u32, out: In) None;
    queue_submit2 "vkQueueSubmit2" (queue: Handle, number: u32, infos: In, fence: u64) None;
    reset_command_pool "vkResetCommandPool" (device: Handle, pool: u64, flags: u32) None;
    reset_event "vkResetEvent" (device: Handle, event: u64) None;
    reset_fences "vkResetFences" (device: Handle, number: u32, fences: In) None;
    set_name "vkSetDebugUtilsObjectNameEXT" (device: Handle, info: In) None;
    wait_for_fences "vkWaitForFences"
        (device: Handle, number: u32, fences: In, all: u32, timeout: u64) None;
}

fn made(cache: u64, number: u32) -> Option<(usize, u32)> {
    BATCHES.with_borrow_mut(|batches| batches.push((cache, number)));
    Some((PIPELINES, number))
}

fn unmade(cache: u64, number: u32, out: *mut u64) {
    BATCHES.with_borrow_mut(|batches| batches.push((cache, number)));
    unsafe { std::slice::from_raw_parts_mut(out, number as usize) }.fill(0);
}

/// The caches and numbers of pipelines of the calls since this was called last.
pub(crate) fn batches() -> Vec<(u64, u32)> {
    BATCHES.take()
}

/// The function that stands in front of the real one. This is the real one if there is none.
pub(crate) fn intercepted(name: &str, real: In) -> In {
    let found = create::find(name)
        .or_else(|| call(name))
        .or_else(|| destroyer(name))
        .or_else(|| ender(name));
    match found {
        Some((to, function)) if !real.is_null() => {
            to.store(real.cast_mut(), Relaxed);
            function
        }
        _ => real,
    }
}

/// Returns true if this call can be made to fail.
pub(crate) fn can_fail(name: &str) -> bool {
    create::find(name).or_else(|| call(name)).is_some()
}
