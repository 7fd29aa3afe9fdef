//! The engine's device, and the properties of it that the parts need.

use super::accel::Accel;
use super::{Features, features};
use crate::error::{Error, Result, expect};
use crate::mesh::Material;
use ash::vk;
use core::ffi::CStr;
use std::ffi::CString;

/// The device limits that the crate depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) max_storage_range: u64,
    pub(crate) max_buffer_bytes: u64,
    pub(crate) offset_alignment: u64,
    pub(crate) max_image_dimension: u32,
    pub(crate) max_anisotropy: f32,
    pub(crate) max_push_bytes: u32,
    pub(crate) max_bound_sets: u32,
    /// Views that a view mask can have.
    pub(crate) max_multiview_views: u32,
    /// Textures that one set can have.
    pub(crate) max_textures: u32,
    /// The least limit of textures, samplers and resources together.
    pub(crate) max_images: u32,
    /// Width and height, in pixels.
    pub(crate) max_viewport: [u32; 2],
    /// Least and greatest coordinate of a viewport's edges, in pixels.
    pub(crate) viewport_bounds: [f32; 2],
    pub(crate) timestamp_period_ns: f32,
    /// Valid bits of the timestamps of every graphics queue. 0 if one of them has no timestamps.
    pub(crate) timestamp_bits: u32,
}

/// The engine's device: function pointers, limits and memory types.
///
/// It is cheap to create and owns nothing. All GPU objects of this crate are made with it.
///
/// ```no_run
/// use throng::ash::{self, vk};
/// use throng::gpu::{Device, Features, MemoryAllocator};
/// use throng::{Crowd, CrowdDesc, Result};
///
/// /// # Safety
/// /// The handles belong together and outlive the crowd. The instance was created for Vulkan 1.3,
/// /// and the device with these features. The cache is null or of that device.
/// unsafe fn crowd(
///     (instance, physical_device): (&ash::Instance, vk::PhysicalDevice),
///     (device, features): (&ash::Device, Features),
///     cache: vk::PipelineCache,
///     allocator: &mut dyn MemoryAllocator,
/// ) -> Result<Crowd> {
///     let device = unsafe {
///         Device::new(instance, physical_device, device, features)?.with_pipeline_cache(cache)
///     };
///     Crowd::new(&device, allocator, &CrowdDesc::default())
/// }
/// ```
#[derive(Clone)]
pub struct Device {
    pub(crate) raw: ash::Device,
    pub(crate) debug: Option<ash::ext::debug_utils::Device>,
    /// If the extension of acceleration structures is enabled.
    pub(crate) accel: Option<Accel>,
    pub(crate) limits: Limits,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) enabled: Features,
    /// True if the CPU does the work of the device.
    pub(crate) is_software: bool,
    pub(crate) pipeline_cache: vk::PipelineCache,
    pub(crate) pipeline_flags: vk::PipelineCreateFlags,
    name: Box<str>,
}

impl core::fmt::Debug for Device {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Device")
            .field("name", &self.name)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}

impl Device {
    /// The minimum Vulkan version, of instance and device.
    pub const API_VERSION: u32 = features::API_VERSION;

