//! The root motion of a clip, as a track of position and yaw.

use super::root_transform::RootTransform;
use crate::bytes::{Reader, Save, invalid, save_structs};
use crate::clip::{CurveClip, Interpolation};
use crate::error::Result;
use crate::id::Id;
use crate::motion::playback::{LoopMode, fold, has_passes, within};
use crate::skeleton::Joint;
use glam::{DVec3, DVec4};

/// The movement over the ground that was extracted from a clip.
///
/// At every time of the clip, `motion × pose of the clip in place = pose of the original clip`, in
/// character space. This holds for the joint that the motion was extracted from and all joints
/// below it. Other joints keep their tracks, and now move with the instance.
///
/// The motion of a [gait](crate::character::AnimationDesc::gait_motion) is a constant velocity. It
/// was not extracted, so the clip in place is the original.
///
/// ```
/// use throng::character::{AnimationDesc, ClipDesc, RootMotionDesc};
/// use throng::import::{ImportOptions, RawCharacter};
/// use throng::motion::{LoopMode, RootTransform};
///
/// let walk = ClipDesc {
///     name: "Walk".into(),
///     root_motion: Some(RootMotionDesc::default()),
///     ..ClipDesc::default()
/// };
/// let animation = AnimationDesc { clips: vec![walk], ..AnimationDesc::default() };
/// let options = ImportOptions { animation: Some(animation), ..ImportOptions::default() };
/// let mannequin = RawCharacter::mannequin().build(&options)?.character;
/// let walk = mannequin.clip("Walk")?;
/// let motion = mannequin.root_motion(walk).expect("it was asked for");
///
/// // In each frame, with steps of any size, the character moves along the same path.
/// let mut root = RootTransform::default();
/// root.advance(&motion.delta(0.0, 1.0 / 60.0, LoopMode::Loop), 1.0);
/// root.advance(&motion.delta(1.0 / 60.0, 86_400.0, LoopMode::Loop), 1.0);
/// assert_eq!(motion.duration_s(), mannequin.clips()[walk.index()].duration_s());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RootMotion {
    pub(crate) joint: Option<Id<Joint>>,
    pub(crate) duration_s: f64,
    pub(super) curve: Curve,
    /// The motion of one cycle, in the frame of the motion's zero.
    pub(crate) pass: RootTransform,
}

impl RootMotion {
    pub(super) fn new(clip: &CurveClip, joint: Option<Id<Joint>>, curve: Curve) -> Self {
        let duration_s = f64::from(clip.duration_s());
        // In the frame of the motion's zero, not of its start. So `n` cycles can be put in front of
        // the motion as a single factor.
        let pass = curve.at(duration_s).then(&curve.at(0.0).inverse());
        Self {
            joint,
            duration_s,
            curve,
            pass,
        }
    }

    /// A constant velocity in metres per second, for a clip that stays in place.
    pub(crate) fn steady(duration_s: f64, velocity: DVec3) -> Self {
        let ends_s = [0.0, duration_s as f32];
        let curve = Curve {
            times_s: ends_s.to_vec(),
            values: ends_s
                .map(|s| (velocity * f64::from(s)).extend(0.0))
                .to_vec(),
            interpolation: Interpolation::Linear,
        };
        Self {
            joint: None,
            duration_s,
            pass: curve.at(duration_s),
            curve,
        }
    }

    /// Returns true if it is the motion of a gait, and not extracted from a joint.
    pub(crate) fn is_of_gait(&self) -> bool {
        self.joint.is_none() && !self.is_still()
    }

    /// The joint that it was extracted from. `None` if nothing moves, and for the motion of a gait.
    #[must_use]
    pub fn joint(&self) -> Option<Id<Joint>> {
        self.joint
    }

    /// The clip's duration in seconds.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// Returns true if there is no motion.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.curve.times_s.is_empty()
    }

    /// The motion from the reference to the clip's own time.
    ///
    /// The time is clamped to the clip. This motion times the pose of the clip in place gives the
    /// original pose. NaN counts as 0.
    #[must_use]
    pub fn at(&self, time_s: f64) -> RootTransform {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        self.curve.at(time_s)
    }

    /// The motion of one cycle, in the frame of the clip's start.
    #[must_use]
    pub fn pass(&self) -> RootTransform {
        self.delta(0.0, self.duration_s, LoopMode::Once)
    }

    /// The movement while the clip goes between two unwrapped times.
    ///
    /// See [`LoopMode`] for unwrapped time. The movement is relative to the frame of the character
    /// at the start, and goes backward if `to_s` is less. The cost does not depend on the number of
    /// cycles: see [`RootTransform::repeated`].
    ///
    /// `delta(a, c)` equals `delta(a, b).then(&delta(b, c))`, except for the rounding of `f64`. For
    /// a yaw of `ψ` and a path of `l` metres, that is less than 2e-15 · (ψ + 10) · (l + 10) m: one
    /// step over 30 days is the sum of any smaller ones.
    ///
    /// There is no motion if a time is not a number. Times beyond 2⁴⁸ cycles are clamped to that.
    #[must_use]
    pub fn delta(&self, from_s: f64, to_s: f64, loop_mode: LoopMode) -> RootTransform {
        let unmoved = from_s == to_s || from_s.is_nan() || to_s.is_nan();
        if unmoved || self.is_still() || !has_passes(self.duration_s) {
            return RootTransform::IDENTITY;
        }
        if loop_mode == LoopMode::Loop {
            if self.is_of_gait() {
                // Every cycle goes as far in as long, so none of them have to be found.
                let [from_s, to_s] = [from_s, to_s].map(|s| within(s, self.duration_s));
                return RootTransform {
                    translation: self.pass.translation * ((to_s - from_s) / self.duration_s),
                    yaw_rad: 0.0,
                };
            }
            let (from_pass, from_s) = fold(from_s, self.duration_s);
            let (to_pass, to_s) = fold(to_s, self.duration_s);
            let (from, to) = (self.curve.at(from_s), self.curve.at(to_s));
            let passes = to_pass - from_pass;
            if passes == 0.0 {
                return from.inverse().then(&to);
            }
            return from.inverse().then(&self.pass.repeated(passes)).then(&to);
        }
        let at = |time_s| {
            self.curve
                .at(loop_mode.clip_time_s(time_s, self.duration_s))
        };
        at(from_s).inverse().then(&at(to_s))
    }
}

