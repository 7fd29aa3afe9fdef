//! Structures that shaders read, byte for byte as the shader includes declare them.
//!
//! The includes are `shaders/include/throng_data.glsl` and `shaders/include/throng_surface.glsl`.
//! Sizes and offsets are asserted here at compile time, and a test compares them with the offsets
//! in the compiled SPIR-V.

use crate::mesh::Material;
use crate::palette::Mat3x4;
use bytemuck::{Pod, Zeroable};
use core::mem::{offset_of, size_of};

/// One instance of a character (`ThrongInstance`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuInstance {
    /// World space from character space.
    pub world_from_model: Mat3x4,
    /// Linear RGBA that multiplies the base colour.
    pub tint: [f32; 4],
    /// The palette: an address or an offset in bytes, as [`Self::source`] says.
    ///
    /// It is a multiple of 16. At an address, the whole palette of the character lies in a buffer
    /// with the usage `SHADER_DEVICE_ADDRESS`, which stays alive until all GPU work that reads this
    /// record has ended. No robustness feature checks such reads.
    pub palette: u64,
    /// [`Self::SOURCE_RING`] or [`Self::SOURCE_ADDRESS`].
    pub source: u32,
    /// Index of the character.
    pub character: u32,
    /// Stamp that changes if motion vectors must ignore the last frame.
    ///
    /// That is so for another instance and after a teleport.
    pub stamp: u32,
    /// First word of its active morph weights, or [`Self::NONE`].
    ///
    /// It is an offset into the frame's lists.
    pub morphs: u32,
    /// First word of the deformed vertices, or [`Self::NONE`].
    pub skinned: u32,
    /// A word for the engine's shaders.
    pub user: u32,
}

impl GpuInstance {
    /// [`Self::source`]: [`Self::palette`] is an offset in the frame's part of the ring.
    pub const SOURCE_RING: u32 = 0;
    /// [`Self::source`]: [`Self::palette`] is a device address.
    pub const SOURCE_ADDRESS: u32 = 1;
    /// An offset that refers to nothing.
    pub const NONE: u32 = u32::MAX;
}

/// Record of a primitive (`ThrongPrimitive`).
///
/// Offsets of its streams are in 32-bit words from the start of the mesh buffer.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuPrimitive {
    /// Number of vertices.
    pub vertex_count: u32,
    /// First entry of its range of the character's palette.
    pub palette_offset: u32,
    /// Influences per vertex.
    pub influences: u32,
    /// Flags, such as [`Self::JOINTS_U16`].
    pub flags: u32,
    /// Word offset, a multiple of 4; 4 words per vertex.
    ///
    /// They are `f32` x, y, z and the normal as an octahedral snorm16 pair.
    pub positions: u32,
    /// Word offset; blocks of four joint indices.
    ///
    /// A block has one word, or two with [`Self::JOINTS_U16`]. The offset is then a multiple of 2.
    /// A vertex has ⌈influences / 4⌉ blocks.
    pub joints: u32,
    /// Word offset; blocks of four weights, unused if `influences` is 1.
    ///
    /// A block has two words of unorm16, with an offset that is a multiple of 2. With
    /// [`Self::WEIGHTS_U8`] it has one word of unorm8.
    pub weights: u32,
    /// Word offset, a multiple of 2; 2 words per vertex.
    pub uvs: u32,
    /// Word offset, a multiple of 2; 4 unorm16 per vertex.
    pub colors: u32,
    /// Index of its material, in units of a material from the start of the mesh buffer.
    pub material: u32,
    /// Word offset; one packed tangent per vertex.
    ///
    /// A tangent is an octahedral snorm15, snorm16 pair above the bitangent's sign (1 for −1).
    pub tangents: u32,
    /// Word offset, a multiple of 2; 2 words per vertex.
    pub uvs1: u32,
    /// Word offset; 4 words per morph target.
    ///
    /// They say where its mask, positions, normals and tangents start.
    pub targets: u32,
    /// Number of morph targets.
    pub target_count: u32,
    /// The character's morph weight that drives the first target.
    pub first_weight: u32,
    /// Word offset in an instance's deformed vertices; 3 words per vertex.
    pub skinned_positions: u32,
    /// Word offset in an instance's deformed vertices; 3 words per vertex.
    pub skinned_normals: u32,
    /// Word offset in an instance's deformed vertices; 4 words per vertex.
    pub skinned_tangents: u32,
    /// Zero.
    pub reserved: [u32; 2],
    /// Linear RGBA.
    pub base_color: [f32; 4],
}

