//! Device features that the crate requires or can use, and the structures that say them.

use crate::error::{Error, Result};
use ash::vk;
use core::ffi::CStr;

/// The minimum Vulkan version, of instance and device.
pub(super) const API_VERSION: u32 = vk::API_VERSION_1_3;

/// Defines [`Features`]: each feature with its setter, and the names that Vulkan has for it.
macro_rules! features {
    ($(#[$about:meta])* pub struct Features {
        $($(#[$doc:meta])* $feature:ident, $with:ident: $($name:literal)+;)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[non_exhaustive]
        pub struct Features {
            $($(#[$doc])* pub $feature: bool,)+
        }

        impl Features {
            /// No features.
            pub const NONE: Self = Self { $($feature: false),+ };

            $(
                #[doc = concat!("Sets [`Self::", stringify!($feature), "`].")]
                #[must_use]
                pub const fn $with(mut self, on: bool) -> Self {
                    self.$feature = on;
                    self
                }
            )+

            /// The features of this or the other set.
            #[must_use]
            pub const fn union(self, other: Self) -> Self {
                Self { $($feature: self.$feature | other.$feature),+ }
            }

            /// The features of this set that the other set does not have.
            #[must_use]
            pub const fn without(self, other: &Self) -> Self {
                Self { $($feature: self.$feature & !other.$feature),+ }
            }

            /// The names that Vulkan has for the features of this set.
            #[must_use]
            pub fn names(&self) -> Vec<&'static str> {
                let all = [$((self.$feature, &[$($name),+][..])),+];
                let own = all.into_iter().filter(|(on, _)| *on);
                own.flat_map(|(_, names)| names).copied().collect()
            }
        }
    };
}

features! {
/// A set of device features: what a device supports, what to enable, or what was enabled.
///
/// Vulkan cannot be asked which features of a device are enabled, so the engine says it to
/// [`Device::new`](super::Device::new). There are three ways:
///
/// - Before the device is created, [`FeatureChain::add_to`](super::FeatureChain::add_to) takes the
///   engine's `VkDeviceCreateInfo` and enables a set in it, whichever structures it has.
/// - An engine that makes these structures itself calls [`Self::enable_in`] for each of them,
///   before it creates the device.
/// - [`Self::of_device`] and [`Self::of`] read what an engine enables.
///
/// # Requirements
/// Only these are required:
///
/// | | reason |
/// |---|---|
/// | Vulkan 1.3, of instance and device | cull mode and front face are dynamic state; with static state there would be up to three times as many pipelines |
/// | `bufferDeviceAddress` | every instance has the address of its palette, so palettes in all buffers stand in one draw |
/// | a queue with graphics and compute | the stages before a draw are compute shaders in the same command buffer |
///
/// Every device of Vulkan 1.3 supports `bufferDeviceAddress`. throng needs no device extension and
/// no more than the minimum limits of Vulkan 1.3. It does not need `maintenance4`, because its
/// shaders are SPIR-V 1.5, and not `synchronization2`, because no barrier of it is finer than those
/// of Vulkan 1.0. An engine that enables `vulkanMemoryModel` must enable
/// `vulkanMemoryModelDeviceScope` as well: the atomics of stages on the GPU have that scope.
///
/// The fields that say so are optional. Without them something else is missing or slower.
///
/// ```
/// use throng::ash::vk;
/// use throng::gpu::Features;
///
/// // The engine's own structures.
/// let mut v12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
/// let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
/// let wanted = Features::REQUIRED.with_dynamic_rendering(true);
/// wanted.enable_in(&mut v12);
/// wanted.enable_in(&mut v13);
/// assert_eq!((v12.buffer_device_address, v13.dynamic_rendering), (vk::TRUE, vk::TRUE));
/// // Create the device with them, and give this to `Device::new`:
/// assert_eq!(Features::of(&v12).union(Features::of(&v13)), wanted);
/// ```
pub struct Features {
    /// `bufferDeviceAddress`, which is required.
    buffer_device_address, with_buffer_device_address: "bufferDeviceAddress";
    /// `dynamicRendering`: passes for `vkCmdBeginRendering`.
    ///
    /// Passes for a `VkRenderPass` do not need it.
    dynamic_rendering, with_dynamic_rendering: "dynamicRendering";
    /// `multiview`: passes with a view mask.
    multiview, with_multiview: "multiview";
    /// `VkPhysicalDeviceFeatures::samplerAnisotropy`: textures are sampled anisotropically.
    sampler_anisotropy, with_sampler_anisotropy: "samplerAnisotropy";
    /// `VkPhysicalDeviceFeatures::independentBlend`: passes may have more than one colour
    /// attachment.
    independent_blend, with_independent_blend: "independentBlend";
    /// `VkPhysicalDeviceFeatures::drawIndirectFirstInstance`: with a stage cull on the GPU, the
    /// draws themselves say where their lists start, so vertex shaders need not read it.
    draw_indirect_first_instance, with_draw_indirect_first_instance: "drawIndirectFirstInstance";
    /// Descriptor indexing: one set for all textures of a character.
    ///
    /// Without it there is a set for each material. It requires these three features:
    /// `runtimeDescriptorArray`, `shaderSampledImageArrayNonUniformIndexing` and
    /// `descriptorBindingVariableDescriptorCount`.
    descriptor_indexing, with_descriptor_indexing:
        "runtimeDescriptorArray"
        "shaderSampledImageArrayNonUniformIndexing"
        "descriptorBindingVariableDescriptorCount";
    /// The device extension `VK_KHR_acceleration_structure` and its feature
    /// `accelerationStructure`: deformed vertices may be built into acceleration structures.
    ///
    /// [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage) asks for it.
    acceleration_structure, with_acceleration_structure: "accelerationStructure";
    /// The instance extension `VK_EXT_debug_utils`: objects get names, stages get labels.
    ///
    /// It is no feature of the device, so no structure says it. Set it with
    /// [`Self::with_debug_utils`].
    debug_utils, with_debug_utils: "VK_EXT_debug_utils";
}
}

/// A structure of Vulkan in which device features are enabled.
///
/// Implemented by `PhysicalDeviceFeatures`, `PhysicalDeviceFeatures2` (without its chain), those of
/// Vulkan 1.1, 1.2 and 1.3, and by the single ones that have a feature of [`Features`].
pub trait FeatureStruct: sealed::Sealed {
    /// The features of [`Features`] that this structure has, enabled or not.
    fn has(&self) -> Features;

    /// Enables those features of a set that this structure has.
    fn enable(&mut self, features: &Features);

    /// The features that are enabled in this structure.
    fn enabled(&self) -> Features;
}

mod sealed {
    pub trait Sealed {}
}

/// Says in which fields a structure has which features.
macro_rules! feature_struct {
    ($type:ty { $($feature:ident: $($($of:ident).+)+;)+ }) => {
        impl sealed::Sealed for $type {}

        impl FeatureStruct for $type {
            fn has(&self) -> Features {
                Features { $($feature: true,)+ ..Features::NONE }
            }

            fn enable(&mut self, features: &Features) {
                $(if features.$feature {
                    $(self.$($of).+ = vk::TRUE;)+
                })+
            }

            fn enabled(&self) -> Features {
                Features {
                    $($feature: [$(self.$($of).+),+].iter().all(|on| *on == vk::TRUE),)+
                    ..Features::NONE
                }
            }
        }
    };
}

feature_struct!(vk::PhysicalDeviceFeatures {
    sampler_anisotropy: sampler_anisotropy;
    independent_blend: independent_blend;
    draw_indirect_first_instance: draw_indirect_first_instance;
});
feature_struct!(vk::PhysicalDeviceFeatures2<'_> {
    sampler_anisotropy: features.sampler_anisotropy;
    independent_blend: features.independent_blend;
    draw_indirect_first_instance: features.draw_indirect_first_instance;
});
feature_struct!(vk::PhysicalDeviceVulkan11Features<'_> {
    multiview: multiview;
});
feature_struct!(vk::PhysicalDeviceVulkan12Features<'_> {
    buffer_device_address: buffer_device_address;
    descriptor_indexing: runtime_descriptor_array
        shader_sampled_image_array_non_uniform_indexing
        descriptor_binding_variable_descriptor_count;
});
feature_struct!(vk::PhysicalDeviceVulkan13Features<'_> {
    dynamic_rendering: dynamic_rendering;
});
feature_struct!(vk::PhysicalDeviceMultiviewFeatures<'_> {
    multiview: multiview;
});
feature_struct!(vk::PhysicalDeviceBufferDeviceAddressFeatures<'_> {
    buffer_device_address: buffer_device_address;
});
feature_struct!(vk::PhysicalDeviceDescriptorIndexingFeatures<'_> {
    descriptor_indexing: runtime_descriptor_array
        shader_sampled_image_array_non_uniform_indexing
        descriptor_binding_variable_descriptor_count;
});
feature_struct!(vk::PhysicalDeviceDynamicRenderingFeatures<'_> {
    dynamic_rendering: dynamic_rendering;
});
feature_struct!(vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'_> {
    acceleration_structure: acceleration_structure;
});