/// Keys of the motion: x, y, z in metres and unwrapped yaw in radians.
///
/// They are `f64`, because the error of a key recurs with every cycle.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    /// Times in seconds, strictly increasing. Empty if there is no motion.
    pub(super) times_s: Vec<f32>,
    /// One value per key, or three under [`Interpolation::CubicSpline`].
    pub(super) values: Vec<DVec4>,
    pub(super) interpolation: Interpolation,
}

impl Curve {
    pub(super) const STILL: Self = Self {
        times_s: Vec::new(),
        values: Vec::new(),
        interpolation: Interpolation::Step,
    };

    pub(super) fn at(&self, time_s: f64) -> RootTransform {
        motion(self.value(time_s))
    }

    fn value(&self, time_s: f64) -> DVec4 {
        let (times, values) = (&self.times_s, &self.values);
        let cubic = self.interpolation == Interpolation::CubicSpline;
        let key = |key: usize| {
            let at = if cubic { key * 3 + 1 } else { key };
            values.get(at).copied().unwrap_or(DVec4::ZERO)
        };
        let after = times.partition_point(|key| f64::from(*key) <= time_s);
        let Some(from) = after.checked_sub(1) else {
            return key(0);
        };
        if after == times.len() || self.interpolation == Interpolation::Step {
            return key(from);
        }
        let start_s = f64::from(times[from]);
        let length_s = f64::from(times[after]) - start_s;
        let u = (time_s - start_s) / length_s;
        if !cubic {
            return key(from) + (key(after) - key(from)) * u;
        }
        let (u2, u3) = (u * u, u * u * u);
        let (leave, arrive) = (values[from * 3 + 2], values[after * 3]);
        key(from) * (2.0 * u3 - 3.0 * u2 + 1.0)
            + leave * (length_s * (u3 - 2.0 * u2 + u))
            + key(after) * (3.0 * u2 - 2.0 * u3)
            + arrive * (length_s * (u3 - u2))
    }
}

pub(super) fn motion(value: DVec4) -> RootTransform {
    RootTransform {
        translation: DVec3::new(value.x, value.y, value.z),
        yaw_rad: value.w,
    }
}

save_structs! {
    RootTransform { translation, yaw_rad }
    Curve { times_s, values, interpolation }
}

impl Save for DVec4 {
    fn save(&self, to: &mut Vec<u8>) {
        self.to_array().save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self::from_array(Save::load(from)?))
    }
}

impl Save for RootMotion {
    fn save(&self, to: &mut Vec<u8>) {
        self.joint.save(to);
        self.duration_s.save(to);
        self.curve.save(to);
        self.pass.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let motion = Self {
            joint: Save::load(from)?,
            duration_s: Save::load(from)?,
            curve: Save::load(from)?,
            pass: Save::load(from)?,
        };
        if motion.is_sound() {
            Ok(motion)
        } else {
            Err(invalid("root motion", "has invalid keys"))
        }
    }
}

impl RootMotion {
    /// Returns true if its keys are valid, as an extraction leaves them.
    fn is_sound(&self) -> bool {
        let Curve {
            times_s, values, ..
        } = &self.curve;
        let a_key = match self.curve.interpolation {
            Interpolation::CubicSpline => 3,
            Interpolation::Step | Interpolation::Linear => 1,
        };
        let pass = self.pass.translation.is_finite() && self.pass.yaw_rad.is_finite();
        (0.0..=f64::from(f32::MAX)).contains(&self.duration_s)
            && pass
            && values.len() == times_s.len().saturating_mul(a_key)
            && values.iter().all(|value| value.is_finite())
            && times_s.iter().all(|time_s| time_s.is_finite())
            && times_s.windows(2).all(|pair| pair[0] < pair[1])
    }
}
