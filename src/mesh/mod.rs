//! Meshes, materials and palette entries: the parts of a character that are drawn.

#[cfg(feature = "decode")]
mod astc;
mod bounds;
#[cfg(feature = "decode")]
mod decode;
mod expression;
mod image;
mod image_format;
mod material;
mod mips;
mod model;
mod order;
mod palette_joint;
mod parts;
mod primitive;
mod reach;
mod variants;
mod winding;

pub use bounds::{Aabb, Sphere};
pub(crate) use bounds::{abs, stretch};
pub(crate) use expression::add_expressions;
pub use expression::{Expression, ExpressionOverride, MorphWeight};
pub use image::Image;
pub(crate) use image::{RunLengths, TexelRuns};
pub use image_format::{ImageFormat, ImageLevel};
pub use material::{AlphaMode, Filter, Material, TextureRef, Wrap};
pub(crate) use model::{Model, Skin};
pub(crate) use order::{cache_order, reorder, shaded_vertices};
pub use palette_joint::PaletteJoint;
pub(crate) use palette_joint::bound_entries;
pub use parts::PartId;
pub(crate) use parts::{Parts, part_bits};
pub(crate) use primitive::even_levels;
pub use primitive::{JointIndices, MeshLevel, MorphTarget, Primitive};
pub(crate) use reach::{HubReach, MorphReach, hub_reaches, morph_reaches};
pub use variants::{MaterialVariant, VariantId};
pub(crate) use winding::{flip_triangles, flipped_vertices, linear};
