//! Tests of `bevy_throng`, with Bevy's renderer on any driver.

mod apps;
mod assets;
mod game;
mod lights;
mod pictures;
mod support;
