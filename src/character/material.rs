//! Materials and images, as far as the draw stage uses them.

/// How a surface looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The file's name for it, or empty.
    pub name: Box<str>,
    /// Linear RGBA, multiplied with the texture and the vertex colour.
    pub base_color: [f32; 4],
    /// The base colour texture (sRGB encoded), if any.
    pub base_color_texture: Option<TextureRef>,
    /// Whether back faces are drawn too.
    pub double_sided: bool,
    /// Whether the alpha of the vertex colours says how much of an instance's tint a vertex takes, 0
    /// to 1, instead of how opaque it is: so that a shirt is tinted and a face is not.
    pub tint_by_alpha: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: Box::default(),
            base_color: [1.0; 4],
            base_color_texture: None,
            double_sided: false,
            tint_by_alpha: false,
        }
    }
}

/// A texture of a material: which image and how it is sampled. Texture coordinates are the
/// primitive's [`uvs`](crate::character::Primitive::uvs), with the origin in the upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureRef {
    /// Index into [`Character::images`](crate::character::Character::images).
    pub image: u32,
    /// How it is sampled.
    pub sampler: Sampler,
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
