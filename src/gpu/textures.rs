//! A character's images and samplers on the GPU.

use super::memory::Image;
use super::{Destroy, Device, Features, Gpu, Guard, Object, Upload, VkCall};
use crate::character::Character;
use crate::error::{Error, Result};
use crate::mesh::{Filter, ImageFormat, ImageLevel, Material, TextureRef, Wrap};
use crate::order;
use ash::vk;
use glam::Affine2;
use std::borrow::Cow;
use std::collections::HashMap;

/// Says which of a material's textures are colours, in sRGB. The others are plain numbers.
pub(crate) const IS_COLOR: [bool; Material::TEXTURES] = [true, false, false, false, true, false];

/// The white texel, without filters: a primitive without a texture may lack texture coordinates.
const WHITE: TextureRef = TextureRef {
    image: 0,
    wrap_u: Wrap::Clamp,
    wrap_v: Wrap::Clamp,
    magnify: Filter::Nearest,
    minify: Filter::Nearest,
    mip: None,
    uv_set: 0,
    transform: Affine2::IDENTITY,
};

/// The wrap modes and filters of a texture, which textures with the same sampler share.
type SamplerKey = ([Wrap; 2], [Filter; 2], Option<Filter>);

/// An image of a character on a device: its format and size there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageFigures {
    /// The image's index in [`Character::images`].
    pub image: u32,
    /// True if it is sampled as a colour in sRGB. An image of which materials make both uses is
    /// there twice.
    pub is_color: bool,
    /// The format on the device: the image's own, or RGBA8 if the device lacks that.
    pub format: ImageFormat,
    /// Bytes of all mip levels, without the padding that the device adds.
    pub bytes: u64,
}

/// The images that the materials of a character use, on a device with these features.
pub(super) fn image_figures(character: &Character, features: Features) -> Vec<ImageFigures> {
    let mut used = Vec::new();
    for material in character.materials() {
        for (texture, is_color) in material.textures().into_iter().zip(IS_COLOR) {
            used.extend(texture.map(|texture| (texture.image, is_color)));
        }
    }
    let figures = |(image, is_color): (u32, bool)| {
        let raw = character.images().get(image as usize)?;
        let (format, _) = format_on(features, raw.format(), is_color);
        let bytes = format.bytes(raw.width, raw.height, raw.level_count());
        Some(ImageFigures {
            image,
            is_color,
            format,
            bytes,
        })
    };
    let used = order::sorted_set(used);
    used.into_iter().filter_map(figures).collect()
}

/// The format that an image has on a device: its own, or RGBA8 to which it is decoded.
fn format_on(features: Features, own: ImageFormat, is_color: bool) -> (ImageFormat, vk::Format) {
    let (feature, numbers) = on_device(own);
    // No format of one or two channels is in sRGB, which has the next number.
    let has_srgb = !matches!(
        own,
        ImageFormat::Bc4 | ImageFormat::Bc5 | ImageFormat::EacR | ImageFormat::EacRg
    );
    match (features.contains(feature), is_color) {
        (true, false) => (own, numbers),
        (true, true) if own == ImageFormat::Rgba8 => (own, vk::Format::R8G8B8A8_SRGB),
        (true, true) if has_srgb => (own, vk::Format::from_raw(numbers.as_raw() + 1)),
        _ => format_on(features, ImageFormat::Rgba8, is_color),
    }
}

/// The feature by which a device samples a format, and the one of Vulkan that is not in sRGB.
const fn on_device(format: ImageFormat) -> (Features, vk::Format) {
    use vk::Format as V;
    const BC: Features = Features::TEXTURE_COMPRESSION_BC;
    const ETC2: Features = Features::TEXTURE_COMPRESSION_ETC2;
    match format {
        ImageFormat::Rgba8 => (Features::NONE, V::R8G8B8A8_UNORM),
        ImageFormat::Bc1 => (BC, V::BC1_RGB_UNORM_BLOCK),
        ImageFormat::Bc1Alpha => (BC, V::BC1_RGBA_UNORM_BLOCK),
        ImageFormat::Bc3 => (BC, V::BC3_UNORM_BLOCK),
        ImageFormat::Bc4 => (BC, V::BC4_UNORM_BLOCK),
        ImageFormat::Bc5 => (BC, V::BC5_UNORM_BLOCK),
        ImageFormat::Bc7 => (BC, V::BC7_UNORM_BLOCK),
        ImageFormat::Etc2 => (ETC2, V::ETC2_R8G8B8_UNORM_BLOCK),
        ImageFormat::Etc2Alpha => (ETC2, V::ETC2_R8G8B8A8_UNORM_BLOCK),
        ImageFormat::EacR => (ETC2, V::EAC_R11_UNORM_BLOCK),
        ImageFormat::EacRg => (ETC2, V::EAC_R11G11_UNORM_BLOCK),
        ImageFormat::Astc4x4 => (Features::TEXTURE_COMPRESSION_ASTC, V::ASTC_4X4_UNORM_BLOCK),
    }
}

