//! Weights, joints, indices and normals that are refused or repaired.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::json;
use throng::Id;
use throng::glam::Vec3;

fn weighted(weights: [f32; 4], joints: [u8; 4]) -> Builder {
    let mut b = arm();
    let joints = b.accessor("VEC4", U8, &joints.repeat(6));
    let weights = b.accessor("VEC4", F32, &weights.repeat(6));
    let attributes = b.json.pointer_mut(ATTRIBUTES).unwrap();
    attributes["JOINTS_0"] = json!(joints);
    attributes["WEIGHTS_0"] = json!(weights);
    b
}

#[test]
fn weights_are_renormalised() {
    let c = repaired(&weighted([0.6, 0.2, 0.0, 0.0], [0, 1, 0, 0]));
    told(&c, &["mesh 0, primitives[0]: weights renormalised (6)"]);
    assert_eq!(c.primitives()[0].weights[..2], [49151, 16384]);
    let c = repaired(&weighted([1e-30, 3e-30, 0.0, 0.0], [0, 1, 0, 0]));
    assert_eq!(c.primitives()[0].weights[..2], [49151, 16384]);
    let c = repaired(&weighted(
        [f32::MAX, f32::MAX, f32::MAX, f32::MAX],
        [0, 0, 1, 1],
    ));
    assert_eq!(c.primitives()[0].weights[..2], [32768, 32767]);
    told(
        &repaired(&weighted([0.5003, 0.5, 0.0, 0.0], [0, 1, 0, 0])),
        &[],
    );
}

#[test]
fn weights_sum_to_1_exactly_and_each_is_off_by_less_than_a_unit() {
    let mut b = arm();
    let nodes: Vec<usize> = (0..4).map(|_| b.add("nodes", json!({}))).collect();
    b.json["skins"][0] = json!({ "joints": nodes });
    let mut state = 1_u32;
    for _ in 0..200 {
        let weights = [0; 4].map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state) / 4e9
        });
        let sum: f64 = weights.iter().sum();
        let view = b.view(&weights.map(|w| (w / sum) as f32).repeat(6));
        b.json["accessors"][2]["bufferView"] = json!(view);
        let joints = b.accessor("VEC4", U8, &[0, 1, 2, 3_u8].repeat(6));
        b.json.pointer_mut(ATTRIBUTES).unwrap()["JOINTS_0"] = json!(joints);
        let c = repaired(&b);
        let primitive = &c.primitives()[0];
        assert_eq!(
            primitive.weights[..4]
                .iter()
                .map(|w| u32::from(*w))
                .sum::<u32>(),
            65_535
        );
        for (joint, weight) in primitive.influences(0) {
            let exact = weights[joint] / sum;
            assert!((f64::from(weight) - exact).abs() < 1.0 / 65_535.0 + 1e-7);
        }
    }
}

#[test]
fn weightless_vertices_follow_their_first_joint() {
    let c = repaired(&weighted([0.0; 4], [1, 0, 0, 0]));
    told(
        &c,
        &["mesh 0, primitives[0]: vertices without weights bound to their first joint (6)"],
    );
    assert_eq!((c.palette().len(), c.palette()[0].joint.0), (1, 2));
    assert_eq!(c.primitives()[0].influences_per_vertex, 1);
}

#[test]
fn joints_out_of_range() {
    let c = repaired(&weighted([0.5, 0.5, 0.0, 0.0], [0, 1, 77, 0]));
    told(
        &c,
        &["mesh 0, primitives[0]: out-of-range joint indices of weight 0 set to 0 (6)"],
    );
    refused(&weighted([0.5, 0.4, 0.1, 0.0], [0, 1, 77, 0]).glb())
        .says("f: mesh 0, primitives[0], vertex 0: refers to joint 77, but there are 2");
    let c = repaired(&weighted([0.0; 4], [77, 0, 0, 0]));
    assert_eq!(c.palette()[0].joint, Id::new(1), "the skin's first");
    assert_eq!(c.repairs.len(), 2);
}

