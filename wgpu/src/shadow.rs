//! The shadow map: a texture of the program that passes draw into and sample.

use crate::check::{expect_alive, scoped, with_own};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use throng::Shadow;

/// The shadow map that passes sample.
#[derive(Debug)]
pub(crate) struct ShadowTexture {
    pub(crate) texture: wgpu::Texture,
    pub(crate) view: wgpu::TextureView,
}

/// A view of a shadow map, for shaders that sample it.
pub(crate) fn sampled_view(gpu: &Gpu, texture: &wgpu::Texture) -> Result<wgpu::TextureView> {
    let what = "the shadow map";
    check_shadow_map(texture)?;
    expect_alive(what, texture)?;
    let device = gpu.device();
    // The encoder is dropped: this only finds whether the texture may be sampled.
    let make = || {
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.transition_resources(core::iter::empty(), [sampled(texture)].into_iter());
        drop(encoder.finish());
        texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some("throng shadow map"),
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            aspect: wgpu::TextureAspect::DepthOnly,
            ..Default::default()
        })
    };
    with_own(gpu, (what, [texture]), || scoped(device, what, make))
}

/// The state in which shaders sample a depth texture.
pub(crate) fn sampled(texture: &wgpu::Texture) -> wgpu::TextureTransition<&wgpu::Texture> {
    wgpu::TextureTransition {
        texture,
        selector: None,
        state: wgpu::TextureUses::RESOURCE,
    }
}

fn check_shadow_map(texture: &wgpu::Texture) -> Result<()> {
    let (what, format) = ("the shadow map", texture.format());
    let fault = |why| Err(Error::Attachment { what, why });
    if !format.has_depth_aspect() {
        let why = "has no depth";
        return Err(Error::Format { what, format, why });
    }
    if texture.dimension() != wgpu::TextureDimension::D2 || texture.width() != texture.height() {
        return fault("is not a square 2D texture");
    }
    if texture.sample_count() != 1 || texture.mip_level_count() != 1 {
        return fault("has more than one sample or mip level");
    }
    if texture.depth_or_array_layers() as usize > Shadow::MAX_LAYERS {
        return fault("has more layers than Shadow::MAX_LAYERS");
    }
    if !texture
        .usage()
        .contains(wgpu::TextureUsages::TEXTURE_BINDING)
    {
        return fault("lacks the usage TEXTURE_BINDING");
    }
    Ok(())
}
