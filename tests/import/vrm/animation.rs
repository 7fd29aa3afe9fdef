//! VRM Animations on VRM models, against the formula of the extension in `f64`.
//!
//! With `W` for the rotation of a bone at rest in the world, `L` for that in its parent and `A` for
//! the one that is keyed, a clip's normalised rotation is `W L⁻¹ A W⁻¹`. The target turns to
//! `L W⁻¹ N W`. See `how_to_transform_human_pose.md` of `VRMC_vrm_animation`.

use super::files::repairs;
use crate::builder::{Builder, F32};
use serde_json::{Value, json};
use throng::character::Character;
use throng::glam::{DAffine3, DQuat, DVec3, EulerRot};
use throng::import::{ImportOptions, Imported};
use throng::retarget::{JointMap, Retarget, RetargetOptions, Role, VrmKind};
use throng::skeleton::Transform;

/// The largest difference that is due to rounding to `f32`.
const TOLERANCE: f64 = 5e-6;
/// The same of the cosine of half an angle.
const COSINE_TOLERANCE: f64 = 3e-7;
const KEYS: usize = 5;

/// Bones with their parents and offsets. Nodes without a role have names in capitals.
const BONES: [(&str, usize, [f64; 3]); 15] = [
    ("ROOT", usize::MAX, [0.03, 0.1, -0.05]),
    ("hips", 0, [0.01, 0.9, 0.02]),
    ("spine", 1, [0.0, 0.1, 0.01]),
    ("chest", 2, [0.0, 0.15, 0.0]),
    ("upperChest", 3, [0.0, 0.15, -0.01]),
    ("neck", 4, [0.0, 0.1, 0.0]),
    ("head", 5, [0.0, 0.1, 0.02]),
    ("COLLAR", 4, [0.05, 0.05, 0.0]),
    ("leftUpperArm", 7, [0.1, 0.0, 0.0]),
    ("leftLowerArm", 8, [0.25, 0.02, 0.01]),
    ("leftHand", 9, [0.25, 0.0, 0.0]),
    ("leftUpperLeg", 1, [0.1, -0.1, 0.0]),
    ("leftLowerLeg", 11, [0.0, -0.4, 0.03]),
    ("leftFoot", 12, [0.0, -0.4, -0.02]),
    ("HAIR", 6, [0.0, 0.1, -0.1]),
];

fn turn(seed: f64, bone: usize) -> DQuat {
    let angle = |factor: f64| (seed * factor + bone as f64 * (factor + 0.37)).sin() * 2.5;
    DQuat::from_euler(EulerRot::XYZ, angle(1.3), angle(2.1), angle(0.7))
}

/// A skeleton whose bones rest in any orientation.
struct Rig {
    /// For each bone of the table, its transform in its parent. `None` if the rig lacks it.
    bones: Vec<Option<(DVec3, DQuat)>>,
    /// The prefix of the nodes' names.
    prefix: &'static str,
}

impl Rig {
    fn new(seed: f64, size: f64, lacks: &[&str]) -> Self {
        let bone = |(number, (name, _, at)): (usize, &(&str, usize, [f64; 3]))| {
            let at = DVec3::from_array(*at) * size;
            // Numbers as files have them.
            // The hips are above the ground.
            let turn = match number {
                0 => DQuat::from_euler(EulerRot::XYZ, 0.3, seed, -0.2),
                _ => turn(seed, number),
            };
            let turn = turn.as_quat().as_dquat().normalize();
            (!lacks.contains(name)).then_some((at.as_vec3().as_dvec3(), turn))
        };
        Self {
            bones: BONES.iter().enumerate().map(bone).collect(),
            prefix: "",
        }
    }

    /// The nearest bone above that the rig has.
    fn parent(&self, bone: usize) -> Option<usize> {
        let mut at = BONES[bone].1;
        while at != usize::MAX && self.bones[at].is_none() {
            at = BONES[at].1;
        }
        (at != usize::MAX).then_some(at)
    }

    fn local(&self, bone: usize) -> DQuat {
        self.bones[bone].unwrap().1
    }

