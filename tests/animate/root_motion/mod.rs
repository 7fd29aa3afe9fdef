//! Root motion against plain `f64` code: what stays and what is taken out, over any time, blended
//! and applied.

mod deltas;
mod durations;
mod faults;
mod made;
mod splits;
