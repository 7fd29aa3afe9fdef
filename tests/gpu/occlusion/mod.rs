//! Instances that depth hides: the stage pyramid, the test of volumes, and whole frames.

mod boxes;
#[allow(dead_code, reason = "examples use the rest")]
#[path = "../../../examples/common/depth_image.rs"]
mod depth_image;
mod frames;
mod late;
mod pyramid;
mod receivers;
mod reference;
mod refused;
mod volumes;
mod walls;