    /// Queries the device's properties and checks them.
    ///
    /// # Errors
    /// - [`Error::Unsupported`] names the requirements that the physical device lacks, and features
    ///   of `enabled`, with their extensions, that it does not support.
    /// - [`Error::NotEnabled`] names the [requirements](Features::REQUIRED) that `enabled` lacks,
    ///   and extensions of `enabled` that instance or device were created without, if Vulkan tells.
    /// - [`Error::Vulkan`] if extensions cannot be listed.
    ///
    /// # Safety
    /// - `instance` was created for [`Self::API_VERSION`] or later.
    /// - `device` was created from `physical_device`, and that comes from `instance`.
    /// - The handles outlive the result, its clones, and everything that is made with them.
    /// - `device` was created with the features and extensions of `enabled`.
    pub unsafe fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        enabled: Features,
    ) -> Result<Self> {
        // SAFETY: the handles belong together and are alive, by this function's contract.
        let supported = unsafe { Features::supported(instance, physical_device)? };
        let missing = Features::REQUIRED - enabled;
        if missing != Features::NONE {
            return Err(Error::NotEnabled {
                what: "throng",
                missing: missing.names(),
            });
        }
        // SAFETY: this function has the same contract, and nothing is missing.
        let made = unsafe { Self::supported(instance, physical_device, device, enabled) };
        // Those of extensions are not among them.
        let asked = enabled - Features::DEBUG_UTILS - Features::ACCELERATION_STRUCTURE;
        match asked - supported {
            Features::NONE => {
                // SAFETY: the handles belong together and are alive, by this function's contract.
                unsafe { enabled.check_extensions(instance, physical_device, device.handle())? };
                Ok(made)
            }
            missing => Err(Error::Unsupported {
                device: made.name,
                missing: missing.names(),
            }),
        }
    }

    /// [`Self::new`] without checking the physical device.
    ///
    /// # Safety
    /// As [`Self::new`]. The physical device meets all requirements.
    pub(crate) unsafe fn supported(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        enabled: Features,
    ) -> Self {
        let mut vulkan11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut vulkan13 = vk::PhysicalDeviceVulkan13Properties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut vulkan11)
            .push_next(&mut vulkan13);
        // SAFETY: the handles are alive, by this function's contract; the device supports at least
        // Vulkan 1.3, so it knows the chained structures.
        unsafe { instance.get_physical_device_properties2(physical_device, &mut properties) };
        let properties = properties.properties;
        // SAFETY: the handles are alive, by this function's contract.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical_device) };
        // SAFETY: the handles are alive, by this function's contract.
        let families =
            unsafe { instance.get_physical_device_queue_family_properties(physical_device) };
        let limits = &properties.limits;
        // SAFETY: this function has the same contract.
        let accel = unsafe { Accel::new(instance, physical_device, device, enabled) };
        let debug = enabled
            .contains(Features::DEBUG_UTILS)
            .then(|| ash::ext::debug_utils::Device::new(instance, device));
        Self {
            raw: device.clone(),
            debug,
            accel,
            limits: Limits {
                max_buffer_bytes: vulkan13
                    .max_buffer_size
                    .min(vulkan11.max_memory_allocation_size),
                max_storage_range: limits.max_storage_buffer_range.into(),
                offset_alignment: limits
                    .min_storage_buffer_offset_alignment
                    .max(limits.min_uniform_buffer_offset_alignment)
                    .max(16),
                max_image_dimension: limits.max_image_dimension2_d,
                max_anisotropy: limits.max_sampler_anisotropy,
                max_push_bytes: limits.max_push_constants_size,
                max_bound_sets: limits.max_bound_descriptor_sets,
                max_multiview_views: vulkan11.max_multiview_view_count,
                max_textures: max_textures(limits),
                max_images: max_images(limits),
                max_viewport: limits.max_viewport_dimensions,
                viewport_bounds: limits.viewport_bounds_range,
                timestamp_period_ns: limits.timestamp_period,
                timestamp_bits: timestamp_bits(&families),
            },
            memory,
            is_software: properties.device_type == vk::PhysicalDeviceType::CPU,
            enabled,
            pipeline_cache: vk::PipelineCache::null(),
            pipeline_flags: vk::PipelineCreateFlags::empty(),
            name: features::device_name(&properties),
        }
    }

    /// Sets the engine's cache for every pipeline that is created with the result, or null for
    /// none.
    ///
    /// Set it before the device is passed on: what is made with a device keeps a copy of it.
    ///
    /// # Safety
    /// - `cache` is null or was created with this device, and outlives everything that is made with
    ///   the result.
    /// - It was not created with `EXTERNALLY_SYNCHRONIZED`, unless no other thread uses it while
    ///   throng creates pipelines: in [`Crowd::new`](crate::Crowd::new),
    ///   [`Crowd::create_pass`](crate::Crowd::create_pass),
    ///   [`Crowd::add_character`](crate::Crowd::add_character) and
    ///   [`SkinPipeline::new`](crate::gpu::SkinPipeline::new).
    #[must_use]
    pub unsafe fn with_pipeline_cache(mut self, cache: vk::PipelineCache) -> Self {
        self.pipeline_cache = cache;
        self
    }

    /// Adds flags to every pipeline that is created with the result.
    ///
    /// For example, `CAPTURE_STATISTICS_KHR` lets an engine ask its driver for the registers and
    /// instructions of [`Crowd::pipelines`](crate::Crowd::pipelines).
    ///
    /// Set them before the device is passed on: what is made with a device keeps a copy of them.
    ///
    /// # Safety
    /// The device has the features and extensions that the flags need, and pipelines without base
    /// pipelines, libraries and descriptor buffers may have them.
    #[must_use]
    pub unsafe fn with_pipeline_flags(mut self, flags: vk::PipelineCreateFlags) -> Self {
        self.pipeline_flags = flags;
        self
    }

    /// Checks that the engine enabled the features that `what` needs.
    pub(crate) fn expect_enabled(&self, what: &'static str, needed: Features) -> Result<()> {
        match needed - self.enabled {
            Features::NONE => Ok(()),
            missing => Err(Error::NotEnabled {
                what,
                missing: missing.names(),
            }),
        }
    }

    /// Checks that the object `what` was made with this device.
    pub(crate) fn expect_same(&self, what: &'static str, made_with: vk::Device) -> Result<()> {
        let same = made_with == self.raw.handle();
        expect(what, same, "was made with another device")
    }

    /// The features that the engine enabled.
    #[must_use]
    pub fn enabled(&self) -> Features {
        self.enabled
    }

    /// The resources, and the samplers, that the sets of a
    /// [`MaterialDesc`](crate::MaterialDesc) can have.
    ///
    /// Resources are buffers and textures. Sets with at most as many of either keep to the limits
    /// of textures, samplers and resources per stage, of which set 0 takes a part. Buffers and
    /// storage textures also have limits of their own.
    #[must_use]
    pub fn max_own_resources(&self) -> u32 {
        let textures = match self.enabled.contains(Features::DESCRIPTOR_INDEXING) {
            true => self.limits.max_textures,
            false => Material::TEXTURES as u32,
        };
        self.limits.max_images.saturating_sub(textures)
    }

    /// Names `handle` for debuggers and validation messages. Without debug utils it does nothing.
    pub(crate) fn set_name<T: vk::Handle>(&self, handle: T, name: &str) {
        let (Some(debug), Ok(name)) = (&self.debug, CString::new(name)) else {
            return;
        };
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(handle)
            .object_name(&name);
        // SAFETY: the handle was just created on this device. A failure only loses the name.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }

    /// Begins a debug label in `cmd`. [`Self::end_label`] must end it.
    ///
    /// # Safety
    /// `cmd` is recording.
    pub(crate) unsafe fn begin_label(&self, cmd: vk::CommandBuffer, label: &CStr) {
        if let Some(debug) = &self.debug {
            let info = vk::DebugUtilsLabelEXT::default()
                .label_name(label)
                .color([0.3, 0.6, 0.9, 1.0]);
            // SAFETY: `cmd` is recording, by this function's contract.
            unsafe { debug.cmd_begin_debug_utils_label(cmd, &info) };
        }
    }

    /// Ends the debug label begun last.
    ///
    /// # Safety
    /// `cmd` is recording, and a label is open in it.
    pub(crate) unsafe fn end_label(&self, cmd: vk::CommandBuffer) {
        if let Some(debug) = &self.debug {
            // SAFETY: `cmd` is recording with an open label, by this function's contract.
            unsafe { debug.cmd_end_debug_utils_label(cmd) };
        }
    }

    /// Records a global memory barrier.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass.
    pub(crate) unsafe fn barrier(
        &self,
        cmd: vk::CommandBuffer,
        (src_stage, src_access): (vk::PipelineStageFlags, vk::AccessFlags),
        (dst_stage, dst_access): (vk::PipelineStageFlags, vk::AccessFlags),
    ) {
        let barriers = [vk::MemoryBarrier::default()
            .src_access_mask(src_access)
            .dst_access_mask(dst_access)];
        let flags = vk::DependencyFlags::empty();
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract.
        unsafe {
            self.raw
                .cmd_pipeline_barrier(cmd, src_stage, dst_stage, flags, &barriers, &[], &[]);
        }
    }
}

