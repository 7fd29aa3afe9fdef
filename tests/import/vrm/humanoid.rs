//! Humanoid bones become roles of joints, and retargeting uses them.

use super::files::{doll, import, repairs, vrm0, vrm1};
use crate::reference::cases;
use crate::reference::words::Fails;
use serde_json::json;
use throng::Id;
use throng::character::{AnimationDesc, Character};
use throng::glam::Quat;
use throng::retarget::{JointMap, Retarget, Role};
use throng::skeleton::{Joint, Skeleton, Transform};

fn name_of(skeleton: &Skeleton, role: Role) -> &str {
    let found = skeleton.roles().iter().find(|(other, _)| *other == role);
    &skeleton.joints()[found.unwrap().1.index()].name
}

/// The skeleton of a character whose description gives joints these roles.
fn with_roles(character: &Character, roles: &[(Role, Id<Joint>)]) -> Skeleton {
    let name = |joint: Id<Joint>| &character.skeleton().joints()[joint.index()].name;
    let humanoid = roles
        .iter()
        .map(|(role, joint)| (role.to_string(), name(*joint).to_string()));
    let desc = AnimationDesc {
        humanoid: humanoid.collect(),
        ..AnimationDesc::default()
    };
    let character = character.clone().with_animation(&desc).unwrap();
    character.skeleton().clone()
}

#[test]
fn both_versions_name_the_same_joints() {
    let [old, new] = [vrm0(), vrm1()].map(|file| import(&file));
    assert_eq!(old.skeleton().roles(), new.skeleton().roles());
    assert_eq!(new.skeleton().roles().len(), 13);
    let skeleton = new.skeleton();
    assert_eq!(name_of(skeleton, Role::Hips), "pelvis");
    assert_eq!(name_of(skeleton, Role::RightLowerLeg), "llB");
    for (role, name) in [
        (Role::LeftThumbMetacarpal, "t1"),
        (Role::LeftThumbProximal, "t2"),
        (Role::LeftThumbDistal, "t3"),
    ] {
        assert_eq!(name_of(skeleton, role), name);
    }
    assert_eq!(skeleton.humanoid().len(), 13);
    assert!(
        repairs(&new)
            .iter()
            .all(|repair| !repair.contains("left out"))
    );
}

#[test]
fn every_role_has_a_name() {
    assert_eq!(Role::all().len(), 55);
    for role in Role::all() {
        assert_eq!(Role::from_name(&role.to_string()), Some(role));
    }
    assert_eq!(Role::LeftThumbMetacarpal.to_string(), "leftThumbMetacarpal");
    assert_eq!(["LeftHand", "hip"].map(Role::from_name), [None; 2]);
}

#[test]
fn names_fill_in_the_roles_that_are_not_given() {
    let mannequin = throng::builtin::mannequin().unwrap().character;
    let all = mannequin.skeleton().humanoid();
    for (role, joint) in all.clone() {
        let one = with_roles(&mannequin, &[(role, joint)]);
        assert_eq!(one.humanoid(), all, "{role}");
    }
    // A given role counts more than a name.
    let [hand, lower] = [Role::LeftHand, Role::LeftLowerArm];
    let other = all[&lower];
    let found = with_roles(&mannequin, &[(hand, other)]).humanoid();
    assert_eq!(found[&hand], other);
    assert_eq!(found[&Role::Head], all[&Role::Head]);
}

