//! Skins and rigid parts.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::Id;
use throng::glam::Vec3;
use throng::import::ImportOptions;
use throng::mesh::JointIndices;
use throng::skeleton::Joint;

#[test]
fn a_skinned_arm() {
    let c = import(&arm());
    assert_eq!(c.repairs, []);
    let names: Vec<_> = c.skeleton().joints().iter().map(|j| &*j.name).collect();
    assert_eq!(
        names,
        ["Root", "Upper", "Lower"],
        "ancestors count, the mesh node does not"
    );
    let parents: Vec<_> = c.skeleton().joints().iter().map(|j| j.parent).collect();
    assert_eq!(parents, [None, Some(Id::new(0)), Some(Id::new(1))]);
    assert_eq!(c.skeleton().levels(), [0..1, 1..2, 2..3]);
    assert_eq!(c.palette().len(), 2);
    assert_eq!(
        (c.palette()[0].joint, c.palette()[1].joint),
        (Id::new(1), Id::new(2))
    );
    let p = &c.primitives()[0];
    assert_eq!(
        (&*p.name, p.vertex_count(), p.indices.len()),
        ("Ladder.0", 6, 12)
    );
    assert_eq!(p.influences_per_vertex, 2);
    assert_eq!(
        p.joints,
        JointIndices::U8(vec![0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1])
    );
    assert_eq!(p.weights[4..8], [32768, 32767, 32768, 32767]);
    assert_eq!(c.skins().len(), 1);
    let arm: (&str, &[Id<Joint>]) = ("Arm", &[1, 2].map(Id::new));
    assert_eq!(c.skins().next(), Some(arm));
    let bounds = c.rest_bounds();
    assert_eq!(
        bounds.min,
        Vec3::new(-0.5, 0.0, 0.0),
        "the skinned node's transform is ignored"
    );
    assert_eq!(bounds.max, Vec3::new(0.5, 2.0, 0.0));
    assert_eq!(c.palette()[0].bounds.max.y, 1.0);
    assert_eq!(c.palette()[1].bounds.min.y, 1.0);
}

#[test]
fn gltf_with_a_data_uri_is_the_same_as_glb() {
    let (b, options) = (arm(), ImportOptions::curves_only());
    let from_glb = throng_import::bytes(&b.glb(), &options).unwrap();
    assert_eq!(throng_import::bytes(&b.gltf(), &options).unwrap(), from_glb);
    let mut marked = b"\xef\xbb\xbf".to_vec();
    marked.extend(b.gltf());
    assert_eq!(
        throng_import::bytes(&marked, &options).unwrap(),
        from_glb,
        "a byte order mark is skipped"
    );
}

#[test]
fn without_inverse_bind_matrices_they_are_identity() {
    let mut b = arm();
    b.json["skins"][0]
        .as_object_mut()
        .unwrap()
        .remove("inverseBindMatrices");
    let c = import(&b);
    assert!(
        c.palette()
            .iter()
            .all(|e| e.inverse_bind == throng::glam::Affine3A::IDENTITY)
    );
    assert_eq!(c.rest_bounds().max.y, 3.0);
}

#[test]
fn more_inverse_bind_matrices_than_joints_are_allowed() {
    let mut b = arm();
    let binds: Vec<f32> = [0.0, -1.0, -7.0]
        .iter()
        .flat_map(|y| at_height(*y))
        .collect();
    let binds = b.accessor("MAT4", F32, &binds);
    b.json["skins"][0]["inverseBindMatrices"] = json!(binds);
    assert_eq!(import(&b).palette(), import(&arm()).palette());
}

