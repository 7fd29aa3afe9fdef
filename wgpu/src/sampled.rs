//! Textures of the program that the built-in shading samples: the shadow map, which passes also
//! draw into, and the environment map.

use crate::check::{expect_alive, scoped, with_own};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use throng::Shadow;
use throng::ash::vk;
use wgpu::hal::vulkan::Api as Vulkan;

/// Their names in errors.
pub(crate) const SHADOW: &str = "the shadow map";
pub(crate) const ENVIRONMENT: &str = "the environment map";

/// A texture that passes sample.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) what: &'static str,
    pub(crate) texture: wgpu::Texture,
    pub(crate) view: wgpu::TextureView,
}

impl Sampled {
    /// A shadow map.
    pub(crate) fn shadow(gpu: &Gpu, texture: &wgpu::Texture) -> Result<Self> {
        check_shadow_map(texture)?;
        let desc = wgpu::TextureViewDescriptor {
            label: Some("throng shadow map"),
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            aspect: wgpu::TextureAspect::DepthOnly,
            ..Default::default()
        };
        Self::new(gpu, SHADOW, (texture, &desc))
    }

    /// An environment map.
    pub(crate) fn environment(gpu: &Gpu, texture: &wgpu::Texture) -> Result<Self> {
        check_environment_map(gpu, texture)?;
        let desc = wgpu::TextureViewDescriptor {
            label: Some("throng environment map"),
            dimension: Some(wgpu::TextureViewDimension::Cube),
            ..Default::default()
        };
        Self::new(gpu, ENVIRONMENT, (texture, &desc))
    }

    fn new(
        gpu: &Gpu,
        what: &'static str,
        (texture, desc): (&wgpu::Texture, &wgpu::TextureViewDescriptor<'_>),
    ) -> Result<Self> {
        expect_alive(what, texture)?;
        let device = gpu.device();
        // The encoder is dropped: this only finds whether the texture may be sampled.
        let make = || {
            let mut encoder = device.create_command_encoder(&Default::default());
            encoder.transition_resources(core::iter::empty(), [sampled(texture)].into_iter());
            drop(encoder.finish());
            texture.create_view(desc)
        };
        let view = with_own(gpu, (what, [texture]), || scoped(device, what, make))?;
        let texture = texture.clone();
        Ok(Self {
            what,
            texture,
            view,
        })
    }

    /// The handle of Vulkan.
    pub(crate) fn raw(&self) -> Result<vk::ImageView> {
        // SAFETY: the view is not destroyed through the guard.
        let raw = unsafe { self.view.as_hal::<Vulkan>() };
        let raw = raw.ok_or(Error::Destroyed(self.what))?;
        // SAFETY: the handle is not destroyed.
        Ok(unsafe { raw.raw_handle() })
    }
}

/// The state in which shaders sample a texture.
pub(crate) fn sampled(texture: &wgpu::Texture) -> wgpu::TextureTransition<&wgpu::Texture> {
    wgpu::TextureTransition {
        texture,
        selector: None,
        state: wgpu::TextureUses::RESOURCE,
    }
}

fn check_shadow_map(texture: &wgpu::Texture) -> Result<()> {
    let format = texture.format();
    let fault = |why| Err(Error::Attachment { what: SHADOW, why });
    if !format.has_depth_aspect() {
        let (what, why) = (SHADOW, "has no depth");
        return Err(Error::Format { what, format, why });
    }
    check_square(SHADOW, texture)?;
    if texture.mip_level_count() != 1 {
        return fault("has more than one mip level");
    }
    if texture.depth_or_array_layers() as usize > Shadow::MAX_LAYERS {
        return fault("has more layers than Shadow::MAX_LAYERS");
    }
    Ok(())
}

fn check_environment_map(gpu: &Gpu, texture: &wgpu::Texture) -> Result<()> {
    let (what, format) = (ENVIRONMENT, texture.format());
    let sample_type = format.sample_type(None, Some(gpu.device().features()));
    if sample_type != Some(wgpu::TextureSampleType::Float { filterable: true }) {
        let why = "is not a format of colours that can be filtered";
        return Err(Error::Format { what, format, why });
    }
    check_square(what, texture)?;
    if texture.depth_or_array_layers() != 6 {
        let why = "has not the six layers of a cube";
        return Err(Error::Attachment { what, why });
    }
    Ok(())
}

fn check_square(what: &'static str, texture: &wgpu::Texture) -> Result<()> {
    let fault = |why| Err(Error::Attachment { what, why });
    if texture.dimension() != wgpu::TextureDimension::D2 || texture.width() != texture.height() {
        return fault("is not a square 2D texture");
    }
    if texture.sample_count() != 1 {
        return fault("has more than one sample");
    }
    if !texture
        .usage()
        .contains(wgpu::TextureUsages::TEXTURE_BINDING)
    {
        return fault("lacks the usage TEXTURE_BINDING");
    }
    Ok(())
}
