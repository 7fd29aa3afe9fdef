//! The shadow map: a texture of the program that passes draw into and sample.

use crate::check::{scoped, with_own};
use crate::crowd::Crowd;
use crate::error::{Error, Result};
#[cfg(doc)]
use crate::{PassDesc, shadow};
use throng::ash::vk;
use throng::{Shadow, ShadowMap};
use wgpu::hal::vulkan::Api as Vulkan;

/// The shadow map that passes sample.
#[derive(Debug)]
pub(crate) struct ShadowTexture {
    pub(crate) texture: wgpu::Texture,
    pub(crate) view: wgpu::TextureView,
}

/// Fails if a texture was destroyed. wgpu itself finds that when commands are submitted.
pub(crate) fn expect_alive(what: &'static str, texture: &wgpu::Texture) -> Result<()> {
    // SAFETY: the texture is not destroyed through the guard.
    let alive = unsafe { texture.as_hal::<Vulkan>() };
    alive.map(drop).ok_or(Error::Destroyed(what))
}

impl Crowd {
    /// Sets the shadow map that passes with [`PassDesc::shadow_map`] sample.
    ///
    /// It is a square depth texture with the usages `RENDER_ATTACHMENT` and `TEXTURE_BINDING`, one
    /// mip level, one sample, and a layer for each of a view's [shadow layers](shadow). Draw into
    /// views of its layers with a pass of kind [`Shadow`](throng::PassKind::Shadow). It may also be
    /// drawn into and sampled by the program's own pipelines.
    ///
    /// # Errors
    /// - [`Error::Format`] and [`Error::Attachment`] if it is another kind of texture.
    /// - [`Error::OtherDevice`] if it is of another device, as in
    ///   [`Frame::draw`](crate::Frame::draw).
    /// - [`Error::Destroyed`] if it was destroyed.
    pub fn set_shadow_map(&mut self, texture: &wgpu::Texture, reversed_z: bool) -> Result<()> {
        check_shadow_map(texture)?;
        expect_alive("the shadow map", texture)?;
        let device = self.gpu.device();
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
        let what = "the shadow map";
        let view = with_own(&self.gpu, (what, [texture]), || scoped(device, what, make))?;
        // SAFETY: the view is not destroyed through the guard.
        let raw = unsafe { view.as_hal::<Vulkan>() };
        let raw = raw.ok_or(Error::Destroyed("the shadow map"))?;
        let map = ShadowMap {
            // SAFETY: the handle is not destroyed.
            view: unsafe { raw.raw_handle() },
            // Of sampled depth textures in wgpu.
            layout: vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            edge: texture.width(),
            reversed_z,
        };
        // SAFETY: the view is of this device and samples an array of depth. The crowd and its draws
        // in flight keep it. Before each draw, wgpu changes the layout to this one.
        unsafe { self.inner.set_shadow_map(&map)? };
        drop(raw);
        self.shadow = Some(ShadowTexture {
            texture: texture.clone(),
            view,
        });
        Ok(())
    }
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
