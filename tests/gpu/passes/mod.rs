//! Passes of every kind draw the same triangles: the same pixels, at the same depths, bit for bit.

pub(crate) mod canvas;
mod kinds;
mod layers;
mod multiview;
mod render_passes;
mod troupe;
