//! Measures the space that a model's clips need, from vertices at several times of each clip.

use std::f32::consts::FRAC_PI_2;

use throng::Id;
use throng::animator::{Animator, Play};
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::{Vec2, Vec3};
use throng::mesh::Aabb;
use throng::motion::LoopMode;
use throng::palette::{Mat3x4, WriteOnly};

use super::Result;
use super::model::Act;

/// Number of times per clip.
const SAMPLES: usize = 25;
/// Number of vertices to look at, for all clips together.
const VERTICES: usize = 60_000;

/// Poses a character at several times and looks at some of its vertices.
pub(crate) struct Measure<'a> {
    character: &'a Character,
    animator: Animator,
    palettes: Vec<Mat3x4>,
    /// Indices of primitive and vertex.
    vertices: Vec<(usize, usize)>,
}

impl<'a> Measure<'a> {
    /// Prepares to measure this number of clips.
    pub(crate) fn new(character: &'a Character, clips: usize) -> Result<Self> {
        let wanted = (VERTICES / clips.max(1)).max(200);
        // Meshes for far away stand out, and have no triangles at full detail.
        let all = character.primitives().iter().enumerate();
        let all = all.filter(|(_, primitive)| !primitive.indices.is_empty());
        let all = all.flat_map(|(p, primitive)| (0..primitive.vertex_count()).map(move |v| (p, v)));
        let stride = all.clone().count().div_ceil(wanted).max(1);
        Ok(Self {
            character,
            animator: Animator::new(character)?,
            palettes: vec![Mat3x4::IDENTITY; SAMPLES * character.palette().len()],
            vertices: all.step_by(stride).collect(),
        })
    }

    pub(crate) fn act(&mut self, clip: Option<Id<Clip>>, weight: f32) -> Result<Act> {
        let clips = self.character.clips();
        let played = clip.and_then(|clip| clips.get(clip.index()));
        let duration_s = played.map_or(0.0, |clip| clip.duration_s());
        let poses = self.poses(clip, duration_s)?;
        let bounds = |points: &[Vec3]| points.iter().fold(Aabb::EMPTY, |all, p| all.with_point(*p));
        let whole = poses
            .iter()
            .fold(Aabb::EMPTY, |all, pose| all.union(bounds(pose)));
        let center = Vec2::new(whole.center().x, whole.center().z);
        let gait = clip.and_then(|clip| self.character.gait(clip).copied());
        let ahead = Vec2::from_angle(FRAC_PI_2 - gait.map_or(0.0, |gait| gait.heading_rad));
        let most = |reach: fn(Vec2, Vec2) -> f32| {
            let all = poses.iter().flatten();
            let all = all.map(|p| reach(Vec2::new(p.x, p.z) - center, ahead));
            usual(all.collect())
        };
        let first = poses.first().map(|pose| bounds(pose).size());
        Ok(Act {
            clip,
            duration_s: duration_s as f32,
            center,
            radius: most(|at, _| at.length()),
            along: most(|at, ahead| at.dot(ahead).abs()),
            across: most(|at, ahead| at.perp_dot(ahead).abs()),
            floor: if whole.is_empty() { 0.0 } else { whole.min.y },
            height: whole.size().y,
            size: first.map_or(0.0, |size| size.max_element()),
            gait,
            weight,
        })
    }

    /// Vertex positions at times from the start of a clip to its end.
    ///
    /// Positions that are not finite are left out.
    fn poses(&mut self, clip: Option<Id<Clip>>, duration_s: f64) -> Result<Vec<Vec<Vec3>>> {
        let count = if duration_s > 0.0 { SAMPLES } else { 1 };
        let mut actors = Vec::new();
        for sample in 0..count {
            actors.push(self.animator.add(Play {
                clip: clip.map(Into::into),
                offset_s: duration_s * sample as f64 / (SAMPLES - 1) as f64,
                loop_mode: LoopMode::Once,
                ..Play::REST
            })?);
        }
        let entries = self.character.palette().len();
        let palettes = &mut self.palettes[..count * entries];
        self.animator.palettes(&actors, WriteOnly::from(palettes))?;
        for actor in actors {
            self.animator.remove(actor)?;
        }
        let palettes = self.palettes.chunks(entries.max(1)).take(count);
        Ok(palettes.map(|palette| self.positions(palette)).collect())
    }

    fn positions(&self, palette: &[Mat3x4]) -> Vec<Vec3> {
        let at = |(p, v): &(usize, usize)| {
            let primitive = self.character.primitives().get(*p)?;
            let position = *primitive.positions.get(*v)?;
            let palette = palette.get(self.character.palette_range(primitive))?;
            let mut sum = Vec3::ZERO;
            for (joint, weight) in primitive.influences(*v) {
                sum += palette.get(joint)?.transform_point(position) * weight;
            }
            Some(if sum.is_finite() { sum } else { Vec3::ZERO })
        };
        self.vertices.iter().filter_map(at).collect()
    }
}

/// The reach that all but a few of them do not exceed.
fn usual(mut reaches: Vec<f32>) -> f32 {
    let last = reaches.len() * 24 / 25;
    if last >= reaches.len() {
        return 0.0;
    }
    1.03 * *reaches.select_nth_unstable_by(last, f32::total_cmp).1
}
