//! The state of an actor: one type for each kind of data, with its own methods.

mod blend;
mod clock;
mod driver;
mod goals;
mod inertialiser;
mod layers;
mod mix;
mod playback;
mod pose;
mod root;
mod springs;
mod weights;

pub(super) use blend::BlendPlay;
pub(crate) use clock::Clock;
pub(super) use driver::Driver;
pub(super) use goals::Goals;
pub(super) use inertialiser::{Inertialiser, Motion, MotionSamples};
pub(super) use layers::{Layers, MOST, Pools};
pub(super) use mix::{Mix, no_blend};
pub(super) use playback::Playback;
pub(super) use pose::OwnPose;
pub use pose::ShowPose;
pub use root::RootMotionMode;
pub(super) use root::{Root, Step, ground_velocity};
pub(super) use springs::Springs;
pub(super) use weights::Weights;
