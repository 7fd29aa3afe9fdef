//! Libraries of clips, sockets, and names.

use crate::arm::import;
use crate::ascii::{File, LINEAR, arm, list};
use throng::character::Character;
use throng::clip::CurveClip;
use throng::import::{ImportOptions, RepairKind};
use throng::retarget::{JointMap, Retarget};

/// Two armatures like that of the arm, each with a clip. `Walk` is for the second one.
pub(crate) fn library(names: [[&str; 2]; 2]) -> File {
    let mut file = File::new();
    let triangle = format!(
        "Vertices: {}\nPolygonVertexIndex: {}\nGeometryVersion: 124",
        list(&[0, 0, 0, 1, 0, 0, 0, 1, 0]),
        list(&[0, 1, -3]),
    );
    let geometry = file.object("Geometry", "Geometry::Cube", "Mesh", &triangle);
    let cube = file.node("Cube", "Mesh", 0, &[]);
    file.connect(geometry, cube);
    let tips = [("First", names[0]), ("Second", names[1])].map(|(above, [base, tip])| {
        let above = file.node(above, "Null", 0, &[]);
        let base = file.node(base, "LimbNode", above, &[]);
        file.node(
            tip,
            "LimbNode",
            base,
            &[("Lcl Translation", [0.0, 0.0, 100.0])],
        )
    });
    for (name, moved, still, angle) in [("Wave", 0, 1, 30.0), ("Walk", 1, 0, 60.0)] {
        let take = file.take(name, 0.0, 1.0);
        for (tip, angle) in [(tips[still], 0.0), (tips[moved], angle)] {
            let keys = [(0.0, 0.0), (1.0, angle)];
            file.curve(take, (tip, "Lcl Rotation", "d|X"), &keys, LINEAR);
        }
    }
    file
}

/// The angle in degrees by which the tip is turned at the end of a clip.
fn end(onto: &Character, clip: &CurveClip) -> f32 {
    let mut pose = onto.skeleton().rest_pose();
    clip.sample(1.0, &mut pose).unwrap();
    let tip = onto.skeleton().joint("Tip").unwrap().index();
    pose[tip]
        .rotation
        .angle_between(onto.skeleton().joints()[tip].rest.rotation)
        .to_degrees()
}

#[test]
fn a_take_is_for_the_armature_that_it_moves() {
    let onto = import(&arm().0).character;
    let before = onto.curves().len();
    let file = library([["Base", "Tip"]; 2]);
    let added =
        throng_import::add_clips_bytes(&onto, file.text().as_bytes(), &ImportOptions::default())
            .unwrap();
    let ends: Vec<f32> = added.curves()[before..]
        .iter()
        .map(|clip| end(&onto, clip))
        .collect();
    assert!(
        (ends[0] - 30.0).abs() < 1e-2 && (ends[1] - 60.0).abs() < 1e-2,
        "{ends:?}"
    );
    // Retargeted, with names that programs change.
    for names in [
        [["Base", "Tip"]; 2],
        [["rig:Base", "rig:Tip"]; 2],
        [["a:Base", "a:Tip"], ["b:Base", "b:Tip"]],
        [["Base", "Tip"], ["Base_1", "Tip_1"]],
        [
            ["mixamorig:Base", "mixamorig:Tip"],
            ["mixamorig1:Base", "mixamorig1:Tip"],
        ],
    ] {
        let options = ImportOptions {
            meshes: false,
            ..ImportOptions::curves_only()
        };
        let from = throng_import::bytes(library(names).text().as_bytes(), &options).unwrap();
        for (clip, expected) in from.curves().iter().zip([30.0, 60.0]) {
            let (source, target) = (from.skeleton(), onto.skeleton());
            let map = JointMap::for_clip(clip, source, target, JointMap::by_names).unwrap();
            let mut retarget = Retarget::new(source, target, &map, &Default::default()).unwrap();
            let angle = end(&onto, &retarget.clip(clip).unwrap().0);
            assert!((angle - expected).abs() < 1e-2, "{names:?}: {angle}");
        }
    }
}

#[test]
fn nodes_that_draw_nothing_are_kept_below_joints() {
    let (mut file, numbers) = arm();
    file.node(
        "weapon",
        "Null",
        numbers.tip,
        &[("Lcl Translation", [0.0, 0.0, 10.0])],
    );
    let camera = file.node("camera", "Camera", numbers.tip, &[]);
    let lens = file.object("NodeAttribute", "NodeAttribute::lens", "Camera", "");
    file.connect(lens, camera);
    file.node("elsewhere", "Null", 0, &[]);
    let c = import(&file);
    let names: Vec<&str> = c
        .skeleton()
        .joints()
        .iter()
        .map(|joint| &*joint.name)
        .collect();
    assert_eq!(names, ["Base", "Arm", "Tip", "weapon"]);
    assert_eq!(c.palette().len(), import(&arm().0).palette().len());
}

#[test]
fn control_characters_in_names_are_told() {
    let (mut file, numbers) = arm();
    file.node("weap\u{1b}on", "Null", numbers.tip, &[]);
    let c = import(&file);
    let told = c
        .repairs
        .iter()
        .filter(|one| one.kind == RepairKind::ControlCharacters);
    let told: Vec<&str> = told.map(|one| &*one.object.part).collect();
    assert_eq!(told, ["weap\u{1b}on"]);
}