/// An image as a device has it: with all levels, decoded if it must be.
fn ready(
    raw: &crate::mesh::Image,
    is_color: bool,
    (keep, enabled): (bool, Features),
) -> Result<Cow<'_, crate::mesh::Image>> {
    let needed = on_device(raw.format()).0 - enabled;
    let image = match keep {
        true => Cow::Borrowed(raw),
        false => raw.decoded().map_err(|error| match needed.names() {
            names if names.is_empty() => error,
            missing => Error::NotEnabled {
                what: "a compressed image, without the Cargo feature `decode` of throng,",
                missing,
            },
        })?,
    };
    match image.stored().0 {
        0 => image.with_mips(is_color).map(Cow::Owned),
        _ => Ok(image),
    }
}

/// Images, samplers, and the textures that combine them.
#[derive(Debug, Default)]
pub(crate) struct Textures {
    images: Vec<Image>,
    samplers: Vec<(SamplerKey, Object<vk::Sampler>)>,
    /// Every pair of image and sampler that a material uses, once. The first is a white texel.
    all: Vec<vk::DescriptorImageInfo>,
    /// For each material, indices into `all`.
    materials: Vec<[u32; Material::TEXTURES]>,
    /// True if one set has all textures.
    shared: bool,
    figures: Vec<ImageFigures>,
}

/// Images and pairs that exist already, while a character's textures are created.
#[derive(Default)]
struct Known {
    images: HashMap<(u32, bool), usize>,
    pairs: HashMap<(usize, usize), u32>,
}

impl Textures {
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        upload: &mut Upload,
        character: &Character,
    ) -> Result<Guard<'g, Self>> {
        let mut made = Guard::new(gpu, Self::default());
        let mut known = Known::default();
        let name = character.name();
        made.add_image(gpu, upload, name, (0, &white_texel(), true))?;
        let sampler = made.sampler(gpu.device, &WHITE)?;
        made.pair(&mut known, 0, sampler);
        for material in character.materials() {
            let mut indices = [0; Material::TEXTURES];
            let textures = material.textures().into_iter().zip(IS_COLOR);
            for (index, (texture, is_color)) in indices.iter_mut().zip(textures) {
                let Some(texture) = texture else {
                    continue;
                };
                let image = texture.image;
                let Some(raw) = character.images().get(image as usize) else {
                    continue;
                };
                let image = match known.images.get(&(image, is_color)) {
                    Some(index) => *index,
                    None => {
                        let index = made.add_image(gpu, upload, name, (image, raw, is_color))?;
                        known.images.insert((image, is_color), index);
                        index
                    }
                };
                let sampler = made.sampler(gpu.device, &texture)?;
                *index = made.pair(&mut known, image, sampler);
            }
            made.materials.push(indices);
        }
        let fits = made.all.len() as u64 <= gpu.device.limits.max_textures.into();
        made.figures = image_figures(character, gpu.device.enabled);
        made.shared = gpu.device.enabled.contains(Features::DESCRIPTOR_INDEXING) && fits;
        Ok(made)
    }

    /// The index of a texture, added if it is new.
    fn pair(&mut self, known: &mut Known, image: usize, sampler: usize) -> u32 {
        let next = self.all.len() as u32;
        let number = *known.pairs.entry((image, sampler)).or_insert(next);
        if number == next {
            let view = self.images.get(image).map(|image| image.view.handle);
            let sampler = self.samplers.get(sampler).map(|(_, made)| made.handle);
            self.all.push(vk::DescriptorImageInfo {
                sampler: sampler.unwrap_or_default(),
                image_view: view.unwrap_or_default(),
                image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            });
        }
        number
    }

    fn add_image(
        &mut self,
        gpu: Gpu<'_>,
        upload: &mut Upload,
        owner: &str,
        (index, raw, is_color): (u32, &crate::mesh::Image, bool),
    ) -> Result<usize> {
        let most = gpu.device.limits.max_image_dimension;
        let (format, on_device) = format_on(gpu.device.enabled, raw.format(), is_color);
        let keep = (format == raw.format(), gpu.device.enabled);
        let image = ready(raw, is_color, keep).map_err(|why| Error::At {
            what: "image",
            index: index.into(),
            name: raw.name.clone(),
            why: Box::new(why),
        })?;
        let fits = |level: &ImageLevel<'_>| level.width.max(level.height) <= most;
        let levels: Vec<_> = image.levels().filter(fits).collect();
        let Some(top) = levels.first() else {
            return Err(Error::Capacity {
                what: "texels",
                asked: image.width.max(image.height).into(),
                cap: most.into(),
            });
        };
        let bytes: usize = levels.iter().map(|level| level.bytes.len()).sum();
        let (_, stored) = image.stored();
        let name = format!("throng {owner}: image {}", image.name);
        let size = (top.width, top.height);
        let made = Image::new(gpu, &name, on_device, size, levels.len() as u32)?;
        // Levels that are too large come first.
        let bytes = &stored[stored.len() - bytes..];
        upload.image(gpu, made.handle(), bytes, levels.into_iter())?;
        self.images.push(made.keep());
        Ok(self.images.len() - 1)
    }

    fn sampler(&mut self, device: &Device, texture: &TextureRef) -> Result<usize> {
        let key = sampler_key(texture);
        if let Some(found) = self.samplers.iter().position(|(have, _)| *have == key) {
            return Ok(found);
        }
        let info = sampler_info(device, texture);
        // SAFETY: the info is alive during the call; anisotropy is used only if it is enabled.
        let handle = unsafe { device.raw.create_sampler(&info, None) }.call("vkCreateSampler")?;
        let made = Object::new(device, handle, "throng sampler");
        self.samplers.push((key, made.keep()));
        Ok(self.samplers.len() - 1)
    }

    pub(crate) fn figures(&self) -> &[ImageFigures] {
        &self.figures
    }

    pub(crate) fn material_count(&self) -> u32 {
        self.materials.len() as u32
    }

    /// Returns true if one set has all textures. Otherwise there is a set for each material.
    pub(crate) fn are_shared(&self) -> bool {
        self.shared
    }

    /// The indices of a material's textures in its set.
    pub(crate) fn slots(&self, material: u32) -> [u32; Material::TEXTURES] {
        if self.shared {
            self.indices(material)
        } else {
            core::array::from_fn(|slot| slot as u32)
        }
    }

    /// The indices of a material's textures in [`Self::all`]. For a material that does not exist,
    /// they are those of material 0.
    fn indices(&self, material: u32) -> [u32; Material::TEXTURES] {
        let of_material = self.materials.get(material as usize);
        let of_material = of_material.or(self.materials.first());
        of_material.copied().unwrap_or_default()
    }

    pub(crate) fn of_material(
        &self,
        material: u32,
    ) -> [vk::DescriptorImageInfo; Material::TEXTURES] {
        self.indices(material)
            .map(|index| self.all.get(index as usize).copied().unwrap_or_default())
    }

    pub(crate) fn all(&self) -> &[vk::DescriptorImageInfo] {
        &self.all
    }
}

