//! Features in the `VkDeviceCreateInfo` of an engine, in whichever structures it has.

use super::features::{self, FeatureStruct, Features};
use ash::vk;
use core::ffi::CStr;
use core::ptr::{self, NonNull};

type Base = vk::BaseOutStructure<'static>;

/// `at` as the type `T`, if it is of that type.
///
/// # Safety
/// `at` is a structure of Vulkan.
unsafe fn cast<T>(at: NonNull<Base>) -> Option<NonNull<dyn FeatureStruct>>
where
    T: vk::TaggedStructure + FeatureStruct + 'static,
{
    // SAFETY: every structure of a chain begins with its type and the next structure.
    let s_type = unsafe { at.as_ref() }.s_type;
    (s_type == T::STRUCTURE_TYPE).then(|| at.cast::<T>() as NonNull<dyn FeatureStruct>)
}

type Cast = unsafe fn(NonNull<Base>) -> Option<NonNull<dyn FeatureStruct>>;

/// All structures of [`FeatureStruct`] that can be in a chain.
const CHAINED: [Cast; 9] = [
    cast::<vk::PhysicalDeviceFeatures2<'static>>,
    cast::<vk::PhysicalDeviceVulkan11Features<'static>>,
    cast::<vk::PhysicalDeviceVulkan12Features<'static>>,
    cast::<vk::PhysicalDeviceVulkan13Features<'static>>,
    cast::<vk::PhysicalDeviceMultiviewFeatures<'static>>,
    cast::<vk::PhysicalDeviceBufferDeviceAddressFeatures<'static>>,
    cast::<vk::PhysicalDeviceDescriptorIndexingFeatures<'static>>,
    cast::<vk::PhysicalDeviceDynamicRenderingFeatures<'static>>,
    cast::<vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'static>>,
];

/// True if `info` enables this device extension.
///
/// # Safety
/// The extension names of `info` are valid.
unsafe fn enables(info: &vk::DeviceCreateInfo<'_>, extension: &str) -> bool {
    let names = info.pp_enabled_extension_names;
    (0..info.enabled_extension_count as usize).any(|index| {
        // SAFETY: there are as many names, each of them valid, by this function's contract.
        let name = unsafe { CStr::from_ptr(*names.add(index)) };
        name.to_bytes() == extension.as_bytes()
    })
}

/// Calls `visit` with every structure of features that is chained to `info`.
///
/// # Safety
/// The chain of `info` is valid.
unsafe fn visit_chain(
    info: &vk::DeviceCreateInfo<'_>,
    mut visit: impl FnMut(NonNull<dyn FeatureStruct>),
) {
    let mut next = NonNull::new(info.p_next.cast_mut().cast::<Base>());
    while let Some(at) = next {
        // SAFETY: the chain is valid, by this function's contract.
        let found = CHAINED.iter().find_map(|cast| unsafe { cast(at) });
        found.map(&mut visit);
        // SAFETY: as above.
        next = NonNull::new(unsafe { at.as_ref() }.p_next);
    }
}

impl Features {
    /// The features that a device has that is created with `info`.
    ///
    /// They are read from `pEnabledFeatures` and all structures of the chain, in whichever form.
    /// [`Self::ACCELERATION_STRUCTURE`] counts if its extension is enabled, too. Nothing says
    /// whether the instance has [`Self::DEBUG_UTILS`], so that is left out.
    ///
    /// # Safety
    /// `pEnabledFeatures` is null or valid, and so are the chain and the extension names of `info`.
    #[must_use]
    pub unsafe fn of_device(info: &vk::DeviceCreateInfo<'_>) -> Self {
        // SAFETY: the pointer is null or valid, by this function's contract.
        let core = unsafe { info.p_enabled_features.as_ref() };
        let mut enabled = core.map_or(Self::NONE, FeatureStruct::enabled);
        // SAFETY: the chain is valid, by this function's contract, and nobody writes to it.
        unsafe { visit_chain(info, |one| enabled |= one.as_ref().enabled()) };
        // SAFETY: the names are valid, by this function's contract.
        let extends = unsafe { enables(info, features::ACCELERATION_STRUCTURE) };
        match extends {
            true => enabled,
            false => enabled - Self::ACCELERATION_STRUCTURE,
        }
    }

    /// True if `structure` has one of the features of this set.
    fn any_of(self, structure: &impl FeatureStruct) -> bool {
        self - structure.has() != self
    }
}

