//! Naming schemes: their published names, each of which must be found as what it is.
//!
//! Mixamo: the skeleton of its characters; Unreal: the UE4 mannequin's; VRM: VRoid's joints and the
//! humanoid bones of VRM 1.0; Rigify: the human metarig and the deforming copy; Biped: 3ds Max's.

use super::rigs::skeleton;
use crate::reference;
use crate::reference::rng::Rng;
use throng::builtin;
use throng::ids::JointId;
use throng::import::{self, ImportOptions, RawNode, RawTransform};
use throng::retarget::{Humanoid, JointMap, Role, Side};
use throng::skeleton::{Skeleton, Transform};

/// Role by VRM's name, on the left where there are sides; parent by its place in the list; then the
/// names.
const BODY: [(&str, usize); 23] = [
    ("hips", 0),
    ("spine", 0),
    ("chest", 1),
    ("upperChest", 2),
    ("neck", 3),
    ("head", 4),
    ("leftShoulder", 3),
    ("leftUpperArm", 6),
    ("leftLowerArm", 7),
    ("leftHand", 8),
    ("leftUpperLeg", 0),
    ("leftLowerLeg", 10),
    ("leftFoot", 11),
    ("leftToes", 12),
    ("leftThumbMetacarpal", 9),
    ("leftThumbProximal", 14),
    ("leftThumbDistal", 15),
    ("leftIndexProximal", 9),
    ("leftIndexIntermediate", 17),
    ("leftIndexDistal", 18),
    ("leftLittleProximal", 9),
    ("leftLittleIntermediate", 20),
    ("leftLittleDistal", 21),
];

/// The names of [`BODY`], and joints that are none of it, each hung below the joint whose number
/// stands before.
struct Scheme {
    name: &'static str,
    names: [&'static str; 23],
    others: &'static [(usize, &'static str)],
    /// How the left and the right are told apart: the piece of the name on the left, and on the
    /// right.
    sides: (&'static str, &'static str),
}

