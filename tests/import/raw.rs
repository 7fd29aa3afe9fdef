//! Raw characters that are made by code, and the checks of `RawCharacter::build`.

use crate::reference::raws;
use crate::reference::raws::{animation, at, linear};
use crate::reference::words::{Fails, Says};
use throng::character::{AnimationDesc, SocketDesc};
use throng::clip::{Interpolation, TrackValues};
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawKeys, RawPrimitive, RawSkin, RepairKind};
use throng::mesh::{Image, Material, TextureRef};
use throng::skeleton::Transform;

/// Two joints, a triangle on them, and a clip that moves the second.
pub(crate) fn raw() -> RawCharacter {
    let node = |parent| raws::node("joint", parent, Transform::IDENTITY);
    RawCharacter {
        name: "raw".into(),
        nodes: vec![node(None), node(Some(0))],
        skins: vec![RawSkin {
            name: "skin".into(),
            joints: vec![0, 1],
            inverse_bind: vec![Mat4::IDENTITY; 2],
        }],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            influences_per_vertex: 1,
            joints: vec![0, 1, 1],
            weights: vec![1.0; 3],
            indices: vec![0, 1, 2],
            ..RawPrimitive::default()
        }],
        animations: vec![animation(
            "clip",
            vec![linear(
                1,
                [0.0, 1.0],
                RawKeys::Rotation(vec![Quat::IDENTITY; 2]),
            )],
        )],
        ..RawCharacter::default()
    }
}

