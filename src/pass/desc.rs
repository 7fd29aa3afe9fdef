//! The descriptions of passes: their purpose, attachments and shading.

use crate::error::{Result, expect};
use crate::gpu::layout::GpuView;
use crate::gpu::{Device, Features, limit};
use ash::vk;

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
    /// [`PassDesc::depth_bias_slope`] moves the depth away from the light. Blended materials cast
    /// no shadow.
    Shadow,
    /// Motion vectors since the view's last frame, into the first colour attachment.
    ///
    /// They are normalised device coordinates, now minus then (x and y in −1..1 over the viewport,
    /// +y down), without the [jitter](crate::Eye::jitter), times
    /// [`PassDesc::motion_scale`]. The views need a [history](crate::View::history). Blended
    /// materials are left out.
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

/// The light that the built-in shading has beside the sun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum EnvironmentLight {
    /// A sky of two colours: [`Lighting::sky_color`](crate::Lighting::sky_color) above, and
    /// [`ground_color`](crate::Lighting::ground_color) below.
    #[default]
    Sky,
    /// The spherical harmonics of [`View::environment`](crate::View::environment).
    ///
    /// They take the place of the sky, also in reflections, which are therefore vague.
    Irradiance,
    /// The same, with reflections from the crowd's environment map.
    ///
    /// See [`Crowd::set_environment_map`](crate::Crowd::set_environment_map). It has a set of its
    /// own, after that of the shadow map. What a surface reflects like a mirror, it does not
    /// reflect like chalk: no surface is brighter than its surroundings.
    Map,
}

/// The engine's own shading: a fragment shader and the sets that it reads.
///
/// The shader includes `shaders/include/throng_surface.glsl` and calls `throng_surface()`, or
/// declares what it needs: of set 0, bindings 0, 1 and 5 exist for fragment shaders; the inputs are
/// at locations 0 to 5; of the push constants, the `uint` at offset 0 is the index of the
/// primitive, and the one at offset 8 the level of detail.
/// Sets from 1 on are the engine's. Bind them with the layout of
/// [`Crowd::pass_layout`](crate::Crowd::pass_layout) before
/// [`Frame::record_draw`](crate::Frame::record_draw), which does not change them.
///
/// If the crowd was made with
/// [`Features::DESCRIPTOR_INDEXING`](crate::gpu::Features::DESCRIPTOR_INDEXING), a shader that
/// samples throng's textures must be compiled with `THRONG_BINDLESS` defined; otherwise without.
///
/// In a pass with a [view mask](PassDesc::view_mask), a shader that depends on the eye must be
/// compiled with `THRONG_MULTIVIEW` defined. One that calls `throng_surface()` does.
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
    /// They start at [`Self::PUSH_OFFSET`]. The engine pushes them with the same layout, for the
    /// stage `FRAGMENT` alone, and nothing before that offset. The shader declares them as
    /// `THRONG_PUSH` before it includes `throng_surface.glsl`.
    pub push_bytes: u32,
}

impl MaterialDesc<'_> {
    /// Start of the shader's own push constants, in bytes. Those before it are throng's.
    pub const PUSH_OFFSET: u32 = 32;

    /// The specialization constant for what a surface has: textures, normals, a mask and so on.
    ///
    /// `throng_surface.glsl` declares it, and the compiler leaves out what a surface has not. It
    /// also gives `throng_masked`: a shader that discards only under `if (throng_masked)` keeps
    /// early depth tests for all materials without a mask. All other constants of the shader have
    /// their own values.
    ///
    /// A crowd sets it in every pipeline. In an engine's own pipelines it is
    /// [`PrimitiveDraw::surface`](crate::gpu::PrimitiveDraw::surface), or left out.
    pub const SURFACE_CONSTANT: u32 = 1000;

    /// The text of `shaders/include/throng_surface.glsl`, which includes `throng.glsl`.
    ///
    /// It declares the surface that the fragment shader receives. `throng.glsl` is
    /// [`SetLayout::glsl`](crate::gpu::SetLayout::glsl).
    #[must_use]
    pub const fn surface_glsl() -> &'static str {
        include_str!("../../shaders/include/throng_surface.glsl")
    }
}

