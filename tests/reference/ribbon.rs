//! A ribbon with two materials and two clips, and what an animator makes of it.

use crate::raws::{animation, linear};
use throng::Id;
use throng::animator::{Animator, Play};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec2, Vec3};
use throng::import::{ImportOptions, Imported, RawAnimation, RawCharacter, RawKeys, RawPrimitive};
use throng::mesh::{Image, Material, TextureRef};
use throng::palette::{Mat3x4, PaletteEntry, WriteOnly};
use throng::skeleton::Transform;

/// A chain of `joints` joints along +Y with a two-coloured, textured ribbon around them.
///
/// It sways in the clip `sway` and turns in the clip `turn`.
pub fn ribbon(joints: usize) -> RawCharacter {
    let (nodes, skin) = super::rig::joints(joints);
    RawCharacter {
        name: format!("ribbon of {joints}").into(),
        nodes,
        skins: vec![skin],
        primitives: vec![side(joints, 1.0, 0), side(joints, -1.0, 1)],
        materials: vec![
            Material {
                base_color: [0.9, 0.2, 0.1, 1.0],
                ..Material::default()
            },
            Material {
                base_color: [0.1, 0.3, 0.9, 1.0],
                base_color_texture: Some(TextureRef::new(0)),
                ..Material::default()
            },
        ],
        images: vec![Image::new(
            "checks",
            2,
            2,
            [[255_u8; 4], [90, 90, 90, 255], [90, 90, 90, 255], [255; 4]].concat(),
        )],
        animations: vec![
            rotation("sway", joints - 1, Vec3::Z),
            rotation("turn", 0, Vec3::Y),
        ],
        ..RawCharacter::default()
    }
}

/// One face of the ribbon, towards ±Z.
fn side(joints: usize, z: f32, material: usize) -> RawPrimitive {
    let rows = joints as u32;
    let vertices = (0..rows).flat_map(|row| [(row, -1.0), (row, 1.0_f32)]);
    let quad = |row: u32| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| row * 2 + at);
        if z > 0.0 {
            [a, b, d, a, d, c]
        } else {
            [a, d, b, a, c, d]
        }
    };
    RawPrimitive {
        name: "side".into(),
        number: material,
        skin: Some(0),
        material: Some(material),
        positions: vertices
            .clone()
            .map(|(row, x)| Vec3::new(x * 0.4, row as f32, z * 0.05))
            .collect(),
        normals: vec![Vec3::Z * z; 2 * joints],
        uvs: vertices
            .clone()
            .map(|(row, x)| Vec2::new(x * 0.5 + 0.5, row as f32))
            .collect(),
        influences_per_vertex: 2,
        joints: vertices
            .flat_map(|(row, _)| [row, row.saturating_sub(1)])
            .collect(),
        weights: [0.7, 0.3].repeat(2 * joints),
        indices: (0..rows - 1).flat_map(quad).collect(),
        ..RawPrimitive::default()
    }
}

fn rotation(name: &str, node: usize, axis: Vec3) -> RawAnimation {
    animation(
        name,
        vec![linear(
            node,
            [0.0, 0.5, 1.0],
            RawKeys::Rotation(
                [0.0, 0.9, 0.0]
                    .map(|angle| Quat::from_axis_angle(axis, angle))
                    .to_vec(),
            ),
        )],
    )
}

pub fn built(raw: RawCharacter) -> Imported {
    raw.build(&ImportOptions {
        curves: true,
        ..ImportOptions::default()
    })
    .unwrap()
}

/// Plays a clip, given by its index, that is held at a time in seconds, or the rest pose.
pub fn standing(moment: Option<(usize, f64)>) -> Play<'static> {
    moment.map_or(Play::REST, |(clip, time_s)| {
        let play = Play::new(Id::new(clip as u16)).once();
        play.offset_s(time_s).speed(0.0)
    })
}

/// The palette of an animator's actor that is held at a moment.
///
/// For the rest pose, it is the palette that is stored beside the mesh on the GPU.
pub fn palette_as<E: PaletteEntry>(character: &Character, moment: Option<(usize, f64)>) -> Vec<E> {
    if moment.is_none() {
        return rest_palette(character);
    }
    let mut animator = Animator::new(character).unwrap();
    let actor = animator.add(standing(moment)).unwrap();
    let mut out = vec![E::zeroed(); character.palette().len()];
    let written = animator.palettes(&[actor], WriteOnly::from(&mut out));
    written.unwrap();
    out
}

/// The same palette as matrices.
pub fn palette(character: &Character, moment: Option<(usize, f64)>) -> Vec<Mat3x4> {
    palette_as(character, moment)
}

/// The rest pose in character space.
pub fn rest_model(character: &Character) -> Vec<Affine3A> {
    let joints = character.skeleton().joints();
    let local: Vec<Transform> = joints.iter().map(|joint| joint.rest).collect();
    let mut model = vec![Affine3A::IDENTITY; local.len()];
    character.skeleton().model_pose(&local, &mut model).unwrap();
    model
}

/// The palette of the rest pose by the CPU stages, as stored beside a mesh on the GPU.
pub fn rest_palette<E: PaletteEntry>(character: &Character) -> Vec<E> {
    let mut out = vec![E::zeroed(); character.palette().len()];
    let to = WriteOnly::from(&mut out);
    character.write_palette(&rest_model(character), to).unwrap();
    out
}
