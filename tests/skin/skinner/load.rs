//! Characters of any number of vertices and influences, and palettes of every format for them.

#![allow(dead_code, reason = "shared by test crates that each use a part of it")]

use crate::reference::poser::Poser;
use crate::reference::raws;
use crate::reference::rng::Rng;
use throng::SimdLevel;
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset, WriteOnly};
use throng::skeleton::Transform;
use throng::skin::Skinner;

/// Numbers of influences per vertex.
pub(crate) const COUNTS: [usize; 6] = [1, 2, 4, 8, 16, 20];
const JOINTS: usize = 37;

/// The streams of a primitive besides positions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streams {
    pub(crate) normals: bool,
    pub(crate) tangents: bool,
}

impl Streams {
    pub(crate) const ALL: [Self; 3] = [
        Self {
            normals: false,
            tangents: false,
        },
        Self {
            normals: true,
            tangents: false,
        },
        Self {
            normals: true,
            tangents: true,
        },
    ];
}

/// A character with one primitive. The number of influences varies, up to the given number.
pub(crate) fn made(
    rng: &mut Rng,
    vertices: usize,
    influences: usize,
    streams: Streams,
) -> Character {
    let node = |index: usize| raws::node(format!("joint {index}"), None, Transform::IDENTITY);
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for vertex in 0..vertices {
        let first = rng.below(JOINTS);
        let used = if vertex % 3 == 0 {
            influences
        } else {
            1 + rng.below(influences)
        };
        for number in 0..influences {
            joints.push(((first + number) % JOINTS) as u32);
            weights.push(if number < used {
                rng.range(0.1, 1.0)
            } else {
                0.0
            });
        }
    }
    let directions = |rng: &mut Rng, wanted: bool| -> Vec<Vec3> {
        (0..if wanted { vertices } else { 0 })
            .map(|_| rng.direction())
            .collect()
    };
    let normals = directions(rng, streams.normals);
    let tangents = directions(rng, streams.tangents);
    let sign = |rng: &mut Rng| if rng.chance(2) { 1.0 } else { -1.0 };
    let raw = RawCharacter {
        nodes: (0..JOINTS).map(node).collect(),
        skins: vec![raws::skin(0..JOINTS, Vec::new())],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..vertices).map(|_| rng.vector(-1.0, 1.0)).collect(),
            normals,
            tangents: tangents.into_iter().map(|t| t.extend(sign(rng))).collect(),
            influences_per_vertex: influences,
            joints,
            weights,
            indices: (0..vertices as u32).flat_map(|v| [v, v, v]).collect(),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    let character = raw.build(&ImportOptions::curves_only()).unwrap().character;
    assert_eq!(character.vertex_count(), vertices);
    character
}

/// A palette in every format.
pub(crate) struct Palettes {
    pub(crate) matrices: Vec<Mat3x4>,
    pub(crate) duals: Vec<DualQuat>,
    pub(crate) stretched: Vec<DualQuatStretch>,
    pub(crate) offsets: Vec<QuatOffset>,
}

/// Rotations by up to a radian. Blends of them keep at least half of their length.
pub(crate) fn palettes(rng: &mut Rng, len: usize) -> Palettes {
    let transform = |rng: &mut Rng, scale: Vec3| {
        let turn = Quat::from_axis_angle(rng.direction(), rng.range(-1.0, 1.0));
        Affine3A::from_scale_rotation_translation(scale, turn, rng.vector(-2.0, 2.0))
    };
    let list = |rng: &mut Rng, scale: fn(&mut Rng) -> Vec3| -> Vec<Affine3A> {
        (0..len)
            .map(|_| {
                let scale = scale(rng);
                transform(rng, scale)
            })
            .collect()
    };
    fn all<E: PaletteEntry>(list: &[Affine3A]) -> Vec<E> {
        list.iter().map(E::project).collect()
    }
    let uneven = list(rng, |rng| rng.vector(0.7, 1.4));
    let even = list(rng, |rng| Vec3::splat(rng.range(0.7, 1.4)));
    Palettes {
        duals: all(&uneven),
        stretched: all(&uneven),
        matrices: all(&uneven),
        offsets: all(&even),
    }
}

/// Runs a block once for each format of [`Palettes`], with the palette in that format.
macro_rules! each_format {
    ($all:expr, |$palette:ident| $body:block) => {{
        let all = &$all;
        {
            let $palette = all.matrices.as_slice();
            $body
        }
        {
            let $palette = all.duals.as_slice();
            $body
        }
        {
            let $palette = all.stretched.as_slice();
            $body
        }
        {
            let $palette = all.offsets.as_slice();
            $body
        }
    }};
}
pub(crate) use each_format;

pub(crate) fn both(character: &Character) -> [Skinner; 2] {
    [
        Skinner::new(character).unwrap(),
        Skinner::new(character)
            .unwrap()
            .with_simd_level(SimdLevel::Portable)
            .unwrap(),
    ]
}

pub(crate) fn rest_weights(character: &Character) -> Vec<f32> {
    let weights = character.morph_weights().iter();
    weights.map(|weight| weight.rest).collect()
}

/// The character's palette in every format, of a clip or of the rest pose.
pub(crate) fn posed(character: &Character, clip: Option<(usize, f64)>) -> Palettes {
    fn all<E: PaletteEntry>(character: &Character, model: &[Affine3A], nothing: E) -> Vec<E> {
        let mut list = vec![nothing; character.palette().len()];
        character
            .write_palette(model, WriteOnly::from(&mut list))
            .unwrap();
        list
    }
    let mut poser = Poser::new();
    let model = poser.pose(character, clip).unwrap();
    Palettes {
        matrices: all(character, model, Mat3x4::IDENTITY),
        duals: all(character, model, DualQuat::IDENTITY),
        stretched: all(character, model, DualQuatStretch::IDENTITY),
        offsets: all(character, model, QuatOffset::IDENTITY),
    }
}

/// All models, and the built-in one.
pub(crate) fn models() -> Vec<Character> {
    let mut models = vec![
        RawCharacter::mannequin()
            .build(&ImportOptions::curves_only())
            .unwrap()
            .character,
    ];
    for file in crate::reference::assets::files() {
        let imported = throng_import::file(&file, &ImportOptions::curves_only());
        models.push(imported.unwrap_or_else(|e| panic!("{e}")).character);
    }
    models
}