/// The attachments and options of a pass.
///
/// The attachments are those of the engine's `vkCmdBeginRendering`, or of a subpass of its
/// `VkRenderPass`.
///
/// ```
/// use throng::ash::vk;
/// use throng::{PassDesc, PassKind};
///
/// let color = PassDesc {
///     color_formats: vec![vk::Format::B8G8R8A8_SRGB],
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
    /// The engine's render pass, or `None` for `vkCmdBeginRendering`.
    ///
    /// The pass draws in its [`Self::subpass`], and in those of render passes that are compatible
    /// with it: which differ from it in load and store operations and layouts alone
    /// (`docs/engines.md`, "Render passes").
    /// Formats and samples are still those of the fields below. [`Self::of_subpass`] takes them
    /// from what the render pass was created with. Without a render pass, the device needs
    /// [`Features::DYNAMIC_RENDERING`](crate::gpu::Features::DYNAMIC_RENDERING).
    pub render_pass: Option<vk::RenderPass>,
    /// The index of the subpass, which counts only with a render pass.
    pub subpass: u32,
    /// Formats of the colour attachments.
    ///
    /// Of a subpass, these are its `pColorAttachments`, with `UNDEFINED` for unused ones.
    ///
    /// Colour is written to the first. The others are not written, which requires
    /// [`Features::INDEPENDENT_BLEND`](crate::gpu::Features::INDEPENDENT_BLEND). They may be
    /// `UNDEFINED`, for attachments without an image.
    pub color_formats: Vec<vk::Format>,
    /// Format of the depth attachment, or `UNDEFINED` for none.
    pub depth_format: vk::Format,
    /// Format of the stencil attachment, or `UNDEFINED` for none.
    ///
    /// It is not written.
    pub stencil_format: vk::Format,
    /// Samples of every attachment.
    pub samples: vk::SampleCountFlags,
    /// The view mask of the rendering or the subpass (multiview), or 0.
    ///
    /// One draw then draws into several layers of the attachments. Layer 0 shows what the first eye
    /// of a [view](crate::View) sees, layer n its
    /// [further eye](crate::View::more_eyes) n − 1. The mask has no bits above those of
    /// [`View::MAX_EYES`](crate::View::MAX_EYES) eyes. It needs
    /// [`Features::MULTIVIEW`](crate::gpu::Features::MULTIVIEW).
    pub view_mask: u32,
    /// True if depth 1 is near.
    ///
    /// Depth is then compared with `GREATER_OR_EQUAL` instead of `LESS_OR_EQUAL`. Clear it to 0.
    pub reversed_z: bool,
    /// The depth test after a [`PassKind::Depth`] pass, or `None` if there was none.
    ///
    /// That pass must have drawn the same views to the same attachment. Opaque and masked materials
    /// then compare depth in this way, and do not write it.
    ///
    /// - `EQUAL` shades every sample once. Positions have the same bits in all passes, because all
    ///   of their arithmetic is `precise`.
    /// - `LESS_OR_EQUAL` (with [`Self::reversed_z`], `GREATER_OR_EQUAL`) also leaves no holes on a
    ///   driver that does not keep to that.
    pub after_prepass: Option<vk::CompareOp>,
    /// The constant part of the depth bias, in units of the attachment's resolution, as in
    /// `vkCmdSetDepthBias`.
    ///
    /// The bias points away from the viewer for either direction of depth. With `None`, this part
    /// is 1 in a [`PassKind::Shadow`] pass, and 0 in others.
    pub depth_bias_constant: Option<f32>,
    /// The depth bias for each unit of a triangle's largest slope.
    ///
    /// With `None`, it is 1.5 in a [`PassKind::Shadow`] pass, and 0 in others.
    pub depth_bias_slope: Option<f32>,
    /// True to clamp depth to that of the viewport instead of clipping what is nearer or farther
    /// (`depthClampEnable`).
    ///
    /// For shadow maps with a near plane that casters may be in front of, in views with
    /// [`Culling::Sides`](crate::Culling::Sides). It needs
    /// [`Features::DEPTH_CLAMP`](crate::gpu::Features::DEPTH_CLAMP).
    pub depth_clamp: bool,
    /// The factors of x and y of the motion vectors, in a [`PassKind::Motion`] pass.
    ///
    /// They are `[1.0, 1.0]` by default. `[0.5, 0.5]` gives texture coordinates. Negative factors
    /// give then minus now.
    pub motion_scale: [f32; 2],
    /// True if the built-in shading samples the crowd's shadow map.
    ///
    /// See [`Crowd::set_shadow_map`](crate::Crowd::set_shadow_map).
    pub shadow_map: bool,
    /// The light that the built-in shading has beside the sun.
    pub environment: EnvironmentLight,
    /// The engine's own shading, for [`PassKind::Color`].
    pub material: Option<MaterialDesc<'a>>,
}

