//! A character's immutable data in device-local memory.

use super::encode::{Geometry, SkinChunks, variant};
use super::layout::{GpuInstance, GpuMaterial, GpuPrimitive};
use super::ranges::DrawRange;
use super::textures::{ImageFigures, Textures};
use super::{
    Buffer, Device, Gpu, Guard, MaterialClasses, MemoryAllocator, Upload, destroy_fields, palettes,
};
use crate::character::{Character, Facing};
use crate::error::Result;
use crate::mesh::{AlphaMode, Material, Primitive};
use crate::palette::{PaletteFormat, SkinningMethod};
use crate::skin::SkinnedLayout;
use ash::vk;
use core::cell::RefCell;

/// A draw of a range of a primitive's triangles.
///
/// It is the arguments of `vkCmdDrawIndexed` with the mesh's index buffer, and state that goes with
/// them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrimitiveDraw {
    /// Index of the primitive.
    ///
    /// Shaders take it as the index of its `ThrongPrimitive`.
    pub primitive: u32,
    /// Index of its material, or of the first one of its class.
    pub material: u32,
    /// The class of the materials that it draws, if it is for instances with a
    /// [material variant](crate::Instance::set_variant).
    ///
    /// `throng_class` gives the class of an instance's material. Materials whose textures share a
    /// descriptor set, and that are alike in alpha mode and sides, are one class.
    pub class: Option<u32>,
    /// First index, in units of `index_type`, from the start of [`SkinnedMesh::index_buffer`].
    pub first_index: u32,
    /// Number of indices, three per triangle.
    pub index_count: u32,
    /// 16 bits if the primitive has few enough vertices, otherwise 32.
    pub index_type: vk::IndexType,
    /// True if back faces are drawn, too.
    pub double_sided: bool,
    /// The constant `THRONG_VARIANT` for vertex shaders: what the triangles have, and how they are
    /// skinned.
    ///
    /// A pipeline with this constant draws only draws of the same variant.
    pub variant: u32,
    /// The specialization constant [`MaterialDesc::SURFACE_CONSTANT`] for fragment shaders: what
    /// the surface has.
    ///
    /// [`MaterialDesc::SURFACE_CONSTANT`]: crate::MaterialDesc::SURFACE_CONSTANT
    pub surface: u32,
    /// The meaning of its material's alpha.
    pub alpha: AlphaMode,
    /// The argument for `throng_faces`, for triangles that a clip may flip.
    ///
    /// A clip flips triangles if a scale changes its sign. Such triangles are drawn twice, once
    /// with either front face. `throng_faces` discards the instances that belong to the other
    /// draw.
    pub flip_code: Option<u32>,
    /// True in the one of those two draws whose front faces wind the other way.
    pub flipped: bool,
}

/// A character on the GPU: primitives, materials, streams, rest palette and textures.
///
/// It is immutable. Any number of instances and frames can use it.
///
/// ```no_run
/// use throng::Result;
/// use throng::ash::vk;
/// use throng::character::Character;
/// use throng::gpu::{Device, MemoryAllocator, SkinnedMesh, Upload};
/// use throng::palette::SkinningMethod;
///
/// /// # Safety
/// /// `cmd` is being recorded. The upload is freed after its work has ended.
/// unsafe fn load(
///     (device, allocator): (&Device, &mut dyn MemoryAllocator),
///     cmd: vk::CommandBuffer,
///     character: &Character,
/// ) -> Result<(SkinnedMesh, Upload)> {
///     let (mut upload, method) = (Upload::default(), SkinningMethod::Linear);
///     let mesh = SkinnedMesh::new(device, allocator, &mut upload, character, method)?;
///     unsafe { upload.record(device, cmd) };
///     Ok((mesh, upload))
/// }
/// ```
#[derive(Debug)]
pub struct SkinnedMesh {
    buffer: Buffer,
    rest: Buffer,
    textures: Textures,
    /// For each level of detail, its draws: for instances without a material variant, and with one.
    draws: [Vec<Vec<PrimitiveDraw>>; 2],
    format: PaletteFormat,
    skinned: SkinnedLayout,
    chunks: Vec<SkinChunks>,
    /// For each primitive, the word of [`GpuPrimitive::variants`].
    variants: Vec<u32>,
}

