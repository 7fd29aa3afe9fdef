//! Picking: the nearest hit of a ray on deformed meshes.

use super::ray::{Line, RayHit};
use super::skinner::Skinner;
use crate::character::{Character, Facing};
use crate::error::{Error, Result, expect_all_finite};
use crate::mesh::{PartId, Primitive, part_bits};
use crate::order;
use crate::palette::{Mat3x4, PaletteEntry, PaletteRef};
use glam::{Affine3A, DAffine3, DMat3, DVec3, Vec3};

/// A half-line that starts at its origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// The origin, in metres.
    pub origin: Vec3,
    /// The direction, of any length but 0. Distances are in metres whatever its length.
    pub direction: Vec3,
}

/// The triangle sides that a ray passes through.
///
/// The front of a deformed triangle is the side from which its corners are counter-clockwise, or
/// clockwise if the pose flips the triangle. Triangles that blend joints which flip at different
/// times are hit from both sides, just as they are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CullMode {
    /// As drawn: the back, unless the material is double-sided.
    #[default]
    Material,
    /// The back.
    Back,
    /// Neither: the ray can hit both sides.
    None,
}

/// The hit of a ray on a character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Index into [`Character::primitives`].
    pub primitive: usize,
    /// Index of the triangle. Its corners are [`Primitive::indices`] `3 * triangle` and the next
    /// two.
    pub triangle: usize,
    /// Weights of the three corners at the hit: not negative, with a sum of 1.
    pub barycentrics: [f32; 3],
    /// Distance from the ray's origin, in metres of the ray's space.
    pub distance: f64,
    /// The hit in character space, in metres.
    pub position: Vec3,
    /// True if the ray hits the back of the triangle.
    pub back_face: bool,
}

/// A character in a pose and with a world transform, for picking.
///
/// ```
/// use throng::glam::{Affine3A, Vec3};
/// use throng::palette::Mat3x4;
/// use throng::skin::{CullMode, Posed, Ray, Skinner};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skinner = Skinner::new(&character)?;
/// let palette = vec![Mat3x4::IDENTITY; character.palette().len()];
/// let weights = vec![0.0; character.morph_weights().len()];
/// let posed = Posed::new(&character, &skinner, &palette, &weights)
///     .at(Affine3A::from_translation(Vec3::X));
/// let ray = Ray { origin: Vec3::new(1.0, 1.2, 5.0), direction: Vec3::NEG_Z };
/// let hit = posed.pick(&ray, CullMode::Material)?.expect("the ray meets the chest");
/// assert!(!hit.back_face && hit.position.x.abs() < 1e-3);
/// # Ok::<(), throng::Error>(())
/// ```
#[doc(alias = "raycast")]
#[derive(Debug, Clone, Copy)]
pub struct Posed<'a> {
    character: &'a Character,
    skinner: &'a Skinner,
    palette: PaletteRef<'a>,
    weights: &'a [f32],
    world_from_model: Affine3A,
    /// A bit for each primitive that is not hit, as [`part_bits`] gives them.
    hidden: u128,
}

/// A ray in `f64` whose direction has length 1 in the space where the ray was given.
///
/// Its parameter is therefore the distance in that space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DRay {
    origin: DVec3,
    direction: DVec3,
}

impl DRay {
    pub(crate) fn new(ray: &Ray) -> Result<Self> {
        for (what, vector) in [("ray origin", ray.origin), ("ray direction", ray.direction)] {
            expect_all_finite(what, vector.to_array())?;
        }
        // No square of an `f32` overflows or underflows in `f64`.
        let direction = ray.direction.as_dvec3().try_normalize();
        Ok(Self {
            origin: ray.origin.as_dvec3(),
            direction: direction.ok_or(Error::invalid("ray direction", "has no length"))?,
        })
    }

    /// The least distance at which it may meet what is in a sphere, which may be negative. `None`
    /// if it passes by the sphere.
    #[cfg(feature = "vulkan")]
    pub(crate) fn reaches(&self, center: Vec3, radius: f32) -> Option<f64> {
        let (to_center, radius) = (center.as_dvec3() - self.origin, f64::from(radius));
        let along = to_center.dot(self.direction);
        let aside = to_center - along * self.direction;
        let misses = aside.length_squared() > radius * radius;
        (!misses && along >= -radius).then_some(along - radius)
    }

