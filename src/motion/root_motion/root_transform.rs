//! Rigid transforms of a character over the ground: a rotation about +Y and a translation.

use crate::error::{Result, expect_in, expect_len};
use core::f64::consts::{PI, TAU};
use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Vec3, Vec3A};

/// A movement of a character over the ground, or its transform in the world.
///
/// It is a rotation about +Y, then a translation: it maps a point `p` to `R(yaw) p + translation`.
///
/// - A *movement* is relative to the frame that the character had at the start.
///   [`RootMotion::delta`](crate::motion::RootMotion::delta) returns it for a span of time.
/// - A *world transform* is relative to the world. [`Self::advance`] adds movements to it.
///
/// # Precision
/// A world transform sums up movements without drift. Within 8 km of the origin, a step rounds the
/// position by at most 1e-12 m, while `f32` would round it by 2e-4 m. It rounds the yaw by at most
/// 5e-16 rad.
///
/// ```
/// use throng::glam::{DVec3, Vec3};
/// use throng::motion::RootTransform;
///
/// let step = RootTransform { translation: DVec3::Z, yaw_rad: core::f64::consts::FRAC_PI_2 };
/// let mut root = RootTransform::IDENTITY;
/// for _ in 0..4 {
///     root.advance(&step, 1.0);
/// }
/// assert!(root.translation.length() < 1e-12); // round a square
/// let world_from_model = root.world_from_model(DVec3::ZERO, Vec3::ONE);
/// # let _ = world_from_model;
/// ```
#[doc(alias = "RootMotionDelta")]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RootTransform {
    /// Translation in metres.
    ///
    /// Of a movement: in the character's space before the rotation. Of a world transform: in world
    /// space.
    pub translation: DVec3,
    /// Rotation in radians about +Y, counter-clockwise seen from above.
    ///
    /// A movement's is not wrapped: two full turns are 4π. [`Self::advance`] keeps that of a
    /// world transform within ±π.
    pub yaw_rad: f64,
}

impl RootTransform {
    /// No movement, or the world's origin.
    pub const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        yaw_rad: 0.0,
    };

    /// This movement followed by `next`.
    ///
    /// `next` is relative to the frame where this movement ends.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self {
            translation: self.translation + turned(next.translation, self.yaw_rad),
            yaw_rad: self.yaw_rad + next.yaw_rad,
        }
    }

    /// Advances this world transform by a movement, whose translation is multiplied by `scale`.
    ///
    /// `scale` is the uniform scale of the instance, or 1. The yaw is kept within ±π.
    pub fn advance(&mut self, delta: &Self, scale: f64) {
        self.translation += turned(delta.translation * scale, self.yaw_rad);
        let yaw_rad = self.yaw_rad + delta.yaw_rad;
        self.yaw_rad = if yaw_rad.abs() > PI {
            without_turns(yaw_rad)
        } else {
            yaw_rad
        };
    }

    /// The inverse movement.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            translation: -turned(self.translation, -self.yaw_rad),
            yaw_rad: -self.yaw_rad,
        }
    }

    /// This movement repeated `count` times.
    ///
    /// `count` must be a whole number. A negative count gives the inverse. The cost does not depend
    /// on the count.
    ///
    /// The translations are a geometric series of rotated vectors. With the yaw `ψ` of one movement
    /// and `n` movements, `Σ R(iψ) p = R((n − 1) ψ/2) p · sin(nψ/2) / sin(ψ/2)`. For whole turns,
    /// that is `n p`.
    #[must_use]
    pub fn repeated(&self, count: f64) -> Self {
        // Whole turns do not change the sum. Without them, the quotient is well-conditioned.
        let half = 0.5 * without_turns(self.yaw_rad);
        let reach = if half == 0.0 {
            count
        } else {
            (count * half).sin() / half.sin()
        };
        let p = self.translation;
        let ground = turned(DVec3::new(p.x, 0.0, p.z), (count - 1.0) * half) * reach;
        Self {
            translation: DVec3::new(ground.x, p.y * count, ground.z),
            yaw_rad: self.yaw_rad * count,
        }
    }

    /// The movement of a blend: the weighted mean of the translations and of the yaws.
    ///
    /// They are treated as velocities over the same time. Each has a weight of its own. Weights are
    /// normalised by their sum. If the sum is 0, there is no movement.
    ///
    /// Equal movements give that movement, whatever the weights. If clips turn at different rates,
    /// two steps differ from a single step by terms of second order in the steps' difference of
    /// yaw. So blend once per frame.
    ///
    /// # Errors
    /// - [`Error::Argument`](crate::Error::Argument) unless there is one weight for each motion.
    /// - [`Error::At`](crate::Error::At) for a weight that is not finite or is negative.
    pub fn blend(motions: &[Self], weights: &[f32]) -> Result<Self> {
        expect_len("weights", weights.len(), motions.len())?;
        let mut mean = Mean::default();
        for (index, (motion, weight)) in motions.iter().zip(weights).enumerate() {
            check_weight(*weight).map_err(|why| why.at("root motion", index))?;
            mean.add(motion, *weight);
        }
        Ok(mean.get())
    }

    /// The transform as a matrix.
    ///
    /// For a movement, it maps from the later character space to the earlier one.
    #[must_use]
    pub fn to_affine(&self) -> DAffine3 {
        let turn = DQuat::from_rotation_y(self.yaw_rad);
        DAffine3::from_rotation_translation(turn, self.translation)
    }

    /// The transform of an instance with this world transform, relative to `origin` in world space.
    ///
    /// The origin is subtracted before rounding. So the result is accurate anywhere in the world,
    /// if each part is drawn relative to a point near it.
    #[must_use]
    pub fn world_from_model(&self, origin: DVec3, scale: Vec3) -> Affine3A {
        let turn = DMat3::from_quat(DQuat::from_rotation_y(self.yaw_rad));
        rounded(&DAffine3 {
            matrix3: turn * DMat3::from_diagonal(scale.as_dvec3()),
            translation: self.translation - origin,
        })
    }

    /// An instance's transform after the movement: `world_from_model × movement`.
    ///
    /// The scale of the transform scales the translation, and its rotation rotates it. The product
    /// is computed in `f64` and rounded once.
    ///
    /// Rounding in every frame causes drift. For long-running instances, keep a world transform and
    /// [advance](Self::advance) it.
    #[must_use]
    pub fn apply(&self, world_from_model: &Affine3A) -> Affine3A {
        rounded(&(wide(world_from_model) * self.to_affine()))
    }
}

