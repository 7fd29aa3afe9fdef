//! The parts of an exported file.

use super::{again, exported, json};
use crate::reference::raws;
use throng::character::{AnimationDesc, SocketDesc};
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawMorph, RawNode, RawPrimitive, RawSkin};
use throng::mesh::{Image, Material, MorphTarget, TextureRef};
use throng_export::{ExportOptions, Omission};

fn node(name: &str, parent: Option<usize>) -> RawNode {
    raws::node(name, parent, raws::at(Vec3::new(0.1, 1.0, 0.0)))
}

fn triangle(name: &str, node: usize) -> RawPrimitive {
    RawPrimitive {
        name: name.into(),
        node,
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        indices: vec![0, 1, 2],
        ..RawPrimitive::default()
    }
}

fn built(raw: RawCharacter) -> throng::character::Character {
    raw.build(&ImportOptions::default()).unwrap().character
}

#[test]
fn a_rigid_part_is_the_mesh_of_its_node() {
    let raw = RawCharacter {
        nodes: vec![node("root", None), node("sword", Some(0))],
        primitives: vec![RawPrimitive {
            part: "sword".into(),
            ..triangle("sword.0", 1)
        }],
        ..RawCharacter::default()
    };
    let was = built(raw.clone());
    let root = json(&exported(&was));
    assert_eq!(root["nodes"][1]["mesh"], 0);
    assert!(root["skins"].is_null());
    assert_eq!(
        again(&exported(&was), ImportOptions::default()).skeleton(),
        was.skeleton()
    );
    // A joint that carries nothing stays only in a skin.
    let mut raw = raw;
    raw.nodes.push(node("tail", Some(0)));
    raw.roles = vec![(throng::retarget::Role::Hips, 2)];
    let was = built(raw);
    let exported = exported(&was);
    assert_eq!(
        json(&exported)["skins"][0]["joints"],
        serde_json::json!([0, 1, 2])
    );
    assert_eq!(
        again(&exported, ImportOptions::default()).skeleton(),
        was.skeleton()
    );
}

/// glTF requires a common root for the joints of a skin, which an import leaves out again.
#[test]
fn several_roots_stay_roots() {
    let mut part = triangle("cloth.0", 0);
    part.part = "cloth".into();
    part.skin = Some(0);
    part.influences_per_vertex = 1;
    (part.joints, part.weights) = (vec![0, 1, 2], vec![1.0; 3]);
    let raw = RawCharacter {
        nodes: vec![node("a", None), node("b", None), node("c", Some(1))],
        skins: vec![raws::skin([0, 1, 2], Vec::new())],
        primitives: vec![part],
        ..RawCharacter::default()
    };
    let was = built(raw);
    let exported = exported(&was);
    let mut root = json(&exported);
    assert_eq!(root["nodes"][3]["children"], serde_json::json!([0, 1]));
    let is = again(&exported, ImportOptions::default());
    assert_eq!(is.skeleton(), was.skeleton());
    assert_eq!(is.primitives(), was.primitives());
    assert!(exported.omissions.is_empty(), "{:?}", exported.omissions);
    // A node that was moved since then does something.
    root["nodes"][3]["translation"] = serde_json::json!([0.0, 1.0, 0.0]);
    let moved =
        throng_import::bytes(&with_json(&exported, &root), &ImportOptions::default()).unwrap();
    assert_eq!(moved.skeleton().len(), 4);
}

/// The file with another JSON.
fn with_json(exported: &throng_export::Exported, root: &serde_json::Value) -> Vec<u8> {
    let old = u32::from_le_bytes(exported.bytes[12..16].try_into().unwrap()) as usize;
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let length = |bytes: usize| (bytes as u32).to_le_bytes();
    [
        b"glTF\x02\0\0\0",
        &length(exported.bytes.len() - old + text.len())[..],
        &length(text.len()),
        b"JSON",
        &text,
        &exported.bytes[20 + old..],
    ]
    .concat()
}

