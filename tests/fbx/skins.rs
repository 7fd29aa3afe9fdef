//! Nodes that carry skinned meshes, also several nodes for one mesh.
//!
//! The joints place a skinned mesh. Only vertices without weights, here the last triangle of the
//! arm, follow the node.

use crate::arm::{import, near};
use crate::ascii::{Arm, File, LINEAR, arm, list};
use crate::oracle::{agrees, posed};
use throng::import::{ImportOptions, RepairKind};

/// The points of the arm that follow joints, and those that follow its node.
const SKINNED: [[f32; 3]; 4] = [
    [0.0, 0.0, -0.5],
    [0.1, 0.0, -0.5],
    [0.1, 1.0, -0.5],
    [0.0, 1.0, -0.5],
];
const LOOSE: [[f32; 3]; 3] = [[0.0, 2.0, -0.5], [0.1, 2.0, -0.5], [0.1, 2.1, -0.5]];

fn moved(points: &[[f32; 3]], by: [f32; 3]) -> Vec<[f32; 3]> {
    let point = |point: &[f32; 3]| [0, 1, 2].map(|axis| point[axis] + by[axis]);
    points.iter().map(point).collect()
}

/// The arm with a second node for its mesh, 3 m along X. Returns the node's number, too.
fn instanced(geometric: [f64; 3]) -> (File, Arm, u64) {
    let (mut file, numbers) = arm();
    let at = [
        ("Lcl Translation", [300.0, 0.0, 0.0]),
        ("GeometricTranslation", geometric),
    ];
    let node = file.node("Second", "Mesh", 0, &at);
    file.connect(numbers.geometry, node);
    (file, numbers, node)
}

#[test]
fn a_node_that_left_its_bind_pose_does_not_move_the_skin() {
    let (mut file, numbers) = arm();
    let take = file.take("Away", 0.0, 1.0);
    let keys = [(0.0, 0.0), (1.0, 400.0)];
    file.curve(
        take,
        (numbers.mesh, "Lcl Translation", "d|X"),
        &keys,
        LINEAR,
    );
    let c = import(&file);
    assert_eq!(c.repairs, [], "{:?}", c.repair_summary());
    let loose = moved(&LOOSE, [4.0, 0.0, 0.0]);
    near(&posed(&c, Some((2, 1.0))), &[&SKINNED[..], &loose].concat());
    agrees(&file, 0.0005);
}

#[test]
fn instances_of_a_skinned_mesh_are_in_one_place() {
    let c = import(&instanced([0.0, 50.0, 0.0]).0);
    let [repair] = &c.repairs[..] else {
        panic!("{:?}", c.repair_summary());
    };
    assert_eq!(
        (&repair.kind, repair.count),
        (&RepairKind::SkinnedInstances, 1)
    );
    assert_eq!(repair.object.to_string(), "mesh 0");
    let parts: Vec<&str> = c.primitives().iter().map(|part| &*part.part).collect();
    assert_eq!(parts, ["Arm", "Second"]);
    let other = moved(&LOOSE, [3.0, 0.0, 0.0]);
    near(
        &posed(&c, None),
        &[&SKINNED[..], &LOOSE, &SKINNED, &other].concat(),
    );
    // Each instance bends and lifts as the other does.
    for clip in [0, 1] {
        let points = posed(&c, Some((clip, 1.0)));
        let (first, second) = points.split_at(points.len() / 2);
        let weighted = |points: &[throng::glam::Vec3]| {
            let arm = points.iter().filter(|point| point.y < 1.9);
            arm.map(|point| point.to_array()).collect::<Vec<_>>()
        };
        assert_eq!(weighted(first), weighted(second));
    }
    // Instances in one place anyway are not reported.
    let (mut file, numbers) = arm();
    let shift = [("GeometricTranslation", [0.0, 50.0, 0.0])];
    let node = file.node("Second", "Mesh", 0, &shift);
    file.connect(numbers.geometry, node);
    let c = import(&file);
    assert_eq!(c.repairs, []);
    assert_eq!(c.primitives().len(), 2);
}

