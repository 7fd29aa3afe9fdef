//! Selection of the physical device.

use crate::error::Check;
use crate::instance::{Instance, names, no_driver};
use crate::surface::Surface;
use crate::{Result, StandaloneError};
use ash::{khr, vk};
use std::borrow::Cow;
use std::ffi::CStr;
use throng::Error;
use throng::gpu::Features;

/// The environment variable that selects a device, by its index or a part of its name in any case.
const DEVICE_VARIABLE: &str = "THRONG_DEVICE";

/// The extensions of ray queries.
const RAYS: [&CStr; 3] = [
    khr::deferred_host_operations::NAME,
    khr::acceleration_structure::NAME,
    khr::ray_query::NAME,
];

/// A physical device that meets all requirements.
pub(crate) struct Candidate {
    pub(crate) physical_device: vk::PhysicalDevice,
    /// Its names.
    pub(crate) info: String,
    pub(crate) properties: vk::PhysicalDeviceProperties,
    pub(crate) queue_family: u32,
    pub(crate) timestamp_bits: u32,
    /// The optional features that it supports.
    pub(crate) enabled: Features,
    pub(crate) extensions: Vec<&'static CStr>,
    /// The size of the largest buffer that it supports, in bytes.
    pub(crate) max_buffer_bytes: u64,
}

/// Properties of a device, and the size of the largest buffer that it supports, in bytes.
type Limits = (vk::PhysicalDeviceProperties, u64);

/// The best device that meets all requirements.
///
/// With `rays`, it has ray queries. A device that cannot be inspected is rejected, so that a
/// failing driver does not hide the devices of the others.
pub(crate) fn choose(owner: &Instance, surface: Option<&Surface>, rays: bool) -> Result<Candidate> {
    // SAFETY: the instance is alive.
    let found = match unsafe { owner.instance.enumerate_physical_devices() } {
        // The loader's name for drivers that cannot be used.
        Err(vk::Result::ERROR_INITIALIZATION_FAILED) => return Err(no_driver()),
        found => found.check("vkEnumeratePhysicalDevices")?,
    };
    let asked = std::env::var(DEVICE_VARIABLE).ok();
    let (mut fit, mut devices) = (Vec::new(), Vec::new());
    for (index, physical_device) in found.into_iter().enumerate() {
        let (info, limits) = describe(owner, physical_device);
        let is_asked = |asked| is_it(asked, index, &limits.0);
        let inspected = match asked.as_deref().is_none_or(is_asked) {
            true => inspect(
                owner,
                (surface, rays),
                physical_device,
                info.clone(),
                limits,
            ),
            false => Err("is not the requested device".to_owned()),
        };
        match inspected {
            Ok(candidate) => fit.push(candidate),
            Err(why) => devices.push((format!("{index}: {info}"), why)),
        }
    }
    let best = fit
        .into_iter()
        .min_by_key(|found| rank(found.properties.device_type));
    best.ok_or(StandaloneError::NoDevice { asked, devices })
}

fn inspect(
    owner: &Instance,
    (surface, rays): (Option<&Surface>, bool),
    physical_device: vk::PhysicalDevice,
    info: String,
    (properties, max_buffer_bytes): Limits,
) -> Result<Candidate, String> {
    let instance = &owner.instance;
    // SAFETY: the physical device belongs to this instance, which was created for Vulkan 1.3.
    let enabled = unsafe { Features::supported(instance, physical_device) };
    let mut enabled = enabled.map_err(|error| match error {
        Error::Unsupported { missing, .. } => format!("lacks {}", missing.join(", ")),
        error => error.to_string(),
    })?;
    let family =
        queue_family(owner, physical_device, surface).map_err(|error| error.to_string())?;
    let (queue_family, timestamp_bits) = family.ok_or("has no suitable queue family")?;
    // SAFETY: the device belongs to this instance.
    let offered = unsafe { instance.enumerate_device_extension_properties(physical_device) }
        .check("vkEnumerateDeviceExtensionProperties")
        .map_err(|error| error.to_string())?;
    let offered = names(&offered);
    let has = |name: &CStr| offered.iter().any(|offered| offered.as_c_str() == name);
    let mut extensions = Vec::new();
    if surface.is_some() {
        if !has(khr::swapchain::NAME) {
            return Err("lacks VK_KHR_swapchain".into());
        }
        extensions.push(khr::swapchain::NAME);
    }
    if rays {
        if !RAYS.iter().all(|name| has(name)) {
            return Err("lacks VK_KHR_ray_query".into());
        }
        extensions.extend(RAYS);
        enabled |= Features::ACCELERATION_STRUCTURE;
    }
    // The specification requires the application to enable it if it is offered.
    if has(khr::portability_subset::NAME) {
        extensions.push(khr::portability_subset::NAME);
    }
    Ok(Candidate {
        physical_device,
        info,
        properties,
        queue_family,
        timestamp_bits,
        enabled,
        extensions,
        max_buffer_bytes,
    })
}

/// The names of a device and its driver, its Vulkan version, and its limits.
fn describe(owner: &Instance, physical_device: vk::PhysicalDevice) -> (String, Limits) {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut vulkan11 = vk::PhysicalDeviceVulkan11Properties::default();
    let mut vulkan13 = vk::PhysicalDeviceVulkan13Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut driver)
        .push_next(&mut vulkan11)
        .push_next(&mut vulkan13);
    // SAFETY: the device belongs to this instance. A driver that is too old to know the chained
    // structures does not write to them.
    unsafe {
        owner
            .instance
            .get_physical_device_properties2(physical_device, &mut all);
    }
    let properties = all.properties;
    let version = properties.api_version;
    let info = format!(
        "{} ({} {}, Vulkan {}.{}.{})",
        text(properties.device_name_as_c_str()),
        text(driver.driver_name_as_c_str()),
        text(driver.driver_info_as_c_str()),
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    );
    let largest = vulkan11.max_memory_allocation_size;
    (info, (properties, vulkan13.max_buffer_size.min(largest)))
}

/// The first queue family that has graphics and compute and can present, with its valid timestamp
/// bits.
fn queue_family(
    owner: &Instance,
    physical_device: vk::PhysicalDevice,
    surface: Option<&Surface>,
) -> Result<Option<(u32, u32)>> {
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let instance = &owner.instance;
    // SAFETY: the device belongs to this instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical_device) };
    for (family, properties) in (0..).zip(&families) {
        let fit = properties.queue_flags.contains(wanted);
        if fit && surface.map_or(Ok(true), |s| s.presents(physical_device, family))? {
            return Ok(Some((family, properties.timestamp_valid_bits)));
        }
    }
    Ok(None)
}

fn is_it(asked: &str, index: usize, properties: &vk::PhysicalDeviceProperties) -> bool {
    let asked = asked.trim().to_lowercase();
    let name = text(properties.device_name_as_c_str());
    match asked.parse::<usize>() {
        Ok(asked) => asked == index,
        Err(_) => name.to_lowercase().contains(&asked),
    }
}

/// A name that a driver gave. One that does not end counts as empty.
fn text<E>(name: Result<&CStr, E>) -> Cow<'_, str> {
    name.map(CStr::to_string_lossy).unwrap_or_default()
}

fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 4,
    }
}
