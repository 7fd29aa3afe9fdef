//! Tracking of the joint through the clip: its motion at any time, with all its turns.

use super::chain::{Chain, PosedJoint, inverse, rotation};
use super::root_transform::turned;
use crate::clip::{ReferencePose, TrackValues};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::motion::root_motion::motion::Curve;
use crate::skeleton::{Joint, Transform};
use core::f64::consts::TAU;
use glam::{BVec3, DMat3, DQuat, DVec3, DVec4};

/// The motion, and the joint's new tracks.
pub(super) type Split = (Curve, Vec<TrackValues>);

/// The largest angle between two samples of a rotation.
const STEP_RAD: f64 = 0.4;
/// The maximum number of bisections of the interval between two keys, after its first eighths.
const HALVINGS: u32 = 9;

/// The parts of the motion to extract, as numbers.
pub(crate) struct Taken {
    pub(crate) axes: DVec3,
    pub(crate) yaw: bool,
    pub(crate) reference: PosedJoint,
    pub(crate) error_m: f64,
    /// The distance from the joint at which an error of its rotation is measured, in metres.
    pub(crate) reach_m: f64,
}

/// The path of a joint through a clip.
pub(super) struct Way<'a> {
    pub(super) chain: Chain,
    pub(super) taken: &'a Taken,
    /// All key times that take part, in seconds, ascending. They include the times around a step.
    pub(super) times_s: Vec<f32>,
    /// True if every track that takes part steps.
    pub(super) steps: bool,
    /// Times, and the unwrapped yaw at each. Empty if yaw is not extracted.
    headings: Vec<(f64, f64)>,
    /// The remaining number of evaluations of the joint.
    budget: u64,
    /// The initial number of evaluations, and the initial number of products.
    budgets: [u64; 2],
    /// The inverse of the joint's axes in the reference. `None` if yaw is not extracted.
    reference_axes: Option<DMat3>,
}

impl<'a> Way<'a> {
    /// Tracks the joint, with at most `products` products of transforms.
    pub(super) fn follow(chain: Chain, taken: &'a Taken, products: u64) -> Result<Self> {
        let products = products.min(RootMotionBudget::CLIP.products);
        let budget = products / chain.len().max(1) as u64;
        let steps = chain.moving().all(|track| track.values.is_step());
        let mut way = Self {
            times_s: key_times(&chain, steps),
            steps,
            headings: Vec::new(),
            budget,
            budgets: [budget, products],
            reference_axes: None,
            chain,
            taken,
        };
        if taken.yaw {
            way.reference_axes = Some(way.taken.reference.axes().inverse());
            way.find_headings()?;
        }
        Ok(way)
    }

    /// The number of products of transforms used so far.
    pub(super) fn products(&self) -> u64 {
        (self.budgets[0] - self.budget) * self.chain.len().max(1) as u64
    }

    /// The posed joint at a time, and its rotation from the reference.
    fn turn(&mut self, time_s: f64) -> Result<(PosedJoint, DQuat)> {
        self.budget = self.budget.checked_sub(1).ok_or(Error::Capacity {
            what: "products of transforms for the root motion",
            asked: self.budgets[1] + 1,
            cap: self.budgets[1],
        })?;
        let posed = self.chain.at(time_s);
        let Some(reference) = self.reference_axes else {
            return Ok((posed, DQuat::IDENTITY));
        };
        let q = rotation(&(posed.axes() * reference)).ok_or(Error::invalid(
            "yaw",
            "cannot be extracted below a joint whose scale is zero or not uniform",
        ))?;
        Ok((posed, q))
    }

    fn find_headings(&mut self) -> Result<()> {
        let times: Vec<f64> = self.times_s.iter().map(|time| f64::from(*time)).collect();
        let first = times.first().copied().unwrap_or(0.0);
        let mut last = self.turn(first)?.1;
        let mut yaw_rad = twist(last).unwrap_or(0.0);
        self.headings.push((first, yaw_rad));
        let mut open = Vec::new();
        for pair in times.windows(2) {
            let part = (pair[1] - pair[0]) / 8.0;
            let ends = (0..8).map(|at| match at {
                0 => pair[1],
                _ => pair[1] - f64::from(at) * part,
            });
            open.extend(ends.map(|end| (end, HALVINGS)));
            let mut from = pair[0];
            while let Some((end, halvings)) = open.pop() {
                let q = self.turn(end)?.1;
                let far = 2.0 * last.dot(q).abs().min(1.0).acos() > STEP_RAD;
                if far && halvings > 0 && !self.steps {
                    open.push((end, halvings - 1));
                    open.push((0.5 * (from + end), halvings - 1));
                    continue;
                }
                yaw_rad = twist(q).map_or(yaw_rad, |raw| nearest(raw, yaw_rad));
                self.headings.push((end, yaw_rad));
                (from, last) = (end, q);
                if self.headings.len() > MAX_KEYS {
                    return Err(too_many());
                }
            }
        }
        Ok(())
    }

