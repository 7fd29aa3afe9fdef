//! What is around the crowd: ground, sky, and a soft shadow under each character. Made of characters, too,
//! but in a crowd of their own, so that no figure counts them.

use std::f32::consts::{FRAC_PI_2, TAU};

use throng::Lighting;
use throng::character::Transform;
use throng::glam::{Quat, Vec2, Vec3};
use throng::import::{ImportOptions, Imported, RawCharacter, RawNode, RawPrimitive, RawTransform};

/// Linear colours as they are to be seen.
const GROUND: Vec3 = Vec3::new(0.50, 0.47, 0.41);
const SHADE: f32 = 0.30;
const HORIZON: Vec3 = Vec3::new(0.72, 0.80, 0.88);
const ZENITH: Vec3 = Vec3::new(0.20, 0.38, 0.70);
/// Corners of a ring.
const CORNERS: usize = 64;

/// The light that everything stands in.
pub(crate) fn lighting() -> Lighting {
    Lighting {
        sun_direction: Vec3::new(0.55, 0.75, 0.45),
        sun_color: Vec3::new(1.0, 0.93, 0.80),
        sky_color: Vec3::new(0.36, 0.42, 0.52),
        ground_color: Vec3::new(0.24, 0.21, 0.18),
    }
}

/// The horizon's colour, to clear with.
pub(crate) fn background() -> [f32; 4] {
    HORIZON.extend(1.0).to_array()
}

/// Ground and sky for a crowd that reaches `reach_m` metres from the middle.
///
/// # Errors
/// None in practice; what [`RawCharacter::build`] says.
pub(crate) fn surroundings(reach_m: f32) -> throng::Result<Imported> {
    let (near, far) = (1.8 * reach_m.max(4.0), 40.0 * reach_m.max(4.0));
    let mut mesh = Rings::default();
    // A little below the shadows, as they are below what lies flat on the ground.
    let ground = |radius: f32, color: Vec3| ((radius, -0.02), color);
    let fade = |part: f32| {
        let radius = near * (far / near).powf(part);
        ground(radius, GROUND.lerp(HORIZON, part.powf(0.7)))
    };
    let rings = (0..=12).map(|ring| fade(ring as f32 / 12.0));
    mesh.add([ground(0.0, GROUND)].into_iter().chain(rings));
    let dome = (0..=16).map(|ring| {
        let part = ring as f32 / 16.0;
        let (sin, cos) = (part * FRAC_PI_2).sin_cos();
        (
            (far * cos, far * sin - 0.02),
            HORIZON.lerp(ZENITH, sin.powf(0.6)),
        )
    });
    mesh.add(dome);
    build("surroundings", mesh)
}

/// A round shadow of radius 1 that ends in the ground's colour.
///
/// # Errors
/// None in practice; what [`RawCharacter::build`] says.
pub(crate) fn shadow() -> throng::Result<Imported> {
    let mut mesh = Rings {
        corners: 20,
        ..Rings::default()
    };
    mesh.add((0..=6).map(|ring| {
        let radius = ring as f32 / 6.0;
        let light = radius * radius * (3.0 - 2.0 * radius);
        ((radius, -0.01), GROUND * (SHADE + (1.0 - SHADE) * light))
    }));
    build("shadow", mesh)
}

fn build(name: &str, mesh: Rings) -> throng::Result<Imported> {
    let root = RawNode {
        name: name.into(),
        parent: None,
        transform: RawTransform::Trs(Transform {
            translation: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            scale: Vec3::ONE,
        }),
    };
    let raw = RawCharacter {
        name: name.into(),
        nodes: vec![root],
        primitives: vec![mesh.primitive],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::default())
}

/// Rings around the vertical axis, joined to each other. All of their normals point upwards, so that their colours are
/// lit alike, whatever they are part of.
struct Rings {
    primitive: RawPrimitive,
    corners: usize,
}

impl Default for Rings {
    fn default() -> Self {
        Self {
            primitive: RawPrimitive::default(),
            corners: CORNERS,
        }
    }
}

impl Rings {
    /// Rings of these radii, heights and colours, from the middle outwards as seen from above, or from the
    /// horizon upwards as seen from inside.
    fn add(&mut self, rings: impl Iterator<Item = ((f32, f32), Vec3)>) {
        let light = lighting();
        let sun = light.sun_direction.normalize_or(Vec3::Y).y.max(0.0);
        let light = light.sun_color * sun + light.sky_color;
        let (mesh, corners) = (&mut self.primitive, self.corners);
        let first = mesh.positions.len();
        for ((radius, height), color) in rings {
            for corner in 0..corners {
                let at = Vec2::from_angle(corner as f32 / corners as f32 * TAU) * radius;
                mesh.positions.push(Vec3::new(at.x, height, at.y));
                mesh.normals.push(Vec3::Y);
                mesh.colors.push((color / light).extend(1.0).to_array());
            }
        }
        let count = (mesh.positions.len() - first) / corners;
        for ring in 1..count {
            for corner in 0..corners {
                let at =
                    |ring: usize, corner: usize| (first + ring * corners + corner % corners) as u32;
                let [a, b] = [at(ring - 1, corner), at(ring - 1, corner + 1)];
                let [c, d] = [at(ring, corner), at(ring, corner + 1)];
                mesh.indices.extend([a, d, c, a, b, d]);
            }
        }
    }
}