    fn world(&self, bone: usize) -> DAffine3 {
        let (at, turn) = self.bones[bone].unwrap();
        let own = DAffine3::from_rotation_translation(turn, at);
        self.parent(bone)
            .map_or(own, |parent| self.world(parent) * own)
    }

    fn world_turn(&self, bone: usize) -> DQuat {
        let own = self.local(bone);
        self.parent(bone)
            .map_or(own, |parent| self.world_turn(parent) * own)
    }

    /// The nodes that the rig has, in the order of the table.
    fn nodes(&self) -> Vec<usize> {
        (0..BONES.len())
            .filter(|bone| self.bones[*bone].is_some())
            .collect()
    }

    fn index(&self, bone: usize) -> usize {
        self.nodes()
            .iter()
            .position(|other| *other == bone)
            .unwrap()
    }

    fn gltf(&self) -> Builder {
        let mut b = Builder::default();
        let nodes = self.nodes().into_iter().map(|bone| {
            let (at, turn) = self.bones[bone].unwrap();
            let name = format!("{}{}", self.prefix, BONES[bone].0);
            let children = self.nodes().into_iter();
            let children = children.filter(|child| self.parent(*child) == Some(bone));
            let children: Vec<usize> = children.map(|child| self.index(child)).collect();
            let mut node = json!({ "name": name, "translation": at.to_array(),
                "rotation": turn.to_array() });
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            node
        });
        b.json["nodes"] = nodes.collect();
        b.json["scenes"] = json!([{ "nodes": [0] }]);
        b
    }

    /// The bones that have a role, with their nodes.
    fn roles(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let named = self.nodes().into_iter().map(|bone| (BONES[bone].0, bone));
        let roles = named.filter(|(name, _)| Role::from_name(name).is_some());
        roles.map(|(name, bone)| (name, self.index(bone)))
    }

    fn human_bones(&self) -> Value {
        let bones = self
            .roles()
            .map(|(name, node)| (name.to_owned(), json!({ "node": node })));
        Value::Object(bones.collect())
    }

    fn vrm1(&self) -> Builder {
        let mut b = self.gltf();
        b.json["extensions"] = json!({ "VRMC_vrm": { "specVersion": "1.0",
            "humanoid": { "humanBones": self.human_bones() } } });
        b
    }

    fn vrm0(&self) -> Builder {
        let mut b = self.gltf();
        let bones = self
            .roles()
            .map(|(bone, node)| json!({ "bone": bone, "node": node }));
        let bones: Vec<Value> = bones.collect();
        b.json["extensions"] = json!({ "VRM": { "humanoid": { "humanBones": bones } } });
        b
    }

    /// A clip in which all bones turn but the head, and the hips move.
    fn vrma(&self) -> Builder {
        let mut b = self.gltf();
        b.json["extensions"] = json!({ "VRMC_vrm_animation": { "specVersion": "1.0",
            "humanoid": { "humanBones": self.human_bones() } } });
        b.json["animations"] = json!([{ "name": "Dance", "channels": [], "samplers": [] }]);
        for bone in self.nodes() {
            if is_driven(bone) {
                let keys = (0..KEYS).flat_map(|key| keyed(self, bone, key).as_quat().to_array());
                channel(
                    &mut b,
                    self.index(bone),
                    "rotation",
                    &keys.collect::<Vec<_>>(),
                );
            }
        }
        if self.bones[1].is_some() {
            let keys = (0..KEYS).flat_map(|key| hips_at(self, key).as_vec3().to_array());
            channel(
                &mut b,
                self.index(1),
                "translation",
                &keys.collect::<Vec<_>>(),
            );
        }
        b
    }
}

/// Adds a channel to the animation, with a key for each second.
fn channel(b: &mut Builder, node: usize, path: &str, values: &[f32]) {
    let kind = if path == "rotation" { "VEC4" } else { "VEC3" };
    let width = if path == "rotation" { 4 } else { 3 };
    let times: Vec<f32> = (0..values.len() / width).map(|key| key as f32).collect();
    let input = b.accessor("SCALAR", F32, &times);
    let output = b.accessor(kind, F32, values);
    let animation = &mut b.json["animations"][0];
    let samplers = animation["samplers"].as_array_mut().unwrap();
    samplers.push(json!({ "input": input, "output": output }));
    let sampler = samplers.len() - 1;
    let channels = animation["channels"].as_array_mut().unwrap();
    channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
}

