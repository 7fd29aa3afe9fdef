//! Tests of `bevy_throng`, with Bevy's renderer on any driver.

mod pictures;
mod support;
