//! Visibility of nodes, which those below inherit.

use crate::arm::import;
use crate::ascii::{CONSTANT, File, list};
use throng::import::{Repair, RepairKind};

/// A file, and the ways to state the visibility of its nodes.
struct Scene {
    file: File,
    /// The geometry that was added last.
    geometry: u64,
}

impl Scene {
    fn new() -> Self {
        Self {
            file: File::new(),
            geometry: 0,
        }
    }

    /// A node with these properties of one number each.
    fn node(&mut self, name: &str, class: &str, parent: u64, properties: &[(&str, f64)]) -> u64 {
        let node = self.file.node(name, class, parent, &[]);
        let lines = properties.iter().map(|(property, value)| {
            format!("\nP: \"{property}\", \"{property}\", \"\", \"A\",{value}")
        });
        let at = self.file.objects.rfind("Properties70: {").unwrap() + "Properties70: {".len();
        self.file.objects.insert_str(at, &lines.collect::<String>());
        node
    }

    /// A node with a triangle.
    fn mesh(&mut self, name: &str, parent: u64, properties: &[(&str, f64)]) -> u64 {
        let corners = [[0, 0, 0], [10, 0, 0], [0, 0, 10]];
        let body = format!(
            "Vertices: {}\nPolygonVertexIndex: {}\nGeometryVersion: 124",
            list(corners.as_flattened()),
            list(&[0, 1, -3]),
        );
        self.geometry = self.file.object("Geometry", "Geometry::", "Mesh", &body);
        let node = self.node(name, "Mesh", parent, properties);
        self.file.connect(self.geometry, node);
        node
    }
}

const HIDDEN: (&str, f64) = ("Visibility", 0.0);
const SHOWN: (&str, f64) = ("Visibility", 1.0);
const ALONE: (&str, f64) = ("Visibility Inheritance", 0.0);
const INHERITS: (&str, f64) = ("Visibility Inheritance", 1.0);

/// Asserts that these parts are read, and that nodes are reported as left out for their visibility.
#[track_caller]
fn has(scene: &Scene, parts: &[&str], left_out: &[&str]) {
    let c = import(&scene.file);
    let found: Vec<&str> = c.primitives().iter().map(|part| &*part.part).collect();
    assert_eq!(found, parts);
    let found = c
        .repairs
        .iter()
        .filter(|it| it.kind == RepairKind::Invisible);
    let mut found: Vec<&str> = found.map(|repair| &*repair.object.part).collect();
    found.sort_unstable();
    assert_eq!(found, left_out);
    let shown = |repair: &Repair| repair.kind == RepairKind::InvisibleShown;
    assert!(!c.repairs.iter().any(shown), "{:?}", c.repair_summary());
}

#[test]
fn nodes_below_invisible_ones_are_invisible() {
    let mut scene = Scene::new();
    scene.mesh("Shown", 0, &[]);
    scene.mesh("Hidden", 0, &[HIDDEN]);
    let group = scene.node("Group", "Null", 0, &[HIDDEN]);
    let middle = scene.node("Middle", "Null", group, &[SHOWN]);
    let low = scene.node("Low", "Null", middle, &[INHERITS]);
    scene.mesh("Deep", low, &[SHOWN, INHERITS]);
    let beside = scene.mesh("Beside", middle, &[]);
    scene.mesh("Below a mesh", beside, &[]);
    // Any value but 0 is visible.
    scene.mesh("Half", 0, &[("Visibility", 0.5)]);
    let left_out = ["Below a mesh", "Beside", "Deep", "Hidden"];
    has(&scene, &["Shown", "Half"], &left_out);
}

#[test]
fn nodes_may_not_inherit_it() {
    let mut scene = Scene::new();
    let group = scene.node("Group", "Null", 0, &[HIDDEN]);
    scene.mesh("Alone", group, &[ALONE]);
    scene.mesh("Hidden", group, &[]);
    scene.mesh("Hidden alone", group, &[HIDDEN, ALONE]);
    let middle = scene.node("Middle", "Null", group, &[ALONE]);
    scene.mesh("Below", middle, &[]);
    has(&scene, &["Alone", "Below"], &["Hidden", "Hidden alone"]);
}

