//! Evenly spaced poses that stand in for a clip, and how far vertices are from where they belong.

use crate::character::Character;
use crate::clip::Clip;
use crate::error::{Result, expect_index};
use crate::id::Id;
use crate::mesh::{Aabb, PaletteJoint};
use crate::palette::SkinningMethod;
use crate::skeleton::Transform;
use crate::skin::reach::UNIT;
use crate::skin::{Nodes, Poses, Posing, ReachRig};
use glam::{Affine3A, Vec3, Vec3A};

/// Poses at evenly spaced times of a clip, which stand in for the times between them.
///
/// The poses are at `k × duration / count`, for `k` from 0 to [`Self::count`]. For any other time,
/// the nearest of them stands in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoseSteps {
    /// The number of steps. There is one more pose.
    pub count: u32,
    /// The largest distance, in metres in character space, of a vertex from where the clip has it.
    ///
    /// It is measured at times between the poses, for the corners of the boxes around the vertices
    /// of each palette entry ([`PaletteJoint::bounds`]), and a tenth is added. Morph targets are
    /// not counted.
    pub error_m: f32,
    /// A box around all vertices at these poses, in character space.
    ///
    /// It is the box around the images of the boxes of all palette entries, and a margin for
    /// rounding, and for palette formats other than matrices. Dual quaternions
    /// ([`SkinningMethod::DualQuat`]) and morph targets may move vertices out of it, and so may
    /// times between the poses.
    pub bounds: Aabb,
}

/// Steps with which a clip is first measured.
const FIRST_COUNT: u32 = 32;

/// The safety factor of a measured error.
const MARGIN: f32 = 1.1;

impl PoseSteps {
    /// The most steps of a clip.
    pub const MAX_COUNT: u32 = 128;

    /// The least steps of a clip that moves.
    const MIN_COUNT: u32 = 4;

    /// The error that steps are chosen for, relative to the largest edge of the box around the
    /// character at rest. It is half a pixel of a character 32 pixels in size.
    const TARGET: f32 = 1.0 / 64.0;
}

impl Character {
    /// The steps that stand in for a clip from afar.
    ///
    /// Their number is chosen so that the error is at most 1/64 of the model's size, or is
    /// [`PoseSteps::MAX_COUNT`] if that is not enough. Returns `None` for an additive clip, and for
    /// one that drives morph weights.
    ///
    /// This samples the clip some hundred times.
    ///
    /// ```
    /// let character = throng::builtin::mannequin()?.character;
    /// let steps = character.pose_steps(character.clip("Walk")?)?.expect("not additive");
    /// assert!(steps.count <= 128 && steps.error_m < 0.03);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if the character has no such clip.
    pub fn pose_steps(&self, clip: Id<Clip>) -> Result<Option<PoseSteps>> {
        let (number, clips) = (clip.index(), self.clips());
        expect_index("clip", number, clips.len())?;
        let clip = &clips[number];
        if clip.is_additive() || clip.drives_weights() {
            return Ok(None);
        }
        let target = PoseSteps::TARGET * self.rest_bounds().size().max_element();
        let first = self.measure_steps(clip, FIRST_COUNT)?;
        let wanted = (first.error_m * FIRST_COUNT as f32 / target).ceil() as u32;
        let count = wanted.clamp(PoseSteps::MIN_COUNT, PoseSteps::MAX_COUNT);
        let measured = match count {
            FIRST_COUNT => first,
            _ => self.measure_steps(clip, count)?,
        };
        // A single pose is exact for a clip that does not move.
        let still = first.error_m == 0.0 && measured.error_m == 0.0;
        let error_m = measured.error_m;
        // Shaders round the times of steps to 24 bits. Adjacent samples are at most twice the error
        // apart, and twice as far if what moves is between them.
        let late = 4.0 * f64::from(error_m) * f64::from(measured.samples) * UNIT;
        Ok(Some(PoseSteps {
            count: if still { 1 } else { count },
            error_m,
            bounds: widened(measured.bounds, late + self.margin_m(Some(number))),
        }))
    }

    /// A box around all vertices in the rest pose, with the margins of [`PoseSteps::bounds`].
    #[cfg(feature = "vulkan")]
    pub(crate) fn rest_box(&self) -> Aabb {
        widened(self.rest_bounds(), self.margin_m(None))
    }

    /// The distance by which rounding and palette formats may move vertices: once where they are
    /// measured, and once where they are drawn.
    fn margin_m(&self, clip: Option<usize>) -> f64 {
        let rig = ReachRig::new(self);
        let (mut poses, mut nodes) = (Poses::default(), Nodes::default());
        poses.begin(&rig);
        if let Some(reach) = clip.and_then(|clip| self.clip_reaches().get(clip)) {
            poses.mean(reach);
        }
        let posing = Posing {
            method: SkinningMethod::QuatOffset,
            model: None,
            springs: None,
        };
        2.0 * rig.reach(&poses, &posing, &mut nodes).error_m
    }

