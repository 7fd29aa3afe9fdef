//! The root motion of an actor: the movement over the ground that comes from its clips.

use crate::animator::library::Library;
use crate::animator::record::{PlayRecord, RecordSpan};
#[cfg(feature = "vulkan")]
use crate::error::expect_transform;
use crate::error::{Result, expect_all_finite, expect_finite};
use crate::id::Id;
use crate::motion::{LoopMode, RootTransform};
use glam::{Affine3A, DVec3, Vec3};

/// The use of the root motion of an actor's clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RootMotionMode {
    /// It is discarded: clips whose motion was extracted play on the spot.
    #[default]
    Ignore,
    /// It is summed up for [`Actor::root_delta`](crate::animator::Actor::root_delta).
    ///
    /// The caller moves the actor.
    Report,
    /// The same as `Report`. In addition, the actor's
    /// [`root_transform`](crate::animator::Actor::root_transform) moves with it, and so does the
    /// instance of a crowd.
    Apply,
}

/// The root motion of an actor that does not ignore it.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Root {
    pub(crate) mode: RootMotionMode,
    pub(crate) transform: RootTransform,
    /// Metres of the world per metre of the character.
    pub(crate) scale: f64,
    /// Scale and tilt of the world transform, which has position and heading besides.
    rest: Affine3A,
    /// The motion of the last update.
    pub(crate) delta: RootTransform,
}

impl Root {
    /// Root motion that starts at a world transform.
    pub(crate) fn new(mode: RootMotionMode, world: &Affine3A) -> Self {
        let mut root = Self {
            mode,
            transform: RootTransform::IDENTITY,
            scale: 1.0,
            rest: Affine3A::IDENTITY,
            delta: RootTransform::IDENTITY,
        };
        root.continue_at(world);
        root
    }

    /// Continues from a world transform.
    ///
    /// The position is its translation, and the heading is the angle of its z axis about +Y.
    pub(crate) fn continue_at(&mut self, world: &Affine3A) {
        let forward = world.matrix3.z_axis;
        self.transform = RootTransform {
            translation: Vec3::from(world.translation).as_dvec3(),
            yaw_rad: f64::from(forward.x).atan2(forward.z.into()),
        };
        let upright = self.transform.world_from_model(DVec3::ZERO, Vec3::ONE);
        self.rest = upright.inverse() * *world;
        self.scale = f64::from(self.rest.matrix3.determinant().abs().cbrt());
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self) -> Result<()> {
        expect_finite("scale of root motion", self.scale)?;
        for transform in [&self.transform, &self.delta] {
            expect_finite("yaw of root motion", transform.yaw_rad)?;
            let numbers = transform.translation.to_array();
            expect_all_finite("translation of root motion", numbers)?;
        }
        expect_all_finite("matrix of root motion", self.rest.to_cols_array())
    }

    /// Returns true if the last update did not move it.
    pub(crate) fn is_still(&self) -> bool {
        self.delta == RootTransform::IDENTITY
    }

    pub(crate) fn moved(&mut self, delta: RootTransform) {
        self.delta = delta;
        if self.mode == RootMotionMode::Apply {
            self.transform.advance(&delta, self.scale);
        }
    }

    /// The world transform that the last update moved it to, if it applies its motion.
    #[cfg(feature = "vulkan")]
    pub(crate) fn moved_to(&self) -> Option<Affine3A> {
        let moves = self.mode == RootMotionMode::Apply && !self.is_still();
        let world = || self.transform.world_from_model(DVec3::ZERO, Vec3::ONE) * self.rest;
        moves
            .then(world)
            .filter(|world| expect_transform("", world).is_ok())
    }
}

/// The velocity over the ground of the records that play at an actor's time, in metres of
/// character space per second of its time.
///
/// Each clip counts with its mean velocity, its speed and its weight, as in [`Step`].
pub(crate) fn ground_velocity(library: &Library, records: &[PlayRecord], local_s: f64) -> DVec3 {
    let (mut sum, mut weights) = (DVec3::ZERO, 0.0);
    for record in records.iter().filter(|record| moves_actor(library, record)) {
        let weight = f64::from(record.weight_at(local_s));
        let (duration_s, at_s) = (library.duration_s(record.clip), record.unwrapped_s(local_s));
        let speed = record.speed_at(local_s);
        let direction = match record.loop_mode() {
            _ if duration_s <= 0.0 => 0.0,
            LoopMode::Loop => 1.0,
            // At an end it stands, unless it is about to leave it.
            LoopMode::Once if speed > 0.0 && at_s >= duration_s => 0.0,
            LoopMode::Once if speed < 0.0 && at_s <= 0.0 => 0.0,
            LoopMode::Once if !(0.0..=duration_s).contains(&at_s) => 0.0,
            mode @ LoopMode::PingPong if mode.cycle_time_s(at_s, duration_s) > duration_s => -1.0,
            LoopMode::Once | LoopMode::PingPong => 1.0,
        };
        let velocity = library.set.of(Id::new(record.clip)).ground_velocity();
        sum += velocity * (weight * speed * direction);
        weights += weight;
    }
    sum / weights.max(1.0)
}

/// Returns true if the clip of a record moves the actor: only layer 0 does, and no difference.
fn moves_actor(library: &Library, record: &PlayRecord) -> bool {
    let clip = library.clips.get(usize::from(record.clip));
    let is_additive = clip.is_some_and(|clip| clip.is_additive());
    record.layer == 0 && !record.has(PlayRecord::FLAG_POSE) && !is_additive
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

    /// Adds the motion of a record over an interval.
    #[cfg(feature = "vulkan")]
    pub(crate) fn pass(&mut self, library: &Library, span: &RecordSpan) {
        let mut from_s = span.from_s;
        for to_s in span.turn_s().into_iter().chain([span.to_s]) {
            let part = RecordSpan {
                from_s,
                to_s,
                ..*span
            };
            let spans = [from_s, to_s].map(|time_s| span.record.unwrapped_s(time_s));
            self.add(library, &part, spans);
            from_s = to_s;
        }
    }

    pub(crate) fn add(&mut self, library: &Library, span: &RecordSpan, [from, to]: [f64; 2]) {
        let record = &span.record;
        let span_s = span.to_s - span.from_s;
        if span_s <= 0.0 || !moves_actor(library, record) {
            return;
        }
        // Simpson's rule, which is exact for the curves that weights follow.
        let at = |time_s| f64::from(record.weight_at(time_s));
        let middle_s = span.from_s + 0.5 * span_s;
        let weight = (at(span.from_s) + 4.0 * at(middle_s) + at(span.to_s)) / 6.0;
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
