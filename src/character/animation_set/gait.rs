//! How fast the ground passes under a clip: measured on the vertices that touch it.

use super::desc::Gait;
use crate::character::{Aabb, Affine, Character, JointId, Transform};
use crate::pose::{Clip, model_pose};
use glam::{Vec2, Vec3};

/// Times of a clip that are looked at.
const SAMPLES: usize = 25;
/// Vertices that are looked at, all clips together, and of each clip at least and at most.
const VERTICES: usize = 60_000;
const OF_CLIP: [usize; 2] = [200, 4000];
/// The part of the height in which a vertex counts as on the ground, and that in which the lowest
/// one does.
const TOUCHES: f32 = 0.004;
const GROUNDED: f32 = 0.02;
/// What the velocities of all that touches the ground have in common at least, of all that they
/// are: feet that dance go this way and that.
const TOGETHER: f32 = 0.85;
/// How fast is no longer standing, in sizes of the character a second.
const STANDS: f32 = 0.15;

/// Some of a character's vertices, ready to be posed.
#[derive(Debug)]
pub(super) struct GaitMeasure<'a> {
    character: &'a Character,
    rest: Vec<Transform>,
    vertices: Vec<Vertex>,
    /// What moves a vertex: a place in `entries`, and how much.
    influences: Vec<(u32, f32)>,
    /// The palette entries that matter: a joint and its inverse bind matrix.
    entries: Vec<(JointId, Affine)>,
}

#[derive(Debug)]
struct Vertex {
    position: Vec3,
    /// One past its last influence.
    end: usize,
}

impl<'a> GaitMeasure<'a> {
    /// For a character of so many clips.
    pub(super) fn new(character: &'a Character, clips: usize) -> Self {
        let [least, most] = OF_CLIP;
        let wanted = (VERTICES / clips.max(1)).clamp(least, most);
        let stride = character.vertex_count().div_ceil(wanted).max(1);
        let mut places = vec![u32::MAX; character.palette().len()];
        let (mut vertices, mut influences, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = 0;
        for primitive in character.primitives() {
            let count = primitive.vertex_count();
            let first = character.palette_range(primitive).start;
            while next < count {
                let Some(position) = primitive.positions.get(next) else {
                    break;
                };
                for (joint, weight) in primitive.influences.of(next) {
                    let (Some(place), Some(entry)) = (
                        places.get_mut(first + joint),
                        character.palette().get(first + joint),
                    ) else {
                        continue;
                    };
                    if *place == u32::MAX {
                        *place = entries.len() as u32;
                        entries.push((entry.joint, entry.inverse_bind));
                    }
                    influences.push((*place, weight));
                }
                vertices.push(Vertex {
                    position: *position,
                    end: influences.len(),
                });
                next += stride;
            }
            next -= count;
        }
        Self {
            rest: character.skeleton().rest_pose(),
            character,
            vertices,
            influences,
            entries,
        }
    }

    /// The gait of a clip; none if what touches the ground stands, or does not move as one.
    pub(super) fn of(&self, clip: &Clip) -> Option<Gait> {
        let duration_s = clip.duration_s();
        if self.vertices.is_empty()
            || duration_s.partial_cmp(&0.0) != Some(core::cmp::Ordering::Greater)
        {
            return None;
        }
        let step_s = duration_s / (SAMPLES - 1) as f64;
        let mut poses = Vec::with_capacity(SAMPLES);
        let mut local = self.rest.clone();
        let mut model = vec![Affine::IDENTITY; local.len()];
        for sample in 0..SAMPLES {
            clip.sample(sample as f64 * step_s, &mut local).ok()?;
            model_pose(self.character.skeleton(), &local, &mut model).ok()?;
            poses.push(self.positions(&model));
        }
        gait(&poses, step_s as f32)
    }

    /// Where the vertices are; at the origin if that is nowhere.
    fn positions(&self, model: &[Affine]) -> Vec<Vec3> {
        let entries = self.entries.iter();
        let matrices: Vec<Affine> = entries
            .map(|(joint, bind)| model.get(usize::from(*joint)).map_or(*bind, |m| *m * *bind))
            .collect();
        let mut start = 0;
        let at = |vertex: &Vertex| {
            let own = &self.influences[start..vertex.end];
            start = vertex.end;
            let mut sum = Vec3::ZERO;
            for (place, weight) in own {
                sum += matrices[*place as usize].transform_point3(vertex.position) * *weight;
            }
            if sum.is_finite() { sum } else { Vec3::ZERO }
        };
        self.vertices.iter().map(at).collect()
    }
}

/// How the ground has to move under the poses: as what touches it does, if that moves as one.
fn gait(poses: &[Vec<Vec3>], step_s: f32) -> Option<Gait> {
    let whole = poses.iter().flatten();
    let whole = whole.fold(Aabb::EMPTY, |all, point| all.with_point(*point));
    let height = whole.size().y;
    let (mut sum, mut lengths, mut count) = (Vec2::ZERO, 0.0, 0);
    for pair in poses.windows(2) {
        let [from, to] = pair else { continue };
        let heights = from.iter().zip(to).map(|(from, to)| from.y.max(to.y));
        let lowest = heights.fold(f32::INFINITY, f32::min);
        // Nothing touches the ground in a leap; and a foot that swings comes close to it.
        if lowest > whole.min.y + GROUNDED * height {
            continue;
        }
        for (from, to) in from.iter().zip(to) {
            if from.y.max(to.y) <= lowest + TOUCHES * height {
                let velocity = Vec2::new(to.x - from.x, to.z - from.z) / step_s;
                sum += velocity;
                lengths += velocity.length();
                count += 1;
            }
        }
    }
    let velocity = -sum / count as f32;
    let speed_m_s = velocity.length();
    let size = whole.size().max_element();
    let walks = sum.length() > TOGETHER * lengths && speed_m_s > STANDS * size;
    (speed_m_s.is_finite() && walks).then(|| Gait {
        speed_m_s,
        heading_rad: velocity.x.atan2(velocity.y),
    })
}
