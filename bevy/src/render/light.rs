//! Bevy's lights for the shading of crowds: what is bound, and how the shader is configured.

use bevy::core_pipeline::tonemapping::{
    DebandDither, Tonemapping, TonemappingLuts, get_lut_bindings,
};
use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::ecs::system::SystemParam;
use bevy::light::{EnvironmentMapLight, ShadowFilteringMethod};
use bevy::pbr::{
    FogMeta, GlobalClusterableObjectMeta, GpuFog, GpuLights, LightMeta, LightProbesBuffer,
    LightProbesUniform, RenderViewLightProbes, ViewClusterBindings, ViewFogUniformOffset,
    ViewLightProbesUniformOffset, ViewLightsUniformOffset, ViewShadowBindings,
};
use bevy::platform::collections::HashMap;
use bevy::render::globals::{GlobalsBuffer, GlobalsUniform};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{BindingResource, ShaderType};
use bevy::render::texture::{FallbackImage, GpuImage};
use bevy::render::view::{ExtractedView, ViewUniform, ViewUniformOffset, ViewUniforms};
use bevy::shader::ShaderDefVal;
use throng_wgpu::wgpu;
use throng_wgpu::{BindGroup, BindGroupLayout, Binding, Error, Gpu};
use wgpu::TextureViewDimension;
use wgpu::{BindingType, BufferBindingType, SamplerBindingType, TextureSampleType};

/// The kinds of Bevy's lights, and of its processing of colours, that a view has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lights {
    fog: bool,
    environment: bool,
    filter: ShadowFilteringMethod,
    /// `None` if that happens after the pass, because the camera is HDR.
    tonemapping: Option<(Tonemapping, bool)>,
    orthographic: bool,
}

/// The components of a camera that its lights need.
#[derive(QueryData)]
pub(super) struct Lit {
    view: &'static ExtractedView,
    camera: &'static bevy::render::camera::ExtractedCamera,
    entity: Entity,
    shadows: &'static ViewShadowBindings,
    clusters: &'static ViewClusterBindings,
    tonemapping: Option<&'static Tonemapping>,
    dither: Option<&'static DebandDither>,
    filter: Option<&'static ShadowFilteringMethod>,
    probes: Option<&'static RenderViewLightProbes<EnvironmentMapLight>>,
    at: &'static ViewUniformOffset,
    lights_at: &'static ViewLightsUniformOffset,
    probes_at: &'static ViewLightProbesUniformOffset,
    fog_at: Option<&'static ViewFogUniformOffset>,
}

impl LitItem<'_, '_> {
    pub(super) fn lights(&self) -> Lights {
        let tonemapping = self.tonemapping.filter(|_| !self.camera.hdr);
        Lights {
            fog: self.fog_at.is_some(),
            environment: self.probes.is_some(),
            filter: self.filter.copied().unwrap_or_default(),
            tonemapping: tonemapping.map(|it| (*it, self.dither == Some(&DebandDither::Enabled))),
            orthographic: self.view.clip_from_view.w_axis.w == 1.0,
        }
    }

    /// The dynamic offsets of group 1, in the order of their bindings.
    pub(super) fn offsets(&self) -> Vec<u32> {
        let fog = self.fog_at.map(|at| at.offset);
        let always = [self.at.offset, self.lights_at.offset, **self.probes_at];
        always.into_iter().chain(fog).collect()
    }
}

/// Bevy's resources that shading reads.
#[derive(SystemParam)]
pub(super) struct Sources<'w> {
    views: Res<'w, ViewUniforms>,
    lights: Res<'w, LightMeta>,
    clustered: Res<'w, GlobalClusterableObjectMeta>,
    globals: Res<'w, GlobalsBuffer>,
    probes: Res<'w, LightProbesBuffer>,
    fogs: Res<'w, FogMeta>,
    luts: Res<'w, TonemappingLuts>,
    images: Res<'w, RenderAssets<GpuImage>>,
    fallback: Res<'w, FallbackImage>,
}

/// A resource that is bound.
enum Bound<'a> {
    Buffer(BindingResource<'a>),
    View(&'a wgpu::TextureView),
    Sampler(wgpu::SamplerDescriptor<'static>),
}

impl<'a> Bound<'a> {
    fn binding(&self) -> Option<Binding<'a>> {
        match self {
            Self::Buffer(BindingResource::Buffer(buffer)) => Some(Binding::Buffer(buffer.clone())),
            Self::Buffer(_) => None,
            Self::View(view) => Some(Binding::TextureView(view)),
            Self::Sampler(desc) => Some(Binding::Sampler(desc.clone())),
        }
    }
}

const COMPARES: wgpu::SamplerDescriptor<'static> = wgpu::SamplerDescriptor {
    compare: Some(wgpu::CompareFunction::GreaterEqual),
    ..LINEAR
};
const LINEAR: wgpu::SamplerDescriptor<'static> = wgpu::SamplerDescriptor {
    label: None,
    address_mode_u: wgpu::AddressMode::ClampToEdge,
    address_mode_v: wgpu::AddressMode::ClampToEdge,
    address_mode_w: wgpu::AddressMode::ClampToEdge,
    mag_filter: wgpu::FilterMode::Linear,
    min_filter: wgpu::FilterMode::Linear,
    mipmap_filter: wgpu::MipmapFilterMode::Linear,
    lod_min_clamp: 0.0,
    lod_max_clamp: 32.0,
    compare: None,
    anisotropy_clamp: 1,
    border_color: None,
};

