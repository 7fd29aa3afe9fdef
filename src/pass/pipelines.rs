//! The graphics pipelines of the draw stage: their shaders and state.

use super::desc::{EnvironmentLight, MaterialDesc, PassKind};
use crate::error::Result;
use crate::gpu::layout::{GpuMaterial, GpuPrimitive};
use crate::gpu::pipeline::{all_pipelines, shader_module, spirv};
use crate::gpu::{Blending, Device, Features, Guard, Object, PrimitiveDraw, destroy_fields};
use ash::vk;

/// The key of a pipeline in a pass: everything that its shaders have as a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Variant {
    /// The constant `THRONG_VARIANT`.
    pub(crate) vertex: u32,
    /// The properties of the surface: [`MaterialDesc::SURFACE_CONSTANT`].
    pub(crate) surface: u32,
    pub(crate) blending: Blending,
}

/// The data that draws of a character read beside its mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Reads {
    /// Instances may have deformed vertices.
    pub(crate) skinned: bool,
    /// The start of the list, because the draw does not have it.
    pub(crate) starts: bool,
}

/// The part of a [`PassDesc`] that the pass keeps.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) kind: PassKind,
    pub(crate) render_pass: Option<vk::RenderPass>,
    pub(crate) subpass: u32,
    pub(crate) color_formats: Vec<vk::Format>,
    pub(crate) depth_format: vk::Format,
    pub(crate) stencil_format: vk::Format,
    pub(crate) samples: vk::SampleCountFlags,
    pub(crate) view_mask: u32,
    pub(crate) reversed_z: bool,
    pub(crate) after_prepass: Option<vk::CompareOp>,
    /// The constant part and the slope factor.
    pub(crate) depth_bias: [f32; 2],
    pub(crate) depth_clamp: bool,
    pub(crate) motion_scale: [f32; 2],
    pub(crate) environment: EnvironmentLight,
}

impl Variant {
    /// The variant of a draw, with everything that its shaders could read.
    pub(crate) fn of(draw: &PrimitiveDraw, reads: Reads) -> Self {
        let kept = if reads.skinned {
            draw.variant
        } else {
            draw.variant & !GpuPrimitive::READS_SKINNED
        };
        let starts = match reads.starts {
            true => GpuPrimitive::LIST_STARTS,
            false => 0,
        };
        Self {
            vertex: kept | starts,
            surface: draw.surface,
            blending: Blending::of(draw.alpha),
        }
    }

    /// The variant with only what the shaders of a pass read, so that pipelines are few.
    ///
    /// Without a fragment shader of its own, a pass reads what the material uses.
    pub(crate) fn in_pass(self, kind: PassKind, own_shader: bool) -> Self {
        type Of = GpuPrimitive;
        type Surface = GpuMaterial;
        // A branch of the shader decides whether a surface is lit.
        let surface = self.surface & !Surface::UNLIT;
        let masked = self.blending == Blending::Mask;
        let (vertex, surface) = match kind {
            PassKind::Color if own_shader => (self.vertex, surface),
            PassKind::Color => {
                let textures = surface & Surface::TEXTURES;
                let tangents = surface & Surface::NORMAL_MAP != 0;
                let normals = Of::HAS_NORMALS
                    | Of::EXTREME_SCALES
                    | if tangents { Of::HAS_TANGENTS } else { 0 };
                let unused = [
                    (textures == 0, Surface::TURNS_UVS | Surface::SECOND_UVS),
                    (!tangents, Surface::SURFACE_TANGENTS),
                ];
                let unused = unused.into_iter().filter(|(is, _)| *is);
                let surface = unused.fold(surface, |left, (_, flags)| left & !flags);
                let tints = Of::TINT_WEIGHTS | Of::TINT_BY_MASK;
                let needed =
                    Of::FOR_POSITIONS | normals | tints | for_base_color(textures, surface);
                (self.vertex & needed, surface)
            }
            PassKind::Depth | PassKind::Shadow | PassKind::Motion if masked => {
                let texture = surface & Surface::BASE_COLOR;
                let coordinates = Surface::TURNS_UVS | Surface::SECOND_UVS;
                let coordinates = if texture == 0 { 0 } else { coordinates };
                let kept = Surface::ALPHA_MASK | Surface::BASE_COLOR | Surface::MANY | coordinates;
                let needed = Of::FOR_POSITIONS | for_base_color(texture, surface);
                (self.vertex & needed, surface & kept)
            }
            PassKind::Depth | PassKind::Shadow | PassKind::Motion => {
                (self.vertex & Of::FOR_POSITIONS, 0)
            }
        };
        // A tint without colours of vertices needs nothing of a variant.
        let untinted = vertex & Of::HAS_COLORS == 0;
        let vertex = vertex
            & if untinted {
                !Of::TINT_BY_ALPHA
            } else {
                u32::MAX
            };
        Self {
            vertex,
            surface,
            ..self
        }
    }
}

