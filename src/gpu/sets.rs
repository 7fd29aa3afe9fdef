//! The layout of descriptor set 0, and how it is filled.

use super::{Device, Object, VkCall};
use crate::error::Result;
use ash::vk;

/// Descriptor set 0: what `shaders/include/throng.glsl` declares.
///
/// | binding | type | content |
/// |---|---|---|
/// | 0 | uniform buffer, dynamic | the view |
/// | 1 | storage buffer, dynamic | palettes in the ring |
/// | 2 | storage buffer | palettes that persist |
/// | 3 | storage buffer | instance table |
/// | 4 | storage buffer, dynamic | visible list |
/// | 5 | storage buffer | geometry |
/// | 6 | storage buffer | primitives |
/// | 7 | combined image sampler | base colour |
///
/// Dynamic offsets are given in the order of the bindings: view, palettes, visible list.
#[derive(Debug)]
pub struct SetLayout {
    layout: Object<vk::DescriptorSetLayout>,
}

/// What a set of [`SetLayout`] refers to. `None` leaves a binding unwritten, which is allowed for
/// those that no shader used with the set reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct SetBuffers {
    /// Binding 0; its range is one view.
    pub view: Option<vk::DescriptorBufferInfo>,
    /// Binding 1; its range is one slot. See [`super::PaletteRing::descriptor`].
    pub ring_palettes: Option<vk::DescriptorBufferInfo>,
    /// Binding 2. See [`super::SkinnedMesh::rest_palette`].
    pub resident_palettes: Option<vk::DescriptorBufferInfo>,
    /// Binding 3: [`super::layout::Instance`]s.
    pub instances: Option<vk::DescriptorBufferInfo>,
    /// Binding 4: `u32` indices into the instances; its range is one slot.
    pub visible: Option<vk::DescriptorBufferInfo>,
    /// Binding 5. See [`super::SkinnedMesh::geometry`].
    pub geometry: Option<vk::DescriptorBufferInfo>,
    /// Binding 6. See [`super::SkinnedMesh::primitives`].
    pub primitives: Option<vk::DescriptorBufferInfo>,
    /// Binding 7. See [`super::SkinnedMesh::base_color`].
    pub base_color: Option<vk::DescriptorImageInfo>,
}

const BUFFERS: [(vk::DescriptorType, vk::ShaderStageFlags); 7] = {
    use vk::DescriptorType as Type;
    let shading = vk::ShaderStageFlags::from_raw(
        vk::ShaderStageFlags::VERTEX.as_raw()
            | vk::ShaderStageFlags::FRAGMENT.as_raw()
            | vk::ShaderStageFlags::COMPUTE.as_raw(),
    );
    [
        (Type::UNIFORM_BUFFER_DYNAMIC, shading),
        (Type::STORAGE_BUFFER_DYNAMIC, shading),
        (Type::STORAGE_BUFFER, shading),
        (Type::STORAGE_BUFFER, shading),
        (Type::STORAGE_BUFFER_DYNAMIC, shading),
        (Type::STORAGE_BUFFER, shading),
        (Type::STORAGE_BUFFER, shading),
    ]
};
const BASE_COLOR_BINDING: u32 = BUFFERS.len() as u32;

