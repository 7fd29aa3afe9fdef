//! Attributes, indices, welding and winding.

use crate::builder::*;
use crate::help::*;
use crate::reference::compare::in_file_order;
use serde_json::json;
use throng::glam::{Vec2, Vec3};
use throng::import::ImportOptions;
use throng::mesh::JointIndices;

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
    let options = ImportOptions {
        smooth_normals: true,
        ..ImportOptions::curves_only()
    };
    let c = throng_import::bytes(&b.glb(), &options).unwrap();
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
fn trailing_indices_are_dropped() {
    let trailing = "indices: trailing indices that make no full triangle dropped";
    let words = |count: usize| format!("mesh 0, primitives[0].{trailing} ({count})");
    for count in [10, 11] {
        let b = changed(&arm(), "/accessors/3/count", json!(count));
        let c = repaired(&b);
        told(&c, &[&words(count - 9)]);
        let whole = repaired(&changed(&arm(), "/accessors/3/count", json!(9)));
        assert_eq!(c.primitives(), whole.primitives());
    }
    // Without an index accessor.
    let mut b = triangle();
    let position = b.accessor(
        "VEC3",
        F32,
        &[
            0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 9.0, 9.0, 9.0_f32,
        ],
    );
    b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(position);
    let c = repaired(&b);
    told(&c, &[&words(1)]);
    assert_eq!(c.primitives(), repaired(&triangle()).primitives());
    // Nothing is left of these.
    for mode in [4, 5, 6] {
        let b = changed(&triangle(), "/accessors/0/count", json!(2));
        let b = changed(&b, "/meshes/0/primitives/0/mode", json!(mode));
        let c = repaired(&b);
        told(&c, &[&words(2)]);
        assert_eq!(c.primitives(), []);
    }
}

#[test]
fn points_and_lines_are_left_out() {
    let mut b = triangle();
    let list = b.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    list.push(json!({ "attributes": { "POSITION": 0 }, "mode": 0 }));
    list.push(json!({ "attributes": { "POSITION": 0 }, "mode": 3 }));
    list.push(json!({ "attributes": {} }));
    let c = import(&b);
    assert_eq!(c.primitives().len(), 1);
    let told: Vec<_> = c.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "mesh 0, primitives[1]: left out, because it is not supported (1)",
            "mesh 0, primitives[2]: left out, because it is not supported (1)",
            "mesh 0, primitives[3]: left out, because it is not supported (1)",
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
        let imported = throng_import::bytes(&b.glb(), &in_file_order()).unwrap();
        assert_eq!(imported.primitives()[0].indices, [2, 0, 1]);
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
fn quantised_meshes() {
    let mut b = triangle();
    let position = b.accessor("VEC3", I16, &[0_i16, 0, 0, 1000, 0, 0, 0, -1000, 0]);
    let normal = b.normalized("VEC3", I8, &[0_i8, 0, 127].repeat(3));
    let uv = b.accessor("VEC2", U8, &[0_u8, 2, 3, 4, 5, 6]);
    b.json["meshes"][0]["primitives"][0]["attributes"] = json!({
        "POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv });
    throng_import::bytes(&b.glb(), &ImportOptions::curves_only()).fails("…KHR_mesh_quantization…");
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
    b.json["nodes"][0]["scale"] = json!([-1, -1, 1]);
    assert_eq!(import(&b).primitives()[0].indices, [0, 1, 2]);
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
        let primitive = &c.primitives()[0];
        assert_eq!(matches!(primitive.joints, JointIndices::U16(_)), wide);
        let last = primitive.influences(count - 1).next();
        assert_eq!(last, Some((count - 1, 1.0)));
    }
}

#[test]
fn primitives_are_called_by_their_mesh_its_node_or_its_number() {
    let name = |mesh: Option<&str>, node: Option<&str>| {
        let mut b = triangle();
        let own = b.json["meshes"][0].clone();
        b.json["meshes"] = json!([own, own]);
        b.json["meshes"][1]["name"] = json!(mesh);
        b.json["nodes"] = json!([{ "mesh": 1, "name": node }]);
        import(&b).primitives()[0].name.to_string()
    };
    assert_eq!(name(Some("Head"), Some("Neck")), "Head.0");
    assert_eq!(name(None, Some("Neck")), "Neck.0");
    assert_eq!(name(Some(""), Some("Neck")), "Neck.0");
    assert_eq!(name(None, None), "mesh 1.0");
    assert_eq!(name(Some(""), Some("")), "mesh 1.0");
}
