//! Selection of the physical device.

use super::error::Check;
use super::instance::{InstanceOwner, names};
use super::{
    ContextDesc, DEVICE_VARIABLE, DeviceInfo, FeatureSet, Missing, Result, StandaloneError,
    Surface, select,
};
use ash::{khr, vk};
use std::ffi::{CStr, CString};

/// A physical device under consideration.
pub(super) struct Candidate {
    pub(super) physical_device: vk::PhysicalDevice,
    pub(super) info: DeviceInfo,
    pub(super) properties: vk::PhysicalDeviceProperties,
    pub(super) queue_family: u32,
    pub(super) timestamp_bits: u32,
    pub(super) enabled: FeatureSet,
    pub(super) extensions: Vec<CString>,
}

/// The devices that meet all requirements, best first.
pub(super) fn choose(
    owner: &InstanceOwner,
    desc: &ContextDesc<'_>,
    surface: Option<&Surface>,
) -> Result<Vec<Candidate>> {
    // SAFETY: the instance is alive.
    let found = match unsafe { owner.instance.enumerate_physical_devices() } {
        // The loader's word for drivers that cannot be used.
        Err(vk::Result::ERROR_INITIALIZATION_FAILED) => return Err(StandaloneError::NoDriver),
        found => found.check("vkEnumeratePhysicalDevices")?,
    };
    let asked = std::env::var(DEVICE_VARIABLE)
        .ok()
        .or_else(|| desc.device.map(str::to_owned));
    let inspected = found.into_iter().enumerate().map(|(index, device)| {
        let candidate = describe(owner, index, device);
        let info = candidate.info.clone();
        (info, inspect(owner, desc, surface, candidate))
    });
    select(asked.as_deref(), inspected)
}

fn inspect(
    owner: &InstanceOwner,
    desc: &ContextDesc<'_>,
    surface: Option<&Surface>,
    mut candidate: Candidate,
) -> Result<(Candidate, Vec<Missing>)> {
    let physical_device = candidate.physical_device;
    if candidate.info.api_version < vk::API_VERSION_1_3 {
        let found = candidate.info.api_version;
        return Ok((candidate, vec![Missing::Version { found }]));
    }
    let mut missing = Vec::new();
    match queue_family(owner, physical_device, surface)? {
        Some((family, bits)) => {
            candidate.queue_family = family;
            candidate.timestamp_bits = bits;
        }
        None => missing.push(Missing::Queue),
    }
    // SAFETY: the physical device belongs to this instance, and both support Vulkan 1.3.
    let supported = unsafe { FeatureSet::supported(&owner.instance, physical_device) };
    let required = FeatureSet::base().or(&desc.required);
    missing.extend(supported.lacks(&required).into_iter().map(Missing::Feature));
    candidate.enabled = required.or(&desc.optional).and(&supported);
    missing.extend(candidate.take_extensions(owner, desc, surface.is_some())?);
    Ok((candidate, missing))
}

impl Candidate {
    /// Records the extensions to enable, and returns the missing ones.
    fn take_extensions(
        &mut self,
        owner: &InstanceOwner,
        desc: &ContextDesc<'_>,
        presents: bool,
    ) -> Result<Vec<Missing>> {
        // SAFETY: the device belongs to this instance.
        let offered = unsafe {
            owner
                .instance
                .enumerate_device_extension_properties(self.physical_device)
        }
        .check("vkEnumerateDeviceExtensionProperties")?;
        let offered = names(&offered);
        let has = |name: &CStr| offered.iter().any(|e| e.as_c_str() == name);
        let swapchain = presents.then_some(khr::swapchain::NAME);
        let required = swapchain
            .into_iter()
            .chain(desc.required_extensions.iter().copied());
        let (here, gone): (Vec<&CStr>, Vec<&CStr>) = required.partition(|&name| has(name));
        // If a driver offers this extension, the specification requires the application to enable
        // it.
        let optional = [khr::portability_subset::NAME];
        let optional = optional
            .into_iter()
            .chain(desc.optional_extensions.iter().copied())
            .filter(|&name| has(name));
        self.extensions = here
            .into_iter()
            .chain(optional)
            .map(CStr::to_owned)
            .collect();
        self.extensions.sort();
        self.extensions.dedup();
        Ok(gone
            .into_iter()
            .map(|name| Missing::Extension(name.to_string_lossy().into_owned()))
            .collect())
    }
}

fn describe(owner: &InstanceOwner, index: usize, physical_device: vk::PhysicalDevice) -> Candidate {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: the device belongs to this instance. A driver that is too old to know the chained
    // structure does not write to it.
    unsafe {
        owner
            .instance
            .get_physical_device_properties2(physical_device, &mut all);
    }
    let properties = all.properties;
    let text = |s: Result<&CStr, _>| {
        s.map(|s| s.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let info = DeviceInfo {
        index,
        name: text(properties.device_name_as_c_str()),
        driver: text(driver.driver_name_as_c_str()),
        driver_info: text(driver.driver_info_as_c_str()),
        api_version: properties.api_version,
        kind: properties.device_type,
    };
    Candidate {
        physical_device,
        info,
        properties,
        queue_family: 0,
        timestamp_bits: 0,
        enabled: FeatureSet::default(),
        extensions: Vec::new(),
    }
}

/// The first queue family that has graphics and compute and can present.
///
/// Returned with the number of valid timestamp bits.
fn queue_family(
    owner: &InstanceOwner,
    physical_device: vk::PhysicalDevice,
    surface: Option<&Surface>,
) -> Result<Option<(u32, u32)>> {
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    // SAFETY: the device belongs to this instance.
    let families = unsafe {
        owner
            .instance
            .get_physical_device_queue_family_properties(physical_device)
    };
    for (family, properties) in (0..).zip(&families) {
        let fit = properties.queue_flags.contains(wanted);
        if fit && surface.map_or(Ok(true), |s| s.presents(physical_device, family))? {
            return Ok(Some((family, properties.timestamp_valid_bits)));
        }
    }
    Ok(None)
}
