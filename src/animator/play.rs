//! Play requests: the clip or blend space to play, and its settings.

use super::name_or_id::NameOrId;
use crate::character::BlendAt;
use crate::clip::Clip;
use crate::id::Id;
use crate::motion::{BlendSpace, Ease, LoopMode};
use crate::skeleton::Mask;
use glam::Vec2;

/// A request to play a clip or a blend space.
///
/// It replaces whatever its layer plays.
///
/// ```
/// use throng::animator::Play;
///
/// // Cross-fade to the walk in a quarter of a second.
/// let walk = Play::new("Walk").fade_s(0.25);
/// // Run, in step with the walk that it replaces.
/// let run = Play::new("Run").fade_s(0.4).synced();
/// // Wave once, only above the hips, on top of whatever the legs do.
/// let wave = Play::new("Wave").layer(1).mask("upper body").once().fade_s(0.2);
/// // Play a blend space of the asset, at a movement speed of 1.8.
/// let go = Play::blend_space("locomotion").at(1.8).fade_s(0.3);
/// # let _ = (walk, run, wave, go);
/// ```
#[doc(alias = "crossfade")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Play<'a> {
    /// The clip to play. `None` for a blend space or the rest pose.
    pub clip: Option<NameOrId<'a, Id<Clip>>>,
    /// The blend space to play. `None` for a single clip or the rest pose.
    pub blend_space: Option<NameOrId<'a, Id<BlendSpace>>>,
    /// The position in a blend space. `None` is its origin. Must be `None` for a single clip.
    pub at: Option<BlendAt>,
    /// Duration of the fade from what the layer plays now, in seconds. 0 cuts.
    pub fade_s: f32,
    /// The curve of the fade.
    pub ease: Ease,
    /// Duration of an inertialised transition, in seconds. 0 means none.
    ///
    /// It replaces the fade: see [`Self::inertial_s`].
    pub inertial_s: f32,
    /// The layer to play on.
    ///
    /// Each layer is applied over the one below, layer 0 over the rest pose.
    pub layer: u8,
    /// The joints that it affects. `None` affects all joints.
    pub mask: Option<NameOrId<'a, Id<Mask>>>,
    /// Its weight after the fade. A weight of 1 hides the layers below.
    pub weight: f32,
    /// The actor's time at which the clip is at `offset_s`, in seconds. `None` means now.
    pub start_s: Option<f64>,
    /// The clip time at which it starts, in seconds.
    ///
    /// To play a clip backwards once, set this to the clip's duration. For a blend space, these are
    /// seconds of the blended cycle at the chosen position.
    pub offset_s: f64,
    /// Clip seconds per second. Negative plays backwards, 0 holds the pose.
    ///
    /// For a blend space, these are seconds of the blended cycle. The duration of that cycle is the
    /// weighted mean of the durations of its clips.
    pub speed: f64,
    /// The behaviour past the end of the clip.
    pub loop_mode: LoopMode,
    /// Synchronises the clip with what the layer already plays.
    ///
    /// The new clip takes over the phase, and both clips advance at one rate during the fade, so
    /// that feet do not slide. Only looping clips can keep step.
    pub synced: bool,
}

impl<'a> Play<'a> {
    /// The rest pose.
    pub const REST: Self = Self {
        clip: None,
        blend_space: None,
        at: None,
        fade_s: 0.0,
        ease: Ease::Smooth,
        inertial_s: 0.0,
        layer: 0,
        mask: None,
        weight: 1.0,
        start_s: None,
        offset_s: 0.0,
        speed: 1.0,
        loop_mode: LoopMode::Loop,
        synced: false,
    };

    /// Plays a clip by name or id: looping, at normal speed, without a fade.
    #[must_use]
    pub fn new(clip: impl Into<NameOrId<'a, Id<Clip>>>) -> Self {
        Self {
            clip: Some(clip.into()),
            ..Self::REST
        }
    }

    /// Plays a blend space by name or id: looping, at normal speed, without a fade.
    ///
    /// All its clips play at one phase. [`Self::at`] sets the position in the blend space, and
    /// [`Actor::set_blend_position`](super::Actor::set_blend_position) moves it later.
    #[doc(alias = "blend tree")]
    #[must_use]
    pub fn blend_space(space: impl Into<NameOrId<'a, Id<BlendSpace>>>) -> Self {
        Self {
            blend_space: Some(space.into()),
            ..Self::REST
        }
    }

    /// Sets the position in a blend space.
    ///
    /// Give one number or two: as many as the blend space has coordinates.
    #[must_use]
    pub fn at(self, at: impl Into<BlendAt>) -> Self {
        let at = Some(at.into());
        Self { at, ..self }
    }