/// The vertex data that colours and textures need.
fn for_base_color(textures: u32, surface: u32) -> u32 {
    type Of = GpuPrimitive;
    let colors = Of::HAS_COLORS | Of::TINT_BY_ALPHA;
    match (textures, surface & GpuMaterial::SECOND_UVS) {
        (0, _) => colors,
        (_, 0) => colors | Of::HAS_UVS,
        _ => colors | Of::HAS_UVS | Of::HAS_UVS1,
    }
}

/// The fragment shading of a pass.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fragment<'a> {
    /// No fragment shader.
    None,
    /// The crate's own shader.
    BuiltIn {
        shadow_map: bool,
        environment_map: bool,
    },
    /// The engine's shader.
    Own(&'a [u32]),
}

/// The shader modules of a pass.
///
/// Masked materials have modules of their own if the others need no texture.
#[derive(Debug, Default)]
pub(super) struct Modules {
    vertex: Object<vk::ShaderModule>,
    fragment: Object<vk::ShaderModule>,
    masked_vertex: Object<vk::ShaderModule>,
    masked_fragment: Object<vk::ShaderModule>,
}

destroy_fields!(Modules, &'a Device: vertex, fragment, masked_vertex, masked_fragment);

impl Modules {
    /// Creates the modules of a pass.
    ///
    /// # Safety
    /// The words of [`Fragment::Own`] are as for [`shader_module`].
    pub(super) unsafe fn new<'g>(
        device: &'g Device,
        (kind, view_mask): (PassKind, u32),
        fragment: Fragment<'_>,
    ) -> Result<Guard<'g, Self>> {
        let mut modules = Guard::new(device, Self::default());
        let bindless = device.enabled.contains(Features::DESCRIPTOR_INDEXING);
        let either = |plain, many| if bindless { many } else { plain };
        let seen = |one, several| if view_mask == 0 { one } else { several };
        // SAFETY: the words are the crate's own, compiled for Vulkan 1.3 and for the features that
        // `either` and `seen` select by, or those that this function's contract is about.
        let make = |words, name| unsafe { shader_module(device, words, name) }.map(Guard::keep);
        match kind {
            PassKind::Color => {
                let words = seen(spirv::CROWD_VERT, spirv::CROWD_MULTIVIEW_VERT);
                modules.vertex = make(words, "throng crowd.vert")?;
                let words = match fragment {
                    Fragment::Own(words) => words,
                    Fragment::BuiltIn {
                        shadow_map,
                        environment_map,
                    } => match (shadow_map, environment_map) {
                        (false, false) => seen(
                            either(spirv::CROWD_FRAG, spirv::CROWD_BINDLESS_FRAG),
                            either(
                                spirv::CROWD_MULTIVIEW_FRAG,
                                spirv::CROWD_BINDLESS_MULTIVIEW_FRAG,
                            ),
                        ),
                        (true, false) => seen(
                            either(
                                spirv::CROWD_SHADOWED_FRAG,
                                spirv::CROWD_SHADOWED_BINDLESS_FRAG,
                            ),
                            either(
                                spirv::CROWD_SHADOWED_MULTIVIEW_FRAG,
                                spirv::CROWD_SHADOWED_BINDLESS_MULTIVIEW_FRAG,
                            ),
                        ),
                        (false, true) => seen(
                            either(
                                spirv::CROWD_ENVIRONMENT_FRAG,
                                spirv::CROWD_ENVIRONMENT_BINDLESS_FRAG,
                            ),
                            either(
                                spirv::CROWD_ENVIRONMENT_MULTIVIEW_FRAG,
                                spirv::CROWD_ENVIRONMENT_BINDLESS_MULTIVIEW_FRAG,
                            ),
                        ),
                        (true, true) => seen(
                            either(
                                spirv::CROWD_SHADOWED_ENVIRONMENT_FRAG,
                                spirv::CROWD_SHADOWED_ENVIRONMENT_BINDLESS_FRAG,
                            ),
                            either(
                                spirv::CROWD_SHADOWED_ENVIRONMENT_MULTIVIEW_FRAG,
                                spirv::CROWD_SHADOWED_ENVIRONMENT_BINDLESS_MULTIVIEW_FRAG,
                            ),
                        ),
                    },
                    Fragment::None => &[],
                };
                modules.fragment = make(words, "throng crowd.frag")?;
            }
            PassKind::Depth | PassKind::Shadow => {
                let words = seen(spirv::DEPTH_VERT, spirv::DEPTH_MULTIVIEW_VERT);
                modules.vertex = make(words, "throng depth.vert")?;
                let words = seen(spirv::CROWD_VERT, spirv::CROWD_MULTIVIEW_VERT);
                modules.masked_vertex = make(words, "throng crowd.vert")?;
                let words = either(spirv::MASK_FRAG, spirv::MASK_BINDLESS_FRAG);
                modules.masked_fragment = make(words, "throng mask.frag")?;
            }
            PassKind::Motion => {
                let words = seen(spirv::MOTION_VERT, spirv::MOTION_MULTIVIEW_VERT);
                modules.vertex = make(words, "throng motion.vert")?;
                modules.fragment = make(spirv::MOTION_FRAG, "throng motion.frag")?;
                let words = seen(spirv::MOTION_MASK_VERT, spirv::MOTION_MASK_MULTIVIEW_VERT);
                modules.masked_vertex = make(words, "throng motion_mask.vert")?;
                let words = either(spirv::MOTION_MASK_FRAG, spirv::MOTION_MASK_BINDLESS_FRAG);
                modules.masked_fragment = make(words, "throng motion_mask.frag")?;
            }
        }
        Ok(modules)
    }

    /// The vertex and the fragment module of a variant.
    fn of(&self, kind: PassKind, variant: Variant) -> [vk::ShaderModule; 2] {
        let masked = variant.blending == Blending::Mask && kind != PassKind::Color;
        let modules = if masked {
            [&self.masked_vertex, &self.masked_fragment]
        } else {
            [&self.vertex, &self.fragment]
        };
        modules.map(|module| module.handle)
    }
}