#[test]
fn many_influences_and_joints_are_kept() {
    let joints = 700;
    let mut raw = RawCharacter {
        nodes: vec![node("joint 0", None)],
        ..RawCharacter::default()
    };
    for index in 1..joints {
        raw.nodes
            .push(node(&format!("joint {index}"), Some((index - 1) / 2)));
    }
    raw.skins.push(RawSkin {
        name: "wide".into(),
        joints: (0..joints).collect(),
        inverse_bind: vec![Mat4::from_translation(Vec3::new(0.5, -1.0, 2.0)); joints],
    });
    let mut part = triangle("wide.0", 0);
    part.part = "wide".into();
    part.skin = Some(0);
    part.influences_per_vertex = 21;
    part.joints = (0..63).map(|at| at * 11).collect();
    part.weights = (0..63).map(|at| (1 + at % 21) as f32 / 231.0).collect();
    raw.primitives.push(part);
    let was = built(raw);
    let exported = exported(&was);
    let attributes = &json(&exported)["meshes"][0]["primitives"][0]["attributes"];
    assert!(attributes["JOINTS_5"].is_u64() && attributes["WEIGHTS_5"].is_u64());
    let is = again(&exported, ImportOptions::default());
    assert_eq!(was.primitives(), is.primitives());
    assert_eq!(was.palette(), is.palette());
    assert_eq!(was.skins().next(), is.skins().next());
}

#[test]
fn flipped_parts_keep_their_front() {
    let mut mirrored = node("mirrored", None);
    mirrored.transform.scale = Vec3::new(-1.0, 1.0, 1.0);
    let raw = RawCharacter {
        nodes: vec![mirrored],
        primitives: vec![RawPrimitive {
            part: "mirrored".into(),
            ..triangle("mirrored.0", 0)
        }],
        ..RawCharacter::default()
    };
    let was = built(raw);
    assert_eq!(was.primitives()[0].indices, [0, 2, 1]);
    let is = again(&exported(&was), ImportOptions::default());
    assert_eq!(was.primitives(), is.primitives());
}

#[test]
fn morph_targets_are_shared_by_the_primitives_of_a_mesh() {
    let target = |vertex, x| raws::moves(vec![Vec3::X * x], vec![vertex]);
    let mut parts = ["face.0", "face.1"].map(|name| triangle(name, 0));
    for (number, part) in parts.iter_mut().enumerate() {
        part.morph = Some(0);
        part.part = "face".into();
        part.targets = vec![target(number as u32, 0.5), MorphTarget::default()];
    }
    let raw = RawCharacter {
        nodes: vec![node("face", None)],
        primitives: parts.into(),
        morphs: vec![RawMorph {
            node: 0,
            owner: "face".into(),
            weights: vec![0.25, 0.0],
            names: vec!["smile".into()],
        }],
        ..RawCharacter::default()
    };
    let was = built(raw);
    let exported = exported(&was);
    let root = json(&exported);
    assert_eq!(root["meshes"].as_array().unwrap().len(), 1);
    assert_eq!(
        root["meshes"][0]["extras"]["targetNames"],
        serde_json::json!(["smile", ""])
    );
    let is = again(&exported, ImportOptions::default());
    assert_eq!(was.primitives(), is.primitives());
    assert_eq!(was.morph_weights(), is.morph_weights());
}

