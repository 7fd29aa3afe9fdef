//! Applies descriptions and clip drafts to a character.

use super::desc::{AdditiveDesc, ClipDesc, EventDesc, PoseReference, RootMotionDesc};
use super::draft::ClipDraft;
use super::set::{MAX_EVENT_NAMES, MAX_PARTS};
use crate::character::asset::Character;
use crate::clip::ReferencePose;
use crate::error::{DescFault, cut};
use crate::motion::{RootMotionBudget, RootMotionOptions, extract};
use crate::skeleton::Transform;
use crate::text::{At, Checked, Fault, check_cap, check_names, check_value, find, unknown};
use glam::BVec3;

/// The most clips that a description may name, and the most additive clips.
const MAX_CLIPS: usize = 16_384;

/// The most keys of all additive clips together.
const MAX_MADE_KEYS: usize = 16 << 20;

/// The data that the parts of a description are checked against.
pub(super) struct Draft<'a> {
    pub(super) character: &'a Character,
    pub(super) clips: Vec<ClipDraft>,
}

impl Draft<'_> {
    /// Applies everything that changes clips or belongs to individual clips.
    pub(super) fn apply_clips(
        &mut self,
        clips: &[ClipDesc],
        additive: &[AdditiveDesc],
    ) -> Checked<()> {
        check_cap(At::WHOLE, "clips", clips.len(), MAX_CLIPS)?;
        check_cap(At::WHOLE, "additive clips", additive.len(), MAX_PARTS)?;
        check_names(clips.iter().map(|clip| clip.name.as_str()), |index| {
            At::of("clip", index)
        })?;
        // One budget bounds the work for all clips together, because the list may be long.
        let mut budget = RootMotionBudget::DESCRIPTION;
        let motions = clips.iter().enumerate().filter_map(|(index, desc)| {
            let options = desc.root_motion.as_ref()?;
            Some((At::of("clip", index), desc.name.as_str(), options))
        });
        let frames = motions
            .clone()
            .any(|(_, _, options)| matches!(options.reference, PoseReference::Frame { .. }));
        // The clips before any of them is changed.
        let sources = if frames {
            self.clips.clone()
        } else {
            Vec::new()
        };
        for (at, name, options) in motions {
            self.extract(at, name, (options, &mut budget), (additive, &sources))?;
        }
        if !additive.is_empty() {
            // Additive clips are made of the clips as they are after that step.
            let sources = self.clips.clone();
            let mut keys = 0;
            for (index, desc) in additive.iter().enumerate() {
                keys += self.add(
                    At::of("additive", index),
                    desc,
                    &sources,
                    MAX_MADE_KEYS - keys,
                )?;
            }
        }
        for (index, desc) in clips.iter().enumerate() {
            self.describe(At::of("clip", index), desc)?;
        }
        Ok(())
    }

    pub(super) fn clip(&self, at: At, field: &str, name: &str) -> Checked<u16> {
        find(at, field, "clip", name, || {
            self.clips.iter().map(ClipDraft::name)
        })
    }

    fn extract(
        &mut self,
        at: At,
        name: &str,
        (desc, budget): (&RootMotionDesc, &mut RootMotionBudget),
        (additive, sources): (&[AdditiveDesc], &[ClipDraft]),
    ) -> Checked<()> {
        let field = "root_motion";
        let is_made = |made: &AdditiveDesc| match &made.name {
            Some(own) => own == name,
            None => made.clip == name,
        };
        let index = match self.clip(at, "name", name) {
            Ok(index) => usize::from(index),
            Err(_) if additive.iter().any(is_made) => self.clips.len(),
            Err(fault) => return Err(fault),
        };
        let clip = self.clips.get_mut(index);
        let Some(clip) = clip.filter(|clip| !clip.is_additive() && !additive.iter().any(is_made))
        else {
            let why = DescFault::Invalid("additive clips cannot have root motion");
            return Err(Fault::new(at, field, why));
        };
        let mut pose = self.character.skeleton().rest_pose();
        let reference = (&desc.reference, "root_motion.reference");
        let options = RootMotionOptions {
            reference: reference_pose((at, reference), sources, &mut pose)?,
            ..root_motion(self.character, at, desc)?
        };
        let Some(curve) = clip.curve() else {
            return Err(Fault::new(at, field, NO_CURVES));
        };
        let split = extract(self.character.model(), curve, &options, budget);
        let (stays, motion) = split.map_err(|why| Fault::refused(at, field, why))?;
        clip.set_curve(stays);
        clip.root_motion = Some(motion);
        Ok(())
    }

    /// Makes an additive clip of at most this many keys, and returns its number of keys.
    fn add(
        &mut self,
        at: At,
        desc: &AdditiveDesc,
        sources: &[ClipDraft],
        cap: usize,
    ) -> Checked<usize> {
        let source = named(sources, (at, "clip"), &desc.clip)?;
        if source.is_additive() {
            let why = DescFault::Invalid("is already additive");
            return Err(Fault::new(at, "clip", why));
        }
        if let Some(name) = &desc.name {
            check_names(core::iter::once(name.as_str()), |_| at)?;
            if let Some(of) = self.clips.iter().position(|clip| clip.name() == name) {
                return Err(Fault::new(at, "name", DescFault::Duplicate { of }));
            }
        }
        let keys = source.key_count();
        check_cap(at, "keys of additive clips together", keys, cap)?;
        let mut pose = self.character.skeleton().rest_pose();
        let reference = (&desc.reference, "reference");
        let reference = reference_pose((at, reference), sources, &mut pose)?;
        let made = source.additive(self.character, desc.name.as_deref(), reference);
        let made = made.map_err(|why| Fault::refused(at, "", why))?;
        let Some(made) = made else {
            return Err(Fault::new(at, "clip", NO_CURVES));
        };
        let own = self.clips.iter().position(|clip| clip.name() == desc.clip);
        match own.filter(|_| desc.name.is_none()) {
            Some(own) if self.clips[own].is_additive() => {
                let why = DescFault::Invalid("becomes additive twice");
                Err(Fault::new(at, "clip", why))
            }
            Some(own) if self.clips[own].root_motion.is_some() => {
                let why = DescFault::Invalid("has root motion, which additive clips cannot have");
                Err(Fault::new(at, "clip", why))
            }
            Some(own) => {
                self.clips[own] = made;
                Ok(keys)
            }
            None => {
                self.clips.push(made);
                Ok(keys)
            }
        }
    }

    /// Sets the events and gait of a clip.
    fn describe(&mut self, at: At, desc: &ClipDesc) -> Checked<()> {
        let index = usize::from(self.clip(at, "name", &desc.name)?);
        let clip = &mut self.clips[index];
        let duration_s = clip.duration_s();
        check_cap(at, "events", desc.events.len(), MAX_EVENT_NAMES)?;
        for (number, event) in desc.events.iter().enumerate() {
            if event.name.is_empty() || event.name.chars().any(char::is_control) {
                let (name, why) = (cut(&event.name), "it is empty or has control characters");
                let field = format!("events[{number}].name");
                return Err(Fault::new(at, field, DescFault::Name { name, why }));
            }
            let time_s = event.time_s;
            // Clips store their duration in this precision.
            let ends = time_s as f32 == duration_s as f32;
            let ok = ends || (0.0..=duration_s).contains(&time_s);
            if !ok {
                let why = DescFault::Time { time_s, duration_s };
                return Err(Fault::new(at, format!("events[{number}].time_s"), why));
            }
            clip.events.push(EventDesc {
                time_s,
                ..event.clone()
            });
        }
        if let Some(gait) = desc.gait {
            let (speed, heading) = (gait.speed_m_s, gait.heading_rad);
            let ok = speed >= 0.0 && speed.is_finite();
            let allowed = "a finite number of at least 0";
            check_value(at, "gait.speed_m_s", speed, ok, allowed)?;
            let ok = heading.is_finite();
            check_value(at, "gait.heading_rad", heading, ok, "a finite number")?;
            if clip.is_additive() {
                let why = DescFault::Invalid("additive clips cannot have a gait");
                return Err(Fault::new(at, "gait", why));
            }
            clip.gait = Some(gait);
            clip.gait_known = true;
        }
        Ok(())
    }
}

