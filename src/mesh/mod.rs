//! Meshes, materials and palette entries: the parts of a character that are drawn.

mod aabb;
mod cache_order;
mod expression;
mod image;
mod level;
mod material;
mod model;
mod morph_reach;
mod morph_weight;
mod palette_joint;
mod parts;
mod primitive;
mod texel_runs;
mod vertex_reuse;
mod winding;

pub use aabb::Aabb;
pub(crate) use cache_order::{cache_order, first_use_order};
pub(crate) use expression::add_expressions;
pub use expression::{Expression, ExpressionOverride};
pub use image::Image;
pub use level::MeshLevel;
pub use material::{AlphaMode, Filter, Material, TextureRef, Wrap};
pub(crate) use model::{Model, Skin};
pub(crate) use morph_reach::{MorphReach, morph_reaches};
pub use morph_weight::MorphWeight;
pub use palette_joint::PaletteJoint;
pub(crate) use palette_joint::bound_entries;
pub use parts::PartId;
pub(crate) use parts::Parts;
pub(crate) use parts::part_bits;
pub use primitive::{JointIndices, MorphTarget, Primitive};
pub(crate) use texel_runs::{RunLengths, TexelRuns};
pub use vertex_reuse::{VertexReuse, shaded_vertices};
pub(crate) use winding::{flip_triangles, flipped_vertices, linear};