fn is_driven(bone: usize) -> bool {
    let name = BONES[bone].0;
    Role::from_name(name).is_some() && name != "head"
}

/// The rotation of a bone at a key.
fn keyed(rig: &Rig, bone: usize, key: usize) -> DQuat {
    let by = turn(0.3 + key as f64 * 0.2, bone);
    (rig.local(bone) * DQuat::IDENTITY.slerp(by, 0.3)).normalize()
}

fn hips_at(rig: &Rig, key: usize) -> DVec3 {
    let time = key as f64;
    let by = DVec3::new(time.sin(), 0.3 * time.cos(), -0.2 * time);
    rig.bones[1].unwrap().0 + by * 0.4
}

/// The transforms of the target's bones at a key, by the extension. `old`: of VRM 0.x, which faces
/// -Z, so that axes X and Z of what is normalised are those of the animation, negated.
fn expected(source: &Rig, target: &Rig, old: bool, key: usize) -> Vec<(usize, DVec3, DQuat)> {
    let faced = |n: DQuat| {
        if old {
            DQuat::from_xyzw(-n.x, n.y, -n.z, n.w)
        } else {
            n
        }
    };
    let normalised = |bone: usize| {
        if source.bones[bone].is_none() || !is_driven(bone) {
            return DQuat::IDENTITY;
        }
        let (w, l) = (source.world_turn(bone), source.local(bone));
        faced(w * l.inverse() * keyed(source, bone, key) * w.inverse())
    };
    let of = |bone: usize| {
        let (at, l) = target.bones[bone].unwrap();
        if Role::from_name(BONES[bone].0).is_none() {
            return (bone, at, l);
        }
        let mut n = normalised(bone);
        // Bones that the target lacks turn those below them.
        let mut above = BONES[bone].1;
        let is_bone = |bone: usize| Role::from_name(BONES[bone].0).is_some();
        while above != usize::MAX && !(is_bone(above) && target.bones[above].is_some()) {
            n = normalised(above) * n;
            above = BONES[above].1;
        }
        let w = target.world_turn(bone);
        (bone, at, l * w.inverse() * n * w)
    };
    let mut all: Vec<_> = target.nodes().into_iter().map(of).collect();
    let ratio = target.world(1).translation.y / source.world(1).translation.y;
    let at = source.world(0).transform_point3(hips_at(source, key)) * ratio;
    let at = if old {
        DVec3::new(-at.x, at.y, -at.z)
    } else {
        at
    };
    all[1].1 = target.world(0).inverse().transform_point3(at);
    all
}

/// Asserts that the last clip of a character poses it as the extension says.
#[track_caller]
fn agrees(c: &Character, source: &Rig, target: &Rig, old: bool) {
    let clip = c.curves().last().unwrap();
    assert_eq!(
        (clip.name(), clip.duration_s()),
        ("Dance", (KEYS - 1) as f32)
    );
    for key in 0..KEYS {
        let mut local = c.skeleton().rest_pose();
        clip.sample(key as f64, &mut local).unwrap();
        for (bone, at, turn) in expected(source, target, old, key) {
            let name = format!("{}{}", target.prefix, BONES[bone].0);
            let found = local[c.skeleton().joint(&name).unwrap().index()];
            let Transform {
                translation,
                rotation,
                ..
            } = found;
            if bone == 0 {
                // The import turns the root of a model that faces -Z.
                continue;
            }
            let apart = rotation.as_dquat().dot(turn).abs();
            assert!(
                1.0 - apart < COSINE_TOLERANCE,
                "{name} {key}: {rotation} {turn}"
            );
            let far = translation.as_dvec3().distance(at);
            assert!(far < TOLERANCE, "{name} {key}: {translation} {at}");
        }
    }
}

fn import(b: &Builder) -> Imported {
    throng_import::bytes(&b.glb(), &ImportOptions::curves_only()).unwrap()
}

