//! Device features that the crate requires or can use, and the structures that say them.

use crate::error::{Error, Result};
use crate::import::TextureTarget;
use ash::vk;
use core::ffi::CStr;
use core::fmt;
use core::ops::{BitOr, BitOrAssign, Sub};

/// The minimum Vulkan version, of instance and device.
pub(super) const API_VERSION: u32 = vk::API_VERSION_1_3;

/// Defines [`Features`]: each feature, and the names that Vulkan has for it.
macro_rules! features {
    ($(#[$about:meta])* pub struct Features {
        $($(#[$doc:meta])* $feature:ident = $bit:literal: $($name:literal)+;)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct Features(u32);

        impl Features {
            /// No features.
            pub const NONE: Self = Self(0);
            $($(#[$doc])* pub const $feature: Self = Self(1 << $bit);)+

            /// The names that Vulkan has for the features of this set.
            pub(crate) fn names(self) -> Vec<&'static str> {
                let all = [$((Self::$feature, &[$($name),+][..])),+];
                let own = all.into_iter().filter(|(feature, _)| self.contains(*feature));
                own.flat_map(|(_, names)| names).copied().collect()
            }
        }
    };
}

features! {
/// A set of device features: what a device supports, what to enable, or what was enabled.
///
/// Vulkan cannot be asked which features of a device are enabled, so the engine says it to
/// [`Device::new`](super::Device::new). [`FeatureChain::add_to`](super::FeatureChain::add_to) takes
/// the engine's `VkDeviceCreateInfo` and enables a set in it, whichever structures it has.
/// [`Self::of_device`] reads what an engine enables by itself.
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
/// All others are optional. Without them something else is missing or slower.
///
/// ```
/// use throng::gpu::Features;
///
/// const WANTED: Features = Features::REQUIRED.union(Features::MULTIVIEW);
///
/// let more = WANTED | Features::DYNAMIC_RENDERING;
/// assert!(more.contains(WANTED) && !WANTED.contains(more));
/// assert_eq!(more - WANTED, Features::DYNAMIC_RENDERING);
/// ```
pub struct Features {
    /// `bufferDeviceAddress`, which is required.
    BUFFER_DEVICE_ADDRESS = 0: "bufferDeviceAddress";
    /// `dynamicRendering`: passes for `vkCmdBeginRendering`.
    ///
    /// Passes for a `VkRenderPass` do not need it.
    DYNAMIC_RENDERING = 1: "dynamicRendering";
    /// `multiview`: passes with a view mask.
    MULTIVIEW = 2: "multiview";
    /// `VkPhysicalDeviceFeatures::samplerAnisotropy`: textures are sampled anisotropically, except
    /// on software drivers, some of which may take hours for a pixel.
    SAMPLER_ANISOTROPY = 3: "samplerAnisotropy";
    /// `VkPhysicalDeviceFeatures::independentBlend`: passes may have more than one colour
    /// attachment.
    INDEPENDENT_BLEND = 4: "independentBlend";
    /// `VkPhysicalDeviceFeatures::drawIndirectFirstInstance`: with a stage cull on the GPU, the
    /// draws themselves say where their lists start, so vertex shaders need not read it.
    DRAW_INDIRECT_FIRST_INSTANCE = 5: "drawIndirectFirstInstance";
    /// Descriptor indexing: one set for all textures of a character.
    ///
    /// Without it there is a set for each material. It requires these three features:
    /// `runtimeDescriptorArray`, `shaderSampledImageArrayNonUniformIndexing` and
    /// `descriptorBindingVariableDescriptorCount`.
    DESCRIPTOR_INDEXING = 6:
        "runtimeDescriptorArray"
        "shaderSampledImageArrayNonUniformIndexing"
        "descriptorBindingVariableDescriptorCount";
    /// The device extension `VK_KHR_acceleration_structure` and its feature
    /// `accelerationStructure`: rays can meet the crowd, and deformed vertices may be built into
    /// acceleration structures of the engine's own.
    ///
    /// [`CrowdDesc::rays`](crate::CrowdDesc::rays) and
    /// [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage) ask for it.
    ACCELERATION_STRUCTURE = 7: "accelerationStructure";
    /// The instance extension `VK_EXT_debug_utils`: objects get names, stages get labels.
    ///
    /// It is no feature of the device, so no structure says it.
    DEBUG_UTILS = 8: "VK_EXT_debug_utils";
    /// `VkPhysicalDeviceFeatures::depthClamp`: passes that keep what is too near or too far.
    ///
    /// [`PassDesc::depth_clamp`](crate::PassDesc::depth_clamp) asks for it.
    DEPTH_CLAMP = 9: "depthClamp";
    /// `VkPhysicalDeviceFeatures::textureCompressionBC`: images in BC formats are sampled as they
    /// are.
    ///
    /// Without it and the two below, such images are decoded to RGBA8 when they are uploaded.
    TEXTURE_COMPRESSION_BC = 10: "textureCompressionBC";
    /// `VkPhysicalDeviceFeatures::textureCompressionETC2`: the same for ETC2 and EAC.
    TEXTURE_COMPRESSION_ETC2 = 11: "textureCompressionETC2";
    /// `VkPhysicalDeviceFeatures::textureCompressionASTC_LDR`: the same for ASTC.
    TEXTURE_COMPRESSION_ASTC = 12: "textureCompressionASTC_LDR";
}
}

impl Features {
    /// The features of this or the other set, as `|`, also in constants.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if this set has all features of the other one.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The best formats for [`ImportOptions::textures`](crate::import::ImportOptions::textures) on
    /// a device with these features: BC, else ASTC, else ETC2, else RGBA8.
    ///
    /// ```
    /// use throng::gpu::Features;
    /// use throng::import::TextureTarget;
    ///
    /// let phone = Features::TEXTURE_COMPRESSION_ASTC | Features::TEXTURE_COMPRESSION_ETC2;
    /// assert_eq!(phone.texture_target(), TextureTarget::Astc);
    /// ```
    #[must_use]
    pub const fn texture_target(self) -> TextureTarget {
        if self.contains(Self::TEXTURE_COMPRESSION_BC) {
            TextureTarget::Bc
        } else if self.contains(Self::TEXTURE_COMPRESSION_ASTC) {
            TextureTarget::Astc
        } else if self.contains(Self::TEXTURE_COMPRESSION_ETC2) {
            TextureTarget::Etc2
        } else {
            TextureTarget::Rgba8
        }
    }

    /// The features `self` if a condition holds, or none.
    pub(super) const fn only_if(self, on: bool) -> Self {
        match on {
            true => self,
            false => Self::NONE,
        }
    }
}

impl BitOr for Features {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl BitOrAssign for Features {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The features of the first set that the second does not have.
impl Sub for Features {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// The names that Vulkan has for the features.
impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// A structure of Vulkan in which device features are enabled.
///
/// Implemented by `PhysicalDeviceFeatures`, `PhysicalDeviceFeatures2` (without its chain), those of
/// Vulkan 1.1, 1.2 and 1.3, and by the single ones that have a feature of [`Features`].
pub(super) trait FeatureStruct {
    /// The features of [`Features`] that this structure has, enabled or not.
    fn has(&self) -> Features;

    /// Enables those features of a set that this structure has.
    fn enable(&mut self, features: Features);

    /// The features that are enabled in this structure.
    fn enabled(&self) -> Features;
}

/// Says in which fields a structure has which features.
macro_rules! feature_struct {
    ($type:ty { $($feature:ident: $($($of:ident).+)+;)+ }) => {
        impl FeatureStruct for $type {
            fn has(&self) -> Features {
                Features::NONE$(.union(Features::$feature))+
            }

            fn enable(&mut self, features: Features) {
                $(if features.contains(Features::$feature) {
                    $(self.$($of).+ = vk::TRUE;)+
                })+
            }

            fn enabled(&self) -> Features {
                Features::NONE$(.union(Features::$feature.only_if(
                    [$(self.$($of).+),+].iter().all(|on| *on == vk::TRUE),
                )))+
            }
        }
    };
}

feature_struct!(vk::PhysicalDeviceFeatures {
    SAMPLER_ANISOTROPY: sampler_anisotropy;
    INDEPENDENT_BLEND: independent_blend;
    DEPTH_CLAMP: depth_clamp;
    DRAW_INDIRECT_FIRST_INSTANCE: draw_indirect_first_instance;
    TEXTURE_COMPRESSION_BC: texture_compression_bc;
    TEXTURE_COMPRESSION_ETC2: texture_compression_etc2;
    TEXTURE_COMPRESSION_ASTC: texture_compression_astc_ldr;
});
feature_struct!(vk::PhysicalDeviceFeatures2<'_> {
    SAMPLER_ANISOTROPY: features.sampler_anisotropy;
    INDEPENDENT_BLEND: features.independent_blend;
    DEPTH_CLAMP: features.depth_clamp;
    DRAW_INDIRECT_FIRST_INSTANCE: features.draw_indirect_first_instance;
    TEXTURE_COMPRESSION_BC: features.texture_compression_bc;
    TEXTURE_COMPRESSION_ETC2: features.texture_compression_etc2;
    TEXTURE_COMPRESSION_ASTC: features.texture_compression_astc_ldr;
});
feature_struct!(vk::PhysicalDeviceVulkan11Features<'_> {
    MULTIVIEW: multiview;
});
feature_struct!(vk::PhysicalDeviceVulkan12Features<'_> {
    BUFFER_DEVICE_ADDRESS: buffer_device_address;
    DESCRIPTOR_INDEXING: runtime_descriptor_array
        shader_sampled_image_array_non_uniform_indexing
        descriptor_binding_variable_descriptor_count;
});
feature_struct!(vk::PhysicalDeviceVulkan13Features<'_> {
    DYNAMIC_RENDERING: dynamic_rendering;
});
feature_struct!(vk::PhysicalDeviceMultiviewFeatures<'_> {
    MULTIVIEW: multiview;
});
feature_struct!(vk::PhysicalDeviceBufferDeviceAddressFeatures<'_> {
    BUFFER_DEVICE_ADDRESS: buffer_device_address;
});
feature_struct!(vk::PhysicalDeviceDescriptorIndexingFeatures<'_> {
    DESCRIPTOR_INDEXING: runtime_descriptor_array
        shader_sampled_image_array_non_uniform_indexing
        descriptor_binding_variable_descriptor_count;
});
feature_struct!(vk::PhysicalDeviceDynamicRenderingFeatures<'_> {
    DYNAMIC_RENDERING: dynamic_rendering;
});
feature_struct!(vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'_> {
    ACCELERATION_STRUCTURE: acceleration_structure;
});

