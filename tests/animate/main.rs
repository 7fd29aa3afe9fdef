//! Tests of clips, blends, state machines, inverse kinematics and the animator.
//!
//! The reference is simple `f64` code.

mod additive;
mod animator;
mod blend_space;
mod clip_packing;
mod events;
mod exploring;
mod fades;
mod half_turn;
mod ik;
mod inertial_decay;
mod loop_mode;
mod masks;
mod messages;
mod models;
mod morph_clips;
mod moving_clips;
mod refused;
mod root_motion;
mod sampling;
mod sockets;
mod spheres;
mod springs;
mod state_machine;

use throng_reference as reference;
