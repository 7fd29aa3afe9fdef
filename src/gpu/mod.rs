//! Vulkan parts: memory, the frame ring, meshes and the descriptor set layout.
//!
//! These parts are the second of the three levels of use. They are for an engine that keeps its own
//! pipelines. [`Crowd`](crate::Crowd) is built from the same parts.
//!
//! Everything here records and never submits. Objects are destroyed explicitly. Dropping a live one
//! logs its name as a leak.
//!
//! # Steps
//! Once:
//!
//! 1. Create the `vk::Device` with the [`Features`] that are required and wanted, and a [`Device`]
//!    from it.
//! 2. Create a [`SkinnedMesh`] for each character. [`Upload::record`] uploads it, and
//!    [`Upload::free`] frees the staging memory once that work has ended.
//! 3. Create a [`PaletteRing`] with a palette for each instance.
//! 4. Create a [`SetLayout`], a pool with [`SetLayout::pool_sizes`], and a set for each mesh with
//!    [`SetLayout::allocate`]. [`SetLayout::write`] writes the mesh, and a buffer of
//!    [`GpuInstance`]s that the engine fills. Each instance has the address of its palette.
//! 5. Compile shaders that include `throng.glsl`, see below, and create pipelines whose set 0 is
//!    [`SetLayout::handle`].
//!
//! Every frame, after the fence of its frame index:
//!
//! 1. Write the palettes through [`PaletteRing::writer`], with
//!    [`Animator::palettes`](crate::animator::Animator::palettes),
//!    [`Character::write_palette`](crate::character::Character::write_palette) or the engine's own
//!    animation. Or let [`AnimatePipeline`] compute palettes on the GPU.
//! 2. Record [`PaletteRing::record_upload`], and a barrier if it says so.
//! 3. If many passes draw the same vertices, deform them once with [`SkinPipeline`].
//! 4. Bind the engine's pipeline, the set with two dynamic offsets, and the index buffer, and draw
//!    each of [`SkinnedMesh::draws`] with its primitive in a push constant.
//!
//! `examples/own_pipeline.rs` is a program of these steps. In short:
//!
//! ```no_run
//! use throng::Result;
//! use throng::animator::{ActorId, Animator};
//! use throng::ash::{self, vk};
//! use throng::character::Character;
//! use throng::glam::Mat4;
//! use throng::gpu::{
//!     Device, MemoryAllocator, PaletteRing, PaletteRingDesc, SetBuffers, SetLayout, SkinnedMesh,
//!     Upload,
//! };
//! use throng::palette::{Mat3x4, SkinningMethod};
//!
//! struct Parts {
//!     layout: SetLayout,
//!     mesh: SkinnedMesh,
//!     ring: PaletteRing,
//!     upload: Upload,
//! }
//!
//! /// Once: creates the parts, and records the upload of the mesh.
//! unsafe fn create(
//!     (device, allocator): (&Device, &mut dyn MemoryAllocator),
//!     cmd: vk::CommandBuffer,
//!     (character, instances): (&Character, u32),
//! ) -> Result<Parts> {
//!     let (mut upload, method) = (Upload::default(), SkinningMethod::Linear);
//!     let mesh = SkinnedMesh::new(device, allocator, &mut upload, character, method)?;
//!     unsafe { upload.record(device, cmd) };
//!     let entries = instances * character.palette().len() as u32;
//!     let desc = PaletteRingDesc { frames_in_flight: 2, entries, ..Default::default() };
//!     let ring = PaletteRing::new(device, allocator, &desc)?;
//!     Ok(Parts { layout: SetLayout::new(device)?, mesh, ring, upload })
//! }
//!
//! /// Once: allocates a set from a pool with `SetLayout::pool_sizes`, and writes it.
//! unsafe fn write_set(
//!     parts: &Parts,
//!     (device, pool): (&Device, vk::DescriptorPool),
//!     instances: vk::DescriptorBufferInfo, // of `GpuInstance`s
//! ) -> Result<vk::DescriptorSet> {
//!     // One for all textures, or one for each material.
//!     let sets = unsafe { parts.layout.allocate(device, pool, &parts.mesh.sets())? };
//!     let buffers = SetBuffers {
//!         mesh: Some(parts.mesh.buffer()),
//!         instances: Some(instances),
//!         textures: Some(&parts.mesh.textures(0)),
//!         ..SetBuffers::default()
//!     };
//!     unsafe { parts.layout.write(device, sets[0], &buffers) };
//!     Ok(sets[0])
//! }
//!
//! /// Every frame, outside of rendering: writes the palettes of all instances.
//! unsafe fn pose(
//!     parts: &mut Parts,
//!     (device, cmd, frame_index): (&Device, vk::CommandBuffer, u32),
//!     (animator, actors, entries): (&mut Animator, &[ActorId], u32),
//! ) -> Result<()> {
//!     let palettes = unsafe { parts.ring.writer::<Mat3x4>(frame_index, 0, entries)? };
//!     animator.palettes(actors, palettes)?;
//!     if unsafe { parts.ring.record_upload(device, cmd, frame_index, entries) } {
//!         // Record a barrier from TRANSFER, TRANSFER_WRITE to VERTEX_SHADER, SHADER_READ.
//!     }
//!     Ok(())
//! }
//!
//! /// Every frame, inside rendering: draws all instances with the engine's pipeline.
//! unsafe fn draw(
//!     parts: &Parts,
//!     (device, cmd): (&ash::Device, vk::CommandBuffer),
//!     (layout, set): (vk::PipelineLayout, vk::DescriptorSet),
//!     (clip_from_world, instances): (Mat4, u32),
//! ) {
//!     let point = vk::PipelineBindPoint::GRAPHICS;
//!     let vertex = vk::ShaderStageFlags::VERTEX;
//!     unsafe {
//!         device.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], &[0, 0]);
//!         let matrix = clip_from_world.to_cols_array();
//!         device.cmd_push_constants(cmd, layout, vertex, 0, bytemuck::cast_slice(&matrix));
//!         for draw in &parts.mesh.draws()[0] {
//!             let indices = parts.mesh.index_buffer();
//!             device.cmd_bind_index_buffer(cmd, indices, 0, draw.index_type);
//!             let primitive = draw.primitive.to_ne_bytes();
//!             device.cmd_push_constants(cmd, layout, vertex, 64, &primitive);
//!             device.cmd_draw_indexed(cmd, draw.index_count, instances, draw.first_index, 0, 0);
//!         }
//!     }
//! }
//! ```
//!
//! # Your own shaders
//! The folder `shaders/include` of this crate has the files to include:
//!
//! - `throng.glsl` declares set 0 and has the functions that deform a vertex, for vertex and
//!   compute shaders. Its first lines list what a shader may define before it includes the file.
//! - `throng_surface.glsl` is for fragment shaders: what a vertex shader of the crowd passes on,
//!   and the materials of the mesh.
//!
//! # Variants
//! Primitives differ in what their vertices have and in how they are skinned, and surfaces in their
//! textures. Two words say so: [`PrimitiveDraw::variant`] and [`PrimitiveDraw::surface`]. A shader
//! that has them as constants contains nothing else, which makes a vertex 4 to 6 times as cheap. An
//! engine makes one pipeline for each pair of words that its draws have, which are few:
//!
//! | word | in the shader | value |
//! |---|---|---|
//! | variant | `THRONG_VARIANT`, which a vertex shader defines, best as a specialization constant |
//! [`PrimitiveDraw::variant`] |
//! | surface | specialization constant [`MaterialDesc::SURFACE_CONSTANT`] of `throng_surface.glsl`
//! | [`PrimitiveDraw::surface`] |
//!
//! Both may be left out, or be [`GpuInstance::NONE`]. Then one pipeline draws everything, and reads
//! the words from the mesh. Bits that a shader does not need may be cleared in the variant, such as
//! that of tangents, if all others are kept: then more draws share a pipeline. The bits are the
//! constants in `throng_data.glsl` and `throng_surface.glsl`. [`SkinPipeline::prepare`] does the
//! same for the skin stage.
//!
//! [`MaterialDesc::SURFACE_CONSTANT`]: crate::MaterialDesc::SURFACE_CONSTANT
//!
//! A vertex shader of one's own, `shaders/example/own.vert`:
#![doc = concat!("```glsl\n", include_str!("../../shaders/example/own.vert"), "```")]
//! Any compiler that knows `GL_EXT_buffer_reference` can compile it. Both `glslc` and shaderc take
//! the folder `shaders` as include path:
//!
//! ```sh
//! glslc --target-env=vulkan1.3 -I shaders own.vert -o own.vert.spv
//! ```
//!
//! A copy of the two folders in the engine's repository works as well. For a compiler that reads no
//! files, [`SetLayout::glsl`] is the text of `throng.glsl` with everything that it includes.