#[test]
fn all_sets_of_influences_are_read() {
    let mut b = arm();
    let nodes: Vec<usize> = (0..12)
        .map(|n| {
            b.add(
                "nodes",
                json!({ "name": format!("J{n}"), "translation": [n, 0, 0] }),
            )
        })
        .collect();
    b.json["skins"][0] = json!({ "joints": nodes });
    for set in 0..3_u8 {
        let joints: Vec<u8> = (0..6)
            .flat_map(|_| (0..4).map(move |s| set * 4 + s))
            .collect();
        let joints = b.accessor("VEC4", U8, &joints);
        let used = if set == 2 { 2 } else { 4 };
        let weights: Vec<f32> = (0..6)
            .flat_map(|_| (0..4).map(move |s| if s < used { 0.1 } else { 0.0 }))
            .collect();
        let weights = b.accessor("VEC4", F32, &weights);
        let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
        attributes[format!("JOINTS_{set}")] = json!(joints);
        attributes[format!("WEIGHTS_{set}")] = json!(weights);
    }
    let c = import(&b);
    let primitive = &c.primitives()[0];
    assert_eq!(primitive.influences_per_vertex, 12, "ten are used");
    let row = &primitive.weights[..12];
    assert_eq!(row[..10].iter().map(|w| u32::from(*w)).sum::<u32>(), 65_535);
    assert!(row[..10].iter().all(|w| (6553..=6554).contains(w)));
    assert_eq!(row[10..], [0, 0]);
    assert_eq!(c.palette().len(), 10, "only joints that a vertex uses");
    assert_eq!(c.skeleton().len(), 12, "all joints of the skin");
}

#[test]
fn influences_per_vertex_are_1_2_4_8_or_a_multiple_of_4() {
    for (used, expected) in [
        (1, 1),
        (2, 2),
        (3, 4),
        (4, 4),
        (5, 8),
        (8, 8),
        (9, 12),
        (13, 16),
    ] {
        let mut b = arm();
        let nodes: Vec<usize> = (0..16).map(|_| b.add("nodes", json!({}))).collect();
        b.json["skins"][0] = json!({ "joints": nodes });
        for set in 0..4_u8 {
            let joints: Vec<u8> = (0..6)
                .flat_map(|_| (0..4).map(move |s| set * 4 + s))
                .collect();
            let joints = b.accessor("VEC4", U8, &joints);
            let weight = |index: u8| if set * 4 + index < used { 1.0 } else { 0.0_f32 };
            let weights: Vec<f32> = (0..6).flat_map(|_| (0..4).map(weight)).collect();
            let weights = b.accessor("VEC4", F32, &weights);
            let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(weights);
        }
        let c = import(&b);
        let primitive = &c.primitives()[0];
        assert_eq!(primitive.influences_per_vertex, expected);
        assert_eq!(primitive.weights.is_empty(), expected == 1);
    }
}

#[test]
fn joints_and_weights_of_every_component_type() {
    let expected = import(&arm());
    let mut b = arm();
    let joints = b.accessor("VEC4", U16, &[0_u16, 1, 0, 0].repeat(6));
    let weights: Vec<u16> = [65535, 65535, 32768, 32768, 0, 0_u16]
        .iter()
        .flat_map(|w| [*w, 65535 - w, 0, 0])
        .collect();
    let weights = b.normalized("VEC4", U16, &weights);
    let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_0"] = json!(joints);
    attributes["WEIGHTS_0"] = json!(weights);
    assert_eq!(import(&b).character, expected.character);
    let weights: Vec<u8> = [255, 255, 102, 102, 0, 0_u8]
        .iter()
        .flat_map(|w| [*w, 255 - w, 0, 0])
        .collect();
    let weights = b.normalized("VEC4", U8, &weights);
    b.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
    let c = import(&b);
    assert_eq!(c.repairs, []);
    assert_eq!(
        c.primitives()[0].weights[4..6],
        [39321, 26214],
        "strongest first"
    );
}

#[test]
fn joints_in_any_order() {
    let mut b = arm();
    b.json["skins"][0]["joints"] = json!([3, 2]);
    let binds: Vec<f32> = [-1.0, 0.0].iter().flat_map(|y| at_height(*y)).collect();
    let binds = b.accessor("MAT4", F32, &binds);
    b.json["skins"][0]["inverseBindMatrices"] = json!(binds);
    let joints = b.accessor("VEC4", U8, &[1_u8, 0, 0, 0].repeat(6));
    b.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    let c = import(&b);
    let expected = import(&arm());
    assert_eq!(c.palette(), expected.palette());
    assert_eq!(c.primitives(), expected.primitives());
    assert_eq!(c.skins().next().unwrap().1, [2, 1].map(Id::new));
}