#[test]
fn instances_with_other_geometric_transforms_follow_the_first() {
    let c = import(&instanced([0.0, 0.0, 70.0]).0);
    assert_eq!(c.repairs.len(), 1, "{:?}", c.repair_summary());
    // 70 cm up instead of 50 cm back.
    let other = moved(&LOOSE, [3.0, 0.7, 0.5]);
    near(
        &posed(&c, None),
        &[&SKINNED[..], &LOOSE, &SKINNED, &other].concat(),
    );
}

/// The geometric transforms of instances have no part in names, materials and visibility.
#[test]
fn instances_keep_the_names_materials_and_visibility_of_their_nodes() {
    let (mut file, numbers, second) = instanced([0.0, 0.0, 70.0]);
    for (name, node) in [("Red", numbers.mesh), ("Blue", second)] {
        let material = file.object("Material", &format!("Material::{name}"), "", "Version: 102");
        file.connect(material, node);
    }
    let hidden = [("GeometricTranslation", [0.0, 0.0, 70.0])];
    let third = file.node("Third", "Mesh", 0, &hidden);
    file.connect(numbers.geometry, third);
    let at = file.objects.rfind("Properties70: {").unwrap() + "Properties70: {".len();
    let invisible = "\nP: \"Visibility\", \"Visibility\", \"\", \"A\",0";
    file.objects.insert_str(at, invisible);
    let c = import(&file);
    let parts = c.primitives().iter();
    let parts: Vec<(&str, &str)> = parts
        .map(|part| (&*part.part, &*c.materials()[part.material as usize].name))
        .collect();
    assert_eq!(parts, [("Arm", "Red"), ("Second", "Blue")]);
    let options = ImportOptions {
        leave_out: vec!["Second".into()],
        ..ImportOptions::curves_only()
    };
    let c = throng_import::bytes(file.text().as_bytes(), &options).unwrap();
    assert_eq!(c.primitives().len(), 1);
}

/// ufbx adds a node for a scale that a child does not inherit, and moves the mesh there.
#[test]
fn scales_that_children_do_not_inherit_keep_the_names_of_their_nodes() {
    let (mut file, numbers) = arm();
    let scale = [("Lcl Scaling", [1.0, 2.0, 1.0])];
    let node = file.node("Wide", "Mesh", 0, &scale);
    file.connect(numbers.geometry, node);
    let red = file.object("Material", "Material::Red", "", "Version: 102");
    file.connect(red, node);
    let child = file.node("Child", "Mesh", node, &[]);
    file.connect(numbers.geometry, child);
    // Mode 2 ignores the scale of the parent.
    let at = file.objects.rfind("Properties70: {").unwrap() + "Properties70: {".len();
    let ignores = "\nP: \"InheritType\", \"enum\", \"\", \"\",2";
    file.objects.insert_str(at, ignores);
    let c = import(&file);
    let parts = c.primitives().iter();
    let parts: Vec<(&str, &str)> = parts
        .map(|part| (&*part.part, &*c.materials()[part.material as usize].name))
        .collect();
    assert_eq!(parts, [("Arm", ""), ("Wide", "Red"), ("Child", "")]);
}

/// A mesh on two nodes without bones, as converters of OBJ files write it.
#[test]
fn a_file_without_a_skin_says_so() {
    let mut file = File::new();
    let corners = [[0, 0, 0], [10, 0, 0], [0, 0, 10]];
    let body = format!(
        "Vertices: {}\nPolygonVertexIndex: {}\nGeometryVersion: 124",
        list(corners.as_flattened()),
        list(&[0, 1, -3]),
    );
    let geometry = file.object("Geometry", "Geometry::Stone", "Mesh", &body);
    for (name, x) in [("First", 0.0), ("Second", 50.0)] {
        let node = file.node(name, "Mesh", 0, &[("Lcl Translation", [x, 0.0, 0.0])]);
        file.connect(geometry, node);
    }
    let c = import(&file);
    let words = "file: no mesh has a skin, so each follows the joint of its node (2)";
    assert_eq!(c.repair_summary(), [words]);
    // Each mesh follows the joint that its node became.
    let joints = c.skeleton();
    for (primitive, name) in c.primitives().iter().zip(["First", "Second"]) {
        let own = c.palette()[c.palette_range(primitive)][0].joint;
        assert_eq!(&*joints.joints()[own.index()].name, name);
    }
    assert!(
        !import(&arm().0)
            .repairs
            .iter()
            .any(|it| it.kind == RepairKind::NoSkin)
    );
}