impl Features {
    /// The features that [`Device::new`](super::Device::new) requires.
    pub const REQUIRED: Self = Self::BUFFER_DEVICE_ADDRESS;

    /// The features that a physical device supports, if it supports what throng requires.
    ///
    /// An engine may enable all of them. Extensions are not queried:
    /// [`Self::ACCELERATION_STRUCTURE`] and [`Self::DEBUG_UTILS`] are not in the set.
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
        let supported = features.features.enabled()
            | features11.enabled()
            | features12.enabled()
            | features13.enabled();
        match Self::REQUIRED - supported {
            Self::NONE => Ok(supported),
            missing => Err(Error::Unsupported {
                device,
                missing: missing.names(),
            }),
        }
    }

    /// Checks that the extensions of features are there, as far as Vulkan tells.
    ///
    /// A device returns no functions of an extension that it was created without.
    ///
    /// # Errors
    /// - [`Error::Unsupported`] names a device extension that the physical device does not have.
    /// - [`Error::NotEnabled`] names an extension that instance or device were created without.
    ///
    /// # Safety
    /// The handles are alive and belong together.
    pub(super) unsafe fn check_extensions(
        self,
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: vk::Device,
    ) -> Result<()> {
        for (feature, what, extension, function) in EXTENSIONS {
            if !self.contains(feature) {
                continue;
            }
            // SAFETY: the handles are alive and belong together, by this function's contract.
            let found = unsafe {
                let load = instance.fp_v1_0().get_device_proc_addr;
                load(device, function.as_ptr()).is_some()
            };
            if found {
                continue;
            }
            let missing = vec![extension];
            // SAFETY: as above.
            let name = unsafe { lacks(instance, physical_device, extension)? };
            return Err(match name {
                Some(device) if feature != Self::DEBUG_UTILS => {
                    Error::Unsupported { device, missing }
                }
                _ => Error::NotEnabled { what, missing },
            });
        }
        Ok(())
    }
}

