//! Names with control characters.

use crate::error::{Object, ObjectKind, has_escaped};
use crate::import::RawCharacter;
use crate::import::fault::cut;
use crate::import::repair::{Repair, RepairKind};

/// Reports the names of nodes, materials, animations and morph targets that have some.
pub(super) fn note_controls(raw: &RawCharacter, repairs: &mut Vec<Repair>) {
    let nodes = raw.nodes.iter().map(|node| &*node.name);
    let materials = raw.materials.iter().map(|material| &*material.name);
    let animations = raw.animations.iter().map(|animation| &*animation.name);
    tell(ObjectKind::Node, &mut nodes.enumerate(), repairs);
    tell(ObjectKind::Material, &mut materials.enumerate(), repairs);
    tell(ObjectKind::Animation, &mut animations.enumerate(), repairs);
    for morph in &raw.morphs {
        let names = morph.names.iter().filter(|name| has_escaped(name));
        let object = Object::new(ObjectKind::Node, morph.node, "names of morph targets");
        let kind = RepairKind::ControlCharacters;
        Repair::note(repairs, &object, kind, names.count() as u64);
    }
}

fn tell(
    kind: ObjectKind,
    names: &mut dyn Iterator<Item = (usize, &str)>,
    repairs: &mut Vec<Repair>,
) {
    for (index, name) in names.filter(|(_, name)| has_escaped(name)) {
        let object: Object = Object::new(kind, index, cut(name));
        Repair::note(repairs, &object, RepairKind::ControlCharacters, 1);
    }
}
