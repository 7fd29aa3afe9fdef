//! Bounding spheres that every pose keeps, and the list of the actors that changed.
//!
//! - [`models`]: characters with everything that moves vertices.
//! - [`orders`]: random commands to an actor.
//! - [`holds`]: no vertex leaves its sphere.
//! - [`tight`]: how much larger than a pose the spheres are.
//! - [`changed`]: the list of changed actors misses nothing.
//! - [`shapes`]: the methods of the sphere itself.

mod changed;
mod holds;
mod models;
mod orders;
mod shapes;
mod tight;
