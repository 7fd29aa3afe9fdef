//! A character's immutable data in device-local memory.

use super::encode::{Geometry, IndexRange};
use super::memory::Image;
use super::texture::MipChain;
use super::{Buffer, Device, Object, Upload, VkCall};
use crate::character::{self, Character, Filter, Sampler, TextureRef, Wrap};
use crate::error::{Error, Result};
use crate::pose::{Mat3x4, Poser, WriteOnly};
use ash::vk;
use gpu_allocator::vulkan::Allocator;

/// How one primitive is drawn: `vkCmdDrawIndexed` with the mesh's index buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrimitiveDraw {
    /// Its number: what the vertex shader takes as the index of its [`super::layout::Primitive`].
    pub primitive: u32,
    /// Index of its material.
    pub material: u32,
    /// First index, in units of `index_type`, from the start of [`SkinnedMesh::index_buffer`].
    pub first_index: u32,
    /// Three a triangle.
    pub index_count: u32,
    /// 16 bits where the primitive has few enough vertices.
    pub index_type: vk::IndexType,
    /// Whether back faces are drawn, too.
    pub double_sided: bool,
}

/// A character on the GPU: geometry, primitives, rest palette and textures. Immutable; any number of
/// instances and frames share it.
#[derive(Debug)]
pub struct SkinnedMesh {
    geometry: Buffer,
    primitives: Buffer,
    rest: Buffer,
    images: Vec<Image>,
    samplers: Vec<(Sampler, Object<vk::Sampler>)>,
    /// Per material: image and sampler.
    textures: Vec<(usize, usize)>,
    draws: Vec<PrimitiveDraw>,
    vertices: u64,
}

impl SkinnedMesh {
    /// Makes the buffers and images for `character` and stages their content in `upload`. They may
    /// be used by what is submitted after [`Upload::record`]'s commands.
    ///
    /// # Errors
    /// [`Error::Capacity`] if the geometry exceeds `maxStorageBufferRange`; [`Error::Memory`],
    /// [`Error::Vulkan`]. `upload` then copies what it did before, though it may have taken memory.
    ///
    /// # Safety
    /// `allocator` was made for the same device as `device`.
    pub unsafe fn new(
        device: &Device,
        allocator: &mut Allocator,
        upload: &mut Upload,
        character: &Character,
    ) -> Result<Self> {
        let geometry = Geometry::new(character, device.limits.max_storage_range)?;
        let mut mesh = Self::null();
        mesh.draws = draws(character, &geometry.indices);
        mesh.vertices = character.vertex_count() as u64;
        let mark = upload.mark();
        let built = mesh
            .build_buffers(device, allocator, upload, character, &geometry)
            .and_then(|()| mesh.build_textures(device, allocator, upload, character));
        match built {
            Ok(()) => Ok(mesh),
            Err(error) => {
                // SAFETY: made above and never used.
                unsafe { mesh.destroy(device, allocator) };
                upload.rewind(mark);
                Err(error)
            }
        }
    }

    fn null() -> Self {
        Self {
            geometry: Buffer::null(),
            primitives: Buffer::null(),
            rest: Buffer::null(),
            images: Vec::new(),
            samplers: Vec::new(),
            textures: Vec::new(),
            draws: Vec::new(),
            vertices: 0,
        }
    }

    fn build_buffers(
        &mut self,
        device: &Device,
        allocator: &mut Allocator,
        upload: &mut Upload,
        character: &Character,
        geometry: &Geometry,
    ) -> Result<()> {
        let mut rest = vec![Mat3x4::IDENTITY; character.palette().len()];
        Poser::new().palette(character, None, WriteOnly::over(&mut rest))?;
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        let parts: [(&mut Buffer, &str, vk::BufferUsageFlags, &[u8]); 3] = [
            (
                &mut self.geometry,
                "geometry",
                storage | vk::BufferUsageFlags::INDEX_BUFFER,
                bytemuck::cast_slice(&geometry.words),
            ),
            (
                &mut self.primitives,
                "primitives",
                storage,
                bytemuck::cast_slice(&geometry.primitives),
            ),
            (
                &mut self.rest,
                "rest palette",
                storage,
                bytemuck::cast_slice(&rest),
            ),
        ];
        for (buffer, what, usage, bytes) in parts {
            let name = format!("throng {}: {what}", character.name());
            *buffer = Buffer::device_local(device, allocator, &name, bytes.len() as u64, usage)?;
            upload.buffer(device, allocator, buffer, bytes)?;
        }
        Ok(())
    }

    fn build_textures(
        &mut self,
        device: &Device,
        allocator: &mut Allocator,
        upload: &mut Upload,
        character: &Character,
    ) -> Result<()> {
        for image in character.images() {
            self.add_image(device, allocator, upload, character.name(), image)?;
        }
        let mut white = None;
        for material in character.materials() {
            let texture = match material.base_color_texture {
                Some(TextureRef { image, sampler, .. }) => {
                    (image as usize, self.sampler(device, sampler)?)
                }
                None => {
                    let image = match white {
                        Some(image) => image,
                        None => self.add_image(
                            device,
                            allocator,
                            upload,
                            character.name(),
                            &white_texel(),
                        )?,
                    };
                    white = Some(image);
                    (image, self.sampler(device, WHITE_SAMPLER)?)
                }
            };
            self.textures.push(texture);
        }
        Ok(())
    }

