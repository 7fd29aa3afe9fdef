//! The surroundings of the crowd: a paved ground that receives shadows, haze and sky.
//!
//! They are a character too, but in their own crowd, so that they are not part of any timing.

use std::f32::consts::{FRAC_PI_2, TAU};

use throng::Lighting;
use throng::glam::{Vec2, Vec3, Vec4};
use throng::import::{ImportOptions, Imported, RawCharacter, RawPrimitive};
use throng::mesh::{AlphaMode, Image, Material, TextureRef};

use super::rng::Rng;

/// Linear colours as they appear in the picture.
const GROUND: Vec3 = Vec3::new(0.46, 0.43, 0.38);
/// Height of the ground.
pub(crate) const GROUND_M: f32 = -0.005;
/// Width of the pattern on the ground.
const PATTERN_M: f32 = 4.0;
const HORIZON: Vec3 = Vec3::new(0.72, 0.80, 0.88);
const ZENITH: Vec3 = Vec3::new(0.20, 0.38, 0.70);
/// Number of corners of a ring.
const CORNERS: usize = 64;

/// The lighting of the scene.
pub(crate) fn lighting() -> Lighting {
    Lighting {
        // From the right and slightly from behind the camera's initial position, so that shadows
        // are visible.
        sun_direction: Vec3::new(0.80, 0.70, 0.15),
        sun_color: Vec3::new(1.20, 1.10, 0.93),
        sky_color: Vec3::new(0.33, 0.41, 0.55),
        ground_color: Vec3::new(0.22, 0.19, 0.16),
    }
}

/// The colour of the horizon, used to clear the picture.
pub(crate) fn background() -> [f32; 4] {
    HORIZON.extend(1.0).to_array()
}

/// Ground and sky for a crowd that reaches `reach_m` metres from the middle.
///
/// # Errors
/// None in practice. Returns the errors of [`RawCharacter::build`].
pub(crate) fn surroundings(reach_m: f32) -> throng::Result<Imported> {
    let (near, far) = (1.3 * reach_m.max(4.0), 40.0 * reach_m.max(4.0));
    let radius = |part: f32| near * (far / near).powf(part);
    let part = |ring: usize| ring as f32 / 12.0;
    // The ground is slightly below the feet. The haze, which hides the end of the ground, is
    // slightly above it.
    let plain = (0..=12).map(|ring| ((radius(part(ring)), GROUND_M), Vec3::ONE.extend(1.0)));
    let ground = [((0.0, GROUND_M), Vec3::ONE.extend(1.0))];
    let ground = Rings::new(0, ground.into_iter().chain(plain));
    let haze = (0..=12).map(|ring| {
        let (radius, thick) = (radius(part(ring)), part(ring).powf(0.8));
        ((radius, GROUND_M + 2e-4 * radius), HORIZON.extend(thick))
    });
    let haze = Rings::new(1, haze);
    let dome = (0..=16).map(|ring| {
        let (sin, cos) = (ring as f32 / 16.0 * FRAC_PI_2).sin_cos();
        let color = HORIZON.lerp(ZENITH, sin.powf(0.6));
        ((far * cos, far * sin + GROUND_M), color.extend(1.0))
    });
    let dome = Rings::new(2, dome);
    build([ground, haze, dome].map(|mesh| mesh.primitive))
}

/// The views that show ground and sky, houses, and houses that others are seen through.
pub(crate) const GROUND_MASK: u32 = 1;
pub(crate) const HOUSES_MASK: u32 = 2;
pub(crate) const CLEAR_MASK: u32 = 4;

