//! Spring bones of both versions.

use super::files::{import, repairs, vrm0, vrm1};
use serde_json::json;
use throng::glam::Vec3;
use throng::import::Imported;
use throng::spring::{SpringChain, SpringJoint};

fn names(imported: &Imported, chain: &SpringChain) -> Vec<String> {
    let joints = imported.skeleton().joints();
    let of = |joint: &SpringJoint| joints[joint.joint.index()].name.to_string();
    chain.joints.iter().map(of).collect()
}

#[test]
fn chains_of_version_1() {
    let imported = import(&vrm1());
    let springs = imported.springs();
    assert_eq!(springs.chains.len(), 1);
    let chain = &springs.chains[0];
    assert_eq!(&*chain.name, "hair");
    assert_eq!(names(&imported, chain), ["hair1", "hair2", "hair3"]);
    assert_eq!(chain.tail_m, None);
    assert_eq!(chain.colliders, [0, 1]);
    let center = chain.center.unwrap().index();
    assert_eq!(&*imported.skeleton().joints()[center].name, "s2");
    let first = &chain.joints[0];
    assert_eq!(
        (first.stiffness, first.drag, first.radius_m),
        (0.7, 0.4, 0.02)
    );
    assert_eq!(first.gravity, Vec3::new(0.0, -0.5, 0.0));
    let last = &chain.joints[2];
    assert_eq!(
        (last.stiffness, last.drag, last.gravity),
        (1.0, 0.5, Vec3::ZERO)
    );
    assert_eq!(springs.colliders[0].tail_m, None);
    assert_eq!(springs.colliders[1].tail_m, Some(Vec3::new(0.2, 0.0, 0.0)));
    assert_eq!(repairs(&imported), Vec::<String>::new());
}

#[test]
fn chains_of_version_0() {
    let imported = import(&vrm0());
    let springs = imported.springs();
    let chains = springs.chains.iter();
    let chains: Vec<Vec<String>> = chains.map(|chain| names(&imported, chain)).collect();
    assert_eq!(chains, [vec!["hair1", "hair2", "hair3"], vec!["side"]]);
    for chain in &springs.chains {
        let first = &chain.joints[0];
        assert_eq!(
            (first.stiffness, first.drag, first.radius_m),
            (0.7, 0.4, 0.02)
        );
        // The file's world is left-handed and looks the other way.
        assert_eq!(first.gravity, Vec3::new(-0.25, -0.5, 0.125));
        assert_eq!((chain.colliders.as_slice(), chain.center), (&[0][..], None));
    }
    let tail = springs.chains[0].tail_m.unwrap();
    assert!(tail.abs_diff_eq(Vec3::new(0.0, 0.0, -0.07), 1e-6), "{tail}");
    let collider = &springs.colliders[0];
    assert_eq!(collider.offset_m, Vec3::new(0.0, 0.1, -0.03));
    assert_eq!(
        &*imported.skeleton().joints()[collider.joint.index()].name,
        "skull"
    );
}

