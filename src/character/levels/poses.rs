//! The poses in which the errors of levels are measured, and the vertices in one of them.

use crate::character::asset::Character;
use crate::clip::put_onto;
use crate::error::Result;
use crate::id::Id;
use crate::mesh::{MorphWeight, PaletteJoint, Primitive};
use crate::skeleton::Transform;
use glam::{Affine3A, Vec3A};
use rayon::prelude::*;
use std::ops::Range;

/// The most frames of one clip that are measured. Longer clips are measured at this many frames,
/// evenly distributed.
const MOST_FRAMES: usize = 64;
/// The most frames of all clips, unless there are more clips.
const MOST_OF_ALL: usize = 2048;
/// The most poses half-way between frames of two clips.
const BLENDS: usize = 64;

/// The distance, relative to the size of the character, beyond which a pose is moved back.
const FAR: f32 = 0.5;

/// Moves a pose that has gone far back to where the rest pose is. Where a character goes says
/// nothing about its shape, and would cost numbers their digits.
pub(super) fn move_back(pose: &mut [Vec3A], rest: &[Vec3A], size: f32) {
    let middle = |all: &[Vec3A]| all.iter().sum::<Vec3A>() / all.len().max(1) as f32;
    let moved = middle(pose) - middle(rest);
    if moved.length() > FAR * size {
        pose.iter_mut().for_each(|at| *at -= moved);
    }
}

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
            clip.sample_portable(time_s, &mut local)?;
            if clip.is_additive() {
                let pairs = rest.iter().zip(&mut local);
                pairs.for_each(|(rest, local)| *local = put_onto(rest, local));
            }
        } else if let Some(curves) = self.character.curves().get(clip) {
            curves.sample(time_s, &mut local)?;
        }
        Ok(local)
    }

    /// The rest pose and the poses that differ most from it and from each other, at most `count`,
    /// wherever they go.
    pub(super) fn spread(&self, count: usize) -> Result<Vec<Shot>> {
        // Where the middle of what each entry moves goes.
        let places = |shot: &Shot| -> Result<Vec<Vec3A>> {
            let palette = self.palette(*shot)?;
            let entries = self.character.palette().iter().zip(palette);
            let entries = entries.filter(|(entry, _)| !entry.bounds.is_empty());
            let places = |(entry, matrix): (&PaletteJoint, Affine3A)| {
                let (least, most) = (Vec3A::from(entry.bounds.min), Vec3A::from(entry.bounds.max));
                // Opposite corners turn with it.
                [least, most, (least + most) * 0.5].map(|at| matrix.transform_point3a(at))
            };
            Ok(entries.flat_map(places).collect())
        };
        let places: Result<Vec<_>> = self.shots.par_iter().map(places).collect();
        let mut places = places?;
        if let [rest, others @ ..] = &mut places[..] {
            let size = self.character.rest_bounds().size().max_element();
            others.iter_mut().for_each(|it| move_back(it, rest, size));
        }
        let apart = |a: &[Vec3A], b: &[Vec3A]| {
            let all = a.iter().zip(b).map(|(a, b)| a.distance_squared(*b));
            all.fold(0.0, f32::max)
        };
        let mut least = vec![f32::INFINITY; places.len()];
        let (mut chosen, mut next) = (Vec::new(), 0);
        while chosen.len() < count && least.get(next).is_some_and(|least| *least > 0.0) {
            chosen.push(self.shots[next]);
            for (least, place) in least.iter_mut().zip(&places) {
                *least = least.min(apart(place, &places[next]));
            }
            let all = least.iter().enumerate();
            next = all
                .max_by(|a, b| a.1.total_cmp(b.1))
                .map_or(0, |(at, _)| at);
        }
        Ok(chosen)
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

/// The morph deltas of a primitive, by vertex.
pub(super) struct Deltas {
    /// The deltas of vertex `v` are `all[starts[v]..starts[v + 1]]`.
    starts: Vec<u32>,
    /// The target, and the offset of the position in mesh space.
    all: Vec<(u32, Vec3A)>,
}

impl Deltas {
    pub(super) fn new(primitive: &Primitive) -> Self {
        let mut starts = vec![0_u32; primitive.vertex_count() + 1];
        let targets = || {
            let targets = (0..).zip(&primitive.targets);
            targets.flat_map(|(number, target)| {
                let deltas = target.vertices.iter().zip(&target.positions);
                deltas.map(move |(vertex, delta)| (number, *vertex as usize, Vec3A::from(*delta)))
            })
        };
        for (_, vertex, _) in targets() {
            starts[vertex + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut all = vec![(0, Vec3A::ZERO); starts.last().map_or(0, |end| *end as usize)];
        for (number, vertex, delta) in targets() {
            all[next[vertex] as usize] = (number, delta);
            next[vertex] += 1;
        }
        Self { starts, all }
    }

    /// The deltas of a vertex, as a range of all deltas.
    fn range(&self, vertex: u32) -> Range<usize> {
        let at = vertex as usize;
        self.starts[at] as usize..self.starts[at + 1] as usize
    }
}

/// The vertices of a primitive and its morph deltas in one pose, in character space.
///
/// Skinning is linear blending.
pub(super) struct Posed<'a> {
    deltas: &'a Deltas,
    /// Without morph targets.
    pub(super) positions: Vec<Vec3A>,
    /// The vectors of all deltas.
    vectors: Vec<Vec3A>,
}

impl<'a> Posed<'a> {
    /// `palette` is that of the character. If `rigid`, each vertex follows its strongest joint
    /// alone.
    pub(super) fn new(
        primitive: &Primitive,
        deltas: &'a Deltas,
        palette: &[Affine3A],
        rigid: bool,
    ) -> Self {
        let entries = &palette[primitive.palette.start as usize..primitive.palette.end as usize];
        let most = if rigid { 1 } else { usize::MAX };
        let count = primitive.vertex_count();
        let mut positions = Vec::with_capacity(count);
        let morphed = if deltas.all.is_empty() { 0 } else { count };
        let ends = deltas.starts[morphed] as usize;
        let mut vectors = Vec::with_capacity(ends);
        for vertex in 0..count {
            let mut influences = primitive.influences(vertex).take(most);
            let Some((first, _)) = influences.next() else {
                continue;
            };
            // Equal matrices give exactly their own result, whatever the weights.
            let mut matrix = entries[first];
            for (joint, weight) in influences.filter(|influence| influence.1 > 0.0) {
                let (other, first) = (&entries[joint], &entries[first]);
                matrix.matrix3 += (other.matrix3 - first.matrix3) * weight;
                matrix.translation += (other.translation - first.translation) * weight;
            }
            positions.push(matrix.transform_point3a(primitive.positions[vertex].into()));
            if morphed > 0 {
                let own = &deltas.all[deltas.range(vertex as u32)];
                vectors.extend(own.iter().map(|(_, delta)| matrix.matrix3 * *delta));
            }
        }
        Self {
            deltas,
            positions,
            vectors,
        }
    }

    /// The morph targets that move a vertex, and its offsets at weight 1.
    pub(super) fn offsets(&self, vertex: u32) -> impl Iterator<Item = (usize, Vec3A)> + '_ {
        let range = match self.vectors.is_empty() {
            true => 0..0,
            false => self.deltas.range(vertex),
        };
        let numbers = self.deltas.all[range.clone()].iter();
        let vectors = self.vectors[range].iter();
        let pairs = numbers.zip(vectors);
        pairs.map(|((target, _), vector)| (*target as usize, *vector))
    }
}