#[test]
fn sockets_are_nodes_but_no_joints() {
    let mannequin = throng::builtin::mannequin().unwrap().character;
    let mut desc = AnimationDesc::default();
    desc.sockets.push(SocketDesc {
        translation: [0.0, 0.1, 0.2],
        rotation: Quat::from_rotation_x(0.5).to_array(),
        scale: 2.0,
        ..SocketDesc::new("sword", "RightHand")
    });
    let was = mannequin.with_animation(&desc).unwrap();
    let exported = exported(&was);
    let root = json(&exported);
    let nodes = root["nodes"].as_array().unwrap();
    let socket = nodes
        .iter()
        .position(|node| node["name"] == "sword")
        .unwrap();
    let hand = was.skeleton().joint("RightHand").unwrap().index();
    let children = nodes[hand]["children"].as_array().unwrap();
    assert!(children.contains(&socket.into()));
    assert_eq!(nodes[socket]["scale"][0], 2.0);
    let is = again(&exported, ImportOptions::default());
    assert_eq!(is.skeleton(), was.skeleton());
    assert_eq!(is.sockets(), was.sockets());
    // A skeleton alone does not take them as joints either.
    let bones = RawCharacter::from_skeleton(was.skeleton()).build(&ImportOptions::default());
    let bones = bones.unwrap().character.with_animation(&desc).unwrap();
    let is = again(&super::exported(&bones), ImportOptions::default());
    assert_eq!(is.skeleton(), bones.skeleton());
}

#[test]
fn materials_and_images_are_embedded() {
    let texel = [10, 20, 30, 40];
    let material = Material {
        name: "cloth".into(),
        base_color_texture: Some(TextureRef::new(0)),
        tint_by_alpha: true,
        ..Material::flat([0.25, 0.5, 0.75, 1.0])
    };
    let mut part = triangle("cape", 0);
    part.material = Some(0);
    part.uvs = [[0.0, 0.5], [2.0, -1.0], [0.25, 0.0]]
        .map(Into::into)
        .into();
    part.colors = vec![[2.0, 0.5, 0.0, 1.0]; 3];
    let raw = RawCharacter {
        nodes: vec![node("cape", None)],
        primitives: vec![part],
        materials: vec![material],
        images: vec![Image::new("weave", 2, 1, texel.repeat(2))],
        ..RawCharacter::default()
    };
    let was = built(raw);
    let exported = exported(&was);
    let is = again(&exported, ImportOptions::default());
    assert_eq!(is.images(), was.images());
    let kinds: Vec<_> = exported.omissions.iter().map(|(kind, _)| *kind).collect();
    assert!(kinds.contains(&Omission::TintByAlpha), "{kinds:?}");
    assert!(kinds.contains(&Omission::ColorsClamped), "{kinds:?}");
    assert_eq!(is.primitives()[0].colors[0], [1.0, 0.5, 0.0, 1.0]);
    let options = ExportOptions {
        images: false,
        ..ExportOptions::default()
    };
    let without = throng_export::glb(&was, &options).unwrap();
    let is = again(&without, ImportOptions::default());
    assert!(is.images().is_empty());
    assert_eq!(is.materials()[0].base_color, [0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn a_description_is_in_the_scene() {
    let text = "
        [humanoid]
        head = 'Head'
        [[mask]]
        name = 'upper body'
        branches = [{ joint = 'Spine', feather = 2 }]
        [[blend_space]]
        name = 'locomotion'
        points = [{ at = 0, clip = 'Idle' }, { at = 1.4, clip = 'Walk' }]";
    let desc = AnimationDesc::from_toml("knight.toml", text).unwrap();
    let mannequin = throng::builtin::mannequin().unwrap().character;
    let mannequin = mannequin.with_animation(&desc).unwrap();
    let exported = exported(&mannequin);
    let extras = &json(&exported)["scenes"][0]["extras"]["throng"];
    assert_eq!(extras["humanoid"]["head"], "Head");
    assert_eq!(extras["mask"][0]["name"], "upper body");
    let is = again(&exported, ImportOptions::default());
    assert_eq!(is.skeleton().roles(), mannequin.skeleton().roles());
    assert_eq!(is.masks(), mannequin.masks());
    assert_eq!(is.blend_spaces(), mannequin.blend_spaces());
    let text = exported.description.to_toml().unwrap();
    let read = AnimationDesc::from_toml("knight.toml", &text).unwrap();
    assert_eq!(read, exported.description);
}
