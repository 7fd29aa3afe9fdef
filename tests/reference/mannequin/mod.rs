//! The built-in mannequin, modelled by code, and its file.
//!
//! [`shape`] and [`file`] make `src/builtin/mannequin.bin`. `tests/character/mannequin_file.rs`
//! compares them with it.

mod arm;
mod cage;
mod clips;
mod file;
mod gait;
mod hand;
mod head;
mod leg;
mod mesh;
mod pose;
mod refine;
mod rig;
mod row;
mod trunk;

use crate::raws;
pub use file::file;
pub use gait::{RUN_M_S, WALK_M_S};

use rig::{RestJoint, rest_joints};
use throng::glam::{Mat4, Vec3};
use throng::import::{RawCharacter, RawNode, RawSkin};

/// Skeleton, surface and clips of the mannequin.
///
/// It has no levels of detail. They are made by a simplifier.
pub fn shape() -> RawCharacter {
    let rest = rest_joints();
    RawCharacter {
        nodes: rest.iter().map(|joint| node(joint, &rest)).collect(),
        skins: vec![RawSkin {
            name: "Mannequin".into(),
            joints: (0..rest.len()).collect(),
            inverse_bind: rest.iter().map(inverse_bind).collect(),
        }],
        primitives: vec![mesh::primitive()],
        animations: clips::animations(&rest),
        ..RawCharacter::default()
    }
}

fn inverse_bind(joint: &RestJoint) -> Mat4 {
    Mat4::from_rotation_translation(joint.axes, joint.position).inverse()
}

fn node(joint: &RestJoint, rest: &[RestJoint]) -> RawNode {
    let (translation, rotation) = match joint.parent.map(|parent| &rest[parent]) {
        Some(parent) => {
            let from = parent.axes.inverse();
            let offset = from * (joint.position - parent.position);
            (offset, (from * joint.axes).normalize())
        }
        None => (joint.position, joint.axes),
    };
    raws::node(
        joint.name.clone(),
        joint.parent,
        raws::transform(translation, rotation, Vec3::ONE),
    )
}
