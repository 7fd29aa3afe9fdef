//! Root motion: the way that a clip's character goes, taken out of the clip and given to the

use super::curve::Curve;
use super::delta::RootDelta;
use super::extract::RootMotionReport;
use crate::clip::CurveClip;
use crate::ids::JointId;
use crate::motion::loop_mode::{LoopMode, fold, has_passes};

/// The way that the root of a clip goes: a motion of the character over the ground for each time of
/// the clip.
///
/// At every time of the clip, `motion × pose of the clip that stays = pose of the clip as it was`,
/// in character space, for the joint that the motion was taken from and all joints below it. Joints
/// that are not below it keep their tracks, and now move with the instance.
///
/// ```
/// use throng::motion::{RootMotion, RootMotionOptions, RootPlace, LoopMode};
///
/// let options = throng::import::ImportOptions::curves_only();
/// let mannequin = throng::builtin::mannequin_with(&options)?.character;
/// let walk = &mannequin.curves()[mannequin.clip("Walk")?.index()];
/// let (stays, motion) = RootMotion::extract(&mannequin, walk, &RootMotionOptions::default())?;
///
/// // In each frame, and with any step: the same way.
/// let mut place = RootPlace::default();
/// place.advance(&motion.delta(0.0, 1.0 / 60.0, LoopMode::Loop), 1.0);
/// place.advance(&motion.delta(1.0 / 60.0, 86_400.0, LoopMode::Loop), 1.0);
/// assert_eq!(stays.duration_s(), walk.duration_s());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RootMotion {
    pub(crate) joint: Option<JointId>,
    pub(crate) duration_s: f64,
    pub(super) curve: Curve,
    /// A pass: from the motion at time 0 to that at the duration.
    pub(crate) pass: RootDelta,
    pub(crate) report: RootMotionReport,
}

impl RootMotion {
    pub(super) fn new(
        clip: &CurveClip,
        joint: Option<JointId>,
        curve: Curve,
        report: RootMotionReport,
    ) -> Self {
        let duration_s = f64::from(clip.duration_s());
        // In the frame of the motion's zero, not of its start: then passes go before the motion in
        // one.
        let pass = curve.at(duration_s).then(&curve.at(0.0).inverse());
        Self {
            joint,
            duration_s,
            curve,
            pass,
            report,
        }
    }

    /// The joint that it was taken from; none where nothing moves.
    #[must_use]
    pub fn joint(&self) -> Option<JointId> {
        self.joint
    }

    /// How it was taken out.
    #[must_use]
    pub fn report(&self) -> &RootMotionReport {
        &self.report
    }

    /// The clip's duration in seconds.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// Whether there is no motion at all.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.curve.times_s.is_empty()
    }

    /// The motion from the reference to the clip's own time, clamped to the clip: what the pose of
    /// the clip that stays is multiplied with to be the pose that was. Not a number counts as 0.
    #[must_use]
    pub fn at(&self, time_s: f64) -> RootDelta {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        self.curve.at(time_s)
    }

    /// The motion of one pass, in the frame of the clip's start.
    #[must_use]
    pub fn pass(&self) -> RootDelta {
        self.delta(0.0, self.duration_s, LoopMode::Once)
    }

    /// How the character moves while the clip goes from one unwrapped time to another (see
    /// [`LoopMode`]), in the frame that it has at the start. Backward where `to_s` is less; over
    /// any number of passes at the same cost, in closed form ([`RootDelta::repeated`]).
    ///
    /// `delta(a, c)` is `delta(a, b).then(&delta(b, c))` but for the rounding of `f64`, which for a
    /// yaw of `ψ` and a way of `l` metres is less than 2e-15 · (ψ + 10) · (l + 10) m: one step over
    /// 30 days is the sum of any smaller ones. No motion where a time is not a number; times beyond
    /// 2⁴⁸ passes count as that.
    #[must_use]
    pub fn delta(&self, from_s: f64, to_s: f64, loop_mode: LoopMode) -> RootDelta {
        let unmoved = from_s == to_s || from_s.is_nan() || to_s.is_nan();
        if unmoved || self.is_still() || !has_passes(self.duration_s) {
            return RootDelta::IDENTITY;
        }
        if loop_mode == LoopMode::Loop {
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
