//! Root motion, compared with plain `f64` code: split clips, motion over any time span, blended and
//! applied.

mod deltas;
mod durations;
mod faults;
mod gait;
mod ground_speed;
mod made;
mod splits;
