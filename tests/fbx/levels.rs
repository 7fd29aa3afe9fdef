//! LOD groups: each child of the group's node is a level.

use crate::arm::import;
use crate::ascii::{File, list};
use throng::import::{Imported, RepairKind};

/// A vault with `columns` over a square of 1 m, x (1 - x) high. In centimetres, with +Z up.
fn vault(file: &mut File, columns: usize) -> u64 {
    let row = |at: usize| {
        let x = at as f64 / columns as f64;
        let height = 100.0 * x * (1.0 - x);
        [[100.0 * x, 0.0, height], [100.0 * x, 100.0, height]]
    };
    let vertices: Vec<[f64; 3]> = (0..=columns).flat_map(row).collect();
    let quad = |at: usize| {
        let at = at as i32 * 2;
        [at, at + 2, at + 3, -(at + 1) - 1]
    };
    let corners: Vec<i32> = (0..columns).flat_map(quad).collect();
    let body = format!(
        "Vertices: {}\nPolygonVertexIndex: {}\nGeometryVersion: 124",
        list(vertices.as_flattened()),
        list(&corners)
    );
    file.object("Geometry", "Geometry::", "Mesh", &body)
}

/// A node with a vault.
fn node(file: &mut File, name: &str, parent: u64, columns: usize) -> u64 {
    let geometry = vault(file, columns);
    let node = file.node(name, "Mesh", parent, &[]);
    file.connect(geometry, node);
    node
}

/// A node with the attribute of a LOD group.
fn group(file: &mut File, name: &str) -> u64 {
    let node = file.node(name, "LodGroup", 0, &[]);
    let attribute = file.object("NodeAttribute", "NodeAttribute::", "LodGroup", "");
    file.connect(attribute, node);
    node
}

fn triangles(c: &Imported) -> Vec<usize> {
    let levels = c.levels().map(|level| level.triangles);
    [c.triangle_count()].into_iter().chain(levels).collect()
}

#[test]
fn children_of_a_lod_group_are_levels() {
    let mut file = File::new();
    let group = group(&mut file, "Group");
    // The order counts, not the names.
    for (name, columns) in [("near_LOD2", 4), ("middle_LOD1", 2), ("far_LOD0", 1)] {
        node(&mut file, name, group, columns);
    }
    let c = import(&file);
    assert!(c.repairs.iter().all(|it| it.kind == RepairKind::NoSkin));
    assert_eq!(triangles(&c), [8, 4, 2]);
    assert_eq!(&*c.primitives()[0].part, "near_LOD2");
    // By 2 columns, |0.25 - 2 * 0.1875| / sqrt(5); by one, the height. A tenth more.
    let expected = [0.125 / 5_f32.sqrt() * 1.1, 0.25 * 1.1];
    for (level, expected) in c.levels().zip(expected) {
        assert!((level.error_m - expected).abs() < 1e-5, "{level:?}");
    }
}

#[test]
fn levels_may_be_groups_of_meshes() {
    let mut file = File::new();
    let group = group(&mut file, "Group");
    for columns in [4, 2] {
        let level = file.node(&format!("{columns}"), "Null", group, &[]);
        for name in ["Body", "Head"] {
            node(&mut file, name, level, columns);
        }
    }
    node(&mut file, "Sword", 0, 8);
    let c = import(&file);
    assert_eq!(triangles(&c), [32, 24]);
    let parts: Vec<&str> = c.primitives().iter().map(|p| &*p.part).collect();
    assert_eq!(parts, ["Body", "Head", "Sword"]);
    let counts = c.primitives().iter().map(|p| p.levels[0].indices.len());
    assert_eq!(counts.collect::<Vec<_>>(), [12, 12, 48]);
}

#[test]
fn a_level_with_more_parts_is_left_out() {
    let mut file = File::new();
    let group = group(&mut file, "Group");
    node(&mut file, "near", group, 4);
    let level = file.node("far", "Null", group, &[]);
    node(&mut file, "one", level, 1);
    node(&mut file, "two", level, 1);
    let c = import(&file);
    assert_eq!(triangles(&c), [8]);
    let others = c.repairs.iter().filter(|it| it.kind != RepairKind::NoSkin);
    let [repair] = &others.collect::<Vec<_>>()[..] else {
        panic!("{:?}", c.repair_summary());
    };
    assert!(
        matches!(repair.kind, RepairKind::LevelLeftOut(_)),
        "{repair}"
    );
    assert_eq!((&*repair.object.part, repair.count), ("far", 2));
}

#[test]
fn names_tell_levels() {
    let mut file = File::new();
    for (name, columns) in [("Body_LOD1", 2), ("Body_LOD0", 4), ("Hair_LOD1", 1)] {
        node(&mut file, name, 0, columns);
    }
    let c = import(&file);
    assert_eq!(triangles(&c), [8, 4]);
    let left_out = c
        .repairs
        .iter()
        .find(|it| matches!(it.kind, RepairKind::LevelLeftOut(_)));
    assert_eq!(&*left_out.unwrap().object.part, "Hair_LOD1");
}
