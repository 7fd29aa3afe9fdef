//! Vulkan parts: memory, the frame ring, meshes and the descriptor set layout.
//!
//! These parts are the second of the three levels of use. They are for an engine that fills
//! palettes itself and keeps its own pipelines. It uses:
//!
//! - [`SkinnedMesh`], [`PaletteRing`] and [`SetLayout`]
//! - the shader include `shaders/include/throng.glsl`
//! - [`SkinPipeline`](crate::SkinPipeline), if vertices are to be deformed once for many passes
//!
//! [`Crowd`](crate::Crowd) is built from the same parts.
//!
//! Everything here records and never submits. Objects are destroyed explicitly. Dropping a live one
//! logs its name as a leak.

mod allocator;
mod device;
mod encode;
mod features;
#[doc(hidden)]
pub mod layout;
mod material;
mod memory;
mod mesh;
mod mesh_bytes;
mod palette_ring;
pub(crate) mod palettes;
pub(crate) mod pipeline;
mod profile;
mod ranges;
pub(crate) mod ring;
pub(crate) mod sets;
mod static_mesh;
mod texture;
mod textures;
mod upload;

pub(crate) use allocator::expect_own;
pub use allocator::{GpuAllocator, MemoryAllocator, MemoryBlock, MemoryRequest};
pub use device::Device;
pub(crate) use device::{Limits, VkCall, limit};
pub(crate) use encode::CHUNK;
pub use features::Enabled;
pub use layout::GpuInstance;
pub(crate) use memory::{Buffer, BufferDesc, MAPPED_ALIGNMENT, Object};
pub use mesh::{PrimitiveDraw, SkinnedMesh};
pub use palette_ring::{PaletteRing, PaletteRingDesc};
pub(crate) use profile::Profiler;
pub use profile::Scope;
pub(crate) use ranges::Blending;
pub use sets::{SetBuffers, SetLayout};
pub use static_mesh::SkinnedPrimitive;
pub use upload::Upload;

// For the tests and benches of this crate: not part of the API.
#[doc(hidden)]
pub use encode::{
    mask as morph_mask, narrow as narrow_weights, octahedral as octahedral_word,
    tangent as tangent_word,
};
#[doc(hidden)]
pub use texture::{Level as MipLevel, MipChain};
