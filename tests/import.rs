//! What the importer reads, on files built here. Faults and repairs are in `import_faults.rs`.
#![cfg(feature = "gltf")]

mod common {
    pub(crate) mod gltf_builder;
}

use common::gltf_builder::{Builder, F32, I8, I16, U8, U16, U32, arm, at_height, glb, triangle};
use serde_json::json;
use throng::character::{Filter, Interpolation, JointIndices, TrackValues, Wrap};
use throng::glam::{Mat4, Quat, Vec2, Vec3};
use throng::import::{ImportOptions, Imported, RepairKind, gltf, gltf_file, gltf_with};

fn import(b: &Builder) -> Imported {
    gltf(&b.glb(), &ImportOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn has(imported: &Imported, kind: RepairKind, count: u64) -> bool {
    imported
        .repairs
        .iter()
        .any(|r| r.kind == kind && r.count == count)
}

// Skins

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
    assert_eq!(parents, [throng::character::NO_PARENT, 0, 1]);
    assert_eq!(c.skeleton().levels(), [0..1, 1..2, 2..3]);
    assert_eq!(c.palette().len(), 2);
    assert_eq!((c.palette()[0].joint, c.palette()[1].joint), (1, 2));
    let p = &c.primitives()[0];
    assert_eq!(
        (&*p.name, p.vertex_count(), p.indices.len()),
        ("Ladder.0", 6, 12)
    );
    assert_eq!(p.influences.per_vertex, 2);
    assert_eq!(
        p.influences.joints,
        JointIndices::U8(vec![0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1])
    );
    assert_eq!(p.influences.weights[4..8], [32768, 32767, 32768, 32767]);
    assert_eq!(c.skins().len(), 1);
    assert_eq!(
        (&*c.skins()[0].name, &c.skins()[0].joints[..]),
        ("Arm", &[1, 2][..])
    );
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
    let (b, options) = (arm(), ImportOptions::default());
    let from_glb = gltf(&b.glb(), &options).unwrap();
    assert_eq!(gltf(&b.gltf(), &options).unwrap(), from_glb);
    let mut marked = b"\xef\xbb\xbf".to_vec();
    marked.extend(b.gltf());
    assert_eq!(
        gltf(&marked, &options).unwrap(),
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
            .all(|e| e.inverse_bind == throng::character::Affine::IDENTITY)
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
    let influences = &c.primitives()[0].influences;
    assert_eq!(influences.per_vertex, 12, "ten are used");
    let row = &influences.weights[..12];
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
            let weight = |slot: u8| if set * 4 + slot < used { 1.0 } else { 0.0_f32 };
            let weights: Vec<f32> = (0..6).flat_map(|_| (0..4).map(weight)).collect();
            let weights = b.accessor("VEC4", F32, &weights);
            let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(weights);
        }
        let c = import(&b);
        let influences = &c.primitives()[0].influences;
        assert_eq!(influences.per_vertex, expected);
        assert_eq!(influences.weights.is_empty(), expected == 1);
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
        c.primitives()[0].influences.weights[4..6],
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
    assert_eq!(c.skins()[0].joints, [2, 1]);
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
        [1, 2, 2],
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
    assert_eq!(c.skeleton().find("Far"), None);
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
    let between = c.skeleton().find("Between").unwrap();
    assert_eq!(c.clips()[0].tracks()[0].joint, between);
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
    assert_eq!((&*sword.name, sword.influences.per_vertex), ("Blade.0", 1));
    assert!(sword.influences.weights.is_empty());
    let entry = &c.palette()[sword.palette.start as usize];
    assert_eq!(sword.palette.len(), 1);
    assert_eq!(entry.joint, c.skeleton().find("Sword").unwrap());
    assert_eq!(entry.inverse_bind, throng::character::Affine::IDENTITY);
    assert_eq!(c.rest_bounds().max, Vec3::new(1.1, 4.0, 0.0));
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
    assert!(c.materials().len() == 1 && c.clips().is_empty());
}

#[test]
fn files_of_animations_alone() {
    let mut b = arm();
    let json = b.json.as_object_mut().unwrap();
    json.remove("meshes");
    json["nodes"][0] = json!({ "name": "Body" });
    let c = import(&b);
    assert_eq!(
        (c.skeleton().len(), c.primitives().len(), c.clips().len()),
        (3, 0, 1)
    );
    assert_eq!(c.clips()[0].tracks().len(), 1);
    assert_eq!(c.rest_bounds().max.y, 1.0, "around the joints");
    b.json.as_object_mut().unwrap().remove("skins");
    assert_eq!(
        import(&b).skeleton().len(),
        3,
        "what is animated, and above"
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

// Scenes and nodes

#[test]
fn the_scene_is_the_option_the_default_the_first_or_all() {
    let mut b = triangle();
    b.add("nodes", json!({ "mesh": 0, "name": "Second" }));
    b.add("scenes", json!({ "nodes": [1] }));
    let name = |b: &Builder| import(b).skeleton().joints()[0].name.clone();
    assert_eq!(&*name(&b), "");
    b.json["scene"] = json!(1);
    assert_eq!(&*name(&b), "Second");
    let mut options = ImportOptions::default();
    options.scene = Some(0);
    let c = gltf(&b.glb(), &options).unwrap();
    assert_eq!(&*c.skeleton().joints()[0].name, "");
    options.scene = Some(2);
    let error = gltf(&b.glb(), &options).unwrap_err();
    assert_eq!(error.to_string(), "scene 2 does not exist: there are 2");
    b.json.as_object_mut().unwrap().remove("scenes");
    b.json.as_object_mut().unwrap().remove("scene");
    assert_eq!(import(&b).primitives().len(), 2);
}

#[test]
fn matrices_become_translation_rotation_scale() {
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 2.5);
    let scale = Vec3::new(2.0, 0.5, 3.0);
    for scale in [scale, -scale, Vec3::new(0.0, 1.0, 2.0), Vec3::ZERO] {
        let place = Vec3::new(4.0, -5.0, 6.0);
        let matrix = Mat4::from_scale_rotation_translation(scale, turn, place);
        let mut b = triangle();
        b.json["nodes"][0]["matrix"] = json!(matrix.to_cols_array());
        let rest = import(&b).skeleton().joints()[0].rest;
        let again = Mat4::from(rest.to_affine());
        assert!(again.abs_diff_eq(matrix, 1e-5), "{again} {matrix}");
    }
}

#[test]
fn a_chain_of_60_000_nodes() {
    let mut b = triangle();
    let last = 60_000;
    let mut nodes = vec![json!({ "mesh": 0 })];
    // Against the order of the file, so that each parent stands behind its child.
    nodes.extend((1..last).map(|n| json!({ "children": [n - 1], "translation": [0, 0.001, 0] })));
    b.json["nodes"] = json!(nodes);
    b.json["scenes"] = json!([{ "nodes": [last - 1] }]);
    let c = import(&b);
    assert_eq!(
        (c.skeleton().len(), c.skeleton().levels().len()),
        (last, last)
    );
    assert!((c.rest_bounds().min.y - 60.0).abs() < 0.1);
}

#[test]
fn joints_are_breadth_first() {
    let mut b = triangle();
    b.json["nodes"] = json!([
        { "name": "d", "mesh": 0 }, { "name": "b", "children": [0] },
        { "name": "e", "mesh": 0 }, { "name": "c", "children": [2] },
        { "name": "a", "children": [3, 1] },
    ]);
    b.json["scenes"] = json!([{ "nodes": [4] }]);
    let c = import(&b);
    let names: Vec<_> = c.skeleton().joints().iter().map(|j| &*j.name).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    assert_eq!(c.skeleton().levels(), [0..1, 1..3, 3..5]);
}

// Meshes

#[test]
fn identical_vertices_are_merged_and_unused_ones_dropped() {
    let mut b = triangle();
    let corner = |n: usize| {
        [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0_f32],
        ][n]
    };
    let corners: Vec<f32> = [0, 1, 2, 0, 2, 3].iter().flat_map(|n| corner(*n)).collect();
    let position = b.accessor("VEC3", F32, &corners);
    b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(position);
    let c = import(&b);
    let p = &c.primitives()[0];
    assert_eq!(p.vertex_count(), 4);
    assert_eq!(p.indices, [0, 1, 2, 0, 2, 3]);
    assert!(p.normals.is_empty(), "shaded flat");
    let mut uvs = vec![0.0_f32; 12];
    uvs[6] = 1e-7;
    let uvs = b.accessor("VEC2", F32, &uvs);
    b.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uvs);
    assert_eq!(import(&b).vertex_count(), 5, "exactly, over all attributes");
    let indices = b.accessor("SCALAR", U8, &[0_u8, 1, 2]);
    b.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    assert_eq!(import(&b).vertex_count(), 3);
}

