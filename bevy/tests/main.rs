//! Tests of `bevy_throng`, with Bevy's renderer on any driver.

mod apps;
mod assets;
mod components;
mod game;
mod lights;
mod pictures;
mod refused;
mod support;
