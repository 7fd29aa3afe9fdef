//! Tangents that are read, repaired and refused.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::glam::{Vec3, Vec4};
use throng::import::RepairKind;

const TANGENT: Vec4 = Vec4::new(1.0, 0.0, 0.0, -1.0);

/// A triangle that faces +Z, with these values for tangents.
fn with_tangents<T: Bytes>(component: u32, values: &[T]) -> Builder {
    let mut b = triangle();
    let normals = b.accessor("VEC3", F32, &[0.0, 0.0, 1.0_f32].repeat(3));
    let tangents = b.accessor("VEC4", component, values);
    let attributes = b.json.pointer_mut(ATTRIBUTES).unwrap();
    attributes["NORMAL"] = json!(normals);
    attributes["TANGENT"] = json!(tangents);
    b
}

#[test]
fn tangents_are_read_without_a_normal_texture_too() {
    let c = import(&with_tangents(F32, &TANGENT.to_array().repeat(3)));
    assert_eq!(c.primitives()[0].tangents, [TANGENT; 3]);
    told(&c, &[]);
}

#[test]
fn quantised_tangents() {
    for (component, mut b) in [
        (I8, with_tangents(I8, &[127_i8, 0, 0, -127].repeat(3))),
        (I8, with_tangents(I8, &[127_i8, 0, 0, -128].repeat(3))),
        (
            I16,
            with_tangents(I16, &[32767_i16, 0, 0, -32767].repeat(3)),
        ),
    ] {
        b.json["accessors"][2]["normalized"] = json!(true);
        let start = "f: mesh 0, primitives[0].attributes.TANGENT: the component type";
        assert!(refused(&b.glb()).starts_with(start));
        b.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
        let c = import(&b);
        assert_eq!(c.primitives()[0].tangents, [TANGENT; 3], "{component}");
        told(&c, &[]);
        b.json["accessors"][2]["normalized"] = json!(false);
        assert!(refused(&b.glb()).starts_with(start));
    }
}

#[test]
fn tangents_without_normals_are_ignored() {
    let mut b = with_tangents(F32, &TANGENT.to_array().repeat(3));
    let attributes = b.json.pointer_mut(ATTRIBUTES).unwrap();
    attributes.as_object_mut().unwrap().remove("NORMAL");
    let c = import(&b);
    assert!(has(&c, RepairKind::TangentsIgnored, 1));
    let part = &c.primitives()[0];
    assert!(part.normals.is_empty() && part.tangents.is_empty());
}

#[test]
fn directions_and_signs_are_mended() {
    let tangents = [
        [3.0, 4.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, -1.0],
        [1.001, 0.0, 0.0, 1.0_f32],
    ];
    let c = import(&with_tangents(F32, tangents.as_flattened()));
    told(&c, &["mesh 0, primitives[0]: tangents normalised (2)"]);
    let read = &c.primitives()[0].tangents;
    assert_eq!(read[0], Vec4::new(0.6, 0.8, 0.0, 1.0));
    let across = read[1].truncate();
    // A unit vector in the plane of the triangle, to the rounding of 32 bits.
    assert!((across.length() - 1.0).abs() < 1e-6 && across.dot(Vec3::Z).abs() < 1e-6);
    assert_eq!((read[1].w, read[2]), (-1.0, Vec4::new(1.0, 0.0, 0.0, 1.0)));
    for (w, sign) in [
        (0.0, 1.0),
        (0.5, 1.0),
        (-3e38, -1.0),
        (-0.0, 1.0),
        (2.0, 1.0),
    ] {
        let c = import(&with_tangents(F32, &[1.0, 0.0, 0.0, w].repeat(3)));
        told(&c, &["mesh 0, primitives[0]: tangents normalised (3)"]);
        assert_eq!(c.primitives()[0].tangents[0].w, sign, "{w}");
    }
    let huge = import(&with_tangents(
        F32,
        &[f32::MAX, f32::MAX, 0.0, 1.0].repeat(3),
    ));
    let half = core::f32::consts::FRAC_1_SQRT_2;
    let expected = Vec4::new(half, half, 0.0, 1.0);
    assert!(huge.primitives()[0].tangents[0].abs_diff_eq(expected, 1e-6));
}

#[test]
fn tangents_that_are_refused() {
    for (at, value) in [(4, f32::NAN), (7, f32::NEG_INFINITY)] {
        let mut values = TANGENT.to_array().repeat(3);
        values[at] = value;
        let words = refused(&with_tangents(F32, &values).glb());
        let expected = format!(
            "f: mesh 0, primitives[0], attributes.TANGENT: vertex 1 is {value}, must be finite"
        );
        assert_eq!(words, expected);
    }
    let mut b = with_tangents(F32, &[1.0_f32; 12]);
    b.json["accessors"][2]["type"] = json!("VEC3");
    refused(&b.glb()).says(
        "f: mesh 0, primitives[0].attributes.TANGENT: the type of the accessor is VEC3, \
        which is not allowed here (VEC4)",
    );
    let b = with_tangents(F32, &TANGENT.to_array().repeat(2));
    refused(&b.glb())
        .says("f: mesh 0, primitives[0].attributes.TANGENT: the accessor has 2, needs 3");
}

#[test]
fn vertices_that_differ_in_the_tangent_stay_apart() {
    let corners = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0_f32];
    let mut tangents = TANGENT.to_array().repeat(6);
    let count = |tangents: &[f32]| {
        let mut b = with_tangents(F32, tangents);
        let position = b.accessor("VEC3", F32, &corners.repeat(2));
        let normal = b.accessor("VEC3", F32, &[0.0, 0.0, 1.0_f32].repeat(6));
        let attributes = b.json.pointer_mut(ATTRIBUTES).unwrap();
        attributes["POSITION"] = json!(position);
        attributes["NORMAL"] = json!(normal);
        import(&b).vertex_count()
    };
    assert_eq!(count(&tangents), 3);
    tangents[15] = 1.0;
    assert_eq!(count(&tangents), 4, "the other sign");
}
