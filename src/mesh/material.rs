//! Materials and images: the metallic-roughness model of glTF 2.0.

use glam::Affine2;

/// The look of a surface: the metallic-roughness model of glTF 2.0.
///
/// See section 3.9 of the glTF specification.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The name in the file, or empty.
    pub name: Box<str>,
    /// Linear RGBA, 0 to 1, multiplied with the texture and the vertex colour.
    pub base_color: [f32; 4],
    /// The base colour texture (sRGB encoded), if any.
    pub base_color_texture: Option<TextureRef>,
    /// From 0 for a dielectric to 1 for a metal.
    pub metallic: f32,
    /// Perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// Its green channel multiplies roughness and its blue channel metallic (linear), if any.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Normals in tangent space (linear), +Y up, if any. For a primitive without tangents, the
    /// tangent frame is computed from the derivatives of its texture coordinates.
    pub normal_texture: Option<TextureRef>,
    /// Scales x and y of the normal texture. Any finite number.
    pub normal_scale: f32,
    /// The ambient light that arrives, in its red channel (linear), if any.
    pub occlusion_texture: Option<TextureRef>,
    /// The strength of the occlusion texture, 0 to 1.
    pub occlusion_strength: f32,
    /// Emitted linear RGB light, including the emissive strength. At least 0.
    pub emissive: [f32; 3],
    /// Multiplies [`Self::emissive`] (sRGB encoded), if any.
    pub emissive_texture: Option<TextureRef>,
    /// The meaning of alpha.
    pub alpha: AlphaMode,
    /// If true, the surface shows its base colour without lighting.
    pub unlit: bool,
    /// If true, back faces are drawn too.
    pub double_sided: bool,
    /// If true, vertex alpha is a tint mask instead of an opacity.
    ///
    /// It is then the fraction, 0 to 1, of the instance's tint that the vertex takes. This allows
    /// tinting a shirt but not a face, for example.
    pub tint_by_alpha: bool,
    /// The weights of the two colours of an instance, 0 to 1.
    ///
    /// They are the weights of [`Instance::set_tint`](crate::Instance::set_tint) and
    /// [`Instance::set_second_tint`](crate::Instance::set_second_tint). With a weight w, a colour c
    /// multiplies the base colour by 1 + w (c / r − 1) in each channel, where r is
    /// [`Self::tint_reference`]. Two colours multiply it one after the other.
    ///
    /// By default, they are 1 and 0: the first colour applies everywhere, the second nowhere.
    #[doc(alias("team color", "mask", "dye"))]
    pub tint_weights: [f32; 2],
    /// Multiplies [`Self::tint_weights`]: the first by red, the second by green (linear), if any.
    pub tint_mask: Option<TextureRef>,
    /// The linear base colour that becomes the colour of an instance, where its weight is 1.
    ///
    /// For example, armour that is painted in mid grey and has mid grey here becomes yellow with a
    /// yellow tint, and not olive. [`Self::MIN_TINT_REFERENCE`] to 1; by default 1, which is white.
    pub tint_reference: [f32; 3],
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: Box::default(),
            base_color: [1.0; 4],
            base_color_texture: None,
            metallic: 0.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: [0.0; 3],
            emissive_texture: None,
            alpha: AlphaMode::Opaque,
            unlit: false,
            double_sided: false,
            tint_by_alpha: false,
            tint_weights: [1.0, 0.0],
            tint_mask: None,
            tint_reference: [1.0; 3],
        }
    }
}

impl Material {
    /// A plain colour without textures: linear RGBA, with roughness 1.
    #[must_use]
    pub fn flat(color: [f32; 4]) -> Self {
        Self {
            base_color: color,
            ..Self::default()
        }
    }

    /// The number of textures of a material.
    pub const TEXTURES: usize = 6;

    /// The smallest component of [`Self::tint_reference`].
    pub const MIN_TINT_REFERENCE: f32 = 1.0 / 1024.0;

