//! Inertialised transitions: the pose of the new motion plus a decaying offset from the old one.
//!
//! After D. Bollo, Inertialization: High-Performance Animation Transitions in Gears of War, GDC
//! 2018. At the transition, the offset between the motions and the velocity of the offset are
//! recorded. From then on only the new motion is evaluated. The offset decays by a polynomial of
//! fifth degree, which starts with that value and velocity, and ends with a value, velocity and
//! acceleration of 0.

use crate::clone::clone_fields;
use crate::error::{Error, Result, expect_finite, expect_in, expect_len};
use crate::skeleton::Transform;
use glam::{DQuat, DVec3, Vec3};

/// A motion at a moment: its local poses a little earlier and now, one transform per joint.
#[derive(Debug, Clone, Copy)]
pub struct Moving<'a> {
    /// The pose at the time of the previous frame.
    ///
    /// Use the same pose as `now` if the motion stands still or its velocity does not matter.
    pub earlier: &'a [Transform],
    /// The pose at the time of the transition.
    pub now: &'a [Transform],
}

/// A transition between two motions that evaluates only the new one.
///
/// The old motion survives as an offset, which is closed-form in time. This works for poses on the
/// CPU only.
///
/// At the start of the transition, the pose and its velocity are those of the old motion. After its
/// duration, the pose is exactly that of the new motion. An offset that already moves towards zero
/// gets there within five times its value divided by its speed at most, and does not overshoot.
///
/// Translation, scale and rotation are one vector each, whose length decays. The rotation vector is
/// axis times angle, the shortest one, in the parent's space. Bollo ignores the velocity
/// perpendicular to the offset. Here it decays in the same way, from a value of 0, so that the
/// whole velocity continues.
///
/// ```
/// use throng::skeleton::Transform;
/// use throng::glam::Vec3;
/// use throng::motion::{Inertia, Moving};
///
/// let at = |x| [Transform { translation: Vec3::X * x, ..Transform::IDENTITY }];
/// let (old, new) = (at(1.0), at(5.0));
/// let mut inertia = Inertia::new();
/// // At 10 s. Both motions stand still.
/// let standing = |pose| Moving { earlier: pose, now: pose };
/// inertia.begin(&standing(&old), &standing(&new), 1.0 / 60.0, 10.0, 0.5)?;
///
/// for (now_s, want) in [(10.0, 1.0), (10.25, 3.0), (10.5, 5.0)] {
///     let mut pose = new;
///     inertia.apply(now_s, &mut pose)?;
///     assert_eq!(pose, at(want));
/// }
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Inertia {
    start_s: f64,
    duration_s: f64,
    offsets: Vec<Offset>,
}

clone_fields! {
    Inertia { start_s, duration_s, offsets }
}

/// A joint's offset at the transition, and its change per second.
///
/// The three vectors are translation, rotation (axis times angle) and scale.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Offset {
    values: [Vec3; 3],
    velocities: [Vec3; 3],
}

impl Inertia {
    /// The longest duration of a transition, in seconds.
    pub const MAX_DURATION_S: f64 = 3600.0;

    /// Creates an instance without a transition.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an instance without a transition, with memory reserved for this many joints.
    #[must_use]
    pub(crate) fn with_capacity(joints: usize) -> Self {
        Self {
            offsets: Vec::with_capacity(joints),
            ..Self::default()
        }
    }

    /// Starts a transition at `now_s` that lasts `duration_s`. Usual durations are 0.2 to 0.5 s.
    ///
    /// `dt_s` is the time between the earlier pose and the present pose of each motion. The old
    /// motion is the pose that was shown: if a transition was in progress, it must be included.
    ///
    /// If `dt_s` is not positive and finite, the velocity is 0. If the duration is not positive or
    /// NaN, there is no transition. Components of a pose that are not finite have no offset.
    ///
    /// # Errors
    /// [`Error::Argument`] for poses of different lengths, and for a duration above
    /// [`Self::MAX_DURATION_S`]. The previous transition then continues.
    pub fn begin(
        &mut self,
        old: &Moving<'_>,
        new: &Moving<'_>,
        dt_s: f64,
        now_s: f64,
        duration_s: f64,
    ) -> Result<()> {
        let joints = new.now.len();
        expect_len("earlier pose of the new motion", new.earlier.len(), joints)?;
        expect_len("pose of the old motion", old.now.len(), joints)?;
        expect_len("earlier pose of the old motion", old.earlier.len(), joints)?;
        let most = Self::MAX_DURATION_S;
        if duration_s > most {
            let what = "Inertia::begin: duration_s";
            return Err(Error::out_of_range(what, duration_s, 0.0, most));
        }
        self.start_s = now_s;
        // `max` returns the other number for NaN.
        self.duration_s = duration_s.max(0.0);
        self.offsets.clear();
        let now = old.now.iter().zip(new.now);
        let earlier = old.earlier.iter().zip(new.earlier);
        let offsets = now
            .zip(earlier)
            .map(|((old, new), (old_before, new_before))| {
                Offset::between([old_before, old], [new_before, new], dt_s)
            });
        self.offsets.extend(offsets);
        Ok(())
    }

    /// Ends the transition, and keeps the memory.
    pub fn clear(&mut self) {
        self.offsets.clear();
        self.duration_s = 0.0;
    }

    /// Returns true if no offset is left at `now_s`.
    #[must_use]
    pub fn is_over(&self, now_s: f64) -> bool {
        let since = now_s - self.start_s;
        self.offsets.is_empty() || since >= self.duration_s
    }

