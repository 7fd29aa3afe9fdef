//! The checked animation data of a character: masks, sockets, events, gaits and so on.

use super::desc::{AnimationDesc, EventDesc, Gait};
use crate::clip::Clip;
use crate::error::Result;
use crate::id::{Id, find};
use crate::motion::{BlendSpace, ClipEvents, RootMotion};
use crate::skeleton::{Mask, Socket};
use crate::state_machine::StateMachine;
use glam::DVec3;
use std::sync::Arc;

/// The most masks, and the most blend spaces.
pub(crate) const MAX_PARTS: usize = 256;

pub(crate) const MAX_SOCKETS: usize = 1024;

/// The most distinct event names that an [`Id`](crate::Id) can number.
pub(crate) const MAX_EVENT_NAMES: usize = u16::MAX as usize;

/// The checked animation data of a character, besides its clips.
///
/// It is made at import from the file and an [`AnimationDesc`].
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct AnimationSet {
    pub(crate) masks: Vec<Mask>,
    pub(crate) sockets: Vec<(Box<str>, Socket)>,
    pub(crate) blend_spaces: Vec<BlendSpace>,
    pub(crate) state_machine: Option<StateMachine>,
    /// For each mask of the state machine, its index among the masks.
    pub(crate) machine_masks: Vec<Id<Mask>>,
    pub(crate) event_names: Arc<[Box<str>]>,
    /// The plain data that masks, sockets, blend spaces and the state machine were made from.
    pub(crate) desc: AnimationDesc,
    pub(crate) clips: Vec<OfClip>,
    /// The data returned for a clip that does not exist.
    pub(crate) none: OfClip,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OfClip {
    pub(crate) events: ClipEvents,
    pub(crate) root_motion: Option<RootMotion>,
    pub(crate) gait: Option<Gait>,
    /// True if the clip is a difference from a reference pose.
    pub(crate) additive: bool,
}

impl OfClip {
    /// The mean velocity over the ground at speed 1, in metres of character space per second.
    ///
    /// It is that of the root motion, or else of the gait.
    pub(crate) fn ground_velocity(&self) -> DVec3 {
        let motion = self
            .root_motion
            .as_ref()
            .filter(|motion| !motion.is_still());
        let velocity = motion.map(|motion| motion.pass().translation / motion.duration_s());
        let velocity = velocity.or(self.gait.map(|gait| gait.velocity()));
        let velocity = velocity.filter(|velocity| velocity.is_finite());
        velocity.unwrap_or_default() * DVec3::new(1.0, 0.0, 1.0)
    }
}

impl AnimationSet {
    pub(crate) fn socket(&self, name: &str) -> Result<Id<Socket>> {
        find("socket", self.sockets.iter().map(|(name, _)| &**name), name)
    }

    /// The name of an event, empty if the event does not exist.
    pub(crate) fn event_name(&self, event: Id<EventDesc>) -> &str {
        self.event_names.get(event.index()).map_or("", |name| name)
    }

    /// For each clip, true if it is a difference from a reference pose.
    pub(crate) fn additive(&self) -> impl Iterator<Item = bool> {
        self.clips.iter().map(|of| of.additive)
    }

    pub(crate) fn of(&self, clip: Id<Clip>) -> &OfClip {
        self.clips.get(clip.index()).unwrap_or(&self.none)
    }
}
