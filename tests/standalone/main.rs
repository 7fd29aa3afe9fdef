//! Tests of the standalone module.
//!
//! Every test that uses the device runs under the validation layer. Any message of it is a failure.

mod buffers;
mod contexts;
mod devices;
mod frames;
mod messages;
mod setup;
mod shader;
mod targets;
mod window;
