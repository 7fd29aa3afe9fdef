//! The layout of descriptor set 0, and how it is written.

use super::{Destroy, Device, Features, Guard, Object, VkCall, destroy_fields, limit};
use crate::error::{Result, expect};
use crate::mesh::Material;
use ash::vk;

/// The layout of descriptor set 0.
///
/// `shaders/include/throng_data.glsl` and `shaders/include/throng_surface.glsl` declare these
/// bindings.
///
/// | binding | type | content | stages |
/// |---|---|---|---|
/// | 0 | uniform buffer, dynamic | the view | all |
/// | 1 | storage buffer | the mesh buffer: primitives, materials, streams | all |
/// | 2 | storage buffer | instance table | vertex, compute |
/// | 3 | storage buffer, dynamic | lists: visible instances, active morph weights | vertex, compute |
/// | 4 | storage buffer | deformed vertices | vertex, compute |
/// | 5 | combined image samplers | textures | fragment |
///
/// Four storage buffers are what Vulkan guarantees per stage. Palettes, and the last frames of
/// views, are read through device addresses, so that `maxStorageBufferRange` does not limit them.
///
/// Dynamic offsets are given in the order of the bindings: view, lists.
///
/// Binding 5 has 6 textures, those of one material. With
/// [`Features::DESCRIPTOR_INDEXING`](super::Features::DESCRIPTOR_INDEXING) the layout is
/// *bindless*: the binding has a variable number. Then one set serves all materials of a character
/// whose textures fit, and shaders that sample them are compiled with `THRONG_BINDLESS`.
#[derive(Debug)]
pub struct SetLayout {
    layout: Object<vk::DescriptorSetLayout>,
    /// The device that the layout was made with.
    device: vk::Device,
    bindless: bool,
}

destroy_fields!(SetLayout, &'a Device: layout);

/// The buffers and textures of a set of [`SetLayout`].
///
/// `None` leaves a binding unwritten. That is allowed if no shader that is used with the set reads
/// it. Bindings 3 and 4 may be `None` for any shader, as long as it reads no visible list and no
/// instance refers to morph weights or deformed vertices.
#[derive(Debug, Clone, Copy, Default)]
pub struct SetBuffers<'a> {
    /// Binding 0. Its range is one view.
    pub view: Option<vk::DescriptorBufferInfo>,
    /// Binding 1. See [`super::SkinnedMesh::buffer`].
    pub mesh: Option<vk::DescriptorBufferInfo>,
    /// Binding 2: [`super::GpuInstance`]s.
    pub instances: Option<vk::DescriptorBufferInfo>,
    /// Binding 3: `u32` indices into the instances, and active morph weights. Its range is one
    /// frame.
    ///
    /// For each instance with active morph weights it has a count, then the index and the `f32` of
    /// each. They are not read for instances whose `morphs` is [`super::GpuInstance::NONE`].
    ///
    /// With `None`, 16 bytes of the mesh buffer are bound. The dynamic offset must then be 0.
    pub lists: Option<vk::DescriptorBufferInfo>,
    /// Binding 4: deformed vertices, see [`SkinnedLayout`](crate::skin::SkinnedLayout).
    ///
    /// It is not read for instances whose `skinned` is [`super::GpuInstance::NONE`].
    pub skinned: Option<vk::DescriptorBufferInfo>,
    /// Binding 5: textures. See [`super::SkinnedMesh::textures`].
    pub textures: Option<&'a [vk::DescriptorImageInfo]>,
}

/// The stages that see the instances and what deforms them.
///
/// The fragment stage is not among them. So a frame may change instances while the last one is
/// still shading its pixels.
const DEFORMS: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::COMPUTE.as_raw(),
);
const ALL: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(DEFORMS.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw());

const BUFFERS: [(vk::DescriptorType, vk::ShaderStageFlags); 5] = {
    use vk::DescriptorType as Type;
    [
        (Type::UNIFORM_BUFFER_DYNAMIC, ALL),
        (Type::STORAGE_BUFFER, ALL),
        (Type::STORAGE_BUFFER, DEFORMS),
        (Type::STORAGE_BUFFER_DYNAMIC, DEFORMS),
        (Type::STORAGE_BUFFER, DEFORMS),
    ]
};
const TEXTURE_BINDING: u32 = BUFFERS.len() as u32;

