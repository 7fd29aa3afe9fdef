//! Morph targets and weights that are refused.

use crate::builder::*;
use crate::help::*;
use crate::morphs::{quad, sparse, with_clip, with_targets};
use crate::reference::cases;
use crate::reference::raws;
use crate::reference::raws::{animation, linear};
use serde_json::json;
use throng::Id;
use throng::glam::Vec3;
use throng::import::{
    self, ImportLimits, ImportOptions, RawAnimation, RawCharacter, RawKeys, RawMorph, RawPrimitive,
};
use throng::mesh::{MorphTarget, MorphWeight};

/// A quad with one target.
fn one() -> Builder {
    let mut b = quad();
    let up = b.accessor("VEC3", F32, &[1.0_f32; 12]);
    with_targets(b, json!([{ "POSITION": up }]))
}

#[test]
fn targets_that_do_not_fit() {
    let mut b = one();
    b.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "attributes": { "POSITION": 0 } }));
    refused(&b.glb()).says(
        "f: mesh 0, primitives[1].targets: the list (one for each morph target of the mesh) has \
         0, needs 1",
    );
    for (case, path, value, words) in cases![
        "/meshes/0/weights", json!([1, 2])
            => "f: mesh 0, weights: the list (one for each morph target of the mesh) has 2, needs \
                1";
        "/nodes/0/weights", json!([1, 2])
            => "f: node 0, weights: the list (one for each morph target of the mesh) has 2, needs \
                1";
        "/meshes/0/weights", json!([1e39]) => "f: mesh 0, weights: weight 0 is inf, must be finite";
        "/meshes/0/primitives/0/targets", json!([{ "POSITION": 99 }])
            => "f: mesh 0, primitives[0].targets[0]: refers to accessor 99, but there are 4";
        "/meshes/0/primitives/0/targets", json!([{ "COLOR_0": 99 }])
            => "f: mesh 0, primitives[0].targets[0]: refers to accessor 99, but there are 4";
        "/meshes/0/primitives/0/targets", json!([{ "POSITION": 2 }])
            => "f: mesh 0, primitives[0].targets[0].POSITION: the type of the accessor is SCALAR, \
                which is not allowed here (VEC3)";
        "/accessors/3/count", json!(3)
            => "f: mesh 0, primitives[0].targets[0].POSITION: the accessor has 3, needs 4";
        "/accessors/3/componentType", json!(I16)
            => "f: mesh 0, primitives[0].targets[0].POSITION: the component type of the accessor \
                is 5122 (not normalised), which is not allowed here (5126; others with \
                KHR_mesh_quantization)";
    ] {
        with(&one(), path, value).says_in(case, words);
    }
    let words = with(
        &one(),
        "/meshes/0/primitives/0/targets",
        json!([{ "POSITION": u64::MAX }]),
    );
    words.says("…an index of more than 4294967294…");
    with(&one(), "/meshes/0/primitives/0/targets", json!([[]]))
        .says("f: mesh 0, primitives[0].targets[0]: …");
    let mut b = one();
    b.json["nodes"][0] = json!({ "weights": [1] });
    refused(&b.glb()).says(
        "f: node 0, weights: the list (one for each morph target of the mesh) has 1, \
             needs 0",
    );
}

#[test]
fn quantised_targets_are_signed() {
    let mut b = one();
    b.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    let bytes = b.accessor("VEC3", U8, &[1_u8; 12]);
    let words = with(
        &b,
        "/meshes/0/primitives/0/targets",
        json!([{ "POSITION": bytes }]),
    );
    words.says("…5121 (not normalised), which is not allowed here (5126, 5120, 5122)…");
    let bytes = b.accessor("VEC3", I8, &[1_i8; 12]);
    let words = with(
        &b,
        "/meshes/0/primitives/0/targets",
        json!([{ "NORMAL": bytes }]),
    );
    words.says("…targets[0].NORMAL: the component type…");
}