impl Default for PassDesc<'_> {
    fn default() -> Self {
        Self {
            kind: PassKind::Color,
            render_pass: None,
            subpass: 0,
            color_formats: Vec::new(),
            depth_format: vk::Format::UNDEFINED,
            stencil_format: vk::Format::UNDEFINED,
            samples: vk::SampleCountFlags::TYPE_1,
            view_mask: 0,
            reversed_z: false,
            after_prepass: None,
            depth_bias_constant: None,
            depth_bias_slope: None,
            depth_clamp: false,
            motion_scale: [1.0; 2],
            shadow_map: false,
            environment: EnvironmentLight::Sky,
            material: None,
        }
    }
}

/// The constant part and the slope factor of a pass's bias, in the direction of its depth.
pub(super) fn bias(desc: &PassDesc<'_>) -> [f32; 2] {
    let default = match desc.kind {
        PassKind::Shadow => [1.0, 1.5],
        _ => [0.0; 2],
    };
    let away = if desc.reversed_z { -1.0 } else { 1.0 };
    [
        desc.depth_bias_constant.unwrap_or(default[0]) * away,
        desc.depth_bias_slope.unwrap_or(default[1]) * away,
    ]
}

/// Checks that each attachment has a format of its kind.
fn check_formats(desc: &PassDesc<'_>) -> Result<()> {
    use vk::Format as F;
    const BOTH: [F; 3] = [
        F::D16_UNORM_S8_UINT,
        F::D24_UNORM_S8_UINT,
        F::D32_SFLOAT_S8_UINT,
    ];
    let is_depth = |format| {
        BOTH.contains(&format)
            || [F::D16_UNORM, F::X8_D24_UNORM_PACK32, F::D32_SFLOAT].contains(&format)
    };
    let is_stencil = |format| format == F::S8_UINT || BOTH.contains(&format);
    let (depth, stencil) = (desc.depth_format, desc.stencil_format);
    let wrong = |format| is_depth(format) || is_stencil(format);
    let colors = &desc.color_formats;
    let what = "PassDesc::color_formats";
    let fits = !colors.iter().any(|format| wrong(*format));
    expect(what, fits, "has a format of depth or stencil attachments")?;
    let fits = colors.first() != Some(&F::UNDEFINED);
    let why = "the first is UNDEFINED, but it is the one that is written";
    expect(what, fits, why)?;
    let fits = desc.kind != PassKind::Shadow || colors.is_empty();
    let why = "must be empty in a shadow pass, which writes depth alone";
    expect(what, fits, why)?;
    let fits = depth == F::UNDEFINED || is_depth(depth);
    expect("PassDesc::depth_format", fits, "is not a format with depth")?;
    let what = "PassDesc::stencil_format";
    let fits = stencil == F::UNDEFINED || is_stencil(stencil);
    expect(what, fits, "is not a format with stencil")?;
    let fits = [depth, stencil].contains(&F::UNDEFINED) || depth == stencil;
    let why = "must be that of the depth attachment, if there are both";
    expect(what, fits, why)
}

