//! The Vulkan side of each stage.
//!
//! | stage | here | shader | CPU twin |
//! |---|---|---|---|
//! | (changes) | [`scatter`] | `scatter.comp` | – |
//! | animate, palette | – | – | `pose/animate.rs`, `pose/palette.rs` |
//! | skin | [`skin`] | `skin.comp` | `pose/skin.rs`, `pose/skinner/` |
//! | draw | [`draw`], [`pipelines`] | `crowd.vert`, `crowd.frag`, `depth.vert`, `motion.vert` and their variants | – |

pub(crate) mod draw;
pub(crate) mod pipelines;
pub(crate) mod scatter;
pub(crate) mod skin;