destroy_fields!(SkinnedMesh, Gpu<'a>: textures, rest, buffer);

impl SkinnedMesh {
    /// Creates the buffers and images for `character`.
    ///
    /// Their content is staged in `upload`.
    ///
    /// They may be used by what is submitted after [`Upload::record`]'s commands.
    ///
    /// # Errors
    /// - [`Error::Argument`](crate::Error::Argument) if `upload` has content of another device, or
    ///   if the allocator belongs to another device.
    /// - [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the palette format of
    ///   `method` cannot represent the character's palettes.
    /// - [`Error::Capacity`](crate::Error::Capacity) if the mesh buffer exceeds
    ///   `maxStorageBufferRange`, a buffer the device's largest size, or an image with all its
    ///   stored levels the device's largest width or height.
    /// - [`Error::At`](crate::Error::At) names an image in a format that the device does not
    ///   sample, if throng was built without the Cargo feature `decode`.
    /// - [`Error::Memory`](crate::Error::Memory) and [`Error::Vulkan`](crate::Error::Vulkan) from
    ///   the device.
    ///
    /// If this fails, `upload` copies what it copied before, though it may have allocated memory.
    pub fn new(
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        upload: &mut Upload,
        character: &Character,
        method: SkinningMethod,
    ) -> Result<Self> {
        upload.expect_of(device)?;
        let (allocator, mark) = (RefCell::new(allocator), upload.mark());
        let gpu = Gpu::new(device, &allocator)?;
        let made = Self::create(gpu, upload, (character, method), false);
        made.map(Guard::keep).inspect_err(|_| upload.rewind(mark))
    }

    /// [`Self::new`], guarded. After an error, `upload` is incomplete. If `traced`, acceleration
    /// structures can be built of its triangles.
    pub(crate) fn create<'g>(
        gpu: Gpu<'g>,
        upload: &mut Upload,
        (character, method): (&Character, SkinningMethod),
        traced: bool,
    ) -> Result<Guard<'g, Self>> {
        let format = PaletteFormat::of(character, method)?;
        let most = gpu.device.limits.max_storage_range;
        let textures = Textures::new(gpu, upload, character)?;
        let shared = textures.are_shared();
        let mut geometry = Geometry::new(character, (format, shared), most)?;
        let materials = (0..).zip(character.materials());
        let materials: Vec<GpuMaterial> = materials
            .map(|(number, it)| super::material::material(it, textures.slots(number)))
            .collect();
        geometry.set_materials(&materials);
        let mut filled = |what: &str, usage, bytes: &[u8]| -> Result<Guard<'g, Buffer>> {
            let name = format!("throng {}: {what}", character.name());
            let usage = usage | vk::BufferUsageFlags::TRANSFER_DST;
            let buffer = Buffer::device_local(gpu, &name, bytes.len() as u64, usage)?;
            upload.buffer(gpu, &buffer, bytes)?;
            Ok(buffer)
        };
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::INDEX_BUFFER;
        let variants = geometry.primitives.iter().map(|it| it.variants);
        let variants: Vec<u32> = variants.collect();
        if traced || variants.iter().any(|at| *at != GpuInstance::NONE) {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        if traced {
            usage |= vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
        }
        let buffer = filled("mesh", usage, bytemuck::cast_slice(&geometry.words))?;
        let rest = palettes::rest(character, format)?;
        let usage = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let rest = filled("rest palette", usage, bytemuck::cast_slice(&rest))?;
        let of = |shared| {
            let levels = geometry.draws.iter();
            let levels = levels.map(|it| draws(character, format, it, shared));
            levels.collect()
        };
        let mesh = Self {
            draws: [of(None), of(Some(shared))],
            buffer: buffer.keep(),
            rest: rest.keep(),
            textures: textures.keep(),
            format,
            skinned: geometry.skinned,
            chunks: geometry.chunks,
            variants,
        };
        Ok(Guard::new(gpu, mesh))
    }

    /// For each level of detail, its draws in the character's order. The first is the full level.
    ///
    /// There is at least one draw per primitive that has triangles.
    #[must_use]
    pub fn draws(&self) -> &[Vec<PrimitiveDraw>] {
        &self.draws[0]
    }

    /// The same for instances with a [material variant](crate::Instance::set_variant), of those
    /// primitives whose material a variant changes: a draw for each [class](PrimitiveDraw::class).
    #[must_use]
    pub fn variant_draws(&self) -> &[Vec<PrimitiveDraw>] {
        &self.draws[1]
    }

    /// The images that materials use: their formats on this device, and their bytes.
    #[must_use]
    pub fn images(&self) -> &[ImageFigures] {
        self.textures.figures()
    }

    /// True if one descriptor set has the textures of all materials.
    pub(crate) fn shares_set(&self) -> bool {
        self.textures.are_shared()
    }

    /// Number of materials, at least one.
    pub(crate) fn material_count(&self) -> u32 {
        self.textures.material_count()
    }

    /// The textures of each material, in the order of [`Material::textures`].
    pub(crate) fn material_textures(&self) -> Vec<[vk::DescriptorImageInfo; Material::TEXTURES]> {
        let materials = 0..self.material_count();
        materials.map(|it| self.textures.of_material(it)).collect()
    }

    /// Rows (16 bytes each) of a palette entry.
    pub(crate) fn entry_rows(&self) -> u32 {
        palettes::entry_rows(self.format)
    }

    /// The format of its palettes.
    pub(crate) fn format(&self) -> PaletteFormat {
        self.format
    }

    /// The layout of an instance's deformed vertices.
    pub(crate) fn skinned_layout(&self) -> &SkinnedLayout {
        &self.skinned
    }

    /// The workgroups of each dispatch that deforms an instance, in the order of
    /// [`SkinPipeline::record`](crate::gpu::SkinPipeline::record).
    ///
    /// For [`SkinList::Indirect`](crate::gpu::SkinList::Indirect).
    pub fn skin_groups(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.chunks.iter().map(|chunks| chunks.count)
    }

    /// The skin stage's work for an instance.
    pub(crate) fn chunks(&self) -> &[SkinChunks] {
        &self.chunks
    }

    /// Device address of the materials of a primitive by variant, or 0 if variants do not change
    /// it.
    pub(crate) fn variants(&self, primitive: u32) -> vk::DeviceAddress {
        match self.variants.get(primitive as usize) {
            None | Some(&GpuInstance::NONE) => 0,
            Some(at) => self.buffer.address + u64::from(*at) * 4,
        }
    }

    /// Device address of the mesh buffer, if acceleration structures can be built of it.
    pub(crate) fn address(&self) -> vk::DeviceAddress {
        self.buffer.address
    }

    /// The index buffer. Bind it at offset 0 with a draw's `index_type`.
    #[must_use]
    pub fn index_buffer(&self) -> vk::Buffer {
        self.buffer.handle
    }

    /// Storage buffer descriptor of the mesh buffer: primitives, materials and streams.
    pub fn buffer(&self) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo {
            buffer: self.buffer.handle,
            offset: 0,
            range: vk::WHOLE_SIZE,
        }
    }

    /// Device address of the rest pose's palette, in the method's format.
    ///
    /// It is valid until [`Self::destroy`].
    #[must_use]
    pub fn rest_palette(&self) -> vk::DeviceAddress {
        self.rest.address
    }

    /// The descriptor sets that its materials need: the number of textures of each.
    ///
    /// One set serves all materials if the layout is [bindless](super::SetLayout) and
    /// has space for all of the character's textures. Otherwise each material has a set of its own.
    /// [`SetLayout::allocate`](super::SetLayout::allocate) takes these numbers.
    #[must_use]
    pub fn sets(&self) -> Vec<u32> {
        match self.textures.are_shared() {
            true => vec![self.textures.all().len() as u32],
            false => vec![Material::TEXTURES as u32; self.material_count() as usize],
        }
    }

    /// The textures of a set, for combined image samplers.
    ///
    /// `set` is an index of [`Self::sets`]. The textures of one material are in
    /// the order of [`Material::textures`]. If the material lacks a texture, a white texel takes
    /// its place. For an index that does not exist, they are those of material 0.
    #[must_use]
    pub fn textures(&self, set: u32) -> Vec<vk::DescriptorImageInfo> {
        if self.textures.are_shared() {
            self.textures.all().to_vec()
        } else {
            self.textures.of_material(set).to_vec()
        }
    }

    /// Frees everything.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` and `allocator` are those that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device, allocator: &mut dyn MemoryAllocator) {
        // SAFETY: this function has the same contract.
        unsafe { Gpu::destroy(self, device, allocator) };
    }
}