/// Checks the description of a pass.
pub(super) fn check(device: &Device, desc: &PassDesc<'_>) -> Result<()> {
    let colorful = matches!(desc.kind, PassKind::Color | PassKind::Motion);
    let has_depth = desc.depth_format != vk::Format::UNDEFINED;
    let fits = !colorful || !desc.color_formats.is_empty();
    let why = "a colour or motion pass needs at least one format";
    expect("PassDesc::color_formats", fits, why)?;
    check_formats(desc)?;
    let fits = has_depth || colorful && desc.after_prepass.is_none();
    let why = "a depth or shadow pass, or a pass after a prepass, needs a depth format";
    expect("PassDesc::depth_format", fits, why)?;
    let nearer = match desc.reversed_z {
        true => vk::CompareOp::GREATER_OR_EQUAL,
        false => vk::CompareOp::LESS_OR_EQUAL,
    };
    let compares = [None, Some(vk::CompareOp::EQUAL), Some(nearer)];
    let fits = compares.contains(&desc.after_prepass);
    let why = "must be EQUAL or LESS_OR_EQUAL (with reversed_z, GREATER_OR_EQUAL)";
    expect("PassDesc::after_prepass", fits, why)?;
    let fits = desc.samples.as_raw().count_ones() == 1;
    expect(
        "PassDesc::samples",
        fits,
        "must be exactly one sample count",
    )?;
    for (what, part) in [
        ("PassDesc::depth_bias_constant", desc.depth_bias_constant),
        ("PassDesc::depth_bias_slope", desc.depth_bias_slope),
    ] {
        expect(what, part.is_none_or(f32::is_finite), "must be finite")?;
    }
    let fits = desc.motion_scale.into_iter().all(f32::is_finite);
    expect("PassDesc::motion_scale", fits, "must be finite")?;
    if colorful && desc.color_formats.len() > 1 {
        let needed = Features::INDEPENDENT_BLEND;
        device.expect_enabled("PassDesc::color_formats", needed)?;
    }
    if desc.depth_clamp {
        device.expect_enabled("PassDesc::depth_clamp", Features::DEPTH_CLAMP)?;
    }
    if desc.view_mask != 0 {
        let needed = Features::MULTIVIEW;
        device.expect_enabled("PassDesc::view_mask", needed)?;
        let eyes = u32::BITS - desc.view_mask.leading_zeros();
        let cap = device.limits.max_multiview_views.min(GpuView::EYES as u32);
        limit("eyes of a view mask", eyes.into(), cap.into())?;
    }
    match desc.render_pass {
        Some(render_pass) => {
            let fits = render_pass != vk::RenderPass::null();
            expect("PassDesc::render_pass", fits, "must not be null")?;
        }
        None => {
            let needed = Features::DYNAMIC_RENDERING;
            device.expect_enabled("a PassDesc without a render pass", needed)?;
        }
    }
    let Some(material) = &desc.material else {
        return Ok(());
    };
    let fits = desc.kind == PassKind::Color;
    let why = "must be None except in a colour pass";
    expect("PassDesc::material", fits, why)?;
    let why = "must be false if the pass has a material, which brings its own sets";
    expect("PassDesc::shadow_map", !desc.shadow_map, why)?;
    let fits = desc.environment == EnvironmentLight::Sky;
    let why = "must be Sky if the pass has a material, which has its own light";
    expect("PassDesc::environment", fits, why)?;
    let fits = material.fragment_spirv.first() == Some(&SPIRV_MAGIC);
    let why = "must be SPIR-V in the byte order of this machine";
    expect("MaterialDesc::fragment_spirv", fits, why)?;
    let fits = material.push_bytes.is_multiple_of(4);
    expect("MaterialDesc::push_bytes", fits, "must be a multiple of 4")?;
    let asked = u64::from(MaterialDesc::PUSH_OFFSET) + u64::from(material.push_bytes);
    let cap = device.limits.max_push_bytes.into();
    limit("bytes of push constants", asked, cap)?;
    let asked = material.set_layouts.len() as u64 + 1;
    let cap = device.limits.max_bound_sets.into();
    limit("descriptor sets", asked, cap)?;
    Ok(())
}

/// The first word of every SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;
