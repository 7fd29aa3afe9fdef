//! The batch against plain `f64` code: clips of every model against the file's curves, blends
//! against their definition, the kernels against each other.

mod blends;
mod contract;
mod curves;
mod formats;
mod load;
mod stages;
