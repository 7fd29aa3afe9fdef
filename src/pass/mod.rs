//! Passes: the Vulkan side of each stage.
//!
//! | stage | here | shader | CPU |
//! |---|---|---|---|
//! | (changes) | [`scatter`] | `scatter.comp` | – |
//! | shift | [`shift`] | `shift.comp` | `src/crowd/shift.rs` |
//! | cull, scan, allocate_rows, compact, args | [`cull`] | `budget.comp`, `cull.comp`, `scan.comp`, `allocate_rows.comp`, `compact.comp`, `args.comp` | `src/crowd/visibility` |
//! | pyramid | [`pyramid`] | `pyramid.comp`, `pyramid_samples.comp`, `pyramid_top.comp` | – |
//! | attach | [`attach`] | `attach.comp` | `src/crowd/instances/follow.rs` |
//! | animate | [`animate`] | `animate.comp` | `src/animate` |
//! | palette | [`animate`] | `animate.comp` | `src/skeleton`, `src/palette`, and the kernel in `src/animate` |
//! | skin | [`skin`] | `skin.comp` | `src/skin`, `src/skin/skinner` |
//! | draw | [`draw`], [`desc`], [`subpass`], [`pipelines`], [`image_input`], [`shadow_map`], [`environment_map`] | `crowd.*`, `depth.vert`, `motion.*` | – |
//!
//! The compute stages are built on [`compute`].
//!
//! The stages that test instances have a variant with the suffix `_behind`, which also tests them
//! against depth. `reveal.comp` and `compact_holds.comp` are for frames that hold back instances.
//!
//! Masked materials use `mask.frag` and `motion_mask.*` where the others need no texture. Fragment
//! shaders have variants with the suffixes `_bindless`, `_shadowed` and `_environment`. In passes
//! with a view mask, shaders have the suffix `_multiview`.

pub(crate) mod animate;
pub(crate) mod attach;
mod compute;
pub(crate) mod cull;
pub(crate) mod desc;
pub(crate) mod draw;
pub(crate) mod environment_map;
pub(crate) mod image_input;
pub(crate) mod pipelines;
pub(crate) mod push;
pub(crate) mod pyramid;
pub(crate) mod rays;
pub(crate) mod scatter;
pub(crate) mod shadow_map;
pub(crate) mod shift;
pub(crate) mod skin;
pub(crate) mod subpass;
