//! What to play, and how.

use crate::character::BlendAt;
use crate::ids::{BlendSpaceId, ClipId, MaskId};
use crate::motion::{Ease, LoopMode};

/// A blend space of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlendSpaceRef<'a> {
    /// By its id.
    Id(BlendSpaceId),
    /// By its name.
    Name(&'a str),
}

impl From<BlendSpaceId> for BlendSpaceRef<'_> {
    fn from(space: BlendSpaceId) -> Self {
        Self::Id(space)
    }
}

impl<'a> From<&'a str> for BlendSpaceRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

/// A clip or a blend space of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ClipRef<'a> {
    /// None: the rest pose.
    #[default]
    Rest,
    /// By its id.
    Id(ClipId),
    /// By its name.
    Name(&'a str),
    /// A blend space, in place of a single clip.
    BlendSpace(BlendSpaceRef<'a>),
}

impl From<ClipId> for ClipRef<'_> {
    fn from(clip: ClipId) -> Self {
        Self::Id(clip)
    }
}

impl<'a> From<&'a str> for ClipRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

/// A mask of a character: which joints a layer counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MaskRef<'a> {
    /// None: all joints.
    #[default]
    All,
    /// By its id.
    Id(MaskId),
    /// By its name.
    Name(&'a str),
}

impl From<MaskId> for MaskRef<'_> {
    fn from(mask: MaskId) -> Self {
        Self::Id(mask)
    }
}

impl<'a> From<&'a str> for MaskRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

/// A clip, and how it is played. It takes the place of whatever its layer plays.
///
/// ```
/// use throng::animator::Play;
///
/// // A cross-fade of a quarter of a second.
/// let walk = Play::new("Walk").fade_s(0.25);
/// // A run that keeps step with the walk that it takes over from.
/// let run = Play::new("Run").fade_s(0.4).in_step();
/// // Once, above the hips, on top of whatever the legs do.
/// let wave = Play::new("Wave").layer(1).mask("upper body").once().fade_s(0.2);
/// // A blend space of the asset, at a speed of 1.8.
/// let go = Play::blend_space("locomotion").at(1.8).fade_s(0.3);
/// # let _ = (walk, run, wave, go);
/// ```
#[doc(alias = "crossfade")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Play<'a> {
    /// Which clip or blend space.
    pub clip: ClipRef<'a>,
    /// The place in a blend space; `None` is its origin. Only for blend spaces.
    pub at: Option<BlendAt>,
    /// How long it takes to fade from what the layer plays now, in seconds; 0 cuts.
    pub fade_s: f32,
    /// How the fade goes.
    pub ease: Ease,
    /// How long an inertialised transition takes, in seconds; 0 for none. It takes the place of the
    /// fade: see [`Self::inertial_s`].
    pub inertial_s: f32,
    /// The layer. Each layer is laid over the one below; layer 0 over the rest pose.
    pub layer: u8,
    /// Which joints it counts for.
    pub mask: MaskRef<'a>,
    /// Its weight after the fade. 1 hides what the layers below play.
    pub weight: f32,
    /// The actor's time at which the clip stands at `offset_s`, in seconds; `None`: now.
    pub start_s: Option<f64>,
    /// Where in the clip it starts, in seconds. To play a clip once backwards, its duration. In a
    /// blend space, seconds of the blended cycle at its place.
    pub offset_s: f64,
    /// Clip seconds per second; negative plays backwards, 0 holds. In a blend space, seconds of the
    /// blended cycle, whose duration is the weighted mean of its clips'.
    pub speed: f64,
    /// What happens past the end of the clip.
    pub loop_mode: LoopMode,
    /// Whether it keeps step with what the layer plays: it takes over the phase, and both go at one
    /// rate during the fade, so that feet do not slide. Only loops keep step.
    pub in_step: bool,
}

impl<'a> Play<'a> {
    /// The rest pose.
    pub const REST: Self = Self {
        clip: ClipRef::Rest,
        at: None,
        fade_s: 0.0,
        ease: Ease::Smooth,
        inertial_s: 0.0,
        layer: 0,
        mask: MaskRef::All,
        weight: 1.0,
        start_s: None,
        offset_s: 0.0,
        speed: 1.0,
        loop_mode: LoopMode::Loop,
        in_step: false,
    };

    /// A clip by name or id, in a loop, at normal speed, at once.
    #[must_use]
    pub fn new(clip: impl Into<ClipRef<'a>>) -> Self {
        Self {
            clip: clip.into(),
            ..Self::REST
        }
    }