impl SetLayout {
    /// Makes the layout.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan).
    pub fn new(device: &Device) -> Result<Self> {
        let mut bindings: Vec<_> = BUFFERS
            .iter()
            .enumerate()
            .map(|(binding, (kind, stages))| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding as u32)
                    .descriptor_type(*kind)
                    .descriptor_count(1)
                    .stage_flags(*stages)
            })
            .collect();
        bindings.push(
            vk::DescriptorSetLayoutBinding::default()
                .binding(BASE_COLOR_BINDING)
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::FRAGMENT),
        );
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the info is valid, and the device alive by the contract of `Device::new`.
        let layout = unsafe { device.raw.create_descriptor_set_layout(&info, None) };
        let layout = layout.call("vkCreateDescriptorSetLayout")?;
        Ok(Self {
            layout: Object::new(device, layout, "throng set 0"),
        })
    }

    pub(crate) fn null() -> Self {
        Self {
            layout: Object::null(),
        }
    }

    /// For the engine's own pipeline layouts.
    #[must_use]
    pub fn handle(&self) -> vk::DescriptorSetLayout {
        self.layout.handle
    }

    /// How many descriptors of each type `sets` sets take from a pool.
    pub fn pool_sizes(sets: u32) -> [vk::DescriptorPoolSize; 4] {
        use vk::DescriptorType as Type;
        let count = |kind: Type| BUFFERS.iter().filter(|(have, _)| *have == kind).count() as u32;
        let kinds = [
            Type::UNIFORM_BUFFER_DYNAMIC,
            Type::STORAGE_BUFFER_DYNAMIC,
            Type::STORAGE_BUFFER,
        ];
        let [view, dynamic, storage] = kinds.map(|ty| vk::DescriptorPoolSize {
            ty,
            descriptor_count: count(ty) * sets,
        });
        [
            view,
            dynamic,
            storage,
            vk::DescriptorPoolSize {
                ty: Type::COMBINED_IMAGE_SAMPLER,
                descriptor_count: sets,
            },
        ]
    }

    /// Writes `set`, once, before its first use.
    ///
    /// # Safety
    /// `set` has this layout and is not in use; buffers and images are alive for as long as it is.
    pub unsafe fn write(&self, device: &Device, set: vk::DescriptorSet, buffers: &SetBuffers) {
        let infos = [
            buffers.view,
            buffers.ring_palettes,
            buffers.resident_palettes,
            buffers.instances,
            buffers.visible,
            buffers.geometry,
            buffers.primitives,
        ]
        .map(Option::into_iter)
        .map(Iterator::collect::<Vec<_>>);
        let image: Vec<_> = buffers.base_color.into_iter().collect();
        let mut writes = Vec::with_capacity(8);
        for (binding, (info, (kind, _))) in infos.iter().zip(BUFFERS).enumerate() {
            if !info.is_empty() {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding as u32);
                writes.push(write.descriptor_type(kind).buffer_info(info));
            }
        }
        if !image.is_empty() {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(BASE_COLOR_BINDING);
            let kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            writes.push(write.descriptor_type(kind).image_info(&image));
        }
        // SAFETY: the caller vouches for the set and what it refers to.
        unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
    }

    /// Frees the layout.
    ///
    /// # Safety
    /// No pipeline layout made from it is used to record any more; `device` is the one it was made with.
    pub unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the caller's word.
        unsafe { self.layout.destroy(device) };
    }
}

/// A pool with room for `sets` sets that take `sizes`, and those sets.
pub(crate) fn allocate(
    device: &Device,
    name: &str,
    sizes: &[vk::DescriptorPoolSize],
    layout: vk::DescriptorSetLayout,
    sets: u32,
) -> Result<(Object<vk::DescriptorPool>, Vec<vk::DescriptorSet>)> {
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(sets)
        .pool_sizes(sizes);
    // SAFETY: the info is valid.
    let pool =
        unsafe { device.raw.create_descriptor_pool(&info, None) }.call("vkCreateDescriptorPool")?;
    let mut pool = Object::new(device, pool, name);
    let layouts = vec![layout; sets as usize];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool.handle)
        .set_layouts(&layouts);
    // SAFETY: the pool was made for that many.
    match unsafe { device.raw.allocate_descriptor_sets(&info) }.call("vkAllocateDescriptorSets") {
        Ok(sets) => {
            for set in &sets {
                device.set_name(*set, name);
            }
            Ok((pool, sets))
        }
        Err(error) => {
            // SAFETY: made above and never used.
            unsafe { pool.destroy(device) };
            Err(error)
        }
    }
}
