//! The description of the program's own shading.

use crate::bind_group::BindGroupLayout;

/// The program's own shading: a fragment shader and the bind groups that it reads.
///
/// The shader is WGSL. Vertices are throng's. [`Self::INTERFACE`] says what the shader gets:
/// position, normal, tangent, texture coordinates, tint and user word as the input of the entry
/// point, and with `throng_surface` the material with its textures. Group 0 and immediates are
/// throng's. Groups from 1 on are the program's, and [`Frame::draw_with`](crate::Frame::draw_with)
/// takes them. The first output is colour.
///
/// Lighting, shadows and fog are the shader's own. Depth, shadow and motion passes have none: they
/// draw what is not blended, with the holes of masks.
///
/// ```no_run
/// use throng::PassId;
/// use throng_wgpu::{BindGroupLayout, Crowd, Error, MaterialDesc, PassDesc, throng, wgpu};
///
/// const WGSL: &str = "
///     @group(1) @binding(0) var<uniform> light: vec4f;
///
///     @fragment
///     fn shade(in: ThrongIn) -> @location(0) vec4f {
///         let surface = throng_surface(in);
///         if throng_masked() { if surface.hole { discard; } }
///         let lit = max(dot(surface.normal, light.xyz), 0.0) + light.w;
///         return vec4f(surface.base_color.rgb * lit, surface.base_color.a);
///     }
/// ";
///
/// fn pass(crowd: &mut Crowd, light: &BindGroupLayout) -> Result<PassId, Error> {
///     crowd.create_pass(&PassDesc {
///         color_formats: &[Some(wgpu::TextureFormat::Bgra8UnormSrgb)],
///         material: Some(MaterialDesc {
///             bind_group_layouts: &[light],
///             ..MaterialDesc::new(WGSL)
///         }),
///         ..PassDesc::default()
///     })
/// }
/// ```
#[derive(Debug, Clone)]
pub struct MaterialDesc<'a> {
    /// The shader. The text of [`Self::INTERFACE`] stands behind it.
    pub wgsl: &'a str,
    /// The fragment entry point, or `None` for the only one. It returns the colour at
    /// `@location(0)`.
    pub entry_point: Option<&'a str>,
    /// Values of `override` constants, by name or number.
    pub constants: &'a [(&'a str, f64)],
    /// The layouts of groups 1, 2 and so on.
    pub bind_group_layouts: &'a [&'a BindGroupLayout],
}

impl<'a> MaterialDesc<'a> {
    /// Shaders get this from throng, as WGSL:
    ///
    #[doc = concat!("```wgsl\n", include_str!("shading/interface.wgsl"), "```")]
    ///
    /// In a pass with a [`multiview_mask`](crate::PassDesc::multiview_mask), `ThrongIn` also has
    /// the `view_index`, as `eye: u32`.
    pub const INTERFACE: &'static str = include_str!("shading/interface.wgsl");

    /// A shader with one fragment entry point, without bind groups.
    #[must_use]
    pub const fn new(wgsl: &'a str) -> Self {
        Self {
            wgsl,
            entry_point: None,
            constants: &[],
            bind_group_layouts: &[],
        }
    }
}