#[test]
fn roles_map_one_skeleton_onto_another() {
    let [old, new] = [vrm0(), vrm1()].map(|file| import(&file));
    let map = JointMap::humanoid(old.skeleton(), new.skeleton()).unwrap();
    assert_eq!(map.links().len(), 13);
    // The names of the doll's joints say little, so a map must be given.
    let plain = import(&doll());
    let plain = &plain.character;
    let map = JointMap::humanoid(new.skeleton(), plain.skeleton()).unwrap();
    assert!(map.links().len() < 4, "{map:?}");
    let roles: Vec<(Role, Id<Joint>)> = [("hips", "pelvis"), ("leftUpperLeg", "ulA")]
        .map(|(role, joint)| {
            let joint = plain.skeleton().joint(joint).unwrap();
            (Role::from_name(role).unwrap(), joint)
        })
        .to_vec();
    let mapped = with_roles(plain, &roles);
    let map = JointMap::humanoid(new.skeleton(), &mapped).unwrap();
    assert_eq!(map.links().len(), 2);
    // The pose of one doll becomes that of the other.
    let (source, target) = (old.skeleton(), new.skeleton());
    let map = JointMap::humanoid(source, target).unwrap();
    let mut retarget = Retarget::new(source, target, &map, &Default::default()).unwrap();
    let mut pose = source.rest_pose();
    let thigh = source.joint("ulA").unwrap();
    pose[thigh.index()].rotation = Quat::from_rotation_x(0.5);
    let mut out = vec![Transform::IDENTITY; target.len()];
    retarget.pose(&pose, &mut out).unwrap();
    let turned = out[target.joint("ulA").unwrap().index()].rotation;
    assert!(
        turned.abs_diff_eq(Quat::from_rotation_x(0.5), 1e-5),
        "{turned}"
    );
}

#[test]
fn a_table_beside_the_model_names_the_joints() {
    let text = "[humanoid]\nhips = 'pelvis'\nleftUpperLeg = 'ulA'\n";
    let desc = AnimationDesc::from_toml("doll.toml", text).unwrap();
    let character = import(&doll()).character.with_animation(&desc).unwrap();
    assert_eq!(character.skeleton().roles().len(), 2);
    assert_eq!(name_of(character.skeleton(), Role::Hips), "pelvis");
    // A description without the table keeps them.
    let again = character.with_animation(&AnimationDesc::default()).unwrap();
    assert_eq!(again.skeleton().roles().len(), 2);
    for (case, text, message) in cases![
        "[humanoid]\ntail = 'pelvis'\n"
            => "d.toml:2: animation, humanoid.tail: is no humanoid bone of VRM 1.0";
        "[humanoid]\nhips = 'pelvi'\n" => "d.toml:2: animation, humanoid.hips: ";
        "[humanoid]\nhips = 'pelvis'\nspine = 'pelvis'\n"
            => "d.toml:3: animation, humanoid.spine: is the joint of another bone";
    ] {
        let character = import(&doll()).character;
        let read = character.with_animation_toml("d.toml", text);
        read.fails_in(case, format!("{message}…"));
    }
}

#[test]
fn wrong_bones_are_left_out_and_listed() {
    let mut b = vrm1();
    let bones = &mut b.json["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"];
    bones["tail"] = json!({ "node": 14 });
    bones["neck"] = json!({ "node": 999 });
    bones["jaw"] = json!({ "node": 4 });
    bones["leftEye"] = json!({});
    let imported = import(&b);
    assert_eq!(imported.skeleton().roles().len(), 13);
    let repairs = repairs(&imported).join("\n");
    let root = "extensions.VRMC_vrm.humanoid.humanBones";
    for line in [
        format!("file, {root}.neck: left out: refers to node 999, but there are 20"),
        format!("file, {root}.tail: left out: \"tail\" is not a humanoid bone of VRM (1)"),
        "file, humanoid bone jaw: left out: the node is that of another bone (1)".into(),
    ] {
        assert!(repairs.contains(&line), "{line} in {repairs}");
    }
}

#[test]
fn a_clip_for_any_humanoid_names_its_joints() {
    let mut b = doll();
    b.json["extensions"] = json!({ "VRMC_vrm_animation": { "specVersion": "1.0",
        "humanoid": { "humanBones": { "hips": { "node": 1 }, "head": { "node": 4 } } } } });
    let clip = import(&b);
    assert_eq!(clip.skeleton().roles().len(), 2);
    let avatar = import(&vrm1());
    let map = JointMap::humanoid(clip.skeleton(), avatar.skeleton()).unwrap();
    assert_eq!(map.links().len(), 2);
}