#[test]
fn values_and_places_that_are_not_allowed() {
    let mut b = quad();
    let mut deltas = [0.0_f32; 12];
    deltas[7] = f32::NAN;
    let broken = b.accessor("VEC3", F32, &deltas);
    let words = refused(&with_targets(b, json!([{}, { "NORMAL": broken }])).glb());
    words.says("f: mesh 0, primitives[0], targets[1].NORMAL: vertex 2 is NaN, must be finite");
    for places in [[1, 1], [2, 1], [0, 4]] {
        let mut b = quad();
        let up = sparse(&mut b, 4, &places, &[1.0; 6]);
        let words = refused(&with_targets(b, json!([{ "POSITION": up }])).glb());
        words.says("…sparse.indices: index 1 is…");
    }
}

#[test]
fn weights_channels_that_do_not_fit() {
    let mut b = one();
    with_clip(&mut b, &[0.0, 1.0], &[0.0; 3], "LINEAR");
    refused(&b.glb()).says("f: animation 0, samplers[0].output: the accessor has 3, needs 2");
    let mut b = one();
    with_clip(&mut b, &[0.0, 1.0], &[0.0; 2], "CUBICSPLINE");
    refused(&b.glb()).says("…the accessor has 2, needs 6…");
    let mut b = one();
    with_clip(&mut b, &[0.0, 1.0], &[0.0, f32::NAN], "LINEAR");
    refused(&b.glb()).says("f: animation 0, channels[0], value 1: a value is not finite");
    let mut b = quad();
    with_clip(&mut b, &[0.0, 1.0], &[0.0; 2], "LINEAR");
    refused(&b.glb()).says(
        "f: animation 0, channels[0].target: drives the weights of a node without morph \
             targets",
    );
}

#[test]
fn caps_are_kept() {
    let refused = |b: &Builder, options: ImportOptions| {
        throng_import::bytes(&b.glb(), &options)
            .unwrap_err()
            .to_string()
    };
    let words = refused(
        &one(),
        ImportOptions {
            limits: ImportLimits {
                morph_elements: 4,
                ..ImportLimits::default()
            },
            ..options()
        },
    );
    // Four vertices, and a word of the set of those that move.
    words.says("…elements of morph targets: 5 exceeds the limit of 4…");
    // The size without the target, and a little more.
    let words = refused(
        &one(),
        ImportOptions {
            limits: ImportLimits {
                decoded_bytes: 260,
                ..ImportLimits::default()
            },
            ..options()
        },
    );
    words.says("…bytes of decoded data…");
}

/// A triangle with one target and a clip that drives it.
fn raw() -> RawCharacter {
    RawCharacter {
        nodes: vec![raws::node(
            "node",
            None,
            throng::skeleton::Transform::IDENTITY,
        )],
        primitives: vec![RawPrimitive {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            indices: vec![0, 1, 2],
            morph: Some(0),
            targets: vec![raws::moves(vec![Vec3::X; 2], vec![0, 2])],
            ..RawPrimitive::default()
        }],
        morphs: vec![raws::morph(0, "", vec![0.0])],
        animations: vec![animation(
            "clip",
            vec![linear(0, [0.0, 1.0], RawKeys::Weights(vec![0.0, 1.0]))],
        )],
        ..RawCharacter::default()
    }
}

