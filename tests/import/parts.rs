//! Parts by name, and nodes that are left out.

use crate::reference::raws;
use crate::reference::words::Fails;
use throng::Error;
use throng::glam::{Mat4, Vec3};
use throng::import::{ImportOptions, Imported, RawCharacter, RawPrimitive};
use throng::skeleton::Transform;

/// hip ─ hand ─ sword ─ gem, where a skin has hip and hand.
fn armed() -> RawCharacter {
    let node = |name: &str, parent| raws::node(name, parent, Transform::IDENTITY);
    let part = |part: &str, name: &str, node, skin: Option<usize>| RawPrimitive {
        name: name.into(),
        part: part.into(),
        node,
        skin,
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        influences_per_vertex: usize::from(skin.is_some()),
        joints: if skin.is_some() {
            vec![0, 1, 1]
        } else {
            Vec::new()
        },
        weights: if skin.is_some() {
            vec![1.0; 3]
        } else {
            Vec::new()
        },
        indices: vec![0, 1, 2],
        ..RawPrimitive::default()
    };
    RawCharacter {
        nodes: vec![
            node("gem", Some(1)),
            node("sword", Some(3)),
            node("hip", None),
            node("hand", Some(2)),
        ],
        skins: vec![raws::skin([2, 3], vec![Mat4::IDENTITY; 2])],
        primitives: vec![
            part("body", "body.0", 2, Some(0)),
            part("sword", "blade", 1, None),
            part("sword", "hilt", 1, None),
            part("", "gem.0", 0, None),
        ],
        ..RawCharacter::default()
    }
}

fn built(leave_out: &[&str]) -> Result<Imported, Error> {
    let options = ImportOptions {
        leave_out: leave_out.iter().map(|name| (*name).into()).collect(),
        ..ImportOptions::default()
    };
    armed().build(&options)
}

fn parts(imported: &Imported) -> Vec<&str> {
    imported.parts().map(|(_, name)| name).collect()
}

#[test]
fn parts_are_nodes_and_the_primitives_of_nodes_that_have_several() {
    let whole = built(&[]).unwrap();
    // One without a name of its node goes by its own.
    assert_eq!(parts(&whole), ["body", "sword", "gem.0", "blade", "hilt"]);
    for (part, name) in whole.parts() {
        assert_eq!(whole.part(name).unwrap(), part);
    }
    whole
        .part("shield")
        .fails("part \"shield\" does not exist: there are body, sword, gem.0, blade, hilt");
    // Pieces of a primitive are one part: here a triangle for each joint.
    let mut raw = armed();
    let body = &mut raw.primitives[0];
    body.positions.extend([Vec3::Z, Vec3::X, Vec3::NEG_Y]);
    body.joints = vec![0, 0, 0, 1, 1, 1];
    body.weights = vec![1.0; 6];
    body.indices = (0..6).collect();
    let whole = raw.build(&ImportOptions::default()).unwrap();
    let (split, _) = whole.split(1).unwrap();
    assert_eq!(split.primitives().len(), whole.primitives().len() + 1);
    assert!(split.parts().eq(whole.parts()));
}

#[test]
fn a_node_is_left_out_with_all_below_it() {
    let joints = |imported: &Imported| imported.skeleton().len();
    let whole = built(&[]).unwrap();
    assert_eq!(joints(&whole), 4);
    let bare = built(&["sword"]).unwrap();
    assert_eq!((parts(&bare), joints(&bare)), (vec!["body"], 2));
    let dull = built(&["gem"]).unwrap();
    assert_eq!(parts(&dull), ["body", "sword", "blade", "hilt"]);
    assert_eq!(joints(&dull), 3);
    // The skin needs the hand as a joint, and nothing that hangs on it.
    let unarmed = built(&["hand"]).unwrap();
    assert_eq!((parts(&unarmed), joints(&unarmed)), (vec!["body"], 2));
    let unskinned = built(&["hip"]).unwrap();
    assert_eq!((parts(&unskinned), joints(&unskinned)), (vec![], 2));
    built(&["gem", "shield"]).fails(
        "unnamed: node to leave out \"shield\" does not exist: there are gem, sword, hip, \
             hand",
    );
    // A cycle is refused as it is without anything left out.
    let mut cyclic = armed();
    cyclic.nodes[2].parent = Some(0);
    let options = ImportOptions {
        leave_out: vec!["gem".into()],
        ..ImportOptions::default()
    };
    assert!(matches!(cyclic.build(&options), Err(Error::Asset { .. })));
    let mut cyclic = armed();
    cyclic.nodes[2].parent = Some(3);
    assert!(matches!(cyclic.build(&options), Err(Error::Asset { .. })));
}
