//! Rigid motions of a character over the ground: a turn about +Y and a translation.

use crate::error::{ArgumentFault, Error, Result};
use crate::skeleton::Affine;
use core::f64::consts::TAU;
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3, Vec3A};

/// How far a character moved: a turn about +Y, then a translation, in the frame that the character
/// had at the start. It maps a point `p` to `R(yaw) p + translation`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RootDelta {
    /// In metres, in the character's space as it was before the turn.
    pub translation: DVec3,
    /// Radians about +Y, counter-clockwise seen from above. Not wrapped: two full turns are 4π.
    pub yaw_rad: f64,
}

impl RootDelta {
    /// No motion.
    pub const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        yaw_rad: 0.0,
    };

    /// This motion and then `next`, which is told in the frame where this one ends.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self {
            translation: self.translation + turned(next.translation, self.yaw_rad),
            yaw_rad: self.yaw_rad + next.yaw_rad,
        }
    }

    /// The motion back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            translation: -turned(self.translation, -self.yaw_rad),
            yaw_rad: -self.yaw_rad,
        }
    }

    /// This motion `count` times, one after the other; back for a negative count. `count` is a
    /// whole number. The cost does not depend on it.
    ///
    /// The translations are a geometric series of turned vectors: with the yaw `ψ` of one motion
    /// and `n` of them, `Σ R(iψ) p = R((n − 1) ψ/2) p · sin(nψ/2) / sin(ψ/2)`, which for whole
    /// turns is `n p`.
    #[must_use]
    pub fn repeated(&self, count: f64) -> Self {
        // Whole turns change nothing in the sum; without them the quotient is well behaved.
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

    /// The motion of a blend: the weighted mean of the translations and of the yaws, as of
    /// velocities over the same time. Weights are normalised by their sum; where that is 0, nothing
    /// moves.
    ///
    /// Motions that are the same give that motion, whatever the weights. Where clips turn at
    /// different rates, two steps are one step but for terms of second order in the step's
    /// difference of yaw: blend once a frame.
    ///
    /// # Errors
    /// [`Error::At`] with [`ArgumentFault::NotFinite`] or [`ArgumentFault::OutOfRange`] for a
    /// weight that is not finite or is negative.
    pub fn blend(motions: &[(Self, f32)]) -> Result<Self> {
        let mut mean = Mean::default();
        for (index, (motion, weight)) in motions.iter().enumerate() {
            check_weight(*weight).map_err(|why| each("root motion", index, why))?;
            mean.add(motion, *weight);
        }
        Ok(mean.get())
    }

    /// The motion as a matrix: the earlier character space from the later one.
    #[must_use]
    pub fn to_affine(&self) -> DAffine3 {
        let turn = DQuat::from_rotation_y(self.yaw_rad);
        DAffine3::from_rotation_translation(turn, self.translation)
    }

    /// An instance's transform after the motion: `world_from_model × motion`, so that its scale
    /// scales the translation, and its rotation turns it. Computed in `f64` and rounded once.
    ///
    /// What is rounded in every frame drifts: for long plays, see [`Self::apply_orthonormal`] or
    /// keep a [`RootPlace`](crate::motion::RootPlace).
    #[must_use]
    pub fn apply(&self, world_from_model: &Affine) -> Affine {
        rounded(&(wide(world_from_model) * self.to_affine()))
    }

    /// The same with the rotation made orthonormal, after Gram and Schmidt from its z and x axis,
    /// and with this scale in place of the lengths of the axes: the rotation does not drift,
    /// however many steps there are. The scale is applied first, along the character's own axes;
    /// for a uniform scale this is [`Self::apply`] but for rounding.
    #[must_use]
    pub fn apply_orthonormal(&self, world_from_model: &Affine, scale: Vec3) -> Affine {
        let from = wide(world_from_model);
        let unit = |v: DVec3, other: DVec3| v.normalize_or(other);
        let z = unit(from.matrix3.z_axis, DVec3::Z);
        let x = from.matrix3.x_axis;
        let x = unit(x - z * z.dot(x), z.any_orthonormal_vector());
        let rotation = DMat3::from_cols(x, z.cross(x), z);
        let scale = scale.as_dvec3();
        let moved = self.to_affine();
        rounded(&DAffine3 {
            matrix3: rotation * moved.matrix3 * DMat3::from_diagonal(scale),
            translation: from.translation + rotation * (scale * self.translation),
        })
    }
}

/// The angle without its whole turns: within ±π. What `TAU` is off from 2π is subtracted too, so
/// that thousands of turns leave no error.
pub(crate) fn without_turns(yaw_rad: f64) -> f64 {
    const REST_OF_TAU: f64 = 2.449_293_598_294_706_4e-16;
    let turns = (yaw_rad / TAU).round();
    (-turns).mul_add(TAU, yaw_rad) - turns * REST_OF_TAU
}

/// `v`, turned about +Y.
pub(crate) fn turned(v: DVec3, yaw_rad: f64) -> DVec3 {
    if yaw_rad == 0.0 {
        return v;
    }
    let (sin, cos) = yaw_rad.sin_cos();
    DVec3::new(v.x * cos + v.z * sin, v.y, v.z * cos - v.x * sin)
}

/// A weighted mean of motions.
#[derive(Debug, Default)]
pub(crate) struct Mean {
    translation: DVec3,
    yaw_rad: f64,
    weight: f64,
}

impl Mean {
    pub(crate) fn add(&mut self, motion: &RootDelta, weight: f32) {
        let weight = f64::from(weight);
        self.weight += weight;
        if weight > 0.0 {
            // A running mean: the same motions give the same bits, and nothing overflows.
            let part = weight / self.weight;
            self.translation += (motion.translation - self.translation) * part;
            self.yaw_rad += (motion.yaw_rad - self.yaw_rad) * part;
        }
    }

    pub(crate) fn get(&self) -> RootDelta {
        RootDelta {
            translation: self.translation,
            yaw_rad: self.yaw_rad,
        }
    }
}

pub(crate) fn check_weight(weight: f32) -> Result<()> {
    let value = f64::from(weight);
    let why = if !weight.is_finite() {
        ArgumentFault::NotFinite(value)
    } else if weight < 0.0 {
        let (min, max) = (0.0, f64::from(f32::MAX));
        ArgumentFault::OutOfRange { value, min, max }
    } else {
        return Ok(());
    };
    let what = "weight";
    Err(Error::Argument { what, why })
}

pub(crate) fn each(what: &'static str, index: usize, why: Error) -> Error {
    Error::At {
        what,
        index: index as u64,
        why: why.into(),
    }
}

fn wide(affine: &Affine) -> DAffine3 {
    let axes = affine.matrix3.to_cols_array().map(f64::from);
    DAffine3 {
        matrix3: DMat3::from_cols_array(&axes),
        translation: Vec3::from(affine.translation).as_dvec3(),
    }
}

pub(crate) fn rounded(affine: &DAffine3) -> Affine {
    let m = affine.matrix3;
    Affine {
        matrix3: glam::Mat3A::from_cols(
            m.x_axis.as_vec3a(),
            m.y_axis.as_vec3a(),
            m.z_axis.as_vec3a(),
        ),
        translation: Vec3A::from(affine.translation.as_vec3()),
    }
}