impl Lights {
    /// The definitions with which Bevy compiles its own shading for such a view.
    pub(super) fn defs(&self) -> Vec<ShaderDefVal> {
        let mut defs: Vec<ShaderDefVal> = vec![
            "MESH_PIPELINE".into(),
            ShaderDefVal::UInt("MAX_DIRECTIONAL_LIGHTS".into(), 10),
            ShaderDefVal::UInt("MAX_CASCADES_PER_LIGHT".into(), 4),
            ShaderDefVal::UInt("MAX_RECT_LIGHTS".into(), 8),
            ShaderDefVal::UInt("AVAILABLE_STORAGE_BUFFER_BINDINGS".into(), 8),
            ShaderDefVal::UInt("MATERIAL_BIND_GROUP".into(), 3),
            ShaderDefVal::UInt("TONEMAPPING_LUT_TEXTURE_BINDING_INDEX".into(), 18),
            ShaderDefVal::UInt("TONEMAPPING_LUT_SAMPLER_BINDING_INDEX".into(), 19),
        ];
        let mut is = |name: &str| defs.push(name.into());
        is(match self.orthographic {
            true => "VIEW_PROJECTION_ORTHOGRAPHIC",
            false => "VIEW_PROJECTION_PERSPECTIVE",
        });
        is(match self.filter {
            ShadowFilteringMethod::Hardware2x2 => "SHADOW_FILTER_METHOD_HARDWARE_2X2",
            ShadowFilteringMethod::Gaussian => "SHADOW_FILTER_METHOD_GAUSSIAN",
            ShadowFilteringMethod::Temporal => "SHADOW_FILTER_METHOD_TEMPORAL",
        });
        if self.fog {
            is("DISTANCE_FOG");
        }
        if self.environment {
            is("ENVIRONMENT_MAP");
        }
        let Some((method, dithers)) = self.tonemapping else {
            return defs;
        };
        is("TONEMAP_IN_SHADER");
        is(match method {
            Tonemapping::None => "TONEMAP_METHOD_NONE",
            Tonemapping::Reinhard => "TONEMAP_METHOD_REINHARD",
            Tonemapping::ReinhardLuminance => "TONEMAP_METHOD_REINHARD_LUMINANCE",
            Tonemapping::AcesFitted => "TONEMAP_METHOD_ACES_FITTED",
            Tonemapping::AgX => "TONEMAP_METHOD_AGX",
            Tonemapping::SomewhatBoringDisplayTransform => {
                "TONEMAP_METHOD_SOMEWHAT_BORING_DISPLAY_TRANSFORM"
            }
            Tonemapping::TonyMcMapface => "TONEMAP_METHOD_TONY_MC_MAPFACE",
            Tonemapping::BlenderFilmic => "TONEMAP_METHOD_BLENDER_FILMIC",
            Tonemapping::KhronosPbrNeutral => "TONEMAP_METHOD_PBR_NEUTRAL",
        });
        if dithers {
            is("DEBAND_DITHER");
        }
        defs
    }

    /// The layouts of groups 1 and 2: Bevy's groups 0 and 1, with the bindings that are read.
    pub(super) fn layouts(&self, gpu: &Gpu) -> Result<Vec<BindGroupLayout>, Error> {
        let uniform = |size: core::num::NonZero<u64>, has_dynamic_offset| BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            has_dynamic_offset,
            min_binding_size: Some(size),
        };
        let storage = BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let texture = |view_dimension, sample_type| BindingType::Texture {
            sample_type,
            view_dimension,
            multisampled: false,
        };
        let depth = |dimension| texture(dimension, TextureSampleType::Depth);
        let float = |dimension| texture(dimension, TextureSampleType::Float { filterable: true });
        let compares = BindingType::Sampler(SamplerBindingType::Comparison);
        let filters = BindingType::Sampler(SamplerBindingType::Filtering);
        let mut main = vec![
            (0, uniform(ViewUniform::min_size(), true)),
            (1, uniform(GpuLights::min_size(), true)),
            (2, depth(TextureViewDimension::CubeArray)),
            (3, compares),
            (5, depth(TextureViewDimension::D2Array)),
            (6, compares),
            (8, storage),
            (9, storage),
            (10, storage),
            (11, uniform(GlobalsUniform::min_size(), false)),
            (12, uniform(LightProbesUniform::min_size(), true)),
        ];
        if self.fog {
            main.push((13, uniform(GpuFog::min_size(), true)));
        }
        if self.tonemapping.is_some() {
            main.push((18, float(TextureViewDimension::D3)));
            main.push((19, filters));
        }
        let cube = float(TextureViewDimension::Cube);
        let environment = vec![(0, cube), (1, cube), (2, filters)];
        let groups = match self.environment {
            true => vec![main, environment],
            false => vec![main],
        };
        groups
            .into_iter()
            .map(|group| layout(gpu, &group))
            .collect()
    }
}

