//! The state of an actor: one type for each kind of data, with its own methods.

mod blend;
mod blend_pool;
mod clock;
mod driver;
mod goals;
mod inertialiser;
mod layers;
mod playback;
mod pose;
mod record_pool;
mod root;
mod springs;
mod weights;

pub(super) use blend::BlendPlay;
pub(super) use blend_pool::{BlendPool, Blends};
pub(crate) use clock::Clock;
pub(super) use driver::Driver;
pub(super) use goals::Goals;
pub(super) use inertialiser::{Inertialiser, Motion, MotionSamples};
pub(super) use layers::{Layers, Mix, Pools, no_blend};
pub(super) use playback::Playback;
pub(super) use pose::OwnPose;
pub use pose::{Pose, ShowPose};
pub(super) use record_pool::MOST;
pub use root::RootMotionMode;
pub(super) use root::{Root, Step, ground_velocity};
pub use springs::SpringMode;
pub(super) use springs::{Springs, Swinging};
pub(super) use weights::Weights;
