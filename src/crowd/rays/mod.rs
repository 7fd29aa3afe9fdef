//! Stage rays: acceleration structures of a crowd, for engines that trace rays.
//!
//! | module | contents |
//! |---|---|
//! | [`desc`] | options and results |
//! | [`character`], [`batch`], [`load`] | the bottom-level structures of a character |
//! | [`buffers`] | buffers that all characters share, with the top-level structure |
//! | [`state`] | what a crowd keeps for rays, from frame to frame |
//! | [`plan`], [`commands`] | a frame's builds, and their commands |
//! | [`record`] | records the rays of a frame |
//! | [`figures`] | figures for the engine |

mod batch;
pub(crate) mod buffers;
pub(crate) mod character;
mod commands;
pub(crate) mod desc;
mod figures;
mod load;
mod plan;
mod record;
pub(crate) mod state;
