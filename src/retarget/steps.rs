//! Detects the parts of a clip that move in steps, and the times of changes.

use super::plan::{Link, Plan};
use crate::clip::{CurveClip, Interpolation, Track, TrackValues};
use crate::error::{Error, Result};
use crate::skeleton::{NO_PARENT, Skeleton};

/// The source joints that move in steps, or not at all.
pub(super) struct Steps {
    /// For each joint, true if it or a joint above it moves smoothly.
    smooth: Vec<bool>,
    /// True if no joint moves smoothly.
    pub(super) all: bool,
}

impl Steps {
    pub(super) fn of(clip: &CurveClip, source: &Skeleton) -> Result<Self> {
        let mut smooth = vec![false; source.len()];
        for track in clip.tracks() {
            let Some(smooth) = smooth.get_mut(usize::from(track.joint)) else {
                return Err(Error::not_found("joint", track.joint.into(), source.len()));
            };
            *smooth |= is_smooth(track);
        }
        let all = !smooth.contains(&true);
        for (index, joint) in source.joints().iter().enumerate() {
            if joint.parent_index() != NO_PARENT {
                smooth[index] |= smooth[usize::from(joint.parent_index())];
            }
        }
        Ok(Self { smooth, all })
    }

    /// For each link, true if its source and those of the links above it move in steps.
    pub(super) fn links(&self, plan: &Plan, target: &Skeleton) -> Vec<bool> {
        let steps = |link: &Link| {
            let toward = link.toward.as_ref().is_none_or(|t| !self.smooth[t.source]);
            toward && !self.smooth[link.source]
        };
        let mut links = plan.links.iter().peekable();
        let (mut of_joint, mut of_link) = (Vec::new(), Vec::new());
        for (index, joint) in target.joints().iter().enumerate() {
            let mut own =
                joint.parent_index() == NO_PARENT || of_joint[usize::from(joint.parent_index())];
            if let Some(link) = links.next_if(|link| usize::from(link.target) == index) {
                own &= steps(link);
                of_link.push(own);
            }
            of_joint.push(own);
        }
        of_link
    }

    /// The tracks of joints that are not followed and have no followed joint below them.
    pub(super) fn unused(&self, clip: &CurveClip, plan: &Plan, source: &Skeleton) -> usize {
        let mut used = vec![false; self.smooth.len()];
        for link in &plan.links {
            used[link.source] = true;
            if let Some(toward) = &link.toward {
                used[toward.source] = true;
            }
        }
        for (index, joint) in source.joints().iter().enumerate().rev() {
            if used[index] && joint.parent_index() != NO_PARENT {
                used[usize::from(joint.parent_index())] = true;
            }
        }
        let tracks = clip.tracks().iter();
        tracks
            .filter(|track| !used[usize::from(track.joint)])
            .count()
    }
}

fn is_step(values: &TrackValues) -> bool {
    let interpolation = match values {
        TrackValues::Translation(keys) | TrackValues::Scale(keys) => keys.interpolation,
        TrackValues::Rotation(keys) => keys.interpolation,
    };
    interpolation == Interpolation::Step
}

fn is_smooth(track: &Track) -> bool {
    track.values.times_s().len() > 1 && !is_step(&track.values)
}

/// All key times, plus a time just before each step while other tracks move smoothly.
///
/// The step is then a jump between two adjacent times.
pub(super) fn key_times(clip: &CurveClip, steps: &Steps) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    for track in clip.tracks() {
        let own = track.values.times_s();
        times.extend(own);
        if !steps.all && is_step(&track.values) {
            times.extend(own.iter().skip(1).map(|time_s| time_s.next_down()));
        }
    }
    times.retain(|time_s| *time_s >= 0.0);
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}
