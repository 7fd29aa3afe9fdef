//! Adding clips and their animation data to a character.

use super::apply::Draft;
use super::desc::{AnimationDesc, EventDesc};
use super::draft::ClipDraft;
use super::gait::GaitMeasure;
use super::parts::roles;
use super::set::{AnimationSet, MAX_EVENT_NAMES, OfClip};
use super::source::AnimationSource;
use crate::character::asset::Character;
use crate::character::flips::mark_flips;
use crate::clip::{ClipReach, PackObserver, counting};
use crate::error::{Result, expect_cap};
use crate::motion::{ClipEvents, Event};
use crate::state_machine::{StateMachineClip, check_strides};
use crate::text::At;
use glam::Vec2;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

impl Character {
    /// The same character with the animation data of a description.
    ///
    /// Masks, blend spaces, sockets and the state machine are replaced by those of the description.
    /// Its data for individual clips is added to what the clips already have. Start from
    /// [`Self::animation_desc`] to keep parts.
    ///
    /// Root motion and additive clips are made from the file's curves. If the character did not
    /// keep its curves, pass the description at import instead, with
    /// [`ImportOptions::animation`](crate::import::ImportOptions::animation).
    ///
    /// ```
    /// use throng::builtin;
    /// use throng::character::{AnimationDesc, SocketDesc};
    ///
    /// let desc = AnimationDesc {
    ///     sockets: vec![SocketDesc::new("sword", "RightHand")],
    ///     ..AnimationDesc::default()
    /// };
    /// let character = builtin::mannequin()?.character.with_animation(&desc)?;
    /// assert!(character.socket("sword").is_ok());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Description`](crate::Error::Description) with the part that does not fit the
    /// character, or that needs curves which were not kept.
    pub fn with_animation(self, desc: &AnimationDesc) -> Result<Self> {
        self.animated(&AnimationSource::of_desc(desc, None)?)
    }

    /// [`Self::with_animation`] for text in TOML. Errors also name `file` and the line.
    ///
    /// # Errors
    /// As [`AnimationDesc::from_toml`] and [`Self::with_animation`].
    #[cfg(feature = "toml")]
    #[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
    pub fn with_animation_toml(self, file: &str, text: &str) -> Result<Self> {
        self.animated(&AnimationSource::of_bytes(file, text.as_bytes(), None)?)
    }

    fn animated(mut self, source: &AnimationSource) -> Result<Self> {
        let drafts = ClipDraft::all_of(&mut self);
        self.set_clips(drafts, source, None)?;
        // The motion of roots does not change errors, but differences give other poses.
        if self.animations.clips.iter().any(|clip| clip.additive) {
            self.measure_levels(0..self.clip_count())?;
        }
        Ok(self)
    }

    /// Gives a character without clips these clips and the data that belongs to them.
    ///
    /// The clips are packed on rayon's current pool or kept as curves, as the import asked.
    pub(crate) fn set_clips(
        &mut self,
        clips: Vec<ClipDraft>,
        source: &AnimationSource,
        observer: Option<&PackObserver>,
    ) -> Result<()> {
        let desc = source.desc();
        let roles = roles(desc, &self.model.skeleton);
        if let Some(roles) = roles.map_err(|fault| source.error(fault))? {
            self.model.skeleton.roles = roles;
        }
        let mut draft = Draft {
            character: self,
            clips,
        };
        let applied = draft.apply_clips(&desc.clips, &desc.additive);
        applied.map_err(|fault| source.error(fault))?;
        let (set, clips) = (draft.parts(source)?, draft.clips);
        let names = Arc::clone(&self.animations.event_names);
        self.animations = Arc::new(AnimationSet {
            event_names: names,
            ..set
        });
        self.push_clips(clips, observer)?;
        self.follow_ground(source)
    }

    /// Gives the state machine the ground speeds of clips, which are measured by now, and checks
    /// that clips have those that blend spaces and states follow.
    fn follow_ground(&mut self, source: &AnimationSource) -> Result<()> {
        let clips = StateMachineClip::all_of(self);
        for (index, space) in self.blend_spaces().iter().enumerate() {
            if space.speed_limits().is_some() {
                let of_points = space.clips().iter().map(|clip| &clips[clip.index()]);
                let points = space.points();
                let moves = points.iter().map(|at| *at != Vec2::ZERO);
                let at = At::of("blend_space", index);
                let checked = check_strides(at, "ground_speed", of_points.zip(moves));
                checked.map_err(|fault| source.error(fault))?;
            }
        }
        let machine = source.machine(self.skeleton(), &clips, self.blend_spaces())?;
        if let Some((machine, ..)) = machine {
            Arc::make_mut(&mut self.animations).state_machine = Some(machine);
        }
        Ok(())
    }

