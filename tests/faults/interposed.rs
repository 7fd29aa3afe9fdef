//! Vulkan entry points whose functions are those of the counting driver and the simulated
//! window system.

use crate::driver::{answer, can_fail, intercepted, set_device};
use crate::objects::{INSTANCES, count};
use crate::{screen, swapchains};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::OnceLock;
use throng::ash::{self, khr, vk};

/// The entry points of the real loader.
fn real() -> &'static ash::Entry {
    static ENTRY: OnceLock<ash::Entry> = OnceLock::new();
    ENTRY.get_or_init(|| unsafe { ash::Entry::load() }.unwrap())
}

/// Entry points through which every call of a context goes through the counting driver.
pub(crate) fn entry() -> ash::Entry {
    let functions = ash::StaticFn {
        get_instance_proc_addr,
    };
    unsafe { ash::Entry::from_static_fn(functions) }
}

/// The simulated function of this name.
fn simulated(name: &str) -> Option<*const c_void> {
    Some(match name {
        "vkCreateAndroidSurfaceKHR" => screen::create_surface as *const c_void,
        "vkDestroySurfaceKHR" => screen::destroy_surface as *const c_void,
        "vkGetPhysicalDeviceSurfaceSupportKHR" => screen::support as *const c_void,
        "vkGetPhysicalDeviceSurfaceCapabilitiesKHR" => screen::capabilities as *const c_void,
        "vkGetPhysicalDeviceSurfaceFormatsKHR" => screen::formats as *const c_void,
        "vkGetPhysicalDeviceSurfacePresentModesKHR" => screen::present_modes as *const c_void,
        "vkCreateSwapchainKHR" => swapchains::create_swapchain as *const c_void,
        "vkDestroySwapchainKHR" => swapchains::destroy_swapchain as *const c_void,
        "vkGetSwapchainImagesKHR" => swapchains::images as *const c_void,
        "vkAcquireNextImageKHR" => swapchains::acquire as *const c_void,
        "vkQueuePresentKHR" => swapchains::present as *const c_void,
        _ => return None,
    })
}

/// Returns true if this call can be made to fail.
pub(crate) fn is_intercepted(name: &str) -> bool {
    can_fail(name)
        || simulated(name).is_some()
        || ["vkCreateInstance", "vkEnumerateInstanceExtensionProperties"].contains(&name)
}

fn found(name: &str, real: vk::PFN_vkVoidFunction) -> vk::PFN_vkVoidFunction {
    let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
    let function = simulated(name).unwrap_or_else(|| intercepted(name, real));
    unsafe { transmute::<*const c_void, vk::PFN_vkVoidFunction>(function) }
}

unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let text = unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    let own = match text {
        "vkGetInstanceProcAddr" => get_instance_proc_addr as *const c_void,
        "vkGetDeviceProcAddr" => get_device_proc_addr as *const c_void,
        "vkCreateInstance" => create_instance as *const c_void,
        "vkEnumerateInstanceExtensionProperties" => extensions as *const c_void,
        _ => {
            return found(text, unsafe {
                real().get_instance_proc_addr(instance, name)
            });
        }
    };
    if instance != vk::Instance::null() {
        INSTANCE.set(instance);
    }
    unsafe { transmute::<*const c_void, vk::PFN_vkVoidFunction>(own) }
}

thread_local! {
    /// The instance that functions were loaded for last.
    static INSTANCE: Cell<vk::Instance> = const { Cell::new(vk::Instance::null()) };
}

unsafe extern "system" fn get_device_proc_addr(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let instance = INSTANCE.get();
    let load = |name: *const c_char| unsafe {
        let loader = c"vkGetDeviceProcAddr".as_ptr();
        let loader = real().get_instance_proc_addr(instance, loader);
        let loader = transmute::<vk::PFN_vkVoidFunction, vk::PFN_vkGetDeviceProcAddr>(loader);
        loader(device, name)
    };
    let text = unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    if text == "vkDestroyDevice" {
        // It is loaded once for every device.
        let load = |name: &CStr| load(name.as_ptr()).map_or(std::ptr::null(), |f| f as *const _);
        set_device(Some(unsafe { ash::Device::load_with(load, device) }));
    }
    found(text, load(name))
}

/// The real window system's extension is replaced by the simulated one.
unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    callbacks: *const c_void,
    out: *mut vk::Instance,
) -> vk::Result {
    if let Some(answer) = answer("vkCreateInstance") {
        return answer;
    }
    let mut info = unsafe { *info };
    let names: &[*const c_char] = match info.enabled_extension_count {
        0 => &[],
        n => unsafe { std::slice::from_raw_parts(info.pp_enabled_extension_names, n as usize) },
    };
    let is_real = |name: &&*const c_char| {
        let name = unsafe { CStr::from_ptr(**name) };
        name != khr::android_surface::NAME
    };
    let names: Vec<*const c_char> = names.iter().filter(is_real).copied().collect();
    info.enabled_extension_count = names.len() as u32;
    info.pp_enabled_extension_names = names.as_ptr();
    let real = real().fp_v1_0().create_instance;
    let result = unsafe { real(&info, callbacks.cast(), out) };
    count(INSTANCES, i64::from(result == vk::Result::SUCCESS));
    result
}

unsafe extern "system" fn extensions(
    layer: *const c_char,
    number: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    if let Some(answer) = answer("vkEnumerateInstanceExtensionProperties") {
        return answer;
    }
    let name = (!layer.is_null()).then(|| unsafe { CStr::from_ptr(layer) });
    let mut all = unsafe { real().enumerate_instance_extension_properties(name) }.unwrap();
    if layer.is_null() {
        let mut simulated = vk::ExtensionProperties::default();
        let name = khr::android_surface::NAME.to_bytes_with_nul();
        for (to, from) in simulated.extension_name.iter_mut().zip(name) {
            *to = *from as c_char;
        }
        all.push(simulated);
    }
    unsafe {
        *number = all.len() as u32;
        if !out.is_null() {
            out.copy_from_nonoverlapping(all.as_ptr(), all.len());
        }
    }
    vk::Result::SUCCESS
}
