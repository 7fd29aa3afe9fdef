//! Tests of `bevy_throng`, with Bevy's renderer on any driver.

mod apps;
mod assets;
mod changes;
mod components;
mod game;
mod lights;
mod pictures;
mod places;
mod refused;
mod support;
