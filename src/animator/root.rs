//! The root motion of an actor: its state, and the sum of its clips' motion in one update.

use super::library::Library;
use super::passing::Passing;
use crate::motion::RootTransform;
use glam::DVec3;

/// The use of the root motion of an actor's clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RootMotionMode {
    /// It is discarded: clips whose motion was extracted play on the spot.
    #[default]
    Ignore,
    /// It is summed up for [`Animator::root_delta`](super::instances::Animator::root_delta).
    ///
    /// The caller moves the actor.
    Report,
    /// The same as `Report`. In addition, the actor's [`place`](super::instances::Animator::place)
    /// moves with it.
    Apply,
}

/// The root motion state of an actor, with its place in the world.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    pub(crate) mode: RootMotionMode,
    pub(crate) place: RootTransform,
    /// Metres of the world per metre of the character.
    pub(crate) scale: f64,
    /// The motion of the last update.
    pub(crate) delta: RootTransform,
}

/// The root motion of an actor in one update: the weighted sum of its clips' motion.
///
/// Only layer 0 moves the actor; layers above only change its pose. If the weights sum to less than
/// 1, the rest counts as standing still.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Step {
    translation: DVec3,
    yaw_rad: f64,
    weight: f64,
    /// Duration of the update, in the actor's time.
    span_s: f64,
}

impl Step {
    pub(crate) fn new(span_s: f64) -> Self {
        Self {
            span_s,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, library: &Library, passing: &Passing, [from, to]: [f64; 2]) {
        let record = &passing.record;
        let span_s = passing.to_s - passing.from_s;
        if record.layer > 0 || span_s <= 0.0 {
            return;
        }
        let additive = library.clips.get(usize::from(record.clip));
        if additive.is_some_and(|clip| clip.is_additive()) {
            return;
        }
        // Simpson's rule, which is exact for the curves that weights follow.
        let at = |time_s| f64::from(record.weight_at(time_s));
        let middle_s = passing.from_s + 0.5 * span_s;
        let weight = (at(passing.from_s) + 4.0 * at(middle_s) + at(passing.to_s)) / 6.0;
        self.weight += weight * (span_s / self.span_s).min(1.0);
        if let Some(motion) = library.motion(record.clip) {
            let delta = motion.delta(from, to, record.loop_mode());
            self.translation += delta.translation * weight;
            self.yaw_rad += delta.yaw_rad * weight;
        }
    }

    pub(crate) fn delta(&self) -> RootTransform {
        let by = 1.0 / self.weight.max(1.0);
        RootTransform {
            translation: self.translation * by,
            yaw_rad: self.yaw_rad * by,
        }
    }
}

impl Root {
    /// Returns true if the last update did not move it.
    pub(crate) fn is_still(&self) -> bool {
        self.delta == RootTransform::IDENTITY
    }

    pub(crate) fn moved(&mut self, delta: RootTransform) {
        self.delta = delta;
        if self.mode == RootMotionMode::Apply {
            self.place.advance(&delta, self.scale);
        }
    }
}
