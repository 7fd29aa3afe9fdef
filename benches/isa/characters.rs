//! Characters of a few triangles, one for each variant of vertices and surfaces.

use throng::character::Character;
use throng::clip::Interpolation;
use throng::glam::{Affine2, Quat, Vec2, Vec3, Vec4};
use throng::import::{
    ImportOptions, RawAnimation, RawChannel, RawCharacter, RawKeys, RawMorph, RawNode,
    RawPrimitive, RawSkin,
};
use throng::mesh::{AlphaMode, Image, Material, MorphTarget, TextureRef};
use throng::palette::SkinningMethod;
use throng::skeleton::Transform;

/// Joints of a character, unless it needs more.
const JOINTS: usize = 8;
/// More joints than 8-bit indices reach.
const MANY_JOINTS: usize = 300;

/// A character, how it is skinned, and what is special about it.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) character: Character,
    pub(crate) method: SkinningMethod,
    pub(crate) deforms: bool,
}

/// All kinds. Each differs from the first, `textured`, by what its name says.
pub(crate) fn kinds() -> throng::Result<Vec<Kind>> {
    let texture = Some(TextureRef::new(0));
    let textured = base(JOINTS, 4);
    let with = |change: &dyn Fn(&mut RawCharacter)| {
        let mut raw = textured.clone();
        change(&mut raw);
        raw
    };
    let surface = |change: &dyn Fn(&mut Material)| with(&|raw| change(&mut raw.materials[0]));
    let tangents = |raw: &mut RawCharacter| {
        let count = raw.primitives[0].positions.len();
        raw.primitives[0].tangents = vec![Vec4::new(1.0, 0.0, 0.0, 1.0); count];
        raw.materials[0].normal_texture = texture;
    };
    let kinds = [
        ("textured", textured.clone()),
        ("no texture", surface(&|it| it.base_color_texture = None)),
        ("normal map", with(&tangents)),
        (
            "normal map without tangents",
            surface(&|it| it.normal_texture = texture),
        ),
        (
            "all textures",
            with(&|raw| {
                tangents(raw);
                let it = &mut raw.materials[0];
                it.metallic_roughness_texture = texture;
                it.occlusion_texture = texture;
                it.emissive_texture = texture;
            }),
        ),
        (
            "masked",
            surface(&|it| it.alpha = AlphaMode::Mask { cutoff: 0.5 }),
        ),
        ("blended", surface(&|it| it.alpha = AlphaMode::Blend)),
        ("two-sided", surface(&|it| it.double_sided = true)),
        (
            "turned coordinates",
            surface(&|it| {
                let turned = TextureRef {
                    transform: Affine2::from_angle(0.5),
                    ..TextureRef::new(0)
                };
                it.base_color_texture = Some(turned);
            }),
        ),
        (
            "second coordinates",
            with(&|raw| {
                raw.primitives[0].uvs1 = raw.primitives[0].uvs.clone();
                let second = TextureRef {
                    uv_set: 1,
                    ..TextureRef::new(0)
                };
                raw.materials[0].base_color_texture = Some(second);
            }),
        ),
        (
            "colours",
            with(&|raw| {
                let count = raw.primitives[0].positions.len();
                raw.primitives[0].colors = vec![[0.5; 4]; count];
            }),
        ),
        ("flat", with(&|raw| raw.primitives[0].normals.clear())),
        ("one influence", base(JOINTS, 1)),
        ("eight influences", base(JOINTS, 8)),
        ("16-bit joints", base(MANY_JOINTS, 4)),
        ("morph targets", with(&morphs)),
        (
            "extreme scales",
            with(&|raw| raw.nodes[0].transform.scale = Vec3::splat(1e-9)),
        ),
        ("flips", flips()),
    ];
    let mut all = Vec::new();
    for (name, raw) in kinds {
        all.push(kind(name, &raw, SkinningMethod::Linear, false)?);
    }
    all.push(kind("deformed", &textured, SkinningMethod::Linear, true)?);
    let mapped = with(&tangents);
    all.push(kind(
        "deformed, normal map",
        &mapped,
        SkinningMethod::Linear,
        true,
    )?);
    let method = SkinningMethod::QuatOffset;
    all.push(kind("rotations and offsets", &textured, method, false)?);
    let method = SkinningMethod::DualQuat;
    all.push(kind("dual quaternions", &textured, method, false)?);
    let stretched = with(&|raw| raw.nodes[1].transform.scale = Vec3::new(1.0, 1.5, 1.0));
    all.push(kind(
        "stretched dual quaternions",
        &stretched,
        method,
        false,
    )?);
    Ok(all)
}

