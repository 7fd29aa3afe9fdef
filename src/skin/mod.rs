//! The skin stage on the CPU: morph targets, skinning, bounds and picking.
//!
//! [`skin`](skin()) deforms the vertices of one primitive in plain code. [`Skinner`] does the same
//! for eight vertices at a time. Both produce positions, normals and tangents in character space.

mod bounds;
mod dual_quat;
mod flipped;
mod linear;
mod morph;
mod pick;
mod ray;
mod skinned_layout;
mod skinner;
mod vertices;

pub use bounds::posed_bounds;
pub use flipped::flipped_triangles;
pub use pick::{Faces, Hit, Posed, PosedInstance, Ray, pick, pick_many};
pub use skinned_layout::{SkinnedLayout, SkinnedPart};
pub use skinner::Skinner;
pub use vertices::{PosedVertices, skin};

// For the tests and benches of this crate: not part of the API.
#[doc(hidden)]
pub use morph::{MorphedVertices, morph};
#[doc(hidden)]
pub use ray::{Line, RayHit};
#[doc(hidden)]
pub use skinned_layout::StreamCounts;
#[doc(hidden)]
pub use skinner::{PackedPart, SkinJob, skin_many};