    /// The six textures in shader order: base colour, metallic-roughness, normal, occlusion,
    /// emissive, tint mask.
    #[must_use]
    pub fn textures(&self) -> [Option<TextureRef>; Self::TEXTURES] {
        [
            self.base_color_texture,
            self.metallic_roughness_texture,
            self.normal_texture,
            self.occlusion_texture,
            self.emissive_texture,
            self.tint_mask,
        ]
    }

    /// The textures in the order of [`Self::textures`], to change them.
    pub(crate) fn textures_mut(&mut self) -> [&mut Option<TextureRef>; Self::TEXTURES] {
        [
            &mut self.base_color_texture,
            &mut self.metallic_roughness_texture,
            &mut self.normal_texture,
            &mut self.occlusion_texture,
            &mut self.emissive_texture,
            &mut self.tint_mask,
        ]
    }

    /// True if weights and reference are not those of a tint that multiplies everything.
    pub(crate) fn has_tint_weights(&self) -> bool {
        let default = Self::default();
        (self.tint_weights, self.tint_reference) != (default.tint_weights, default.tint_reference)
    }

    /// True if instances tint it in another way than by default.
    pub(crate) fn has_own_tints(&self) -> bool {
        self.has_tint_weights() || self.tint_mask.is_some()
    }

    /// Leaves all textures out.
    pub(crate) fn remove_textures(&mut self) {
        for texture in self.textures_mut() {
            *texture = None;
        }
    }
}

/// The meaning of a surface's alpha.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum AlphaMode {
    /// Alpha is ignored: the surface is opaque.
    #[default]
    Opaque,
    /// The surface is visible only where alpha is at least `cutoff`.
    Mask {
        /// At least 0. If above 1, nothing is visible. 0.5 unless the file sets another value.
        cutoff: f32,
    },
    /// Alpha is opacity: the surface is blended over what lies behind it.
    Blend,
}

/// A texture of a material: its image, wrap modes, filters and texture coordinates.
///
/// Texture coordinates have their origin in the upper left corner.
///
/// ```
/// use throng::mesh::{Material, TextureRef, Wrap};
///
/// let texture = TextureRef { wrap_u: Wrap::Clamp, ..TextureRef::new(0) };
/// let banner = Material { base_color_texture: Some(texture), ..Material::default() };
/// # let _ = banner;
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureRef {
    /// Index into [`Character::images`](crate::character::Character::images).
    pub image: u32,
    /// Horizontal wrap mode.
    pub wrap_u: Wrap,
    /// Vertical wrap mode.
    pub wrap_v: Wrap,
    /// Filter for magnification.
    pub magnify: Filter,
    /// Filter for minification.
    pub minify: Filter,
    /// Filter between mip levels. `None` samples the finest level only.
    pub mip: Option<Filter>,
    /// The set of texture coordinates: 0 for [`uvs`](crate::mesh::Primitive::uvs), 1 for
    /// [`uvs1`](crate::mesh::Primitive::uvs1).
    pub uv_set: u32,
    /// Applied to the texture coordinates before sampling.
    pub transform: Affine2,
}

impl TextureRef {
    /// `image`, repeated, with linear filters, `uvs` and no transform.
    #[must_use]
    pub fn new(image: u32) -> Self {
        Self {
            image,
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
            magnify: Filter::Linear,
            minify: Filter::Linear,
            mip: Some(Filter::Linear),
            uv_set: 0,
            transform: Affine2::IDENTITY,
        }
    }
}

/// The wrap mode for texture coordinates outside 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Repeats the texture.
    Repeat,
    /// Repeats the texture, every other repetition mirrored.
    Mirror,
    /// Repeats the texels at the edge.
    Clamp,
}

/// The filter for combining texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest texel.
    Nearest,
    /// Linear interpolation of the neighbouring texels.
    Linear,
}
