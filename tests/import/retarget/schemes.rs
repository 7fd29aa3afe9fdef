//! Joints are found by the published names of common naming schemes.

use super::rigs::{link_of, skeleton};
use super::scheme_names::{BODY, SCHEMES, Scheme};
use crate::reference;
use crate::reference::raws;
use crate::reference::rng::Rng;
use throng::import::{ImportOptions, RawCharacter, RawNode};
use throng::retarget::{JointMap, Role};
use throng::skeleton::{Skeleton, Transform};

/// The name on the right side for a name on the left side.
fn right(scheme: &Scheme, name: &str) -> String {
    let (left, right) = scheme.sides;
    match name.rfind(left) {
        Some(at) => format!("{}{right}{}", &name[..at], &name[at + left.len()..]),
        None => name.into(),
    }
}

/// The whole body, with both sides, and the expected joint of each role.
fn body(scheme: &Scheme, rename: &dyn Fn(&str) -> String) -> (Skeleton, Vec<(String, String)>) {
    let (mut nodes, mut expected): (Vec<RawNode>, _) = (Vec::new(), Vec::new());
    let node =
        |name: &str, parent: Option<usize>| raws::node(rename(name), parent, Transform::IDENTITY);
    // The nodes of the list on each side. Those of the middle are the same on both sides.
    let mut places = [[0; 23]; 2];
    for (at, ((role, parent), name)) in BODY.iter().zip(scheme.names).enumerate() {
        for side in 0..2 {
            let sided = role.starts_with("left");
            if side == 1 && !sided {
                places[1][at] = places[0][at];
                continue;
            }
            let name = if side == 0 {
                name.into()
            } else {
                right(scheme, name)
            };
            let role = if side == 0 {
                (*role).into()
            } else {
                role.replace("left", "right")
            };
            places[side][at] = nodes.len();
            let parent = (at > 0).then_some(places[side][*parent]);
            nodes.push(node(&name, parent));
            expected.push((role, rename(&name)));
        }
    }
    for (parent, name) in scheme.others {
        nodes.push(node(name, Some(places[0][*parent])));
        let other = right(scheme, name);
        if other != *name {
            nodes.push(node(&other, Some(places[1][*parent])));
        }
    }
    (skeleton(nodes), expected)
}

fn role(name: &str) -> Role {
    let found = Role::all().find(|role| role.to_string() == name);
    found.unwrap_or_else(|| panic!("no role {name}"))
}

fn check(scheme: &Scheme, rename: &dyn Fn(&str) -> String) {
    let (skeleton, expected) = body(scheme, rename);
    let found = skeleton.humanoid();
    for (name, joint) in &expected {
        let got = found
            .get(&role(name))
            .map(|j| &*skeleton.joints()[j.index()].name);
        assert_eq!(got, Some(joint.as_str()), "{}: {name}", scheme.name);
    }
    assert_eq!(found.len(), expected.len(), "{}: {found:?}", scheme.name);
}

#[test]
fn every_schemes_names_are_found() {
    for scheme in &SCHEMES {
        check(scheme, &|name| name.into());
    }
}

/// Names as exporters change them.
#[test]
fn names_as_files_have_them_are_found() {
    for scheme in &SCHEMES {
        for rename in [
            &(|name: &str| format!("Armature|{name}")) as &dyn Fn(&str) -> String,
            &|name: &str| format!("hero:{name}"),
            &|name: &str| name.replace([' ', ':'], "_"),
            &|name: &str| name.replace([':', '.'], ""),
        ] {
            // Without their dots, Rigify's numbers and sides run into each other.
            let glued =
                rename("DEF-toe.L.001") == "DEF-toeL001" && scheme.name.starts_with("Rigify");
            if !glued {
                check(scheme, rename);
            }
        }
    }
    // A second character in one file, and one with numbered nodes.
    check(&SCHEMES[0], &|name| {
        name.replace("mixamorig:", "mixamorig1:")
    });
    check(&SCHEMES[0], &|name| format!("{name}_042"));
    check(&SCHEMES[7], &|name| name.replace("Bip01", "Bip001"));
    check(&SCHEMES[7], &|name| {
        name.replace("Bip01 ", "ValveBiped.Bip01_")
            .replace(' ', "_")
    });
}

