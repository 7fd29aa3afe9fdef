//! Retargeting: against plain `f64` code, on skeletons that differ in all that it has to bridge.

#[path = "retarget/clips.rs"]
mod clips;
#[path = "retarget/faults.rs"]
mod faults;
#[path = "retarget/limbs.rs"]
mod limbs;
mod reference;
#[path = "retarget/rigs.rs"]
mod rigs;
#[path = "retarget/schemes.rs"]
mod schemes;