    /// Measures steps. The error has its margin, and the box has none.
    fn measure_steps(&self, clip: &Clip, count: u32) -> Result<Measured> {
        let duration_s = clip.duration_s();
        // At least the middle between two poses, and as many times as the clip has frames.
        let rate_hz = clip.timing.rate.max(LEAST_RATE_HZ);
        let half = duration_s * rate_hz / f64::from(count) / 2.0;
        let parts = 2 * (half.ceil() as u32).clamp(1, MAX_PARTS);
        let mut local = self.skeleton().rest_pose();
        let mut model = vec![Affine3A::IDENTITY; local.len()];
        let mut sample = |part: u32, out: &mut Vec<Affine3A>| -> Result<()> {
            let part_of_clip = f64::from(part) / f64::from(parts * count);
            let time_s = part_of_clip * duration_s;
            self.sample_entries(clip, time_s, (&mut local, &mut model), out)
        };
        let (mut from, mut to, mut between) = (Vec::new(), Vec::new(), Vec::new());
        sample(0, &mut from)?;
        let (mut most, mut bounds) = (0.0_f32, self.posed_box(&from));
        for number in 0..count {
            let start = number * parts;
            sample(start + parts, &mut to)?;
            bounds = bounds.union(self.posed_box(&to));
            for part in 1..parts {
                sample(start + part, &mut between)?;
                // The one in the middle may belong to either.
                if part * 2 <= parts {
                    most = most.max(self.apart(&from, &between));
                }
                if part * 2 >= parts {
                    most = most.max(self.apart(&to, &between));
                }
            }
            core::mem::swap(&mut from, &mut to);
        }
        Ok(Measured {
            error_m: most * MARGIN,
            bounds,
            samples: parts * count,
        })
    }

    /// The box around the images of the boxes of all palette entries.
    fn posed_box(&self, matrices: &[Affine3A]) -> Aabb {
        let pairs = self.palette().iter().zip(matrices);
        pairs.fold(Aabb::EMPTY, |all, (entry, matrix)| {
            all.union(entry.bounds.transformed(matrix))
        })
    }

    /// The skinning matrices of a clip at a time.
    fn sample_entries(
        &self,
        clip: &Clip,
        time_s: f64,
        (local, model): (&mut [Transform], &mut [Affine3A]),
        out: &mut Vec<Affine3A>,
    ) -> Result<()> {
        clip.sample(time_s, local)?;
        self.skeleton().model_pose(local, model)?;
        out.clear();
        out.extend(self.palette().iter().map(|entry| {
            let joint = model.get(usize::from(entry.joint));
            joint.copied().unwrap_or_default() * entry.inverse_bind
        }));
        Ok(())
    }

    /// The largest distance between what two lists of skinning matrices make of a vertex.
    fn apart(&self, one: &[Affine3A], other: &[Affine3A]) -> f32 {
        let pairs = self.palette().iter().zip(one.iter().zip(other));
        pairs.fold(0.0, |most, (entry, (one, other))| {
            most.max(apart(entry, one, other))
        })
    }
}

/// The reason for measuring steps of a clip.
#[derive(Debug, Clone, Copy)]
struct Measured {
    error_m: f32,
    bounds: Aabb,
    samples: u32,
}

/// A box that is larger by a distance on all sides. An empty one stays empty.
fn widened(bounds: Aabb, by_m: f64) -> Aabb {
    if bounds.is_empty() {
        return bounds;
    }
    let by = Vec3::splat((by_m as f32).next_up());
    Aabb {
        min: bounds.min - by,
        max: bounds.max + by,
    }
}

/// The rate at which curves are sampled.
const LEAST_RATE_HZ: f64 = 60.0;

/// The most parts of half a step.
const MAX_PARTS: u32 = 64;

/// The largest distance between what two matrices make of a point in the bounds of an entry. The
/// difference is affine in the point, so its length is greatest at a corner.
fn apart(entry: &PaletteJoint, one: &Affine3A, other: &Affine3A) -> f32 {
    let Aabb { min, max } = entry.bounds;
    if entry.bounds.is_empty() {
        return 0.0;
    }
    let linear = one.matrix3 - other.matrix3;
    let offset = one.translation - other.translation;
    let ends = |axis: Vec3A, of: fn(Vec3) -> f32| [axis * of(min), axis * of(max)];
    let x = ends(linear.x_axis, |at| at.x);
    let y = ends(linear.y_axis, |at| at.y);
    let z = ends(linear.z_axis, |at| at.z);
    let mut squared = 0.0_f32;
    for x in x {
        for y in y {
            for z in z {
                squared = squared.max((x + y + (z + offset)).length_squared());
            }
        }
    }
    squared.sqrt()
}