impl GpuPrimitive {
    /// [`Self::flags`]: joint indices have 16 bits; otherwise 8.
    pub(crate) const JOINTS_U16: u32 = 1;
    /// [`Self::flags`]: there are normals; otherwise triangles are shaded flat.
    pub(crate) const HAS_NORMALS: u32 = 2;
    /// [`Self::flags`]: there are texture coordinates.
    pub(crate) const HAS_UVS: u32 = 4;
    /// [`Self::flags`]: there are vertex colours.
    pub(crate) const HAS_COLORS: u32 = 8;
    /// [`Self::flags`]: weights have 8 bits; otherwise 16.
    pub(crate) const WEIGHTS_U8: u32 = 16;
    /// [`Self::flags`]: the vertex colour's alpha is the weight of the instance's tint.
    pub(crate) const TINT_BY_ALPHA: u32 = 32;
    /// [`Self::flags`]: there are tangents.
    pub(crate) const HAS_TANGENTS: u32 = 64;
    /// [`Self::flags`]: there is a second set of texture coordinates.
    pub(crate) const HAS_UVS1: u32 = 128;
    /// [`Self::flags`]: first of two bits that hold the character's palette format.
    ///
    /// Its value there is that of the [`PaletteFormat`](crate::palette::PaletteFormat).
    pub(crate) const METHOD_SHIFT: u32 = 8;
}

/// A texture of a material (`ThrongTexture`).
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuTexture {
    /// Columns of the 2×2 matrix that transforms texture coordinates.
    pub uv_matrix: [f32; 4],
    /// Offset that is added after that.
    pub uv_offset: [f32; 2],
    /// The set of texture coordinates: 0 or 1.
    ///
    /// It is combined with [`Self::UV_TRANSFORMED`] if matrix or offset is not the identity.
    pub uv_set: u32,
    /// Its index in the array of the set's textures.
    pub slot: u32,
}

impl GpuTexture {
    /// [`Self::uv_set`]: the texture coordinates are transformed.
    pub(crate) const UV_TRANSFORMED: u32 = 2;
}

/// Appearance of a surface (`ThrongMaterial`).
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuMaterial {
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// Linear RGB.
    pub emissive: [f32; 3],
    /// Cutoff for [`Self::ALPHA_MASK`].
    pub alpha_cutoff: f32,
    /// Metalness, 0 to 1.
    pub metallic: f32,
    /// Perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// Scale of x and y of the normal texture.
    pub normal_scale: f32,
    /// Occlusion strength, 0 to 1.
    pub occlusion_strength: f32,
    /// Flags, such as [`Self::ALPHA_MASK`].
    pub flags: u32,
    /// Zero.
    pub reserved: [u32; 3],
    /// The textures, in the order of [`Material::textures`].
    pub textures: [GpuTexture; Material::TEXTURES],
}

impl GpuMaterial {
    /// [`Self::flags`]: fragments with alpha below the cutoff are discarded.
    pub(crate) const ALPHA_MASK: u32 = 1;
    /// [`Self::flags`]: alpha is the opacity of the surface over what lies behind.
    pub(crate) const ALPHA_BLEND: u32 = 2;
    /// [`Self::flags`]: the material is not lit.
    pub(crate) const UNLIT: u32 = 4;
    /// [`Self::flags`]: first of five bits that say which textures exist.
    pub(crate) const TEXTURE_SHIFT: u32 = 8;
}

