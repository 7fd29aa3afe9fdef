//! Measures the gait of a clip on the vertices that touch the ground.

use super::desc::Gait;
use crate::character::asset::Character;
use crate::clip::Clip;
use crate::id::Id;
use crate::mesh::Aabb;
use crate::skeleton::{Joint, Transform};
use core::ops::Range;
use glam::{Affine3A, Vec2, Vec3};

/// Number of times at which a clip is sampled, including first and last.
const SAMPLES: usize = 25;
/// The most vertices that are used, and the number of vertices of the first test.
const VERTICES: usize = 8000;
const FIRST_LOOK: usize = 400;
/// Fractions of the height. The first is how far above the lowest vertex another vertex still
/// counts as touching the ground. The second is how far above the ground of the whole clip the
/// lowest vertex may be.
const TOUCHES: f32 = 0.004;
const GROUNDED: f32 = 0.02;
/// A clip repeats if the distance from its end to its start is at most this many of its longest
/// steps.
const SEAM: f32 = 2.0;
/// The minimum fraction of steps that have a contact, and the minimum fraction of contacts that
/// agree with the gait.
const IN_CONTACT: f32 = 1.0 / 6.0;
const AGREE: f32 = 0.6;
/// The longest time without a contact that agrees with the gait, as a fraction of the cycle. Feet
/// alternate, so their contacts are spread over the cycle. A gallop has the longest pause, about
/// half of its cycle. A clip in which a foot slides once has a longer one.
const PAUSE: f32 = 2.0 / 3.0;
/// The slowest gait, in sizes of the character per second.
const SLOWEST: f32 = 0.15;

/// Some of a character's vertices, ready to be posed.
#[derive(Debug)]
pub(super) struct GaitMeasure<'a> {
    character: &'a Character,
    rest: Vec<Transform>,
    vertices: Vec<Vertex>,
    /// The influences of a vertex: an index into `entries`, and a weight.
    influences: Vec<(u32, f32)>,
    /// The palette entries of these vertices: a joint and its inverse bind matrix.
    entries: Vec<(Id<Joint>, Affine3A)>,
}

#[derive(Debug)]
struct Vertex {
    position: Vec3,
    influences: Range<usize>,
}