    /// The posed joint at a time, and the motion there as position and yaw.
    pub(super) fn at(&mut self, time_s: f64) -> Result<(PosedJoint, DVec4)> {
        let (posed, q) = self.turn(time_s)?;
        let yaw_rad = self.heading(time_s, q);
        let from = turned(self.taken.reference.position(), yaw_rad);
        let moved = self.taken.axes * (posed.position() - from);
        let motion = moved.extend(yaw_rad);
        if motion.is_finite() && motion.as_vec4().is_finite() {
            return Ok((posed, motion));
        }
        Err(Error::invalid(
            "root motion",
            "is not finite in single precision",
        ))
    }

    /// The yaw of this rotation, including the turns that were tracked up to the time.
    fn heading(&self, time_s: f64, q: DQuat) -> f64 {
        let after = self.headings.partition_point(|(at, _)| *at <= time_s);
        let near = match (
            after.checked_sub(1).and_then(|at| self.headings.get(at)),
            self.headings.get(after),
        ) {
            (Some(from), Some(to)) => {
                from.1 + (to.1 - from.1) * ((time_s - from.0) / (to.0 - from.0))
            }
            (Some(end), None) | (None, Some(end)) => end.1,
            (None, None) => return 0.0,
        };
        twist(q).map_or(near, |raw| nearest(raw, near))
    }

    pub(super) fn moves(&mut self) -> bool {
        let constant = self.chain.moving().next().is_none();
        // Ignore an error here. `split` reports it.
        let at_start = self.at(0.0).map_or(DVec4::ONE, |(_, motion)| motion);
        let idle = self.taken.axes == DVec3::ZERO && !self.taken.yaw;
        !idle && (!constant || at_start != DVec4::ZERO)
    }

    /// The joint's local transform without the motion: `parent⁻¹ motion⁻¹ parent local`.
    pub(super) fn stays(&self, posed: &PosedJoint, motion: DVec4) -> Result<Transform> {
        let parent = &posed.parent;
        let inverse = inverse(parent).ok_or(Error::invalid(
            "root motion",
            "cannot be extracted below a joint whose scale is zero",
        ))?;
        let back = super::motion::motion(motion).inverse();
        let position = turned(posed.position(), back.yaw_rad) + back.translation;
        let mut local = posed.local;
        local.translation = inverse.transform_point3(position).as_vec3();
        if self.taken.yaw {
            let turn = DMat3::from_rotation_y(back.yaw_rad);
            let turn = rotation(&(inverse.matrix3 * turn * parent.matrix3)).unwrap_or_default();
            local.rotation = (turn * local.rotation.as_dquat()).normalize().as_quat();
        }
        if local.translation.is_finite() && local.rotation.is_finite() {
            return Ok(local);
        }
        Err(Error::invalid(
            "root motion",
            "leaves a pose that is not finite in single precision",
        ))
    }
}

/// The angle of a rotation about +Y. `None` for a half turn about a horizontal axis.
pub(super) fn twist(q: DQuat) -> Option<f64> {
    (q.y != 0.0 || q.w != 0.0).then(|| 2.0 * q.y.atan2(q.w))
}

/// `raw` plus the whole turns that bring it nearest to `near`.
fn nearest(raw: f64, near: f64) -> f64 {
    raw + TAU * ((near - raw) / TAU).round()
}

/// The times of all keys that move something, and those just before a step.
///
/// The times before a step are left out if all tracks step.
fn key_times(chain: &Chain, steps: bool) -> Vec<f32> {
    let mut times = Vec::new();
    for track in chain.moving() {
        let own = track.values.times_s();
        times.extend_from_slice(own);
        if !steps && track.values.is_step() {
            let before = own.iter().skip(1).map(|time| time.next_down());
            times.extend(before);
        }
    }
    if times.is_empty() {
        // Not 0, because a key there would make the clip start earlier.
        times.push(chain.start_s);
    }
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}

/// The parts of a clip's motion to extract, as in
/// [`RootMotionDesc`](crate::character::RootMotionDesc).
#[derive(Debug, Clone, Copy)]
pub(crate) struct RootMotionOptions<'a> {
    pub(crate) joint: Option<Id<Joint>>,
    /// The axes of character space along which translation is extracted.
    pub(crate) axes: BVec3,
    pub(crate) yaw: bool,
    /// The pose at which the clip in place keeps the joint.
    pub(crate) reference: ReferencePose<'a>,
    /// Positive and finite.
    pub(crate) error_m: Option<f32>,
}

/// The most keys that are made.
pub(super) const MAX_KEYS: usize = 1 << 20;

pub(super) fn too_many() -> Error {
    Error::Capacity {
        what: "keys of the root motion",
        asked: MAX_KEYS as u64 + 1,
        cap: MAX_KEYS as u64,
    }
}

/// The work and memory that a series of extractions may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RootMotionBudget {
    /// The number of products of transforms.
    pub(super) products: u64,
    pub(super) keys: usize,
}

impl RootMotionBudget {
    /// The budget for a single clip: a few seconds of work. Real clips need a hundredth of it.
    pub(super) const CLIP: Self = Self {
        products: 1 << 26,
        keys: MAX_KEYS,
    };
    /// The budget for all clips of a description: a few of the longest, or hundreds of real ones.
    pub(crate) const DESCRIPTION: Self = Self {
        products: 8 * Self::CLIP.products,
        keys: 4 * Self::CLIP.keys,
    };
}
