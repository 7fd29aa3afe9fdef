//! A simulated window system.
//!
//! Its windows have the handles of Android, because no driver that runs the tests offers the
//! extension for their surfaces.

use crate::driver::answer;
use crate::objects::{SURFACES, count};
use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use throng::ash::vk;
use winit::raw_window_handle::{
    AndroidNdkWindowHandle, DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle,
    RawWindowHandle, WindowHandle,
};

/// Width and height of every window.
pub(crate) const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 128,
};
pub(crate) const FORMAT: vk::Format = vk::Format::R8G8B8A8_SRGB;

/// A window, with its number. It can have one surface at a time.
#[derive(Debug)]
pub(crate) struct Window(pub(crate) usize);

impl HasWindowHandle for Window {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        let number = std::ptr::without_provenance_mut(self.0);
        let raw = AndroidNdkWindowHandle::new(NonNull::new(number).unwrap());
        // SAFETY: the simulated window system takes the handle for a number.
        Ok(unsafe { WindowHandle::borrow_raw(RawWindowHandle::AndroidNdk(raw)) })
    }
}

impl HasDisplayHandle for Window {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        Ok(DisplayHandle::android())
    }
}

pub(crate) struct Surface {
    window: usize,
    lost: bool,
    /// The swapchain that is not retired.
    pub(crate) swapchain: u64,
}

pub(crate) struct Swapchain {
    pub(crate) surface: u64,
    pub(crate) images: Vec<(vk::Image, vk::DeviceMemory)>,
    pub(crate) acquired: Vec<bool>,
    pub(crate) next: usize,
}

pub(crate) struct State {
    pub(crate) handles: u64,
    pub(crate) surfaces: BTreeMap<u64, Surface>,
    pub(crate) swapchains: BTreeMap<u64, Swapchain>,
}

thread_local! {
    /// Leaked, so that what borrows it needs no closure.
    static STATE: &'static RefCell<State> = Box::leak(Box::new(RefCell::new(State {
        handles: 0x5000,
        surfaces: BTreeMap::new(),
        swapchains: BTreeMap::new(),
    })));
}

/// The window system of this thread.
pub(crate) fn state() -> RefMut<'static, State> {
    STATE.with(|state| *state).borrow_mut()
}

/// Forgets all surfaces and swapchains.
pub(crate) fn reset() {
    let mut state = state();
    state.surfaces.clear();
    state.swapchains.clear();
}

pub(crate) type Device = *mut c_void;

/// The answer of a call about a surface. A surface that is lost stays lost.
pub(crate) fn about(call: &'static str, surface: u64) -> Option<vk::Result> {
    let lost = vk::Result::ERROR_SURFACE_LOST_KHR;
    let answer = answer(call);
    let mut state = state();
    let surface = state.surfaces.get_mut(&surface).expect("a live surface");
    surface.lost |= answer == Some(lost);
    answer.or_else(|| surface.lost.then_some(lost))
}

pub(crate) unsafe extern "system" fn create_surface(
    _: Device,
    info: *const vk::AndroidSurfaceCreateInfoKHR<'_>,
    _: *const c_void,
    out: *mut u64,
) -> vk::Result {
    if let Some(answer) = answer("vkCreateAndroidSurfaceKHR") {
        return answer;
    }
    let window = unsafe { (*info).window }.addr();
    let mut state = state();
    if state.surfaces.values().any(|other| other.window == window) {
        return vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR;
    }
    state.handles += 1;
    let handle = state.handles;
    let surface = Surface {
        window,
        lost: false,
        swapchain: 0,
    };
    state.surfaces.insert(handle, surface);
    unsafe { *out = handle };
    count(SURFACES, 1);
    vk::Result::SUCCESS
}

pub(crate) unsafe extern "system" fn destroy_surface(_: Device, surface: u64, _: *const c_void) {
    let mut state = state();
    if state.surfaces.remove(&surface).is_some() {
        count(SURFACES, -1);
    }
    let mut swapchains = state.swapchains.values();
    assert!(
        swapchains.all(|s| s.surface != surface),
        "it has swapchains"
    );
}

pub(crate) unsafe extern "system" fn support(
    _: Device,
    _: u32,
    surface: u64,
    out: *mut u32,
) -> vk::Result {
    if let Some(answer) = about("vkGetPhysicalDeviceSurfaceSupportKHR", surface) {
        return answer;
    }
    unsafe { *out = vk::TRUE };
    vk::Result::SUCCESS
}

pub(crate) unsafe extern "system" fn capabilities(
    _: Device,
    surface: u64,
    out: *mut vk::SurfaceCapabilitiesKHR,
) -> vk::Result {
    if let Some(answer) = about("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", surface) {
        return answer;
    }
    let side = |width| vk::Extent2D {
        width,
        height: width,
    };
    let capabilities = vk::SurfaceCapabilitiesKHR {
        min_image_count: 2,
        max_image_count: 3,
        current_extent: EXTENT,
        min_image_extent: side(1),
        max_image_extent: side(4096),
        max_image_array_layers: 1,
        supported_transforms: vk::SurfaceTransformFlagsKHR::from_raw(0x1ff),
        current_transform: vk::SurfaceTransformFlagsKHR::ROTATE_90,
        supported_composite_alpha: vk::CompositeAlphaFlagsKHR::INHERIT,
        supported_usage_flags: vk::ImageUsageFlags::COLOR_ATTACHMENT,
    };
    unsafe { *out = capabilities };
    vk::Result::SUCCESS
}

/// Writes a list as functions that enumerate something do.
pub(crate) unsafe fn list<T>(items: &[T], number: *mut u32, out: *mut T) -> vk::Result {
    unsafe {
        if !out.is_null() {
            assert!(*number as usize >= items.len());
            out.copy_from_nonoverlapping(items.as_ptr(), items.len());
        }
        *number = items.len() as u32;
    }
    vk::Result::SUCCESS
}

pub(crate) unsafe extern "system" fn formats(
    _: Device,
    surface: u64,
    number: *mut u32,
    out: *mut vk::SurfaceFormatKHR,
) -> vk::Result {
    if let Some(answer) = about("vkGetPhysicalDeviceSurfaceFormatsKHR", surface) {
        return answer;
    }
    let format = vk::SurfaceFormatKHR {
        format: FORMAT,
        color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
    };
    unsafe { list(&[format], number, out) }
}

pub(crate) unsafe extern "system" fn present_modes(
    _: Device,
    surface: u64,
    number: *mut u32,
    out: *mut vk::PresentModeKHR,
) -> vk::Result {
    if let Some(answer) = about("vkGetPhysicalDeviceSurfacePresentModesKHR", surface) {
        return answer;
    }
    unsafe { list(&[vk::PresentModeKHR::FIFO], number, out) }
}