fn added(to: &Character, clips: &Builder) -> Imported {
    throng_import::add_clips_bytes(to, &clips.glb(), &ImportOptions::curves_only()).unwrap()
}

fn retargeted(to: &Character, from: &Character, map: &JointMap) -> Character {
    let options = RetargetOptions::default();
    let mut retarget = Retarget::new(from.skeleton(), to.skeleton(), map, &options).unwrap();
    let (clip, _) = retarget.clip(&from.curves()[0]).unwrap();
    to.clone().with_clips(vec![clip]).unwrap()
}

#[test]
fn rest_poses_and_sizes_differ() {
    let source = Rig::new(0.0, 1.0, &[]);
    let mut target = Rig::new(4.0, 1.3, &[]);
    target.prefix = "J_";
    for (old, avatar) in [(false, target.vrm1()), (true, target.vrm0())] {
        let avatar = import(&avatar);
        assert_eq!(avatar.skeleton().vrm(), Some(VrmKind::Model));
        let with = added(&avatar, &source.vrma());
        assert!(with.retargeted);
        assert_eq!(repairs(&with), [""; 0]);
        agrees(&with, &source, &target, old);
        let from = import(&source.vrma());
        assert_eq!(from.skeleton().vrm(), Some(VrmKind::Animation));
        let map = JointMap::humanoid(from.skeleton(), avatar.skeleton()).unwrap();
        agrees(&retargeted(&avatar, &from, &map), &source, &target, old);
        let map = JointMap::by_names(from.skeleton(), avatar.skeleton());
        assert!(map.is_err() || map.unwrap().links().len() < 12);
    }
}

/// Also if names match, and if the clips or the model were saved.
#[test]
fn names_and_saved_characters() {
    let (source, target) = (Rig::new(1.0, 0.7, &[]), Rig::new(2.5, 1.1, &[]));
    let saved = |c: &Character| Character::from_bytes(&c.to_bytes(), &Default::default()).unwrap();
    let (from, avatar) = (import(&source.vrma()), import(&target.vrm1()));
    let (from, avatar) = (saved(&from), saved(&avatar));
    agrees(&added(&avatar, &source.vrma()), &source, &target, false);
    for map in [JointMap::humanoid, JointMap::by_names] {
        let map = map(from.skeleton(), avatar.skeleton()).unwrap();
        agrees(&retargeted(&avatar, &from, &map), &source, &target, false);
    }
}

#[test]
fn bones_that_one_side_lacks() {
    let lacking = ["chest", "upperChest", "neck", "COLLAR", "HAIR"];
    for lacks in [&lacking[..], &lacking[1..2], &lacking[2..4]] {
        let (source, target) = (Rig::new(1.0, 1.0, &[]), Rig::new(3.0, 0.8, lacks));
        agrees(
            &added(&import(&target.vrm1()), &source.vrma()),
            &source,
            &target,
            false,
        );
        let (source, target) = (Rig::new(5.0, 1.0, lacks), Rig::new(6.0, 1.2, &[]));
        agrees(
            &added(&import(&target.vrm0()), &source.vrma()),
            &source,
            &target,
            true,
        );
    }
}

/// Joints that the clip leaves alone get no track, so that it can be a layer on another.
#[test]
fn only_what_moves_has_tracks() {
    let (source, target) = (Rig::new(1.0, 1.0, &[]), Rig::new(2.0, 1.4, &[]));
    let avatar = import(&target.vrm1());
    let mut clip = source.vrma();
    let hand = source.index(10);
    let channels = clip.json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap();
    channels.retain(|channel| channel["target"]["node"] == json!(hand));
    let with = added(&avatar, &clip);
    let joints = with.curves()[0].tracks().iter().map(|track| track.joint);
    let hand = avatar.skeleton().joint("leftHand").unwrap();
    assert_eq!(joints.collect::<Vec<_>>(), [hand]);
}

