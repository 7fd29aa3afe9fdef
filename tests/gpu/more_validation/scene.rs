//! Small characters of every palette format, with opaque, masked and blended materials.

use crate::support::made::{built, ribbon};
use throng::ash::vk;
use throng::character::Character;
use throng::clip::Interpolation;
use throng::glam::Vec3;
use throng::import::{RawChannel, RawKeys, RawMorph, RawPrimitive};
use throng::mesh::{AlphaMode, Material, MorphTarget};
use throng::palette::{PaletteFormat, SkinningMethod};

pub(super) const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 64,
};
const JOINTS: usize = 9;

/// A palette format, the method that leads to it, and the scale of the last joint.
pub(super) type Format = (PaletteFormat, SkinningMethod, Vec3, usize);

/// All palette formats. The last number is that of influences per vertex.
pub(super) const FORMATS: [Format; 4] = [
    (
        PaletteFormat::Mat3x4,
        SkinningMethod::Linear,
        Vec3::new(-1.2, 0.8, 0.9),
        1,
    ),
    (
        PaletteFormat::DualQuat,
        SkinningMethod::DualQuat,
        Vec3::ONE,
        2,
    ),
    (
        PaletteFormat::DualQuatStretch,
        SkinningMethod::DualQuat,
        Vec3::new(1.3, 0.8, 1.0),
        4,
    ),
    (
        PaletteFormat::QuatOffset,
        SkinningMethod::QuatOffset,
        Vec3::splat(1.3),
        9,
    ),
];

/// A ribbon with an opaque front that morphs, a masked back with holes, and a blended veil.
pub(super) fn dancer(&(format, method, scale, influences): &Format) -> Character {
    let mut raw = ribbon(JOINTS);
    raw.materials[1].alpha = AlphaMode::Mask { cutoff: 0.5 };
    let texels = raw.images[0].rgba.chunks_exact_mut(4);
    texels.step_by(3).for_each(|texel| texel[3] = 0);
    let veil = raw.primitives[0].clone().translated(Vec3::Z * 0.3);
    raw.primitives.push(RawPrimitive {
        number: 2,
        material: Some(2),
        ..veil
    });
    raw.materials.push(Material {
        base_color: [0.2, 0.9, 0.3, 0.5],
        alpha: AlphaMode::Blend,
        ..Material::default()
    });
    for primitive in &mut raw.primitives {
        influence(primitive, influences);
    }
    let front = &mut raw.primitives[0];
    front.morph = Some(0);
    front.targets = vec![MorphTarget {
        vertices: vec![0, 3],
        positions: vec![Vec3::new(0.0, 0.1, 0.3); 2],
        normals: Vec::new(),
        tangents: Vec::new(),
    }];
    raw.morphs = vec![RawMorph {
        owner: "ribbon".into(),
        weights: vec![0.7],
        ..RawMorph::default()
    }];
    raw.animations[0].channels.push(RawChannel {
        node: JOINTS - 1,
        times_s: vec![0.0],
        interpolation: Interpolation::Step,
        values: RawKeys::Scale(vec![scale]),
    });
    let character = built(raw).character;
    assert_eq!(PaletteFormat::of(&character, method), Ok(format));
    character
}

/// Gives each vertex this many influences, from its row downwards and around.
fn influence(primitive: &mut RawPrimitive, influences: usize) {
    let vertices = 0..primitive.positions.len();
    let joints = |vertex: usize| (0..influences).map(move |at| (vertex / 2 + at) % JOINTS);
    primitive.influences_per_vertex = influences;
    primitive.joints = vertices
        .clone()
        .flat_map(joints)
        .map(|j| j as u32)
        .collect();
    primitive.weights = vec![1.0 / influences as f32; vertices.len() * influences];
}
