//! The layout of descriptor set 0, and how it is filled.

use super::layout::TEXTURES;
use super::{Device, Object, VkCall};
use crate::error::Result;
use ash::vk;

/// Descriptor set 0: what `shaders/include/throng.glsl` and `shaders/include/throng_surface.glsl`
/// declare.
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
/// | 7 | storage buffer | materials |
/// | 8 | storage buffer, dynamic | active morph weights |
/// | 9 | storage buffer | deformed vertices |
/// | 10 | storage buffer | the last frame of views |
/// | 11 | combined image samplers | textures |
///
/// Dynamic offsets are given in the order of the bindings: view, palettes, visible list, morph
/// weights.
///
/// Binding 11 has 5 textures, those of one material. Where
/// [`Enabled::descriptor_indexing`](super::Enabled::descriptor_indexing) is set it has a variable
/// number, all of a character's, and one set serves all of its materials.
#[derive(Debug)]
pub struct SetLayout {
    layout: Object<vk::DescriptorSetLayout>,
    bindless: bool,
}

/// What a set of [`SetLayout`] refers to. `None` leaves a binding unwritten, which is allowed for
/// those that no shader used with the set reads; bindings 8 to 10 may be `None` for any shader, so
/// long as no instance and no view leads to them.
#[derive(Debug, Clone, Copy, Default)]
pub struct SetBuffers<'a> {
    /// Binding 0; its range is one view.
    pub view: Option<vk::DescriptorBufferInfo>,
    /// Binding 1; its range is one slot. See [`super::PaletteRing::descriptor`].
    pub ring_palettes: Option<vk::DescriptorBufferInfo>,
    /// Binding 2. See [`super::SkinnedMesh::rest_palette`].
    pub resident_palettes: Option<vk::DescriptorBufferInfo>,
    /// Binding 3: [`super::layout::GpuInstance`]s.
    pub instances: Option<vk::DescriptorBufferInfo>,
    /// Binding 4: `u32` indices into the instances; its range is one slot.
    pub visible: Option<vk::DescriptorBufferInfo>,
    /// Binding 5. See [`super::SkinnedMesh::geometry`].
    pub geometry: Option<vk::DescriptorBufferInfo>,
    /// Binding 6. See [`super::SkinnedMesh::primitives`].
    pub primitives: Option<vk::DescriptorBufferInfo>,
    /// Binding 7. See [`super::SkinnedMesh::materials`].
    pub materials: Option<vk::DescriptorBufferInfo>,
    /// Binding 8: for each instance with active weights a count, then the number and the `f32` of
    /// each; its range is one slot. Not read for instances whose `morphs` is
    /// [`super::layout::NONE`].
    pub morphs: Option<vk::DescriptorBufferInfo>,
    /// Binding 9: see [`SkinnedLayout`](crate::skin::SkinnedLayout). Not read for instances whose
    /// `skinned` is [`super::layout::NONE`].
    pub skinned: Option<vk::DescriptorBufferInfo>,
    /// Binding 10. Not read where [`super::layout::GpuView::history_instances`] is 0.
    pub history: Option<vk::DescriptorBufferInfo>,
    /// Binding 11. See [`super::SkinnedMesh::textures`], and [`super::SkinnedMesh::all_textures`]
    /// where the layout is [bindless](SetLayout::is_bindless).
    pub textures: Option<&'a [vk::DescriptorImageInfo]>,
}

const BUFFERS: [vk::DescriptorType; 11] = {
    use vk::DescriptorType as Type;
    [
        Type::UNIFORM_BUFFER_DYNAMIC,
        Type::STORAGE_BUFFER_DYNAMIC,
        Type::STORAGE_BUFFER,
        Type::STORAGE_BUFFER,
        Type::STORAGE_BUFFER_DYNAMIC,
        Type::STORAGE_BUFFER,
        Type::STORAGE_BUFFER,
        Type::STORAGE_BUFFER,
        Type::STORAGE_BUFFER_DYNAMIC,
        Type::STORAGE_BUFFER,
        Type::STORAGE_BUFFER,
    ]
};
const TEXTURE_BINDING: u32 = BUFFERS.len() as u32;

