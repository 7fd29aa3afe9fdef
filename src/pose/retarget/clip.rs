//! Clips: keys where the source has some, and as many between as the poses need.

use super::frame::{Placed, place};
use super::plan::{Link, Plan};
use super::Retarget;
use crate::character::{
    Interpolation, Keys, NO_PARENT, RawClip, Skeleton, Track, TrackValues, Transform,
};
use crate::error::{Error, Result};
use crate::pose::animate;
use glam::{Quat, Vec3};

/// How a clip came over.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RetargetReport {
    /// How many keys the clip has, all tracks together.
    pub keys: usize,
    /// At how many times the source was posed for keys.
    pub times: usize,
    /// How far from the exact pose the clip leads a joint between its keys, at most, in metres of the target's model
    /// space: measured at a quarter, half and three quarters of the way between keys, for each joint at its own
    /// place and a tenth of the target's size beside it along each axis.
    pub max_error_m: f64,
    /// What it was to be at most.
    pub allowed_m: f64,
    /// Tracks of the source's joints that reach no joint of the target: neither the joint nor one below it is followed.
    pub unused_tracks: usize,
    /// Tracks of translation that are not followed, of joints that are: see
    /// [`Translations`](super::Translations).
    pub unused_translations: usize,
    /// Tracks of morph weights, which do not come over: a skeleton has none.
    pub weight_tracks: usize,
}

/// How often the time between two keys is halved.
const DEEPEST: u32 = 8;
/// Where between two keys the error is measured.
const BETWEEN: [f64; 3] = [0.25, 0.5, 0.75];

impl Retarget {
    /// The clip, of the source's skeleton, on the target's: of the same name, start and duration.
    ///
    /// Every joint that follows one gets a track of rotations; those whose place follows one of translations; those that
    /// follow a joint with a track of scales one of scales. There are keys wherever the source has some, and between
    /// them where the straight way would lead too far from the exact pose; what does not change has one. Where all that
    /// a joint follows moves in steps, so does it. A clip that ends as it starts does so here, too.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the clip drives a joint that the source lacks; [`Error::Capacity`] if the source's own keys
    /// make more keys than [`max_keys`](super::RetargetOptions::max_keys).
    pub fn clip(&mut self, clip: &RawClip) -> Result<(RawClip, RetargetReport)> {
        let steps = Steps::of(clip, &self.source)?;
        let driven = self.driven(clip);
        let times = key_times(clip, &steps);
        let tracks = driven.iter().flatten().filter(|driven| **driven).count().max(1);
        if times.len() > self.plan.max_keys / tracks {
            return Err(Error::Capacity {
                what: "keys of a retargeted clip",
                asked: times.len() as u64 * tracks as u64,
                cap: self.plan.max_keys as u64,
            });
        }
        let most_times = self.plan.max_keys / tracks;
        let mut work = Work::new(self, clip, most_times);
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
        Ok((RawClip::new(clip.name(), tracks, &self.target)?, report))
    }

    /// Of each link: whether its translation, rotation and scale get a track.
    fn driven(&self, clip: &RawClip) -> Vec<[bool; 3]> {
        let mut scaled = vec![false; self.source.len()];
        for track in clip.tracks() {
            if matches!(track.values, TrackValues::Scale(_)) {
                scaled[usize::from(track.joint)] = self.plan.scales;
            }
        }
        let of = |link: &Link| {
            let toward = link.toward.as_ref().is_some_and(|t| scaled[t.source]);
            let moves = link.moves || link.above.is_some();
            [moves, true, scaled[link.source] || toward]
        };
        let is_driven = !clip.tracks().is_empty();
        let links = self.plan.links.iter();
        links.map(|link| if is_driven { of(link) } else { [false; 3] }).collect()
    }

    fn tracks(
        &self,
        driven: &[[bool; 3]],
        keyed: &[(f32, Vec<Transform>)],
        steps: &Steps,
    ) -> Vec<Track> {
        let mut tracks = Vec::new();
        let (Some(first), Some(last)) = (keyed.first(), keyed.last()) else {
            return tracks;
        };
        for (at, (link, [moves, _, scales])) in self.plan.links.iter().zip(driven).enumerate() {
            let joint = link.target;
            let steps = steps.link(at, &self.plan, &self.target);
            let of = |local: &[Transform]| local[usize::from(joint)];
            let mut add = |values| tracks.push(Track { joint, values });
            if *moves {
                let values = keyed.iter().map(|(t, local)| (*t, of(local).translation));
                add(TrackValues::Translation(thinned(values, steps)));
            }
            let mut before = of(&first.1).rotation;
            let values = keyed.iter().map(|(t, local)| {
                let rotation = of(local).rotation;
                before = if before.dot(rotation) < 0.0 { -rotation } else { rotation };
                (*t, before)
            });
            add(TrackValues::Rotation(thinned(values, steps)));
            if *scales {
                let values = keyed.iter().map(|(t, local)| (*t, of(local).scale));
                add(TrackValues::Scale(thinned(values, steps)));
            }
        }
        keep_duration(&mut tracks, first.0, last.0);
        tracks
    }