pub(crate) mod accel;
mod allocator;
pub(crate) mod animation;
mod classes;
pub(crate) mod constants;
mod device;
mod encode;
mod feature_chain;
mod features;
mod guard;
pub(crate) mod half;
pub(crate) mod layout;
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
pub(crate) mod structures;
mod textures;
mod upload;

// Passes that engines with their own pipelines record.
pub use crate::pass::animate::{AnimateDispatch, AnimateJob, AnimateJobs, AnimatePipeline};
pub use crate::pass::skin::{SkinDispatch, SkinList, SkinPipeline};
pub(crate) use allocator::Gpu;
pub use allocator::{GpuAllocator, MemoryAllocator, MemoryBlock, MemoryRequest};
pub(crate) use animation::AnimateVariant;
pub(crate) use animation::GpuTime;
pub use animation::{AnimationTables, CpuReason, GpuPlay, PosedBy};
pub(crate) use animation::{JOINT_CLASSES, MAX_JOINTS};
pub(crate) use classes::MaterialClasses;
pub use device::Device;
pub(crate) use device::{Limits, VkCall, limit};
pub(crate) use encode::{CHUNK, first_material, skin_variant, variant};
pub use feature_chain::FeatureChain;
pub use features::Features;
pub(crate) use guard::{Destroy, Guard, destroy_fields};
pub use layout::GpuInstance;
pub(crate) use memory::{Buffer, BufferDesc, MAPPED_ALIGNMENT, Object};
pub(crate) use mesh::draws_without_indices;
pub use mesh::{PrimitiveDraw, SkinnedMesh};
pub use palette_ring::{PaletteRing, PaletteRingDesc};
pub(crate) use profile::Profiler;
pub use profile::Scope;
pub(crate) use ranges::Blending;
pub(crate) use ring::host_types;
pub use sets::{SetBuffers, SetLayout};
pub use static_mesh::SkinnedPrimitive;
pub use textures::ImageFigures;
pub use upload::Upload;
