//! Motion vectors, compared with a model of the last frame of every view.

mod chance;
mod events;
mod growth;
mod moments;
mod refusals;
mod scale;
mod shared;
pub(crate) mod stage;