    /// Appends clips to those of the character, packed if required. The observer is told of each
    /// packed clip.
    pub(crate) fn push_clips(
        &mut self,
        mut clips: Vec<ClipDraft>,
        observer: Option<&PackObserver>,
    ) -> Result<()> {
        let character = &*self;
        pack_all(character, &mut clips, observer)?;
        measure_gaits(character, &mut clips);
        let mut names = EventNames::of(&self.animations.event_names);
        let mut events = Vec::with_capacity(clips.len());
        for clip in &clips {
            events.push(names.ids(&clip.events)?);
        }
        let names: Arc<[Box<str>]> = names.list.into();
        let set = Arc::make_mut(&mut self.animations);
        let gait_motion = set.desc.gait_motion;
        let (packed_clips, curves) = (&mut self.clips, &mut self.curves);
        let (packed_clips, curves) = (Arc::make_mut(packed_clips), Arc::make_mut(curves));
        let first = packed_clips.len();
        for (clip, events) in clips.into_iter().zip(events) {
            set.clips.push(OfClip {
                events: ClipEvents::new(clip.duration_s(), events)?,
                root_motion: clip.motion(gait_motion),
                gait: clip.gait,
                additive: clip.is_additive(),
            });
            if let Some(curve) = clip.curve() {
                self.scales.add(core::slice::from_ref(curve));
            }
            let (packed, curve) = clip.into_clips(self.packing.curves);
            packed_clips.extend(packed);
            curves.extend(curve);
        }
        set.event_names = names;
        mark_flips(&mut self.model, &self.scales);
        self.measure_reaches(first);
        self.check_extent()
    }

    /// Measures what clips do to lengths, from clip number `first` on.
    pub(in crate::character) fn measure_reaches(&mut self, first: usize) {
        let reaches = Arc::make_mut(&mut self.reaches);
        reaches.truncate(first);
        reaches.extend(self.clips.iter().skip(first).map(ClipReach::new));
    }
}

/// Packs the clips that must be packed and are not yet.
fn pack_all(
    character: &Character,
    clips: &mut [ClipDraft],
    observer: Option<&PackObserver>,
) -> Result<()> {
    let mut left: Vec<&mut ClipDraft> = clips.iter_mut().collect();
    left.retain(|clip| clip.is_to_be_packed(character));
    if left.is_empty() {
        return Ok(());
    }
    let told = counting(left.len(), |clip, done, total| {
        if let Some(observer) = observer {
            observer.tell(clip, done, total);
        }
    });
    let probes = character.probes();
    // One at a time, because the lengths of clips differ widely.
    let packed = left.into_par_iter().with_max_len(1).map(|clip| {
        clip.pack(character, &probes)?;
        told(clip.name());
        Ok(())
    });
    packed.collect()
}

/// Measures the gaits that are not known yet.
fn measure_gaits(character: &Character, clips: &mut [ClipDraft]) {
    let mut unknown: Vec<&mut ClipDraft> = clips.iter_mut().collect();
    unknown.retain(|clip| !clip.gait_known);
    if unknown.is_empty() {
        return;
    }
    let measure = GaitMeasure::new(character);
    unknown.into_par_iter().for_each(|clip| {
        clip.gait = clip.packed().and_then(|packed| measure.of(packed));
    });
}

/// The names of events, each once.
struct EventNames {
    list: Vec<Box<str>>,
    ids: HashMap<Box<str>, u16>,
}

impl EventNames {
    fn of(list: &[Box<str>]) -> Self {
        Self {
            list: list.to_vec(),
            ids: list.iter().cloned().zip(0..).collect(),
        }
    }

    /// The events with the indices of their names.
    fn ids(&mut self, events: &[EventDesc]) -> Result<Vec<Event>> {
        let mut found = Vec::with_capacity(events.len());
        for EventDesc { name, time_s } in events {
            let next = self.list.len();
            let name = match self.ids.get(&**name) {
                Some(id) => *id,
                None => {
                    expect_cap("names of events", next + 1, MAX_EVENT_NAMES)?;
                    self.ids.insert(name.as_str().into(), next as u16);
                    self.list.push(name.as_str().into());
                    next as u16
                }
            };
            found.push(Event {
                time_s: *time_s,
                name,
            });
        }
        Ok(found)
    }
}
