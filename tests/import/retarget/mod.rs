//! Retargeting: against plain `f64` code, on skeletons that differ in all that it has to bridge.

mod clips;
mod faults;
mod limbs;
mod rigs;
mod schemes;
