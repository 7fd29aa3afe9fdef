//! Batches, compared with plain `f64` code.
//!
//! Clips of every model are compared with the file's curves, blends with their definition, and the
//! kernels with each other.

mod blends;
mod contract;
mod curves;
mod formats;
mod load;
mod scattered;
mod stages;
