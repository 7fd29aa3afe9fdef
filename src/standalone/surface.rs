//! A window's surface.

use super::instance::InstanceOwner;
use super::{Check, Result, StandaloneError};
use ash::{khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

/// Anything that is a window: winit's, SDL's, one's own.
pub trait Window: HasDisplayHandle + HasWindowHandle {}

impl<W: HasDisplayHandle + HasWindowHandle + ?Sized> Window for W {}

/// A window's surface. It keeps the window and the instance alive.
pub struct Surface {
    pub(super) loader: khr::surface::Instance,
    pub(super) handle: vk::SurfaceKHR,
    owner: Arc<InstanceOwner>,
    // After `handle`: the window goes last.
    _window: Arc<dyn Window>,
}

impl fmt::Debug for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Surface").field(&self.handle).finish()
    }
}

impl Surface {
    pub(super) fn new(owner: Arc<InstanceOwner>, window: Arc<dyn Window>) -> Result<Self> {
        let as_error = |reason| StandaloneError::Window { reason };
        let display = window.display_handle().map_err(as_error)?.as_raw();
        let raw = window.window_handle().map_err(as_error)?.as_raw();
        // Else the extension's functions are not there to be called.
        owner.check_surface_extensions(&required_extensions(&*window)?)?;
        // SAFETY: the handles are valid now, by the contract of their traits, and
        // stay so because the surface keeps the window; the extensions are enabled.
        let handle = unsafe {
            ash_window::create_surface(&owner.entry, &owner.instance, display, raw, None)
        }
        .check("vkCreateSurfaceKHR")?;
        Ok(Self {
            loader: khr::surface::Instance::new(&owner.entry, &owner.instance),
            handle,
            owner,
            _window: window,
        })
    }

    /// The handle, which lives as long as this object.
    #[must_use]
    pub fn handle(&self) -> vk::SurfaceKHR {
        self.handle
    }

    pub(super) fn is_of(&self, owner: &Arc<InstanceOwner>) -> bool {
        Arc::ptr_eq(&self.owner, owner)
    }

    /// Whether a queue family can present to it.
    pub(super) fn presents(&self, device: vk::PhysicalDevice, family: u32) -> Result<bool> {
        // SAFETY: the device is of the same instance, and the family is one of its own.
        unsafe {
            self.loader
                .get_physical_device_surface_support(device, family, self.handle)
        }
        .check("vkGetPhysicalDeviceSurfaceSupportKHR")
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: its swapchain is destroyed before it; the instance is alive.
        unsafe { self.loader.destroy_surface(self.handle, None) };
    }
}

/// The instance extensions that surfaces of this window system need.
pub(super) fn required_extensions(window: &dyn Window) -> Result<Vec<&'static CStr>> {
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
