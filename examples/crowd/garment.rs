//! Things to wear: surfaces of elliptical rings that follow joints of the built-in character.

use std::f32::consts::TAU;

use throng::glam::{Vec2, Vec3};
use throng::import::{RawCharacter, RawPrimitive};

use super::Result;

/// Number of corners of a ring.
const CORNERS: usize = 12;
/// Corners that are left out at coarse levels: every third one stays.
const COARSE: usize = 3;
/// Number of triangles of a level from which it shows a garment with all of its corners.
const FINE_TRIANGLES: usize = 1000;
/// Cosine of the angle from which an edge between rings is sharp: 60°.
const SMOOTH_COSINE: f32 = 0.5;

/// Rings from below upwards, joined to each other, as the mannequin wears them in its rest pose.
pub(crate) struct Garment {
    rings: &'static [Ring],
    /// Joints with weights that all vertices follow.
    joints: &'static [(&'static str, f32)],
    /// Strength of the instance's tint.
    tint: f32,
}

/// An ellipse around the vertical axis, in metres.
struct Ring {
    y: f32,
    /// Half of its width.
    half_x: f32,
    /// Its ends in front and at the back.
    front_z: f32,
    back_z: f32,
    /// The weight of the upper leg at its side.
    leg: f32,
}

const fn ring(y: f32, half_x: f32, [front_z, back_z]: [f32; 2]) -> Ring {
    Ring {
        y,
        half_x,
        front_z,
        back_z,
        leg: 0.0,
    }
}

const fn with_legs(leg: f32, ring: Ring) -> Ring {
    Ring { leg, ..ring }
}

pub(crate) static HAT: Garment = Garment {
    rings: &[
        ring(1.722, 0.090, [0.110, -0.120]),
        ring(1.712, 0.185, [0.205, -0.205]),
        ring(1.720, 0.185, [0.205, -0.205]),
        ring(1.736, 0.104, [0.126, -0.136]),
        ring(1.815, 0.092, [0.100, -0.120]),
        ring(1.832, 0.055, [0.058, -0.078]),
        ring(1.834, 0.0, [-0.010, -0.010]),
    ],
    joints: &[("Head", 1.0)],
    tint: 0.0,
};

pub(crate) static LONG_HAIR: Garment = Garment {
    rings: &[
        ring(1.440, 0.0, [-0.110, -0.110]),
        ring(1.455, 0.066, [-0.075, -0.140]),
        ring(1.560, 0.096, [-0.040, -0.158]),
        ring(1.680, 0.108, [0.020, -0.155]),
        ring(1.755, 0.095, [0.030, -0.132]),
        ring(1.795, 0.045, [0.010, -0.075]),
        ring(1.803, 0.0, [-0.020, -0.020]),
    ],
    joints: &[("Head", 1.0)],
    tint: 0.0,
};

pub(crate) static BACKPACK: Garment = Garment {
    rings: &[
        ring(1.030, 0.0, [-0.180, -0.180]),
        ring(1.045, 0.110, [-0.105, -0.235]),
        ring(1.120, 0.150, [-0.080, -0.285]),
        ring(1.320, 0.150, [-0.080, -0.280]),
        ring(1.420, 0.115, [-0.090, -0.225]),
        ring(1.445, 0.0, [-0.150, -0.150]),
    ],
    joints: &[("Chest", 0.4), ("UpperChest", 0.6)],
    tint: 0.0,
};

pub(crate) static SKIRT: Garment = Garment {
    rings: &[
        with_legs(0.80, ring(0.530, 0.270, [0.190, -0.205])),
        with_legs(0.55, ring(0.700, 0.245, [0.172, -0.185])),
        with_legs(0.25, ring(0.850, 0.212, [0.145, -0.155])),
        ring(0.990, 0.182, [0.119, -0.128]),
    ],
    joints: &[("Hips", 1.0)],
    tint: 0.25,
};

impl Ring {
    /// A point at an angle around it, and the horizontal direction away from it.
    fn at(&self, corner: usize) -> (Vec3, Vec2) {
        let way = Vec2::from_angle((corner % CORNERS) as f32 / CORNERS as f32 * TAU);
        let half_z = 0.5 * (self.front_z - self.back_z);
        let middle_z = 0.5 * (self.front_z + self.back_z);
        let at = Vec3::new(way.x * self.half_x, self.y, middle_z + way.y * half_z);
        let away = Vec2::new(way.x * half_z, way.y * self.half_x);
        (at, away.normalize_or(way))
    }

    /// The outward direction of the surface to the next ring, in a plane through the axis: away
    /// from it, and up.
    fn slope(&self, next: &Self) -> Vec2 {
        let size = |ring: &Self| 0.5 * (ring.half_x + 0.5 * (ring.front_z - ring.back_z));
        Vec2::new(next.y - self.y, size(self) - size(next)).normalize_or(Vec2::X)
    }