const NO_CURVES: DescFault = DescFault::Invalid(
    "needs the file's curves, which were not kept: give the description at import, or import with \
     ImportOptions::curves",
);
const ADDITIVE_REFERENCE: DescFault = DescFault::Invalid("is additive, so it has no poses");

/// Finds the clip with this name, which is in `field`.
fn named<'c>(
    clips: &'c [ClipDraft],
    (at, field): (At, &str),
    name: &str,
) -> Checked<&'c ClipDraft> {
    let names = || clips.iter().map(ClipDraft::name);
    let index = find(at, field, "clip", name, names)?;
    Ok(&clips[usize::from(index)])
}

/// The reference in a field. Samples `pose` if it is a frame of a clip.
fn reference_pose<'p>(
    (at, (reference, field)): (At, (&PoseReference, &str)),
    clips: &[ClipDraft],
    pose: &'p mut [Transform],
) -> Checked<ReferencePose<'p>> {
    let (clip, time_s) = match reference {
        PoseReference::Rest => return Ok(ReferencePose::Rest),
        PoseReference::Start => return Ok(ReferencePose::Start),
        PoseReference::Frame { clip, time_s } => (clip, *time_s),
    };
    let fields = ["clip", "time_s"].map(|name| format!("{field}.frame.{name}"));
    let [of_clip, of_time] = fields.each_ref().map(String::as_str);
    check_value(at, of_time, time_s, time_s.is_finite(), "a finite number")?;
    let clip = named(clips, (at, of_clip), clip)?;
    if clip.is_additive() {
        return Err(Fault::new(at, of_clip, ADDITIVE_REFERENCE));
    }
    let Some(curve) = clip.curve() else {
        return Err(Fault::new(at, of_clip, NO_CURVES));
    };
    let sampled = curve.sample(time_s, pose);
    sampled.map_err(|why| Fault::refused(at, of_time, why))?;
    Ok(ReferencePose::Pose(pose))
}