/// Every scheme maps onto every other, and keeps the sides.
#[test]
fn every_scheme_maps_onto_every_other() {
    for from in &SCHEMES {
        for to in &SCHEMES {
            let ((a, ours), (b, theirs)) = (body(from, &|n| n.into()), body(to, &|n| n.into()));
            let map = JointMap::humanoid(&a, &b).unwrap();
            assert!(map.unmatched_roles()[0].is_empty());
            assert!(map.unmatched_roles()[1].is_empty());
            assert_eq!(map.links().len(), ours.len());
            for ((role_name, from), (_, to)) in ours.iter().zip(&theirs) {
                let [from, to] = [a.joint(from).unwrap(), b.joint(to).unwrap()];
                let link = link_of(&map, to);
                assert_eq!(link.source, from, "{role_name}");
                assert_eq!((link.second_source, link.second_weight), (None, 0.0));
                assert_eq!(link.role, Some(role(role_name)));
            }
            assert_eq!(
                map.unmatched_joints()[1].iter().copied().count(),
                b.len() - theirs.len()
            );
            assert_eq!(
                map.unmatched_joints()[0].iter().copied().count(),
                a.len() - ours.len()
            );
        }
    }
}

/// A joint with "left" in its name never gets a role of the right side.
#[test]
fn sides_are_never_swapped() {
    let mut rng = Rng::new(41);
    // No word starts with "l", because that would mean left after a separator.
    let words = [
        "arm", "thigh", "hand", "upper", "fore", "1", "02", "_", ".", "-", "thumb", "foot", "bip",
        "Toe", "up",
    ];
    for _ in 0..400 {
        let mut nodes = Vec::new();
        for index in 0..24 {
            let side = [".L", "_l", "Left", " Left ", ".R", "_r", "Right", " Right "][rng.below(8)];
            let mut name: String = (0..1 + rng.below(3))
                .map(|_| words[rng.below(words.len())])
                .collect();
            let at = if side.starts_with('L') || side.starts_with('R') {
                0
            } else {
                name.len()
            };
            name.insert_str(at, side);
            nodes.push(raws::node(
                name,
                (index > 0).then(|| rng.below(index)),
                Transform::IDENTITY,
            ));
        }
        let skeleton = skeleton(nodes);
        for (role, joint) in skeleton.humanoid() {
            let name = &skeleton.joints()[usize::from(joint)].name;
            let left = [".L", "_l", "Left", " Left "]
                .iter()
                .any(|side| name.contains(side));
            match role.to_string() {
                role if role.starts_with("left") => assert!(left, "{name} as {role}"),
                role if role.starts_with("right") => assert!(!left, "{name} as {role}"),
                role => panic!("{name} as {role}"),
            }
        }
    }
}

