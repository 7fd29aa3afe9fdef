//! Materials and images: the metallic-roughness model of glTF 2.0.

use glam::Affine2;

/// How a surface looks, after the metallic-roughness model of glTF 2.0 (section 3.9).
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The file's name for it, or empty.
    pub name: Box<str>,
    /// Linear RGBA, 0 to 1, multiplied with the texture and the vertex colour.
    pub base_color: [f32; 4],
    /// The base colour texture (sRGB encoded), if any.
    pub base_color_texture: Option<TextureRef>,
    /// 0 for a dielectric to 1 for a metal.
    pub metallic: f32,
    /// Perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// Multiplies roughness by its green and metallic by its blue channel (linear), if any.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Normals in tangent space (linear), +Y up, if any. A primitive without tangents takes the
    /// frame from the derivatives of its texture coordinates.
    pub normal_texture: Option<TextureRef>,
    /// Scales x and y of the normal texture; any finite number.
    pub normal_scale: f32,
    /// How much of the sky's light arrives, in its red channel (linear), if any.
    pub occlusion_texture: Option<TextureRef>,
    /// How much the occlusion texture counts, 0 to 1.
    pub occlusion_strength: f32,
    /// Linear RGB light that the surface gives off, strength included; at least 0.
    pub emissive: [f32; 3],
    /// Multiplies [`Self::emissive`] (sRGB encoded), if any.
    pub emissive_texture: Option<TextureRef>,
    /// What alpha means.
    pub alpha: AlphaMode,
    /// Whether the surface shows its base colour as it is, without light.
    pub unlit: bool,
    /// Whether back faces are drawn too.
    pub double_sided: bool,
    /// Whether the alpha of the vertex colours says how much of an instance's tint a vertex takes,
    /// 0 to 1, instead of how opaque it is: so that a shirt is tinted and a face is not.
    pub tint_by_alpha: bool,
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
        }
    }
}

impl Material {
    /// One colour without textures: linear RGBA, as rough as it can be.
    #[must_use]
    pub fn flat(color: [f32; 4]) -> Self {
        Self {
            base_color: color,
            ..Self::default()
        }
    }

    /// The five textures, in the order in which shaders have them: base colour, metallic-roughness,
    /// normal, occlusion, emissive.
    #[must_use]
    pub fn textures(&self) -> [Option<TextureRef>; 5] {
        [
            self.base_color_texture,
            self.metallic_roughness_texture,
            self.normal_texture,
            self.occlusion_texture,
            self.emissive_texture,
        ]
    }
}

/// What the alpha of a surface means.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum AlphaMode {
    /// Nothing: the surface is opaque.
    #[default]
    Opaque,
    /// The surface is there where alpha is at least `cutoff`, and not there elsewhere.
    Mask {
        /// At least 0, and above 1 nothing is there; 0.5 unless the file says otherwise.
        cutoff: f32,
    },
    /// How much of the surface covers what lies behind it.
    Blend,
}

/// A texture of a material: which image, how it is sampled and where. Texture coordinates have
/// their origin in the upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureRef {
    /// Index into [`Character::images`](crate::character::Character::images).
    pub image: u32,
    /// How it is sampled.
    pub sampler: Sampler,
    /// Which texture coordinates: 0 for [`uvs`](crate::mesh::Primitive::uvs), 1 for
    /// [`uvs1`](crate::mesh::Primitive::uvs1).
    pub uv_set: u32,
    /// Applied to the texture coordinates before sampling.
    pub transform: Affine2,
}

impl TextureRef {
    /// `image` with the default sampler, by the first texture coordinates as they are.
    #[must_use]
    pub fn new(image: u32) -> Self {
        Self {
            image,
            sampler: Sampler::default(),
            uv_set: 0,
            transform: Affine2::IDENTITY,
        }
    }
}

/// How an image is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Across the texture.
    pub wrap_u: Wrap,
    /// Down the texture.
    pub wrap_v: Wrap,
    /// When the texture is magnified.
    pub magnify: Filter,
    /// When the texture is minified.
    pub minify: Filter,
    /// Between the levels of the mip chain; `None` samples the finest level only.
    pub mip: Option<Filter>,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
            magnify: Filter::Linear,
            minify: Filter::Linear,
            mip: Some(Filter::Linear),
        }
    }
}

/// What lies outside 0..1 of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture again.
    Repeat,
    /// The texture again, every other one mirrored.
    Mirror,
    /// Its edge.
    Clamp,
}

/// How texels are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest one.
    Nearest,
    /// Weighted by distance.
    Linear,
}

/// A decoded image: 8-bit RGBA, rows from the top, tightly packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The file's name for it, or empty.
    pub name: Box<str>,
    /// In texels, at least 1.
    pub width: u32,
    /// In texels, at least 1.
    pub height: u32,
    /// `width * height * 4` bytes, colour sRGB encoded, alpha linear and not premultiplied.
    pub rgba: Vec<u8>,
}
