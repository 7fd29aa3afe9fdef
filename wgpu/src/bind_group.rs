//! Bind groups of the program's own shading: each is a group of wgpu and a set of Vulkan.
//!
//! wgpu gives no handle of its own sets. So the same layout and the same resources make a second
//! set here, which draws of crowds bind. wgpu checks them and keeps track of their use.

use crate::check::{expect_alive, scoped, with_own};
use crate::descriptors::{
    TEXTURE, buffer_info, descriptor_type, expect_buffer_alive, image_info, sampler_info,
};
use crate::error::{Error, Result, failed};
use crate::gpu::{Gpu, Shared};
use core::fmt;
use core::sync::atomic::Ordering;
use std::sync::Arc;
use throng::ash::vk;
use wgpu::BindGroupLayoutEntry;

/// The layout of a [`BindGroup`].
///
/// It is a handle: clones are the same layout.
#[derive(Clone)]
pub struct BindGroupLayout(Arc<Layout>);

struct Layout {
    wgpu: wgpu::BindGroupLayout,
    raw: vk::DescriptorSetLayout,
    entries: Vec<BindGroupLayoutEntry>,
    gpu: Arc<Shared>,
}

/// A resource of a [`BindGroup`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Binding<'a> {
    /// A range of a buffer.
    Buffer(wgpu::BufferBinding<'a>),
    /// A texture to sample, or a storage texture.
    TextureView(&'a wgpu::TextureView),
    /// A sampler, by its description: wgpu gives no handle of one that exists.
    Sampler(wgpu::SamplerDescriptor<'a>),
}

/// Resources of the program, for the fragment shader of a [`MaterialDesc`](crate::MaterialDesc).
///
/// It is a handle: clones are the same group. Draws in flight keep what they use.
///
/// ```no_run
/// use throng_wgpu::{BindGroup, BindGroupLayout, Binding, Error, Gpu, wgpu};
///
/// fn lights(gpu: &Gpu, lights: &wgpu::Buffer) -> Result<BindGroup, Error> {
///     let layout = BindGroupLayout::new(gpu, &wgpu::BindGroupLayoutDescriptor {
///         label: Some("lights"),
///         entries: &[wgpu::BindGroupLayoutEntry {
///             binding: 0,
///             visibility: wgpu::ShaderStages::FRAGMENT,
///             ty: wgpu::BindingType::Buffer {
///                 ty: wgpu::BufferBindingType::Uniform,
///                 has_dynamic_offset: false,
///                 min_binding_size: None,
///             },
///             count: None,
///         }],
///     })?;
///     let all = Binding::Buffer(lights.as_entire_buffer_binding());
///     BindGroup::new(gpu, &layout, &[(0, all)])
/// }
/// ```
#[derive(Clone)]
pub struct BindGroup(Arc<Group>);

/// The groups of a draw, with their dynamic offsets.
pub(crate) type Groups<'a> = &'a [(&'a BindGroup, &'a [wgpu::DynamicOffset])];

struct Group {
    wgpu: wgpu::BindGroup,
    set: vk::DescriptorSet,
    pool: vk::DescriptorPool,
    samplers: Vec<vk::Sampler>,
    /// The resources, which the program may destroy.
    buffers: Vec<wgpu::Buffer>,
    textures: Vec<wgpu::Texture>,
    layout: BindGroupLayout,
}

impl BindGroupLayout {
    /// Creates a layout.
    ///
    /// Binding arrays, acceleration structures and external textures are not supported.
    ///
    /// # Errors
    /// - [`Error::Binding`] for a kind of binding that is not supported.
    /// - [`Error::Rejected`] for everything that wgpu rejects, and [`Error::DeviceLost`].
    /// - [`throng::Error::Vulkan`] from the device.
    pub fn new(gpu: &Gpu, desc: &wgpu::BindGroupLayoutDescriptor<'_>) -> Result<Self> {
        let mut bindings = Vec::new();
        for entry in desc.entries {
            bindings.push(
                vk::DescriptorSetLayoutBinding::default()
                    .binding(entry.binding)
                    .descriptor_type(descriptor_type(entry)?)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::FRAGMENT),
            );
        }
        if gpu.is_lost() {
            return Err(Error::DeviceLost);
        }
        let make = || gpu.device().create_bind_group_layout(desc);
        let wgpu = scoped(gpu.device(), "a bind group layout", make)?;
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: `Shared` keeps the device alive. wgpu accepted the bindings: each exists once.
        let raw = unsafe { gpu.shared.raw.create_descriptor_set_layout(&info, None) };
        Ok(Self(Arc::new(Layout {
            wgpu,
            raw: raw.map_err(failed("vkCreateDescriptorSetLayout"))?,
            entries: desc.entries.to_vec(),
            gpu: Arc::clone(&gpu.shared),
        })))
    }

    /// The layout of wgpu, for pipelines of the program that use the same groups.
    #[must_use]
    pub fn wgpu(&self) -> &wgpu::BindGroupLayout {
        &self.0.wgpu
    }

    pub(crate) fn raw(&self) -> vk::DescriptorSetLayout {
        self.0.raw
    }

    pub(crate) fn entries(&self) -> &[BindGroupLayoutEntry] {
        &self.0.entries
    }

    /// Fails if the layout is of another device.
    pub(crate) fn expect_of(&self, gpu: &Gpu) -> Result<()> {
        match Arc::ptr_eq(&self.0.gpu, &gpu.shared) {
            true => Ok(()),
            false => Err(Error::OtherDevice {
                what: "a bind group layout",
                text: "it was created with another Gpu".into(),
            }),
        }
    }
}

impl BindGroup {
    /// Creates a group with a resource for each binding of the layout.
    ///
    /// # Errors
    /// - [`Error::Rejected`] for everything that wgpu rejects: bindings that are missing, or that
    ///   are not what the layout says, resources that were destroyed, and so on.
    /// - [`Error::OtherDevice`] if the layout or a resource is of another device.
    /// - [`Error::Destroyed`] if a resource is destroyed meanwhile.
    /// - [`Error::Limit`] if groups have more than [`Self::MAX_SAMPLERS`] samplers together.
    /// - [`Error::DeviceLost`], and [`throng::Error::Vulkan`] from the device.
    pub fn new(
        gpu: &Gpu,
        layout: &BindGroupLayout,
        bindings: &[(u32, Binding<'_>)],
    ) -> Result<Self> {
        layout.expect_of(gpu)?;
        let what = "a bind group";
        let textures = bindings.iter().filter_map(|(_, binding)| match binding {
            Binding::TextureView(view) => Some(view.texture()),
            _ => None,
        });
        let make = || scoped(gpu.device(), what, || accepted(layout, bindings));
        let wgpu = with_own(gpu, (TEXTURE, textures), make)?;
        let mut group = Group {
            wgpu,
            set: vk::DescriptorSet::null(),
            pool: vk::DescriptorPool::null(),
            samplers: Vec::new(),
            buffers: Vec::new(),
            textures: Vec::new(),
            layout: layout.clone(),
        };
        group.allocate()?;
        for (number, binding) in bindings {
            group.write(*number, binding)?;
        }
        Ok(Self(Arc::new(group)))
    }

    /// The most samplers that all groups of a [`Gpu`] have together.
    ///
    /// Devices of Vulkan have 4,000 or more, for everything.
    pub const MAX_SAMPLERS: u32 = 1000;

    /// The group of wgpu with the same resources, for pipelines of the program.
    #[must_use]
    pub fn wgpu(&self) -> &wgpu::BindGroup {
        &self.0.wgpu
    }

    pub(crate) fn raw(&self) -> vk::DescriptorSet {
        self.0.set
    }

    /// Fails if a resource was destroyed. wgpu itself finds that when commands are submitted.
    pub(crate) fn expect_alive(&self) -> Result<()> {
        for texture in &self.0.textures {
            expect_alive(TEXTURE, texture)?;
        }
        for buffer in &self.0.buffers {
            expect_buffer_alive(buffer)?;
        }
        Ok(())
    }
}

/// The group of wgpu.
fn accepted(layout: &BindGroupLayout, bindings: &[(u32, Binding<'_>)]) -> wgpu::BindGroup {
    let device = &layout.0.gpu.device;
    let samplers = bindings.iter().map(|(_, binding)| match binding {
        Binding::Sampler(desc) => Some(device.create_sampler(desc)),
        _ => None,
    });
    let samplers: Vec<_> = samplers.collect();
    let entries = bindings.iter().zip(&samplers);
    let entries = entries.filter_map(|((binding, resource), sampler)| {
        let resource = match resource {
            Binding::Buffer(buffer) => wgpu::BindingResource::Buffer(buffer.clone()),
            Binding::TextureView(view) => wgpu::BindingResource::TextureView(view),
            Binding::Sampler(_) => wgpu::BindingResource::Sampler(sampler.as_ref()?),
        };
        Some(wgpu::BindGroupEntry {
            binding: *binding,
            resource,
        })
    });
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("throng"),
        layout: &layout.0.wgpu,
        entries: &entries.collect::<Vec<_>>(),
    })
}

impl Group {
    /// Makes the pool and the set.
    fn allocate(&mut self) -> Result<()> {
        let layout = &self.layout.0;
        // Some drivers refuse a pool of nothing.
        let mut sizes = vec![vk::DescriptorPoolSize {
            ty: vk::DescriptorType::UNIFORM_BUFFER,
            descriptor_count: 1,
        }];
        for entry in &layout.entries {
            sizes.push(vk::DescriptorPoolSize {
                ty: descriptor_type(entry)?,
                descriptor_count: 1,
            });
        }
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        let raw = &layout.gpu.raw;
        let layouts = [layout.raw];
        // SAFETY: `Shared` keeps the device alive, and `self.layout` the layout. The pool is new.
        unsafe {
            let pool = raw.create_descriptor_pool(&info, None);
            self.pool = pool.map_err(failed("vkCreateDescriptorPool"))?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&layouts);
            let sets = raw.allocate_descriptor_sets(&info);
            let sets = sets.map_err(failed("vkAllocateDescriptorSets"))?;
            self.set = sets.first().copied().unwrap_or_default();
        }
        Ok(())
    }

    /// Writes a resource into the set.
    fn write(&mut self, number: u32, binding: &Binding<'_>) -> Result<()> {
        let shared = Arc::clone(&self.layout.0.gpu);
        let entry = self.layout.0.entries.iter();
        let entry = entry.copied().find(|entry| entry.binding == number);
        let Some(entry) = entry else { return Ok(()) };
        let (mut buffers, mut images) = (Vec::new(), Vec::new());
        match binding {
            Binding::Buffer(it) => {
                buffers.push(buffer_info(it)?);
                self.buffers.push(it.buffer.clone());
            }
            Binding::TextureView(view) => {
                images.push(image_info(view, &entry)?);
                self.textures.push(view.texture().clone());
            }
            Binding::Sampler(desc) => {
                let sampler = self.sampler(desc)?;
                images.push(vk::DescriptorImageInfo::default().sampler(sampler));
            }
        }
        let mut write = vk::WriteDescriptorSet::default()
            .dst_set(self.set)
            .dst_binding(number)
            .descriptor_type(descriptor_type(&entry)?);
        match buffers.is_empty() {
            true => write = write.image_info(&images),
            false => write = write.buffer_info(&buffers),
        }
        // SAFETY: the set is new, and the binding is of this kind, because wgpu accepted the same
        // resources for the same layout. `self.wgpu` keeps them.
        unsafe { shared.raw.update_descriptor_sets(&[write], &[]) };
        Ok(())
    }

    fn sampler(&mut self, desc: &wgpu::SamplerDescriptor<'_>) -> Result<vk::Sampler> {
        let shared = &self.layout.0.gpu;
        let before = shared.samplers.fetch_add(1, Ordering::Relaxed);
        let made = match before < BindGroup::MAX_SAMPLERS {
            // SAFETY: `Shared` keeps the device alive, and wgpu accepted the description.
            true => unsafe { shared.raw.create_sampler(&sampler_info(desc, shared), None) }
                .map_err(failed("vkCreateSampler"))
                .map_err(Error::from),
            false => Err(Error::Limit {
                name: "BindGroup::MAX_SAMPLERS",
                asked: u64::from(before) + 1,
                allowed: BindGroup::MAX_SAMPLERS.into(),
            }),
        };
        match made {
            Ok(sampler) => {
                self.samplers.push(sampler);
                Ok(sampler)
            }
            Err(error) => {
                shared.samplers.fetch_sub(1, Ordering::Relaxed);
                Err(error)
            }
        }
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        // SAFETY: groups and passes hold what they use, so nothing uses the layout any more.
        unsafe { self.gpu.raw.destroy_descriptor_set_layout(self.raw, None) };
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let shared = &self.layout.0.gpu;
        // SAFETY: draws hold their groups until they have ended, so nothing uses these any more.
        unsafe {
            shared.raw.destroy_descriptor_pool(self.pool, None);
            for sampler in self.samplers.drain(..) {
                shared.raw.destroy_sampler(sampler, None);
                shared.samplers.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

impl fmt::Debug for BindGroupLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BindGroupLayout")
            .field(&self.0.wgpu)
            .finish()
    }
}

impl fmt::Debug for BindGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BindGroup").field(&self.0.wgpu).finish()
    }
}
