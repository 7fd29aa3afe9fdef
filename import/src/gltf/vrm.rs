//! The VRM extensions of a glTF file.

use super::json::Document;
use crate::fault::file_part;
use crate::vrm::{VrmScene, face_forward, read_animation, read_vrm0, read_vrm1};
use throng::error::Result;
use throng::import::{RawCharacter, Repair, RepairKind};

/// Extensions of VRM that are not read. The material falls back to what glTF says.
pub(super) const UNREAD: [&str; 4] = [
    "VRMC_materials_hdr_emissiveMultiplier",
    "VRMC_materials_mtoon",
    "VRMC_node_constraint",
    "VRMC_springBone_extended_collider",
];

/// Reads humanoid bones, expressions and spring bones into `raw`. If a file has both versions, 1.0
/// counts.
pub(super) fn read(
    doc: &Document,
    raw: &mut RawCharacter,
    repairs: &mut Vec<Repair>,
) -> Result<()> {
    for name in UNREAD.into_iter().filter(|name| doc.uses(name)) {
        let object = file_part(format!("extensions.{name}"));
        Repair::note(repairs, &object, RepairKind::LeftOut, 1);
    }
    let extensions = &doc.extensions;
    let children = |node: usize| doc.nodes.get(node).map_or(&[][..], |node| &node.children);
    let mesh = |node: usize| doc.nodes.get(node).and_then(|node| node.mesh);
    let mut scene = VrmScene {
        raw,
        repairs,
        children: &children,
        mesh: &mesh,
    };
    if let (Some(animation), None) = (&extensions.vrm_animation, &extensions.vrm1) {
        read_animation(animation, &mut scene);
    }
    match (&extensions.vrm1, &extensions.vrm0) {
        (None, Some(vrm)) => read_vrm0(vrm, &mut scene),
        (vrm, _) => read_vrm1(vrm.as_ref(), extensions.springs.as_ref(), &mut scene),
    }
}

/// Reads what matters to clips for another character: the bones of an animation, and the direction
/// that version 0.x faces.
pub(super) fn read_for_clips(doc: &Document, raw: &mut RawCharacter, repairs: &mut Vec<Repair>) {
    let extensions = &doc.extensions;
    match (
        &extensions.vrm1,
        &extensions.vrm0,
        &extensions.vrm_animation,
    ) {
        (Some(_), _, _) => {}
        (None, Some(_), _) => face_forward(raw),
        (None, None, Some(animation)) => {
            let mut scene = VrmScene {
                raw,
                repairs,
                children: &|_| &[],
                mesh: &|_| None,
            };
            read_animation(animation, &mut scene);
        }
        (None, None, None) => {}
    }
}
