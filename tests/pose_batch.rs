//! The batch against plain `f64` code: clips of every model against the file's curves, blends
//! against their definition, the kernels against each other.

#[path = "batch/blends.rs"]
mod blends;
#[path = "batch/contract.rs"]
mod contract;
#[path = "batch/curves.rs"]
mod curves;
#[path = "batch/formats.rs"]
mod formats;
#[path = "batch/load.rs"]
mod load;
mod reference;
#[path = "batch/stages.rs"]
mod stages;
