//! Inertialised transitions: the pose of the new motion plus a decaying offset from the old one.
//!
//! After D. Bollo, Inertialization: High-Performance Animation Transitions in Gears of War, GDC
//! 2018. At the transition, the offset between the motions and the velocity of the offset are
//! recorded. From then on only the new motion is evaluated. The offset decays by a polynomial of
//! fifth degree, which starts with that value and velocity, and ends with a value, velocity and
//! acceleration of 0.
//!
//! So at the start of the transition, the pose and its velocity are those of the old motion. After
//! its duration, the pose is exactly that of the new motion. An offset that already moves towards
//! zero gets there within five times its value divided by its speed at most, and does not
//! overshoot.
//!
//! Translation, scale and rotation are one vector each, whose length decays. The rotation vector is
//! axis times angle, the shortest one, in the parent's space. Bollo ignores the velocity
//! perpendicular to the offset. Here it decays in the same way, from a value of 0, so that the
//! whole velocity continues.

use super::playback::MAX_FADE_S;
use crate::clone::clone_fields;
use crate::error::{Result, expect_all_finite, expect_in, expect_len};
use crate::skeleton::Transform;
use glam::{DQuat, DVec3, Vec3};

/// The decaying offsets of joints and morph weights from the motion before a transition.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Inertialisation {
    start_s: f64,
    duration_s: f64,
    joints: Vec<JointOffset>,
    /// For each morph weight, its offset and the change of the offset per second.
    weights: Vec<[f32; 2]>,
}

clone_fields! {
    Inertialisation { start_s, duration_s, joints, weights }
}

/// A joint's offset at the transition, and its change per second.
///
/// The three vectors are translation, rotation (axis times angle) and scale.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct JointOffset {
    values: [Vec3; 3],
    velocities: [Vec3; 3],
}

impl Inertialisation {
    /// An instance without offsets, with memory reserved for this many.
    pub(crate) fn with_capacity(joints: usize, weights: usize) -> Self {
        Self {
            start_s: f64::MIN,
            duration_s: 0.0,
            joints: Vec::with_capacity(joints),
            weights: Vec::with_capacity(weights),
        }
    }

    /// Starts a transition at `now_s` that lasts `duration_s`.
    ///
    /// The local poses and the morph weights are those of the old motion `step_s` before the
    /// transition and at it, then those of the new motion at it and `step_s` later. The old motion
    /// is what was shown: if a transition was in progress, it must be included.
    pub(crate) fn begin(
        &mut self,
        [before, old, new, after]: [&[Transform]; 4],
        weights: [&[f32]; 4],
        step_s: f64,
        [now_s, duration_s]: [f64; 2],
    ) {
        (self.start_s, self.duration_s) = (now_s, duration_s);
        let (old, new) = (before.iter().zip(old), new.iter().zip(after));
        self.joints.clear();
        let offsets = old.zip(new);
        self.joints
            .extend(offsets.map(|(old, new)| JointOffset::between(old, new, step_s)));
        let [before, old, new, after] = weights;
        let (old, new) = (before.iter().zip(old), new.iter().zip(after));
        self.weights.clear();
        let offsets = old.zip(new);
        self.weights
            .extend(offsets.map(|((before, old), (new, after))| {
                let velocity = f64::from(old - before) - f64::from(after - new);
                [old - new, (velocity / step_s) as f32]
            }));
    }

    /// The time from which no offset remains.
    pub(crate) fn end_s(&self) -> f64 {
        self.start_s + self.duration_s
    }

    /// Returns true if no offset is left at `now_s`.
    pub(crate) fn is_over(&self, now_s: f64) -> bool {
        now_s >= self.end_s()
    }

    /// The time since the start, or `None` if the transition is over.
    fn since_s(&self, now_s: f64) -> Option<f64> {
        (!self.is_over(now_s)).then(|| (now_s - self.start_s).max(0.0))
    }

