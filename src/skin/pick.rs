//! Picking: the nearest place where a ray meets deformed meshes.

use super::bounds::morphed_bounds;
use super::ray::{Line, RayHit};
use super::skinner::Skinner;
use crate::character::{Character, Facing};
use crate::error::{ArgumentFault, Error, Result};
use crate::mesh::Primitive;
use crate::palette::{Mat3x4, PaletteRef};
use crate::skeleton::Affine;
use glam::{DAffine3, DMat3, DVec3, Vec3};

/// A half-line, from its origin on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// In metres.
    pub origin: Vec3,
    /// Of any length but 0; distances are in metres all the same.
    pub direction: Vec3,
}

/// From which sides a ray meets triangles. The front of a triangle is where its corners, deformed,
/// are seen counter-clockwise; clockwise, where it has turned over ([`Facing::Flips`]). Triangles
/// of [`Facing::Unknown`] are met from both sides, as they are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Faces {
    /// From those from which the triangle is drawn: the front, and the back too where the material
    /// is double-sided.
    #[default]
    Drawn,
    /// From the front.
    Front,
    /// From both.
    Both,
}

/// Where a ray meets a character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Index into [`Character::primitives`].
    pub primitive: usize,
    /// Which triangle: its corners are [`Primitive::indices`] `3 * triangle` and the two after it.
    pub triangle: usize,
    /// What each of the three corners contributes to the place: not negative, with a sum of 1.
    pub barycentrics: [f32; 3],
    /// From the ray's origin, in metres of the ray's space.
    pub distance: f64,
    /// In character space, in metres.
    pub position: Vec3,
    /// Whether the ray comes from behind.
    pub back_face: bool,
}

/// A character in a pose, to be picked.
#[derive(Debug, Clone, Copy)]
pub struct Posed<'a> {
    /// The character.
    pub character: &'a Character,
    /// Made for that character.
    pub skinner: &'a Skinner,
    /// Its whole palette.
    pub palette: PaletteRef<'a>,
    /// One for each of its morph weights.
    pub weights: &'a [f32],
}

/// The nearest place where a ray, in character space, meets the character as it is posed. Of places
/// at the same distance, the first in the order of primitives and triangles.
///
/// The positions are those of [`Skinner::skin`]. Triangles are met by the watertight test of S.
/// Woop, C. Benthin and I. Wald ("Watertight Ray/Triangle Intersection", Journal of Computer
/// Graphics Techniques 2 (1), 2013), in `f64`: no ray slips through between triangles that share an
/// edge. Degenerate triangles are not met. Before the vertices are deformed, a ray that misses
/// [`morphed_bounds`] is dismissed, where that bounds: with every method but dual quaternions.
///
/// # Errors
/// [`Error::Argument`] if the ray is not finite or has no direction, if the skinner is not the
/// character's, if the palette is not finite, and for lengths and weights as [`Skinner::skin`].
pub fn pick(posed: &Posed<'_>, ray: &Ray, faces: Faces) -> Result<Option<Hit>> {
    let ray = DRay::new(ray)?;
    posed.check()?;
    if posed.missed_by(&ray.line())? {
        return Ok(None);
    }
    posed.nearest(&ray, faces, f64::INFINITY)
}

/// An instance in the world, to be picked.
#[derive(Debug, Clone, Copy)]
pub struct PosedInstance<'a> {
    /// The character and its pose.
    pub posed: Posed<'a>,
    /// Where it stands; invertible.
    pub world_from_model: &'a Affine,
}

/// The nearest place where a ray, in world space, meets one of many instances, and which of them.
/// Of places at the same distance, the first instance's.
///
/// As [`pick`] for each, with the ray in the instance's character space; distances are along the
/// ray in world space. A front stays a front under an instance transform that mirrors.
///
/// # Errors
/// [`Error::Argument`] if the ray is not finite or has no direction; [`Error::At`] with the first
/// instance whose transform can't be inverted, or for which [`pick`] returns an error.
pub fn pick_many(
    instances: &[PosedInstance<'_>],
    ray: &Ray,
    faces: Faces,
) -> Result<Option<(usize, Hit)>> {
    let world = DRay::new(ray)?;
    let mut nearest: Option<(usize, Hit)> = None;
    for (index, instance) in instances.iter().enumerate() {
        let limit = nearest.map_or(f64::INFINITY, |(_, hit)| hit.distance);
        let hit = instance
            .nearest(&world, faces, limit)
            .map_err(|why| Error::At {
                what: "instance",
                index: index as u64,
                why: Box::new(why),
            })?;
        nearest = hit.map(|hit| (index, hit)).or(nearest);
    }
    Ok(nearest)
}

/// A ray in `f64` whose direction, in the space where it was given, has length 1: so its parameter
/// is the distance there.
#[derive(Debug, Clone, Copy)]
struct DRay {
    origin: DVec3,
    direction: DVec3,
}

impl DRay {
    fn new(ray: &Ray) -> Result<Self> {
        for (what, vector) in [("ray origin", ray.origin), ("ray direction", ray.direction)] {
            if let Some(fault) = vector.to_array().into_iter().find(|v| !v.is_finite()) {
                return Err(Error::Argument {
                    what,
                    why: ArgumentFault::NotFinite(fault.into()),
                });
            }
        }
        // No square of an `f32` overflows or underflows here.
        let direction = ray.direction.as_dvec3().try_normalize();
        Ok(Self {
            origin: ray.origin.as_dvec3(),
            direction: direction.ok_or(Error::Argument {
                what: "ray direction",
                why: ArgumentFault::Invalid("has no length"),
            })?,
        })
    }

    fn line(&self) -> Line {
        Line::new(self.origin, self.direction)
    }
}

impl PosedInstance<'_> {
    fn nearest(&self, world: &DRay, faces: Faces, limit: f64) -> Result<Option<Hit>> {
        self.posed.check()?;
        let affine = self.world_from_model;
        let world_from_model = DAffine3 {
            matrix3: DMat3::from_cols(
                Vec3::from(affine.matrix3.x_axis).as_dvec3(),
                Vec3::from(affine.matrix3.y_axis).as_dvec3(),
                Vec3::from(affine.matrix3.z_axis).as_dvec3(),
            ),
            translation: Vec3::from(affine.translation).as_dvec3(),
        };
        let model_from_world = world_from_model.inverse();
        if !model_from_world.is_finite() {
            return Err(Error::Argument {
                what: "world_from_model",
                why: ArgumentFault::Invalid("can't be inverted"),
            });
        }
        let ray = DRay {
            origin: model_from_world.transform_point3(world.origin),
            direction: model_from_world.transform_vector3(world.direction),
        };
        if self.posed.missed_by(&ray.line())? {
            return Ok(None);
        }
        self.posed.nearest(&ray, faces, limit)
    }
}