#[test]
fn repeated_joints_are_merged() {
    let c = repaired(&weighted([0.25, 0.25, 0.25, 0.25], [1, 0, 1, 1]));
    told(
        &c,
        &["mesh 0, primitives[0]: repeated joints of a vertex merged (6)"],
    );
    let primitive = &c.primitives()[0];
    assert_eq!(
        (primitive.influences_per_vertex, &primitive.weights[..2]),
        (2, &[49151, 16384][..])
    );
}

#[test]
fn weights_that_are_not_allowed() {
    for (weight, words) in [
        (-0.5, "weight 1 is -0.5"),
        (f32::NAN, "weight 1 is NaN"),
        (f32::INFINITY, "weight 1 is inf"),
    ] {
        let b = weighted([0.5, weight, 0.5, 0.5], [0, 1, 0, 0]);
        let words =
            format!("f: mesh 0, primitives[0], vertex 0: {words}, must be finite and at least 0");
        refused(&b.glb()).says_in(weight, words);
    }
}

#[test]
fn numbers_that_are_not_finite() {
    for (kind, name) in [
        ("VEC3", "POSITION"),
        ("VEC3", "NORMAL"),
        ("VEC2", "TEXCOORD_0"),
        ("VEC4", "COLOR_0"),
    ] {
        let per = kind[3..].parse::<usize>().unwrap();
        let mut values = vec![0.5; per * 3];
        values[per * 2] = f32::NAN;
        let mut b = triangle();
        let accessor = b.accessor(kind, F32, &values);
        b.json.pointer_mut(ATTRIBUTES).unwrap()[name] = json!(accessor);
        let words = refused(&b.glb());
        words.says("f: mesh 0, primitives[0], attributes.…");
        words.says("…vertex 2 is NaN, must be finite");
    }
    let mut binds = [0.0_f32; 32];
    binds[20] = f32::INFINITY;
    let mut b = arm();
    let accessor = b.accessor("MAT4", F32, &binds);
    b.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
    refused(&b.glb()).says("f: skin 0, inverseBindMatrices[1]: has a component that is not finite");
    with(
        &arm(),
        "/materials/0/pbrMetallicRoughness/baseColorFactor",
        json!([1, 1e39, 1, 1]),
    )
    .says("f: material 0, baseColorFactor: component 1 is inf, must be finite");
}

#[test]
fn indices_that_are_not_allowed() {
    let mut b = triangle();
    for (case, accessor, words) in cases![
        b.accessor("SCALAR", U8, &[0_u8, 1, 3])
            => "f: mesh 0, primitives[0].indices[2]: refers to vertex 3, but there are 3";
        b.accessor("SCALAR", U8, &[0_u8, 255, 1])
            => "f: mesh 0, primitives[0].indices[1]: is the primitive restart value";
        b.accessor("SCALAR", U16, &[0_u16, 65535, 1])
            => "f: mesh 0, primitives[0].indices[1]: is the primitive restart value";
        b.accessor("SCALAR", U32, &[u32::MAX, 0, 1])
            => "f: mesh 0, primitives[0].indices[0]: is the primitive restart value";
    ] {
        let b = changed(&b, "/meshes/0/primitives/0/indices", json!(accessor));
        refused(&b.glb()).says_in(case, words);
    }
}

#[test]
fn normals_are_brought_to_unit_length() {
    let mut b = triangle();
    let normals = b.accessor(
        "VEC3",
        F32,
        &[0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.001_f32],
    );
    b.json.pointer_mut(ATTRIBUTES).unwrap()["NORMAL"] = json!(normals);
    let c = repaired(&b);
    told(&c, &["mesh 0, primitives[0]: normals normalised (2)"]);
    assert_eq!(c.primitives()[0].normals, [Vec3::Z; 3]);
}

#[test]
fn a_rest_pose_whose_size_overflows_is_refused() {
    let mut b = triangle();
    let corners = [-3e38, 0.0, 0.0, 3e38, 0.0, 0.0, 0.0, 1.0, 0.0_f32];
    let position = b.accessor("VEC3", F32, &corners);
    let words = "f: file: the rest pose is too large for 32-bit numbers";
    let path = format!("{ATTRIBUTES}/POSITION");
    assert_eq!(with(&b, &path, json!(position)), words);
}