    /// Checks data that was saved for a character with this many joints and morph weights.
    pub(crate) fn check(&self, joints: usize, weights: usize) -> Result<()> {
        let most = f64::from(MAX_FADE_S);
        expect_in("inertialised transition", self.duration_s, 0.0, most)?;
        if !self.joints.is_empty() {
            expect_len("inertialised joints", self.joints.len(), joints)?;
        }
        if !self.weights.is_empty() {
            expect_len("inertialised morph weights", self.weights.len(), weights)?;
        }
        let joints = self.joints.iter().flat_map(|of| [of.values, of.velocities]);
        let numbers = joints.flatten().flat_map(|vector| vector.to_array());
        expect_all_finite("inertialised offset", numbers)?;
        let numbers = self.weights.iter().flatten().copied();
        expect_all_finite("inertialised morph weight", numbers)
    }

    /// Adds the remaining offsets at `now_s` to the new motion's local pose.
    ///
    /// Before the start of the transition, the whole offset is added.
    pub(crate) fn apply(&self, now_s: f64, local: &mut [Transform]) {
        if let Some(since_s) = self.since_s(now_s) {
            for (local, offset) in local.iter_mut().zip(&self.joints) {
                offset.add(since_s, self.duration_s, local);
            }
        }
    }

    /// [`Self::apply`] for a single joint.
    pub(crate) fn apply_joint(&self, now_s: f64, joint: usize, local: &mut Transform) {
        if let (Some(since_s), Some(offset)) = (self.since_s(now_s), self.joints.get(joint)) {
            offset.add(since_s, self.duration_s, local);
        }
    }

    /// Adds the remaining offsets at `now_s` to the new motion's morph weights.
    pub(crate) fn apply_weights(&self, now_s: f64, out: &mut [f32]) {
        let Some(since_s) = self.since_s(now_s) else {
            return;
        };
        for (out, [value, velocity]) in out.iter_mut().zip(&self.weights) {
            let (value, velocity) = (f64::from(*value), f64::from(*velocity));
            let sign = if value < 0.0 { -1.0 } else { 1.0 };
            let left = decayed(sign * value, sign * velocity, since_s, self.duration_s);
            *out = (f64::from(*out) + sign * left) as f32;
        }
    }
}

/// Bounds of the offsets, at any time of the transition.
impl Inertialisation {
    /// The largest lengths of each joint's translation, rotation (in radians) and scale.
    pub(crate) fn reaches(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        self.joints.iter().map(|offset| {
            [0, 1, 2].map(|of| {
                let (along, across, value) = offset.parts(of);
                let along = most(value, along, self.duration_s);
                along.hypot(most(0.0, across.length(), self.duration_s))
            })
        })
    }

    /// The largest size of each morph weight's offset.
    pub(crate) fn weight_reaches(&self) -> impl Iterator<Item = f64> + '_ {
        self.weights.iter().map(|[value, velocity]| {
            let (value, velocity) = (f64::from(*value), f64::from(*velocity));
            let sign = if value < 0.0 { -1.0 } else { 1.0 };
            most(sign * value, sign * velocity, self.duration_s)
        })
    }
}

impl JointOffset {
    /// The parts of a vector's velocity along and across its value, and the length of the value.
    fn parts(&self, of: usize) -> (f64, DVec3, f64) {
        let (value, velocity) = (self.values[of].as_dvec3(), self.velocities[of].as_dvec3());
        let direction = value.normalize_or_zero();
        let along = velocity.dot(direction);
        (along, velocity - direction * along, value.length())
    }

