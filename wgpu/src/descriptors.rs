//! Resources of wgpu as descriptors of Vulkan.

use crate::error::{Error, Result};
use crate::gpu::Shared;
use throng::ash::vk;
use wgpu::hal::vulkan::Api as Vulkan;
use wgpu::{BindGroupLayoutEntry, BindingType, BufferBindingType};

const BUFFER: &str = "a buffer of a bind group";
pub(crate) const TEXTURE: &str = "a texture of a bind group";

pub(crate) fn expect_buffer_alive(buffer: &wgpu::Buffer) -> Result<()> {
    // SAFETY: the buffer is not destroyed through the guard.
    let alive = unsafe { buffer.as_hal::<Vulkan>() };
    alive.map(drop).ok_or(Error::Destroyed(BUFFER))
}

pub(crate) fn buffer_info(binding: &wgpu::BufferBinding<'_>) -> Result<vk::DescriptorBufferInfo> {
    // SAFETY: the buffer is not destroyed through the guard.
    let raw = unsafe { binding.buffer.as_hal::<Vulkan>() };
    let raw = raw.ok_or(Error::Destroyed(BUFFER))?;
    let rest = binding.buffer.size().saturating_sub(binding.offset);
    // SAFETY: the handle is not destroyed.
    #[cfg(feature = "wgpu-30")]
    let buffer = unsafe { raw.raw_handle() };
    #[cfg(feature = "wgpu-29")]
    let buffer = handle_in(&format!("{:?}", *raw)).ok_or(Error::NoHandle(BUFFER))?;
    Ok(vk::DescriptorBufferInfo {
        buffer,
        offset: binding.offset,
        range: binding.size.map_or(rest, wgpu::BufferSize::get),
    })
}

/// The handle in the debug text of a buffer: wgpu 29 gives it nowhere else.
#[cfg(feature = "wgpu-29")]
fn handle_in(text: &str) -> Option<vk::Buffer> {
    use vk::Handle;
    let (_, hex) = text.split_once("raw: 0x")?;
    let end = hex.find(|c: char| !c.is_ascii_hexdigit())?;
    Some(vk::Buffer::from_raw(
        u64::from_str_radix(hex.get(..end)?, 16).ok()?,
    ))
}

pub(crate) fn image_info(
    view: &wgpu::TextureView,
    entry: &BindGroupLayoutEntry,
) -> Result<vk::DescriptorImageInfo> {
    // SAFETY: the view is not destroyed through the guard.
    let raw = unsafe { view.as_hal::<Vulkan>() };
    let raw = raw.ok_or(Error::Destroyed(TEXTURE))?;
    // As wgpu's own sets, whose layouts it makes before a draw.
    let layout = match entry.ty {
        BindingType::StorageTexture { .. } => vk::ImageLayout::GENERAL,
        _ if view.texture().format().is_depth_stencil_format() => {
            vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL
        }
        _ => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    };
    Ok(vk::DescriptorImageInfo {
        // SAFETY: the handle is not destroyed.
        image_view: unsafe { raw.raw_handle() },
        image_layout: layout,
        ..vk::DescriptorImageInfo::default()
    })
}

pub(crate) fn descriptor_type(entry: &BindGroupLayoutEntry) -> Result<vk::DescriptorType> {
    use vk::DescriptorType as Type;
    let fault = |why| {
        let binding = entry.binding;
        Err(Error::Binding { binding, why })
    };
    if entry.count.is_some() {
        return fault("is an array, which draws of crowds do not support");
    }
    match entry.ty {
        BindingType::Buffer {
            ty,
            has_dynamic_offset,
            ..
        } => Ok(match (ty, has_dynamic_offset) {
            (BufferBindingType::Uniform, false) => Type::UNIFORM_BUFFER,
            (BufferBindingType::Uniform, true) => Type::UNIFORM_BUFFER_DYNAMIC,
            (BufferBindingType::Storage { .. }, false) => Type::STORAGE_BUFFER,
            (BufferBindingType::Storage { .. }, true) => Type::STORAGE_BUFFER_DYNAMIC,
        }),
        BindingType::Sampler(_) => Ok(Type::SAMPLER),
        BindingType::Texture { .. } => Ok(Type::SAMPLED_IMAGE),
        BindingType::StorageTexture { .. } => Ok(Type::STORAGE_IMAGE),
        _ => fault("is neither a buffer nor a texture nor a sampler"),
    }
}

/// As wgpu translates it.
pub(crate) fn sampler_info(
    desc: &wgpu::SamplerDescriptor<'_>,
    shared: &Shared,
) -> vk::SamplerCreateInfo<'static> {
    use wgpu::{AddressMode, FilterMode, SamplerBorderColor as Border};
    let filter = |mode| match mode {
        FilterMode::Nearest => vk::Filter::NEAREST,
        FilterMode::Linear => vk::Filter::LINEAR,
    };
    let address = |mode| match mode {
        AddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        AddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        AddressMode::MirrorRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        AddressMode::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    };
    let compare = desc.compare.map(compare_op);
    let border = match desc.border_color {
        Some(Border::OpaqueBlack) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        Some(Border::OpaqueWhite) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        _ => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
    };
    let anisotropic = desc.anisotropy_clamp > 1
        && shared
            .throng
            .enabled()
            .contains(throng::gpu::Features::SAMPLER_ANISOTROPY);
    vk::SamplerCreateInfo::default()
        .mag_filter(filter(desc.mag_filter))
        .min_filter(filter(desc.min_filter))
        .mipmap_mode(match desc.mipmap_filter {
            wgpu::MipmapFilterMode::Nearest => vk::SamplerMipmapMode::NEAREST,
            wgpu::MipmapFilterMode::Linear => vk::SamplerMipmapMode::LINEAR,
        })
        .address_mode_u(address(desc.address_mode_u))
        .address_mode_v(address(desc.address_mode_v))
        .address_mode_w(address(desc.address_mode_w))
        .min_lod(desc.lod_min_clamp)
        .max_lod(desc.lod_max_clamp)
        .compare_enable(compare.is_some())
        .compare_op(compare.unwrap_or_default())
        .anisotropy_enable(anisotropic)
        .max_anisotropy(desc.anisotropy_clamp.clamp(1, 16).into())
        .border_color(border)
}

/// A comparison, as Vulkan has it.
pub(crate) fn compare_op(compare: wgpu::CompareFunction) -> vk::CompareOp {
    use wgpu::CompareFunction as Compare;
    match compare {
        Compare::Never => vk::CompareOp::NEVER,
        Compare::Less => vk::CompareOp::LESS,
        Compare::Equal => vk::CompareOp::EQUAL,
        Compare::LessEqual => vk::CompareOp::LESS_OR_EQUAL,
        Compare::Greater => vk::CompareOp::GREATER,
        Compare::NotEqual => vk::CompareOp::NOT_EQUAL,
        Compare::GreaterEqual => vk::CompareOp::GREATER_OR_EQUAL,
        Compare::Always => vk::CompareOp::ALWAYS,
    }
}
