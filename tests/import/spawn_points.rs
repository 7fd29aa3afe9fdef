//! Spawn points: the instances of `EXT_mesh_gpu_instancing`.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::json;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{ImportLimits, ImportOptions, RepairKind};

const INSTANCING: &str = "EXT_mesh_gpu_instancing";

/// The triangle on a node that has moved up, below a node of twice the size, with three instances.
fn three() -> Builder {
    let mut b = triangle();
    b.json["extensionsRequired"] = json!([INSTANCING]);
    let places = b.accessor(
        "VEC3",
        F32,
        &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0_f32],
    );
    let turns: [i16; 12] = [0, 0, 0, 32767, 0, 32767, 0, 0, 0, 0, 0, 0];
    let turns = b.normalized("VEC4", I16, &turns);
    let sizes = b.accessor(
        "VEC3",
        F32,
        &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 2.0, 3.0_f32],
    );
    let names = b.accessor("SCALAR", U16, &[1_u16, 2, 3]);
    b.json["nodes"] = json!([
        { "name": "Grove", "mesh": 0, "translation": [0, 1, 0], "extensions": { INSTANCING: {
            "attributes": { "TRANSLATION": places, "ROTATION": turns, "SCALE": sizes,
                "_ID": names } } } },
        { "children": [0], "scale": [2, 2, 2] },
    ]);
    b.json["scenes"] = json!([{ "nodes": [1] }]);
    b
}

#[test]
fn a_spawn_point_puts_the_mesh_where_the_instance_is() {
    let c = import(&three());
    let node = Affine3A::from_scale(Vec3::splat(2.0)) * Affine3A::from_translation(Vec3::Y);
    let y = Quat::from_rotation_y(std::f32::consts::PI);
    let instances = [
        (Vec3::ONE, Quat::IDENTITY, Vec3::X),
        (Vec3::splat(2.0), y, Vec3::Y * 2.0),
        // A rotation of zeros counts as none.
        (Vec3::new(1.0, 2.0, 3.0), Quat::IDENTITY, Vec3::Z * 3.0),
    ];
    assert_eq!(c.spawn_points.len(), 3);
    let corner = Vec3::new(1.0, 0.0, 0.0);
    for (point, (scale, turn, place)) in c.spawn_points.iter().zip(instances) {
        assert_eq!(&*point.node, "Grove");
        let instance = Affine3A::from_scale_rotation_translation(scale, turn, place);
        let drawn = point
            .world_from_model
            .transform_point3(node.transform_point3(corner));
        let expected = (node * instance).transform_point3(corner);
        assert!((drawn - expected).length() < 1e-5, "{drawn} {expected}");
    }
    assert_eq!(import(&triangle()).spawn_points, []);
    let mut b = three();
    b.json["nodes"][0]["extensions"][INSTANCING]["attributes"] = json!({});
    assert_eq!(import(&b).spawn_points, []);
}

#[test]
fn instances_of_a_flat_node_are_reported() {
    let mut b = three();
    b.json["nodes"][1]["scale"] = json!([1, 0, 1]);
    let c = import(&b);
    assert_eq!(c.spawn_points, []);
    assert!(has(&c, RepairKind::SpawnPointsLeftOut, 3));
}

#[test]
fn faults_name_the_node_and_the_rule() {
    let b = three();
    let attributes = format!("/nodes/0/extensions/{INSTANCING}/attributes");
    let at = format!("f: node 0, extensions.{INSTANCING}");
    for (case, name, value, words) in cases![
        "TRANSLATION", json!(99) => "refers to accessor 99, but there are 5";
        "TRANSLATION", json!(4)
            => "the type of the accessor is SCALAR, which is not allowed here (VEC3)";
        "ROTATION", json!(1)
            => "the type of the accessor is VEC3, which is not allowed here (VEC4)";
    ] {
        let words = format!("{at}.attributes.{name}: {words}");
        with(&b, &format!("{attributes}/{name}"), value).says_in(case, words);
    }
    let accessor = |name: &str| {
        let path = format!("{attributes}/{name}");
        b.json.pointer(&path).unwrap().clone()
    };
    let path = format!("/accessors/{}/count", accessor("SCALE"));
    let words = format!("{at}.attributes.SCALE: the accessor has 2, needs 3");
    assert_eq!(with(&b, &path, json!(2)), words);
    let path = format!("/accessors/{}/normalized", accessor("ROTATION"));
    let words = format!(
        "{at}.attributes.ROTATION: the component type of the accessor is 5122 (not \
        normalised), which is not allowed here (5126, or normalised 5120, 5122)"
    );
    assert_eq!(with(&b, &path, json!(false)), words);
    let few = ImportOptions {
        limits: ImportLimits {
            spawn_points: 2,
            ..ImportLimits::default()
        },
        ..options()
    };
    throng_import::bytes(&b.glb(), &few)
        .fails(format!("{at}: spawn points: 3 exceeds the limit of 2"));
    let mut endless = b.clone();
    let place = endless.accessor("VEC3", F32, &[0.0, f32::NAN, 0.0].repeat(3));
    let endless = changed(&endless, &format!("{attributes}/TRANSLATION"), json!(place));
    let words = format!("{at}, instance 0: has a transform that is not finite");
    assert_eq!(refused(&endless.glb()), words);
}
