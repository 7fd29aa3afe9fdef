//! A doll with a face and hair, as VRM 0.x and 1.0.

use crate::builder::{Builder, F32, U8, U16};
use serde_json::{Value, json};
use throng::import::{ImportOptions, Imported};

/// The nodes by name, with their parents and positions.
pub(super) const NODES: [(&str, Option<usize>, [f32; 3]); 19] = [
    ("Root", None, [0.0, 0.0, 0.25]),
    ("pelvis", Some(0), [0.0, 1.0, 0.0]),
    ("s1", Some(1), [0.0, 0.1, 0.0]),
    ("s2", Some(2), [0.0, 0.1, 0.0]),
    ("skull", Some(3), [0.0, 0.3, 0.0]),
    ("ulA", Some(1), [0.1, -0.1, 0.0]),
    ("llA", Some(5), [0.0, -0.4, 0.0]),
    ("fA", Some(6), [0.0, -0.4, 0.0]),
    ("ulB", Some(1), [-0.1, -0.1, 0.0]),
    ("llB", Some(8), [0.0, -0.4, 0.0]),
    ("fB", Some(9), [0.0, -0.4, 0.0]),
    ("t1", Some(3), [0.2, 0.1, 0.0]),
    ("t2", Some(11), [0.02, 0.0, 0.0]),
    ("t3", Some(12), [0.02, 0.0, 0.0]),
    ("hair1", Some(4), [0.0, 0.1, -0.1]),
    ("hair2", Some(14), [0.0, 0.0, -0.1]),
    ("hair3", Some(15), [0.0, 0.0, -0.1]),
    ("side", Some(14), [0.05, 0.0, -0.1]),
    ("Face", None, [0.0, 0.0, 0.0]),
];

pub(super) const FACE: usize = 18;

