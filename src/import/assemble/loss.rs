//! Measures over the clips by how much a limit of influences moves vertices.

use super::palette::Entries;
use super::primitive::Draft;
use crate::clip::CurveClip;
use crate::error::Result;
use crate::id::Id;
use crate::import::imported::InfluenceLoss;
use crate::mesh::linear;
use crate::skeleton::Skeleton;
use glam::{Affine3A, DMat3, DVec3};

/// The most poses that are measured, besides the rest pose.
const MAX_POSES: u64 = 4096;
/// The most influences that are evaluated, over all poses.
const MAX_WORK: u64 = 1 << 28;
/// Steps from one key time to the next.
const STEPS: usize = 4;

/// The vertices that lost influences.
#[derive(Debug, Default)]
pub(super) struct Losses {
    vertices: Vec<Vertex>,
    /// (index into `pairs`, weight).
    changes: Vec<(u32, f64)>,
    /// The joint and inverse bind matrix of each palette entry that matters.
    pairs: Vec<(u16, Affine3A)>,
}

#[derive(Debug)]
struct Vertex {
    primitive: usize,
    number: u32,
    position: DVec3,
    /// One past the index of its last change.
    end: usize,
}

impl Losses {
    /// Takes the lost influences out of the drafts. Every draft becomes a primitive, in order.
    pub(super) fn new(entries: &Entries, drafts: &mut [Draft]) -> Self {
        let mut all = Self::default();
        if drafts.iter().all(|draft| draft.dropped.is_empty()) {
            return all;
        }
        let pairs = entries.pairs();
        let mut indices = vec![u32::MAX; pairs.len()];
        for (primitive, draft) in drafts.iter_mut().enumerate() {
            for one in std::mem::take(&mut draft.dropped) {
                for (entry, units) in one.change {
                    let index = &mut indices[entry as usize];
                    if *index == u32::MAX {
                        *index = all.pairs.len() as u32;
                        all.pairs.push(pairs[entry as usize]);
                    }
                    all.changes.push((*index, f64::from(units) / 65_535.0));
                }
                all.vertices.push(Vertex {
                    primitive,
                    number: one.vertex,
                    position: draft.primitive.positions[one.vertex as usize].as_dvec3(),
                    end: all.changes.len(),
                });
            }
        }
        all
    }

    /// The largest displacement of any of the vertices, in any pose that is measured.
    pub(super) fn measure(
        &self,
        skeleton: &Skeleton,
        clips: &[CurveClip],
    ) -> Result<Option<InfluenceLoss>> {
        let mut worst: Option<InfluenceLoss> = None;
        if self.vertices.is_empty() {
            return Ok(None);
        }
        let rest = skeleton.rest_pose();
        let (mut local, mut model) = (rest.clone(), vec![Affine3A::IDENTITY; rest.len()]);
        let (mut matrices, mut poses) = (Vec::new(), 0);
        let mut look = |clip: Option<(usize, f64)>| -> Result<()> {
            poses += 1;
            local.copy_from_slice(&rest);
            if let Some((clip, time_s)) = clip {
                clips[clip].sample(time_s, &mut local)?;
            }
            skeleton.model_pose(&local, &mut model)?;
            matrices.clear();
            let skinning =
                |(joint, bind): &(u16, Affine3A)| wide(&model[usize::from(*joint)], bind);
            matrices.extend(self.pairs.iter().map(skinning));
            let (vertex, displacement_m) = self.furthest(&matrices);
            if worst.is_none_or(|worst| displacement_m > worst.displacement_m) {
                worst = Some(InfluenceLoss {
                    displacement_m,
                    primitive: vertex.primitive,
                    vertex: vertex.number as usize,
                    clip: clip.map(|(clip, _)| Id::new(clip as u16)),
                    time_s: clip.map_or(0.0, |(_, time_s)| time_s),
                    vertices: self.vertices.len() as u64,
                    poses: 0,
                });
            }
            Ok(())
        };
        look(None)?;
        // A joint has up to three tracks.
        let cost = self.changes.len() + self.pairs.len() + skeleton.len() * 4;
        let budget = MAX_POSES.min((MAX_WORK / cost as u64).max(1));
        for pose in chosen(clips, budget) {
            look(Some(pose))?;
        }
        Ok(worst.map(|worst| InfluenceLoss { poses, ..worst }))
    }

    /// The vertex with the largest displacement, and that displacement. There is at least one
    /// vertex.
    fn furthest(&self, matrices: &[(DMat3, DVec3)]) -> (&Vertex, f64) {
        let mut start = 0;
        let mut furthest = (&self.vertices[0], 0.0);
        for vertex in &self.vertices {
            let changes = &self.changes[start..vertex.end];
            start = vertex.end;
            let moved: DVec3 = changes
                .iter()
                .map(|(index, weight)| {
                    let (linear, offset) = &matrices[*index as usize];
                    (*linear * vertex.position + *offset) * *weight
                })
                .sum();
            let length = moved.length();
            let length = if length.is_nan() {
                f64::INFINITY
            } else {
                length
            };
            if length > furthest.1 {
                furthest = (vertex, length);
            }
        }
        furthest
    }
}

/// The product in `f64`.
fn wide(model: &Affine3A, inverse_bind: &Affine3A) -> (DMat3, DVec3) {
    let own = linear(model);
    let offset = glam::Vec3::from(inverse_bind.translation).as_dvec3();
    let origin = glam::Vec3::from(model.translation).as_dvec3();
    (own * linear(inverse_bind), own * offset + origin)
}

/// The poses to measure: all poses at and between the keys of the clips, or `budget` poses that are
/// spread evenly over them.
fn chosen(clips: &[CurveClip], budget: u64) -> Vec<(usize, f64)> {
    let times: Vec<Vec<f32>> = clips.iter().map(CurveClip::key_times).collect();
    let steps = |times: &Vec<f32>| match times.len() {
        0 => 0,
        keys => (keys - 1) * STEPS + 1,
    };
    let total: u64 = times.iter().map(|times| steps(times) as u64).sum();
    let take = total.min(budget);
    let (mut poses, mut passed) = (Vec::with_capacity(take as usize), 0_u64);
    for (clip, times) in times.iter().enumerate() {
        for step in 0..steps(times) {
            // With each step, the integer part of `passed × take / total` grows by 0 or 1, so
            // `take` times in all.
            let share = |passed: u64| passed * take / total;
            passed += 1;
            if share(passed) > share(passed - 1) {
                poses.push((clip, time_of(times, step)));
            }
        }
    }
    poses
}

fn time_of(times: &[f32], step: usize) -> f64 {
    let at = |key: usize| times.get(key).copied().map(f64::from);
    let from = at(step / STEPS).unwrap_or(0.0);
    let to = at(step / STEPS + 1).unwrap_or(from);
    from + (to - from) * ((step % STEPS) as f64 / STEPS as f64)
}