/// The draws of a character at all levels of detail, as its mesh has them but for their indices.
pub(crate) fn draws_without_indices(
    character: &Character,
    format: PaletteFormat,
) -> Vec<PrimitiveDraw> {
    let levels = 1 + character.level_count();
    let ranges = (0..)
        .zip(character.primitives())
        .flat_map(|of| (0..levels).map(move |level| (of, level)))
        .flat_map(|((number, primitive), level)| {
            let (_, groups) = character.draw_groups(primitive, level);
            groups.into_iter().map(move |(group, count)| {
                let (first, narrow) = (0, false);
                let range = DrawRange {
                    first,
                    count,
                    narrow,
                    group,
                };
                (number, range)
            })
        });
    draws(character, format, &ranges.collect::<Vec<_>>(), None)
}

/// The draws of these ranges: for instances without a material variant, or with `shared`, which
/// says whether a set has all textures, for those with one.
fn draws(
    character: &Character,
    format: PaletteFormat,
    ranges: &[(u32, DrawRange)],
    shared: Option<bool>,
) -> Vec<PrimitiveDraw> {
    let mut draws = Vec::new();
    for (number, range) in ranges {
        let Some(primitive) = character.primitives().get(*number as usize) else {
            continue;
        };
        let mut add = |class, materials: &[u32]| {
            let of = (*number, primitive, materials);
            draws.extend(draws_of(character, format, of, class, range));
        };
        match shared {
            None => add(None, &[primitive.material]),
            Some(shared) => {
                let classes = MaterialClasses::new(character, primitive, shared);
                classes.iter().for_each(|(class, of)| add(Some(class), of));
            }
        }
    }
    draws
}