/// The doll without extensions: every bone moves a vertex, and the face has three targets.
pub(super) fn doll() -> Builder {
    let mut b = Builder::default();
    let count = FACE;
    let positions: Vec<f32> = (0..count)
        .flat_map(|i| [i as f32 * 0.1, 1.0, 0.0])
        .collect();
    let position = b.accessor("VEC3", F32, &positions);
    let joints: Vec<u8> = (0..count as u8).flat_map(|i| [i, 0, 0, 0]).collect();
    let joints = b.accessor("VEC4", U8, &joints);
    let weights = b.accessor("VEC4", F32, &[1.0, 0.0, 0.0, 0.0_f32].repeat(count));
    let indices: Vec<u16> = (0..count as u16).collect();
    let indices = b.accessor("SCALAR", U16, &indices);
    let face = b.accessor(
        "VEC3",
        F32,
        &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0_f32],
    );
    let target =
        |b: &mut Builder, by: f32| json!({ "POSITION": b.accessor("VEC3", F32, &[by; 9]) });
    let targets = [0.1, 0.2, 0.3].map(|by| target(&mut b, by));
    b.json["meshes"] = json!([
        { "primitives": [{ "indices": indices, "attributes": {
            "POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights } }] },
        { "primitives": [{ "attributes": { "POSITION": face }, "targets": targets }],
            "extras": { "targetNames": ["smile", "shut", "open"] } },
    ]);
    let nodes = NODES.iter().enumerate().map(|(index, (name, _, at))| {
        let children = (0..NODES.len()).filter(|child| NODES[*child].1 == Some(index));
        let children: Vec<usize> = children.collect();
        let mut node = json!({ "name": name, "translation": at });
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        node
    });
    let mut nodes: Vec<Value> = nodes.collect();
    nodes[FACE]["mesh"] = json!(1);
    nodes.push(json!({ "mesh": 0, "skin": 0 }));
    b.json["nodes"] = json!(nodes);
    let joints: Vec<usize> = (0..count).collect();
    b.json["skins"] = json!([{ "joints": joints }]);
    b.json["scenes"] = json!([{ "nodes": [0, FACE, FACE + 1] }]);
    b
}

/// The bones that both versions have: names, and nodes of the doll.
const BONES: [(&str, usize); 11] = [
    ("hips", 1),
    ("spine", 2),
    ("chest", 3),
    ("head", 4),
    ("leftUpperLeg", 5),
    ("leftLowerLeg", 6),
    ("leftFoot", 7),
    ("rightUpperLeg", 8),
    ("rightLowerLeg", 9),
    ("rightFoot", 10),
    ("leftThumbDistal", 13),
];

pub(crate) fn vrm1() -> Builder {
    let mut b = doll();
    let bones = BONES
        .iter()
        .chain(&[("leftThumbMetacarpal", 11), ("leftThumbProximal", 12)]);
    let bones = bones.map(|(name, node)| (name.to_string(), json!({ "node": node })));
    let bones: serde_json::Map<String, Value> = bones.collect();
    let joint = |node: usize| {
        json!({ "node": node, "hitRadius": 0.02, "stiffness": 0.7, "gravityPower": 0.5,
            "gravityDir": [0.0, -1.0, 0.0], "dragForce": 0.4 })
    };
    b.json["extensionsUsed"] = json!(["VRMC_vrm", "VRMC_springBone"]);
    b.json["extensions"] = json!({
        "VRMC_vrm": {
            "specVersion": "1.0",
            "meta": { "name": "Doll", "authors": ["A"], "licenseUrl": "x" },
            "humanoid": { "humanBones": bones },
            "expressions": {
                "preset": {
                    "happy": { "overrideBlink": "blend", "morphTargetBinds": [
                        { "node": FACE, "index": 0, "weight": 0.5 },
                        { "node": FACE, "index": 2, "weight": 0.25 },
                    ] },
                    "blink": { "isBinary": false, "morphTargetBinds": [
                        { "node": FACE, "index": 1, "weight": 1.0 } ] },
                    "surprised": { "overrideBlink": "block" },
                },
                "custom": { "wink": { "isBinary": true, "morphTargetBinds": [
                    { "node": FACE, "index": 1, "weight": 0.75 } ] } },
            },
        },
        "VRMC_springBone": {
            "specVersion": "1.0",
            "colliders": [
                { "node": 4, "shape": { "sphere": { "offset": [0.0, 0.1, 0.0], "radius": 0.1 } } },
                { "node": 3, "shape": { "capsule": { "offset": [0.1, 0.0, 0.0], "radius": 0.05,
                    "tail": [0.2, 0.0, 0.0] } } },
            ],
            "colliderGroups": [{ "name": "head", "colliders": [0] }, { "colliders": [0, 1] }],
            "springs": [{ "name": "hair", "joints": [joint(14), joint(15), { "node": 16 }],
                "colliderGroups": [0, 1], "center": 3 }],
        },
    });
    b
}

pub(crate) fn vrm0() -> Builder {
    let mut b = doll();
    let bones = BONES
        .iter()
        .chain(&[("leftThumbProximal", 11), ("leftThumbIntermediate", 12)]);
    let bones = bones.map(|(bone, node)| {
        json!({ "bone": bone, "node": node,
        "useDefaultValues": true })
    });
    let bones: Vec<Value> = bones.collect();
    b.json["extensionsUsed"] = json!(["VRM"]);
    b.json["extensions"] = json!({ "VRM": {
        "exporterVersion": "test",
        "specVersion": "0.0",
        "meta": { "title": "Doll", "author": "A" },
        "humanoid": { "humanBones": bones },
        "blendShapeMaster": { "blendShapeGroups": [
            { "name": "Joy", "presetName": "joy", "materialValues": [], "binds": [
                { "mesh": 1, "index": 0, "weight": 50 }, { "mesh": 1, "index": 2, "weight": 25 } ] },
            { "name": "Blink", "presetName": "blink", "isBinary": false, "binds": [
                { "mesh": 1, "index": 1, "weight": 100.0 } ] },
            { "name": "wink", "presetName": "unknown", "isBinary": true, "binds": [
                { "mesh": 1, "index": 1, "weight": 75 } ] },
        ] },
        "secondaryAnimation": {
            "boneGroups": [{ "comment": "hair", "stiffiness": 0.7, "gravityPower": 0.5,
                "gravityDir": { "x": 0.5, "y": -1.0, "z": 0.25 }, "dragForce": 0.4, "center": -1,
                "hitRadius": 0.02, "bones": [14], "colliderGroups": [0] }],
            "colliderGroups": [{ "node": 4, "colliders": [
                { "offset": { "x": 0.0, "y": 0.1, "z": 0.03 }, "radius": 0.1 } ] }],
        },
        "materialProperties": [{ "name": "Skin", "shader": "VRM/MToon" },
            { "name": "Plain", "shader": "VRM_USE_GLTFSHADER" }],
    } });
    b
}

pub(super) fn import(b: &Builder) -> Imported {
    throng_import::bytes(&b.glb(), &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The text of each repair.
pub(super) fn repairs(imported: &Imported) -> Vec<String> {
    imported.repairs.iter().map(ToString::to_string).collect()
}
