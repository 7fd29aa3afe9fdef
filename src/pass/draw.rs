//! The draw stage: the targets and pipelines of a pass.

use super::pipelines::{Fragment, Modules};
use crate::error::{Error, Result};
use crate::gpu::pipeline::pipeline_layout;
use crate::gpu::{Blending, Device, Object};
use ash::vk;
use std::collections::BTreeMap;

/// The purpose of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PassKind {
    /// Shaded colour, and depth if the pass has a depth attachment.
    ///
    /// Blended materials are drawn last.
    #[default]
    Color,
    /// Depth alone, for example a prepass.
    ///
    /// A colour pass can then compare for equality ([`PassDesc::after_prepass`]). Blended materials
    /// are left out.
    Depth,
    /// One layer of a shadow map: depth as a light sees it.
    ///
    /// [`PassDesc::depth_bias`] moves the depth away from the light. Blended materials cast no
    /// shadow.
    Shadow,
    /// Motion vectors since the view's last frame, into the first colour attachment.
    ///
    /// They are normalised device coordinates, now minus then (x and y in −1..1 over the viewport,
    /// +y down), without the [jitter](crate::View::jitter). The views need a
    /// [history](crate::View::history). Blended materials are left out.
    Motion,
}

impl PassKind {
    /// The name of its profiler scope.
    pub(crate) fn scope(self) -> &'static str {
        match self {
            Self::Color => "draw",
            Self::Depth => "depth",
            Self::Shadow => "shadow",
            Self::Motion => "motion",
        }
    }
}

/// A bias of the written depth, as in `vkCmdSetDepthBias`.
///
/// It points away from the viewer for either direction of depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthBias {
    /// Constant part, in units of the attachment's resolution.
    pub constant: f32,
    /// Factor of the triangle's largest slope.
    pub slope: f32,
}

impl DepthBias {
    /// No bias.
    pub const NONE: Self = Self {
        constant: 0.0,
        slope: 0.0,
    };
}

/// The engine's own shading: a fragment shader and the sets that it reads.
///
/// The shader includes `shaders/include/throng_surface.glsl` and calls `throng_surface()`, or
/// declares the inputs and bindings of set 0 that it needs. Sets from 1 on are the engine's. Bind
/// them with the layout of [`Crowd::pass_layout`](crate::Crowd::pass_layout) before
/// [`Frame::record_draw`](crate::Frame::record_draw), which does not change them.
///
/// If the crowd was made with
/// [`Enabled::descriptor_indexing`](crate::gpu::Enabled::descriptor_indexing), a shader that
/// samples throng's textures must be compiled with `THRONG_BINDLESS` defined; otherwise without.
#[derive(Debug, Clone, Copy)]
pub struct MaterialDesc<'a> {
    /// SPIR-V for Vulkan 1.3.
    ///
    /// It has an entry point `main` for the fragment stage.
    pub fragment_spirv: &'a [u32],
    /// The layouts of sets 1, 2 and so on.
    pub set_layouts: &'a [vk::DescriptorSetLayout],
    /// Bytes of push constants for the fragment stage.
    ///
    /// A multiple of 4, or 0 for none.
    ///
    /// They start at offset 16. The engine pushes them with the same layout.
    pub push_bytes: u32,
}

/// Start of a shader's own push constants. Those before it are throng's.
pub const MATERIAL_PUSH_OFFSET: u32 = 16;

/// The attachments and options of a pass.
///
/// The attachments are those of the engine's `vkCmdBeginRendering`.
///
/// ```
/// use throng::ash::vk;
/// use throng::{PassDesc, PassKind};
///
/// let color = PassDesc {
///     color_formats: &[vk::Format::B8G8R8A8_SRGB],
///     depth_format: vk::Format::D32_SFLOAT,
///     samples: vk::SampleCountFlags::TYPE_4,
///     reversed_z: true,
///     ..Default::default()
/// };
/// let shadow = PassDesc {
///     kind: PassKind::Shadow,
///     depth_format: vk::Format::D16_UNORM,
///     ..Default::default()
/// };
/// # let _ = (color, shadow);
/// ```
#[derive(Debug, Clone)]
pub struct PassDesc<'a> {
    /// The purpose of the pass.
    pub kind: PassKind,
    /// Formats of the colour attachments.
    ///
    /// Colour is written to the first. The others are not written, which requires
    /// [`Enabled::independent_blend`](crate::gpu::Enabled::independent_blend).
    pub color_formats: &'a [vk::Format],
    /// Format of the depth attachment, or `UNDEFINED` for none.
    pub depth_format: vk::Format,
    /// Format of the stencil attachment, or `UNDEFINED` for none.
    ///
    /// It is not written.
    pub stencil_format: vk::Format,
    /// Samples of every attachment.
    pub samples: vk::SampleCountFlags,
    /// True if depth 1 is near.
    ///
    /// Depth is then compared with `GREATER_OR_EQUAL` instead of `LESS_OR_EQUAL`. Clear it to 0.
    pub reversed_z: bool,
    /// True if a [`PassKind::Depth`] pass came before.
    ///
    /// It must have drawn the same views to the same attachment. Opaque and masked materials then
    /// compare depth for equality and do not write it.
    pub after_prepass: bool,
    /// The depth bias.
    ///
    /// With `None`, there is none, except in a [`PassKind::Shadow`] pass, which then uses a default
    /// for shadow maps.
    pub depth_bias: Option<DepthBias>,
    /// True if the built-in shading samples the crowd's shadow map.
    ///
    /// See [`Crowd::set_shadow_map`](crate::Crowd::set_shadow_map).
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

/// The stages of the draw stage's push constants: the primitive's index, and which instances the
/// draw is for.
pub(crate) const PUSH_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::VERTEX;
const PUSH_BYTES: u32 = 8;

/// The key of a pipeline in a pass: everything that its shaders have as a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Variant {
    /// [`crate::gpu::layout::METHOD_LINEAR`] or one of the other methods.
    pub(crate) method: u32,
    pub(crate) rigid: bool,
    pub(crate) blending: Blending,
}

/// The part of a [`PassDesc`] that the pass keeps.
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

/// A pass: one pipeline for each variant that characters of the crowd use.
#[derive(Debug)]
pub(crate) struct DrawPass {
    pub(crate) target: Target,
    pub(crate) layout: Object<vk::PipelineLayout>,
    /// True if set 1 is the crowd's shadow map.
    pub(crate) shadow_map: bool,
    modules: Modules,
    pipelines: BTreeMap<Variant, Object<vk::Pipeline>>,
}

impl DrawPass {
    /// Creates a pass without pipelines. `set_0` is throng's layout, `shadow` that of the shadow
    /// map's set.
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
            // SAFETY: no command buffer has used the pass, because it was created above.
            unsafe { pass.destroy(device) };
            return Err(error);
        }
        Ok(pass)
    }

    /// Creates the pipelines of these variants.
    ///
    /// Existing pipelines and variants that the pass does not draw are skipped. Pipelines created
    /// before an error are kept.
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

    /// Destroys the pipelines and their layout.
    ///
    /// # Safety
    /// Not in use by the GPU.
    pub(crate) unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the GPU does not use them, by this function's contract.
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
    let invalid = |what, why| Err(Error::invalid(what, why));
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

/// The first word of every SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;
