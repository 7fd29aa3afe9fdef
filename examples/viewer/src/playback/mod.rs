//! The clips that the instances play, and the clock.

mod clock;
mod layers;
mod state;

pub(crate) use clock::{FASTEST, SLOWEST};
pub(crate) use layers::MAX_LAYERS;
pub(crate) use state::{Base, Layer, Playback};
