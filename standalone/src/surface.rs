//! The surface of a window.

use super::error::Check;
use super::instance::InstanceOwner;
use super::{Result, StandaloneError};
use ash::{khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle};
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

/// Any window type, from winit, SDL or your own code.
pub trait Window: HasDisplayHandle + HasWindowHandle {}

impl<W: HasDisplayHandle + HasWindowHandle + ?Sized> Window for W {}

/// The surface of a window. It keeps the window and the instance alive.
pub struct Surface {
    owned: Owned,
    // Declared after `owned`, because the window must be dropped last.
    window: Arc<dyn Window>,
}

/// The Vulkan surface, without the window, which may have to stay on its thread.
struct Owned {
    loader: khr::surface::Instance,
    handle: vk::SurfaceKHR,
    instance: Arc<InstanceOwner>,
}

impl fmt::Debug for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Surface").field(&self.handle()).finish()
    }
}

impl Surface {
    pub(crate) fn new(owner: Arc<InstanceOwner>, window: Arc<dyn Window>) -> Result<Self> {
        let as_error = |reason| StandaloneError::Window { reason };
        let display = window.display_handle().map_err(as_error)?.as_raw();
        let raw = window.window_handle().map_err(as_error)?.as_raw();
        // Without this check, the functions of the extension might not be loaded.
        owner.check_surface_extensions(&required_extensions(&*window)?)?;
        // SAFETY: the handles are valid while `window` is borrowed, by the contract of
        // `WindowHandle` and `DisplayHandle`, and the extensions are enabled. The surface keeps the
        // window object. If the window system destroys the window earlier, the surface is lost, and
        // Vulkan says so.
        let handle = unsafe {
            ash_window::create_surface(&owner.entry, &owner.instance, display, raw, None)
        }
        .check(creator(display))?;
        let owned = Owned {
            loader: khr::surface::Instance::new(&owner.entry, &owner.instance),
            handle,
            instance: owner,
        };
        Ok(Self { owned, window })
    }

    /// The functions of the surface extension.
    pub(crate) fn loader(&self) -> &khr::surface::Instance {
        &self.owned.loader
    }

    /// Leaks the window, and returns what destroys the surface.
    ///
    /// The surface needs the window until it is destroyed, which may happen on another thread.
    pub(crate) fn into_owned(self) -> impl Send + 'static {
        std::mem::forget(self.window);
        self.owned
    }

    /// The Vulkan handle, which lives as long as this object.
    #[must_use]
    pub fn handle(&self) -> vk::SurfaceKHR {
        self.owned.handle
    }

    pub(crate) fn is_of(&self, owner: &Arc<InstanceOwner>) -> bool {
        Arc::ptr_eq(&self.owned.instance, owner)
    }

    /// The extents that this surface supports now.
    pub(crate) fn capabilities(
        &self,
        device: vk::PhysicalDevice,
    ) -> Result<vk::SurfaceCapabilitiesKHR> {
        // SAFETY: the device belongs to the same instance.
        unsafe {
            self.loader()
                .get_physical_device_surface_capabilities(device, self.handle())
        }
        .check("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")
    }

    /// Returns true if a queue family can present to this surface.
    pub(crate) fn presents(&self, device: vk::PhysicalDevice, family: u32) -> Result<bool> {
        // SAFETY: the device belongs to the same instance, and the family is one of its families.
        unsafe {
            self.loader()
                .get_physical_device_surface_support(device, family, self.handle())
        }
        .check("vkGetPhysicalDeviceSurfaceSupportKHR")
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `instance` keeps the instance alive. A `Swapchain` drops its surface only after
        // its Vulkan swapchain, or leaves both to the device in this order.
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
