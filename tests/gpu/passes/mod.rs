//! Passes of every kind draw the same triangles: the same pixels, at the same depths, bit for bit.

mod kinds;
mod layers;
mod troupe;