const SCHEMES: [Scheme; 8] = [
    Scheme {
        name: "Mixamo",
        names: [
            "mixamorig:Hips",
            "mixamorig:Spine",
            "mixamorig:Spine1",
            "mixamorig:Spine2",
            "mixamorig:Neck",
            "mixamorig:Head",
            "mixamorig:LeftShoulder",
            "mixamorig:LeftArm",
            "mixamorig:LeftForeArm",
            "mixamorig:LeftHand",
            "mixamorig:LeftUpLeg",
            "mixamorig:LeftLeg",
            "mixamorig:LeftFoot",
            "mixamorig:LeftToeBase",
            "mixamorig:LeftHandThumb1",
            "mixamorig:LeftHandThumb2",
            "mixamorig:LeftHandThumb3",
            "mixamorig:LeftHandIndex1",
            "mixamorig:LeftHandIndex2",
            "mixamorig:LeftHandIndex3",
            "mixamorig:LeftHandPinky1",
            "mixamorig:LeftHandPinky2",
            "mixamorig:LeftHandPinky3",
        ],
        others: &[
            (5, "mixamorig:HeadTop_End"),
            (13, "mixamorig:LeftToe_End"),
            (16, "mixamorig:LeftHandThumb4"),
            (19, "mixamorig:LeftHandIndex4"),
            (22, "mixamorig:LeftHandPinky4"),
        ],
        sides: ("Left", "Right"),
    },
    Scheme {
        name: "Unreal",
        names: [
            "pelvis",
            "spine_01",
            "spine_02",
            "spine_03",
            "neck_01",
            "head",
            "clavicle_l",
            "upperarm_l",
            "lowerarm_l",
            "hand_l",
            "thigh_l",
            "calf_l",
            "foot_l",
            "ball_l",
            "thumb_01_l",
            "thumb_02_l",
            "thumb_03_l",
            "index_01_l",
            "index_02_l",
            "index_03_l",
            "pinky_01_l",
            "pinky_02_l",
            "pinky_03_l",
        ],
        others: &[
            (7, "upperarm_twist_01_l"),
            (8, "lowerarm_twist_01_l"),
            (10, "thigh_twist_01_l"),
            (11, "calf_twist_01_l"),
            (9, "index_metacarpal_l"),
            (0, "ik_foot_root"),
            (0, "ik_foot_l"),
            (0, "ik_hand_gun"),
            (0, "ik_hand_l"),
            (7, "upperarm_bck_l"),
            (7, "upperarm_fwd_l"),
        ],
        sides: ("_l", "_r"),
    },
    Scheme {
        name: "VRoid",
        names: [
            "J_Bip_C_Hips",
            "J_Bip_C_Spine",
            "J_Bip_C_Chest",
            "J_Bip_C_UpperChest",
            "J_Bip_C_Neck",
            "J_Bip_C_Head",
            "J_Bip_L_Shoulder",
            "J_Bip_L_UpperArm",
            "J_Bip_L_LowerArm",
            "J_Bip_L_Hand",
            "J_Bip_L_UpperLeg",
            "J_Bip_L_LowerLeg",
            "J_Bip_L_Foot",
            "J_Bip_L_ToeBase",
            "J_Bip_L_Thumb1",
            "J_Bip_L_Thumb2",
            "J_Bip_L_Thumb3",
            "J_Bip_L_Index1",
            "J_Bip_L_Index2",
            "J_Bip_L_Index3",
            "J_Bip_L_Little1",
            "J_Bip_L_Little2",
            "J_Bip_L_Little3",
        ],
        others: &[
            (3, "J_Sec_L_Bust1"),
            (5, "J_Sec_Hair1_01"),
            (10, "J_Sec_L_CoatSkirtBack1_01"),
        ],
        sides: ("_L_", "_R_"),
    },
    Scheme {
        name: "VRM",
        names: [
            "hips",
            "spine",
            "chest",
            "upperChest",
            "neck",
            "head",
            "leftShoulder",
            "leftUpperArm",
            "leftLowerArm",
            "leftHand",
            "leftUpperLeg",
            "leftLowerLeg",
            "leftFoot",
            "leftToes",
            "leftThumbMetacarpal",
            "leftThumbProximal",
            "leftThumbDistal",
            "leftIndexProximal",
            "leftIndexIntermediate",
            "leftIndexDistal",
            "leftLittleProximal",
            "leftLittleIntermediate",
            "leftLittleDistal",
        ],
        others: &[],
        sides: ("left", "right"),
    },
    Scheme {
        name: "Rigify's deforming bones",
        names: [
            "DEF-spine",
            "DEF-spine.001",
            "DEF-spine.002",
            "DEF-spine.003",
            "DEF-spine.004",
            "DEF-spine.006",
            "DEF-shoulder.L",
            "DEF-upper_arm.L",
            "DEF-forearm.L",
            "DEF-hand.L",
            "DEF-thigh.L",
            "DEF-shin.L",
            "DEF-foot.L",
            "DEF-toe.L",
            "DEF-thumb.01.L",
            "DEF-thumb.02.L",
            "DEF-thumb.03.L",
            "DEF-f_index.01.L",
            "DEF-f_index.02.L",
            "DEF-f_index.03.L",
            "DEF-f_pinky.01.L",
            "DEF-f_pinky.02.L",
            "DEF-f_pinky.03.L",
        ],
        others: &[
            (7, "DEF-upper_arm.L.001"),
            (8, "DEF-forearm.L.001"),
            (10, "DEF-thigh.L.001"),
            (11, "DEF-shin.L.001"),
            (0, "DEF-pelvis.L"),
            (9, "DEF-palm.01.L"),
            (3, "DEF-breast.L"),
            (0, "ORG-thigh.L"),
            (0, "MCH-foot_ik.L"),
            (0, "hips"),
            (0, "torso"),
            (0, "chest"),
            (0, "head"),
            (0, "upper_arm_fk.L"),
            (0, "hand_ik.L"),
            (0, "foot_ik.L"),
        ],
        sides: (".L", ".R"),
    },
    Scheme {
        name: "Rigify's metarig",
        names: [
            "spine",
            "spine.001",
            "spine.002",
            "spine.003",
            "spine.004",
            "spine.006",
            "shoulder.L",
            "upper_arm.L",
            "forearm.L",
            "hand.L",
            "thigh.L",
            "shin.L",
            "foot.L",
            "toe.L",
            "thumb.01.L",
            "thumb.02.L",
            "thumb.03.L",
            "f_index.01.L",
            "f_index.02.L",
            "f_index.03.L",
            "f_pinky.01.L",
            "f_pinky.02.L",
            "f_pinky.03.L",
        ],
        others: &[
            (0, "pelvis.L"),
            (9, "palm.01.L"),
            (12, "heel.02.L"),
            (3, "breast.L"),
        ],
        sides: (".L", ".R"),
    },
    Scheme {
        name: "Rigify's originals",
        names: [
            "ORG-spine",
            "ORG-spine.001",
            "ORG-spine.002",
            "ORG-spine.003",
            "ORG-spine.004",
            "ORG-spine.006",
            "ORG-shoulder.L",
            "ORG-upper_arm.L",
            "ORG-forearm.L",
            "ORG-hand.L",
            "ORG-thigh.L",
            "ORG-shin.L",
            "ORG-foot.L",
            "ORG-toe.L",
            "ORG-thumb.01.L",
            "ORG-thumb.02.L",
            "ORG-thumb.03.L",
            "ORG-f_index.01.L",
            "ORG-f_index.02.L",
            "ORG-f_index.03.L",
            "ORG-f_pinky.01.L",
            "ORG-f_pinky.02.L",
            "ORG-f_pinky.03.L",
        ],
        others: &[
            (0, "ORG-pelvis.L"),
            (9, "ORG-palm.01.L"),
            (12, "ORG-heel.02.L"),
        ],
        sides: (".L", ".R"),
    },
    Scheme {
        name: "Biped",
        names: [
            "Bip01 Pelvis",
            "Bip01 Spine",
            "Bip01 Spine1",
            "Bip01 Spine2",
            "Bip01 Neck",
            "Bip01 Head",
            "Bip01 L Clavicle",
            "Bip01 L UpperArm",
            "Bip01 L Forearm",
            "Bip01 L Hand",
            "Bip01 L Thigh",
            "Bip01 L Calf",
            "Bip01 L Foot",
            "Bip01 L Toe0",
            "Bip01 L Finger0",
            "Bip01 L Finger01",
            "Bip01 L Finger02",
            "Bip01 L Finger1",
            "Bip01 L Finger11",
            "Bip01 L Finger12",
            "Bip01 L Finger4",
            "Bip01 L Finger41",
            "Bip01 L Finger42",
        ],
        others: &[
            (0, "Bip01"),
            (0, "Bip01 Footsteps"),
            (5, "Bip01 HeadNub"),
            (13, "Bip01 L Toe0Nub"),
            (16, "Bip01 L Finger0Nub"),
            (7, "Bip01 LUpArmTwist"),
            (8, "Bip01 L ForeTwist"),
            (5, "Bip01 Ponytail1"),
        ],
        sides: (" L ", " R "),
    },
];

