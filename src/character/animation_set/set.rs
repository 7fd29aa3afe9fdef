//! What belongs to a character's animation besides its clips: masks, events, root motion, gaits,

use super::desc::{AnimationDesc, Gait};
use crate::error::Result;
use crate::ids::{BlendSpaceId, ClipId, EventId, MaskId, SocketId, find};
use crate::motion::{BlendSpace, ClipEvents, RootMotion};
use crate::skeleton::{Mask, Socket};
use crate::state_machine::StateMachine;
use std::sync::Arc;

/// The most masks, and the most blend spaces.
pub(crate) const MAX_PARTS: usize = 256;

/// The most sockets.
pub(crate) const MAX_SOCKETS: usize = 1024;

/// The most different names of events: what an [`EventId`] can count.
pub(crate) const MAX_EVENT_NAMES: usize = u16::MAX as usize;

/// What belongs to a character's animation besides its clips, checked against the character: made
/// at import, of what the file says and of an [`AnimationDesc`].
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
    pub(crate) sockets: Vec<NamedSocket>,
    pub(crate) blend_spaces: Vec<BlendSpace>,
    pub(crate) state_machine: Option<StateMachine>,
    /// For each mask of the state machine, which of the masks it is.
    pub(crate) machine_masks: Vec<MaskId>,
    pub(crate) event_names: Arc<[Box<str>]>,
    /// What masks, sockets, blend spaces and the state machine were made of.
    pub(crate) desc: AnimationDesc,
    /// One a clip.
    pub(crate) clips: Vec<OfClip>,
    /// What a clip has that does not exist.
    pub(crate) none: OfClip,
}

/// What belongs to a clip.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OfClip {
    pub(crate) events: ClipEvents,
    pub(crate) root_motion: Option<RootMotion>,
    pub(crate) gait: Option<Gait>,
    /// Whether it is a difference from a reference pose.
    pub(crate) additive: bool,
}

/// A place on a joint where something is attached, and what it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSocket {
    /// Its name.
    pub name: Box<str>,
    /// The joint, and the place on it.
    pub socket: Socket,
}

impl AnimationSet {
    /// The masks, which [`MaskId`]s count: those of the description, then those that only the state
    /// machine has.
    #[must_use]
    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// The mask of this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that there are.
    pub fn mask(&self, name: &str) -> Result<MaskId> {
        find(self.mask_names.iter().map(|name| &**name), name)
    }

    /// A mask's name; empty for one that does not exist.
    #[must_use]
    pub fn mask_name(&self, mask: MaskId) -> &str {
        self.mask_names.get(mask.index()).map_or("", |name| name)
    }

    /// The sockets, which [`SocketId`]s count.
    #[must_use]
    pub fn sockets(&self) -> &[NamedSocket] {
        &self.sockets
    }

    /// The socket of this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that there are.
    pub fn socket(&self, name: &str) -> Result<SocketId> {
        find(self.sockets.iter().map(|socket| &*socket.name), name)
    }

    /// The blend spaces, which [`BlendSpaceId`]s count.
    #[must_use]
    pub fn blend_spaces(&self) -> &[BlendSpace] {
        &self.blend_spaces
    }

    /// The blend space of this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that there are.
    pub fn blend_space(&self, name: &str) -> Result<BlendSpaceId> {
        find(self.blend_spaces.iter().map(BlendSpace::name), name)
    }

    /// What decides which clips play, if the character has it. Its samples' clips are the
    /// character's; [`Self::state_machine_masks`] says which masks it means.
    #[must_use]
    pub fn state_machine(&self) -> Option<&StateMachine> {
        self.state_machine.as_ref()
    }

    /// For each of the state machine's own masks ([`StateMachine::masks`]), the same mask among
    /// [`Self::masks`].
    #[must_use]
    pub fn state_machine_masks(&self) -> &[MaskId] {
        &self.machine_masks
    }

    /// The events of a clip: those of the file and those of the description.
    /// [`EventHit::name_id`](crate::motion::EventHit::name_id) is the number of an [`EventId`]. None
    /// for a clip that does not exist.
    #[must_use]
    pub fn events(&self, clip: ClipId) -> &ClipEvents {
        &self.of(clip).events
    }

    /// The event of this name, in whichever clips it is.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName) with the names that there are.
    pub fn event(&self, name: &str) -> Result<EventId> {
        find(self.event_names.iter().map(|name| &**name), name)
    }

    /// An event's name; empty for one that does not exist.
    #[must_use]
    pub fn event_name(&self, event: EventId) -> &str {
        self.event_names.get(event.index()).map_or("", |name| name)
    }

    /// The names of all events, which [`EventId`]s count.
    pub fn event_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.event_names.iter().map(|name| &**name)
    }

    /// The motion over the ground that was taken out of a clip; none where nothing was.
    #[must_use]
    pub fn root_motion(&self, clip: ClipId) -> Option<&RootMotion> {
        self.of(clip).root_motion.as_ref()
    }

    /// How an instance has to move over the ground if the feet of a clip are not to slide: as the
    /// description says, else as it was measured. None for clips under which the ground stands
    /// still, for additive ones, and where there are only curves.
    #[must_use]
    pub fn gait(&self, clip: ClipId) -> Option<&Gait> {
        self.of(clip).gait.as_ref()
    }

    /// Whether each clip is a difference from a reference pose.
    pub(crate) fn additive(&self) -> impl Iterator<Item = bool> {
        self.clips.iter().map(|of| of.additive)
    }

    pub(crate) fn of(&self, clip: ClipId) -> &OfClip {
        self.clips.get(clip.index()).unwrap_or(&self.none)
    }
}
