//! Malformed and huge VRM data: errors or repairs, never a panic.

use super::files::{import, vrm0, vrm1};
use crate::builder::Builder;
use crate::reference::words::Says;
use serde_json::{Value, json};
use throng::Error;
use throng::animator::{Animator, Play};
use throng::character::Character;
use throng::glam::Affine3A;
use throng::import::ImportOptions;

fn refused(b: &Builder) -> String {
    let error = throng_import::bytes(&b.glb(), &ImportOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Asset { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn values_of_another_form_are_refused_with_their_place() {
    let mut b = vrm1();
    b.json["extensions"]["VRMC_springBone"]["springs"][0]["joints"] = json!({});
    refused(&b).says("…extensions.VRMC_springBone.springs…");
    let mut b = vrm0();
    b.json["extensions"]["VRM"]["humanoid"]["humanBones"][2]["node"] = json!("head");
    refused(&b).says("…extensions.VRM.humanoid.humanBones…");
}

#[test]
fn nulls_and_empty_objects_are_nothing() {
    for extensions in [
        json!({ "VRM": null, "VRMC_vrm": null, "VRMC_springBone": null }),
        json!({ "VRM": {} }),
        json!({ "VRMC_vrm": {}, "VRMC_springBone": {} }),
        json!({ "VRMC_springBone": { "springs": null, "colliders": null },
            "VRMC_vrm": { "expressions": { "preset": null } } }),
    ] {
        let mut b = vrm1();
        b.json["extensions"] = extensions;
        let imported = import(&b);
        assert!(imported.springs().chains.is_empty());
        assert!(imported.expressions().is_empty());
    }
}

#[test]
fn nulls_in_optional_parts_are_as_if_left_out() {
    let cases = [
        (vrm1(), "VRMC_vrm/humanoid/humanBones/jaw"),
        (vrm1(), "VRMC_vrm/humanoid"),
        (vrm1(), "VRMC_vrm/expressions/preset/blink/isBinary"),
        (
            vrm1(),
            "VRMC_vrm/expressions/preset/blink/morphTargetBinds/0/weight",
        ),
        (vrm1(), "VRMC_springBone/springs/0/joints/0/gravityDir/0"),
        (vrm1(), "VRMC_springBone/springs/0/name"),
        (vrm1(), "VRMC_springBone/colliders/0/shape"),
        (vrm0(), "VRM/humanoid"),
        (vrm0(), "VRM/humanoid/humanBones/3"),
        (vrm0(), "VRM/blendShapeMaster"),
        (vrm0(), "VRM/secondaryAnimation"),
        (vrm0(), "VRM/secondaryAnimation/boneGroups/0/gravityDir/x"),
    ];
    for (mut b, place) in cases {
        let (above, field) = place.rsplit_once('/').unwrap();
        let above = b.json.pointer_mut(&format!("/extensions/{above}"));
        match above.unwrap_or_else(|| panic!("{place}")) {
            Value::Array(list) => list[field.parse::<usize>().unwrap()] = Value::Null,
            map => map[field] = Value::Null,
        }
        import(&b);
    }
}

#[test]
fn the_elements_of_an_extension_are_limited_together() {
    let mut b = vrm1();
    let spring = json!({ "joints": vec![json!({}); 500] });
    b.json["extensions"]["VRMC_springBone"]["springs"] = json!(vec![spring; 300]);
    refused(&b).says("…more than 131072 elements…");
}

#[test]
fn long_names_of_chains_are_cut() {
    let long = "n".repeat(5000);
    let mut b = vrm0();
    b.json["extensions"]["VRM"]["secondaryAnimation"]["boneGroups"][0]["comment"] = json!(long);
    let mut c = vrm1();
    c.json["extensions"]["VRMC_springBone"]["springs"][0]["name"] = json!(long);
    for b in [b, c] {
        let imported = import(&b);
        let name = &imported.springs().chains[0].name;
        assert_eq!(name.chars().count(), 201);
    }
}

#[test]
fn too_many_pairs_of_chains_and_colliders_are_refused() {
    let mut b = vrm1();
    let bones = &mut b.json["extensions"]["VRMC_springBone"];
    // A collider that is named again makes no further pairs.
    bones["colliderGroups"][0]["colliders"] = json!(vec![0; 4000]);
    bones["springs"][0]["colliderGroups"] = json!(vec![0; 100]);
    import(&b);
    let bones = &mut b.json["extensions"]["VRMC_springBone"];
    let collider = bones["colliders"][0].clone();
    bones["colliders"] = json!(vec![collider; 40_000]);
    bones["colliderGroups"][0]["colliders"] = json!((0..40_000).collect::<Vec<u32>>());
    let error = refused(&b);
    let why = "pairs of a swinging joint and a collider";
    assert!(
        error.contains("springs[0]") && error.contains(why),
        "{error}"
    );
    let mut b = vrm0();
    let bones = &mut b.json["extensions"]["VRM"]["secondaryAnimation"];
    let collider = json!({ "radius": 1.0 });
    bones["colliderGroups"][0]["colliders"] = json!(vec![collider; 5000]);
    refused(&b).says("…spring colliders…");
}

#[test]
fn nodes_that_share_a_mesh_do_not_multiply_binds_without_limit() {
    let mut b = vrm0();
    let master = "/extensions/VRM/blendShapeMaster/blendShapeGroups";
    let bind = |index: usize| json!({ "mesh": 1, "index": index, "weight": 100 });
    let group = |name: String| json!({ "name": name, "binds": [bind(0), bind(1), bind(0)] });
    *b.json.pointer_mut(master).unwrap() = json!([group("one".into())]);
    let imported = import(&b);
    assert_eq!(imported.expressions()[0].morphs.len(), 2);
    let repairs = super::files::repairs(&imported).join("\n");
    let line = "blendShapeGroups[0].binds[2]: left out: an earlier bind has the same target";
    repairs.says(format!("…{line}…"));
    let nodes = b.json["nodes"].as_array_mut().unwrap();
    nodes.extend((0..600).map(|_| json!({ "mesh": 1 })));
    let groups: Vec<Value> = (0..300).map(|at| group(format!("{at}"))).collect();
    *b.json.pointer_mut(master).unwrap() = json!(groups);
    let error = refused(&b);
    error.says("…morph weights of expressions…");
    error.says("…the limit of 262144…");
}

/// Plays what was imported for a while.
pub(super) fn play(character: &Character) {
    let mut animator = Animator::new(character).unwrap();
    let actor = animator.add(Play::REST).unwrap();
    let mut pose = vec![Affine3A::IDENTITY; character.skeleton().len()];
    for frame in 0..5 {
        animator.update(f64::from(frame) * 0.04).unwrap();
        animator.model_poses(&[actor], &mut pose).unwrap();
        assert!(pose.iter().all(Affine3A::is_finite));
    }
}

/// All places of a value, as pointers.
fn places(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                places(value, format!("{at}/{index}"), out);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                places(value, format!("{at}/{key}"), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

#[test]
fn mutants_never_panic() {
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(14),
        json!(1e39),
        json!(4294967295_u64),
        json!(0.5),
        json!("x"),
        json!([]),
        json!({}),
        json!(true),
        json!([1, 2]),
    ];
    let (mut good, mut bad) = (0, 0);
    for file in [vrm0(), vrm1()] {
        let mut all = Vec::new();
        places(&file.json["extensions"], "/extensions".into(), &mut all);
        for place in all {
            for value in &values {
                let mut b = file.clone();
                *b.json.pointer_mut(&place).unwrap() = value.clone();
                match throng_import::bytes(&b.glb(), &ImportOptions::default()) {
                    Ok(imported) => {
                        good += 1;
                        play(&imported);
                    }
                    Err(_) => bad += 1,
                }
            }
        }
    }
    assert!(good > 500 && bad > 100, "{good} imported, {bad} refused");
}