/// The options of an extraction, except the reference.
fn root_motion(
    character: &Character,
    at: At,
    desc: &RootMotionDesc,
) -> Checked<RootMotionOptions<'static>> {
    let has = |letter: char| match desc.axes.matches(letter).count() {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(()),
    };
    let axes = [has('x'), has('y'), has('z')];
    let ([Ok(x), Ok(y), Ok(z)], true) = (axes, desc.axes.chars().all(|c| "xyz".contains(c))) else {
        let why = DescFault::Invalid("must consist of the letters x, y and z, each at most once");
        return Err(Fault::new(at, "root_motion.axes", why));
    };
    if let Some(error_m) = desc.error_m {
        let ok = error_m > 0.0 && error_m.is_finite();
        check_value(at, "root_motion.error_m", error_m, ok, "a positive number")?;
    }
    let joint = desc.joint.as_ref().map(|name| {
        let joints = || {
            character
                .skeleton()
                .joints()
                .iter()
                .map(|joint| &*joint.name)
        };
        let found = character.skeleton().joint(name);
        found.map_err(|_| unknown(at, "root_motion.joint", "joint", name, joints))
    });
    Ok(RootMotionOptions {
        joint: joint.transpose()?,
        axes: BVec3::new(x, y, z),
        yaw: desc.yaw,
        reference: ReferencePose::Start,
        error_m: desc.error_m,
    })
}
