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

pub use bounds::{morphed_bounds, posed_bounds};
pub use flipped::flipped_triangles;
pub use morph::{MorphedVertices, morph};
pub use pick::{Faces, Hit, Posed, PosedInstance, Ray, pick, pick_many};
pub use skinned_layout::{SkinnedLayout, SkinnedPart};
pub use skinner::{SkinJob, Skinner, skin_many};
pub use vertices::{PosedVertices, skin};