/// Features that need an extension: their name in errors, the extension, and a function of it.
const EXTENSIONS: [(Features, &str, &str, &CStr); 2] = [
    (
        Features::ACCELERATION_STRUCTURE,
        "Features::ACCELERATION_STRUCTURE",
        ACCELERATION_STRUCTURE,
        c"vkCreateAccelerationStructureKHR",
    ),
    (
        Features::DEBUG_UTILS,
        "Features::DEBUG_UTILS",
        "VK_EXT_debug_utils",
        c"vkSetDebugUtilsObjectNameEXT",
    ),
];
/// The device extension of [`Features::ACCELERATION_STRUCTURE`].
pub(super) const ACCELERATION_STRUCTURE: &str = "VK_KHR_acceleration_structure";

/// The name of a physical device if it does not have a device extension.
///
/// # Errors
/// [`Error::Vulkan`] if its extensions cannot be listed.
///
/// # Safety
/// The handles are alive and belong together.
unsafe fn lacks(
    instance: &ash::Instance,
    physical_device: vk::PhysicalDevice,
    extension: &str,
) -> Result<Option<Box<str>>> {
    // SAFETY: the handles are alive and belong together, by this function's contract.
    let (offered, properties) = unsafe {
        (
            instance.enumerate_device_extension_properties(physical_device),
            instance.get_physical_device_properties(physical_device),
        )
    };
    let offered = offered.map_err(|result| Error::Vulkan {
        call: "vkEnumerateDeviceExtensionProperties",
        result,
    })?;
    let name = |it: &vk::ExtensionProperties| {
        let name = it.extension_name_as_c_str();
        name.is_ok_and(|name| name.to_bytes() == extension.as_bytes())
    };
    Ok((!offered.iter().any(name)).then(|| device_name(&properties)))
}

pub(super) fn device_name(properties: &vk::PhysicalDeviceProperties) -> Box<str> {
    properties.device_name_as_c_str().map_or_else(
        |_| "unnamed device".into(),
        |name: &CStr| name.to_string_lossy().into(),
    )
}