/// One descriptor of a layout.
pub(crate) fn binding(
    number: u32,
    kind: vk::DescriptorType,
    stages: vk::ShaderStageFlags,
) -> vk::DescriptorSetLayoutBinding<'static> {
    vk::DescriptorSetLayoutBinding::default()
        .binding(number)
        .descriptor_type(kind)
        .descriptor_count(1)
        .stage_flags(stages)
}

/// A write of a descriptor, without its buffer or image.
pub(crate) fn write(
    set: vk::DescriptorSet,
    number: u32,
    kind: vk::DescriptorType,
) -> vk::WriteDescriptorSet<'static> {
    vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(number)
        .descriptor_type(kind)
}

pub(crate) fn layout<'g>(
    device: &'g Device,
    name: &str,
    info: &vk::DescriptorSetLayoutCreateInfo<'_>,
) -> Result<Guard<'g, Object<vk::DescriptorSetLayout>>> {
    // SAFETY: the info is alive during the call, and the device is alive by the contract of
    // `Device::new`.
    let layout = unsafe { device.raw.create_descriptor_set_layout(info, None) };
    let layout = layout.call("vkCreateDescriptorSetLayout")?;
    Ok(Object::new(device, layout, name))
}

impl SetLayout {
    /// The text of `shaders/include/throng.glsl` with all files that it includes.
    ///
    /// It is for engines whose shader compiler reads no files. The compiler must know
    /// `GL_EXT_buffer_reference` and `GL_EXT_buffer_reference_uvec2`; the text enables them. The
    /// file without what it includes is:
    ///
    #[doc = concat!("```glsl\n", include_str!("../../shaders/include/throng.glsl"), "```")]
    #[must_use]
    pub const fn glsl() -> &'static str {
        concat!(
            "#ifndef THRONG_GLSL\n#define THRONG_GLSL\n",
            include_str!("../../shaders/include/throng_data.glsl"),
            include_str!("../../shaders/include/throng_material.glsl"),
            include_str!("../../shaders/include/throng_streams.glsl"),
            include_str!("../../shaders/include/throng_palette.glsl"),
            include_str!("../../shaders/include/throng_scale.glsl"),
            include_str!("../../shaders/include/throng_transform.glsl"),
            include_str!("../../shaders/include/throng_deform.glsl"),
            include_str!("../../shaders/include/throng_history.glsl"),
            "#endif\n",
        )
    }

    /// Creates the layout.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan).
    pub fn new(device: &Device) -> Result<Self> {
        let bindless = device.enabled.contains(Features::DESCRIPTOR_INDEXING);
        let mut bindings: Vec<_> = (0..)
            .zip(BUFFERS)
            .map(|(number, (kind, stages))| binding(number, kind, stages))
            .collect();
        let textures = if bindless {
            device.limits.max_textures
        } else {
            Material::TEXTURES as u32
        };
        let (kind, stages) = (
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::ShaderStageFlags::FRAGMENT,
        );
        bindings.push(binding(TEXTURE_BINDING, kind, stages).descriptor_count(textures));
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
        Ok(Self {
            layout: layout(device, "throng set 0", &info)?.keep(),
            device: device.raw.handle(),
            bindless,
        })
    }

    /// Checks that the layout was made with `device`, and was not destroyed.
    ///
    /// Equal handles are the same device: by the contract of [`Device::new`], a device outlives
    /// everything that is made with it.
    pub(crate) fn expect_of(&self, device: &Device) -> Result<()> {
        let alive = self.layout.handle != vk::DescriptorSetLayout::null();
        expect("SetLayout", alive, "was destroyed")?;
        device.expect_same("SetLayout", self.device)
    }

    /// The handle, for the engine's own pipeline layouts.
    #[must_use]
    pub fn handle(&self) -> vk::DescriptorSetLayout {
        self.layout.handle
    }

    /// The number of textures in a set that is asked for `textures` of them.
    ///
    /// It is 5, unless the layout is [bindless](Self).
    fn textures(&self, textures: u32) -> u32 {
        if self.bindless {
            textures.max(1)
        } else {
            Material::TEXTURES as u32
        }
    }

    /// The descriptors of each type that sets take from a pool.
    ///
    /// There is one set for each element of `textures`, which is the number of its textures. The
    /// number matters only if the layout is [bindless](Self). Otherwise each set has
    /// five.
    pub fn pool_sizes(&self, textures: &[u32]) -> [vk::DescriptorPoolSize; 4] {
        use vk::DescriptorType as Type;
        let sets = textures.len() as u32;
        let count = |kind: Type| BUFFERS.iter().filter(|have| have.0 == kind).count() as u32;
        let kinds = [
            Type::UNIFORM_BUFFER_DYNAMIC,
            Type::STORAGE_BUFFER_DYNAMIC,
            Type::STORAGE_BUFFER,
        ];
        let [view, dynamic, storage] = kinds.map(|ty| vk::DescriptorPoolSize {
            ty,
            descriptor_count: count(ty).saturating_mul(sets),
        });
        let each = textures.iter().map(|textures| self.textures(*textures));
        [
            view,
            dynamic,
            storage,
            vk::DescriptorPoolSize {
                ty: Type::COMBINED_IMAGE_SAMPLER,
                descriptor_count: each.fold(0, u32::saturating_add),
            },
        ]
    }

    /// Allocates one set for each element of `textures`, which is the number of its textures.
    ///
    /// Use it instead of `vkAllocateDescriptorSets`: if the layout is
    /// [bindless](Self), the call needs that number for each set. A pool with
    /// [`Self::pool_sizes`] has descriptors for them.
    ///
    /// # Errors
    /// - [`Error::Capacity`](crate::Error::Capacity) if a set has more textures than the device can
    ///   bind.
    /// - [`Error::Vulkan`](crate::Error::Vulkan), for example if the pool has too few descriptors.
    ///
    /// # Safety
    /// The pool belongs to `device` and is alive, and no other thread uses it now. The layout was
    /// made with `device`.
    pub unsafe fn allocate(
        &self,
        device: &Device,
        pool: vk::DescriptorPool,
        textures: &[u32],
    ) -> Result<Vec<vk::DescriptorSet>> {
        let counts: Vec<_> = textures.iter().map(|n| self.textures(*n)).collect();
        for count in &counts {
            let most = device.limits.max_textures.max(Material::TEXTURES as u32);
            limit("textures of a set", (*count).into(), most.into())?;
        }
        let counts = self.bindless.then_some(&*counts);
        let sets = textures.len();
        // SAFETY: the pool is alive and of this device, by this function's contract.
        unsafe { allocate_from(device, pool, self.handle(), sets, counts) }
    }

    /// Creates a pool with a set of this layout for each element of `textures`, and the sets.
    pub(crate) fn with_pool<'g>(
        &self,
        device: &'g Device,
        name: &str,
        textures: &[u32],
    ) -> Result<Guard<'g, Sets>> {
        let counts: Vec<_> = textures.iter().map(|n| self.textures(*n)).collect();
        let (sizes, sets) = (self.pool_sizes(textures), textures.len());
        let counts = self.bindless.then_some(&*counts);
        with_pool(device, name, &sizes, self.handle(), sets, counts)
    }

    /// Writes `set`, once, before its first use.
    ///
    /// # Safety
    /// - `device` is the one that the layout was made with.
    /// - `set` has this layout and is not in use; buffers and images are alive for as long as it
    ///   is, and so is the memory at the addresses in instances and views.
    pub unsafe fn write(&self, device: &Device, set: vk::DescriptorSet, buffers: &SetBuffers<'_>) {
        // A shader refers to the binding even if it finds at run time that there is nothing to
        // read.
        let nothing = buffers
            .mesh
            .map(|mesh| vk::DescriptorBufferInfo { range: 16, ..mesh });
        let infos = [
            buffers.view,
            buffers.mesh,
            buffers.instances,
            buffers.lists.or(nothing),
            buffers.skinned.or(nothing),
        ];
        let mut writes = Vec::with_capacity(infos.len() + 1);
        for (number, (info, (kind, _))) in (0..).zip(infos.iter().zip(BUFFERS)) {
            if info.is_some() {
                writes.push(write(set, number, kind).buffer_info(info.as_slice()));
            }
        }
        if let Some(textures) = buffers.textures.filter(|textures| !textures.is_empty()) {
            let kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            writes.push(write(set, TEXTURE_BINDING, kind).image_info(textures));
        }
        // SAFETY: the set is not in use and its buffers and images are alive, by this function's
        // contract.
        unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
    }

    /// Frees the layout.
    ///
    /// # Safety
    /// No pipeline layout made from it is used to record any more; `device` is the one it was made
    /// with.
    pub unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: this function has the same contract.
        unsafe { Destroy::destroy(self, device) };
    }
}