/// A character for each pipeline of the stage animate, with the sizes and data that it is for.
pub(crate) fn animated() -> throng::Result<Vec<Kind>> {
    use SkinningMethod as Method;
    let small = base(JOINTS, 4);
    let mut stretched = small.clone();
    stretched.nodes[1].transform.scale = Vec3::new(1.0, 1.5, 1.0);
    let mut curves = small.clone();
    morphs(&mut curves);
    curves.animations = vec![steps_and_weights()];
    let kinds = [
        ("64 joints", &small, Method::Linear),
        ("64 joints", &small, Method::DualQuat),
        ("64 joints", &stretched, Method::DualQuat),
        ("64 joints", &small, Method::QuatOffset),
        ("300 joints", &base(MANY_JOINTS, 4), Method::Linear),
        ("64 joints, curves, morph weights", &curves, Method::Linear),
    ];
    let all = kinds.map(|(name, raw, method)| kind(name, raw, method, false));
    let all = all.into_iter().collect::<throng::Result<Vec<_>>>()?;
    let clip = &all[5].character.clips()[0];
    let mut driven = 0;
    clip.sample_weights(0.0, |_, _| driven += 1);
    assert!(clip.report().kept_tracks > 0 && driven > 0);
    Ok(all)
}

/// A clip that drives weights, with steps beside what moves, which packing keeps as curves.
fn steps_and_weights() -> RawAnimation {
    let times_s: Vec<f32> = (0..=30).map(|key| key as f32 / 30.0).collect();
    let sway = |time: &f32| Quat::from_rotation_z(0.4 * (6.0 * time).sin());
    let sway: Vec<Quat> = times_s.iter().map(sway).collect();
    let jumps = [0.0, 1.0, -0.5, 0.25].map(|x| Vec3::new(x, 1.0, 0.0));
    let channel = |node, interpolation, times_s, values| RawChannel {
        node,
        times_s,
        interpolation,
        values,
    };
    let (linear, step) = (Interpolation::Linear, Interpolation::Step);
    let jump_times_s = vec![0.0, 0.123, 0.777, 1.0];
    let weights = RawKeys::Weights(vec![0.0, 1.0]);
    RawAnimation {
        name: "sway and jump".into(),
        channels: vec![
            channel(1, linear, times_s, RawKeys::Rotation(sway)),
            channel(2, step, jump_times_s, RawKeys::Translation(jumps.into())),
            channel(0, linear, vec![0.0, 1.0], weights),
        ],
        ..RawAnimation::default()
    }
}

fn kind(
    name: &'static str,
    raw: &RawCharacter,
    method: SkinningMethod,
    deforms: bool,
) -> throng::Result<Kind> {
    Ok(Kind {
        name,
        character: raw.clone().build(&ImportOptions::default())?.character,
        method,
        deforms,
    })
}

/// A strip of triangles along a chain of joints. Each vertex follows its joint and the next ones.
fn base(joints: usize, influences: usize) -> RawCharacter {
    let node = |joint: usize| RawNode {
        name: format!("joint {joint}").into(),
        parent: joint.checked_sub(1),
        transform: Transform {
            translation: Vec3::Y * if joint == 0 { 0.0 } else { 0.01 },
            ..Transform::IDENTITY
        },
        matrix: None,
    };
    let vertices = 0..joints as u32;
    let corner = |vertex: u32| Vec3::new((vertex % 2) as f32, 0.01 * vertex as f32, 0.0);
    let follows = |vertex: u32| (0..influences as u32).map(move |at| (vertex + at) % joints as u32);
    let share = (0..influences).map(|at| (influences - at) as f32);
    let sum: f32 = share.clone().sum();
    let shares: Vec<f32> = share.map(|share| share / sum).collect();
    RawCharacter {
        name: "strip".into(),
        nodes: (0..joints).map(node).collect(),
        skins: vec![RawSkin {
            joints: (0..joints).collect(),
            ..RawSkin::default()
        }],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            material: Some(0),
            positions: vertices.clone().map(corner).collect(),
            normals: vec![Vec3::Z; joints],
            uvs: vertices.clone().map(|it| Vec2::splat(it as f32)).collect(),
            influences_per_vertex: influences,
            joints: vertices.clone().flat_map(follows).collect(),
            weights: shares.repeat(joints),
            indices: (0..joints as u32 - 2)
                .flat_map(|it| [it, it + 1, it + 2])
                .collect(),
            ..RawPrimitive::default()
        }],
        materials: vec![Material {
            base_color_texture: Some(TextureRef::new(0)),
            ..Material::default()
        }],
        images: vec![Image::new("white", 1, 1, vec![255; 4])],
        ..RawCharacter::default()
    }
}

fn morphs(raw: &mut RawCharacter) {
    raw.morphs = vec![RawMorph {
        node: 0,
        owner: "strip".into(),
        weights: vec![0.0],
        names: vec!["grow".into()],
    }];
    raw.primitives[0].morph = Some(0);
    raw.primitives[0].targets = vec![MorphTarget {
        vertices: vec![0, 1],
        positions: vec![Vec3::X; 2],
        normals: vec![Vec3::X; 2],
        tangents: Vec::new(),
    }];
}

/// Triangles of one joint that a clip turns inside out.
fn flips() -> RawCharacter {
    let mut raw = base(JOINTS, 1);
    let joints = raw.primitives[0].joints.len();
    raw.primitives[0].joints = vec![1; joints];
    raw.animations = vec![RawAnimation {
        name: "turn inside out".into(),
        channels: vec![RawChannel {
            node: 1,
            times_s: vec![0.0, 1.0],
            interpolation: Interpolation::Linear,
            values: RawKeys::Scale(vec![Vec3::ONE, Vec3::new(-1.0, 1.0, 1.0)]),
        }],
        ..RawAnimation::default()
    }];
    raw
}
