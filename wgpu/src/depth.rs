//! Depth that the program draws before the crowd, which hides instances.

use crate::check::{expect_alive, scoped, with_own};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::order::FrameToken;
use crate::pass::raw_format;
use crate::sampled::sampled;
use throng::ash::vk;
use wgpu::hal::vulkan::Api as Vulkan;

/// Depth that the program has drawn for an eye of a view: that of its walls, before the crowd, or
/// with what a [late](throng::View::late) view showed before the reveal.
///
/// It is [`throng::Depth`] for wgpu, with the same demands.
#[derive(Debug, Clone, Copy)]
pub struct Depth<'a> {
    /// The index of the view.
    pub view: u32,
    /// The eye of the view, 0 for the first.
    pub eye: u32,
    /// A texture with depth and the usage `TEXTURE_BINDING`, as large as the attachments of the
    /// view, or larger.
    pub texture: &'a wgpu::Texture,
    /// The layer of the texture.
    pub layer: u32,
    /// True if depth decreases with distance.
    pub reversed_z: bool,
}

impl<'a> Depth<'a> {
    /// Depth of the first eye of the first view, that increases with distance, in the first layer.
    #[must_use]
    pub fn new(texture: &'a wgpu::Texture) -> Self {
        Self {
            view: 0,
            eye: 0,
            texture,
            layer: 0,
            reversed_z: false,
        }
    }

    fn check(&self) -> Result<()> {
        let (what, texture) = (WHAT, self.texture);
        let (format, fault) = (texture.format(), |why| Err(Error::Attachment { what, why }));
        if !format.has_depth_aspect() {
            let why = "has no depth";
            return Err(Error::Format { what, format, why });
        }
        if texture.dimension() != wgpu::TextureDimension::D2 || texture.mip_level_count() != 1 {
            return fault("is not a 2D texture with one mip level");
        }
        if self.layer >= texture.depth_or_array_layers() {
            return fault("has no such layer");
        }
        if !texture
            .usage()
            .contains(wgpu::TextureUsages::TEXTURE_BINDING)
        {
            return fault("lacks the usage TEXTURE_BINDING");
        }
        expect_alive(what, texture)
    }

    /// A view of the depth alone, for shaders.
    fn sampled_view(&self) -> wgpu::TextureView {
        self.texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some("throng depth"),
            dimension: Some(wgpu::TextureViewDimension::D2),
            aspect: wgpu::TextureAspect::DepthOnly,
            base_array_layer: self.layer,
            array_layer_count: Some(1),
            ..Default::default()
        })
    }
}

const WHAT: &str = "depth of a view";

/// Depth pictures that shaders read, with the commands of wgpu that make them readable.
pub(crate) struct Readable {
    pub(crate) views: Vec<wgpu::TextureView>,
    pub(crate) depths: Vec<throng::Depth>,
    /// `None` if there are neither pictures nor a token.
    pub(crate) before: Option<wgpu::CommandBuffer>,
}

/// Checks depth pictures, and has wgpu make them readable until the end of a token.
pub(crate) fn readable(
    gpu: &Gpu,
    depths: &[Depth<'_>],
    token: Option<&FrameToken>,
) -> Result<Readable> {
    for depth in depths {
        depth.check()?;
    }
    let textures = || depths.iter().map(|depth| depth.texture);
    let make = || {
        scoped(gpu.device(), WHAT, || {
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            if let Some(token) = token {
                token.use_in(&mut encoder);
            }
            let all = textures().map(sampled);
            encoder.transition_resources(core::iter::empty(), all);
            let views = depths.iter().map(Depth::sampled_view).collect();
            (views, encoder.finish())
        })
    };
    if depths.is_empty() && token.is_none() {
        return Ok(Readable {
            views: Vec::new(),
            depths: Vec::new(),
            before: None,
        });
    }
    let (views, before): (Vec<wgpu::TextureView>, _) = with_own(gpu, (WHAT, textures()), make)?;
    let raw = depths.iter().zip(&views).map(|(depth, view)| {
        // SAFETY: the view is not destroyed through the guard.
        let hal = unsafe { view.as_hal::<Vulkan>() };
        let hal = hal.ok_or(Error::Destroyed(WHAT))?;
        let size = depth.texture.size();
        Ok(throng::Depth {
            view: depth.view,
            eye: depth.eye,
            // SAFETY: the handle is not destroyed.
            image: unsafe { hal.raw_handle() },
            // Of sampled depth textures in wgpu.
            layout: vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            extent: vk::Extent2D {
                width: size.width,
                height: size.height,
            },
            samples: vk::SampleCountFlags::from_raw(depth.texture.sample_count()),
            format: raw_format(gpu, depth.texture.format())?,
            reversed_z: depth.reversed_z,
            texel_px: 1,
            // Vertex shaders are throng's own.
            margin_m: 0.0,
        })
    });
    Ok(Readable {
        depths: raw.collect::<Result<_>>()?,
        views,
        before: Some(before),
    })
}