    fn line(&self) -> Line {
        Line::new(self.origin, self.direction)
    }
}

impl<'a> Posed<'a> {
    /// A character in a pose, at the origin of the ray's space.
    ///
    /// - `skinner` was made for `character`.
    /// - `palette` is the character's whole palette, in any format.
    /// - `weights` has one morph weight for each of the character's.
    ///
    /// [`Self::pick`] checks them.
    #[must_use]
    pub fn new<P: PaletteEntry>(
        character: &'a Character,
        skinner: &'a Skinner,
        palette: &'a [P],
        weights: &'a [f32],
    ) -> Self {
        Self::of((character, skinner), palette.into(), weights)
    }

    /// As [`Self::new`], with a format that is known at run time only.
    pub(crate) const fn of(
        (character, skinner): (&'a Character, &'a Skinner),
        palette: PaletteRef<'a>,
        weights: &'a [f32],
    ) -> Self {
        Self {
            character,
            skinner,
            palette,
            weights,
            world_from_model: Affine3A::IDENTITY,
            hidden: 0,
        }
    }

    /// Places the character: `world_from_model` maps character space to the ray's space.
    ///
    /// It must be invertible.
    #[must_use]
    pub const fn at(self, world_from_model: Affine3A) -> Self {
        Self {
            world_from_model,
            ..self
        }
    }

    /// Hides parts of the character: no ray hits them.
    ///
    /// [`Character::part`] finds a part by its name.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the character lacks a part.
    /// - [`Error::Capacity`] if a part has primitives past
    ///   [`PartId::MAX_HIDEABLE`].
    pub fn hiding(mut self, parts: impl IntoIterator<Item = PartId>) -> Result<Self> {
        for part in parts {
            self.hidden |= self.character.part_bits(part)?;
        }
        Ok(self)
    }

    /// Hides the primitives of these bits, as [`part_bits`] gives them.
    #[cfg(feature = "vulkan")]
    pub(crate) const fn hiding_bits(self, hidden: u128) -> Self {
        Self { hidden, ..self }
    }

    /// Finds the nearest hit of a ray on the character.
    ///
    /// It sees the mesh that is drawn: deformed, and without the parts that [`Self::hiding`] hides.
    /// Of textures it knows nothing, so transparent texels are hit like all others.
    ///
    /// If several hits have the same distance, the first in the order of primitives and triangles
    /// is returned. A front remains a front if the transform of [`Self::at`] flips.
    ///
    /// - The positions are those of [`Skinner::skin`].
    /// - Triangles are tested with the watertight test of S. Woop, C. Benthin and I. Wald
    ///   ("Watertight Ray/Triangle Intersection", Journal of Computer Graphics Techniques 2 (1),
    ///   2013), in `f64`. No ray slips between triangles that share an edge. Degenerate triangles
    ///   are never hit.
    /// - A ray that misses [`Character::posed_bounds`] is rejected before the vertices are
    ///   deformed. This applies to all methods but dual quaternions, for which those bounds are not
    ///   valid.
    ///
    /// # Errors
    /// [`Error::Argument`] in these cases:
    ///
    /// - The ray is not finite or has no direction.
    /// - The skinner was not made for the character.
    /// - The palette is not finite.
    /// - Lengths or weights are invalid, as for [`Skinner::skin`].
    /// - The transform of [`Self::at`] is not invertible.
    pub fn pick(&self, ray: &Ray, cull: CullMode) -> Result<Option<Hit>> {
        self.nearest(&DRay::new(ray)?, cull, f64::INFINITY)
    }