#[test]
fn several_skins_that_share_joints() {
    let mut b = arm();
    let binds: Vec<f32> = [0.0, -3.0].iter().flat_map(|y| at_height(*y)).collect();
    let binds = b.accessor("MAT4", F32, &binds);
    b.add(
        "skins",
        json!({ "joints": [2, 3], "inverseBindMatrices": binds }),
    );
    b.add("skins", json!({ "joints": [3, 2] }));
    b.add("nodes", json!({ "mesh": 0, "skin": 1 }));
    b.json["scenes"][0]["nodes"] = json!([0, 1, 4]);
    let c = import(&b);
    assert_eq!(c.skeleton().len(), 3, "shared joints stand once");
    let joints: Vec<_> = c.palette().iter().map(|e| e.joint).collect();
    assert_eq!(
        joints,
        [1, 2, 2].map(Id::new),
        "one entry per distinct pair of joint and inverse bind matrix"
    );
    assert_eq!(c.primitives()[0].palette, 0..2);
    assert_eq!(c.primitives()[1].palette, 0..3);
    assert_eq!(c.skins().len(), 3);
}

#[test]
fn unused_skins_do_not_grow_the_skeleton() {
    let mut b = arm();
    let far = b.add("nodes", json!({ "name": "Far" }));
    b.add("skins", json!({ "joints": [far] }));
    let c = import(&b);
    assert!(c.skeleton().joint("Far").is_err());
    assert_eq!(c.skins().len(), 1);
}

#[test]
fn joints_outside_the_scene_and_skeleton_property() {
    let expected = import(&arm()).character;
    let mut b = arm();
    b.json["scenes"][0]["nodes"] = json!([0]);
    assert_eq!(
        import(&b).character,
        expected,
        "joints need not be in the scene"
    );
    for skeleton in [0, 1, 3] {
        b.json["skins"][0]["skeleton"] = json!(skeleton);
        assert_eq!(import(&b).character, expected, "`skeleton` is ignored");
    }
}

#[test]
fn static_nodes_above_and_between_joints_count() {
    let mut b = arm();
    b.json["nodes"][1]["scale"] = json!([2, 2, 2]);
    b.json["nodes"][2]["children"] = json!([4]);
    b.add(
        "nodes",
        json!({ "name": "Between", "translation": [0, 0, 5], "children": [3] }),
    );
    let c = import(&b);
    let names: Vec<_> = c.skeleton().joints().iter().map(|j| &*j.name).collect();
    assert_eq!(names, ["Root", "Upper", "Between", "Lower"]);
    assert_eq!(c.rest_bounds().max, Vec3::new(1.0, 4.0, 10.0));
}

#[test]
fn animated_nodes_between_joints_are_driven() {
    let mut b = arm();
    b.json["nodes"][2]["children"] = json!([4]);
    b.add("nodes", json!({ "name": "Between", "children": [3] }));
    b.json["animations"][0]["channels"][0]["target"]["node"] = json!(4);
    let c = import(&b);
    let between = c.skeleton().joint("Between").unwrap().0;
    assert_eq!(c.curves()[0].tracks()[0].joint, Id::new(between));
}

#[test]
fn unskinned_meshes_are_rigid_parts() {
    let mut b = arm();
    let blade = b.accessor(
        "VEC3",
        F32,
        &[0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 3.0, 0.0_f32],
    );
    let mesh = b.add(
        "meshes",
        json!({ "name": "Blade", "primitives": [{
        "attributes": { "POSITION": blade } }] }),
    );
    b.json["nodes"][3]["children"] = json!([4]);
    b.add(
        "nodes",
        json!({ "name": "Sword", "mesh": mesh, "translation": [1, 0, 0] }),
    );
    let c = import(&b);
    let sword = &c.primitives()[1];
    assert_eq!((&*sword.name, sword.influences_per_vertex), ("Blade.0", 1));
    assert!(sword.weights.is_empty());
    let entry = &c.palette()[sword.palette.start as usize];
    assert_eq!(sword.palette.len(), 1);
    assert_eq!(entry.joint, Id::new(c.skeleton().joint("Sword").unwrap().0));
    assert_eq!(entry.inverse_bind, throng::glam::Affine3A::IDENTITY);
    assert_eq!(c.rest_bounds().max, Vec3::new(1.1, 4.0, 0.0));
}

