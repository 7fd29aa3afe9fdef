//! The animation data that glTF has no place for.

use super::omissions::{Omission, Omissions};
use std::collections::HashMap;
use throng::Id;
use throng::character::{AdditiveDesc, AnimationDesc, Character, ClipDesc, PoseReference};
use throng::clip::{Clip, CurveClip};

/// The description that makes an import of the file like the character.
///
/// Names that are missing or not unique cannot be described.
pub(super) fn of(character: &Character, omissions: &mut Omissions) -> AnimationDesc {
    let mut desc = character.animation_desc().clone();
    let mut unnamed = 0;
    let joints = character.skeleton().joints();
    for (role, joint) in character.skeleton().roles() {
        let name = joints[joint.index()].name.to_string();
        let first = character.skeleton().joint(&name).ok();
        if name.is_empty() || first != Some(*joint) {
            unnamed += 1;
        } else {
            desc.humanoid.insert(role.to_string(), name);
        }
    }
    let packed = character.clips().iter().map(Clip::name);
    let curves = character.curves().iter().skip(packed.len());
    let names: Vec<&str> = packed.chain(curves.map(CurveClip::name)).collect();
    let mut count: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *count.entry(name).or_default() += 1;
    }
    for (index, name) in (0..).zip(&names) {
        let clip = Id::new(index);
        let is_unique = !name.is_empty() && count.get(name) == Some(&1);
        let gait = character.gait(clip).copied();
        match (character.is_additive(clip), is_unique) {
            (true, true) => desc.additive.push(AdditiveDesc {
                name: None,
                clip: (*name).into(),
                reference: PoseReference::Rest,
            }),
            (true, false) => unnamed += 1,
            (false, true) if gait.is_some() => desc.clips.push(ClipDesc {
                name: (*name).into(),
                gait,
                ..ClipDesc::default()
            }),
            (false, _) => {}
        }
    }
    omissions.add(Omission::Unnamed, unnamed);
    desc
}
