//! The structures that shaders read, byte for byte as `shaders/include/throng.glsl` declares them.
//!
//! Sizes and offsets are asserted here at compile time, and by a test against the offsets in the
//! compiled SPIR-V.

use crate::pose::Mat3x4;
use bytemuck::{Pod, Zeroable};
use core::mem::{offset_of, size_of};

/// [`Instance::source`]: the palette lies in the frame ring.
pub const SOURCE_RING: u32 = 0;
/// [`Instance::source`]: the palette lies in the character's resident palettes.
pub const SOURCE_RESIDENT: u32 = 1;

/// [`Primitive::flags`]: joint indices have 16 bits, else 8.
pub const JOINTS_U16: u32 = 1;
/// [`Primitive::flags`]: there are normals, else triangles are shaded flat.
pub const HAS_NORMALS: u32 = 2;
/// [`Primitive::flags`]: there are texture coordinates.
pub const HAS_UVS: u32 = 4;
/// [`Primitive::flags`]: there are vertex colours.
pub const HAS_COLORS: u32 = 8;
/// [`Primitive::flags`]: weights have 8 bits, else 16.
pub const WEIGHTS_U8: u32 = 16;
/// [`Primitive::flags`]: the vertex colour's alpha weighs the instance's tint.
pub const TINT_BY_ALPHA: u32 = 32;

/// One character that stands in the world (`ThrongInstance`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Instance {
    /// World from character space.
    pub world_from_model: Mat3x4,
    /// Linear RGBA, multiplies the base colour.
    pub tint: [f32; 4],
    /// First palette entry in the source.
    pub palette_base: u32,
    /// [`SOURCE_RING`] or [`SOURCE_RESIDENT`].
    pub source: u32,
    /// Index of the character.
    pub character: u32,
    /// The caller's.
    pub user: u32,
}

/// Where a primitive's streams lie in the geometry buffer, in 32-bit words (`ThrongPrimitive`).
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Primitive {
    /// How many vertices.
    pub vertex_count: u32,
    /// First entry of its range of the character's palette.
    pub palette_offset: u32,
    /// Influences per vertex.
    pub influences: u32,
    /// Flags: [`JOINTS_U16`] and its neighbours.
    pub flags: u32,
    /// Word offset; 3 words a vertex.
    pub positions: u32,
    /// Word offset; `influences` indices a vertex, tightly packed.
    pub joints: u32,
    /// Word offset; `influences` unorm16 (or unorm8) a vertex, tightly packed. Unused where `influences` is 1.
    pub weights: u32,
    /// Word offset; one octahedral snorm16 pair a vertex.
    pub normals: u32,
    /// Word offset; 2 words a vertex.
    pub uvs: u32,
    /// Word offset; 4 unorm16 a vertex.
    pub colors: u32,
    /// Index of its material.
    pub material: u32,
    /// Zero.
    pub reserved: u32,
    /// Linear RGBA.
    pub base_color: [f32; 4],
}

/// What a view's shaders need (`ThrongView`), std140.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct View {
    /// Columns.
    pub clip_from_world: [[f32; 4]; 4],
    /// World position and 1, or the direction towards an orthographic eye and 0.
    pub eye: [f32; 4],
    /// Unit vector towards the sun.
    pub sun_direction: [f32; 4],
    /// Linear.
    pub sun_color: [f32; 4],
    /// Linear.
    pub sky_color: [f32; 4],
    /// Linear.
    pub ground_color: [f32; 4],
}

const _: () = {
    assert!(size_of::<Mat3x4>() == 48);
    assert!(size_of::<Instance>() == 80);
    assert!(offset_of!(Instance, tint) == 48);
    assert!(offset_of!(Instance, palette_base) == 64);
    assert!(offset_of!(Instance, source) == 68);
    assert!(offset_of!(Instance, character) == 72);
    assert!(offset_of!(Instance, user) == 76);
    assert!(size_of::<Primitive>() == 64);
    assert!(offset_of!(Primitive, flags) == 12);
    assert!(offset_of!(Primitive, joints) == 20);
    assert!(offset_of!(Primitive, normals) == 28);
    assert!(offset_of!(Primitive, material) == 40);
    assert!(offset_of!(Primitive, base_color) == 48);
    assert!(size_of::<View>() == 144);
    assert!(offset_of!(View, eye) == 64);
    assert!(offset_of!(View, ground_color) == 128);
};