/// The specialization constant of `shaders/include/draw.glsl`: the variant of the primitive.
const VERTEX_CONSTANTS: [vk::SpecializationMapEntry; 1] = [constant(0, 0)];
/// The specialization constant of `shaders/include/throng_surface.glsl`: what the surface has. Its
/// number leaves the small ones to shaders of engines.
const FRAGMENT_CONSTANTS: [vk::SpecializationMapEntry; 1] =
    [constant(MaterialDesc::SURFACE_CONSTANT, 1)];
/// The same in motion passes, with those of `shaders/include/motion.glsl`: the scale. Shaders of
/// engines, which other passes may have, can use these numbers.
const MOTION_CONSTANTS: [vk::SpecializationMapEntry; 3] = [
    FRAGMENT_CONSTANTS[0],
    constant(MaterialDesc::SURFACE_CONSTANT + 1, 2),
    constant(MaterialDesc::SURFACE_CONSTANT + 2, 3),
];

/// The same in the built-in shading, with that of `shaders/include/pbr.glsl`: whether it reads the
/// environment.
const SHADING_CONSTANTS: [vk::SpecializationMapEntry; 2] = [
    FRAGMENT_CONSTANTS[0],
    constant(MaterialDesc::SURFACE_CONSTANT + 3, 4),
];

