//! The draw stage: what a pass draws into, and the pipelines that it takes.

use super::pipelines::{Fragment, Modules};
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::pipeline::pipeline_layout;
use crate::gpu::{Blending, Device, Object};
use ash::vk;
use std::collections::BTreeMap;

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PassKind {
    /// Shaded colour, and depth where the pass has a depth attachment. What is blended comes last.
    #[default]
    Color,
    /// Depth alone: a prepass, say, for a colour pass that compares for equality
    /// ([`PassDesc::after_prepass`]). Blended materials are left out.
    Depth,
    /// Depth as a light sees it, moved away from it by [`PassDesc::depth_bias`]: one layer of a
    /// shadow map. Blended materials cast no shadow.
    Shadow,
    /// Motion in the framebuffer since the view's last frame, into the first colour attachment:
    /// normalised device coordinates now minus then (x and y in −1..1 over the viewport, +y down),
    /// without the [jitter](crate::View::jitter). Takes views that have a
    /// [history](crate::View::history). Blended materials are left out.
    Motion,
}

impl PassKind {
    /// What the profiler calls it.
    pub(crate) fn scope(self) -> &'static str {
        match self {
            Self::Color => "draw",
            Self::Depth => "depth",
            Self::Shadow => "shadow",
            Self::Motion => "motion",
        }
    }
}

/// A bias of the depth that is written, as `vkCmdSetDepthBias` has it: away from the viewer for
/// either direction of depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthBias {
    /// In units of the attachment's resolution.
    pub constant: f32,
    /// Times the triangle's largest slope.
    pub slope: f32,
}

impl DepthBias {
    /// None.
    pub const NONE: Self = Self {
        constant: 0.0,
        slope: 0.0,
    };
}

/// The engine's own shading: a fragment shader, and the sets that it reads beside throng's.
///
/// The shader includes `shaders/include/throng_surface.glsl` and calls `throng_surface()`, or
/// declares what it needs of the inputs and of set 0 itself. Its sets 1 and up are the engine's:
/// bind them with the layout of [`Crowd::pass_layout`](crate::Crowd::pass_layout) before
/// [`Frame::record_draw`](crate::Frame::record_draw), which leaves them alone.
///
/// Where the crowd was made with
/// [`Enabled::descriptor_indexing`](crate::gpu::Enabled::descriptor_indexing), a shader that
/// samples throng's textures has to be compiled with `THRONG_BINDLESS` defined; elsewhere, without.
#[derive(Debug, Clone, Copy)]
pub struct MaterialDesc<'a> {
    /// SPIR-V for Vulkan 1.3, with an entry point `main` for the fragment stage.
    pub fragment_spirv: &'a [u32],
    /// The layouts of sets 1, 2 and so on.
    pub set_layouts: &'a [vk::DescriptorSetLayout],
    /// Bytes of push constants for the fragment stage, a multiple of 4, from offset 16: pushed by
    /// the engine with the same layout. 0 for none.
    pub push_bytes: u32,
}

/// Where a shader's own push constants start. What is before them is throng's.
pub const MATERIAL_PUSH_OFFSET: u32 = 16;

/// The attachments that a pass draws into, as the engine's `vkCmdBeginRendering` names them, and
/// how.
#[derive(Debug, Clone)]
pub struct PassDesc<'a> {
    /// What it is for.
    pub kind: PassKind,
    /// Formats of the colour attachments. Colour goes to the first; the others are left as they are
    /// (which takes [`Enabled::independent_blend`](crate::gpu::Enabled::independent_blend)).
    pub color_formats: &'a [vk::Format],
    /// Format of the depth attachment; `UNDEFINED` for none.
    pub depth_format: vk::Format,
    /// Format of the stencil attachment, which is not written; `UNDEFINED` for none.
    pub stencil_format: vk::Format,
    /// Samples of every attachment.
    pub samples: vk::SampleCountFlags,
    /// Whether depth 1 is near: compares with `GREATER_OR_EQUAL` instead of `LESS_OR_EQUAL`. Clear
    /// depth to 0 then.
    pub reversed_z: bool,
    /// Whether a pass of [`PassKind::Depth`] with the same views and the same attachment came
    /// before: opaque and masked materials then compare for equality and write no depth.
    pub after_prepass: bool,
    /// A bias of depth; `None` for none, or for what suits a shadow map in a pass of
    /// [`PassKind::Shadow`].
    pub depth_bias: Option<DepthBias>,
    /// Whether the built-in shading takes the light through the crowd's shadow map
    /// ([`Crowd::set_shadow_map`](crate::Crowd::set_shadow_map)).
    pub shadow_map: bool,
    /// The engine's own shading, for [`PassKind::Color`].
    pub material: Option<MaterialDesc<'a>>,
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
            after_prepass: false,
            depth_bias: None,
            shadow_map: false,
            material: None,
        }
    }
}

