//! The Vulkan side of each stage.
//!
//! | stage | here | shader | CPU twin |
//! |---|---|---|---|
//! | (changes) | [`scatter`] | `scatter.comp` | – |
//! | animate, palette | – | – | `pose/animate.rs`, `pose/palette.rs` |
//! | draw | [`draw`] | `crowd.vert`, `crowd.frag` | `pose/skin.rs` |

pub(crate) mod draw;
pub(crate) mod scatter;
