//! Drafts of clips that will be added to a character.

use super::desc::{EventDesc, Gait};
use crate::character::asset::Character;
use crate::clip::{Clip, CurveClip, Probes, ReferencePose, difference_curves};
use crate::error::Result;
use crate::motion::{Event, RootMotion};
use crate::skeleton::Transform;
use std::sync::Arc;

/// A clip that will be added to a character, with its animation data.
#[derive(Debug, Clone)]
pub(crate) struct ClipDraft {
    /// The clip as curves, if they are available. For an additive clip, the differences.
    curve: Option<CurveClip>,
    /// The packed clip, unless the curves have changed since.
    packed: Option<Clip>,
    name: Box<str>,
    duration_s: f64,
    reference: Option<Reference>,
    pub(crate) events: Vec<EventDesc>,
    pub(crate) root_motion: Option<RootMotion>,
    pub(crate) gait: Option<Gait>,
    /// True if the gait is decided: given, measured or none.
    pub(crate) gait_known: bool,
}

#[derive(Debug, Clone)]
struct Reference {
    pose: Option<Vec<Transform>>,
}

impl ClipDraft {
    pub(crate) fn new(curve: CurveClip, events: Vec<EventDesc>) -> Self {
        Self {
            name: curve.name().into(),
            duration_s: curve.duration_s().into(),
            curve: Some(curve),
            packed: None,
            reference: None,
            events,
            root_motion: None,
            gait: None,
            gait_known: false,
        }
    }

    /// Takes all clips out of a character, as drafts.
    pub(crate) fn all_of(character: &mut Character) -> Vec<Self> {
        let set = Arc::unwrap_or_clone(std::mem::take(&mut character.animations));
        let curves = std::mem::take(&mut character.curves);
        let mut curves = Arc::unwrap_or_clone(curves).into_iter();
        let packed = std::mem::take(&mut character.clips);
        let mut packed = Arc::unwrap_or_clone(packed).into_iter();
        let names = set.event_names;
        let named = |event: &Event| {
            let name = names.get(usize::from(event.name));
            EventDesc {
                name: name.map_or_else(String::new, |name| name.to_string()),
                time_s: event.time_s,
            }
        };
        let drafts = set.clips.into_iter().map(|of| {
            let (curve, packed) = (curves.next(), packed.next());
            let of_curve = curve.as_ref().map(|curve| f64::from(curve.duration_s()));
            let name = packed.as_ref().map(Clip::name);
            let name = name.or(curve.as_ref().map(CurveClip::name));
            Self {
                name: name.unwrap_or_default().into(),
                duration_s: packed
                    .as_ref()
                    .map(Clip::duration_s)
                    .or(of_curve)
                    .unwrap_or(0.0),
                reference: of.additive.then_some(Reference { pose: None }),
                events: of.events.list().iter().map(named).collect(),
                root_motion: of.root_motion.filter(|motion| !motion.is_of_gait()),
                gait: of.gait,
                gait_known: true,
                curve,
                packed,
            }
        });
        drafts.collect()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn duration_s(&self) -> f64 {
        self.duration_s
    }

    pub(crate) fn is_additive(&self) -> bool {
        self.reference.is_some()
    }

    pub(crate) fn curve(&self) -> Option<&CurveClip> {
        self.curve.as_ref()
    }

    pub(crate) fn key_count(&self) -> usize {
        let tracks = self.curve.iter().flat_map(CurveClip::tracks);
        tracks.map(|track| track.values.times_s().len()).sum()
    }

    pub(crate) fn set_curve(&mut self, curve: CurveClip) {
        self.duration_s = curve.duration_s().into();
        self.curve = Some(curve);
        self.packed = None;
        self.gait_known = false;
    }

    /// The clip as its difference from a pose, or `None` if the curves are not available.
    pub(crate) fn additive(
        &self,
        character: &Character,
        name: Option<&str>,
        reference: ReferencePose<'_>,
    ) -> Result<Option<Self>> {
        let Some(curve) = &self.curve else {
            return Ok(None);
        };
        let (curve, pose) = difference_curves(character.model(), curve, reference)?;
        let curve = match name {
            Some(name) => curve.with_name(name),
            None => curve,
        };
        let own = name.is_none();
        let mut made = Self::new(curve, Vec::new());
        made.reference = Some(Reference { pose: Some(pose) });
        made.gait_known = true;
        if own {
            made.events.clone_from(&self.events);
        }
        Ok(Some(made))
    }

    /// True if the clip must be packed and is not yet.
    pub(crate) fn is_to_be_packed(&self, character: &Character) -> bool {
        self.packed.is_none() && self.curve.is_some() && character.packing.options.is_some()
    }

    /// Packs the clip if it must be packed and is not yet.
    pub(crate) fn pack(&mut self, character: &Character, probes: &Probes) -> Result<()> {
        if !self.is_to_be_packed(character) {
            return Ok(());
        }
        if let (Some(curve), Some(options)) = (&self.curve, &character.packing.options) {
            let of = (character.model(), probes);
            let reference = self.reference.as_ref().and_then(|of| of.pose.as_deref());
            self.packed = Some(Clip::pack(of, curve, reference, options)?);
        }
        Ok(())
    }

    /// Its root motion. With `gait_motion`, that is the motion of its gait unless another one was
    /// extracted.
    pub(crate) fn motion(&self, gait_motion: bool) -> Option<RootMotion> {
        let moves = gait_motion && self.duration_s > 0.0;
        let gait = self.gait.filter(|gait| moves && gait.speed_m_s > 0.0);
        let extracted = self.root_motion.as_ref();
        match (gait, extracted.is_some_and(|motion| !motion.is_still())) {
            (Some(gait), false) => Some(RootMotion::steady(self.duration_s, gait.velocity())),
            _ => extracted.cloned(),
        }
    }

    /// The packed clip, on which gaits are measured.
    pub(crate) fn packed(&self) -> Option<&Clip> {
        self.packed.as_ref()
    }

    /// The packed clip, and the curves if they are to be kept.
    pub(crate) fn into_clips(self, keep_curves: bool) -> (Option<Clip>, Option<CurveClip>) {
        let curve = self.curve.filter(|_| keep_curves);
        (self.packed, curve)
    }
}