/// Constant `id` is this word of the data.
const fn constant(id: u32, word: u32) -> vk::SpecializationMapEntry {
    vk::SpecializationMapEntry {
        constant_id: id,
        offset: word * size_of::<u32>() as u32,
        size: size_of::<u32>(),
    }
}

/// A pipeline to create.
pub(super) struct PipelineRequest<'a> {
    pub(super) modules: &'a Modules,
    pub(super) layout: vk::PipelineLayout,
    pub(super) target: &'a Target,
    pub(super) variant: Variant,
}

/// The state of a pipeline that its creation info points to.
struct State<'a> {
    stages: Vec<vk::PipelineShaderStageCreateInfo<'a>>,
    raster: vk::PipelineRasterizationStateCreateInfo<'a>,
    multisample: vk::PipelineMultisampleStateCreateInfo<'a>,
    depth: vk::PipelineDepthStencilStateCreateInfo<'a>,
    blend: vk::PipelineColorBlendStateCreateInfo<'a>,
    rendering: vk::PipelineRenderingCreateInfo<'a>,
}

/// Creates all pipelines in one call, in the order given. If one fails, none is kept.
pub(super) fn graphics_pipelines(
    device: &Device,
    requests: &[PipelineRequest<'_>],
) -> Result<Vec<Object<vk::Pipeline>>> {
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let constants: Vec<_> = requests
        .iter()
        .map(|request| {
            let [x, y] = request.target.motion_scale.map(f32::to_bits);
            let lit = request.target.environment != EnvironmentLight::Sky;
            let Variant {
                vertex, surface, ..
            } = request.variant;
            [vertex, surface, x, y, lit.into()]
        })
        .collect();
    let constants: Vec<_> = constants
        .iter()
        .zip(requests)
        .map(|(constants, request)| {
            let fragment = match request.target.kind {
                PassKind::Motion => &MOTION_CONSTANTS[..],
                // Not in shaders of engines, which may use that number.
                PassKind::Color if request.target.environment != EnvironmentLight::Sky => {
                    &SHADING_CONSTANTS
                }
                _ => &FRAGMENT_CONSTANTS,
            };
            [&VERTEX_CONSTANTS[..], fragment].map(|entries| {
                vk::SpecializationInfo::default()
                    .map_entries(entries)
                    .data(bytemuck::cast_slice(constants))
            })
        })
        .collect();
    let blends: Vec<_> = requests.iter().map(blend_states).collect();
    let mut states: Vec<_> = requests
        .iter()
        .zip(constants.iter().zip(&blends))
        .map(|(request, (constants, blends))| state(request, constants, blends))
        .collect();
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let dynamic = [
        vk::DynamicState::VIEWPORT,
        vk::DynamicState::SCISSOR,
        vk::DynamicState::CULL_MODE,
        vk::DynamicState::FRONT_FACE,
    ];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let infos: Vec<_> = states
        .iter_mut()
        .zip(requests)
        .map(|(state, request)| {
            let info = vk::GraphicsPipelineCreateInfo::default()
                .flags(device.pipeline_flags)
                .stages(&state.stages)
                .vertex_input_state(&vertex_input)
                .input_assembly_state(&assembly)
                .viewport_state(&viewport)
                .rasterization_state(&state.raster)
                .multisample_state(&state.multisample)
                .depth_stencil_state(&state.depth)
                .color_blend_state(&state.blend)
                .dynamic_state(&dynamic)
                .layout(request.layout);
            match request.target.render_pass {
                Some(render_pass) => info
                    .render_pass(render_pass)
                    .subpass(request.target.subpass),
                None => info.push_next(&mut state.rendering),
            }
        })
        .collect();
    // SAFETY: each request has target, modules and layout of a live `DrawPass`. The caller of
    // `DrawPass::new` guaranteed that the device supports the formats, that a render pass is alive,
    // and that the engine's shader fits the layout. The crate's own shaders fit throng's sets.
    let made = unsafe {
        device
            .raw
            .create_graphics_pipelines(device.pipeline_cache, &infos, None)
    };
    let made = all_pipelines(device, made, "vkCreateGraphicsPipelines")?;
    let named = made.into_iter();
    Ok(named
        .map(|handle| Object::new(device, handle, "throng pass").keep())
        .collect())
}

fn state<'a>(
    request: &'a PipelineRequest<'_>,
    constants: &'a [vk::SpecializationInfo<'_>; 2],
    blends: &'a [vk::PipelineColorBlendAttachmentState],
) -> State<'a> {
    let PipelineRequest {
        target, variant, ..
    } = request;
    let [vertex, fragment] = request.modules.of(target.kind, *variant);
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(module)
            .name(c"main")
    };
    let vertex = stage(vk::ShaderStageFlags::VERTEX, vertex).specialization_info(&constants[0]);
    let fragment = (fragment != vk::ShaderModule::null()).then(|| {
        stage(vk::ShaderStageFlags::FRAGMENT, fragment).specialization_info(&constants[1])
    });
    State {
        stages: core::iter::once(vertex).chain(fragment).collect(),
        raster: rasterization(target),
        multisample: vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(target.samples),
        depth: depth_state(target, *variant),
        blend: vk::PipelineColorBlendStateCreateInfo::default().attachments(blends),
        rendering: vk::PipelineRenderingCreateInfo::default()
            .view_mask(target.view_mask)
            .color_attachment_formats(&target.color_formats)
            .depth_attachment_format(target.depth_format)
            .stencil_attachment_format(target.stencil_format),
    }
}

