//! Animation sets that tests build by hand.

use super::set::{AnimationSet, OfClip};
use crate::ids::{ClipId, MaskId};
use crate::motion::{BlendShape, BlendSpace, ClipEvents, RootMotion};
use crate::skeleton::Mask;
use crate::state_machine::StateMachine;

impl AnimationSet {
    /// An animation set with these masks, and these events and motions for each clip.
    pub(crate) fn made(
        masks: Vec<Mask>,
        mask_names: &[&str],
        clips: impl Iterator<Item = (ClipEvents, Option<RootMotion>)>,
    ) -> Self {
        let clips = clips.map(|(events, root_motion)| OfClip {
            events,
            root_motion,
            ..OfClip::default()
        });
        Self {
            masks,
            mask_names: mask_names.iter().map(|name| (*name).into()).collect(),
            clips: clips.collect(),
            ..Self::default()
        }
    }

    pub(crate) fn set_machine(&mut self, machine: Option<StateMachine>, masks: &[MaskId]) {
        self.state_machine = machine;
        self.machine_masks = masks.to_vec();
    }

    pub(crate) fn push_blend_space(&mut self, name: &str, clips: &[u16], shape: BlendShape) {
        self.blend_spaces.push(BlendSpace {
            name: name.into(),
            clips: clips.iter().map(|clip| ClipId(*clip)).collect(),
            shape,
        });
    }

    pub(crate) fn events_mut(&mut self) -> impl Iterator<Item = &mut ClipEvents> {
        self.clips.iter_mut().map(|clip| &mut clip.events)
    }
}