/// Enables features in an engine's `VkDeviceCreateInfo`, whatever structures are chained to it.
///
/// It owns the structures of those features for which the engine has chained none, so it must live
/// until the device is created.
///
/// ```no_run
/// use throng::ash::{self, vk};
/// use throng::gpu::{Device, FeatureChain, Features};
///
/// /// # Safety
/// /// The handles are alive and belong together. The instance was created for Vulkan 1.3, and
/// /// `info` is what the engine creates its device with.
/// unsafe fn create(
///     (instance, physical_device): (&ash::Instance, vk::PhysicalDevice),
///     info: vk::DeviceCreateInfo,
/// ) -> Result<(ash::Device, Device), Box<dyn std::error::Error>> {
///     unsafe {
///         let features = Features::supported(instance, physical_device)?;
///         let mut chain = FeatureChain::new(features);
///         let info = chain.add_to(info);
///         let device = instance.create_device(physical_device, &info, None)?;
///         let throng = Device::new(instance, physical_device, &device, features)?;
///         Ok((device, throng))
///     }
/// }
/// ```
#[derive(Debug)]
pub struct FeatureChain {
    features: Features,
    core: vk::PhysicalDeviceFeatures,
    multiview: vk::PhysicalDeviceMultiviewFeatures<'static>,
    address: vk::PhysicalDeviceBufferDeviceAddressFeatures<'static>,
    indexing: vk::PhysicalDeviceDescriptorIndexingFeatures<'static>,
    rendering: vk::PhysicalDeviceDynamicRenderingFeatures<'static>,
    acceleration: vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'static>,
}

// SAFETY: the structures are chained only while `add_to` borrows them mutably.
unsafe impl Send for FeatureChain {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for FeatureChain {}

impl FeatureChain {
    /// Structures for these features.
    ///
    /// Features that are not the device's, such as [`Features::DEBUG_UTILS`], do not matter.
    #[must_use]
    pub fn new(features: Features) -> Self {
        Self {
            features,
            core: vk::PhysicalDeviceFeatures::default(),
            multiview: vk::PhysicalDeviceMultiviewFeatures::default(),
            address: vk::PhysicalDeviceBufferDeviceAddressFeatures::default(),
            indexing: vk::PhysicalDeviceDescriptorIndexingFeatures::default(),
            rendering: vk::PhysicalDeviceDynamicRenderingFeatures::default(),
            acceleration: vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default(),
        }
    }

    /// Enables the features in the structures that are chained to `info`, and chains a structure
    /// for each of the others.
    ///
    /// - It disables nothing, and chains no structure whose features another one of the chain has,
    ///   as Vulkan demands.
    /// - Of `pEnabledFeatures` it makes a copy.
    /// - Structures that the engine chains afterwards must not have the same features. So call this
    ///   last.
    /// - Extensions are not enabled. [`Features::ACCELERATION_STRUCTURE`] is left out if `info`
    ///   does not enable its extension, so that [`Device::new`](super::Device::new) names it.
    ///
    /// # Safety
    /// - `pEnabledFeatures` is null or valid. The extension names of `info` are valid. Its chain is
    ///   valid, and may be written, as with `push_next`.
    /// - The physical device supports the features, see [`Features::supported`].
    pub unsafe fn add_to<'a>(
        &'a mut self,
        mut info: vk::DeviceCreateInfo<'a>,
    ) -> vk::DeviceCreateInfo<'a> {
        // SAFETY: the names are valid, by this function's contract.
        let extends = unsafe { enables(&info, features::ACCELERATION_STRUCTURE) };
        let wanted = match extends {
            true => self.features,
            false => self.features - Features::ACCELERATION_STRUCTURE,
        };
        let mut left = wanted;
        let enable = |mut one: NonNull<dyn FeatureStruct>| {
            // SAFETY: the chain is valid and may be written, by this function's contract.
            let one = unsafe { one.as_mut() };
            one.enable(wanted);
            left = left - one.has();
        };
        // SAFETY: the chain is valid, by this function's contract.
        unsafe { visit_chain(&info, enable) };
        if !info.p_enabled_features.is_null() || left.any_of(&self.core) {
            // SAFETY: the pointer is null or valid, by this function's contract.
            let given = unsafe { info.p_enabled_features.as_ref() };
            self.core = given.copied().unwrap_or_default();
            self.core.enable(left);
            info.p_enabled_features = ptr::from_ref(&self.core);
        }
        macro_rules! chain {
            ($($field:ident)+) => {$(
                self.$field = Default::default();
                if left.any_of(&self.$field) {
                    self.$field.enable(left);
                    info = info.push_next(&mut self.$field);
                }
            )+};
        }
        chain!(multiview address indexing rendering acceleration);
        info
    }
}