/// One draw for a range with these materials, or two if its triangles may flip.
fn draws_of(
    character: &Character,
    format: PaletteFormat,
    (number, primitive, materials): (u32, &Primitive, &[u32]),
    class: Option<u32>,
    range: &DrawRange,
) -> impl Iterator<Item = PrimitiveDraw> + use<> {
    let index = materials.first().copied().unwrap_or(0);
    let material = character.materials().get(index as usize);
    let double_sided =
        range.group.facing == Facing::Unknown || material.is_some_and(|m| m.double_sided);
    let variant = variant(character, primitive, index, format) & !GpuPrimitive::MAY_FLIP;
    let all = materials.iter();
    let all = all.filter_map(|at| character.materials().get(*at as usize));
    let all = all.fold(0, |all, of| all | super::material::variant(of));
    let [varies, many] = match class {
        Some(_) => [GpuPrimitive::VARIES, GpuMaterial::MANY],
        None => [0; 2],
    };
    let variant = variant | varies;
    let draw = PrimitiveDraw {
        primitive: number,
        material: index,
        class,
        first_index: range.first,
        index_count: range.count,
        index_type: if range.narrow {
            vk::IndexType::UINT16
        } else {
            vk::IndexType::UINT32
        },
        double_sided,
        variant: if range.group.rigid {
            variant & !GpuPrimitive::MANY_INFLUENCES | GpuPrimitive::ONE_INFLUENCE
        } else {
            variant
        },
        surface: surface(variant, all | many, double_sided),
        alpha: material.map_or(AlphaMode::Opaque, |m| m.alpha),
        flip_code: None,
        flipped: false,
    };
    let flip = |entry: u32, flipped: bool| {
        let joint = character.palette().get(entry as usize);
        let drawn = joint.is_some_and(|joint| joint.flipped) != flipped;
        PrimitiveDraw {
            variant: draw.variant | GpuPrimitive::MAY_FLIP,
            flip_code: Some(entry << 1 | u32::from(drawn)),
            flipped,
            ..draw
        }
    };
    let (first, second) = match range.group.facing {
        Facing::Flips(entry) => (flip(entry, false), Some(flip(entry, true))),
        Facing::Steady | Facing::Unknown => (draw, None),
    };
    core::iter::once(first).chain(second)
}

/// The properties of a surface: from its material, its primitive, and how it is drawn.
fn surface(primitive: u32, material: u32, double_sided: bool) -> u32 {
    let flags = [
        (
            primitive & GpuPrimitive::HAS_NORMALS != 0,
            GpuMaterial::SURFACE_NORMALS,
        ),
        (
            primitive & GpuPrimitive::HAS_TANGENTS != 0,
            GpuMaterial::SURFACE_TANGENTS,
        ),
        (double_sided, GpuMaterial::TWO_SIDED),
    ];
    let flags = flags.into_iter().filter(|(has, _)| *has);
    flags.fold(material, |all, (_, flag)| all | flag)
}