/// Push constants of the draw stage: the index of the primitive, and which instances it is for.
pub(crate) const PUSH_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::VERTEX;
const PUSH_BYTES: u32 = 8;

/// What a pipeline of a pass is for: everything that its shaders know as a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Variant {
    /// [`crate::gpu::layout::METHOD_LINEAR`] or a neighbour of it.
    pub(crate) method: u32,
    pub(crate) rigid: bool,
    pub(crate) blending: Blending,
}

/// What is kept of a [`PassDesc`].
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) kind: PassKind,
    pub(crate) color_formats: Vec<vk::Format>,
    pub(crate) depth_format: vk::Format,
    pub(crate) stencil_format: vk::Format,
    pub(crate) samples: vk::SampleCountFlags,
    pub(crate) reversed_z: bool,
    pub(crate) after_prepass: bool,
    pub(crate) depth_bias: DepthBias,
}

/// A pass: a pipeline for each variant that a character of the crowd takes.
#[derive(Debug)]
pub(crate) struct DrawPass {
    pub(crate) target: Target,
    pub(crate) layout: Object<vk::PipelineLayout>,
    /// Whether set 1 is the crowd's shadow map.
    pub(crate) shadow_map: bool,
    modules: Modules,
    pipelines: BTreeMap<Variant, Object<vk::Pipeline>>,
}

impl DrawPass {
    /// A pass without pipelines. `set_0` is throng's layout, `shadow` that of the shadow map's set.
    pub(crate) fn new(
        device: &Device,
        set_0: vk::DescriptorSetLayout,
        shadow: vk::DescriptorSetLayout,
        desc: &PassDesc<'_>,
    ) -> Result<Self> {
        check(device, desc)?;
        let shadow_map = desc.shadow_map && desc.material.is_none();
        let mut sets = vec![set_0];
        let mut own_push = None;
        if let Some(material) = &desc.material {
            sets.extend(material.set_layouts);
            own_push = Some((MATERIAL_PUSH_OFFSET, material.push_bytes)).filter(|(_, n)| *n > 0);
        } else if shadow_map {
            sets.push(shadow);
        }
        let mut pass = Self {
            target: Target {
                kind: desc.kind,
                color_formats: desc.color_formats.to_vec(),
                depth_format: desc.depth_format,
                stencil_format: desc.stencil_format,
                samples: desc.samples,
                reversed_z: desc.reversed_z,
                after_prepass: desc.after_prepass,
                depth_bias: bias(desc),
            },
            layout: pipeline_layout(
                device,
                "throng pass",
                &sets,
                (PUSH_STAGES, PUSH_BYTES),
                own_push,
            )?,
            shadow_map,
            modules: Modules::default(),
            pipelines: BTreeMap::new(),
        };
        let fragment = match (desc.kind, &desc.material) {
            (PassKind::Color, Some(material)) => Fragment::Own(material.fragment_spirv),
            (PassKind::Color, None) => Fragment::BuiltIn { shadow_map },
            _ => Fragment::None,
        };
        if let Err(error) = pass.modules.build(device, desc.kind, fragment) {
            // SAFETY: never used.
            unsafe { pass.destroy(device) };
            return Err(error);
        }
        Ok(pass)
    }