/// Scales, and translations of other joints than the hips, are not allowed.
#[test]
fn other_channels_are_left_out() {
    let (source, target) = (Rig::new(1.0, 1.0, &[]), Rig::new(2.0, 1.4, &[]));
    let avatar = import(&target.vrm1());
    let mut clip = source.vrma();
    channel(&mut clip, source.index(2), "scale", &[2.0; 6]);
    channel(&mut clip, source.index(3), "translation", &[5.0; 6]);
    channel(&mut clip, source.index(14), "translation", &[5.0; 6]);
    let with = added(&avatar, &clip);
    let told = [
        "animation 0, scales of humanoid bones, and translations of all but the hips: left out, \
         because it is not supported (2)",
        "node, HAIR: tracks left out, because the skeleton does not have the joint (1)",
    ];
    let mut found = repairs(&with);
    found.sort_unstable();
    assert_eq!(found, told);
    agrees(&with, &source, &target, false);
}

#[test]
fn files_without_common_bones_are_refused() {
    let (source, target) = (Rig::new(1.0, 1.0, &[]), Rig::new(2.0, 1.4, &[]));
    let avatar = import(&target.vrm1());
    for bones in [json!({}), json!({ "jaw": { "node": 3 } })] {
        let mut clip = source.vrma();
        clip.json["extensions"]["VRMC_vrm_animation"]["humanoid"]["humanBones"] = bones;
        let error =
            throng_import::add_clips_bytes(&avatar, &clip.glb(), &ImportOptions::curves_only());
        assert!(
            matches!(error, Err(throng::Error::NoCommonJoints { .. })),
            "{error:?}"
        );
    }
}

/// Models that are no VRM files do not rest in a T-pose, so limbs are aligned.
#[test]
fn other_models_are_aligned() {
    let (source, target) = (Rig::new(1.0, 1.0, &[]), Rig::new(2.0, 1.4, &[]));
    let (from, plain) = (import(&source.vrma()), import(&target.gltf()));
    let with = added(&plain, &source.vrma());
    assert!(!with.retargeted);
    let map = JointMap::humanoid(from.skeleton(), plain.skeleton()).unwrap();
    let made = retargeted(&plain, &from, &map);
    let mut local = plain.skeleton().rest_pose();
    made.curves()[0].sample(0.0, &mut local).unwrap();
    let direction = |c: &Character, local: &[Transform]| {
        let mut model = vec![Default::default(); local.len()];
        c.skeleton().model_pose(local, &mut model).unwrap();
        let at = |name| model[c.skeleton().joint(name).unwrap().index()].translation;
        (at("leftHand") - at("leftLowerArm")).normalize()
    };
    let mut source_local = from.skeleton().rest_pose();
    from.curves()[0].sample(0.0, &mut source_local).unwrap();
    let retarget = Retarget::new(
        from.skeleton(),
        plain.skeleton(),
        &map,
        &RetargetOptions::default(),
    );
    let turn = retarget.unwrap().fit().turn;
    let expected = turn * throng::glam::Vec3::from(direction(&from, &source_local));
    let found = throng::glam::Vec3::from(direction(&plain, &local));
    assert!(found.distance(expected) < 1e-4, "{found} {expected}");
}

/// Such a file breaks a rule, but its keys are usable.
#[test]
fn hips_that_rest_at_the_origin_are_scaled_by_the_legs() {
    let (mut source, target) = (Rig::new(1.0, 1.0, &[]), Rig::new(2.0, 1.4, &[]));
    let (keys, at) = (source.vrma(), hips_at(&source, 0));
    for bone in [0, 1] {
        source.bones[bone].as_mut().unwrap().0 = DVec3::ZERO;
    }
    let mut clip = keys;
    clip.json["nodes"] = source.gltf().json["nodes"].clone();
    let with = added(&import(&target.vrm1()), &clip);
    let hips = with.skeleton().joint("hips").unwrap();
    let mut local = with.skeleton().rest_pose();
    with.curves()[0].sample(0.0, &mut local).unwrap();
    let found = local[hips.index()].translation.as_dvec3();
    let found = target.world(0).transform_point3(found);
    let expected = source.world(0).transform_point3(at) * 1.4;
    assert!(found.distance(expected) < TOLERANCE, "{found} {expected}");
}