impl SetLayout {
    /// Makes the layout.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan).
    pub fn new(device: &Device) -> Result<Self> {
        let stages = vk::ShaderStageFlags::VERTEX
            | vk::ShaderStageFlags::FRAGMENT
            | vk::ShaderStageFlags::COMPUTE;
        let bindless = device.enabled.descriptor_indexing;
        let mut bindings: Vec<_> = (0..)
            .zip(BUFFERS)
            .map(|(binding, kind)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(kind)
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        bindings.push(
            vk::DescriptorSetLayoutBinding::default()
                .binding(TEXTURE_BINDING)
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .descriptor_count(if bindless {
                    device.limits.max_textures
                } else {
                    TEXTURES as u32
                })
                .stage_flags(vk::ShaderStageFlags::FRAGMENT),
        );
        let mut flags = vec![vk::DescriptorBindingFlags::empty(); bindings.len()];
        if let Some(last) = flags.last_mut().filter(|_| bindless) {
            *last = vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT;
        }
        let mut variable =
            vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        if bindless {
            info = info.push_next(&mut variable);
        }
        // SAFETY: the info is valid, and the device alive by the contract of `Device::new`.
        let layout = unsafe { device.raw.create_descriptor_set_layout(&info, None) };
        let layout = layout.call("vkCreateDescriptorSetLayout")?;
        Ok(Self {
            layout: Object::new(device, layout, "throng set 0"),
            bindless,
        })
    }

    pub(crate) fn null() -> Self {
        Self {
            layout: Object::null(),
            bindless: false,
        }
    }

    /// For the engine's own pipeline layouts.
    #[must_use]
    pub fn handle(&self) -> vk::DescriptorSetLayout {
        self.layout.handle
    }

    /// Whether binding 11 has a variable number of textures, all of a character's.
    #[must_use]
    pub fn is_bindless(&self) -> bool {
        self.bindless
    }

    /// How many descriptors of each type `sets` sets take from a pool that have `textures` textures
    /// in all (5 a set unless the layout is [bindless](Self::is_bindless)).
    pub fn pool_sizes(sets: u32, textures: u32) -> [vk::DescriptorPoolSize; 4] {
        use vk::DescriptorType as Type;
        let count = |kind: Type| BUFFERS.iter().filter(|have| **have == kind).count() as u32;
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
                descriptor_count: textures,
            },
        ]
    }

    /// A pool of its own, and in it `sets` sets of this layout; of `textures` textures each, if it
    /// is [bindless](Self::is_bindless).
    pub(crate) fn allocate(
        &self,
        device: &Device,
        name: &str,
        sets: u32,
        textures: u32,
    ) -> Result<(Object<vk::DescriptorPool>, Vec<vk::DescriptorSet>)> {
        let each = if self.bindless {
            textures.max(1)
        } else {
            TEXTURES as u32
        };
        let sizes = Self::pool_sizes(sets, each * sets);
        let counts = self.bindless.then_some(each);
        allocate(device, name, &sizes, self.handle(), sets, counts)
    }

    /// Writes `set`, once, before its first use.
    ///
    /// # Safety
    /// `set` has this layout and is not in use; buffers and images are alive for as long as it is.
    pub unsafe fn write(&self, device: &Device, set: vk::DescriptorSet, buffers: &SetBuffers<'_>) {
        // A shader that looks whether there is something to read refers to the binding all the
        // same.
        let nothing = buffers.geometry.map(|geometry| vk::DescriptorBufferInfo {
            range: 16,
            ..geometry
        });
        let infos = [
            buffers.view,
            buffers.ring_palettes,
            buffers.resident_palettes,
            buffers.instances,
            buffers.visible,
            buffers.geometry,
            buffers.primitives,
            buffers.materials,
            buffers.morphs.or(nothing),
            buffers.skinned.or(nothing),
            buffers.history.or(nothing),
        ]
        .map(Option::into_iter)
        .map(Iterator::collect::<Vec<_>>);
        let mut writes = Vec::with_capacity(infos.len() + 1);
        for (binding, (info, kind)) in (0..).zip(infos.iter().zip(BUFFERS)) {
            if !info.is_empty() {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding);
                writes.push(write.descriptor_type(kind).buffer_info(info));
            }
        }
        if let Some(textures) = buffers.textures.filter(|textures| !textures.is_empty()) {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(TEXTURE_BINDING);
            let kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            writes.push(write.descriptor_type(kind).image_info(textures));
        }
        // SAFETY: the caller vouches for the set and what it refers to.
        unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
    }

    /// Frees the layout.
    ///
    /// # Safety
    /// No pipeline layout made from it is used to record any more; `device` is the one it was made
    /// with.
    pub unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the caller's word.
        unsafe { self.layout.destroy(device) };
    }
}

/// A pool with room for `sets` sets that take `sizes`, and those sets; `variable` is how many
/// descriptors the binding of a variable number has, where the layout has one.
pub(crate) fn allocate(
    device: &Device,
    name: &str,
    sizes: &[vk::DescriptorPoolSize],
    layout: vk::DescriptorSetLayout,
    sets: u32,
    variable: Option<u32>,
) -> Result<(Object<vk::DescriptorPool>, Vec<vk::DescriptorSet>)> {
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(sets)
        .pool_sizes(sizes);
    // SAFETY: the info is valid.
    let pool =
        unsafe { device.raw.create_descriptor_pool(&info, None) }.call("vkCreateDescriptorPool")?;
    let mut pool = Object::new(device, pool, name);
    let layouts = vec![layout; sets as usize];
    let counts = vec![variable.unwrap_or(0); sets as usize];
    let mut counts =
        vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(&counts);
    let mut info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool.handle)
        .set_layouts(&layouts);
    if variable.is_some() {
        info = info.push_next(&mut counts);
    }
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