/// A house of 1 m in each direction, with its ground at the origin, for all sizes.
///
/// # Errors
/// None in practice. Returns the errors of [`RawCharacter::build`].
pub(crate) fn house(is_clear: bool) -> throng::Result<Imported> {
    let body = RawPrimitive::cuboid(Vec3::ONE).translated(Vec3::Y * 0.5);
    let alpha = if is_clear { 0.25 } else { 1.0 };
    let material = Material {
        name: "house".into(),
        alpha: if is_clear {
            AlphaMode::Blend
        } else {
            AlphaMode::Opaque
        },
        roughness: 0.9,
        ..Material::default()
    };
    let body = body.colored([0.75, 0.72, 0.66, alpha]);
    RawCharacter::rigid("house", vec![body], vec![material]).build(&ImportOptions::default())
}

/// The materials: paved, hazy, and emissive.
fn materials() -> Vec<Material> {
    let paved = Material {
        name: "ground".into(),
        base_color: GROUND.extend(1.0).to_array(),
        base_color_texture: Some(TextureRef::new(0)),
        roughness: 0.9,
        ..Material::default()
    };
    let haze = Material {
        name: "haze".into(),
        alpha: AlphaMode::Blend,
        unlit: true,
        ..Material::default()
    };
    let sky = Material {
        name: "sky".into(),
        unlit: true,
        ..Material::default()
    };
    vec![paved, haze, sky]
}

/// Slabs with joints between them, each with a brightness different from its neighbours.
fn slabs() -> Image {
    const EDGE: usize = 256;
    const SLABS: usize = 4;
    const SLAB: usize = EDGE / SLABS;
    let mut rng = Rng::new(7);
    let shades: [f32; SLABS * SLABS] = std::array::from_fn(|_| rng.range(0.86, 1.0));
    let texel = |at: usize, rng: &mut Rng| {
        let (x, y) = (at % EDGE, at / EDGE);
        // Every other row is offset by half a slab.
        let x = (x + (y / SLAB % 2) * SLAB / 2) % EDGE;
        let joint = x % SLAB < 2 || y % SLAB < 2;
        let shade = shades[y / SLAB * SLABS + x / SLAB] * rng.range(0.96, 1.0);
        let value = (255.0 * if joint { 0.62 } else { shade }) as u8;
        [value, value, value, 255]
    };
    let texels = (0..EDGE * EDGE).flat_map(|at| texel(at, &mut rng));
    Image::new("slabs", EDGE as u32, EDGE as u32, texels.collect())
}

fn build(parts: [RawPrimitive; 3]) -> throng::Result<Imported> {
    let raw = RawCharacter {
        images: vec![slabs()],
        ..RawCharacter::rigid("surroundings", parts.into(), materials())
    };
    raw.build(&ImportOptions::default())
}

/// Concentric rings around the vertical axis, joined to each other, with normals upwards.
struct Rings {
    primitive: RawPrimitive,
}

impl Rings {
    /// Creates rings of these radii, heights and colours.
    ///
    /// Their order is from the middle outwards as seen from above, or from the horizon upwards as
    /// seen from inside.
    fn new(material: usize, rings: impl Iterator<Item = ((f32, f32), Vec4)>) -> Self {
        let mut mesh = RawPrimitive {
            material: Some(material),
            ..RawPrimitive::default()
        };
        for ((radius, height), color) in rings {
            for corner in 0..CORNERS {
                let at = Vec2::from_angle(corner as f32 / CORNERS as f32 * TAU) * radius;
                mesh.positions.push(Vec3::new(at.x, height, at.y));
                mesh.normals.push(Vec3::Y);
                mesh.colors.push(color.to_array());
                mesh.uvs.push(at / PATTERN_M);
            }
        }
        let count = mesh.positions.len() / CORNERS;
        for ring in 1..count {
            for corner in 0..CORNERS {
                let at = |ring: usize, corner: usize| (ring * CORNERS + corner % CORNERS) as u32;
                let [a, b] = [at(ring - 1, corner), at(ring - 1, corner + 1)];
                let [c, d] = [at(ring, corner), at(ring, corner + 1)];
                mesh.indices.extend([a, d, c, a, b, d]);
            }
        }
        Self { primitive: mesh }
    }
}
