//! Tests of the GPU code on a real driver, under the validation layer.
//!
//! Synchronization validation is on, and any message fails a test. Every test runs in one of the
//! configurations in `support::CONFIGS`, in two with `THRONG_THOROUGH`, or in those that
//! `THRONG_CONFIGURATIONS` selects.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each would say that the test keeps its objects alive, and waits before it destroys \
     them"
)]

#[path = "../support/mod.rs"]
mod support;

// Files of the crate whose items are private, compiled once more for tests of them.
#[allow(dead_code, unreachable_pub, reason = "the crate uses the rest")]
#[path = "../../src/gpu/half.rs"]
mod half;
#[allow(dead_code, unreachable_pub, reason = "the crate uses the rest")]
#[path = "../../src/crowd/visibility/occlusion.rs"]
mod occlusion_records;
#[allow(dead_code, unreachable_pub, reason = "the crate uses the rest")]
#[path = "../../src/pass/push.rs"]
mod push_layout;
#[allow(dead_code, unreachable_pub, reason = "the crate uses the rest")]
#[path = "../../src/gpu/layout.rs"]
mod shader_layout;

mod allocators;
mod animate;
mod animator;
mod attachments;
mod compiled_shaders;
mod constants;
#[path = "../../examples/common/cube_image.rs"]
mod cube_image;
mod culling;
mod engine;
mod eyes;
mod features;
mod frames_in_flight;
mod getters;
mod hidden_parts;
mod layout;
mod limits;
mod material_variants;
mod materials;
mod mip_chain;
mod misuse;
mod model;
mod more_validation;
mod motion;
mod moves;
mod occlusion;
mod origin;
mod other_device;
mod parts;
mod passes;
mod picking;
mod pictures;
mod places;
mod poison;
mod posed_by;
mod rays;
mod recording;
mod replacing;
mod rollback;
mod shared_poses;
mod sides;
mod skin_stage;
mod sockets;
#[cfg(feature = "tracing")]
mod spans;
mod spirv_rules;
mod threads;
mod ticks;
mod unsupported;
mod variants;
mod visibility;
mod winding;

/// The modules of the crate that those files import.
mod gpu {
    pub(crate) use crate::half;
    pub(crate) use crate::shader_layout as layout;
}
mod pass {
    pub(crate) use crate::push_layout as push;
}

use throng::{ash, glam, mesh, palette};
use throng_reference as reference;