    /// Fades in over this many seconds.
    #[doc(alias = "crossfade")]
    #[must_use]
    pub const fn fade_s(self, fade_s: f32) -> Self {
        Self { fade_s, ..self }
    }

    /// Starts an inertialised transition of this many seconds, instead of a fade.
    ///
    /// At the start, the new pose and velocity differ from the old ones. This difference decays
    /// within the given time; 0.2 to 0.5 s is usual. Unlike in a fade, only the new motion is
    /// evaluated during that time.
    ///
    /// - The transition applies to the whole pose, including morph weights, on whatever layer it
    ///   starts. It is applied before inverse kinematics, which works on the result.
    /// - A transition during another one takes over the remaining difference of that one.
    /// - After the given time, the pose is bit for bit the pose of what plays.
    /// - Velocities are measured over 2 ms around the start, from what plays and not from the
    ///   frames shown. A pose set by the caller counts as standing still.
    /// - Root motion and events switch at once.
    ///
    /// The call evaluates the actor's pose four times. The first such call for an actor allocates.
    #[doc(alias = "inertialization")]
    #[must_use]
    pub const fn inertial_s(self, inertial_s: f32) -> Self {
        Self { inertial_s, ..self }
    }

    /// Sets the curve of the fade.
    #[must_use]
    pub const fn ease(self, ease: Ease) -> Self {
        Self { ease, ..self }
    }

    /// Sets the layer to play on.
    #[must_use]
    pub const fn layer(self, layer: u8) -> Self {
        Self { layer, ..self }
    }

    /// Restricts it to the joints of a mask, by name or id.
    #[must_use]
    pub fn mask(self, mask: impl Into<NameOrId<'a, Id<Mask>>>) -> Self {
        Self {
            mask: Some(mask.into()),
            ..self
        }
    }

    /// Sets its weight after the fade.
    #[must_use]
    pub const fn weight(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Sets the actor's time at which it starts, in seconds. It may lie in the past or the future.
    #[must_use]
    pub const fn start_s(self, start_s: f64) -> Self {
        Self {
            start_s: Some(start_s),
            ..self
        }
    }

    /// Starts at this clip time, in seconds.
    #[must_use]
    pub const fn offset_s(self, offset_s: f64) -> Self {
        Self { offset_s, ..self }
    }

    /// Sets the speed, in clip seconds per second.
    #[must_use]
    pub const fn speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// Sets the behaviour past the end of the clip.
    #[must_use]
    pub const fn loop_mode(self, loop_mode: LoopMode) -> Self {
        Self { loop_mode, ..self }
    }

    /// Plays it once and holds the last pose.
    #[must_use]
    pub const fn once(self) -> Self {
        self.loop_mode(LoopMode::Once)
    }

    /// Synchronises it with what the layer already plays. See the field `synced`.
    #[must_use]
    pub const fn synced(self) -> Self {
        Self {
            synced: true,
            ..self
        }
    }
}

impl Default for Play<'_> {
    fn default() -> Self {
        Self::REST
    }
}

impl<'a, C: Into<NameOrId<'a, Id<Clip>>>> From<C> for Play<'a> {
    fn from(clip: C) -> Self {
        Self::new(clip)
    }
}

/// A clip that plays on an actor.
///
/// [`Actor::playing`](super::Actor::playing) lists them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playing {
    /// The clip. `None` for a pose set by the caller.
    pub clip: Option<Id<Clip>>,
    /// The blend space that plays it.
    ///
    /// `None` for a single clip, and for anything that a state machine plays.
    pub blend_space: Option<Id<BlendSpace>>,
    /// The layer that it plays on.
    pub layer: u8,
    /// The joints that it affects. `None` affects all joints.
    pub mask: Option<Id<Mask>>,
    /// The clip's own time, in seconds.
    pub time_s: f64,
    /// Clip seconds per second.
    pub speed: f64,
    /// The current weight.
    pub weight: f32,
    /// The weight at the end of its fade: 0 while it fades out.
    pub to_weight: f32,
    /// The behaviour past the end of the clip.
    pub loop_mode: LoopMode,
    /// True if it is synchronised with other clips of its layer.
    pub synced: bool,
    /// True if the actor's state machine plays it.
    pub by_state_machine: bool,
}

/// A clip or blend space to play, and a mask, all checked to exist.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resolved {
    pub(crate) what: What,
    pub(crate) mask: Option<u16>,
}

/// A clip, or a blend space and a position in it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    Clip(u16),
    BlendSpace(u16, Vec2),
}