#[test]
fn chains_that_break_the_rules_are_left_out_and_listed() {
    let mut b = vrm1();
    let bones = &mut b.json["extensions"]["VRMC_springBone"];
    let joints = |nodes: &[u32]| {
        let nodes: Vec<_> = nodes.iter().map(|node| json!({ "node": node })).collect();
        json!({ "name": "x", "joints": nodes })
    };
    let springs = bones["springs"].as_array_mut().unwrap();
    springs.push(joints(&[15, 16]));
    springs.push(joints(&[16, 14]));
    springs.push(joints(&[16]));
    springs.push(joints(&[16, 777]));
    springs.push(json!({ "joints": [{}, { "node": 3 }] }));
    springs.push(json!({ "joints": [{ "node": 17 }, { "node": 17 }] }));
    springs.push(
        json!({ "joints": [{ "node": 11, "dragForce": 3.0, "stiffness": -1.0,
        "hitRadius": 1e39 }, { "node": 12 }] }),
    );
    springs.push(
        json!({ "joints": [{ "node": 11, "dragForce": 3.0, "stiffness": -1.0 },
        { "node": 12 }], "center": 15, "colliderGroups": [7] }),
    );
    bones["colliders"].as_array_mut().unwrap().extend([
        json!({ "node": 1, "shape": {} }),
        json!({ "shape": { "sphere": { "radius": 1 } } }),
        json!({ "node": 1, "shape": { "sphere": { "radius": 1e39 } } }),
        json!({ "node": 1, "shape": { "sphere": { "radius": -1 } } }),
    ]);
    bones["colliderGroups"][0]["colliders"] = json!([2, 0, 9]);
    let imported = import(&b);
    let springs = imported.springs();
    assert_eq!(springs.chains.len(), 2);
    assert_eq!(springs.chains[0].colliders, [0, 1]);
    let kept = &springs.chains[1];
    assert_eq!(
        (kept.joints[0].drag, kept.joints[0].stiffness, kept.center),
        (1.0, 0.0, None)
    );
    let repairs = repairs(&imported).join("\n");
    let root = "extensions.VRMC_springBone";
    for line in [
        format!("{root}.springs[1] \"x\": left out: a joint already swings in another chain"),
        format!("{root}.springs[2] \"x\": left out: a joint does not lie below the one before it"),
        format!("{root}.springs[3] \"x\": left out: has fewer than two joints"),
        format!("{root}.springs[4] \"x\": left out: refers to node 777, but there are 20"),
        format!("{root}.springs[6]: left out: a joint does not lie below the one before it"),
        format!("{root}.springs[7]: left out: has a value that is not finite"),
        format!("{root}.springs[8], center: left out: the center swings"),
        format!("{root}.springs[5]: left out: has a joint without a node"),
        format!("{root}.springs[8].colliderGroups[0]: left out: refers to collider group 7"),
        format!("{root}.colliders[2]: left out: is neither a sphere nor a capsule"),
        format!("{root}.colliders[3]: left out: has no node"),
        format!("{root}.colliders[4]: left out: has a value that is not finite"),
        format!("{root}.colliders[5]: out-of-range factors clamped (1)"),
        format!("{root}.colliderGroups[0].colliders[2]: left out: refers to collider 9"),
        format!("{root}.springs[8]: out-of-range factors clamped (2)"),
    ] {
        assert!(repairs.contains(&line), "{line} in {repairs}");
    }
}

#[test]
fn repairs_of_version_0_name_the_parts_of_the_file() {
    let mut b = vrm0();
    let springs = &mut b.json["extensions"]["VRM"]["secondaryAnimation"];
    springs["boneGroups"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "comment": "tail", "bones": [-1, 11], "center": 777 }));
    springs["colliderGroups"].as_array_mut().unwrap().extend([
        json!({ "colliders": [{}] }),
        json!({ "node": 4, "colliders": [{}, { "radius": 1e39 }] }),
    ]);
    let imported = import(&b);
    let repairs = repairs(&imported).join("\n");
    let root = "extensions.VRM.secondaryAnimation";
    for line in [
        format!("{root}.boneGroups[1].bones[1] \"tail\": left out: refers to node 777"),
        format!("{root}.colliderGroups[1]: left out: has no node"),
        format!("{root}.colliderGroups[2].colliders[1]: left out: has a value that is not finite"),
    ] {
        assert!(repairs.contains(&line), "{line} in {repairs}");
    }
}

#[test]
fn nested_bones_of_version_0_swing_once() {
    let mut b = vrm0();
    let groups = &mut b.json["extensions"]["VRM"]["secondaryAnimation"]["boneGroups"];
    groups[0]["bones"] = json!([15, 14, 16, 88, -1]);
    let imported = import(&b);
    let chains = imported.springs().chains.iter();
    let chains: Vec<Vec<String>> = chains.map(|chain| names(&imported, chain)).collect();
    assert_eq!(
        chains,
        [vec!["hair2", "hair3"], vec!["hair1"], vec!["side"]]
    );
    let repairs = repairs(&imported).join("\n");
    let part = "extensions.VRM.secondaryAnimation.boneGroups[0]";
    for line in [
        format!("{part}.bones[2]: left out: already swings as a part of another bone"),
        format!("{part}.bones[3]: left out: refers to node 88, but there are 20"),
    ] {
        assert!(repairs.contains(&line), "{line} in {repairs}");
    }
}

#[test]
fn chains_of_parts_that_are_left_out_go_too() {
    use throng::import::ImportOptions;
    let mut b = vrm1();
    // Only the face is drawn: nothing below the skull moves.
    b.json["scenes"] = json!([{ "nodes": [18] }]);
    b.json["extensions"]["VRMC_vrm"] = json!({});
    let imported = throng_import::bytes(&b.glb(), &ImportOptions::default()).unwrap();
    assert!(imported.springs().chains.is_empty());
    assert_eq!(imported.skeleton().len(), 1);
}

#[test]
fn centers_at_the_first_joint_move_to_its_parent() {
    let mut b = vrm1();
    b.json["extensions"]["VRMC_springBone"]["springs"][0]["center"] = json!(14);
    let imported = import(&b);
    let center = imported.springs().chains[0].center.unwrap().index();
    assert_eq!(&*imported.skeleton().joints()[center].name, "skull");
}
