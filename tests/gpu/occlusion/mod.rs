//! Instances that depth hides: the stage pyramid, the test of volumes, and whole frames.

mod boxes;
mod eyes;
mod frames;
mod late;
mod pyramid;
mod receivers;
mod reference;
mod refused;
mod volumes;
pub(crate) mod walls;
