//! Sets of core features: asked for, supported, enabled.

use ash::vk;

/// A set of core features of Vulkan 1.0 to 1.3.
///
/// ```
/// use throng::ash::vk;
/// use throng::standalone::FeatureSet;
///
/// let mut wanted = FeatureSet::default();
/// wanted.v10.multi_draw_indirect = vk::TRUE;
/// wanted.v11.shader_draw_parameters = vk::TRUE;
/// assert_eq!(
///     FeatureSet::default().lacks(&wanted),
///     ["multi_draw_indirect", "shader_draw_parameters"]
/// );
/// ```
///
/// This module never reads the `p_next` of the structures. It is null in every set that this module
/// returns.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeatureSet {
    /// Features of Vulkan 1.0.
    pub v10: vk::PhysicalDeviceFeatures,
    /// Features of Vulkan 1.1.
    pub v11: vk::PhysicalDeviceVulkan11Features<'static>,
    /// Features of Vulkan 1.2.
    pub v12: vk::PhysicalDeviceVulkan12Features<'static>,
    /// Features of Vulkan 1.3.
    pub v13: vk::PhysicalDeviceVulkan13Features<'static>,
}

/// Generates the set operations over every feature of every version.
macro_rules! features {
    ($($version:ident { $($name:ident,)* })*) => {
        /// Calls `each` for every feature, in the order of the specification.
        fn zip(
            a: &FeatureSet,
            b: &FeatureSet,
            mut each: impl FnMut(&'static str, bool, bool) -> bool,
        ) -> FeatureSet {
            let mut out = FeatureSet::default();
            $($(
                let kept = each(
                    stringify!($name),
                    a.$version.$name != vk::FALSE,
                    b.$version.$name != vk::FALSE,
                );
                out.$version.$name = vk::Bool32::from(kept);
            )*)*
            out
        }
    };
}

impl FeatureSet {
    /// The features that throng requires:
    /// [`Device::required_features`](crate::gpu::Device::required_features).
    #[must_use]
    pub fn base() -> Self {
        let (v12, v13) = crate::gpu::Device::required_features();
        Self {
            v12,
            v13,
            ..Self::default()
        }
    }

    /// The features that throng uses if a device has them.
    ///
    /// These are the device features of [`crate::gpu::Enabled`].
    #[must_use]
    pub fn useful() -> Self {
        let mut useful = Self::default();
        useful.v10.sampler_anisotropy = vk::TRUE;
        useful.v10.independent_blend = vk::TRUE;
        useful.v12.runtime_descriptor_array = vk::TRUE;
        useful.v12.shader_sampled_image_array_non_uniform_indexing = vk::TRUE;
        useful.v12.descriptor_binding_variable_descriptor_count = vk::TRUE;
        useful
    }

    /// The features that a device supports.
    ///
    /// # Safety
    ///
    /// `physical_device` belongs to `instance`, and both support Vulkan 1.3.
    #[must_use]
    pub unsafe fn supported(instance: &ash::Instance, physical_device: vk::PhysicalDevice) -> Self {
        let mut set = Self::default();
        let mut chain = set.chain();
        // SAFETY: the caller guarantees that the device is of this instance, and that both are 1.3.
        unsafe { instance.get_physical_device_features2(physical_device, &mut chain) };
        set.v10 = chain.features;
        set.v11.p_next = std::ptr::null_mut();
        set.v12.p_next = std::ptr::null_mut();
        set.v13.p_next = std::ptr::null_mut();
        set
    }

    /// The features that are in both sets.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        zip(self, other, |_, a, b| a && b)
    }

    /// The features that are in either set.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        zip(self, other, |_, a, b| a || b)
    }

    /// The names of the features that are in `wanted` and not in this set.
    #[must_use]
    pub fn lacks(&self, wanted: &Self) -> Vec<&'static str> {
        let mut names = Vec::new();
        zip(self, wanted, |name, have, want| {
            if want && !have {
                names.push(name);
            }
            false
        });
        names
    }

    /// The structures of 1.1 to 1.3, chained to a copy of the features of 1.0.
    pub(super) fn chain(&mut self) -> vk::PhysicalDeviceFeatures2<'_> {
        self.v11.p_next = std::ptr::null_mut();
        self.v12.p_next = std::ptr::null_mut();
        self.v13.p_next = std::ptr::null_mut();
        vk::PhysicalDeviceFeatures2::default()
            .features(self.v10)
            .push_next(&mut self.v11)
            .push_next(&mut self.v12)
            .push_next(&mut self.v13)
    }
}

