//! The program's own shading in a pass, which wgpu checks.

use crate::bind_group::{BindGroupLayout, Groups};
use crate::check::scoped;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::material::MaterialDesc;
use crate::pass::PassDesc;
use crate::translate::{expect_color, parsed, text, translated};
use throng::PassKind;
use throng::error::ArgumentFault;
use throng::mesh::Material;

/// The shading of a pass.
#[derive(Debug)]
pub(crate) struct Shading {
    /// Has the shader and the groups, but draws nothing.
    checked: wgpu::RenderPipeline,
    layouts: Vec<BindGroupLayout>,
}

impl Shading {
    /// Checks a shader. Returns it with its SPIR-V.
    pub(crate) fn new(
        gpu: &Gpu,
        desc: &PassDesc<'_>,
        material: &MaterialDesc<'_>,
    ) -> Result<(Self, Vec<u32>)> {
        let fault = |what, why| {
            let why = ArgumentFault::Invalid(why);
            Err(throng::Error::Argument { what, why }.into())
        };
        if desc.kind != PassKind::Color {
            let why = "must be None except in a colour pass";
            return fault("PassDesc::material", why);
        }
        if desc.color_formats.first().is_none_or(Option::is_none) {
            let why = "the first must be a format, because it is the one that is written";
            return fault("PassDesc::color_formats", why);
        }
        for layout in material.bind_group_layouts {
            layout.expect_of(gpu)?;
        }
        check_limits(gpu, material)?;
        let bindless = gpu
            .shared
            .throng
            .enabled()
            .contains(throng::gpu::Features::DESCRIPTOR_INDEXING);
        let parsed = parsed(material, desc.multiview_mask.is_some(), bindless);
        // wgpu reports faults of the text itself, with lines.
        if let Ok(parsed) = &parsed {
            expect_color(parsed)?;
        }
        let make = || {
            scoped(gpu.device(), "MaterialDesc", || {
                pipeline(gpu, desc, material)
            })
        };
        let checked = gpu.unless_lost(make)?;
        let layouts = material.bind_group_layouts.iter().copied().cloned();
        let shading = Self {
            checked,
            layouts: layouts.collect(),
        };
        let words = translated(parsed?, material, bindless)?;
        Ok((shading, words))
    }

    pub(crate) fn group_count(&self) -> usize {
        self.layouts.len()
    }

    /// The layouts of sets 1, 2 and so on.
    pub(crate) fn raw_layouts(&self) -> Vec<throng::ash::vk::DescriptorSetLayout> {
        self.layouts.iter().map(BindGroupLayout::raw).collect()
    }

    /// Lets wgpu check the groups of a draw, and make their resources ready for it.
    pub(crate) fn prepare(&self, rendering: &mut wgpu::RenderPass<'_>, groups: Groups<'_>) {
        rendering.set_pipeline(&self.checked);
        for (number, (group, offsets)) in (1..).zip(groups) {
            rendering.set_bind_group(number, group.wgpu(), offsets);
        }
        rendering.draw(0..0, 0..0);
    }
}

/// Checks the limits that all groups share with throng's set 0, which wgpu does not know.
fn check_limits(gpu: &Gpu, material: &MaterialDesc<'_>) -> Result<()> {
    let layouts = material.bind_group_layouts;
    let entries = layouts.iter().flat_map(|layout| layout.entries());
    let entries: Vec<_> = entries.collect();
    let is_sampler = |ty| matches!(ty, wgpu::BindingType::Sampler(_));
    let samplers = entries.iter().filter(|entry| is_sampler(entry.ty)).count();
    let others = entries.len() - samplers;
    let groups = gpu.device().limits().max_bind_groups;
    let beside = gpu.shared.throng.max_own_resources();
    for (name, asked, allowed) in [
        ("max_bind_groups", layouts.len() + 1, groups),
        ("samplers of MaterialDesc", samplers, beside),
        ("buffers and textures of MaterialDesc", others, beside),
    ] {
        let (asked, allowed) = (asked as u64, allowed.into());
        if asked > allowed {
            return Err(Error::Limit {
                name,
                asked,
                allowed,
            });
        }
    }
    Ok(())
}

/// A pipeline of wgpu with the shader, the groups and the attachments of a pass.
///
/// If wgpu accepts it, the shader is valid, and fits the groups, the inputs and the formats.
fn pipeline(gpu: &Gpu, desc: &PassDesc<'_>, material: &MaterialDesc<'_>) -> wgpu::RenderPipeline {
    let device = gpu.device();
    let module = |label, text: String| {
        device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        })
    };
    let is_multiview = desc.multiview_mask.is_some();
    let check = include_str!("shading/check.wgsl");
    let fragment = module("MaterialDesc::wgsl", text(material, is_multiview, check));
    let vertex = include_str!("shading/vertex.wgsl").to_owned();
    let vertex = module("throng vertices", vertex);
    let own = material.bind_group_layouts.iter().map(|it| it.wgpu());
    // Only to compare the sum of all groups with the limits.
    let throngs = stand_in(device);
    let layout = |first| {
        let all: Vec<_> = [first].into_iter().chain(own.clone().map(Some)).collect();
        device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("throng pass"),
            bind_group_layouts: &all,
            immediate_size: 0,
        })
    };
    drop(layout(Some(&throngs)));
    let layout = layout(None);
    let targets = (0..).zip(desc.color_formats).map(|(at, format)| {
        format.map(|format| wgpu::ColorTargetState {
            format,
            blend: (at == 0).then_some(wgpu::BlendState::ALPHA_BLENDING),
            write_mask: match at {
                0 => wgpu::ColorWrites::ALL,
                _ => wgpu::ColorWrites::empty(),
            },
        })
    });
    let targets: Vec<_> = targets.collect();
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("throng pass"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &vertex,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: desc.depth_format.map(|format| wgpu::DepthStencilState {
            format,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Always),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState {
            count: desc.sample_count,
            ..Default::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &fragment,
            entry_point: material.entry_point,
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: material.constants,
                ..Default::default()
            },
            targets: &targets,
        }),
        multiview_mask: desc.multiview_mask,
        cache: None,
    })
}

/// A layout with as many bindings as throng's set 0. If the number of textures is variable, it has
/// those of one material, and `check_limits` compares the others.
fn stand_in(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    use wgpu::{BindingType, BufferBindingType, SamplerBindingType, ShaderStages};
    let buffer = |ty, has_dynamic_offset| BindingType::Buffer {
        ty,
        has_dynamic_offset,
        min_binding_size: None,
    };
    let storage = BufferBindingType::Storage { read_only: true };
    let texture = BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    };
    let sampler = BindingType::Sampler(SamplerBindingType::Filtering);
    let both = ShaderStages::VERTEX_FRAGMENT;
    let buffers = [
        (buffer(BufferBindingType::Uniform, true), both),
        (buffer(storage, false), both),
        (buffer(storage, false), ShaderStages::VERTEX),
        (buffer(storage, true), ShaderStages::VERTEX),
        (buffer(storage, false), ShaderStages::VERTEX),
    ];
    let images = [[texture; Material::TEXTURES], [sampler; Material::TEXTURES]]
        .into_iter()
        .flatten();
    let all = buffers.into_iter();
    let all = all.chain(images.map(|ty| (ty, ShaderStages::FRAGMENT)));
    let entries = (0..)
        .zip(all)
        .map(|(binding, (ty, visibility))| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty,
            count: None,
        });
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("throng set 0"),
        entries: &entries.collect::<Vec<_>>(),
    })
}