    /// Finds all hits of a ray on the character, nearest first.
    ///
    /// Hits at the same distance are in the order of primitives and triangles. A ray through an
    /// edge hits both triangles that share it. Each is tested as by [`Self::pick`].
    ///
    /// # Errors
    /// As [`Self::pick`].
    pub fn pick_all(&self, ray: &Ray, cull: CullMode) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        self.each_hit(&DRay::new(ray)?, cull, |hit| hits.push(hit))?;
        order::sort_by(&mut hits, |a: &Hit, b| a.distance.total_cmp(&b.distance));
        Ok(hits)
    }

    /// The nearest hit before `limit`, with the ray in world space.
    pub(crate) fn nearest(&self, world: &DRay, cull: CullMode, limit: f64) -> Result<Option<Hit>> {
        let (mut nearest, mut limit) = (None, limit);
        self.each_hit(world, cull, |hit| {
            if hit.distance < limit {
                (nearest, limit) = (Some(hit), hit.distance);
            }
        })?;
        Ok(nearest)
    }

    /// Calls `each` with all hits, in the order of primitives and triangles. The ray is in world
    /// space.
    pub(crate) fn each_hit(
        &self,
        world: &DRay,
        cull: CullMode,
        each: impl FnMut(Hit),
    ) -> Result<()> {
        self.check()?;
        let affine = &self.world_from_model;
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
            return Err(Error::invalid("world_from_model", "has no inverse"));
        }
        let ray = DRay {
            origin: model_from_world.transform_point3(world.origin),
            direction: model_from_world.transform_vector3(world.direction),
        };
        if self.missed_by(&ray.line())? {
            return Ok(());
        }
        self.each_in_model(&ray, cull, each)
    }

    fn check(&self) -> Result<()> {
        if self.skinner.fits(self.character) {
            self.skinner.check(self.palette, self.weights)
        } else {
            Err(Error::invalid("skinner", "was made for another character"))
        }
    }

    /// True if the ray certainly misses.
    ///
    /// The box is valid for blended matrices, whose images are convex combinations. It is not valid
    /// for dual quaternions.
    fn missed_by(&self, line: &Line) -> Result<bool> {
        let bounds = |list: &[Mat3x4]| self.character.posed_bounds(list, Some(self.weights));
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

    /// Calls `each` with all hits of a ray in character space.
    fn each_in_model(&self, ray: &DRay, cull: CullMode, mut each: impl FnMut(Hit)) -> Result<()> {
        let line = ray.line();
        let character = self.character;
        let flips = self.skinner.flips(self.palette);
        let bits = match self.hidden {
            0 => Vec::new(),
            _ => part_bits(character.primitives()),
        };
        let is_hidden = |number: usize| {
            let bit = bits.get(number).copied().unwrap_or(0);
            bit & self.hidden != 0
        };
        let deform = (self.palette, self.weights);
        self.skinner
            .each_primitive(deform, is_hidden, |number, positions| {
                let primitive = &character.primitives()[number];
                if line.misses_all(positions) {
                    return;
                }
                let both = match cull {
                    CullMode::None => true,
                    CullMode::Back => false,
                    CullMode::Material => is_drawn_from_behind(character, primitive),
                };
                for (triangle, corners) in primitive.indices.chunks_exact(3).enumerate() {
                    let (facing, first) = (self.skinner.facing(number, triangle), corners[0]);
                    let corners = [corners[0], corners[1], corners[2]].map(|i| at(positions, i));
                    let Some(mut ray_hit) = line.meets(corners) else {
                        continue;
                    };
                    let both = both || facing == Facing::Unknown;
                    // A caller's pose may flip triangles that no clip flips.
                    let entry = match facing {
                        Facing::Flips(entry) => entry as usize,
                        _ => strongest(primitive, first),
                    };
                    ray_hit.back_face ^= flips.get(entry).copied().unwrap_or(false);
                    if both || !ray_hit.back_face {
                        each(found(number, triangle, corners, &ray_hit));
                    }
                }
            })
    }
}

/// The palette entry with the largest influence on a vertex.
fn strongest(primitive: &Primitive, vertex: u32) -> usize {
    let first = vertex as usize * primitive.influences_per_vertex as usize;
    let joint = primitive.joints.get(first);
    primitive.palette.start as usize + joint
}

fn is_drawn_from_behind(character: &Character, primitive: &Primitive) -> bool {
    let material = character.materials().get(primitive.material as usize);
    material.is_some_and(|material| material.double_sided)
}

/// The position of vertex `index`.
///
/// Triangles only address vertices that exist, and the skinner fits the character.
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