/// The angle without its whole turns: within ±π.
///
/// The difference between `TAU` and 2π is also subtracted, so that thousands of turns leave no
/// error.
pub(crate) fn without_turns(yaw_rad: f64) -> f64 {
    const REST_OF_TAU: f64 = 2.449_293_598_294_706_4e-16;
    let turns = (yaw_rad / TAU).round();
    (-turns).mul_add(TAU, yaw_rad) - turns * REST_OF_TAU
}

/// Rotates `v` about +Y.
pub(crate) fn turned(v: DVec3, yaw_rad: f64) -> DVec3 {
    if yaw_rad == 0.0 {
        return v;
    }
    let (sin, cos) = yaw_rad.sin_cos();
    DVec3::new(v.x * cos + v.z * sin, v.y, v.z * cos - v.x * sin)
}

/// A weighted mean of movements.
#[derive(Debug, Default)]
pub(crate) struct Mean {
    translation: DVec3,
    yaw_rad: f64,
    weight: f64,
}

impl Mean {
    pub(crate) fn add(&mut self, motion: &RootTransform, weight: f32) {
        let weight = f64::from(weight);
        self.weight += weight;
        if weight > 0.0 {
            // A running mean: equal motions give the same bits, and nothing overflows.
            let part = weight / self.weight;
            self.translation += (motion.translation - self.translation) * part;
            self.yaw_rad += (motion.yaw_rad - self.yaw_rad) * part;
        }
    }

    pub(crate) fn get(&self) -> RootTransform {
        RootTransform {
            translation: self.translation,
            yaw_rad: self.yaw_rad,
        }
    }
}

pub(crate) fn check_weight(weight: f32) -> Result<()> {
    expect_in("weight", weight, 0.0, f32::MAX)
}

fn wide(affine: &Affine3A) -> DAffine3 {
    let axes = affine.matrix3.to_cols_array().map(f64::from);
    DAffine3 {
        matrix3: DMat3::from_cols_array(&axes),
        translation: Vec3::from(affine.translation).as_dvec3(),
    }
}

pub(crate) fn rounded(affine: &DAffine3) -> Affine3A {
    let m = affine.matrix3;
    Affine3A {
        matrix3: glam::Mat3A::from_cols(
            m.x_axis.as_vec3a(),
            m.y_axis.as_vec3a(),
            m.z_axis.as_vec3a(),
        ),
        translation: Vec3A::from(affine.translation.as_vec3()),
    }
}
