//! Devices that an engine opens itself, with what throng adds to them.

use crate::error::{Error, Result};
use crate::gpu::{Gpu, supported};
use core::mem;
use std::sync::{Arc, Mutex, PoisonError};
use throng::ash::{self, vk};
use throng::gpu::{FeatureChain, Features};
use wgpu::hal::vulkan::{Adapter, CreateDeviceCallbackArgs};

/// Adds what throng needs to a device that an engine opens with wgpu itself.
///
/// [`Gpu::open`] is all that a program needs that opens its own device. This is for engines with a
/// callback for [`open_with_callback`](wgpu::hal::vulkan::Adapter::open_with_callback), such as
/// Bevy. Call [`Self::add_to`] there, and [`Self::gpu`] with the device. It is a handle: clones are
/// the same.
///
/// [`Gpu::open`] also asks for [`wgpu::Features::INDIRECT_FIRST_INSTANCE`] and the features of
/// compressed textures, where they exist. An engine should, too. Otherwise, vertex shaders read
/// where their list begins, and compressed images are decoded.
///
/// ```no_run
/// use throng_wgpu::{Error, Gpu, Opening, wgpu};
///
/// fn open(adapter: &wgpu::Adapter, desc: &wgpu::DeviceDescriptor<'_>) -> Result<Gpu, Error> {
///     let opening = Opening::default();
///     let (device, queue) = {
///         let hal = unsafe { adapter.as_hal::<wgpu::hal::vulkan::Api>() };
///         let hal = hal.ok_or(Error::Backend(adapter.get_info().backend))?;
///         let add = |mut args: wgpu::hal::vulkan::CreateDeviceCallbackArgs<'_, '_, '_>| unsafe {
///             opening.add_to(&mut args, &hal);
///         };
///         let (features, limits) = (desc.required_features, &desc.required_limits);
///         let add = Some(Box::new(add) as _);
///         let open = unsafe { hal.open_with_callback(features, limits, &desc.memory_hints, add) };
///         let open = open.map_err(Error::Device)?;
///         unsafe { adapter.create_device_from_hal::<wgpu::hal::vulkan::Api>(open, desc)? }
///     };
///     unsafe { opening.gpu(adapter, &device, &queue) }
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Opening(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// In a box, because the device's description points to it.
    chain: Option<Box<FeatureChain>>,
    /// The features that throng may use, once a device has them.
    enabled: Option<Features>,
}

impl Opening {
    /// Adds the features that throng needs to those of a device.
    ///
    /// Descriptor indexing is not among them, because wgpu may add that itself. If the adapter
    /// lacks what is needed, this adds nothing, and [`Self::gpu`] says so.
    ///
    /// # Safety
    /// - `args` are those with which wgpu calls the callback of `adapter`.
    /// - Until the device is created, this handle or a clone of it lives, outside of the callback,
    ///   and no other method of it is called. The description of the device points to what it owns.
    /// - Other callbacks of the engine come before. One that adds the extension
    ///   `VK_KHR_buffer_device_address` also enables its feature.
    pub unsafe fn add_to(
        &self,
        args: &mut CreateDeviceCallbackArgs<'_, '_, '_>,
        adapter: &Adapter,
    ) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.enabled = None;
        if supported(adapter).is_err() {
            return;
        }
        let mut own = Features::DYNAMIC_RENDERING;
        // wgpu chains the structure itself then, and Vulkan allows it once.
        if !args
            .extensions
            .contains(&ash::khr::buffer_device_address::NAME)
        {
            own |= Features::REQUIRED;
        }
        let chain = state.chain.insert(Box::new(FeatureChain::new(own)));
        let core = args.device_features.get_core();
        let with_core = vk::DeviceCreateInfo::default().enabled_features(&core);
        let mut enabled = own | Features::REQUIRED;
        // SAFETY: `with_core` has valid features, and neither a chain nor extensions. The
        // description is that of wgpu's callback, which has only what other callbacks chained, and
        // `supported` found the features. The structures live as long as this handle, which by this
        // function's contract lives until the device is created.
        unsafe {
            enabled |= Features::of_device(&with_core);
            let info = chain.add_to(*args.create_info);
            *args.create_info =
                mem::transmute::<vk::DeviceCreateInfo<'_>, vk::DeviceCreateInfo<'_>>(info);
        }
        let instance = adapter.shared_instance();
        if instance.extensions().contains(&ash::ext::debug_utils::NAME) {
            enabled |= Features::DEBUG_UTILS;
        }
        state.enabled = Some(enabled);
    }

    /// The device for crowds.
    ///
    /// # Errors
    /// - [`Error::Backend`] if the adapter is not one of Vulkan.
    /// - [`throng::Error::Unsupported`] if it lacks what throng needs, or if [`Self::add_to`] was
    ///   not called.
    /// - As [`Gpu::open`].
    ///
    /// # Safety
    /// The device was opened from this adapter, and the queue is the device's. If [`Self::add_to`]
    /// was called, the last call was for this device.
    pub unsafe fn gpu(
        &self,
        adapter: &wgpu::Adapter,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
    ) -> Result<Gpu> {
        let enabled = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .enabled;
        // SAFETY: the adapter is not destroyed through the guard.
        let hal = unsafe { adapter.as_hal::<wgpu::hal::vulkan::Api>() };
        let hal = hal.ok_or_else(|| Error::Backend(adapter.get_info().backend))?;
        supported(&hal)?;
        let enabled = enabled.ok_or_else(|| throng::Error::Unsupported {
            device: adapter.get_info().name.into(),
            missing: vec!["Opening::add_to"],
        })?;
        // SAFETY: by this function's contract, the device is the adapter's and has the features.
        unsafe { Gpu::of(adapter, device.clone(), queue.clone(), enabled) }
    }
}
