//! Saving and loading of animation data.
//!
//! Masks, sockets, blend spaces and the state machine are saved as the plain values of their text.
//! Loading makes them from it again, so everything is checked as at an import.

use super::desc::{AnimationDesc, Gait};
use super::draft::ClipDraft;
use super::set::{MAX_EVENT_NAMES, OfClip};
use super::source::AnimationSource;
use crate::bytes::{Reader, Save, invalid, save_structs};
use crate::character::asset::Character;
use crate::clip::Clip;
use crate::error::Result;
use crate::motion::{ClipEvents, Event, RootMotion};
use crate::text::{Read, Tree};
use std::sync::Arc;

save_structs! {
    Gait { speed_m_s, heading_rad }
    Event { time_s, name }
}

impl OfClip {
    fn save(&self, to: &mut Vec<u8>) {
        self.events.duration_s().save(to);
        self.events.list().to_vec().save(to);
        self.root_motion.save(to);
        self.gait.save(to);
        self.additive.save(to);
    }

    fn load(from: &mut Reader<'_>, [joints, names]: [usize; 2]) -> Result<Self> {
        let duration_s = Save::load(from)?;
        let events: Vec<Event> = Save::load(from)?;
        if events.iter().any(|event| usize::from(event.name) >= names) {
            return Err(invalid("event", "has a name that does not exist"));
        }
        let root_motion: Option<RootMotion> = Save::load(from)?;
        let joint = root_motion.as_ref().and_then(RootMotion::joint);
        if joint.is_some_and(|joint| joint.index() >= joints) {
            return Err(invalid(
                "root motion",
                "refers to a joint that does not exist",
            ));
        }
        let gait: Option<Gait> = Save::load(from)?;
        let sound = |gait: &Gait| {
            gait.speed_m_s >= 0.0 && gait.speed_m_s.is_finite() && gait.heading_rad.is_finite()
        };
        if !gait.as_ref().is_none_or(sound) {
            return Err(invalid("gait", "is not finite"));
        }
        Ok(Self {
            events: ClipEvents::new(duration_s, events)?,
            root_motion,
            gait,
            additive: Save::load(from)?,
        })
    }
}

impl Character {
    pub(in crate::character) fn save_animations(&self, to: &mut Vec<u8>) {
        let set = &self.animations;
        Tree::of(&set.desc).save(to);
        set.event_names.to_vec().save(to);
        set.clips.len().save(to);
        set.clips.iter().for_each(|clip| clip.save(to));
    }

    /// Reads the animation data for a character that has its clips already.
    pub(in crate::character) fn load_animations(&mut self, from: &mut Reader<'_>) -> Result<()> {
        let desc = AnimationDesc::read(Tree::load(from)?.root());
        let desc = desc.map_err(|_| invalid("description", "does not have its form"))?;
        let names: Vec<Box<str>> = Save::load(from)?;
        if names.len() > MAX_EVENT_NAMES {
            return Err(invalid("events", "have too many names"));
        }
        let count = usize::load(from)?;
        if count != self.clip_count() {
            return Err(invalid("clips", "do not match the number of their records"));
        }
        let joints = self.model.skeleton.len();
        let mut clips = Vec::new();
        for _ in 0..count {
            clips.push(OfClip::load(from, [joints, names.len()])?);
        }
        let same = |(of, clip): (&OfClip, &Clip)| of.additive == clip.is_additive();
        if !clips.iter().zip(self.clips.iter()).all(same) {
            return Err(invalid(
                "clip",
                "is additive in only one of its two records",
            ));
        }
        let names: Arc<[Box<str>]> = names.into();
        let set = Arc::make_mut(&mut self.animations);
        (set.clips, set.event_names) = (clips, Arc::clone(&names));
        let drafts = ClipDraft::all_of(self);
        Arc::make_mut(&mut self.animations).event_names = names;
        let source = AnimationSource::of_desc(&desc, None)?;
        self.set_clips(drafts, &source, None)
    }
}