#[test]
fn smooth_normals_on_request() {
    let mut b = triangle();
    // A roof of two slopes that share the ridge in position only.
    let corners = [
        0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, -1.0, 0.0,
        -1.0_f32,
    ];
    let position = b.accessor("VEC3", F32, &corners);
    b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(position);
    let mut options = ImportOptions::default();
    options.smooth_normals = true;
    let c = gltf(&b.glb(), &options).unwrap();
    let p = &c.primitives()[0];
    assert_eq!(p.vertex_count(), 5);
    assert!(
        p.normals[0].abs_diff_eq(Vec3::Y, 1e-6),
        "the ridge: {}",
        p.normals[0]
    );
    let slope = Vec3::new(0.0, 1.0, 1.0).normalize();
    assert!(p.normals[1].abs_diff_eq(slope, 1e-6), "{}", p.normals[1]);
}

#[test]
fn strips_and_fans_become_lists() {
    let mut b = triangle();
    let corners: Vec<f32> = (0..5)
        .flat_map(|v| [v as f32, (v % 2) as f32, 0.0])
        .collect();
    let position = b.accessor("VEC3", F32, &corners);
    let primitive = |mode: u32| json!([{ "attributes": { "POSITION": position }, "mode": mode }]);
    b.json["meshes"][0]["primitives"] = primitive(5);
    assert_eq!(
        import(&b).primitives()[0].indices,
        [0, 1, 2, 1, 3, 2, 2, 3, 4]
    );
    b.json["meshes"][0]["primitives"] = primitive(6);
    assert_eq!(import(&b).primitives()[0].vertex_count(), 5);
    let c = import(&b);
    let p = &c.primitives()[0];
    let xs: Vec<_> = p
        .indices
        .iter()
        .map(|i| p.positions[*i as usize].x as u32)
        .collect();
    assert_eq!(xs, [1, 2, 0, 2, 3, 0, 3, 4, 0]);
}

