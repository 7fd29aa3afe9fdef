//! Small characters of every palette format, with opaque, masked and blended materials.

use crate::reference::raws;
use crate::reference::raws::moves;
use crate::reference::ribbon::{built, ribbon};
use throng::ash::vk;
use throng::character::Character;
use throng::clip::Interpolation;
use throng::glam::Vec3;
use throng::import::{RawChannel, RawKeys, RawPrimitive};
use throng::mesh::{AlphaMode, Image, Material};
use throng::palette::{PaletteFormat, SkinningMethod};

pub(super) const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 64,
};
const JOINTS: usize = 9;

/// A palette format, the method that leads to it, and the character that uses it.
pub(super) struct Format {
    format: PaletteFormat,
    pub(super) method: SkinningMethod,
    /// Of the last joint.
    scale: Vec3,
    influences: usize,
    /// Indices of its materials: opaque, masked, blended.
    materials: &'static [usize],
}

/// All palette formats.
///
/// Only one has all materials, because every pipeline costs seconds. Fragment shaders are the same
/// for all formats.
pub(super) const FORMATS: [Format; 4] = [
    Format {
        format: PaletteFormat::Mat3x4,
        method: SkinningMethod::Linear,
        scale: Vec3::new(-1.2, 0.8, 0.9),
        influences: 4,
        materials: &[0, 1, 2],
    },
    Format {
        format: PaletteFormat::DualQuat,
        method: SkinningMethod::DualQuat,
        scale: Vec3::ONE,
        influences: 2,
        materials: &[0],
    },
    Format {
        format: PaletteFormat::DualQuatStretch,
        method: SkinningMethod::DualQuat,
        scale: Vec3::new(1.3, 0.8, 1.0),
        influences: 1,
        materials: &[1],
    },
    Format {
        format: PaletteFormat::QuatOffset,
        method: SkinningMethod::QuatOffset,
        scale: Vec3::splat(1.3),
        influences: 9,
        materials: &[0],
    },
];

/// A ribbon that morphs. It has an opaque front, a masked back with holes, and a blended veil, or
/// some of them.
pub(super) fn dancer(format: &Format) -> Character {
    let mut raw = ribbon(JOINTS);
    raw.materials[1].alpha = AlphaMode::Mask { cutoff: 0.5 };
    let image = &raw.images[0];
    let mut texels = image.rgba().unwrap().into_owned();
    for texel in texels.chunks_exact_mut(4).step_by(3) {
        texel[3] = 0;
    }
    raw.images[0] = Image::new(&image.name, image.width, image.height, texels);
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
    let is_used = |primitive: &RawPrimitive| format.materials.contains(&primitive.number);
    raw.primitives.retain(is_used);
    for primitive in &mut raw.primitives {
        influence(primitive, format.influences);
    }
    let first = &mut raw.primitives[0];
    first.morph = Some(0);
    first.targets = vec![moves(vec![Vec3::new(0.0, 0.1, 0.3); 2], vec![0, 3])];
    raw.morphs = vec![raws::morph(0, "ribbon", vec![0.7])];
    raw.animations[0].channels.push(RawChannel {
        node: JOINTS - 1,
        times_s: vec![0.0],
        interpolation: Interpolation::Step,
        values: RawKeys::Scale(vec![format.scale]),
    });
    let character = built(raw).character;
    let found = PaletteFormat::of(&character, format.method);
    assert_eq!(found, Ok(format.format));
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