fn rasterization(target: &Target) -> vk::PipelineRasterizationStateCreateInfo<'static> {
    let [constant, slope] = target.depth_bias;
    vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(vk::PolygonMode::FILL)
        .line_width(1.0)
        .depth_clamp_enable(target.depth_clamp)
        .depth_bias_enable(constant != 0.0 || slope != 0.0)
        .depth_bias_constant_factor(constant)
        .depth_bias_slope_factor(slope)
}

fn depth_state(
    target: &Target,
    variant: Variant,
) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
    let has_depth = target.depth_format != vk::Format::UNDEFINED;
    let blended = variant.blending == Blending::Blend;
    let compare = match (target.after_prepass, target.reversed_z) {
        (Some(compare), _) if !blended => compare,
        (_, true) => vk::CompareOp::GREATER_OR_EQUAL,
        (_, false) => vk::CompareOp::LESS_OR_EQUAL,
    };
    vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(has_depth)
        .depth_write_enable(has_depth && !blended && target.after_prepass.is_none())
        .depth_compare_op(compare)
}

/// Blend states of the attachments.
///
/// Only the first attachment is written. Blended materials are mixed with its content by their
/// alpha.
fn blend_states(request: &PipelineRequest<'_>) -> Vec<vk::PipelineColorBlendAttachmentState> {
    let (target, variant) = (request.target, request.variant);
    let colorful = matches!(target.kind, PassKind::Color | PassKind::Motion);
    let mut states =
        vec![vk::PipelineColorBlendAttachmentState::default(); target.color_formats.len()];
    if let Some(first) = states.first_mut().filter(|_| colorful) {
        *first = vk::PipelineColorBlendAttachmentState {
            blend_enable: (variant.blending == Blending::Blend).into(),
            src_color_blend_factor: vk::BlendFactor::SRC_ALPHA,
            dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
            color_blend_op: vk::BlendOp::ADD,
            src_alpha_blend_factor: vk::BlendFactor::ONE,
            dst_alpha_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
            alpha_blend_op: vk::BlendOp::ADD,
            color_write_mask: vk::ColorComponentFlags::RGBA,
        };
    }
    states
}
