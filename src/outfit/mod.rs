//! Parts of other characters on one skeleton: hats, garments, weapons, whole bodies.
//!
//! A crowd of one character looks like one character. Files of one artist often share a skeleton,
//! and [`Character::with_parts_of`](crate::character::Character::with_parts_of) merges their
//! meshes: eight bodies and eight garments become one character with one palette, so that all
//! instances stand in the same draws. Each instance then hides what it does not wear
//! ([`Spawn::hidden_parts`](crate::Spawn::hidden_parts), `Instance::set_part_visible`).
//!
//! # Matching
//!
//! Joints are matched by [`JointMap::by_names`](crate::retarget::JointMap::by_names), so prefixes
//! such as `mixamorig:` do not matter, or by a map that the caller gives. The hierarchies may
//! differ. What follows one joint alone, such as a sword on a node below the hand, needs no match
//! of that node: it is held by the nearest joint above that has one. Parts that are bent by a joint
//! without a match are left out, or [held](OutfitOptions::hold_joints) as well. No joint is added,
//! because packed clips and masks are made for the joints of one skeleton.
//!
//! # Bind poses
//!
//! Both skeletons must rest in the same pose. Their rest poses are compared in model space, after
//! the scale and the translation that bring the joints that vertices follow closest to each other,
//! by least squares. A part fits if each of its joints is then at most
//! [`OutfitOptions::max_distance`] from where it is here.
//!
//! Let `R` and `R'` be the linear parts of a joint's rest matrices here and there, `s` that scale,
//! and `B'` the inverse bind matrix there. The palette entry of the part is
//!
//! ```text
//! B = s · R⁻¹ · R' · B'
//! ```
//!
//! So a part keeps its size and direction at rest, whatever the axes and units of the joints are,
//! and it sits at the joint of this skeleton as it sat at its own: gloves are on the hands, even of
//! a longer arm. Where `s · R⁻¹ · R'` is the identity to within 1e-4, `B'` stays as it is, bit for
//! bit, and entries that both characters have are shared.

mod entries;
mod merge;
mod options;
mod report;

pub use options::OutfitOptions;
pub use report::{AddedPart, LeftOutPart, OutfitIssue, OutfitReport};
