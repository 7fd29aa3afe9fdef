//! Device features that the crate requires or can use.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Features {
    /// `bufferDeviceAddress`, which is required.
    pub buffer_device_address: bool,
    /// `dynamicRendering`: passes for `vkCmdBeginRendering`.
    ///
    /// Passes for a `VkRenderPass` do not need it.
    pub dynamic_rendering: bool,
    /// `multiview`: passes with a view mask.
    pub multiview: bool,
    /// `VkPhysicalDeviceFeatures::samplerAnisotropy`: textures are sampled anisotropically.
    pub sampler_anisotropy: bool,
    /// `VkPhysicalDeviceFeatures::independentBlend`: passes may have more than one colour
    /// attachment.
    pub independent_blend: bool,
    /// `VkPhysicalDeviceFeatures::drawIndirectFirstInstance`: with a stage cull on the GPU, the
    /// draws themselves say where their lists start, so vertex shaders need not read it.
    pub draw_indirect_first_instance: bool,
    /// Descriptor indexing: one set for all textures of a character.
    ///
    /// Without it there is a set for each material. It requires these three features:
    /// `runtimeDescriptorArray`, `shaderSampledImageArrayNonUniformIndexing` and
    /// `descriptorBindingVariableDescriptorCount`.
    pub descriptor_indexing: bool,
    /// The device extension `VK_KHR_acceleration_structure` and its feature
    /// `accelerationStructure`: deformed vertices may be built into acceleration structures.
    ///
    /// [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage) asks for it.
    pub acceleration_structure: bool,
    /// The instance extension `VK_EXT_debug_utils`: objects get names, stages get labels.
    ///
    /// It is no feature of the device, so no structure says it. Set it with
    /// [`Self::with_debug_utils`].
    pub debug_utils: bool,
}

/// Defines everything that goes through all features. Each has the names that Vulkan has for it.
macro_rules! features {
    ($($feature:ident: $($name:literal)+;)+) => {
        impl Features {
            /// No features.
            pub const NONE: Self = Self { $($feature: false),+ };

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
                let mut names = Vec::new();
                $(if self.$feature {
                    names.extend([$($name),+]);
                })+
                names
            }
        }
    };
}

features! {
    buffer_device_address: "bufferDeviceAddress";
    dynamic_rendering: "dynamicRendering";
    multiview: "multiview";
    sampler_anisotropy: "samplerAnisotropy";
    independent_blend: "independentBlend";
    draw_indirect_first_instance: "drawIndirectFirstInstance";
    descriptor_indexing: "runtimeDescriptorArray"
        "shaderSampledImageArrayNonUniformIndexing"
        "descriptorBindingVariableDescriptorCount";
    acceleration_structure: "accelerationStructure";
    debug_utils: "VK_EXT_debug_utils";
}

impl Features {
    /// The features that [`Device::new`](super::Device::new) requires.
    pub const REQUIRED: Self = Self {
        buffer_device_address: true,
        ..Self::NONE
    };

    /// Sets [`Self::dynamic_rendering`].
    #[must_use]
    pub const fn with_dynamic_rendering(mut self, on: bool) -> Self {
        self.dynamic_rendering = on;
        self
    }

    /// Sets [`Self::multiview`].
    #[must_use]
    pub const fn with_multiview(mut self, on: bool) -> Self {
        self.multiview = on;
        self
    }

    /// Sets [`Self::sampler_anisotropy`].
    #[must_use]
    pub const fn with_sampler_anisotropy(mut self, on: bool) -> Self {
        self.sampler_anisotropy = on;
        self
    }

    /// Sets [`Self::independent_blend`].
    #[must_use]
    pub const fn with_independent_blend(mut self, on: bool) -> Self {
        self.independent_blend = on;
        self
    }

    /// Sets [`Self::draw_indirect_first_instance`].
    #[must_use]
    pub const fn with_draw_indirect_first_instance(mut self, on: bool) -> Self {
        self.draw_indirect_first_instance = on;
        self
    }

    /// Sets [`Self::descriptor_indexing`].
    #[must_use]
    pub const fn with_descriptor_indexing(mut self, on: bool) -> Self {
        self.descriptor_indexing = on;
        self
    }

    /// Sets [`Self::acceleration_structure`].
    #[must_use]
    pub const fn with_acceleration_structure(mut self, on: bool) -> Self {
        self.acceleration_structure = on;
        self
    }

    /// Sets [`Self::debug_utils`].
    #[must_use]
    pub const fn with_debug_utils(mut self, on: bool) -> Self {
        self.debug_utils = on;
        self
    }
}