#[test]
fn points_lines_and_morph_targets_are_left_out() {
    let mut b = triangle();
    let list = b.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    list.push(json!({ "attributes": { "POSITION": 0 }, "mode": 0 }));
    list.push(json!({ "attributes": { "POSITION": 0 }, "mode": 3 }));
    list.push(json!({ "attributes": {} }));
    list[0]["targets"] = json!([{ "POSITION": 0 }, { "POSITION": 0 }]);
    let c = import(&b);
    assert_eq!(c.primitives().len(), 1);
    let told: Vec<_> = c.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "mesh 0, primitives[0].targets: left out: not supported (2)",
            "mesh 0, primitives[1]: left out: not supported (1)",
            "mesh 0, primitives[2]: left out: not supported (1)",
            "mesh 0, primitives[3]: left out: not supported (1)",
        ]
    );
}

#[test]
fn indices_of_every_component_type() {
    let mut b = triangle();
    let all = [
        b.accessor("SCALAR", U8, &[2_u8, 0, 1]),
        b.accessor("SCALAR", U16, &[2_u16, 0, 1]),
        b.accessor("SCALAR", U32, &[2_u32, 0, 1]),
    ];
    for indices in all {
        b.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
        assert_eq!(import(&b).primitives()[0].indices, [2, 0, 1]);
    }
}

#[test]
fn normals_texture_coordinates_and_colours() {
    let mut b = triangle();
    let normals = b.accessor("VEC3", F32, &[0.0, 0.0, 1.0_f32].repeat(3));
    let uvs = b.normalized("VEC2", U8, &[0_u8, 255, 51, 0, 0, 0]);
    let rgb = b.normalized("VEC3", U16, &[0_u16, 65535, 0, 0, 0, 0, 0, 0, 0]);
    b.json["meshes"][0]["primitives"][0]["attributes"] = json!({
        "POSITION": 0, "NORMAL": normals, "TEXCOORD_0": uvs, "COLOR_0": rgb });
    let c = import(&b);
    let p = &c.primitives()[0];
    assert_eq!(p.normals, [Vec3::Z; 3]);
    assert_eq!(
        p.uvs,
        [Vec2::new(0.0, 1.0), Vec2::new(0.2, 0.0), Vec2::ZERO]
    );
    assert_eq!(p.colors[0], [0.0, 1.0, 0.0, 1.0]);
    let rgba = b.accessor("VEC4", F32, &[0.0, 0.25, 0.5, 0.75_f32].repeat(3));
    b.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(rgba);
    assert_eq!(import(&b).primitives()[0].colors[2], [0.0, 0.25, 0.5, 0.75]);
}