impl Posed<'_> {
    fn check(&self) -> Result<()> {
        if self.skinner.fits(self.character) {
            self.skinner.check(self.palette, self.weights)
        } else {
            Err(Error::Argument {
                what: "skinner",
                why: ArgumentFault::Invalid("was made for another character"),
            })
        }
    }

    /// Whether the ray certainly misses. The box is right for blended matrices, whose images are
    /// convex combinations: dual quaternions' are not.
    fn missed_by(&self, line: &Line) -> Result<bool> {
        let bounds = |list: &[Mat3x4]| morphed_bounds(self.character, list, self.weights);
        let bounds = match self.palette {
            PaletteRef::Mat3x4(list) => bounds(list)?,
            PaletteRef::QuatOffset(list) => {
                let matrices: Vec<Mat3x4> = list.iter().map(|entry| entry.expand()).collect();
                bounds(&matrices)?
            }
            PaletteRef::DualQuat(_) | PaletteRef::DualQuatStretch(_) => return Ok(false),
        };
        Ok(line.misses(bounds.min.as_dvec3(), bounds.max.as_dvec3()))
    }

    /// The nearest hit before `limit`, in the ray's parameter.
    fn nearest(&self, ray: &DRay, faces: Faces, limit: f64) -> Result<Option<Hit>> {
        let line = ray.line();
        let (mut best, mut hit) = (limit, None);
        let character = self.character;
        let turned = self.skinner.turned(self.palette);
        self.skinner
            .each_primitive(self.palette, self.weights, |number, positions| {
                let primitive = &character.primitives()[number];
                if line.misses_all(positions) {
                    return;
                }
                let both = match faces {
                    Faces::Both => true,
                    Faces::Front => false,
                    Faces::Drawn => is_drawn_from_behind(character, primitive),
                };
                for (triangle, corners) in primitive.indices.chunks_exact(3).enumerate() {
                    let (facing, first) = (self.skinner.facing(number, triangle), corners[0]);
                    let corners = [corners[0], corners[1], corners[2]].map(|i| at(positions, i));
                    let Some(mut ray_hit) = line.meets(corners) else {
                        continue;
                    };
                    let both = both || facing == Facing::Unknown;
                    // A caller's pose may turn over what no clip does.
                    let entry = match facing {
                        Facing::Flips(entry) => entry as usize,
                        _ => strongest(primitive, first),
                    };
                    ray_hit.back_face ^= turned.get(entry).copied().unwrap_or(false);
                    if ray_hit.distance < best && (both || !ray_hit.back_face) {
                        best = ray_hit.distance;
                        hit = Some(found(number, triangle, corners, &ray_hit));
                    }
                }
            })?;
        Ok(hit)
    }
}

/// The palette entry that moves a vertex most.
fn strongest(primitive: &Primitive, vertex: u32) -> usize {
    let influences = &primitive.influences;
    let joint = influences
        .joints
        .get(vertex as usize * influences.per_vertex as usize);
    primitive.palette.start as usize + joint
}

fn is_drawn_from_behind(character: &Character, primitive: &Primitive) -> bool {
    let material = character.materials().get(primitive.material as usize);
    material.is_some_and(|material| material.double_sided)
}

/// Vertex number `index`. Triangles address vertices that there are, and the skinner fits the
/// character.
fn at(positions: &[f32], index: u32) -> DVec3 {
    let start = index as usize * 3;
    let [x, y, z] = [positions[start], positions[start + 1], positions[start + 2]];
    Vec3::new(x, y, z).as_dvec3()
}

fn found(primitive: usize, triangle: usize, corners: [DVec3; 3], ray_hit: &RayHit) -> Hit {
    let [u, v, w] = ray_hit.barycentrics;
    let [a, b, c] = corners;
    Hit {
        primitive,
        triangle,
        barycentrics: [u as f32, v as f32, w as f32],
        distance: ray_hit.distance,
        position: (a * u + b * v + c * w).as_vec3(),
        back_face: ray_hit.back_face,
    }
}
