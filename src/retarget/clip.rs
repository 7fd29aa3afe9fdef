//! Retargets clips: keeps the source's key times and adds keys where needed.

use super::apply::Retarget;
use super::between::{Steps, Work, key_times};
use super::options::moving_in_vrm;
use super::plan::{Link, Plan};
use crate::clip::{CurveClip, Interpolation, Keys, Track, TrackValues, is_opposite};
use crate::error::{Error, Result};
use crate::skeleton::Transform;
use glam::Quat;

/// The largest difference of a quaternion's component that is due to rounding.
const ROUNDING: f32 = 1e-6;

/// The result of retargeting a clip.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RetargetReport {
    /// The number of keys in the clip, over all tracks.
    pub keys: usize,
    /// The number of points in time at which the source was posed for keys.
    pub times: usize,
    /// The largest error of a joint between keys, in metres.
    ///
    /// It is the distance from the exact pose in the target's model space, measured at a quarter,
    /// half and three quarters of each interval. Each joint is measured at its own position and at
    /// a tenth of the target's size beside it along each axis.
    pub max_error_m: f64,
    /// The largest allowed error, in metres.
    pub allowed_m: f64,
    /// The number of tracks of source joints that affect no target joint.
    ///
    /// Neither the joint nor any joint below it is followed.
    pub unused_tracks: usize,
    /// The number of translation tracks that are not used although their joints are followed.
    ///
    /// See [`all_translations`](crate::retarget::RetargetOptions::all_translations).
    pub unused_translations: usize,
    /// The number of morph weight tracks. They are dropped because a skeleton has no morph weights.
    pub weight_tracks: usize,
}

impl Retarget {
    /// Retargets a clip of the source's skeleton to the target's.
    ///
    /// The result has the same name, start and duration.
    ///
    /// - Every joint that follows one gets a rotation track. With a VRM Animation, only those do
    ///   that the clip turns from their rest pose.
    /// - Joints whose positions follow one also get a translation track.
    /// - Joints that follow a joint with a scale track also get a scale track.
    ///
    /// There are keys at all key times of the source, and in between if interpolation would deviate
    /// too much from the exact pose. A constant track has one key. If everything that a joint
    /// follows moves in steps, the joint does so, too. A clip that ends as it starts still does so
    /// here.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the clip drives a joint that the source lacks.
    /// - [`Error::Capacity`] if the source's own keys need more keys than
    ///   [`max_keys`](crate::retarget::RetargetOptions::max_keys).
    pub fn clip(&mut self, clip: &CurveClip) -> Result<(CurveClip, RetargetReport)> {
        let steps = Steps::of(clip, &self.source)?;
        let driven = self.driven(clip);
        let times = key_times(clip, &steps);
        let tracks = driven
            .iter()
            .flatten()
            .filter(|driven| **driven)
            .count()
            .max(1);
        let max_keys = self.plan.max_times.saturating_mul(tracks);
        let max_keys = max_keys.min(self.plan.max_keys);
        let Some(spare) = (max_keys / tracks).checked_sub(times.len()) else {
            return Err(Error::Capacity {
                what: "keys of a retargeted clip",
                asked: times.len() as u64 * tracks as u64,
                cap: max_keys as u64,
            });
        };
        let mut work = Work::new(self, clip, spare);
        let mut keyed: Vec<(f32, Vec<Transform>)> = Vec::with_capacity(times.len());
        for time_s in times {
            let pose = work.exact(time_s.into())?;
            if let (Some(last), false) = (keyed.len().checked_sub(1), steps.all) {
                work.fill(&mut keyed, last, (time_s, &pose))?;
            }
            keyed.push((time_s, pose));
        }
        let max_error_m = work.worst;
        let tracks = self.tracks(&driven, &keyed, &steps);
        let count = |track: &Track| track.values.times_s().len();
        let report = RetargetReport {
            keys: tracks.iter().map(count).sum(),
            times: keyed.len(),
            max_error_m,
            allowed_m: self.plan.allowed(),
            unused_tracks: steps.unused(clip, &self.plan, &self.source),
            unused_translations: self.unused_translations(clip),
            weight_tracks: clip.weight_tracks().len(),
        };
        let made = CurveClip::of_aligned(clip.name(), tracks, &self.target)?;
        Ok((made.with_range_of(clip), report))
    }