impl<'a> GaitMeasure<'a> {
    pub(super) fn new(character: &'a Character) -> Self {
        let stride = character.vertex_count().div_ceil(VERTICES).max(1);
        let mut indices = vec![u32::MAX; character.palette().len()];
        let (mut vertices, mut influences, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = 0;
        let near = character.primitives().iter();
        for primitive in near.filter(|primitive| !primitive.is_far()) {
            let count = primitive.vertex_count();
            let first = character.palette_range(primitive).start;
            while next < count {
                let Some(position) = primitive.positions.get(next) else {
                    break;
                };
                let start = influences.len();
                for (joint, weight) in primitive.influences(next) {
                    let (Some(index), Some(entry)) = (
                        indices.get_mut(first + joint),
                        character.palette().get(first + joint),
                    ) else {
                        continue;
                    };
                    if *index == u32::MAX {
                        *index = entries.len() as u32;
                        entries.push((entry.joint, entry.inverse_bind));
                    }
                    influences.push((*index, weight));
                }
                vertices.push(Vertex {
                    position: *position,
                    influences: start..influences.len(),
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

    /// The gait of a clip, if it has one.
    ///
    /// A clip has a gait if it repeats and if most of its ground contacts move with the same
    /// horizontal velocity, spread over the cycle. The character then walks at the opposite
    /// velocity.
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
        let mut model = vec![Affine3A::IDENTITY; local.len()];
        for sample in 0..SAMPLES {
            clip.sample_portable(sample as f64 * step_s, &mut local)
                .ok()?;
            self.character
                .skeleton()
                .model_pose(&local, &mut model)
                .ok()?;
            let entries = self.entries.iter();
            let matrices = entries
                .map(|(joint, bind)| model.get(usize::from(*joint)).map_or(*bind, |m| *m * *bind));
            poses.push(matrices.collect());
        }
        // Most clips stand still or do not repeat, which a few vertices are enough to show.
        let first_look = self.vertices.len().div_ceil(FIRST_LOOK).max(1);
        let moving = |stride: usize, slowest: f32| {
            let contacts = Contacts::of(&self.positions(&poses, stride), step_s as f32)?;
            let speed = median(contacts.velocities().iter().map(|v| v.length()).collect());
            (speed > slowest * contacts.size).then_some(contacts)
        };
        moving(first_look, 0.5 * SLOWEST)?;
        moving(1, 0.0)?.gait()
    }

    /// Positions of every `stride`th vertex in each pose. A position that is not finite becomes the
    /// origin.
    fn positions(&self, poses: &[Vec<Affine3A>], stride: usize) -> Vec<Vec<Vec3>> {
        let position = |vertex: &Vertex, matrices: &[Affine3A]| {
            let mut sum = Vec3::ZERO;
            for (entry, weight) in &self.influences[vertex.influences.clone()] {
                sum += matrices[*entry as usize].transform_point3(vertex.position) * *weight;
            }
            if sum.is_finite() { sum } else { Vec3::ZERO }
        };
        let in_pose = |matrices: &Vec<Affine3A>| {
            let vertices = self.vertices.iter().step_by(stride);
            vertices.map(|vertex| position(vertex, matrices)).collect()
        };
        poses.iter().map(in_pose).collect()
    }
}

/// Ground contacts of a clip that repeats.
#[derive(Debug)]
struct Contacts {
    /// The steps that have a contact, and its horizontal velocity.
    list: Vec<(usize, Vec2)>,
    /// The number of steps of the clip, with and without a contact.
    steps: usize,
    /// Longest side of the box around all poses.
    size: f32,
}

impl Contacts {
    /// The contacts in a series of poses, or `None` if the last pose does not lead back to the
    /// first.
    fn of(poses: &[Vec<Vec3>], step_s: f32) -> Option<Self> {
        let steps = poses.windows(2);
        let longest = steps
            .map(|step| distance(&step[0], &step[1]))
            .fold(0.0, f32::max);
        if distance(poses.first()?, poses.last()?) > SEAM * longest {
            return None;
        }
        let whole = poses.iter().flatten();
        let whole = whole.fold(Aabb::EMPTY, |all, point| all.with_point(*point));
        let height = whole.size().y;
        let mut list = Vec::new();
        for (number, step) in poses.windows(2).enumerate() {
            let [from, to] = step else { continue };
            let heights = from.iter().zip(to).map(|(from, to)| from.y.max(to.y));
            let lowest = heights.fold(f32::INFINITY, f32::min);
            // A jump has no contact, and a swinging foot comes close to the ground without touching
            // it.
            if lowest > whole.min.y + GROUNDED * height {
                continue;
            }
            let both = from.iter().zip(to);
            let touching = both.filter(|(a, b)| a.y.max(b.y) <= lowest + TOUCHES * height);
            let velocity = touching.map(|(a, b)| Vec2::new(b.x - a.x, b.z - a.z) / step_s);
            let velocity = medoid(&velocity.collect::<Vec<_>>());
            list.extend(velocity.map(|velocity| (number, velocity)));
        }
        Some(Self {
            list,
            steps: poses.len() - 1,
            size: whole.size().max_element(),
        })
    }

    fn velocities(&self) -> Vec<Vec2> {
        self.list.iter().map(|(_, velocity)| *velocity).collect()
    }

    /// The gait, if there are enough contacts, most of them agree, and those are spread over the
    /// cycle.
    fn gait(&self) -> Option<Gait> {
        // Both feet touch the ground when one of them lands. The medoid ignores the velocity of the
        // other.
        let usual = medoid(&self.velocities())?;
        let agree = |(_, v): &&(usize, Vec2)| v.distance(usual) < usual.length();
        let agreeing: Vec<_> = self.list.iter().filter(agree).copied().collect();
        let (count, all) = (agreeing.len() as f32, self.list.len() as f32);
        let velocity = -agreeing.iter().map(|(_, v)| *v).sum::<Vec2>() / count;
        let speed_m_s = velocity.length();
        let steps = self.steps as f32;
        let walks = all >= IN_CONTACT * steps
            && count >= AGREE * all
            && self.longest_pause(&agreeing) <= PAUSE * steps;
        let fast = speed_m_s.is_finite() && speed_m_s > SLOWEST * self.size;
        (walks && fast).then(|| Gait {
            speed_m_s,
            heading_rad: velocity.x.atan2(velocity.y),
        })
    }

    /// The largest number of consecutive steps without one of these contacts. The clip repeats, so
    /// its first step follows its last.
    fn longest_pause(&self, contacts: &[(usize, Vec2)]) -> f32 {
        let first = contacts.first().map(|(step, _)| step + self.steps);
        let next = contacts.iter().map(|(step, _)| *step).skip(1).chain(first);
        let pauses = contacts
            .iter()
            .zip(next)
            .map(|((step, _), next)| next - step - 1);
        pauses.max().unwrap_or(self.steps) as f32
    }
}

/// The distance between two poses: the square root of the summed squares of all vertex distances.
fn distance(a: &[Vec3], b: &[Vec3]) -> f32 {
    let squares = a.iter().zip(b).map(|(a, b)| a.distance_squared(*b));
    squares.sum::<f32>().sqrt()
}

/// The velocity with the smallest sum of distances to all others.
fn medoid(velocities: &[Vec2]) -> Option<Vec2> {
    // The sums take quadratic time, and a few dozen velocities are as good as thousands.
    let few: Vec<Vec2> = velocities
        .iter()
        .step_by(velocities.len() / 64 + 1)
        .copied()
        .collect();
    let sums = few
        .iter()
        .map(|a| (few.iter().map(|b| a.distance(*b)).sum::<f32>(), *a));
    let least = sums.min_by(|a, b| a.0.total_cmp(&b.0));
    least.map(|(_, velocity)| velocity)
}

/// The median, or 0 for an empty list.
fn median(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
