//! The draw stage: graphics pipelines for the engine's attachments.

use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::pipeline::{first_pipeline, shader_module, spirv};
use crate::gpu::{Device, Object};
use ash::vk;

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PassKind {
    /// Shaded colour, and depth where the pass has a depth attachment.
    #[default]
    Color,
    /// Depth alone, as for a shadow map. Drivers may round positions otherwise than in a colour pass,
    /// so it is no prepass for one that compares depth for equality.
    Depth,
}

/// The attachments that a pass draws into, as the engine's `vkCmdBeginRendering` names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassDesc<'a> {
    /// What it is for.
    pub kind: PassKind,
    /// Formats of the colour attachments. Colour goes to the first; the others are left as they are (which takes
    /// [`Enabled::independent_blend`](crate::gpu::Enabled::independent_blend)).
    pub color_formats: &'a [vk::Format],
    /// Format of the depth attachment; `UNDEFINED` for none.
    pub depth_format: vk::Format,
    /// Format of the stencil attachment, which is not written; `UNDEFINED` for none.
    pub stencil_format: vk::Format,
    /// Samples of every attachment.
    pub samples: vk::SampleCountFlags,
    /// Whether depth 1 is near: compares with `GREATER_OR_EQUAL` instead of `LESS_OR_EQUAL`. Clear depth to 0 then.
    pub reversed_z: bool,
}

impl Default for PassDesc<'_> {
    fn default() -> Self {
        Self {
            kind: PassKind::Color,
            color_formats: &[],
            depth_format: vk::Format::UNDEFINED,
            stencil_format: vk::Format::UNDEFINED,
            samples: vk::SampleCountFlags::TYPE_1,
            reversed_z: false,
        }
    }
}

/// Push constants of the draw stage: the index of the primitive.
pub(crate) const PUSH_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

/// A pass's pipeline.
#[derive(Debug)]
pub(crate) struct DrawPass {
    pub(crate) pipeline: Object<vk::Pipeline>,
    pub(crate) reversed_z: bool,
}

impl DrawPass {
    pub(crate) fn new(
        device: &Device,
        layout: vk::PipelineLayout,
        desc: &PassDesc<'_>,
    ) -> Result<Self> {
        check(desc)?;
        if desc.kind == PassKind::Color
            && desc.color_formats.len() > 1
            && !device.enabled.independent_blend
        {
            return Err(Error::Unsupported {
                what: "independentBlend",
                device: device.name().into(),
            });
        }
        let mut vertex = match desc.kind {
            PassKind::Color => shader_module(device, spirv::CROWD_VERT, "throng crowd.vert")?,
            PassKind::Depth => shader_module(device, spirv::DEPTH_VERT, "throng depth.vert")?,
        };
        let fragment = match desc.kind {
            PassKind::Color => {
                shader_module(device, spirv::CROWD_FRAG, "throng crowd.frag").map(Some)
            }
            PassKind::Depth => Ok(None),
        };
        let made = fragment.and_then(|mut fragment| {
            let module = fragment.as_ref().map(|module| module.handle);
            let made = graphics_pipeline(device, layout, desc, vertex.handle, module);
            if let Some(module) = &mut fragment {
                // SAFETY: a module is not needed past the pipeline's creation.
                unsafe { module.destroy(device) };
            }
            made
        });
        // SAFETY: as above.
        unsafe { vertex.destroy(device) };
        Ok(Self {
            pipeline: Object::new(device, made?, "throng crowd"),
            reversed_z: desc.reversed_z,
        })
    }
}

fn check(desc: &PassDesc<'_>) -> Result<()> {
    let invalid = |what, why| {
        Err(Error::Argument {
            what,
            why: ArgumentFault::Invalid(why),
        })
    };
    match desc.kind {
        PassKind::Color if desc.color_formats.is_empty() => invalid(
            "PassDesc::color_formats",
            "a colour pass needs at least one",
        ),
        PassKind::Depth if desc.depth_format == vk::Format::UNDEFINED => {
            invalid("PassDesc::depth_format", "a depth pass needs one")
        }
        _ if desc.samples.as_raw().count_ones() != 1 => {
            invalid("PassDesc::samples", "must be exactly one sample count")
        }
        _ => Ok(()),
    }
}

fn graphics_pipeline(
    device: &Device,
    layout: vk::PipelineLayout,
    desc: &PassDesc<'_>,
    vertex: vk::ShaderModule,
    fragment: Option<vk::ShaderModule>,
) -> Result<vk::Pipeline> {
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(module)
            .name(c"main")
    };
    let stages: Vec<_> = core::iter::once(stage(vk::ShaderStageFlags::VERTEX, vertex))
        .chain(fragment.map(|module| stage(vk::ShaderStageFlags::FRAGMENT, module)))
        .collect();
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(vk::PolygonMode::FILL)
        .line_width(1.0);
    let multisample =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(desc.samples);
    let has_depth = desc.depth_format != vk::Format::UNDEFINED;
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(has_depth)
        .depth_write_enable(has_depth)
        .depth_compare_op(if desc.reversed_z {
            vk::CompareOp::GREATER_OR_EQUAL
        } else {
            vk::CompareOp::LESS_OR_EQUAL
        });
    let blends: Vec<_> = (0..desc.color_formats.len())
        .map(|attachment| {
            let first = desc.kind == PassKind::Color && attachment == 0;
            let mask = if first {
                vk::ColorComponentFlags::RGBA
            } else {
                vk::ColorComponentFlags::empty()
            };
            vk::PipelineColorBlendAttachmentState::default().color_write_mask(mask)
        })
        .collect();
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let states = [
        vk::DynamicState::VIEWPORT,
        vk::DynamicState::SCISSOR,
        vk::DynamicState::CULL_MODE,
        vk::DynamicState::FRONT_FACE,
    ];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(desc.color_formats)
        .depth_attachment_format(desc.depth_format)
        .stencil_attachment_format(desc.stencil_format);
    let info = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering)];
    // SAFETY: modules and layout are alive; the formats are the caller's, checked by the driver.
    let made = unsafe {
        device
            .raw
            .create_graphics_pipelines(vk::PipelineCache::null(), &info, None)
    };
    first_pipeline(device, made, "vkCreateGraphicsPipelines")
}