/// Models that follow no scheme, but common styles.
#[test]
fn models_of_plain_styles_are_found() {
    let plain = |names: &[(&str, Option<usize>)]| {
        let node = |(name, parent): &(&str, Option<usize>)| {
            raws::node(*name, *parent, Transform::IDENTITY)
        };
        skeleton(names.iter().map(node).collect())
    };
    // Pieces that are only numbered, as in two of the Khronos sample models.
    let numbered = plain(&[
        ("torso_joint_1", None),
        ("torso_joint_2", Some(0)),
        ("torso_joint_3", Some(1)),
        ("leg_joint_L_1", Some(0)),
        ("leg_joint_L_2", Some(3)),
        ("leg_joint_L_3", Some(4)),
        ("leg_joint_L_5", Some(5)),
        ("Skeleton_arm_joint_L__4_", Some(2)),
        ("Skeleton_arm_joint_L__3_", Some(7)),
        ("Skeleton_arm_joint_L__2_", Some(8)),
        ("Skeleton_neck_joint_1", Some(2)),
        ("Skeleton_neck_joint_2", Some(10)),
    ]);
    let found = numbered.humanoid();
    let at = |name: &str| numbered.joint(name).ok().map(u16::from);
    for (role, name) in [
        (Role::Hips, "torso_joint_1"),
        (Role::Spine, "torso_joint_2"),
        (Role::Chest, "torso_joint_3"),
        (Role::LeftUpperLeg, "leg_joint_L_1"),
        (Role::LeftToes, "leg_joint_L_5"),
        (Role::LeftUpperArm, "Skeleton_arm_joint_L__4_"),
        (Role::LeftHand, "Skeleton_arm_joint_L__2_"),
        (Role::Neck, "Skeleton_neck_joint_1"),
        (Role::Head, "Skeleton_neck_joint_2"),
    ] {
        assert_eq!(found.get(&role).map(|joint| joint.0), at(name), "{role}");
    }
    // Joints with anatomical names.
    let bends = plain(&[
        ("Pelvis", None),
        ("LeftHip", Some(0)),
        ("LeftKnee", Some(1)),
        ("LeftAnkle", Some(2)),
        ("Chest", Some(0)),
        ("LeftShoulder", Some(4)),
        ("LeftElbow", Some(5)),
        ("LeftWrist", Some(6)),
    ]);
    let found = bends.humanoid();
    let roles: Vec<String> = found
        .iter()
        .map(|(role, joint)| format!("{role} {}", joint.0))
        .collect();
    let at = |name: &str| bends.joint(name).unwrap().0;
    let expected = [
        ("hips", "Pelvis"),
        ("spine", "Chest"),
        ("leftUpperArm", "LeftShoulder"),
        ("leftLowerArm", "LeftElbow"),
        ("leftHand", "LeftWrist"),
        ("leftUpperLeg", "LeftHip"),
        ("leftLowerLeg", "LeftKnee"),
        ("leftFoot", "LeftAnkle"),
    ];
    assert_eq!(
        roles,
        expected.map(|(role, name)| format!("{role} {}", at(name)))
    );
    // The built-in character has all roles except a jaw and eyes.
    let builtin = RawCharacter::mannequin()
        .build(&ImportOptions::curves_only())
        .unwrap();
    assert_eq!(builtin.skeleton().humanoid().len(), 6 + 2 * 23);
}

#[test]
fn names_of_one_case_have_sides() {
    let bones = [
        ("Hips", None),
        ("LeftUpLeg", Some(0)),
        ("LeftLeg", Some(1)),
        ("LeftFoot", Some(2)),
        ("RightArm", Some(0)),
        ("RightForeArm", Some(4)),
        ("RightHand", Some(5)),
    ];
    let roles = |change: fn(&str) -> String| {
        let node = |(name, parent): (&str, Option<usize>)| {
            raws::node(change(name), parent, Transform::IDENTITY)
        };
        let skeleton = skeleton(bones.map(node).into());
        skeleton.humanoid()
    };
    let mixed = roles(|name| name.into());
    assert_eq!(mixed.len(), bones.len());
    assert_eq!(roles(str::to_lowercase), mixed);
    assert_eq!(roles(str::to_uppercase), mixed);
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn models_are_humanoids() {
    for path in reference::assets::files() {
        let Ok(model) = throng_import::file(&path, &ImportOptions::curves_only()) else {
            continue;
        };
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        let found = model.skeleton().humanoid();
        let least = match file.as_str() {
            "CesiumMan" | "RiggedFigure" => 19,
            "Knight" => 18,
            "Fox" => 15,
            _ => continue,
        };
        let named = found.iter().map(|(role, joint)| {
            format!("{role}: {}", model.skeleton().joints()[joint.index()].name)
        });
        println!("{file}: {:?}", named.collect::<Vec<_>>());
        assert!(found.len() >= least, "{file}: {}", found.len());
    }
}