#[test]
fn skinned_meshes_without_joints_and_weights_are_rigid_parts() {
    let mut b = arm();
    let attributes = b.json.pointer_mut(ATTRIBUTES).unwrap();
    let bare = json!({ "attributes": { "POSITION": attributes["POSITION"] } });
    let primitives = b.json.pointer_mut("/meshes/0/primitives").unwrap();
    primitives.as_array_mut().unwrap().push(bare);
    let c = import(&b);
    let words =
        "mesh 0, primitives[1]: skin ignored, because the primitive has no joints and weights (1)";
    told(&c, &[words]);
    let [skinned, rigid] = c.primitives() else {
        panic!("{:?}", c.primitives());
    };
    let expected = import(&arm());
    let expected = &expected.primitives()[0];
    assert_eq!(skinned.joints, expected.joints);
    assert_eq!(skinned.weights, expected.weights);
    assert_eq!(rigid.influences_per_vertex, 1);
    let entry = &c.palette()[rigid.palette.start as usize];
    assert_eq!(entry.joint, Id::new(c.skeleton().joint("Body").unwrap().0));
    assert_eq!(c.rest_bounds().max.x, 100.5, "where its node is");

    let attributes = b.json.pointer_mut(ATTRIBUTES).unwrap();
    attributes.as_object_mut().unwrap().remove("JOINTS_0");
    attributes.as_object_mut().unwrap().remove("WEIGHTS_0");
    let c = import(&b);
    assert_eq!((c.repairs.len(), c.skeleton().len()), (3, 1));
    assert_eq!(c.skins().len(), 0);
}

#[test]
fn unskinned_files_too() {
    let mut b = triangle();
    b.json["nodes"][0]["translation"] = json!([0, 0, 9]);
    let c = import(&b);
    assert_eq!(
        (c.skeleton().len(), c.palette().len(), c.vertex_count()),
        (1, 1, 3)
    );
    assert_eq!(c.rest_bounds().min.z, 9.0);
    assert!(c.materials().len() == 1 && c.curves().is_empty());
}

#[test]
fn files_of_animations_alone() {
    let mut b = arm();
    let json = b.json.as_object_mut().unwrap();
    json.remove("meshes");
    json["nodes"][0] = json!({ "name": "Body" });
    let c = import(&b);
    assert_eq!(
        (c.skeleton().len(), c.primitives().len(), c.curves().len()),
        (4, 0, 1),
        "all nodes with names, which those of others may match"
    );
    assert_eq!(c.curves()[0].tracks().len(), 1);
    assert_eq!(c.rest_bounds().max.y, 1.0, "around the joints");
    b.json.as_object_mut().unwrap().remove("skins");
    assert_eq!(
        import(&b).skeleton().len(),
        4,
        "all nodes, where neither a mesh nor a skin says which"
    );
}

#[test]
fn a_mesh_on_two_nodes_and_two_primitives_in_a_mesh() {
    let mut b = triangle();
    let primitive = b.json["meshes"][0]["primitives"][0].clone();
    b.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(primitive);
    b.add("nodes", json!({ "mesh": 0, "translation": [5, 0, 0] }));
    b.json["scenes"][0]["nodes"] = json!([0, 1]);
    let c = import(&b);
    assert_eq!((c.primitives().len(), c.palette().len()), (4, 2));
    assert_eq!(c.rest_bounds().max.x, 6.0);
}

#[test]
fn wrong_last_rows_of_inverse_binds_are_repaired() {
    let sound = import(&arm());
    let mut b = arm();
    let accessor = b.json["skins"][0]["inverseBindMatrices"].as_u64().unwrap();
    let view = b.json["accessors"][accessor as usize]["bufferView"].as_u64();
    let view = &b.json["bufferViews"][view.unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
    // Transposed, scaled and empty rows. The fourth number of each column belongs to the last row.
    for row in [[0.5_f32, -2.0, 3.0, 1.0], [0.0, 0.0, 0.0, 2.0], [0.0; 4]] {
        for (column, value) in row.into_iter().enumerate() {
            let at = start + column * 16 + 12;
            b.bin[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        let c = import(&b);
        told(
            &c,
            &[
                "skin 0, inverseBindMatrices: last rows of inverse bind matrices set to 0, 0, 0, 1 (1)",
            ],
        );
        assert_eq!(c.palette(), sound.palette());
        assert_eq!(c.primitives(), sound.primitives());
    }
}
