//! The checked animation data of a character: masks, sockets, events, gaits and so on.

use super::desc::{AnimationDesc, Gait};
use crate::character::EventDesc;
use crate::clip::Clip;
use crate::error::Result;
use crate::id::{Id, find};
use crate::motion::{BlendSpace, ClipEvents, RootMotion};
use crate::skeleton::{Mask, Socket};
use crate::state_machine::StateMachine;
use std::sync::Arc;

/// The most masks, and the most blend spaces.
pub(crate) const MAX_PARTS: usize = 256;

/// The most sockets.
pub(crate) const MAX_SOCKETS: usize = 1024;

/// The most distinct event names that an [`Id`](crate::Id) can number.
pub(crate) const MAX_EVENT_NAMES: usize = u16::MAX as usize;

/// The checked animation data of a character, besides its clips.
///
/// It is made at import from the file and an [`AnimationDesc`].
///
/// ```
/// use throng::builtin;
/// use throng::character::{AnimationDesc, ClipDesc, EventDesc, SocketDesc};
/// use throng::import::ImportOptions;
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
/// let mannequin = builtin::mannequin_with(&options)?;
///
/// let (animations, walk) = (mannequin.animations(), mannequin.clip("Walk")?);
/// assert_eq!(animations.events(walk).len(), 2);
/// let gait = animations.gait(walk).expect("a walk moves over the ground");
/// assert!(gait.speed_m_s > 1.0);
/// assert!(animations.socket("sword").is_ok());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnimationSet {
    pub(crate) masks: Vec<Mask>,
    pub(crate) mask_names: Vec<Box<str>>,
    pub(crate) sockets: Vec<Socket>,
    pub(crate) socket_names: Vec<Box<str>>,
    pub(crate) blend_spaces: Vec<BlendSpace>,
    pub(crate) state_machine: Option<StateMachine>,
    /// For each mask of the state machine, its index among the masks.
    pub(crate) machine_masks: Vec<Id<Mask>>,
    pub(crate) event_names: Arc<[Box<str>]>,
    /// The plain data that masks, sockets, blend spaces and the state machine were made from.
    pub(crate) desc: AnimationDesc,
    /// One per clip.
    pub(crate) clips: Vec<OfClip>,
    /// The data returned for a clip that does not exist.
    pub(crate) none: OfClip,
}

/// The data of one clip.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OfClip {
    pub(crate) events: ClipEvents,
    pub(crate) root_motion: Option<RootMotion>,
    pub(crate) gait: Option<Gait>,
    /// True if the clip is a difference from a reference pose.
    pub(crate) additive: bool,
}

impl AnimationSet {
    /// The masks, indexed by `Id<Mask>`.
    ///
    /// The masks of the description come first, then those that only the state machine has.
    #[must_use]
    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// Finds the mask with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn mask(&self, name: &str) -> Result<Id<Mask>> {
        find("mask", self.mask_names.iter().map(|name| &**name), name)
    }

    /// The name of a mask, empty if the mask does not exist.
    #[must_use]
    pub fn mask_name(&self, mask: Id<Mask>) -> &str {
        self.mask_names.get(mask.index()).map_or("", |name| name)
    }

    /// The sockets, indexed by `Id<Socket>`.
    #[must_use]
    pub fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// Finds the socket with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn socket(&self, name: &str) -> Result<Id<Socket>> {
        find("socket", self.socket_names.iter().map(|name| &**name), name)
    }

    /// The name of a socket, empty if the socket does not exist.
    #[must_use]
    pub fn socket_name(&self, socket: Id<Socket>) -> &str {
        let name = self.socket_names.get(socket.index());
        name.map_or("", |name| name)
    }

    /// The blend spaces, indexed by `Id<BlendSpace>`.
    #[must_use]
    pub fn blend_spaces(&self) -> &[BlendSpace] {
        &self.blend_spaces
    }

    /// Finds the blend space with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn blend_space(&self, name: &str) -> Result<Id<BlendSpace>> {
        find(
            "blend space",
            self.blend_spaces.iter().map(BlendSpace::name),
            name,
        )
    }

    /// The state machine that selects the clips to play, if there is one.
    ///
    /// The clips of its samples are the character's. [`Self::state_machine_masks`] maps its masks
    /// to the character's.
    #[must_use]
    pub fn state_machine(&self) -> Option<&StateMachine> {
        self.state_machine.as_ref()
    }

    /// For each of the state machine's masks ([`StateMachine::masks`]), the same mask in
    /// [`Self::masks`].
    #[must_use]
    pub fn state_machine_masks(&self) -> &[Id<Mask>] {
        &self.machine_masks
    }

    /// The events of a clip, from the file and the description.
    ///
    /// Empty for a clip that does not exist.
    #[must_use]
    pub fn events(&self, clip: Id<Clip>) -> &ClipEvents {
        &self.of(clip).events
    }

    /// Finds the event with this name, in any clip.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    pub fn event(&self, name: &str) -> Result<Id<EventDesc>> {
        find("event", self.event_names.iter().map(|name| &**name), name)
    }

    /// The name of an event, empty if the event does not exist.
    #[must_use]
    pub fn event_name(&self, event: Id<EventDesc>) -> &str {
        self.event_names.get(event.index()).map_or("", |name| name)
    }

    /// The names of all events, indexed by `Id<EventDesc>`.
    pub fn event_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.event_names.iter().map(|name| &**name)
    }

    /// The root motion that was extracted from a clip, if any.
    #[must_use]
    pub fn root_motion(&self, clip: Id<Clip>) -> Option<&RootMotion> {
        self.of(clip).root_motion.as_ref()
    }

    /// The velocity at which the feet of a clip do not slide.
    ///
    /// It is given by the description, or else measured. `None` for clips that do not move over the
    /// ground, for additive clips, and for a character that has only curves.
    #[must_use]
    pub fn gait(&self, clip: Id<Clip>) -> Option<&Gait> {
        self.of(clip).gait.as_ref()
    }

    /// For each clip, true if it is a difference from a reference pose.
    pub(crate) fn additive(&self) -> impl Iterator<Item = bool> {
        self.clips.iter().map(|of| of.additive)
    }

    pub(crate) fn of(&self, clip: Id<Clip>) -> &OfClip {
        self.clips.get(clip.index()).unwrap_or(&self.none)
    }
}