#[track_caller]
pub(crate) fn refused(change: impl FnOnce(&mut RawCharacter)) -> String {
    let mut raw = raw();
    change(&mut raw);
    match raw.build(&ImportOptions::curves_only()) {
        Ok(_) => panic!("it was built"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_sound_one_is_built() {
    let built = raw().build(&ImportOptions::curves_only()).unwrap();
    assert_eq!(built.repairs, []);
    assert_eq!((built.name(), built.palette().len()), ("raw", 2));
}

#[test]
fn a_matrix_replaces_the_transform() {
    let mut made = raw();
    made.nodes[1].transform.translation = Vec3::NAN;
    made.nodes[1].matrix = Some(Mat4::from_translation(Vec3::X));
    let built = made.build(&ImportOptions::curves_only()).unwrap();
    let expected = at(Vec3::X);
    assert_eq!(built.skeleton().joints()[1].rest, expected);
}

#[test]
fn the_options_replace_the_animation_description() {
    let mut made = raw();
    made.nodes[1].name = "hand".into();
    let sword = |joint| AnimationDesc {
        sockets: vec![SocketDesc::new("sword", joint)],
        ..AnimationDesc::default()
    };
    made.animation = Some(sword("hand"));
    let options = ImportOptions::curves_only();
    let own = made.clone().build(&options).unwrap();
    assert!(own.socket("sword").is_ok());
    let other = ImportOptions {
        animation: Some(AnimationDesc::default()),
        ..options.clone()
    };
    let other = made.clone().build(&other).unwrap();
    assert!(other.socket("sword").is_err());
    made.animation = Some(sword("foot"));
    made.build(&options).fails("…\"foot\"…");
}

#[test]
fn every_index_is_checked() {
    refused(|r| r.nodes[1].parent = Some(9))
        .says("raw: node 1, parent: refers to node 9, but there are 2");
    refused(|r| r.nodes[0].parent = Some(1)).says("raw: node 0: is its own ancestor");
    refused(|r| r.skins[0].joints[1] = 9)
        .says("raw: skin 0, joints[1]: refers to node 9, but there are 2");
    refused(|r| r.primitives[0].skin = Some(9))
        .says("raw: mesh 0, primitives[0]: refers to skin 9, but there are 1");
    refused(|r| {
        r.primitives[0].skin = None;
        r.primitives[0].node = 9;
    })
    .says("raw: mesh 0, primitives[0]: refers to node 9, but there are 2");
    refused(|r| r.primitives[0].material = Some(0))
        .says("raw: mesh 0, primitives[0]: refers to material 0, but there are 0");
    refused(|r| r.primitives[0].indices[2] = 3)
        .says("raw: mesh 0, primitives[0], indices[2]: refers to vertex 3, but there are 3");
    refused(|r| r.primitives[0].joints[2] = 2)
        .says("raw: mesh 0, primitives[0], vertex 2: refers to joint 2, but there are 2");
    refused(|r| r.animations[0].channels[0].node = 9)
        .says("raw: animation 0, channels[0]: refers to node 9, but there are 2");
}

#[test]
fn every_count_is_checked() {
    refused(|r| r.skins[0].inverse_bind.truncate(1))
        .says("raw: skin 0, inverseBindMatrices: the list of inverse bind matrices has 1, needs 2");
    refused(|r| r.primitives[0].normals.push(Vec3::Y))
        .says("raw: mesh 0, primitives[0], attributes: NORMAL has 1, needs 3");
    refused(|r| r.primitives[0].influences_per_vertex = 0)
        .says("raw: mesh 0, primitives[0]: missing joints and weights");
    let needed = (usize::MAX as u64).saturating_mul(3);
    refused(|r| r.primitives[0].influences_per_vertex = usize::MAX).says(format!(
        "raw: mesh 0, primitives[0]: the list of joints has 3, needs {needed}"
    ));
    refused(|r| r.primitives[0].weights.truncate(2))
        .says("raw: mesh 0, primitives[0]: the list of weights has 2, needs 3");
    refused(|r| r.primitives[0].indices.truncate(2))
        .says("raw: mesh 0, primitives[0], indices: the number of indices is not a multiple of 3");
    refused(|r| r.animations[0].channels[0].times_s.clear())
        .says("raw: animation 0, channels[0]: missing keys");
    refused(|r| r.animations[0].channels[0].interpolation = Interpolation::CubicSpline)
        .says("raw: animation 0, channels[0]: the list of values has 2, needs 6");
    refused(|r| *r = RawCharacter::default())
        .says("unnamed: file: contains nothing to draw or pose");
}

#[test]
fn images_are_checked() {
    let image = |side, bytes| Image::new("image", side, side, vec![0; bytes]);
    refused(|r| r.images = vec![image(2, 15)])
        .says("raw: image 0: the pixel data in bytes has 15, needs 16");
    refused(|r| r.images = vec![image(0, 0)]).says("raw: image 0: has no texels");
    refused(|r| r.images = vec![image(u32::MAX, 1)]).says("raw: image 0: …");
    let texture = TextureRef::new(1);
    let material = Material {
        base_color_texture: Some(texture),
        ..Material::default()
    };
    refused(|r| r.materials = vec![material])
        .says("raw: material 0, baseColorTexture: refers to image 1, but there are 0");
}

#[test]
fn every_number_is_checked() {
    let not_finite = at(Vec3::NAN);
    refused(|r| r.nodes[1].transform = not_finite)
        .says("raw: node 1, translation: component 0 is NaN, must be finite");
    refused(|r| r.nodes[1].matrix = Some(Mat4::ZERO))
        .says("raw: node 1, matrix: has a last row other than 0, 0, 0, 1");
    refused(|r| r.skins[0].inverse_bind[1] = Mat4::NAN)
        .says("raw: skin 0, inverseBindMatrices[1]: has a component that is not finite");
    refused(|r| r.primitives[0].positions[1].y = f32::INFINITY)
        .says("raw: mesh 0, primitives[0], attributes.POSITION: vertex 1 is inf, must be finite");
    refused(|r| r.animations[0].channels[0].times_s[0] = 2.0)
        .says("raw: animation 0, channels[0]: key 1 is at 1 s, before the previous key at 2 s");
    refused(|r| {
        let twice = r.animations[0].channels[0].clone();
        r.animations[0].channels.push(twice);
    })
    .says(
        "raw: animation 0, channels[1]: drives a property that another channel \
                 already drives",
    );
}

#[test]
fn more_joints_than_indices_are_refused() {
    let words = refused(|r| {
        let node = r.nodes[1].clone();
        r.nodes.resize(65_537, node);
        r.skins[0].joints = (0..65_537).collect();
        r.skins[0].inverse_bind.clear();
    });
    words.says("raw: file: joints: 65537 exceeds the limit of 65535");
}

#[test]
fn keys_at_equal_times_are_told_apart() {
    let down = f32::next_down;
    // The times, the times that stay, the keys that stay and how many repairs are told.
    type Case<'a> = (&'a [f32], &'a [f32], &'a [usize], u64);
    let cases: [Case; 8] = [
        (
            &[0.0, 1.0, 1.0, 2.0],
            &[0.0, down(1.0), 1.0, 2.0],
            &[0, 1, 2, 3],
            1,
        ),
        (
            &[0.0, 1.0, 1.0, 1.0, 1.0],
            &[0.0, down(1.0), 1.0],
            &[0, 1, 4],
            3,
        ),
        (&[0.0, 0.0, 1.0], &[0.0, 1.0], &[1, 2], 1),
        (&[0.0, -0.0], &[0.0], &[1], 1),
        (&[2.0, 2.0], &[down(2.0), 2.0], &[0, 1], 1),
        (
            &[0.0, down(1.0), 1.0, 1.0],
            &[0.0, down(1.0), 1.0],
            &[0, 1, 3],
            1,
        ),
        (
            &[down(1.0), down(1.0), 1.0, 1.0],
            &[down(down(1.0)), down(1.0), 1.0],
            &[0, 1, 3],
            2,
        ),
        (
            &[1.0, 1.0, 3.0, 3.0],
            &[down(1.0), 1.0, down(3.0), 3.0],
            &[0, 1, 2, 3],
            2,
        ),
    ];
    for (times, times_kept, kept, count) in cases {
        for (interpolation, per_key) in [
            (Interpolation::Step, 1),
            (Interpolation::Linear, 1),
            (Interpolation::CubicSpline, 3),
        ] {
            let numbered =
                |key: usize| (0..per_key).map(move |part| Vec3::new(key as f32, part as f32, 0.0));
            let mut raw = raw();
            let channel = &mut raw.animations[0].channels[0];
            channel.times_s = times.to_vec();
            channel.interpolation = interpolation;
            channel.values = RawKeys::Scale((0..times.len()).flat_map(numbered).collect());
            let built = raw.build(&ImportOptions::curves_only()).unwrap();
            let TrackValues::Scale(keys) = &built.curves()[0].tracks()[0].values else {
                panic!("{:?}", built.curves());
            };
            assert_eq!(keys.times_s, times_kept);
            let values: Vec<Vec3> = kept.iter().copied().flat_map(numbered).collect();
            assert_eq!(keys.values, values, "{times:?}, {interpolation:?}");
            let words = format!("raw: animation 0: keys with equal times separated ({count})");
            assert_eq!(built.repairs.len(), 1);
            assert_eq!(built.repairs[0].to_string(), words);
        }
    }
}

#[test]
fn keys_at_equal_times_of_a_node_outside_the_skeleton_are_left_out() {
    let mut raw = raw();
    let node = raw.nodes[0].clone();
    raw.nodes.push(node);
    raw.animations[0].channels[0].node = 2;
    raw.animations[0].channels[0].times_s = vec![1.0; 2];
    let built = raw.build(&ImportOptions::curves_only()).unwrap();
    assert_eq!(built.repairs.len(), 1);
    assert_eq!(built.repairs[0].kind, RepairKind::LeftOut);
}

/// Omitted channels still count for the clip's start and end, so the rest loops as in the file.
#[test]
fn a_clip_keeps_its_duration_where_channels_are_left_out() {
    let mut raw = raw();
    let node = raw.nodes[0].clone();
    raw.nodes.push(node);
    let mut longer = raw.animations[0].channels[0].clone();
    (longer.node, longer.times_s) = (2, vec![0.5, 2.5]);
    raw.animations[0].channels.push(longer.clone());
    let built = raw.clone().build(&ImportOptions::curves_only()).unwrap();
    assert_eq!(built.character.curves()[0].duration_s(), 2.5);
    assert_eq!(built.repairs[0].kind, RepairKind::LeftOut);
    // All of it.
    longer.times_s = vec![0.5, 3.0];
    raw.animations[0].channels = vec![longer];
    let built = raw.build(&ImportOptions::curves_only()).unwrap();
    assert_eq!(built.character.curves()[0].duration_s(), 3.0);
}
