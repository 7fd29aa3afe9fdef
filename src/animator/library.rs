//! What the actors of a character can play.

use super::play::{ClipRef, MaskRef};
use crate::character::{Character, ClipId, MaskId, Skeleton, find};
use crate::error::{Error, Result};
use crate::pose::state_machine::StateMachine;
use crate::pose::{Clip, ClipEvents, Mask, RootMotion};
use std::sync::Arc;

/// A character's animations, as the animator reads them.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) skeleton: Skeleton,
    pub(crate) clips: Vec<Clip>,
    pub(crate) names: Vec<Box<str>>,
    /// One for each clip.
    pub(crate) events: Vec<ClipEvents>,
    /// One for each clip.
    pub(crate) motions: Vec<Option<RootMotion>>,
    pub(crate) masks: Vec<Mask>,
    /// One for each mask.
    pub(crate) mask_names: Vec<Box<str>>,
    /// For each mask of the state machine, which of the masks it is.
    pub(crate) machine_masks: Vec<MaskId>,
    pub(crate) event_names: Vec<Box<str>>,
    pub(crate) state_machine: Option<Arc<StateMachine>>,
    pub(crate) morph_weights: Vec<f32>,
}

impl Library {
    pub(crate) fn new(character: &Character) -> Result<Self> {
        let clips = character.clips().to_vec();
        let weights = character.morph_weights().iter();
        let set = character.animations();
        let ids = (0..clips.len() as u16).map(ClipId);
        let masks = (0..set.masks().len() as u16).map(MaskId);
        Ok(Self {
            skeleton: character.skeleton().clone(),
            names: clips.iter().map(|clip| clip.name().into()).collect(),
            events: ids.clone().map(|id| set.events(id).clone()).collect(),
            motions: ids.map(|id| set.root_motion(id).cloned()).collect(),
            clips,
            masks: set.masks().to_vec(),
            mask_names: masks.map(|id| set.mask_name(id).into()).collect(),
            machine_masks: set.state_machine_masks().to_vec(),
            event_names: set.event_names().map(Into::into).collect(),
            state_machine: set.state_machine().cloned().map(Arc::new),
            morph_weights: weights.map(|weight| weight.rest).collect(),
        })
    }

    pub(crate) fn clip(&self, clip: ClipRef<'_>) -> Result<Option<u16>> {
        let index = match clip {
            ClipRef::Rest => return Ok(None),
            ClipRef::Id(clip) => clip.index(),
            ClipRef::Name(name) => {
                find::<ClipId>(self.names.iter().map(|name| &**name), name)?.index()
            }
        };
        in_list("clip", index, self.clips.len()).map(Some)
    }

    pub(crate) fn mask(&self, mask: MaskRef<'_>) -> Result<Option<u16>> {
        let index = match mask {
            MaskRef::All => return Ok(None),
            MaskRef::Id(mask) => mask.index(),
            MaskRef::Name(name) => {
                find::<MaskId>(self.mask_names.iter().map(|name| &**name), name)?.index()
            }
        };
        in_list("mask", index, self.mask_names.len()).map(Some)
    }

    pub(crate) fn duration_s(&self, clip: u16) -> f64 {
        let clip = self.clips.get(usize::from(clip));
        clip.map_or(0.0, Clip::duration_s)
    }

    pub(crate) fn events(&self, clip: u16) -> Option<&ClipEvents> {
        let events = self.events.get(usize::from(clip))?;
        (!events.is_empty()).then_some(events)
    }

    pub(crate) fn motion(&self, clip: u16) -> Option<&RootMotion> {
        let motion = self.motions.get(usize::from(clip))?.as_ref();
        motion.filter(|motion| !motion.is_still())
    }

    /// How many layers the state machine has to itself.
    pub(crate) fn machine_layers(&self) -> usize {
        let machine = self.state_machine.as_ref();
        machine.map_or(0, |machine| machine.layer_count())
    }
}

fn in_list(what: &'static str, index: usize, count: usize) -> Result<u16> {
    let fits = u16::try_from(index).ok().filter(|_| index < count);
    fits.ok_or(Error::NotFound {
        what,
        index: index as u64,
        count: count as u64,
    })
}