impl Features {
    /// The features that [`Device::new`](super::Device::new) requires.
    pub const REQUIRED: Self = Self::NONE.with_buffer_device_address(true);

    /// The features that a physical device supports, if it supports what throng requires.
    ///
    /// An engine may enable all of them. Extensions are not queried:
    /// [`Self::acceleration_structure`] and [`Self::debug_utils`] are false.
    ///
    /// ```no_run
    /// use throng::ash::{self, vk};
    /// use throng::gpu::Features;
    ///
    /// /// # Safety
    /// /// `instance` is alive and was created for Vulkan 1.3 or later.
    /// unsafe fn choose(instance: &ash::Instance) -> Option<(vk::PhysicalDevice, Features)> {
    ///     let devices = unsafe { instance.enumerate_physical_devices() }.ok()?;
    ///     let mut devices = devices.into_iter();
    ///     devices.find_map(|device| match unsafe { Features::supported(instance, device) } {
    ///         Ok(features) => Some((device, features)),
    ///         Err(error) => {
    ///             eprintln!("{error}");
    ///             None
    ///         }
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] names all missing requirements, or only the version if that is too
    /// low.
    ///
    /// # Safety
    /// - `physical_device` comes from `instance`, and both are alive.
    /// - `instance` was created for [`Device::API_VERSION`](super::Device::API_VERSION) or later.
    pub unsafe fn supported(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
    ) -> Result<Self> {
        // SAFETY: the handles are alive and belong together, by this function's contract.
        let properties = unsafe { instance.get_physical_device_properties(physical_device) };
        let device = device_name(&properties);
        if properties.api_version < API_VERSION {
            return Err(Error::Unsupported {
                device,
                missing: vec!["Vulkan 1.3"],
            });
        }
        let mut features11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut features11)
            .push_next(&mut features12)
            .push_next(&mut features13);
        // SAFETY: the handles are alive, by this function's contract; the device supports at least
        // Vulkan 1.3, so it knows the chained structures.
        unsafe { instance.get_physical_device_features2(physical_device, &mut features) };
        let supported = Self::of(&features.features)
            .union(Self::of(&features11))
            .union(Self::of(&features12))
            .union(Self::of(&features13));
        match Self::REQUIRED.without(&supported) {
            Self::NONE => Ok(supported),
            missing => Err(Error::Unsupported {
                device,
                missing: missing.names(),
            }),
        }
    }

    /// The features of this set that a structure enables.
    ///
    /// All others are false.
    #[must_use]
    pub fn of(structure: &impl FeatureStruct) -> Self {
        structure.enabled()
    }

    /// Enables those features of this set that the structure has.
    ///
    /// It disables none.
    pub fn enable_in(&self, structure: &mut impl FeatureStruct) {
        structure.enable(self);
    }
}

pub(super) fn device_name(properties: &vk::PhysicalDeviceProperties) -> Box<str> {
    properties.device_name_as_c_str().map_or_else(
        |_| "unnamed device".into(),
        |name: &CStr| name.to_string_lossy().into(),
    )
}