    /// The offset of an old motion from a new one: the old one's transforms before the transition
    /// and at it, the new one's at it and after it.
    fn between(
        (before, old): (&Transform, &Transform),
        (new, after): (&Transform, &Transform),
        step_s: f64,
    ) -> Self {
        let vectors = |of: fn(&Transform) -> Vec3| {
            let [before, old, new, after] = [before, old, new, after].map(|at| of(at).as_dvec3());
            [old - new, (old - before) - (after - new)]
        };
        let [was, old_turn, new_turn, later] =
            [before, old, new, after].map(|at| at.rotation.as_dquat());
        let back = new_turn.conjugate();
        let mut turn = old_turn * back;
        if turn.w < 0.0 {
            turn = -turn;
        }
        // The rotation from which the new motion would have arrived with its velocity is
        // `new_turn * later⁻¹ * new_turn`. The offset from it has the same sign, so that a rotation
        // near half a turn does not jump.
        let mut turn_before = was * back * later * back;
        if turn_before.dot(turn) < 0.0 {
            turn_before = -turn_before;
        }
        let turned = axis_times_angle(turn);
        let pairs = [
            vectors(|joint| joint.translation),
            [turned, turned - axis_times_angle(turn_before)],
            vectors(|joint| joint.scale),
        ];
        let finite = |value: DVec3| {
            let value = value.as_vec3();
            if value.is_finite() { value } else { Vec3::ZERO }
        };
        Self {
            values: pairs.map(|[value, _]| finite(value)),
            velocities: pairs.map(|[_, change]| finite(change / step_s)),
        }
    }

    /// Adds what remains of the offset after `since_s` of `duration_s` seconds.
    fn add(&self, since_s: f64, duration_s: f64, joint: &mut Transform) {
        let [translation, rotation, scale] = [0, 1, 2].map(|of| {
            let (along, across, value) = self.parts(of);
            let direction = self.values[of].as_dvec3().normalize_or_zero();
            direction * decayed(value, along, since_s, duration_s)
                + across * decayed(0.0, 1.0, since_s, duration_s)
        });
        // An offset that grows first may leave the range of `f32`. The new motion is used then.
        let moved = |from: Vec3, by: DVec3| {
            let to = (from.as_dvec3() + by).as_vec3();
            if to.is_finite() { to } else { from }
        };
        joint.translation = moved(joint.translation, translation);
        joint.scale = moved(joint.scale, scale);
        if rotation != DVec3::ZERO {
            let turned = DQuat::from_scaled_axis(rotation) * joint.rotation.as_dquat();
            joint.rotation = turned.normalize().as_quat();
        }
    }
}

/// A rotation's axis times its angle, in 0..=2π, for a quaternion of any length.
fn axis_times_angle(q: DQuat) -> DVec3 {
    let sine = q.xyz().length();
    if sine > 0.0 {
        q.xyz() * (2.0 * sine.atan2(q.w) / sine)
    } else {
        DVec3::ZERO
    }
}

/// The remaining offset after `since_s` of `duration_s` seconds, by Bollo's polynomial.
///
/// The offset must not be negative.
fn decayed(value: f64, velocity: f64, since_s: f64, duration_s: f64) -> f64 {
    // An offset that moves towards 0 would overshoot it if the decay took longer.
    let end_s = if velocity < 0.0 {
        duration_s.min(-5.0 * value / velocity)
    } else {
        duration_s
    };
    if since_s >= end_s {
        return 0.0;
    }
    // Value, velocity and acceleration at the start, with time measured as a fraction of the whole.
    // With this acceleration, the third derivative at the end is 0 too. A negative acceleration
    // would make the offset overshoot.
    let (u, x, v) = (since_s / end_s, value, velocity * end_s);
    let a = (-8.0 * v - 20.0 * x).max(0.0);
    let fifth = -0.5 * (a + 6.0 * v + 12.0 * x);
    let fourth = 0.5 * (3.0 * a + 16.0 * v + 30.0 * x);
    let third = -0.5 * (3.0 * a + 12.0 * v + 20.0 * x);
    ((((fifth * u + fourth) * u + third) * u + 0.5 * a) * u + v) * u + x
}

/// The largest value of [`decayed`] at any time.
///
/// The polynomial lies in the hull of its Bézier control points. From its value and derivatives at
/// both ends, these are x, x + v/5, x + 2v/5 + a/20 and three zeros. The velocity v is per
/// duration. With an acceleration a above 0, the third is 0, too.
fn most(value: f64, velocity: f64, duration_s: f64) -> f64 {
    value + 0.4 * velocity.max(0.0) * duration_s
}