    /// A blend space of the character's, by name or id, in a loop, at normal speed, at once. Its
    /// clips play at one phase. [`Self::at`] says where in it;
    /// [`Animator::set_blend_position`](super::instances::Animator::set_blend_position) moves it later.
    #[doc(alias = "blend tree")]
    #[must_use]
    pub fn blend_space(space: impl Into<BlendSpaceRef<'a>>) -> Self {
        Self {
            clip: ClipRef::BlendSpace(space.into()),
            ..Self::REST
        }
    }

    /// Sets the place in a blend space: a number, or two, as many as it has coordinates.
    #[must_use]
    pub fn at(self, at: impl Into<BlendAt>) -> Self {
        let at = Some(at.into());
        Self { at, ..self }
    }

    /// Fades to it in this many seconds.
    #[must_use]
    pub const fn fade_s(self, fade_s: f32) -> Self {
        Self { fade_s, ..self }
    }

    /// Cuts to it at once, and lets the actor's inertia carry on: what the pose and its velocity
    /// were off from the new ones decays within this many seconds; usual are 0.2 to 0.5. Only the
    /// new motion is evaluated then, unlike in a fade.
    ///
    /// It is the whole pose that goes on, morph weights too, whatever the layer: before inverse
    /// kinematics, which work on the result. A cut during another takes over what is left of that.
    /// After the time the pose is that of what plays, to the bit. The velocities are those of what
    /// plays around the cut, over 2 ms, and not of the frames shown; a pose of the caller's counts
    /// as standing. Root motion and events are those of a cut.
    ///
    /// The call evaluates the actor's pose four times; its first on an actor allocates.
    #[doc(alias = "inertialization")]
    #[must_use]
    pub const fn inertial_s(self, inertial_s: f32) -> Self {
        Self { inertial_s, ..self }
    }

    /// Sets how the fade goes.
    #[must_use]
    pub const fn ease(self, ease: Ease) -> Self {
        Self { ease, ..self }
    }

    /// Plays it on another layer.
    #[must_use]
    pub const fn layer(self, layer: u8) -> Self {
        Self { layer, ..self }
    }

    /// Plays it for the joints of a mask, by name or id.
    #[must_use]
    pub fn mask(self, mask: impl Into<MaskRef<'a>>) -> Self {
        Self {
            mask: mask.into(),
            ..self
        }
    }

    /// Plays it with this weight.
    #[must_use]
    pub const fn weight(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Lets it start at this time of the actor, in seconds, which may be past or to come.
    #[must_use]
    pub const fn start_s(self, start_s: f64) -> Self {
        Self {
            start_s: Some(start_s),
            ..self
        }
    }

    /// Starts elsewhere in the clip, in seconds.
    #[must_use]
    pub const fn offset_s(self, offset_s: f64) -> Self {
        Self { offset_s, ..self }
    }

    /// Plays it at this speed.
    #[must_use]
    pub const fn speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// Sets what happens past the end of the clip.
    #[must_use]
    pub const fn loop_mode(self, loop_mode: LoopMode) -> Self {
        Self { loop_mode, ..self }
    }

    /// Plays it once and holds the last pose.
    #[must_use]
    pub const fn once(self) -> Self {
        self.loop_mode(LoopMode::Once)
    }

    /// Keeps step with what the layer plays.
    #[must_use]
    pub const fn in_step(self) -> Self {
        Self {
            in_step: true,
            ..self
        }
    }
}

impl Default for Play<'_> {
    fn default() -> Self {
        Self::REST
    }
}

impl<'a, C: Into<ClipRef<'a>>> From<C> for Play<'a> {
    fn from(clip: C) -> Self {
        Self::new(clip)
    }
}

/// A clip that plays on an actor, as [`Animator::playing`](super::instances::Animator::playing) tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playing {
    /// The clip; `None` for a pose of the caller's.
    pub clip: Option<ClipId>,
    /// The blend space that plays it; `None` for a single clip, and for what a state machine plays.
    pub blend_space: Option<BlendSpaceId>,
    /// The layer that it plays on.
    pub layer: u8,
    /// The clip's own time, in seconds.
    pub time_s: f64,
    /// Clip seconds per second.
    pub speed: f64,
    /// Its weight now.
    pub weight: f32,
    /// The weight that it goes to: 0 while it fades out.
    pub to_weight: f32,
    /// What happens past the end of the clip.
    pub loop_mode: LoopMode,
    /// Whether the actor's state machine plays it.
    pub by_state_machine: bool,
}