/// The same mesh on several nodes is read for those that are visible.
#[test]
fn instances_differ() {
    let mut scene = Scene::new();
    scene.mesh("First", 0, &[]);
    let geometry = scene.geometry;
    let group = scene.node("Group", "Null", 0, &[HIDDEN]);
    let second = scene.node("Second", "Mesh", group, &[]);
    scene.file.connect(geometry, second);
    has(&scene, &["First"], &["Second"]);
}

/// A node that a take shows at some time is not left out.
#[test]
fn curves_show_nodes() {
    let mut scene = Scene::new();
    scene.mesh("Shown", 0, &[]);
    let drawn = scene.mesh("Drawn", 0, &[HIDDEN]);
    let never = scene.mesh("Never", 0, &[HIDDEN]);
    let group = scene.node("Group", "Null", 0, &[HIDDEN]);
    scene.mesh("Below", group, &[]);
    // Its curve hides it for a while.
    let blinks = scene.mesh("Blinks", 0, &[]);
    for (name, nodes) in [("Idle", [never, never]), ("Draw", [drawn, group])] {
        let take = scene.file.take(name, 0.0, 1.0);
        for node in nodes {
            let end = if name == "Draw" { 1.0 } else { 0.0 };
            let keys = [(0.0, 0.0), (1.0, end)];
            let curve = (node, "Visibility", "d|Visibility");
            scene.file.curve(take, curve, &keys, CONSTANT);
        }
        let curve = (blinks, "Visibility", "d|Visibility");
        let keys = [(0.0, 0.0), (1.0, 0.0)];
        scene.file.curve(take, curve, &keys, CONSTANT);
    }
    has(&scene, &["Shown", "Drawn", "Below", "Blinks"], &["Never"]);
}

#[test]
fn levels_of_detail_may_be_invisible() {
    let group = |hidden_group: bool, hidden_level: usize| {
        let mut scene = Scene::new();
        scene.mesh("Other", 0, &[]);
        let visibility = if hidden_group { HIDDEN } else { SHOWN };
        let group = scene.node("Group", "LodGroup", 0, &[visibility]);
        let attribute = scene
            .file
            .object("NodeAttribute", "NodeAttribute::", "LodGroup", "");
        scene.file.connect(attribute, group);
        for level in 0..3 {
            let visibility = if hidden_level == level { HIDDEN } else { SHOWN };
            scene.mesh(&format!("Level {level}"), group, &[visibility]);
        }
        scene
    };
    has(
        &group(true, 3),
        &["Other"],
        &["Level 0", "Level 1", "Level 2"],
    );
    has(&group(false, 3), &["Other", "Level 0"], &[]);
    has(&group(false, 1), &["Other", "Level 0"], &["Level 1"]);
    let counts = |scene: &Scene| import(&scene.file).levels().count();
    assert_eq!(counts(&group(false, 3)), 2);
    assert_eq!(counts(&group(false, 1)), 1);
    // The next level is the finest then.
    has(&group(false, 0), &["Other", "Level 1"], &["Level 0"]);
}

#[test]
fn if_all_are_invisible_they_are_imported() {
    let mut scene = Scene::new();
    let group = scene.node("Group", "Null", 0, &[HIDDEN]);
    scene.mesh("One", group, &[]);
    scene.mesh("Other", 0, &[HIDDEN]);
    let c = import(&scene.file);
    assert_eq!(c.primitives().len(), 2);
    let shown = |repair: &&Repair| repair.kind == RepairKind::InvisibleShown;
    let mut names: Vec<String> = c
        .repairs
        .iter()
        .filter(shown)
        .map(Repair::to_string)
        .collect();
    names.sort_unstable();
    let words = "imported although the node is invisible, because all meshes are (1)";
    let expected = [
        format!("node 1, Other: {words}"),
        format!("node 2, One: {words}"),
    ];
    assert_eq!(names, expected);
}