fn layout(gpu: &Gpu, bindings: &[(u32, BindingType)]) -> Result<BindGroupLayout, Error> {
    let entries = bindings
        .iter()
        .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding: *binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: *ty,
            count: None,
        });
    BindGroupLayout::new(
        gpu,
        &wgpu::BindGroupLayoutDescriptor {
            label: Some("Bevy's lights for throng"),
            entries: &entries.collect::<Vec<_>>(),
        },
    )
}

/// The groups of each camera, with what they were made of.
#[derive(Resource, Default)]
pub(super) struct Groups(HashMap<Entity, (Lights, Vec<Part>, Vec<BindGroup>)>);

/// Something of which a group is made, to see if it is another one.
#[derive(PartialEq)]
enum Part {
    Buffer(wgpu::Buffer, u64, Option<core::num::NonZero<u64>>),
    View(wgpu::TextureView),
}

/// Drops the groups of cameras that are gone.
pub(super) fn clean(mut groups: ResMut<Groups>, cameras: Query<(), With<ViewShadowBindings>>) {
    groups.0.retain(|camera, _| cameras.contains(*camera));
}

impl Groups {
    /// The groups of a camera. They are made again if Bevy has other buffers or textures.
    pub(super) fn of(
        &mut self,
        gpu: &Gpu,
        layouts: &[BindGroupLayout],
        view: &LitItem<'_, '_>,
        sources: &Sources<'_>,
    ) -> Result<Option<Vec<BindGroup>>, Error> {
        let lights = view.lights();
        let Some(bound) = bound(view, sources, &lights) else {
            return Ok(None);
        };
        let parts: Vec<_> = bound
            .iter()
            .flatten()
            .filter_map(|(_, it)| part(it))
            .collect();
        if let Some((for_lights, of, groups)) = self.0.get(&view.entity)
            && *for_lights == lights
            && *of == parts
        {
            return Ok(Some(groups.clone()));
        }
        let mut groups = Vec::new();
        for (layout, bound) in layouts.iter().zip(&bound) {
            let bindings = bound
                .iter()
                .filter_map(|(at, it)| Some((*at, it.binding()?)));
            groups.push(BindGroup::new(gpu, layout, &bindings.collect::<Vec<_>>())?);
        }
        self.0.insert(view.entity, (lights, parts, groups.clone()));
        Ok(Some(groups))
    }
}

fn part(bound: &Bound<'_>) -> Option<Part> {
    match bound {
        Bound::Buffer(BindingResource::Buffer(it)) => {
            Some(Part::Buffer(it.buffer.clone(), it.offset, it.size))
        }
        Bound::View(view) => Some(Part::View((*view).clone())),
        _ => None,
    }
}

/// The resources, by group and binding. `None` if Bevy has not made everything yet.
fn bound<'a>(
    view: &'a LitItem<'_, '_>,
    from: &'a Sources<'_>,
    lights: &Lights,
) -> Option<Vec<Vec<(u32, Bound<'a>)>>> {
    use Bound::{Buffer, Sampler, View};
    let mut main = vec![
        (0, Buffer(from.views.uniforms.binding()?)),
        (1, Buffer(from.lights.view_gpu_lights.binding()?)),
        (2, View(&view.shadows.point_light_depth_texture_view)),
        (3, Sampler(COMPARES)),
        (5, View(&view.shadows.directional_light_depth_texture_view)),
        (6, Sampler(COMPARES)),
        (8, Buffer(from.clustered.gpu_clustered_lights.binding()?)),
        (
            9,
            Buffer(view.clusters.clusterable_object_index_lists_binding()?),
        ),
        (10, Buffer(view.clusters.offsets_and_counts_binding()?)),
        (11, Buffer(from.globals.buffer.binding()?)),
        (12, Buffer(from.probes.binding()?)),
    ];
    if lights.fog {
        main.push((13, Buffer(from.fogs.gpu_fogs.binding()?)));
    }
    if let Some((method, _)) = &lights.tonemapping {
        let (lut, _) = get_lut_bindings(&from.images, &from.luts, method, &from.fallback);
        main.push((18, View(lut)));
        main.push((19, Sampler(LINEAR)));
    }
    if !lights.environment {
        return Some(vec![main]);
    }
    let first = view
        .probes
        .and_then(|it| it.binding_index_to_textures.first());
    let none = &from.fallback.cube.texture_view;
    let image = |id| {
        from.images
            .get(id)
            .map_or(none, |image| &image.texture_view)
    };
    let environment = vec![
        (0, View(first.map_or(none, |it| image(it.diffuse)))),
        (1, View(first.map_or(none, |it| image(it.specular)))),
        (2, Sampler(LINEAR)),
    ];
    Some(vec![main, environment])
}