/// The name on the right, of one on the left.
fn right(scheme: &Scheme, name: &str) -> String {
    let (left, right) = scheme.sides;
    match name.rfind(left) {
        Some(at) => format!("{}{right}{}", &name[..at], &name[at + left.len()..]),
        None => name.into(),
    }
}

/// The whole body: names and parents, the right side as the left, in any order of siblings.
fn body(scheme: &Scheme, rename: &dyn Fn(&str) -> String) -> (Skeleton, Vec<(String, String)>) {
    let (mut nodes, mut expected): (Vec<RawNode>, _) = (Vec::new(), Vec::new());
    let node = |name: &str, parent: Option<usize>| RawNode {
        name: rename(name).into(),
        parent,
        transform: RawTransform::Trs(Transform::IDENTITY),
    };
    // Places of the list's joints on each side; those of the middle are the same on both.
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
    let found = Humanoid::find(&skeleton);
    for (name, joint) in &expected {
        let got = found
            .joint(role(name))
            .map(|j| &*skeleton.joints()[usize::from(j)].name);
        assert_eq!(got, Some(joint.as_str()), "{}: {name}", scheme.name);
    }
    assert_eq!(
        found.roles().count(),
        expected.len(),
        "{}: {found:?}",
        scheme.name
    );
}

#[test]
fn every_schemes_names_are_found() {
    for scheme in &SCHEMES {
        check(scheme, &|name| name.into());
    }
}

/// What exporters make of the names.
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