    fn add_image(
        &mut self,
        device: &Device,
        allocator: &mut Allocator,
        upload: &mut Upload,
        owner: &str,
        image: &character::Image,
    ) -> Result<usize> {
        let chain = MipChain::new(image, device.limits.max_image_dimension);
        let Some(top) = chain.levels.first() else {
            let cap = device.limits.max_image_dimension.into();
            return Err(Error::Capacity {
                what: "texels",
                asked: image.width.max(image.height).into(),
                cap,
            });
        };
        let name = format!("throng {owner}: image {}", image.name);
        let size = (top.width, top.height);
        let made = Image::new(device, allocator, &name, size, chain.levels.len() as u32)?;
        let handle = made.handle;
        self.images.push(made);
        upload.image(
            device,
            allocator,
            handle,
            &chain.texels,
            chain.levels.iter(),
        )?;
        Ok(self.images.len() - 1)
    }

    fn sampler(&mut self, device: &Device, sampler: Sampler) -> Result<usize> {
        if let Some(found) = self.samplers.iter().position(|(have, _)| *have == sampler) {
            return Ok(found);
        }
        let info = sampler_info(device, sampler);
        // SAFETY: the info is valid; anisotropy is used only where it is enabled.
        let handle = unsafe { device.raw.create_sampler(&info, None) }.call("vkCreateSampler")?;
        self.samplers
            .push((sampler, Object::new(device, handle, "throng sampler")));
        Ok(self.samplers.len() - 1)
    }

    /// One per primitive, in the character's order.
    #[must_use]
    pub fn draws(&self) -> &[PrimitiveDraw] {
        &self.draws
    }

    /// Vertices of all primitives together.
    #[must_use]
    pub fn vertex_count(&self) -> u64 {
        self.vertices
    }

    /// How many materials there are, at least one.
    #[must_use]
    pub fn material_count(&self) -> u32 {
        self.textures.len() as u32
    }

    /// To be bound at offset 0 with a draw's `index_type`.
    #[must_use]
    pub fn index_buffer(&self) -> vk::Buffer {
        self.geometry.handle
    }

    /// For a storage buffer descriptor: every stream of every primitive.
    pub fn geometry(&self) -> vk::DescriptorBufferInfo {
        whole(&self.geometry)
    }

    /// For a storage buffer descriptor: [`super::layout::Primitive`]s.
    pub fn primitives(&self) -> vk::DescriptorBufferInfo {
        whole(&self.primitives)
    }

    /// For a storage buffer descriptor: the palette of the rest pose, [`Mat3x4`]s.
    pub fn rest_palette(&self) -> vk::DescriptorBufferInfo {
        whole(&self.rest)
    }

    /// For a combined image sampler: the base colour texture of `material`; a white texel where it has
    /// none. `None` past [`Self::material_count`].
    #[must_use]
    pub fn base_color(&self, material: u32) -> Option<vk::DescriptorImageInfo> {
        let (image, sampler) = self.textures.get(material as usize)?;
        Some(vk::DescriptorImageInfo {
            sampler: self.samplers.get(*sampler)?.1.handle,
            image_view: self.images.get(*image)?.view.handle,
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        })
    }

    /// Frees everything.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` and `allocator` are those that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device, allocator: &mut Allocator) {
        // SAFETY: the caller's word.
        unsafe {
            for (_, sampler) in &mut self.samplers {
                sampler.destroy(device);
            }
            for image in &mut self.images {
                image.destroy(device, allocator);
            }
            self.rest.destroy(device, allocator);
            self.primitives.destroy(device, allocator);
            self.geometry.destroy(device, allocator);
        }
        self.samplers.clear();
        self.images.clear();
    }
}

fn whole(buffer: &Buffer) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo {
        buffer: buffer.handle,
        offset: 0,
        range: vk::WHOLE_SIZE,
    }
}

/// Where there is no texture there need be no texture coordinates: they are 0 then, and have no
/// gradient, of which some drivers make an anisotropic sample of nothing (Mesa 25's lavapipe does).
const WHITE_SAMPLER: Sampler = Sampler {
    wrap_u: Wrap::Clamp,
    wrap_v: Wrap::Clamp,
    magnify: Filter::Nearest,
    minify: Filter::Nearest,
    mip: None,
};

fn white_texel() -> character::Image {
    character::Image {
        name: "white".into(),
        width: 1,
        height: 1,
        rgba: vec![255; 4],
    }
}

fn draws(character: &Character, indices: &[IndexRange]) -> Vec<PrimitiveDraw> {
    let parts = character.primitives().iter().zip(indices).enumerate();
    parts
        .map(|(number, (primitive, range))| PrimitiveDraw {
            primitive: number as u32,
            material: primitive.material,
            first_index: range.first,
            index_count: range.count,
            index_type: range.kind,
            double_sided: character
                .materials()
                .get(primitive.material as usize)
                .is_some_and(|m| m.double_sided),
        })
        .collect()
}

fn sampler_info(device: &Device, sampler: Sampler) -> vk::SamplerCreateInfo<'static> {
    let filter = |filter: Filter| match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    };
    let wrap = |wrap: Wrap| match wrap {
        Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
        Wrap::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Wrap::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    let anisotropic = device.enabled.sampler_anisotropy && sampler.minify == Filter::Linear;
    vk::SamplerCreateInfo::default()
        .mag_filter(filter(sampler.magnify))
        .min_filter(filter(sampler.minify))
        .mipmap_mode(match sampler.mip {
            Some(Filter::Linear) => vk::SamplerMipmapMode::LINEAR,
            _ => vk::SamplerMipmapMode::NEAREST,
        })
        .address_mode_u(wrap(sampler.wrap_u))
        .address_mode_v(wrap(sampler.wrap_v))
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .anisotropy_enable(anisotropic)
        .max_anisotropy(if anisotropic {
            device.limits.max_anisotropy.min(8.0)
        } else {
            1.0
        })
        .max_lod(if sampler.mip.is_some() {
            vk::LOD_CLAMP_NONE
        } else {
            0.25
        })
}
