//! The poses in which the errors of levels are measured.

use crate::character::asset::Character;
use crate::clip::put_onto;
use crate::error::Result;
use crate::id::Id;
use crate::mesh::{MorphWeight, PaletteJoint};
use crate::skeleton::Transform;
use glam::Affine3A;
use std::ops::Range;

/// The most frames of one clip that are measured. Longer clips are measured at this many frames,
/// evenly distributed.
const MOST_FRAMES: usize = 64;
/// The most frames of all clips, unless there are more clips.
const MOST_OF_ALL: usize = 2048;
/// The most poses half-way between frames of two clips.
const BLENDS: usize = 64;

/// A clip at a time.
#[derive(Debug, Clone, Copy)]
struct Moment {
    clip: usize,
    time_s: f64,
}

/// One pose.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shot {
    Rest,
    At(MomentIndex),
    /// Two moments with half the weight each.
    Blend(MomentIndex, MomentIndex),
}

/// Index of a moment.
type MomentIndex = usize;

/// A selection of the poses that a character takes.
pub(super) struct Poses<'a> {
    character: &'a Character,
    moments: Vec<Moment>,
    pub(super) shots: Vec<Shot>,
    /// The smallest and the largest value of each morph weight.
    pub(super) weights: Vec<[f32; 2]>,
}

impl<'a> Poses<'a> {
    /// The rest pose, poses of the clips in a range, and blends of these with all clips.
    ///
    /// Morph weights range over 0..=1, and further if they do at rest or in these clips.
    pub(super) fn new(character: &'a Character, clips: Range<usize>) -> Self {
        let mut poses = Self {
            character,
            moments: Vec::new(),
            shots: vec![Shot::Rest],
            weights: Vec::new(),
        };
        let rest = character.morph_weights().iter().map(|weight| weight.rest);
        poses.weights = rest.map(|rest| [rest.min(0.0), rest.max(1.0)]).collect();
        let count = character.clip_count();
        let frames = (MOST_OF_ALL / count.max(1)).clamp(1, MOST_FRAMES);
        let all: Vec<usize> = clips.clone().chain(0..clips.start).collect();
        let mut new = 0;
        for clip in all {
            for time_s in thinned(&poses.times_s(clip), frames) {
                poses.moments.push(Moment { clip, time_s });
            }
            if clips.contains(&clip) {
                new = poses.moments.len();
                poses.widen_weights(clip);
            }
        }
        poses.shots.extend((0..new).map(Shot::At));
        poses.add_blends(new);
        poses
    }

    /// Adds blends of the first `new` moments with all moments, which are far apart in time.
    fn add_blends(&mut self, new: usize) {
        let all = self.moments.len();
        // Steps by the golden ratio and by the square root of two meet all pairs evenly.
        let pick = |at: usize, ratio: f64, count: usize| {
            let part = (at as f64 * ratio).fract();
            (part * count as f64) as usize
        };
        let blends = (0..BLENDS.min(new)).map(|at| {
            let a = pick(at, 0.618_033_988_749_895, new);
            let b = pick(at, core::f64::consts::SQRT_2, all);
            Shot::Blend(a, b)
        });
        self.shots.extend(blends);
    }

    /// The times of a clip's frames. For curves, as many evenly distributed times.
    fn times_s(&self, clip: usize) -> Vec<f64> {
        match self.character.clips().get(clip) {
            Some(clip) => clip.key_times(),
            None => self.even_times_s(clip).collect(),
        }
    }

    /// Evenly distributed times of a clip.
    fn even_times_s(&self, clip: usize) -> impl Iterator<Item = f64> + use<> {
        let duration_s = match self.character.clips().get(clip) {
            Some(clip) => clip.duration_s(),
            None => {
                let curves = self.character.curves().get(clip);
                curves.map_or(0.0, |curves| curves.duration_s().into())
            }
        };
        let step = duration_s / (MOST_FRAMES - 1) as f64;
        (0..MOST_FRAMES).map(move |at| at as f64 * step)
    }

    /// Widens the ranges of morph weights by those of a clip.
    fn widen_weights(&mut self, clip: usize) {
        for time_s in self.even_times_s(clip) {
            let weights = &mut self.weights;
            let each = |weight: Id<MorphWeight>, value: f32| {
                if let Some([least, most]) = weights.get_mut(weight.index()) {
                    (*least, *most) = (least.min(value), most.max(value));
                }
            };
            if let Some(clip) = self.character.clips().get(clip) {
                clip.sample_weights(time_s, each);
            } else if let Some(curves) = self.character.curves().get(clip) {
                curves.sample_weights(time_s, each);
            }
        }
    }

    /// The local pose at a moment. An additive clip is added to the rest pose.
    fn local(&self, at: MomentIndex) -> Result<Vec<Transform>> {
        let Moment { clip, time_s } = self.moments[at];
        let rest = self.character.skeleton().rest_pose();
        let mut local = rest.clone();
        if let Some(clip) = self.character.clips().get(clip) {
            clip.sample(time_s, &mut local)?;
            if clip.is_additive() {
                let pairs = rest.iter().zip(&mut local);
                pairs.for_each(|(rest, local)| *local = put_onto(rest, local));
            }
        } else if let Some(curves) = self.character.curves().get(clip) {
            curves.sample(time_s, &mut local)?;
        }
        Ok(local)
    }

    /// The skinning matrices of a pose, one for each entry of the palette.
    pub(super) fn palette(&self, shot: Shot) -> Result<Vec<Affine3A>> {
        let skeleton = self.character.skeleton();
        let local = match shot {
            Shot::Rest => skeleton.rest_pose(),
            Shot::At(at) => self.local(at)?,
            Shot::Blend(a, b) => {
                let (a, b) = (self.local(a)?, self.local(b)?);
                a.iter().zip(&b).map(half_way).collect()
            }
        };
        let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
        skeleton.model_pose(&local, &mut model)?;
        let matrix = |entry: &PaletteJoint| model[usize::from(entry.joint)] * entry.inverse_bind;
        Ok(self.character.palette().iter().map(matrix).collect())
    }
}

fn half_way((a, b): (&Transform, &Transform)) -> Transform {
    let sign = if a.rotation.dot(b.rotation) < 0.0 {
        -1.0
    } else {
        1.0
    };
    let sum = a.rotation + b.rotation * sign;
    Transform {
        translation: (a.translation + b.translation) * 0.5,
        rotation: sum.normalize(),
        scale: (a.scale + b.scale) * 0.5,
    }
}

/// At most `most` of the elements, evenly distributed, with the first and the last.
fn thinned(all: &[f64], most: usize) -> impl Iterator<Item = f64> + '_ {
    let count = all.len().min(most);
    let last = all.len().saturating_sub(1);
    (0..count).map(move |at| all[at * last / count.saturating_sub(1).max(1)])
}