/// The data of a view for shaders (`ThrongView`), std140.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuView {
    /// Columns of the clip matrix, with jitter.
    pub clip_from_world: [[f32; 4]; 4],
    /// Columns of the clip matrix, without jitter.
    pub steady_clip_from_world: [[f32; 4]; 4],
    /// Columns of the clip matrix in the view's last frame, without jitter.
    pub previous_clip_from_world: [[f32; 4]; 4],
    /// World position and 1.
    ///
    /// For an orthographic view, the direction towards the eye and 0.
    pub eye: [f32; 4],
    /// Unit vector towards the sun.
    pub sun_direction: [f32; 4],
    /// Linear RGB.
    pub sun_color: [f32; 4],
    /// Linear RGB.
    pub sky_color: [f32; 4],
    /// Linear RGB.
    pub ground_color: [f32; 4],
    /// Device addresses of the last frame's state.
    ///
    /// It has instances, palettes, morph weights and deformed vertices. They are read if
    /// [`Self::history_instances`] is not 0.
    pub history: [u64; 4],
    /// Device address of this frame's palettes in the ring.
    pub ring_palettes: u64,
    /// Number of instances in the last frame.
    ///
    /// It is 0 if there was no last frame.
    pub history_instances: u32,
    /// Layers of the shadow map.
    pub shadow_layers: u32,
    /// 1 / edge length of the shadow map in texels.
    pub shadow_texel: f32,
    /// Texels by which a point is moved off its surface.
    pub shadow_bias: f32,
    /// Zero.
    pub reserved: [u32; 2],
    /// Columns; x and y go from 0 to 1, z is depth.
    pub shadow_from_world: [[[f32; 4]; 4]; GpuView::SHADOW_LAYERS],
}

impl GpuView {
    /// The largest number of layers of a shadow map.
    pub(crate) const SHADOW_LAYERS: usize = 4;
}

const _: () = {
    assert!(size_of::<Mat3x4>() == 48);
    assert!(size_of::<GpuInstance>() == 96);
    assert!(offset_of!(GpuInstance, tint) == 48);
    assert!(offset_of!(GpuInstance, palette) == 64);
    assert!(offset_of!(GpuInstance, source) == 72);
    assert!(offset_of!(GpuInstance, stamp) == 80);
    assert!(offset_of!(GpuInstance, morphs) == 84);
    assert!(offset_of!(GpuInstance, skinned) == 88);
    assert!(offset_of!(GpuInstance, user) == 92);
    assert!(size_of::<GpuPrimitive>() == 96);
    assert!(offset_of!(GpuPrimitive, flags) == 12);
    assert!(offset_of!(GpuPrimitive, joints) == 20);
    assert!(offset_of!(GpuPrimitive, uvs) == 28);
    assert!(offset_of!(GpuPrimitive, material) == 36);
    assert!(offset_of!(GpuPrimitive, targets) == 48);
    assert!(offset_of!(GpuPrimitive, skinned_positions) == 60);
    assert!(offset_of!(GpuPrimitive, base_color) == 80);
    assert!(size_of::<GpuTexture>() == 32);
    assert!(size_of::<GpuMaterial>() == 224);
    assert!(offset_of!(GpuMaterial, metallic) == 32);
    assert!(offset_of!(GpuMaterial, flags) == 48);
    assert!(offset_of!(GpuMaterial, textures) == 64);
    assert!(size_of::<GpuView>() == 592);
    assert!(offset_of!(GpuView, eye) == 192);
    assert!(offset_of!(GpuView, history) == 272);
    assert!(offset_of!(GpuView, ring_palettes) == 304);
    assert!(offset_of!(GpuView, history_instances) == 312);
    assert!(offset_of!(GpuView, shadow_from_world) == 336);
};
