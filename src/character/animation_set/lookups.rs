//! Methods that read a character's animation data: masks, sockets, events, gaits and so on.

use super::desc::{AnimationDesc, EventDesc, Gait};
use crate::character::asset::Character;
use crate::clip::Clip;
use crate::error::Result;
use crate::id::{Id, find};
use crate::motion::{BlendSpace, RootMotion};
use crate::skeleton::{Mask, Socket};
use crate::state_machine::StateMachine;

/// The animation data besides the clips.
///
/// It comes from the file and from an [`AnimationDesc`].
///
/// ```
/// use throng::character::{AnimationDesc, ClipDesc, EventDesc, SocketDesc};
/// use throng::import::{ImportOptions, RawCharacter};
///
/// let step = |name: &str, time_s| EventDesc { name: name.into(), time_s };
/// let animation = AnimationDesc {
///     clips: vec![ClipDesc {
///         name: "Walk".into(),
///         events: vec![step("left foot", 0.1), step("right foot", 0.6)],
///         ..ClipDesc::default()
///     }],
///     sockets: vec![SocketDesc::new("sword", "RightHand")],
///     ..AnimationDesc::default()
/// };
/// let options = ImportOptions { animation: Some(animation), ..ImportOptions::default() };
/// let mannequin = RawCharacter::mannequin().build(&options)?;
///
/// let walk = mannequin.clip("Walk")?;
/// assert_eq!(mannequin.events(walk).len(), 2);
/// let gait = mannequin.gait(walk).expect("a walk moves over the ground");
/// assert!(gait.speed_m_s > 1.0);
/// assert!(mannequin.socket("sword").is_ok());
/// # Ok::<(), throng::Error>(())
/// ```
impl Character {
    /// The masks, blend spaces, sockets, state machine and `gait_motion` as plain data.
    ///
    /// These are the parts that [`Self::with_animation`] replaces. The data of individual clips,
    /// such as events and gaits, stays with the clips and is not in it. So this changes one part
    /// and keeps everything else:
    ///
    /// ```
    /// use throng::builtin;
    /// use throng::character::{AnimationDesc, SocketDesc};
    ///
    /// let mannequin = builtin::mannequin()?.character;
    /// let mut desc = mannequin.animation_desc().clone();
    /// desc.sockets.push(SocketDesc::new("sword", "RightHand"));
    /// let knight = mannequin.with_animation(&desc)?;
    /// assert!(knight.socket("sword").is_ok() && knight.socket("head").is_ok());
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn animation_desc(&self) -> &AnimationDesc {
        &self.animations.desc
    }

    /// The masks, indexed by `Id<Mask>`.
    ///
    /// The masks of the description come first, then those that only the state machine has.
    #[must_use]
    pub fn masks(&self) -> &[Mask] {
        &self.animations.masks
    }

    /// Finds the mask with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn mask(&self, name: &str) -> Result<Id<Mask>> {
        let masks = self.animations.masks.iter();
        find("mask", masks.map(|mask| &*mask.name), name)
    }

    /// The sockets with their names, indexed by `Id<Socket>`.
    #[must_use]
    pub fn sockets(&self) -> &[(Box<str>, Socket)] {
        &self.animations.sockets
    }

    /// Finds the socket with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn socket(&self, name: &str) -> Result<Id<Socket>> {
        self.animations.socket(name)
    }

    /// The blend spaces, indexed by `Id<BlendSpace>`.
    #[must_use]
    pub fn blend_spaces(&self) -> &[BlendSpace] {
        &self.animations.blend_spaces
    }

    /// Finds the blend space with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn blend_space(&self, name: &str) -> Result<Id<BlendSpace>> {
        let spaces = self.animations.blend_spaces.iter();
        find("blend space", spaces.map(BlendSpace::name), name)
    }

    /// The state machine that selects the clips to play, if there is one.
    ///
    /// Its masks are among those of the character, under the same names.
    #[must_use]
    pub fn state_machine(&self) -> Option<&StateMachine> {
        self.animations.state_machine.as_ref()
    }

    /// The events of a clip in order of time, each as its name and its time in seconds.
    ///
    /// They come from the file and the description. Times are from 0 to the clip's duration.
    /// Several events may have the same time or name. Empty for a clip that does not exist.
    ///
    /// [`AnimationEventKind::Clip`](crate::animator::AnimationEventKind::Clip) states when each is
    /// delivered.
    pub fn events(&self, clip: Id<Clip>) -> impl ExactSizeIterator<Item = (&str, f64)> {
        let set = &self.animations;
        let events = set.of(clip).events.list().iter();
        events.map(|event| (set.event_name(Id::new(event.name)), event.time_s))
    }

    /// Finds the event with this name, in any clip.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn event(&self, name: &str) -> Result<Id<EventDesc>> {
        find("event", self.event_names().iter().map(|name| &**name), name)
    }

    /// The names of all events, indexed by `Id<EventDesc>`.
    #[must_use]
    pub fn event_names(&self) -> &[Box<str>] {
        &self.animations.event_names
    }

    /// True if the clip is a difference from a reference pose.
    #[must_use]
    pub fn is_additive(&self, clip: Id<Clip>) -> bool {
        self.animations.of(clip).additive
    }

    /// The root motion of a clip, if any: extracted from it, or that of its
    /// [gait](AnimationDesc::gait_motion).
    #[must_use]
    pub fn root_motion(&self, clip: Id<Clip>) -> Option<&RootMotion> {
        self.animations.of(clip).root_motion.as_ref()
    }

    /// The velocity at which the feet of a clip do not slide.
    ///
    /// It is given by the description, or else measured. `None` for clips that do not move over the
    /// ground, for additive clips, and for a character that has only curves.
    #[must_use]
    pub fn gait(&self, clip: Id<Clip>) -> Option<&Gait> {
        self.animations.of(clip).gait.as_ref()
    }
}