    /// Adds the remaining offset to the new motion's local pose.
    ///
    /// The pose and the offset are those at `now_s`. Before the start of the transition, the whole
    /// offset is added. A time that is not a number counts as the start.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if a transition is in progress and
    /// `local` does not have one element per joint.
    pub fn apply(&self, now_s: f64, local: &mut [Transform]) -> Result<()> {
        if self.is_over(now_s) {
            return Ok(());
        }
        expect_len("local pose", local.len(), self.offsets.len())?;
        // `max` instead of `clamp`, so that a time that is not a number becomes 0.
        let since = (now_s - self.start_s).max(0.0);
        for (joint, offset) in local.iter_mut().zip(&self.offsets) {
            offset.add(since, self.duration_s, joint);
        }
        Ok(())
    }

    /// Checks data that was saved for a skeleton of this many joints.
    pub(crate) fn check(&self, joints: usize) -> Result<()> {
        expect_in(
            "Inertia::duration_s",
            self.duration_s,
            0.0,
            Self::MAX_DURATION_S,
        )?;
        if !self.offsets.is_empty() {
            expect_len("inertialised joints", self.offsets.len(), joints)?;
        }
        let offsets = self
            .offsets
            .iter()
            .flat_map(|of| [of.values, of.velocities]);
        let mut numbers = offsets.flatten().flat_map(|vector| vector.to_array());
        numbers.try_for_each(|number| expect_finite("inertialised offset", number))
    }

    /// [`Self::apply`] for a single joint.
    pub(crate) fn apply_joint(&self, now_s: f64, joint: usize, local: &mut Transform) {
        let offset = self.offsets.get(joint);
        if let Some(offset) = offset.filter(|_| !self.is_over(now_s)) {
            offset.add((now_s - self.start_s).max(0.0), self.duration_s, local);
        }
    }
}

impl Offset {
    /// The offset of an old motion from a new one, each given as earlier and present transform.
    fn between(old: [&Transform; 2], new: [&Transform; 2], dt_s: f64) -> Self {
        let apart = |of: fn(&Transform) -> Vec3| {
            [0, 1].map(|at| of(old[at]).as_dvec3() - of(new[at]).as_dvec3())
        };
        let [before, mut now] =
            [0, 1].map(|at| old[at].rotation.as_dquat() * new[at].rotation.as_dquat().conjugate());
        if now.w < 0.0 {
            now = -now;
        }
        // Choose the same sign, so that a rotation near half a turn does not jump.
        let before = if before.dot(now) < 0.0 {
            -before
        } else {
            before
        };
        let pairs = [
            apart(|joint| joint.translation),
            [before, now].map(axis_times_angle),
            apart(|joint| joint.scale),
        ];
        let finite = |value: DVec3| {
            let value = value.as_vec3();
            if value.is_finite() { value } else { Vec3::ZERO }
        };
        let moves = dt_s > 0.0 && dt_s.is_finite();
        Self {
            values: pairs.map(|[_, now]| finite(now)),
            velocities: pairs.map(|[before, now]| {
                let known = moves && now.as_vec3().is_finite();
                finite(if known {
                    (now - before) / dt_s
                } else {
                    DVec3::ZERO
                })
            }),
        }
    }

    fn add(&self, since: f64, duration: f64, joint: &mut Transform) {
        let [translation, rotation, scale] = self.at(since, duration);
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

    fn at(&self, since: f64, duration: f64) -> [DVec3; 3] {
        [0, 1, 2].map(|of| {
            let (value, velocity) = (self.values[of].as_dvec3(), self.velocities[of].as_dvec3());
            let length = value.length();
            let along = if length > 0.0 {
                value / length
            } else {
                DVec3::ZERO
            };
            let inwards = velocity.dot(along);
            let across = velocity - along * inwards;
            along * decayed(length, inwards, since, duration)
                + across * decayed(0.0, 1.0, since, duration)
        })
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

/// The remaining offset of a number after `since` of `duration` seconds.
pub(crate) fn decayed_by(value: f64, velocity: f64, since: f64, duration: f64) -> f64 {
    if value < 0.0 {
        -decayed(-value, -velocity, since, duration)
    } else {
        decayed(value, velocity, since, duration)
    }
}

/// The remaining offset after `since` of `duration` seconds, by Bollo's polynomial.
///
/// The offset must not be negative.
fn decayed(value: f64, velocity: f64, since: f64, duration: f64) -> f64 {
    // An offset that moves towards 0 would overshoot it if the decay took longer.
    let end = if velocity < 0.0 {
        duration.min(-5.0 * value / velocity)
    } else {
        duration
    };
    if since >= end {
        return 0.0;
    }
    // Value, velocity and acceleration at the start, with time measured as a fraction of the whole.
    // With this acceleration, the third derivative at the end is 0 too. A negative acceleration
    // would make the offset overshoot.
    let (u, x, v) = (since / end, value, velocity * end);
    let a = (-8.0 * v - 20.0 * x).max(0.0);
    let fifth = -0.5 * (a + 6.0 * v + 12.0 * x);
    let fourth = 0.5 * (3.0 * a + 16.0 * v + 30.0 * x);
    let third = -0.5 * (3.0 * a + 12.0 * v + 20.0 * x);
    ((((fifth * u + fourth) * u + third) * u + 0.5 * a) * u + v) * u + x
}