/// The least `timestampValidBits` of the families with graphics queues.
///
/// The commands of frames draw, so they run on one of these.
fn timestamp_bits(families: &[vk::QueueFamilyProperties]) -> u32 {
    let graphics = families
        .iter()
        .filter(|family| family.queue_flags.contains(vk::QueueFlags::GRAPHICS));
    let bits = graphics.map(|family| family.timestamp_valid_bits);
    bits.min().unwrap_or(0)
}

/// The most textures in set 0: what the limits allow besides a share for other sets, up to 4,096.
///
/// All sets of a pipeline layout count against the limits: the shadow map's, and those of the
/// engine's own materials. Their share is a half, up to 64. It is never below the six textures of
/// a material, for which the minimum limits of Vulkan (16) have space.
fn max_textures(limits: &vk::PhysicalDeviceLimits) -> u32 {
    let least = max_images(limits);
    let others = (least / 2).min(64);
    (least - others).clamp(Material::TEXTURES as u32, 4096)
}

/// The least of the limits of textures, of samplers, and of all resources of a stage.
fn max_images(limits: &vk::PhysicalDeviceLimits) -> u32 {
    let all = [
        limits.max_per_stage_descriptor_samplers,
        limits.max_per_stage_descriptor_sampled_images,
        limits.max_descriptor_set_samplers,
        limits.max_descriptor_set_sampled_images,
        // Two buffers of set 0, and up to eight colour attachments, are resources, too.
        limits.max_per_stage_resources.saturating_sub(10),
    ];
    all.into_iter().fold(u32::MAX, u32::min)
}

/// Adds the name of a Vulkan call to its error.
pub(crate) trait VkCall<T> {
    fn call(self, call: &'static str) -> Result<T>;
}

impl<T> VkCall<T> for Result<T, vk::Result> {
    fn call(self, call: &'static str) -> Result<T> {
        self.map_err(|result| Error::Vulkan { call, result })
    }
}

/// Returns `asked` if it is at most `cap`, and otherwise an error that says what ran out.
pub(crate) fn limit(what: &'static str, asked: u64, cap: u64) -> Result<u64> {
    if asked <= cap {
        Ok(asked)
    } else {
        Err(Error::Capacity { what, asked, cap })
    }
}