#[test]
fn tangents_without_normals_are_ignored() {
    let mut b = triangle();
    let tangents = b.accessor("VEC4", F32, &[1.0, 0.0, 0.0, 1.0_f32].repeat(3));
    b.json["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] = json!(tangents);
    let c = import(&b);
    assert!(has(&c, RepairKind::TangentsIgnored, 1));
    assert!(c.primitives()[0].normals.is_empty());
}

#[test]
fn quantised_meshes() {
    let mut b = triangle();
    let position = b.accessor("VEC3", I16, &[0_i16, 0, 0, 1000, 0, 0, 0, -1000, 0]);
    let normal = b.normalized("VEC3", I8, &[0_i8, 0, 127].repeat(3));
    let uv = b.accessor("VEC2", U8, &[0_u8, 2, 3, 4, 5, 6]);
    b.json["meshes"][0]["primitives"][0]["attributes"] = json!({
        "POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv });
    let refused = gltf(&b.glb(), &ImportOptions::default()).unwrap_err();
    assert!(
        refused.to_string().contains("KHR_mesh_quantization"),
        "{refused}"
    );
    b.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    b.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let c = import(&b);
    let p = &c.primitives()[0];
    assert_eq!(p.positions[1], Vec3::new(1000.0, 0.0, 0.0));
    assert_eq!(p.normals[0], Vec3::Z);
    assert_eq!(p.uvs[1], Vec2::new(3.0, 4.0));
    for (component, normalized, expected) in [
        (
            b.accessor("VEC3", I8, &[0_i8, 0, 0, 127, -128, 0, 0, 5, 0]),
            true,
            Vec3::new(1.0, -1.0, 0.0),
        ),
        (
            b.accessor("VEC3", U8, &[0_u8, 0, 0, 255, 51, 0, 0, 5, 0]),
            true,
            Vec3::new(1.0, 0.2, 0.0),
        ),
        (
            b.accessor("VEC3", U16, &[0_u16, 0, 0, 65535, 0, 0, 0, 5, 0]),
            true,
            Vec3::X,
        ),
        (
            b.accessor("VEC3", U16, &[0_u16, 0, 0, 65535, 0, 0, 0, 5, 0]),
            false,
            Vec3::X * 65535.0,
        ),
        (
            b.accessor("VEC3", I16, &[0_i16, 0, 0, -32768, 0, 0, 0, 5, 0]),
            true,
            -Vec3::X,
        ),
    ] {
        b.json["accessors"][component]["normalized"] = json!(normalized);
        b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(component);
        assert_eq!(import(&b).primitives()[0].positions[1], expected);
    }
}

#[test]
fn interleaved_and_misaligned_views() {
    let mut b = triangle();
    let mut values = vec![9.0_f32; 15];
    for (vertex, corner) in [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
        .iter()
        .enumerate()
    {
        values[vertex * 5 + 2..vertex * 5 + 5].copy_from_slice(corner);
    }
    let view = b.view(&values);
    b.json["bufferViews"][view]["byteStride"] = json!(20);
    let position = b.add(
        "accessors",
        json!({ "bufferView": view, "byteOffset": 8,
        "componentType": F32, "type": "VEC3", "count": 3 }),
    );
    b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(position);
    assert_eq!(import(&b).primitives(), import(&triangle()).primitives());
    let mut bytes = vec![0_u8];
    for value in [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0_f32] {
        bytes.extend(value.to_le_bytes());
    }
    let view = b.view(&bytes);
    b.json["accessors"][position] = json!({ "bufferView": view, "byteOffset": 1,
        "componentType": F32, "type": "VEC3", "count": 3 });
    assert_eq!(
        import(&b).primitives(),
        import(&triangle()).primitives(),
        "read byte by byte"
    );
}

#[test]
fn sparse_accessors_and_accessors_without_a_view() {
    for (component, places) in [
        (U8, {
            let mut b = triangle();
            (b.view(&[1_u8, 2]), b)
        }),
        (U16, {
            let mut b = triangle();
            (b.view(&[1_u16, 2]), b)
        }),
        (U32, {
            let mut b = triangle();
            (b.view(&[1_u32, 2]), b)
        }),
    ] {
        let (places, mut b) = places;
        let values = b.view(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0_f32]);
        let sparse = json!({ "count": 2,
            "indices": { "bufferView": places, "componentType": component },
            "values": { "bufferView": values } });
        let zeros = b.add(
            "accessors",
            json!({
            "componentType": F32, "type": "VEC3", "count": 3, "sparse": sparse }),
        );
        b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(zeros);
        assert_eq!(import(&b).primitives(), import(&triangle()).primitives());
        let base = b.accessor(
            "VEC3",
            F32,
            &[0.0, 0.0, 0.0, 7.0, 7.0, 7.0, 8.0, 8.0, 8.0_f32],
        );
        b.json["accessors"][base]["sparse"] = sparse;
        b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(base);
        assert_eq!(import(&b).primitives(), import(&triangle()).primitives());
    }
    let mut b = arm();
    let zeros = b.add(
        "accessors",
        json!({ "componentType": U8, "type": "VEC4", "count": 6 }),
    );
    b.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = json!(zeros);
    let c = import(&b);
    assert_eq!(c.palette().len(), 1, "joints that are all zero");
}

#[test]
fn mirrored_parts_keep_their_front() {
    let mut b = triangle();
    b.json["nodes"][0]["scale"] = json!([-1, 1, 1]);
    let c = import(&b);
    assert_eq!(c.primitives()[0].indices, [0, 2, 1]);
    assert!(!c.primitives()[0].mixed_winding);
    b.json["nodes"][0]["scale"] = json!([-1, -1, 1]);
    assert_eq!(import(&b).primitives()[0].indices, [0, 1, 2]);
    let mut b = arm();
    b.json["nodes"][3]["scale"] = json!([1, 1, -1]);
    assert!(import(&b).primitives()[0].mixed_winding);
}

#[test]
fn wide_palettes_get_16_bit_indices() {
    for (count, wide) in [(256, false), (257, true), (300, true)] {
        let mut b = Builder::default();
        let nodes: Vec<usize> = (0..count).map(|_| b.add("nodes", json!({}))).collect();
        b.add("skins", json!({ "joints": nodes }));
        let corners: Vec<f32> = (0..count * 3).map(|v| v as f32).collect();
        let position = b.accessor("VEC3", F32, &corners);
        let joints: Vec<u16> = (0..count).flat_map(|v| [v as u16, 0, 0, 0]).collect();
        let joints = b.accessor("VEC4", U16, &joints);
        let weights = b.accessor("VEC4", F32, &[1.0, 0.0, 0.0, 0.0_f32].repeat(count));
        let strip: Vec<u16> = (0..count as u16).collect();
        let strip = b.accessor("SCALAR", U16, &strip);
        b.add(
            "meshes",
            json!({ "primitives": [{ "mode": 5, "indices": strip, "attributes": {
            "POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights } }] }),
        );
        b.add("nodes", json!({ "mesh": 0, "skin": 0 }));
        let c = import(&b);
        assert_eq!(c.palette().len(), count);
        let joints = &c.primitives()[0].influences.joints;
        assert_eq!(matches!(joints, JointIndices::U16(_)), wide);
        assert_eq!(joints.get(count - 1), count - 1);
    }
}

// Animations

#[test]
fn translation_rotation_scale_in_every_interpolation() {
    for (name, interpolation, per_key) in [
        ("STEP", Interpolation::Step, 1),
        ("LINEAR", Interpolation::Linear, 1),
        ("CUBICSPLINE", Interpolation::CubicSpline, 3),
    ] {
        let mut b = arm();
        let times = b.accessor("SCALAR", F32, &[1.5_f32, 4.0]);
        let vectors: Vec<f32> = (0..6 * per_key).map(|v| v as f32).collect();
        let vectors = b.accessor("VEC3", F32, &vectors);
        let turns = b.accessor("VEC4", F32, &[0.0, 0.0, 0.0, 1.0_f32].repeat(2 * per_key));
        b.json["animations"] = json!([{ "samplers": [
                { "input": times, "output": vectors, "interpolation": name },
                { "input": times, "output": turns, "interpolation": name } ],
            "channels": [
                { "sampler": 0, "target": { "node": 3, "path": "scale" } },
                { "sampler": 1, "target": { "node": 3, "path": "rotation" } },
                { "sampler": 0, "target": { "node": 3, "path": "translation" } } ] }]);
        let c = import(&b);
        let clip = &c.clips()[0];
        assert_eq!(
            (clip.start_s(), clip.duration_s()),
            (1.5, 4.0),
            "it starts late"
        );
        let [
            TrackValues::Translation(t),
            TrackValues::Rotation(r),
            TrackValues::Scale(s),
        ] = [0, 1, 2].map(|at| clip.tracks()[at].values.clone())
        else {
            panic!("{clip:?}");
        };
        assert_eq!(
            (t.interpolation, t.values.len()),
            (interpolation, 2 * per_key)
        );
        assert_eq!(
            (r.interpolation, r.values.len()),
            (interpolation, 2 * per_key)
        );
        assert_eq!(
            (s.interpolation, s.values[1]),
            (interpolation, Vec3::new(3.0, 4.0, 5.0))
        );
    }
}

#[test]
fn the_default_interpolation_is_linear() {
    let mut b = arm();
    let sampler = b.json["animations"][0]["samplers"][0]
        .as_object_mut()
        .unwrap();
    sampler.remove("interpolation");
    assert_eq!(import(&b).clips(), import(&arm()).clips());
}

#[test]
fn one_key_and_no_channel() {
    let mut b = arm();
    let times = b.accessor("SCALAR", F32, &[0.0_f32]);
    let place = b.accessor("VEC3", F32, &[1.0, 2.0, 3.0_f32]);
    b.add(
        "animations",
        json!({ "name": "Pose",
        "samplers": [{ "input": times, "output": place }],
        "channels": [{ "sampler": 0, "target": { "node": 2, "path": "translation" } }] }),
    );
    b.add(
        "animations",
        json!({ "name": "Elsewhere",
        "samplers": [{ "input": times, "output": place }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } },
                     { "sampler": 0, "target": { "path": "pointer" } }] }),
    );
    let c = import(&b);
    let names: Vec<_> = c.clips().iter().map(|clip| clip.name()).collect();
    assert_eq!(
        names,
        ["Bend", "Pose", "Elsewhere"],
        "numbered as in the file"
    );
    assert_eq!(
        (c.clips()[1].tracks().len(), c.clips()[1].duration_s()),
        (1, 0.0)
    );
    assert_eq!(
        (c.clips()[2].tracks().len(), c.clips()[2].duration_s()),
        (0, 0.0)
    );
    let told: Vec<_> = c.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "animation 2, channels without a node: left out: not supported (1)",
            "animation 2, channels on nodes that are not in the skeleton: left out: not supported (1)",
        ]
    );
}

#[test]
fn quantised_rotation_keys() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    for (output, normalized, tolerance) in [
        (
            I8,
            Box::new(|b: &mut Builder| b.normalized("VEC4", I8, &[0_i8, 0, 90, 90, 0, 0, 0, 127]))
                as Box<dyn Fn(&mut Builder) -> usize>,
            0.01,
        ),
        (
            I16,
            Box::new(|b: &mut Builder| {
                b.normalized("VEC4", I16, &[0_i16, 0, 23170, 23170, 0, 0, 0, 32767])
            }),
            1e-4,
        ),
        (
            U8,
            Box::new(|b: &mut Builder| {
                b.normalized("VEC4", U8, &[0_u8, 0, 180, 180, 0, 0, 0, 255])
            }),
            0.01,
        ),
        (
            U16,
            Box::new(|b: &mut Builder| {
                b.normalized("VEC4", U16, &[0_u16, 0, 46340, 46340, 0, 0, 0, 65535])
            }),
            1e-4,
        ),
    ] {
        let mut b = arm();
        let times = b.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
        let turns = normalized(&mut b);
        b.json["animations"][0]["samplers"][0] = json!({ "input": times, "output": turns });
        let c = import(&b);
        assert_eq!(c.repairs, [], "{output}");
        let TrackValues::Rotation(keys) = &c.clips()[0].tracks()[0].values else {
            panic!("{output}");
        };
        assert!(keys.values[0].abs_diff_eq(Quat::from_xyzw(0.0, 0.0, half, half), tolerance));
        assert!(keys.values.iter().all(|q| (q.length() - 1.0).abs() < 1e-6));
    }
}

#[test]
fn weights_channels_are_left_out() {
    let mut b = arm();
    b.json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "sampler": 0, "target": { "node": 0, "path": "weights" } }));
    let c = import(&b);
    assert_eq!(c.clips()[0].tracks().len(), 1);
    assert!(has(&c, RepairKind::LeftOut, 1));
}

