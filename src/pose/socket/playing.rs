//! What an instance plays, joint by joint.

use crate::character::{CurveClip, Track, Transform};
use crate::error::{ArgumentFault, Error, Result};
use crate::pose::animate::animate_tracks;
use crate::pose::blend::{JointPart, blend_joint, check_threshold, check_weight};
use crate::pose::palette::expect_len;
use crate::pose::{BLEND_THRESHOLD, Clip, ClipSample, Mask};

/// What an instance plays, as [`joint_model`](super::joint_model()) and [`Sockets`](super::Sockets) read it.
#[derive(Debug, Clone, Copy)]
pub enum Playing<'a> {
    /// Nothing: the rest pose.
    Rest,
    /// A file's own curves at a time in seconds, as [`animate`](crate::pose::animate()) evaluates them.
    Raw(&'a CurveClip, f64),
    /// A clip at a time in seconds, as [`Clip::sample`] has it.
    Clip(&'a Clip, f64),
    /// A list of samples, blended as [`ClipSample`] says.
    Samples(Samples<'a>),
    /// A local pose: one transform a joint.
    Local(&'a [Transform]),
}

/// A list of samples, and what its indices are of.
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    /// What [`ClipSample::clip`] is an index of.
    pub clips: &'a [Clip],
    /// What [`ClipSample::mask`] is an index of.
    pub masks: &'a [Mask],
    /// What is played, ascending in level.
    pub samples: &'a [ClipSample],
    /// The first level's threshold, positive; [`BLEND_THRESHOLD`] is usual.
    pub threshold: f32,
}

impl<'a> Samples<'a> {
    /// These samples, without masks, with the usual threshold.
    #[must_use]
    pub const fn new(clips: &'a [Clip], samples: &'a [ClipSample]) -> Self {
        Self {
            clips,
            masks: &[],
            samples,
            threshold: BLEND_THRESHOLD,
        }
    }

    pub(super) fn check(&self, joints: usize) -> Result<()> {
        check_threshold(self.threshold)?;
        let mut level = 0;
        for (index, sample) in self.samples.iter().enumerate() {
            self.check_sample(sample, joints, &mut level)
                .map_err(|why| Error::Each {
                    what: "sample",
                    index: index as u64,
                    why: Box::new(why),
                })?;
        }
        Ok(())
    }

    fn check_sample(&self, sample: &ClipSample, joints: usize, level: &mut u8) -> Result<()> {
        check_weight(sample.weight)?;
        if sample.weight == 0.0 {
            return Ok(());
        }
        if sample.level < *level {
            return Err(Error::Argument {
                what: "level",
                why: ArgumentFault::Invalid("is below that of the sample before"),
            });
        }
        *level = sample.level;
        let missing = |what, index, count: usize| Error::NotFound {
            what,
            index,
            count: count as u64,
        };
        let clips = self.clips;
        let clip = clips.get(sample.clip);
        let clip = clip.ok_or_else(|| missing("clip", sample.clip as u64, clips.len()))?;
        expect_len("joints of the clip", clip.joints(), joints)?;
        let Some(index) = sample.mask else {
            return Ok(());
        };
        let mask = self.masks.get(usize::from(index));
        let mask = mask.ok_or_else(|| missing("mask", index.into(), self.masks.len()))?;
        expect_len("mask", mask.weights().len(), joints)
    }

    /// The joint's local transform. Everything was checked.
    pub(super) fn local(&self, joint: u16, rest: &Transform) -> Transform {
        let parts = self.samples.iter().filter(|sample| sample.weight > 0.0);
        let parts = parts.filter_map(|sample| {
            let clip = self.clips.get(sample.clip)?;
            let mask = sample
                .mask
                .and_then(|mask| self.masks.get(usize::from(mask)));
            let mask = mask.and_then(|mask| mask.weights().get(usize::from(joint)));
            Some(JointPart {
                value: clip.sample_joint(joint, sample.time_s),
                weight: sample.weight * mask.copied().unwrap_or(1.0),
                additive: clip.is_additive(),
                level: sample.level,
            })
        });
        blend_joint(rest, self.threshold, parts)
    }
}

impl Playing<'_> {
    /// Whether it is for a skeleton of so many joints.
    pub(super) fn check(&self, joints: usize) -> Result<()> {
        match self {
            Self::Rest | Self::Raw(..) => Ok(()),
            Self::Clip(clip, _) => expect_len("joints of the clip", clip.joints(), joints),
            Self::Samples(samples) => samples.check(joints),
            Self::Local(local) => expect_len("local pose", local.len(), joints),
        }
    }

    /// A joint's local transform. Everything was checked.
    pub(super) fn local(&self, joint: u16, rest: &Transform) -> Transform {
        match self {
            Self::Rest => *rest,
            Self::Raw(clip, time_s) => raw_local(clip, *time_s, joint, rest),
            Self::Clip(clip, time_s) => clip.sample_joint(joint, *time_s),
            Self::Samples(samples) => samples.local(joint, rest),
            Self::Local(local) => local.get(usize::from(joint)).copied().unwrap_or(*rest),
        }
    }
}

fn raw_local(clip: &CurveClip, time_s: f64, joint: u16, rest: &Transform) -> Transform {
    let time_s = if time_s.is_nan() { 0.0 } else { time_s };
    let tracks = clip.tracks();
    let first = tracks.partition_point(|track: &Track| track.joint < joint);
    let own = &tracks[first..];
    let own = &own[..own.partition_point(|track| track.joint == joint)];
    let mut one = [*rest];
    animate_tracks(own, time_s, joint.into(), &mut one);
    one[0]
}
