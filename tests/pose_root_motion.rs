//! Root motion against plain `f64` code: what stays and what is taken out, over any time, blended
//! and applied.

#[path = "root_motion/deltas.rs"]
mod deltas;
#[path = "root_motion/durations.rs"]
mod durations;
#[path = "root_motion/faults.rs"]
mod faults;
#[path = "root_motion/made.rs"]
mod made;
mod reference;
#[path = "root_motion/splits.rs"]
mod splits;
