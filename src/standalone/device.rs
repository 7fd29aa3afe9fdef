//! Which device, and the logical device made from it.

use super::instance::{InstanceOwner, names};
use super::{Check, ContextDesc, FeatureSet, Result, StandaloneError, Surface};
use ash::{khr, vk};
use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::Arc;

/// The environment variable that chooses a device, by index or by a part of its
/// name in any case. It goes before [`ContextDesc::device`].
pub const DEVICE_VARIABLE: &str = "THRONG_DEVICE";

/// A device and its driver, for people and for the head of a table of figures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Position in the instance's list.
    pub index: usize,
    /// The device's name.
    pub name: String,
    /// The driver's name, such as `llvmpipe`.
    pub driver: String,
    /// The driver's own words on itself, such as its version.
    pub driver_info: String,
    /// The Vulkan version of the device.
    pub api_version: u32,
    /// Discrete, integrated, virtual, CPU.
    pub kind: vk::PhysicalDeviceType,
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({} {}, Vulkan ",
            self.name, self.driver, self.driver_info
        )?;
        version(f, self.api_version)?;
        write!(f, ")")
    }
}

/// Why a device was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// It speaks an older Vulkan than 1.3.
    Version {
        /// The version it speaks.
        found: u32,
    },
    /// No queue family has graphics and compute, and presents to the window if
    /// there is one.
    Queue,
    /// A core feature.
    Feature(&'static str),
    /// A device extension.
    Extension(String),
    /// Nothing: another one was asked for.
    NotAskedFor,
}

/// A device that was not taken, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceReport {
    /// The device.
    pub info: DeviceInfo,
    /// What it lacks.
    pub missing: Vec<Missing>,
}

impl fmt::Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.info.index, self.info)?;
        for missing in &self.missing {
            match missing {
                Missing::Version { found } => {
                    write!(f, ", speaks only Vulkan ")?;
                    version(f, *found)?;
                }
                Missing::Queue => write!(f, ", has no fit queue")?,
                Missing::Feature(name) => write!(f, ", lacks feature {name}")?,
                Missing::Extension(name) => write!(f, ", lacks {name}")?,
                Missing::NotAskedFor => write!(f, ", is not the one")?,
            }
        }
        Ok(())
    }
}

fn version(f: &mut fmt::Formatter<'_>, v: u32) -> fmt::Result {
    write!(
        f,
        "{}.{}.{}",
        vk::api_version_major(v),
        vk::api_version_minor(v),
        vk::api_version_patch(v)
    )
}

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

/// Takes the best device that has everything.
pub(super) fn choose(
    owner: &InstanceOwner,
    desc: &ContextDesc<'_>,
    surface: Option<&Surface>,
) -> Result<Candidate> {
    // SAFETY: the instance is alive.
    let found = unsafe { owner.instance.enumerate_physical_devices() }
        .check("vkEnumeratePhysicalDevices")?;
    let asked = std::env::var(DEVICE_VARIABLE)
        .ok()
        .or_else(|| desc.device.map(str::to_owned));
    let mut fit: Vec<Candidate> = Vec::new();
    let mut reports = Vec::new();
    for (index, physical_device) in found.into_iter().enumerate() {
        let (candidate, mut missing) = inspect(owner, desc, surface, index, physical_device)?;
        if asked
            .as_deref()
            .is_some_and(|asked| !is_it(asked, &candidate.info))
        {
            missing = vec![Missing::NotAskedFor];
        }
        if missing.is_empty() {
            fit.push(candidate);
        } else {
            let info = candidate.info;
            reports.push(DeviceReport { info, missing });
        }
    }
    fit.into_iter()
        .min_by_key(|c| (rank(c.info.kind), c.info.index))
        .ok_or(StandaloneError::NoDevice {
            asked,
            devices: reports,
        })
}

fn is_it(asked: &str, info: &DeviceInfo) -> bool {
    match asked.trim().parse::<usize>() {
        Ok(index) => index == info.index,
        Err(_) => info
            .name
            .to_lowercase()
            .contains(&asked.trim().to_lowercase()),
    }
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

fn inspect(
    owner: &InstanceOwner,
    desc: &ContextDesc<'_>,
    surface: Option<&Surface>,
    index: usize,
    physical_device: vk::PhysicalDevice,
) -> Result<(Candidate, Vec<Missing>)> {
    let (info, properties) = describe(owner, index, physical_device);
    let mut candidate = Candidate {
        physical_device,
        info,
        properties,
        queue_family: 0,
        timestamp_bits: 0,
        enabled: FeatureSet::default(),
        extensions: Vec::new(),
    };
    if properties.api_version < vk::API_VERSION_1_3 {
        let found = properties.api_version;
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
    // SAFETY: the device is of this instance, and both speak 1.3.
    let supported = unsafe { FeatureSet::supported(&owner.instance, physical_device) };
    let required = FeatureSet::base().or(&desc.required);
    missing.extend(supported.lacks(&required).into_iter().map(Missing::Feature));
    candidate.enabled = required.or(&desc.optional).and(&supported);
    missing.extend(candidate.take_extensions(owner, desc, surface.is_some())?);
    Ok((candidate, missing))
}

impl Candidate {
    /// Notes the extensions to enable, and returns those that are not there.
    fn take_extensions(
        &mut self,
        owner: &InstanceOwner,
        desc: &ContextDesc<'_>,
        presents: bool,
    ) -> Result<Vec<Missing>> {
        // SAFETY: the device is of this instance.
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
        // Where a driver offers it, whoever uses the driver has to enable it.
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

fn describe(
    owner: &InstanceOwner,
    index: usize,
    physical_device: vk::PhysicalDevice,
) -> (DeviceInfo, vk::PhysicalDeviceProperties) {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: the device is of this instance; a driver too old to know the
    // chained structure leaves it as it is.
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
    (info, properties)
}

/// The first family with graphics and compute that presents, and its timestamp bits.
fn queue_family(
    owner: &InstanceOwner,
    physical_device: vk::PhysicalDevice,
    surface: Option<&Surface>,
) -> Result<Option<(u32, u32)>> {
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    // SAFETY: the device is of this instance.
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

/// Owns the device and the command pool for one-off work.
pub(super) struct DeviceOwner {
    pub(super) device: ash::Device,
    pub(super) pool: vk::CommandPool,
    // After `device`: the instance goes last.
    _instance: Arc<InstanceOwner>,
}

impl DeviceOwner {
    pub(super) fn new(instance: &Arc<InstanceOwner>, candidate: &Candidate) -> Result<Self> {
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(candidate.queue_family)
            .queue_priorities(&priorities)];
        let extensions: Vec<_> = candidate.extensions.iter().map(|e| e.as_ptr()).collect();
        let mut features = candidate.enabled;
        let mut chain = features.chain();
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut chain);
        // SAFETY: what is enabled is supported, and `info` lives until the call returns.
        let device = unsafe {
            instance
                .instance
                .create_device(candidate.physical_device, &info, None)
        }
        .check("vkCreateDevice")?;
        let mut owner = Self {
            device,
            pool: vk::CommandPool::null(),
            _instance: Arc::clone(instance),
        };
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(candidate.queue_family);
        // SAFETY: the device was made with this family.
        owner.pool = unsafe { owner.device.create_command_pool(&info, None) }
            .check("vkCreateCommandPool")?;
        Ok(owner)
    }
}

impl Drop for DeviceOwner {
    fn drop(&mut self) {
        // SAFETY: the context has waited for idle, and its allocator is gone.
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
        }
    }
}