    /// The strongest `count` influences of its point, with weights that sum to 1.
    fn influences(&self, at: Vec3, followed: &Followed, count: usize) -> Vec<(usize, f32)> {
        // Left is +X.
        let left = 0.5 + 0.5 * at.x / self.half_x.max(1e-6);
        let sides = [self.leg * left, self.leg * (1.0 - left)];
        let own = followed.own.iter();
        let own = own.map(|(joint, weight)| (*joint, weight * (1.0 - self.leg)));
        let mut all: Vec<_> = own.chain(followed.legs.into_iter().zip(sides)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.resize(count, (0, 0.0));
        let sum: f32 = all.iter().map(|(_, weight)| weight).sum();
        all.iter_mut().for_each(|(_, weight)| *weight /= sum);
        all
    }
}

/// Joints of the mannequin that a garment follows.
struct Followed {
    /// With their weights.
    own: Vec<(usize, f32)>,
    /// Left and right.
    legs: [usize; 2],
}

impl Garment {
    /// Adds the garment to the mannequin, to all of its levels of detail.
    pub(crate) fn add(&self, raw: &mut RawCharacter, color: [f32; 3]) -> Result<()> {
        let joint = |name: &str| {
            let found = raw.nodes.iter().position(|node| &*node.name == name);
            found.ok_or_else(|| format!("no joint {name}"))
        };
        let own = self.joints.iter();
        let own = own.map(|(name, weight)| Ok((joint(name)?, *weight)));
        let followed = Followed {
            own: own.collect::<Result<_>>()?,
            legs: [joint("LeftUpperLeg")?, joint("RightUpperLeg")?],
        };
        let [r, g, b] = color;
        let color = [r, g, b, self.tint];
        let Some((primitive, far)) = raw.primitives.split_first_mut() else {
            return Err("the mannequin has no primitive".into());
        };
        let rings: Vec<&Ring> = self.rings.iter().collect();
        let first = add_vertices(primitive, &rings, &followed, color);
        primitive.indices.extend(triangles(&rings, first, 1));
        for level in &mut primitive.levels {
            let step = match level.indices.len() / 3 {
                // The level is a mesh of its own.
                0 => continue,
                FINE_TRIANGLES.. => 1,
                _ => COARSE,
            };
            level.indices.extend(triangles(&rings, first, step));
        }
        // Far away, the outline is enough, and at last the colour.
        let outline = self.outline();
        let last = far.len().saturating_sub(1);
        for (number, primitive) in far.iter_mut().enumerate() {
            let covered = primitive.colors.iter_mut().zip(&primitive.positions);
            let covered = covered.filter(|(_, at)| self.covers(**at));
            covered.for_each(|(old, _)| *old = color);
            if number < last {
                let first = add_vertices(primitive, &outline, &followed, color);
                let levels = primitive.levels.iter_mut();
                let own = levels.filter(|level| !level.indices.is_empty());
                own.for_each(|level| level.indices.extend(triangles(&outline, first, COARSE)));
            }
        }
        Ok(())
    }

    /// The lowest, the widest and the highest ring.
    fn outline(&self) -> Vec<&Ring> {
        let numbered = || self.rings.iter().enumerate();
        let widest = numbered().max_by(|a, b| a.1.half_x.total_cmp(&b.1.half_x));
        let widest = widest.map(|(number, _)| number);
        let chosen = numbered().filter(|(number, _)| {
            [Some(0), widest, self.rings.len().checked_sub(1)].contains(&Some(*number))
        });
        chosen.map(|(_, ring)| ring).collect()
    }

    /// True if it hides a point of the mannequin at rest.
    fn covers(&self, at: Vec3) -> bool {
        let mut pairs = self.rings.windows(2);
        pairs.any(|pair| {
            let [low, high] = [&pair[0], &pair[1]];
            let half_x = low.half_x.max(high.half_x);
            let [front_z, back_z] = [low.front_z.max(high.front_z), low.back_z.min(high.back_z)];
            (low.y..=high.y).contains(&at.y)
                && at.x.abs() <= half_x
                && (back_z..=front_z).contains(&at.z)
        })
    }
}

/// Adds the vertices of all strips. Returns the number of the first.
fn add_vertices(
    primitive: &mut RawPrimitive,
    rings: &[&Ring],
    followed: &Followed,
    color: [f32; 4],
) -> usize {
    let first = primitive.positions.len();
    let slopes = rings.windows(2).map(|pair| pair[0].slope(pair[1]));
    let slopes: Vec<Vec2> = slopes.collect();
    for (strip, pair) in rings.windows(2).enumerate() {
        // Vertices of neighbouring strips have the same normal if the edge is smooth.
        let beside = [strip.checked_sub(1), Some(strip + 1)];
        for (ring, beside) in pair.iter().zip(beside) {
            let beside = beside.and_then(|strip| slopes.get(strip));
            let beside = beside.filter(|slope| slope.dot(slopes[strip]) > SMOOTH_COSINE);
            let slope = slopes[strip] + beside.copied().unwrap_or_default();
            for corner in 0..CORNERS {
                let (at, away) = ring.at(corner);
                let normal = (away * slope.x).extend(slope.y);
                let normal = Vec3::new(normal.x, normal.z, normal.y).normalize_or(Vec3::Y);
                let influences = ring.influences(at, followed, primitive.influences_per_vertex);
                for (joint, weight) in influences {
                    primitive.joints.push(joint as u32);
                    primitive.weights.push(weight);
                }
                primitive.positions.push(at);
                primitive.normals.push(normal);
                primitive.colors.push(color);
            }
        }
    }
    first
}

/// The triangles between every `step`th corner of the rings.
fn triangles(rings: &[&Ring], first: usize, step: usize) -> impl Iterator<Item = u32> {
    let strips = rings.windows(2).enumerate();
    let quads = strips.flat_map(move |(strip, pair)| {
        let is_point = [pair[0].half_x == 0.0, pair[1].half_x == 0.0];
        let corners = (0..CORNERS).step_by(step);
        corners.map(move |corner| (strip, is_point, corner))
    });
    quads.flat_map(move |(strip, is_point, corner)| {
        let vertex = move |ring: usize, corner: usize| {
            (first + (2 * strip + ring) * CORNERS + corner % CORNERS) as u32
        };
        let [a, b] = [vertex(0, corner), vertex(0, corner + step)];
        let [c, d] = [vertex(1, corner), vertex(1, corner + step)];
        let lower = (!is_point[0]).then_some([a, d, b]);
        let upper = (!is_point[1]).then_some([a, c, d]);
        [lower, upper].into_iter().flatten().flatten()
    })
}