/// Descriptor sets, in a pool of their own.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    pool: Object<vk::DescriptorPool>,
    sets: Vec<vk::DescriptorSet>,
}

destroy_fields!(Sets, &'a Device: pool);

impl Sets {
    pub(crate) fn iter(&self) -> impl Iterator<Item = vk::DescriptorSet> + '_ {
        self.sets.iter().copied()
    }

    /// The set of this number, or the only one.
    pub(crate) fn get(&self, number: u32) -> Option<vk::DescriptorSet> {
        let only = self.sets.first().filter(|_| self.sets.len() == 1);
        self.sets.get(number as usize).or(only).copied()
    }

    /// The first set, or null.
    pub(crate) fn first(&self) -> vk::DescriptorSet {
        self.get(0).unwrap_or_default()
    }
}

/// Creates a pool for `sets` sets of `sizes`, and these sets.
///
/// `variable` has the number of descriptors in each set's variable binding, if the layout has one.
pub(crate) fn with_pool<'g>(
    device: &'g Device,
    name: &str,
    sizes: &[vk::DescriptorPoolSize],
    layout: vk::DescriptorSetLayout,
    sets: usize,
    variable: Option<&[u32]>,
) -> Result<Guard<'g, Sets>> {
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(sets as u32)
        .pool_sizes(sizes);
    // SAFETY: the info is alive during the call.
    let pool =
        unsafe { device.raw.create_descriptor_pool(&info, None) }.call("vkCreateDescriptorPool")?;
    let pool = Object::new(device, pool, name);
    // SAFETY: the pool was created for that many sets.
    let sets = unsafe { allocate_from(device, pool.handle, layout, sets, variable) }?;
    for set in &sets {
        device.set_name(*set, name);
    }
    Ok(pool.map(|pool| Sets { pool, sets }))
}

