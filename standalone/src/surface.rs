//! The surface of a window.

use crate::error::Check;
use crate::instance::Instance;
use crate::{Result, StandaloneError};
use ash::{khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle};
use std::ffi::CStr;

/// Any window type, from winit, SDL or your own code.
pub(crate) trait Window: HasDisplayHandle + HasWindowHandle {}

impl<W: HasDisplayHandle + HasWindowHandle + ?Sized> Window for W {}

/// The surface of a window. Its owner keeps window and instance alive.
pub(crate) struct Surface {
    loader: khr::surface::Instance,
    pub(crate) handle: vk::SurfaceKHR,
}

impl Surface {
    pub(crate) fn new(owner: &Instance, window: &dyn Window) -> Result<Self> {
        let as_error = |reason| StandaloneError::Window { reason };
        let display = window.display_handle().map_err(as_error)?.as_raw();
        let raw = window.window_handle().map_err(as_error)?.as_raw();
        // Without this check, the functions of the extension might not be loaded.
        owner.check_surface_extensions(&required_extensions(window)?)?;
        // SAFETY: the handles are valid while `window` is borrowed, by the contract of
        // `WindowHandle` and `DisplayHandle`, and the extensions are enabled. If the window system
        // destroys the window earlier, the surface is lost, and Vulkan says so.
        let handle = unsafe {
            ash_window::create_surface(&owner.entry, &owner.instance, display, raw, None)
        }
        .check(creator(display))?;
        let loader = khr::surface::Instance::new(&owner.entry, &owner.instance);
        Ok(Self { loader, handle })
    }

    /// The extents that this surface supports now.
    pub(crate) fn capabilities(
        &self,
        device: vk::PhysicalDevice,
    ) -> Result<vk::SurfaceCapabilitiesKHR> {
        // SAFETY: the device belongs to the same instance.
        unsafe {
            self.loader
                .get_physical_device_surface_capabilities(device, self.handle)
        }
        .check("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")
    }

    /// Returns true if a queue family can present to this surface.
    pub(crate) fn presents(&self, device: vk::PhysicalDevice, family: u32) -> Result<bool> {
        // SAFETY: the device belongs to the same instance, and the family is one of its families.
        unsafe {
            self.loader
                .get_physical_device_surface_support(device, family, self.handle)
        }
        .check("vkGetPhysicalDeviceSurfaceSupportKHR")
    }

    /// An 8-bit sRGB format, otherwise the first.
    pub(crate) fn format(&self, device: vk::PhysicalDevice) -> Result<vk::SurfaceFormatKHR> {
        // SAFETY: the device belongs to the same instance.
        let formats = unsafe {
            self.loader
                .get_physical_device_surface_formats(device, self.handle)
        }
        .check("vkGetPhysicalDeviceSurfaceFormatsKHR")?;
        let find = |format| {
            let space = vk::ColorSpaceKHR::SRGB_NONLINEAR;
            let mut formats = formats.iter();
            formats.find(|f| f.format == format && f.color_space == space)
        };
        let chosen = find(vk::Format::B8G8R8A8_SRGB)
            .or_else(|| find(vk::Format::R8G8B8A8_SRGB))
            .or_else(|| formats.first());
        Ok(chosen.copied().unwrap_or_default())
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: its owner drops it before the instance and after its swapchain.
        unsafe { self.loader.destroy_surface(self.handle, None) };
    }
}

/// The name of the call that creates surfaces of this window system.
fn creator(display: RawDisplayHandle) -> &'static str {
    match display {
        RawDisplayHandle::Android(_) => "vkCreateAndroidSurfaceKHR",
        RawDisplayHandle::AppKit(_) | RawDisplayHandle::UiKit(_) => "vkCreateMetalSurfaceEXT",
        RawDisplayHandle::Wayland(_) => "vkCreateWaylandSurfaceKHR",
        RawDisplayHandle::Windows(_) => "vkCreateWin32SurfaceKHR",
        RawDisplayHandle::Xcb(_) => "vkCreateXcbSurfaceKHR",
        RawDisplayHandle::Xlib(_) => "vkCreateXlibSurfaceKHR",
        _ => "ash_window::create_surface",
    }
}

/// The instance extensions that surfaces of this window system need.
pub(crate) fn required_extensions(window: &dyn Window) -> Result<Vec<&'static CStr>> {
    let display = window
        .display_handle()
        .map_err(|reason| StandaloneError::Window { reason })?;
    let names = ash_window::enumerate_required_extensions(display.as_raw())
        .check("ash_window::enumerate_required_extensions")?;
    // SAFETY: the names are static strings that end in a zero.
    Ok(names
        .iter()
        .map(|&name| unsafe { CStr::from_ptr(name) })
        .collect())
}