impl Destroy for Textures {
    type With<'a> = Gpu<'a>;

    unsafe fn destroy(&mut self, gpu: Gpu<'_>) {
        // SAFETY: this function has the same contract.
        unsafe {
            self.samplers.destroy(gpu.device);
            self.images.destroy(gpu);
        }
        self.all.clear();
    }
}

fn white_texel() -> crate::mesh::Image {
    crate::mesh::Image::new("white", 1, 1, vec![255; 4])
}

fn sampler_key(texture: &TextureRef) -> SamplerKey {
    (
        [texture.wrap_u, texture.wrap_v],
        [texture.magnify, texture.minify],
        texture.mip,
    )
}

fn sampler_info(device: &Device, texture: &TextureRef) -> vk::SamplerCreateInfo<'static> {
    let filter = |filter: Filter| match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    };
    let wrap = |wrap: Wrap| match wrap {
        Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
        Wrap::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Wrap::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    // Not on software drivers. llvmpipe visits each texel of a footprint that nothing bounds: at a
    // horizon, and on triangles seen from their edge, that may take hours for a pixel. In Mesa 25,
    // it samples black where texture coordinates have no gradient, as on models that take the
    // colour of a whole triangle from one texel.
    let anisotropic = device.enabled.contains(Features::SAMPLER_ANISOTROPY)
        && !device.is_software
        && texture.minify == Filter::Linear;
    vk::SamplerCreateInfo::default()
        .mag_filter(filter(texture.magnify))
        .min_filter(filter(texture.minify))
        .mipmap_mode(match texture.mip {
            Some(Filter::Linear) => vk::SamplerMipmapMode::LINEAR,
            _ => vk::SamplerMipmapMode::NEAREST,
        })
        .address_mode_u(wrap(texture.wrap_u))
        .address_mode_v(wrap(texture.wrap_v))
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .anisotropy_enable(anisotropic)
        .max_anisotropy(if anisotropic {
            device.limits.max_anisotropy.min(8.0)
        } else {
            1.0
        })
        .max_lod(if texture.mip.is_some() {
            vk::LOD_CLAMP_NONE
        } else {
            0.25
        })
}