/// Creates a layout of sets of buffers, each with its binding and type.
pub(crate) fn buffer_layout<'g>(
    device: &'g Device,
    name: &str,
    buffers: impl Iterator<Item = (u32, vk::DescriptorType)>,
    stages: vk::ShaderStageFlags,
) -> Result<Guard<'g, Object<vk::DescriptorSetLayout>>> {
    let bindings: Vec<_> = buffers
        .map(|(at, kind)| binding(at, kind, stages))
        .collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    layout(device, name, &info)
}

/// Makes a set of such a layout, in a pool of its own. The buffers are alive.
pub(crate) fn buffer_set<'g>(
    device: &'g Device,
    name: &str,
    layout: vk::DescriptorSetLayout,
    buffers: &[(u32, vk::DescriptorType, vk::DescriptorBufferInfo)],
) -> Result<Guard<'g, Sets>> {
    let sizes = buffers.iter().map(|(_, ty, _)| vk::DescriptorPoolSize {
        ty: *ty,
        descriptor_count: 1,
    });
    let made = with_pool(device, name, &sizes.collect::<Vec<_>>(), layout, 1, None)?;
    let writes = buffers.iter().map(|(number, kind, buffer)| {
        let info = core::slice::from_ref(buffer);
        write(made.first(), *number, *kind).buffer_info(info)
    });
    let writes: Vec<_> = writes.collect();
    // SAFETY: no command buffer has used the new set, and the buffers are alive.
    unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
    Ok(made)
}

/// Allocates sets from a pool.
///
/// # Safety
/// The pool and the layout belong to `device` and are alive.
unsafe fn allocate_from(
    device: &Device,
    pool: vk::DescriptorPool,
    layout: vk::DescriptorSetLayout,
    sets: usize,
    variable: Option<&[u32]>,
) -> Result<Vec<vk::DescriptorSet>> {
    let layouts = vec![layout; sets];
    let mut counts = vk::DescriptorSetVariableDescriptorCountAllocateInfo::default()
        .descriptor_counts(variable.unwrap_or_default());
    let mut info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    if variable.is_some() {
        info = info.push_next(&mut counts);
    }
    // SAFETY: the handles are alive, by this function's contract.
    unsafe { device.raw.allocate_descriptor_sets(&info) }.call("vkAllocateDescriptorSets")
}
