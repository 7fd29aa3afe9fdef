//! Tests of the standalone module.
//!
//! Every test that uses the device runs under the validation layer. Any message of it is a failure.

mod buffers;
mod contexts;
mod devices;
mod frames;
mod messages;
#[path = "../support/read_image.rs"]
#[allow(unreachable_pub, reason = "other test programs use it, too")]
mod read_image;
mod setup;
mod shader;
mod targets;
mod window;