    /// Makes the pipelines of these variants, unless they are there or the pass draws nothing by
    /// them. Those made before an error stay.
    pub(crate) fn prepare(
        &mut self,
        device: &Device,
        variants: impl Iterator<Item = Variant>,
    ) -> Result<()> {
        for variant in variants {
            let drawn = self.target.kind == PassKind::Color || variant.blending != Blending::Blend;
            if drawn && !self.pipelines.contains_key(&variant) {
                let layout = self.layout.handle;
                let made = self
                    .modules
                    .pipeline(device, layout, &self.target, variant)?;
                self.pipelines.insert(variant, made);
            }
        }
        Ok(())
    }

    pub(crate) fn pipeline(&self, variant: Variant) -> Option<vk::Pipeline> {
        self.pipelines.get(&variant).map(|made| made.handle)
    }

    /// # Safety
    /// Not in use by the GPU.
    pub(crate) unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the caller's word.
        unsafe {
            for pipeline in self.pipelines.values_mut() {
                pipeline.destroy(device);
            }
            self.modules.destroy(device);
            self.layout.destroy(device);
        }
        self.pipelines.clear();
    }
}

/// The bias of a pass, in the direction of its depth.
fn bias(desc: &PassDesc<'_>) -> DepthBias {
    let default = if desc.kind == PassKind::Shadow {
        DepthBias {
            constant: 1.0,
            slope: 1.5,
        }
    } else {
        DepthBias::NONE
    };
    let bias = desc.depth_bias.unwrap_or(default);
    let away = if desc.reversed_z { -1.0 } else { 1.0 };
    DepthBias {
        constant: bias.constant * away,
        slope: bias.slope * away,
    }
}

fn check(device: &Device, desc: &PassDesc<'_>) -> Result<()> {
    let invalid = |what, why| {
        Err(Error::Argument {
            what,
            why: ArgumentFault::Invalid(why),
        })
    };
    let colorful = matches!(desc.kind, PassKind::Color | PassKind::Motion);
    let has_depth = desc.depth_format != vk::Format::UNDEFINED;
    if colorful && desc.color_formats.is_empty() {
        return invalid(
            "PassDesc::color_formats",
            "a pass of colour or motion needs at least one",
        );
    }
    if (!colorful || desc.after_prepass) && !has_depth {
        return invalid(
            "PassDesc::depth_format",
            "a pass of depth alone, or after one, needs one",
        );
    }
    if desc.samples.as_raw().count_ones() != 1 {
        return invalid("PassDesc::samples", "must be exactly one sample count");
    }
    if desc
        .depth_bias
        .is_some_and(|bias| !(bias.constant.is_finite() && bias.slope.is_finite()))
    {
        return invalid("PassDesc::depth_bias", "must be finite");
    }
    if colorful && desc.color_formats.len() > 1 && !device.enabled.independent_blend {
        return Err(Error::Unsupported {
            what: "independentBlend",
            device: device.name().into(),
        });
    }
    match &desc.material {
        None => Ok(()),
        Some(_) if desc.kind != PassKind::Color => {
            invalid("PassDesc::material", "only a colour pass has shading")
        }
        Some(_) if desc.shadow_map => invalid(
            "PassDesc::shadow_map",
            "is for the built-in shading: a shader of your own has sets of its own",
        ),
        Some(material) if material.fragment_spirv.first() != Some(&SPIRV_MAGIC) => invalid(
            "MaterialDesc::fragment_spirv",
            "is no SPIR-V in this machine's byte order",
        ),
        Some(material) if !material.push_bytes.is_multiple_of(4) => {
            invalid("MaterialDesc::push_bytes", "must be a multiple of 4")
        }
        Some(material) => {
            let asked = u64::from(MATERIAL_PUSH_OFFSET) + u64::from(material.push_bytes);
            let cap = device.limits.max_push_bytes.into();
            crate::gpu::limit("bytes of push constants", asked, cap)?;
            let asked = material.set_layouts.len() as u64 + 1;
            let cap = device.limits.max_bound_sets.into();
            crate::gpu::limit("descriptor sets", asked, cap)?;
            Ok(())
        }
    }
}

/// What every SPIR-V module begins with.
const SPIRV_MAGIC: u32 = 0x0723_0203;
