//! Humanoid bones: names to roles.

use super::json::{Humanoid0, Humanoid1, Index};
use super::scene::VrmScene;
use crate::fault::cut;
use throng::error::AssetFault;
use throng::retarget::Role;

/// Reads the bones of version 1.0 from an extension.
pub(super) fn read1(extension: &str, humanoid: &Humanoid1, scene: &mut VrmScene<'_>) {
    for (name, bone) in &humanoid.human_bones.0 {
        let part = || format!("extensions.{extension}.humanoid.humanBones.{}", cut(name));
        bone_of(name, Role::from_name(name), bone.node, part, scene);
    }
}

/// Reads the bones of version 0.x.
pub(super) fn read0(humanoid: &Humanoid0, scene: &mut VrmScene<'_>) {
    for (index, bone) in humanoid.human_bones.0.iter().enumerate() {
        let part = || format!("extensions.VRM.humanoid.humanBones[{index}]");
        let name = bone.bone.as_deref().unwrap_or_default();
        bone_of(name, role0(name), bone.node, part, scene);
    }
}

/// The role of a bone of version 0.x, whose names for the joints of the thumb differ.
fn role0(name: &str) -> Option<Role> {
    let metacarpal = name.replace("ThumbProximal", "ThumbMetacarpal");
    Role::from_name(&metacarpal.replace("ThumbIntermediate", "ThumbProximal"))
}

fn bone_of(
    name: &str,
    role: Option<Role>,
    Index(node): Index,
    part: impl Fn() -> String,
    scene: &mut VrmScene<'_>,
) {
    let count = scene.raw.nodes.len();
    match (role, node) {
        (Some(role), Some(node)) if node < count => scene.raw.roles.push((role, node)),
        // A bone that the character does not have.
        (Some(_), None) => {}
        (Some(_), Some(node)) => scene.unusable(part(), AssetFault::dangling("node", node, count)),
        (None, _) => {
            let why = AssetFault::UnknownName {
                name: cut(name),
                what: "a humanoid bone of VRM",
            };
            scene.unusable(part(), why);
        }
    }
}
