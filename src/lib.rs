//! Crowds of skinned, animated characters for Vulkan engines.
//!
//! throng takes an engine's `ash::Device`, its memory allocator and its command buffers, and draws
//! hundreds of characters, each in its own pose. It records and never submits.
//!
//! ```text
//! bytes ──import──▶ Character ──add_character──▶ GPU buffers            once per asset
//!                                                    │
//! engine: spawn · set_transform · play ──▶ instance table               on change
//!                                                    │
//! update                                                                        the game's steps
//! begin_frame ──▶ record_prepare: animate ──▶ palette ──▶ record_draw           every frame
//! ```
//!
//! A character walks, and then stops within a quarter of a second:
//!
//! ```no_run
//! use throng::ash::vk;
//! use throng::gpu::MemoryAllocator;
//! use throng::{Crowd, InstanceId, PassId, Play, Result, Spawn, View};
//!
//! /// Once.
//! fn spawn(crowd: &mut Crowd, allocator: &mut dyn MemoryAllocator) -> Result<InstanceId> {
//!     let knight = throng_import::file("knight.glb", &Default::default())?;
//!     let knight = crowd.add_character(allocator, &knight, &Default::default())?;
//!     crowd.spawn(knight, &Spawn { play: "Walk".into(), ..Default::default() })
//! }
//!
//! /// On change.
//! fn stop(crowd: &mut Crowd, id: InstanceId) -> Result<()> {
//!     crowd.instance_mut(id)?.play(Play::new("Idle").fade_s(0.25))
//! }
//!
//! /// Every frame, after the engine waited for the fence of `frame_index`.
//! unsafe fn record(
//!     crowd: &mut Crowd,
//!     allocator: &mut dyn MemoryAllocator,
//!     cmd: vk::CommandBuffer,
//!     (frame_index, time_s): (u32, f64),
//!     (pass, view): (PassId, View),
//! ) -> Result<()> {
//!     unsafe {
//!         crowd.update(time_s)?;
//!         let mut frame = crowd.begin_frame(allocator, frame_index, time_s)?;
//!         let views = frame.record_prepare(cmd, &[view])?;
//!         // The engine begins rendering here.
//!         frame.record_draw(cmd, views[0], pass)
//!     }
//! }
//! ```
//!
//! [`Crowd`] has an example with the setup around it, and [`animator`] one without Vulkan.
//!
//! - The crate `throng-import` reads files into a [`character::Character`], which is checked once
//!   and then immutable. [`import`] makes it from raw data. [`builtin`] is one that is built in.
//! - [`animator`] animates many instances of a character, without Vulkan. [`clip`], [`motion`],
//!   [`state_machine`] and [`ik`] describe what it plays.
//! - [`skeleton`], [`spring`], [`mesh`], [`palette`], [`skin`] and [`retarget`] hold the rest of a
//!   character, and what the CPU does with it: palettes, skinning, picking, retargeting.
//! - [`gpu`] is for engines with their own pipelines: meshes, palette ring, descriptor set layout.
//! - [`Crowd`] is the façade over all of them.
//! - [`files`] writes files safely, for tools.
//! - The crate `throng-standalone` creates instance, device and swapchain for programs without an
//!   engine.
//!
//! # Conventions
//! Right-handed, +Y up, metres, seconds, radians, as in glTF. Column vectors. Matrices are named
//! `to_from`, as in `world_from_model`. Quaternions are xyzw and of unit length. Joints are stored
//! in breadth-first order, every parent before its children. The weights of a vertex sum to exactly
//! 1.
//!
//! Spaces:
//! - *mesh*: as modelled. Vertices are bound in it.
//! - *character*: the asset's scene. Skinning matrices map mesh space to character space.
//! - *world*: the engine's. The instance's transform maps character space to world space.
//!
//! # Errors
//! Every function that can fail returns [`Error`], which carries names and numbers. Nothing panics
//! on bad input.
//!
//! # Safety
//! `unsafe` marks what the type system cannot check: that Vulkan handles are valid and belong
//! together, that a frame's earlier work has finished, and which state a command buffer is in.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "vulkan", feature = "lod")),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "the docs speak of the whole crate, of which a part is built here"
    )
)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]

#[macro_use]
mod trace;

pub mod error;

pub mod files;

mod bytes;
mod checksum;
mod clone;
mod grow;
mod hash;
mod id;
mod order;
mod scratch_pool;
mod simd;
mod text;
mod threads;

pub mod skeleton;

pub mod spring;

pub mod mesh;

pub mod clip;

pub mod motion;

pub mod state_machine;

pub mod character;

pub mod palette;

mod animate;

pub mod ik;

pub mod retarget;

pub mod skin;

pub mod animator;

pub mod import;

pub mod outfit;

pub mod builtin;

#[cfg(feature = "vulkan")]
#[cfg_attr(docsrs, doc(cfg(feature = "vulkan")))]
pub mod gpu;

#[cfg(feature = "vulkan")]
mod pass;

#[cfg(feature = "vulkan")]
mod crowd;

#[cfg(feature = "vulkan")]
pub use crate::crowd::Crowd;
pub use animator::{
    Actor, ActorSnapshot, AnimationEvent, AnimationEventKind, AnimatorSnapshot, IkSolver, IkTarget,
    JointRef, NameOrId, Play, Playing, Pose, ReplaceIssue, RootMotionMode, ShowPose, SpringMode,
};
#[cfg(feature = "vulkan")]
pub use ash;
#[cfg(feature = "vulkan")]
pub use crowd::{
    Attachment, Capacity, CharacterDesc, CharacterId, CrowdDesc, CrowdSnapshot, Culling, Depth,
    Detail, DrawBindings, Environment, Eye, Frame, IndirectDraw, Instance, InstanceHit, InstanceId,
    InstanceSnapshot, Lighting, ListId, PassId, PipelineInfo, RayCrowd, RayDesc, RayStats,
    Receivers, Shadow, SkinnedVertices, SkinningStage, Spawn, Stages, Stats, View, ViewId,
    ViewStats, Views,
};
pub use error::{Error, Result};
pub use glam;
#[cfg(feature = "vulkan")]
pub use gpu_allocator;
pub use id::Id;
pub use ik::IkReport;
#[cfg(feature = "vulkan")]
pub use pass::desc::{EnvironmentLight, MaterialDesc, PassDesc, PassKind};
#[cfg(feature = "vulkan")]
pub use pass::environment_map::EnvironmentMap;
#[cfg(feature = "vulkan")]
pub use pass::shadow_map::ShadowMap;
pub use simd::SimdLevel;
pub use threads::Threads;

/// Compiles the integration example of the README.
#[cfg(all(doctest, feature = "vulkan"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// Compiles the example of the page about outfits.
#[cfg(all(doctest, feature = "vulkan"))]
#[doc = include_str!("../docs/outfits.md")]
struct Outfits;

/// Compiles and runs the examples of the page about time.
#[cfg(all(doctest, feature = "vulkan"))]
#[doc = include_str!("../docs/time.md")]
struct Time;