#[test]
fn raw_characters_are_checked() {
    type Change = fn(&mut RawCharacter);
    assert!(raw().build(&ImportOptions::curves_only()).is_ok());
    let changes: [(&str, Change, &str); 16] = cases![
        |r| r.primitives[0].targets[0].vertices = vec![2, 0]
            => "targets[0]: the vertices are not in ascending order";
        |r| r.primitives[0].targets[0].vertices = vec![1, 1]
            => "targets[0]: the vertices are not in ascending order";
        |r| r.primitives[0].targets[0].vertices = vec![0, 3]
            => "targets[0]: refers to vertex 3, but there are 3";
        |r| r.primitives[0].targets[0].vertices = vec![0]
            => "targets[0].POSITION: the list of deltas has 2, needs 1";
        |r| r.primitives[0].targets[0].positions.clear()
            => "targets[0].POSITION: the list of deltas has 0, needs 2";
        |r| r.primitives[0].targets[0].normals = vec![Vec3::X]
            => "targets[0].NORMAL: the list of deltas has 1, needs 2";
        |r| r.primitives[0].targets[0].tangents = vec![Vec3::X; 3]
            => "targets[0].TANGENT: the list of deltas has 3, needs 2";
        |r| r.primitives[0].targets[0].tangents = vec![Vec3::X, Vec3::INFINITY]
            => "targets[0].TANGENT: vertex 2 is inf";
        |r| r.primitives[0].targets.clear()
            => "targets: the list of morph targets (one for each weight) has 0, needs 1";
        |r| r.primitives[0].morph = None
            => "targets: the list of morph targets (one for each weight) has 1, needs 0";
        |r| r.primitives[0].morph = Some(1) => "morph: refers to morph 1, but there are 1";
        |r| r.morphs[0].node = 1 => "node 1, weights: refers to node 1, but there are 1";
        |r| r.morphs[0].weights[0] = f32::NAN => "node 0, weights: weight 0 is NaN";
        |r| r.morphs[0].names = vec!["a".into(), "b".into()] => "names has 2, needs 1";
        |r| r.morphs.push(r.morphs[0].clone()) => "node 0, weights: has two lists of morph weights";
        |r| r.animations[0].channels[0].values = RawKeys::Weights(vec![0.0; 3])
            => "animation 0, channels[0]: the list of values has 3, needs 2";
    ];
    for (case, change, words) in changes {
        let mut raw = raw();
        change(&mut raw);
        raw.build(&ImportOptions::curves_only())
            .fails_in(case, format!("…{words}…"));
    }
    let mut raw = raw();
    raw.primitives[0].morph = None;
    raw.primitives[0].targets.clear();
    raw.morphs.clear();
    raw.build(&ImportOptions::curves_only())
        .fails("…channels[0]: drives the weights of a node without…");
}

/// Two nodes with morph weights. The last is named and driven by a clip.
fn with_weights(counts: [usize; 2]) -> throng::Result<import::Imported> {
    let node = || raws::node("", None, throng::skeleton::Transform::IDENTITY);
    let nodes = [0, 1];
    let mut names = vec![Box::default(); counts[1] - 1];
    names.push("last".into());
    let raw = RawCharacter {
        name: "f".into(),
        nodes: nodes.map(|_| node()).into(),
        primitives: nodes
            .map(|node| RawPrimitive {
                node,
                positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
                indices: vec![0, 1, 2],
                morph: Some(node),
                targets: vec![MorphTarget::default(); counts[node]],
                ..RawPrimitive::default()
            })
            .into(),
        morphs: nodes
            .map(|node| RawMorph {
                node,
                weights: vec![0.0; counts[node]],
                names: if node == 1 { names.clone() } else { vec![] },
                ..RawMorph::default()
            })
            .into(),
        animations: vec![RawAnimation {
            channels: vec![linear(
                1,
                [0.0],
                RawKeys::Weights((1..=counts[1]).map(|v| v as f32).collect()),
            )],
            ..RawAnimation::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions {
        limits: ImportLimits {
            morph_targets: 1 << 17,
            ..ImportLimits::default()
        },
        curves: true,
        ..ImportOptions::default()
    })
}

#[test]
fn as_many_weights_as_ids_are_the_most() {
    let character = with_weights([65_500, 36]).unwrap().character;
    assert_eq!(character.morph_weights().len(), MorphWeight::MAX_COUNT);
    let last = character.morph_weight("last").unwrap();
    assert_eq!(last, Id::new(u16::MAX));
    let first = character.primitives()[1].first_weight;
    assert_eq!(first, Id::new(65_500));
    let mut got = [Vec::new(), Vec::new()];
    character.curves()[0].sample_weights(0.0, |id, value| got[0].push((id, value)));
    character.clips()[0].sample_weights(0.0, |id, value| got[1].push((id, value)));
    for got in got {
        assert_eq!((got.len(), got[0]), (36, (first, 1.0)));
        assert_eq!(got.last(), Some(&(last, 36.0)));
    }
    let bytes = character.to_bytes();
    let loaded = throng::character::Character::from_bytes(&bytes, &Default::default()).unwrap();
    assert_eq!(loaded.morph_weights(), character.morph_weights());
    with_weights([65_500, 37])
        .fails("f: node 1, weights: morph weights: 65537 exceeds the limit of 65536");
}