    fn unused_translations(&self, clip: &RawClip) -> usize {
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
    fn allowed(&self) -> f64 {
        self.max_error * self.size_m
    }
}

/// One key where nothing changes; in steps, one for each change.
fn thinned<T: Copy + PartialEq>(values: impl Iterator<Item = (f32, T)>, steps: bool) -> Keys<T> {
    let mut keys = Keys {
        times_s: Vec::new(),
        values: Vec::new(),
        interpolation: if steps { Interpolation::Step } else { Interpolation::Linear },
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

/// Where no track reaches the clip's end any more, one holds its last key until then.
fn keep_duration(tracks: &mut [Track], start_s: f32, end_s: f32) {
    fn hold<T: Copy>(keys: &mut Keys<T>, end_s: f32) {
        if let Some(last) = keys.values.last().copied() {
            keys.times_s.push(end_s);
            keys.values.push(last);
        }
    }
    let reaches = |track: &Track| track.values.times_s().last() == Some(&end_s);
    if start_s < end_s && !tracks.iter().any(reaches)
        && let Some(track) = tracks.first_mut()
    {
        match &mut track.values {
            TrackValues::Translation(keys) | TrackValues::Scale(keys) => hold(keys, end_s),
            TrackValues::Rotation(keys) => hold(keys, end_s),
        }
    }
}

/// Which joints of the source move in steps, or not at all.
struct Steps {
    /// Of each joint: whether it or one above it moves smoothly.
    smooth: Vec<bool>,
    /// Whether none does.
    all: bool,
}

impl Steps {
    fn of(clip: &RawClip, source: &Skeleton) -> Result<Self> {
        let mut smooth = vec![false; source.len()];
        for track in clip.tracks() {
            let Some(smooth) = smooth.get_mut(usize::from(track.joint)) else {
                return Err(Error::NotFound {
                    what: "joint",
                    index: track.joint.into(),
                    count: source.len() as u64,
                });
            };
            *smooth |= is_smooth(track);
        }
        let all = !smooth.contains(&true);
        for (index, joint) in source.joints().iter().enumerate() {
            if joint.parent != NO_PARENT {
                smooth[index] |= smooth[usize::from(joint.parent)];
            }
        }
        Ok(Self { smooth, all })
    }

    /// Whether a link moves in steps: what it follows and what the links above it follow.
    fn link(&self, at: usize, plan: &Plan, target: &Skeleton) -> bool {
        let steps = |link: &Link| {
            let toward = link.toward.as_ref().is_none_or(|t| !self.smooth[t.source]);
            toward && !self.smooth[link.source]
        };
        let link = &plan.links[at];
        let mut parent = target.joints()[usize::from(link.target)].parent;
        while parent != NO_PARENT {
            let above = plan.links.binary_search_by_key(&parent, |link| link.target);
            if above.is_ok_and(|above| !steps(&plan.links[above])) {
                return false;
            }
            parent = target.joints()[usize::from(parent)].parent;
        }
        steps(link)
    }

    /// Tracks of joints that neither are followed nor have such below them.
    fn unused(&self, clip: &RawClip, plan: &Plan, source: &Skeleton) -> usize {
        let mut used = vec![false; self.smooth.len()];
        for link in &plan.links {
            used[link.source] = true;
            if let Some(toward) = &link.toward {
                used[toward.source] = true;
            }
        }
        for (index, joint) in source.joints().iter().enumerate().rev() {
            if used[index] && joint.parent != NO_PARENT {
                used[usize::from(joint.parent)] = true;
            }
        }
        let tracks = clip.tracks().iter();
        tracks.filter(|track| !used[usize::from(track.joint)]).count()
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

/// All times of keys, and those just before a step where other tracks move smoothly: a jump between two neighbours.
fn key_times(clip: &RawClip, steps: &Steps) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    for track in clip.tracks() {
        let own = track.values.times_s();
        times.extend(own);
        if !steps.all && is_step(&track.values) {
            times.extend(own.iter().skip(1).map(|time_s| time_s.next_down()));
        }
    }
    times.retain(|time_s| *time_s >= 0.0);
    times.sort_unstable_by(f32::total_cmp);
    times.dedup();
    times
}

/// Poses of a clip, and what is between keys.
struct Work<'a> {
    retarget: &'a mut Retarget,
    clip: &'a RawClip,
    local: Vec<Transform>,
    rest: Vec<Transform>,
    most_times: usize,
    worst: f64,
    placed: [Vec<Placed>; 2],
}

impl<'a> Work<'a> {
    fn new(retarget: &'a mut Retarget, clip: &'a RawClip, most_times: usize) -> Self {
        let rest: Vec<_> = retarget.source.joints().iter().map(|joint| joint.rest).collect();
        Self {
            retarget,
            clip,
            local: rest.clone(),
            rest,
            most_times,
            worst: 0.0,
            placed: [Vec::new(), Vec::new()],
        }
    }

    /// The target's pose at a time of the clip.
    fn exact(&mut self, time_s: f64) -> Result<Vec<Transform>> {
        self.local.copy_from_slice(&self.rest);
        animate(self.clip, time_s, &mut self.local)?;
        let mut pose = vec![Transform::IDENTITY; self.retarget.target.len()];
        self.retarget.pose(&self.local, &mut pose)?;
        Ok(pose)
    }

    /// Adds keys behind key `last` until the way to the next is near enough to the exact poses.
    fn fill(
        &mut self,
        keyed: &mut Vec<(f32, Vec<Transform>)>,
        last: usize,
        next: (f32, &[Transform]),
    ) -> Result<()> {
        let mut from = keyed[last].clone();
        // What lies ahead, nearest last, and how often its way was halved.
        let mut ahead = vec![(next.0, next.1.to_vec(), 0)];
        while let Some((time_s, pose, depth)) = ahead.pop() {
            let middle = ((f64::from(from.0) + f64::from(time_s)) * 0.5) as f32;
            let error = if from.0.next_up() < time_s {
                self.error((from.0, &from.1), (time_s, &pose))?
            } else {
                0.0
            };
            let is_room = keyed.len() + ahead.len() + 2 < self.most_times;
            let can_halve = depth < DEEPEST && is_room && from.0 < middle && middle < time_s;
            if error > self.retarget.plan.allowed() && can_halve {
                let between = self.exact(middle.into())?;
                ahead.push((time_s, pose, depth + 1));
                ahead.push((middle, between, depth + 1));
                continue;
            }
            self.worst = self.worst.max(error);
            if !ahead.is_empty() {
                keyed.push((time_s, pose.clone()));
            }
            from = (time_s, pose);
        }
        Ok(())
    }

    /// How far the straight way between two keys leads from the exact poses.
    fn error(&mut self, from: (f32, &[Transform]), to: (f32, &[Transform])) -> Result<f64> {
        let mut worst = 0.0_f64;
        let reach = self.retarget.plan.size_m * 0.1;
        for part in BETWEEN {
            let time_s = f64::from(from.0) * (1.0 - part) + f64::from(to.0) * part;
            let exact = self.exact(time_s)?;
            let pairs = from.1.iter().zip(to.1);
            let way: Vec<_> = pairs.map(|(from, to)| between(from, to, part as f32)).collect();
            let [a, b] = &mut self.placed;
            place(&self.retarget.target, &exact, a);
            place(&self.retarget.target, &way, b);
            for (a, b) in a.iter().zip(b.iter()) {
                // Twice the sine of half the angle, over a tenth of the size.
                let (p, q) = (a.rotation, b.rotation);
                let chord = 2.0 * (p - q).length().min((p + q).length());
                let off = a.position().distance(b.position()) + chord * reach;
                worst = if off.is_finite() { worst.max(off) } else { f64::INFINITY };
            }
        }
        Ok(worst)
    }
}

fn between(from: &Transform, to: &Transform, part: f32) -> Transform {
    let rotation: Quat = from.rotation.slerp(to.rotation, part);
    let straight = |from: Vec3, to: Vec3| from.lerp(to, part);
    Transform {
        translation: straight(from.translation, to.translation),
        rotation,
        scale: straight(from.scale, to.scale),
    }
}