features! {
    v10 {
        robust_buffer_access,
        full_draw_index_uint32,
        image_cube_array,
        independent_blend,
        geometry_shader,
        tessellation_shader,
        sample_rate_shading,
        dual_src_blend,
        logic_op,
        multi_draw_indirect,
        draw_indirect_first_instance,
        depth_clamp,
        depth_bias_clamp,
        fill_mode_non_solid,
        depth_bounds,
        wide_lines,
        large_points,
        alpha_to_one,
        multi_viewport,
        sampler_anisotropy,
        texture_compression_etc2,
        texture_compression_astc_ldr,
        texture_compression_bc,
        occlusion_query_precise,
        pipeline_statistics_query,
        vertex_pipeline_stores_and_atomics,
        fragment_stores_and_atomics,
        shader_tessellation_and_geometry_point_size,
        shader_image_gather_extended,
        shader_storage_image_extended_formats,
        shader_storage_image_multisample,
        shader_storage_image_read_without_format,
        shader_storage_image_write_without_format,
        shader_uniform_buffer_array_dynamic_indexing,
        shader_sampled_image_array_dynamic_indexing,
        shader_storage_buffer_array_dynamic_indexing,
        shader_storage_image_array_dynamic_indexing,
        shader_clip_distance,
        shader_cull_distance,
        shader_float64,
        shader_int64,
        shader_int16,
        shader_resource_residency,
        shader_resource_min_lod,
        sparse_binding,
        sparse_residency_buffer,
        sparse_residency_image2_d,
        sparse_residency_image3_d,
        sparse_residency2_samples,
        sparse_residency4_samples,
        sparse_residency8_samples,
        sparse_residency16_samples,
        sparse_residency_aliased,
        variable_multisample_rate,
        inherited_queries,
    }
    v11 {
        storage_buffer16_bit_access,
        uniform_and_storage_buffer16_bit_access,
        storage_push_constant16,
        storage_input_output16,
        multiview,
        multiview_geometry_shader,
        multiview_tessellation_shader,
        variable_pointers_storage_buffer,
        variable_pointers,
        protected_memory,
        sampler_ycbcr_conversion,
        shader_draw_parameters,
    }
    v12 {
        sampler_mirror_clamp_to_edge,
        draw_indirect_count,
        storage_buffer8_bit_access,
        uniform_and_storage_buffer8_bit_access,
        storage_push_constant8,
        shader_buffer_int64_atomics,
        shader_shared_int64_atomics,
        shader_float16,
        shader_int8,
        descriptor_indexing,
        shader_input_attachment_array_dynamic_indexing,
        shader_uniform_texel_buffer_array_dynamic_indexing,
        shader_storage_texel_buffer_array_dynamic_indexing,
        shader_uniform_buffer_array_non_uniform_indexing,
        shader_sampled_image_array_non_uniform_indexing,
        shader_storage_buffer_array_non_uniform_indexing,
        shader_storage_image_array_non_uniform_indexing,
        shader_input_attachment_array_non_uniform_indexing,
        shader_uniform_texel_buffer_array_non_uniform_indexing,
        shader_storage_texel_buffer_array_non_uniform_indexing,
        descriptor_binding_uniform_buffer_update_after_bind,
        descriptor_binding_sampled_image_update_after_bind,
        descriptor_binding_storage_image_update_after_bind,
        descriptor_binding_storage_buffer_update_after_bind,
        descriptor_binding_uniform_texel_buffer_update_after_bind,
        descriptor_binding_storage_texel_buffer_update_after_bind,
        descriptor_binding_update_unused_while_pending,
        descriptor_binding_partially_bound,
        descriptor_binding_variable_descriptor_count,
        runtime_descriptor_array,
        sampler_filter_minmax,
        scalar_block_layout,
        imageless_framebuffer,
        uniform_buffer_standard_layout,
        shader_subgroup_extended_types,
        separate_depth_stencil_layouts,
        host_query_reset,
        timeline_semaphore,
        buffer_device_address,
        buffer_device_address_capture_replay,
        buffer_device_address_multi_device,
        vulkan_memory_model,
        vulkan_memory_model_device_scope,
        vulkan_memory_model_availability_visibility_chains,
        shader_output_viewport_index,
        shader_output_layer,
        subgroup_broadcast_dynamic_id,
    }
    v13 {
        robust_image_access,
        inline_uniform_block,
        descriptor_binding_inline_uniform_block_update_after_bind,
        pipeline_creation_cache_control,
        private_data,
        shader_demote_to_helper_invocation,
        shader_terminate_invocation,
        subgroup_size_control,
        compute_full_subgroups,
        synchronization2,
        texture_compression_astc_hdr,
        shader_zero_initialize_workgroup_memory,
        dynamic_rendering,
        shader_integer_dot_product,
        maintenance4,
    }
}