/// Every scheme onto every other, with sides kept.
#[test]
fn every_scheme_maps_onto_every_other() {
    for from in &SCHEMES {
        for to in &SCHEMES {
            let ((a, ours), (b, theirs)) = (body(from, &|n| n.into()), body(to, &|n| n.into()));
            let map = JointMap::humanoid(&a, &b).unwrap();
            assert!(map.unmatched_roles().is_empty());
            assert_eq!(map.links().len(), ours.len());
            for ((role_name, from), (_, to)) in ours.iter().zip(&theirs) {
                let link = map.link(JointId(b.joint(to).unwrap().0)).unwrap();
                assert_eq!(
                    link.source,
                    JointId(a.joint(from).unwrap().0),
                    "{role_name}"
                );
                assert_eq!((link.toward, link.role), (None, Some(role(role_name))));
            }
            assert_eq!(map.unmatched_target().count(), b.len() - theirs.len());
            assert_eq!(map.unmatched_source().count(), a.len() - ours.len());
        }
    }
}

/// Whatever else is in a name, a joint that says left is not found on the right.
#[test]
fn sides_are_never_swapped() {
    let mut rng = Rng::new(41);
    // None of them starts with l, which would say left behind a separator.
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
            nodes.push(RawNode {
                name: name.into(),
                parent: (index > 0).then(|| rng.below(index)),
                transform: RawTransform::Trs(Transform::IDENTITY),
            });
        }
        let skeleton = skeleton(nodes);
        for (role, joint) in Humanoid::find(&skeleton).roles() {
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

/// The styles of models that follow no scheme.
#[test]
fn models_of_plain_styles_are_found() {
    let plain = |names: &[(&str, Option<usize>)]| {
        let node = |(name, parent): &(&str, Option<usize>)| RawNode {
            name: (*name).into(),
            parent: *parent,
            transform: RawTransform::Trs(Transform::IDENTITY),
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
    let found = Humanoid::find(&numbered);
    let at = |name: &str| numbered.joint(name).ok().map(u16::from);
    for (role, name) in [
        (Role::Hips, "torso_joint_1"),
        (Role::Spine, "torso_joint_2"),
        (Role::Chest, "torso_joint_3"),
        (Role::UpperLeg(Side::Left), "leg_joint_L_1"),
        (Role::Toes(Side::Left), "leg_joint_L_5"),
        (Role::UpperArm(Side::Left), "Skeleton_arm_joint_L__4_"),
        (Role::Hand(Side::Left), "Skeleton_arm_joint_L__2_"),
        (Role::Neck, "Skeleton_neck_joint_1"),
        (Role::Head, "Skeleton_neck_joint_2"),
    ] {
        assert_eq!(found.joint(role).map(u16::from), at(name), "{role}");
    }
    // Joints called after what bends there.
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
    let found = Humanoid::find(&bends);
    let roles: Vec<String> = found
        .roles()
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
    // The built-in character has all but a jaw and eyes.
    let builtin = builtin::mannequin_with(&ImportOptions::curves_only()).unwrap();
    assert_eq!(
        Humanoid::find(builtin.skeleton()).roles().count(),
        6 + 2 * 23
    );
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
        let node = |(name, parent): (&str, Option<usize>)| RawNode {
            name: change(name).into(),
            parent,
            transform: RawTransform::Trs(Transform::IDENTITY),
        };
        let skeleton = skeleton(bones.map(node).into());
        Humanoid::find(&skeleton).roles().collect::<Vec<_>>()
    };
    let mixed = roles(|name| name.into());
    assert_eq!(mixed.len(), bones.len());
    assert_eq!(roles(str::to_lowercase), mixed);
    assert_eq!(roles(str::to_uppercase), mixed);
}

#[test]
fn models_are_humanoids() {
    for path in reference::assets::files() {
        let Ok(model) = import::gltf_file(&path, &ImportOptions::curves_only()) else {
            continue;
        };
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        let found = Humanoid::find(model.skeleton());
        let least = match file.as_str() {
            "CesiumMan" | "RiggedFigure" => 19,
            "Knight" => 18,
            "Fox" => 15,
            _ => continue,
        };
        let named = found.roles().map(|(role, joint)| {
            format!(
                "{role}: {}",
                model.skeleton().joints()[usize::from(joint)].name
            )
        });
        println!("{file}: {:?}", named.collect::<Vec<_>>());
        assert!(
            found.roles().count() >= least,
            "{file}: {}",
            found.roles().count()
        );
    }
}