    /// For each link, true if its translation, rotation and scale get a track.
    fn driven(&self, clip: &CurveClip) -> Vec<[bool; 3]> {
        let moving = self.plan.of_vrm.then(|| moving_in_vrm(clip, &self.source));
        let mut scaled = vec![false; self.source.len()];
        let mut rotated = scaled.clone();
        for track in clip.tracks() {
            match track.values {
                TrackValues::Scale(_) => scaled[usize::from(track.joint)] = self.plan.scales,
                TrackValues::Rotation(_) => rotated[usize::from(track.joint)] = true,
                TrackValues::Translation(_) => {}
            }
        }
        let of = |link: &Link| {
            let toward = link.toward.as_ref().is_some_and(|t| scaled[t.source]);
            let moves = link.moves || link.above.is_some();
            // Hips that the clip does not move stay where the target has them.
            let moves = moves && moving.as_ref().is_none_or(|moving| moving[link.source]);
            let rotates = !self.plan.of_vrm || rotated[link.source];
            [moves, rotates, scaled[link.source] || toward]
        };
        let is_driven = !clip.tracks().is_empty();
        let links = self.plan.links.iter();
        links
            .map(|link| if is_driven { of(link) } else { [false; 3] })
            .collect()
    }

    fn tracks(
        &self,
        driven: &[[bool; 3]],
        keyed: &[(f32, Vec<Transform>)],
        steps: &Steps,
    ) -> Vec<Track> {
        let mut tracks = Vec::new();
        let Some(first) = keyed.first() else {
            return tracks;
        };
        let in_steps = steps.links(&self.plan, &self.target);
        let links = self.plan.links.iter().zip(driven).enumerate();
        for (at, (link, [moves, rotates, scales])) in links {
            let joint = link.target;
            let steps = in_steps[at];
            let of = |local: &[Transform]| local[at];
            let mut add = |values| tracks.push(Track { joint, values });
            if *moves {
                let values = keyed.iter().map(|(t, local)| (*t, of(local).translation));
                add(TrackValues::Translation(thinned(values, steps)));
            }
            let mut before = of(&first.1).rotation;
            let values = keyed.iter().map(|(t, local)| {
                let rotation = of(local).rotation;
                before = if is_opposite(before, rotation) {
                    -rotation
                } else {
                    rotation
                };
                (*t, before)
            });
            let keys = thinned(values, steps);
            let is_rest = |q: &Quat| q.abs_diff_eq(link.rest.rotation, ROUNDING);
            if *rotates || !keys.values.iter().all(is_rest) {
                add(TrackValues::Rotation(keys));
            }
            if *scales {
                let values = keyed.iter().map(|(t, local)| (*t, of(local).scale));
                add(TrackValues::Scale(thinned(values, steps)));
            }
        }
        tracks
    }

    fn unused_translations(&self, clip: &CurveClip) -> usize {
        let mut follows = vec![None; self.source.len()];
        for link in &self.plan.links {
            let moves = link.moves || link.above.is_some();
            let follows = &mut follows[link.source];
            *follows = Some(follows.unwrap_or(false) || moves);
        }
        let unused = |track: &&Track| match &track.values {
            TrackValues::Translation(keys) => {
                let is_still = keys.values.windows(2).all(|pair| pair[0] == pair[1]);
                !is_still && follows[usize::from(track.joint)] == Some(false)
            }
            _ => false,
        };
        clip.tracks().iter().filter(unused).count()
    }
}

impl Plan {
    pub(super) fn allowed(&self) -> f64 {
        self.max_error * self.size_m
    }
}

/// Reduces keys: one if nothing changes, or one per change if the track moves in steps.
fn thinned<T: Copy + PartialEq>(values: impl Iterator<Item = (f32, T)>, steps: bool) -> Keys<T> {
    let mut keys = Keys {
        times_s: Vec::new(),
        values: Vec::new(),
        interpolation: if steps {
            Interpolation::Step
        } else {
            Interpolation::Linear
        },
    };
    for (time_s, value) in values {
        if !steps || keys.values.last() != Some(&value) {
            keys.times_s.push(time_s);
            keys.values.push(value);
        }
    }
    if keys.values.windows(2).all(|pair| pair[0] == pair[1]) {
        keys.times_s.truncate(1);
        keys.values.truncate(1);
    }
    keys
}