// Materials and images

fn png(shade: u8) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixels = image::RgbImage::from_pixel(3, 2, image::Rgb([shade, 20, 30]));
    pixels
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

fn textured() -> Builder {
    let mut b = triangle();
    let view = b.view(&png(10));
    b.add("images", json!({ "name": "Unused", "uri": "nowhere.png" }));
    b.add(
        "images",
        json!({ "name": "Coat", "bufferView": view, "mimeType": "image/jpeg" }),
    );
    b.add(
        "samplers",
        json!({ "magFilter": 9728, "minFilter": 9985, "wrapS": 33071, "wrapT": 33648 }),
    );
    b.add("textures", json!({ "source": 1, "sampler": 0 }));
    b.add("textures", json!({ "source": 0 }));
    b.add(
        "materials",
        json!({ "name": "Unused", "pbrMetallicRoughness": {
        "baseColorTexture": { "index": 1 } } }),
    );
    b.add(
        "materials",
        json!({ "name": "Coat", "doubleSided": true, "pbrMetallicRoughness": {
        "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "baseColorTexture": { "index": 0 } } }),
    );
    b.json["meshes"][0]["primitives"][0]["material"] = json!(1);
    b
}

#[test]
fn materials_and_textures() {
    let c = import(&textured());
    assert_eq!((c.materials().len(), c.primitives()[0].material), (2, 1));
    let coat = &c.materials()[1];
    assert_eq!(
        (&*coat.name, coat.base_color, coat.double_sided),
        ("Coat", [0.1, 0.2, 0.3, 0.4], true)
    );
    let texture = coat.base_color_texture.unwrap();
    assert_eq!(
        (texture.image, c.images().len()),
        (0, 1),
        "only what is used is decoded"
    );
    assert_eq!(
        (texture.sampler.wrap_u, texture.sampler.wrap_v),
        (Wrap::Clamp, Wrap::Mirror)
    );
    assert_eq!(
        (texture.sampler.magnify, texture.sampler.minify),
        (Filter::Nearest, Filter::Linear)
    );
    assert_eq!(texture.sampler.mip, Some(Filter::Nearest));
    let image = &c.images()[0];
    assert_eq!((&*image.name, image.width, image.height), ("Coat", 3, 2));
    assert_eq!(image.rgba, [10, 20, 30, 255].repeat(6));
    assert_eq!(c.materials()[0].base_color_texture, None);
}

#[test]
fn jpeg_and_data_uris_and_16_bit_png() {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixels = image::RgbImage::from_pixel(16, 8, image::Rgb([200, 100, 50]));
    pixels
        .write_to(&mut bytes, image::ImageFormat::Jpeg)
        .unwrap();
    let mut b = textured();
    let uri = |data: &[u8]| {
        format!(
            "data:image/jpeg;base64,{}",
            common::gltf_builder::base64(data)
        )
    };
    b.json["images"][1] = json!({ "uri": uri(&bytes.into_inner()) });
    let c = import(&b);
    assert_eq!((c.images()[0].width, c.images()[0].height), (16, 8));
    assert!(c.images()[0].rgba[0].abs_diff(200) < 6);
    let mut bytes = std::io::Cursor::new(Vec::new());
    let deep = image::ImageBuffer::<image::Luma<u16>, _>::from_pixel(2, 2, image::Luma([0x8080]));
    deep.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    b.json["images"][1] = json!({ "uri": uri(&bytes.into_inner()) });
    assert_eq!(import(&b).images()[0].rgba[..4], [0x80, 0x80, 0x80, 255]);
}

#[test]
fn the_textures_own_set_of_coordinates_and_its_transform() {
    let mut b = textured();
    let zero = b.accessor("VEC2", F32, &[0.0_f32; 6]);
    let one = b.accessor("VEC2", F32, &[1.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["TEXCOORD_0"] = json!(zero);
    attributes["TEXCOORD_1"] = json!(one);
    let info = |b: &mut Builder, info| {
        b.json["materials"][1]["pbrMetallicRoughness"]["baseColorTexture"] = info;
    };
    info(&mut b, json!({ "index": 0, "texCoord": 1 }));
    assert_eq!(import(&b).primitives()[0].uvs[0], Vec2::X);
    b.json["extensionsRequired"] = json!(["KHR_texture_transform"]);
    info(
        &mut b,
        json!({ "index": 0, "extensions": { "KHR_texture_transform": {
        "texCoord": 1, "offset": [0.5, 0.25], "scale": [2, 4],
        "rotation": std::f32::consts::FRAC_PI_2 } } }),
    );
    let c = import(&b);
    // Scaled, then turned counter-clockwise where v points down, then moved.
    assert!(c.primitives()[0].uvs[0].abs_diff_eq(Vec2::new(0.5, -1.75), 1e-6));
    assert!(c.primitives()[0].uvs[1].abs_diff_eq(Vec2::new(4.5, 0.25), 1e-6));
}

#[test]
fn a_texture_that_only_an_extension_defines_is_left_out() {
    let mut b = textured();
    b.json["textures"][0] = json!({ "extensions": { "KHR_texture_basisu": { "source": 1 } } });
    let c = import(&b);
    assert_eq!(c.materials()[1].base_color_texture, None);
    assert!(has(&c, RepairKind::LeftOut, 1));
}

#[test]
fn primitives_without_a_material_get_the_default() {
    let mut b = textured();
    b.json["meshes"][0]["primitives"][0]
        .as_object_mut()
        .unwrap()
        .remove("material");
    let c = import(&b);
    assert_eq!((c.materials().len(), c.primitives()[0].material), (3, 2));
    assert_eq!(c.materials()[2], throng::character::Material::default());
}

// Files beside it

/// A fresh folder for one test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn files_beside_and_below() {
    let folder = folder("import_beside");
    std::fs::create_dir_all(folder.join("some data")).unwrap();
    let b = arm();
    std::fs::write(folder.join("some data/arm é.bin"), &b.bin).unwrap();
    let path = folder.join("arm.gltf");
    std::fs::write(&path, b.gltf_beside("some%20data/arm%20%C3%A9.bin")).unwrap();
    let c = gltf_file(&path, &ImportOptions::default()).unwrap();
    assert_eq!(c.name(), "arm.gltf");
    assert_eq!(c.primitives(), import(&b).primitives());
}

#[test]
fn files_through_the_callers_reader() {
    let b = arm();
    let mut asked = Vec::new();
    let mut read = |uri: &str| {
        asked.push(uri.to_owned());
        Ok(b.bin.clone())
    };
    let file = b.gltf_beside("./a%20b.bin");
    let c = gltf_with(&file, &mut read, &ImportOptions::default()).unwrap();
    assert_eq!(c.primitives(), import(&b).primitives());
    assert_eq!(asked, ["./a b.bin"], "decoded, and once");
}

#[test]
fn chunks_that_are_not_known_are_skipped() {
    let b = arm();
    let mut file = b.glb();
    file.extend([4, 0, 0, 0]);
    file.extend(b"XTRA");
    file.extend([1, 2, 3, 4]);
    let length = file.len() as u32;
    file[8..12].copy_from_slice(&length.to_le_bytes());
    let c = gltf(&file, &ImportOptions::default()).unwrap();
    assert_eq!(c.repairs, []);
    file.extend(b"tail");
    let c = gltf(&file, &ImportOptions::default()).unwrap();
    assert!(has(&c, RepairKind::TrailingBytes, 4));
    let json = b"{\"asset\":{\"version\":\"2.0\"}}";
    assert!(
        gltf(&glb(json, None), &ImportOptions::default()).is_err(),
        "nothing to draw"
    );
}

#[test]
fn extensions_that_are_not_required_are_ignored() {
    let mut b = arm();
    b.json["extensionsUsed"] = json!(["VENDOR_anything"]);
    b.json["extensions"] = json!({ "VENDOR_anything": [1, { "deep": null }] });
    b.json["nodes"][0]["extensions"] = json!({ "VENDOR_anything": "x" });
    b.json["nodes"][0]["extras"] = json!([[[["y"]]]]);
    b.json["extensionsRequired"] = json!(["KHR_materials_unlit"]);
    assert_eq!(import(&b).character, import(&arm()).character);
}
