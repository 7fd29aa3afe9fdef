//! Retargeting, compared with plain `f64` code, on skeletons that differ in many ways.

mod clips;
mod faults;
mod fit;
mod limbs;
mod rigs;
mod scheme_names;
mod schemes;
