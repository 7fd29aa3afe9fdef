//! Clips and poses of one skeleton on another: other names, other proportions, another rest pose.

use super::frame::{Placed, place};
use super::map::JointMap;
use super::plan::{Link, Plan};
use crate::error::{Result, expect_len};
use crate::skeleton::{NO_PARENT, Skeleton, Transform};
use glam::DVec3;

/// Which translations of the source's joints the target's follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Translations {
    /// Those of the hips, or of the highest joints that follow one; limbs keep the target's
    /// lengths.
    #[default]
    Root,
    /// All: what a joint moves against the joint above that follows one, times the ratio of sizes.
    All,
}

/// Which scales of the source's joints the target's follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scales {
    /// The target keeps its own.
    Keep,
    /// A joint is scaled by as much as the source's is against its rest pose.
    #[default]
    Ratio,
}

/// How a [`Retarget`] goes about it.
///
/// Minor versions may add fields, so name those that you set and take the others as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct RetargetOptions {
    /// Whether limbs point where the source's do even if the two rest poses differ; otherwise they
    /// turn by what the source's turn from rest. Limbs are arms, hands, legs and fingers where the
    /// map knows roles, else joints that have just one such below that follows one.
    pub align: bool,
    /// The rotation `F` from the source's model space to the target's; `None`: found.
    pub turn: Option<glam::Quat>,
    /// What translations are multiplied by, finite and not negative; `None`: found.
    pub ratio: Option<f32>,
    /// Which translations are followed.
    pub translations: Translations,
    /// Which scales are followed.
    pub scales: Scales,
    /// The pose of the source, one transform a joint, that counts as its rest pose; empty: the
    /// skeleton's. Of use where a file's nodes rest in the middle of a step.
    pub source_rest: Vec<Transform>,
    /// The target's, likewise. Joints that follow none keep the skeleton's.
    pub target_rest: Vec<Transform>,
    /// How far from the exact pose a clip may lead a joint between its keys, as a part of the
    /// target's size: keys are added until it does not.
    pub max_error: f32,
    /// Most keys of one clip, all of its tracks together.
    pub max_keys: usize,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            align: true,
            turn: None,
            ratio: None,
            translations: Translations::Root,
            scales: Scales::Ratio,
            source_rest: Vec::new(),
            target_rest: Vec::new(),
            max_error: 1e-3,
            max_keys: 4 << 20,
        }
    }
}

/// Moves one skeleton as another moves; see the [module](crate::retarget).
///
/// ```
/// use throng::builtin;
/// use throng::import::ImportOptions;
/// use throng::retarget::{JointMap, Retarget, RetargetOptions};
///
/// let source = builtin::mannequin_with(&ImportOptions::curves_only())?;
/// let target = builtin::mannequin()?;
/// let map = JointMap::humanoid(source.skeleton(), target.skeleton())?;
/// let options = RetargetOptions::default();
/// let mut retarget = Retarget::new(source.skeleton(), target.skeleton(), &map, &options)?;
/// let (clip, report) = retarget.clip(&source.curves()[0])?;
/// println!("{} keys, off by {} m at most", report.keys, report.max_error_m);
/// let target = target.character.with_clips(vec![clip.with_name("from the other")])?;
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Retarget {
    pub(super) source: Skeleton,
    pub(super) target: Skeleton,
    pub(super) plan: Plan,
    pub(super) source_placed: Vec<Placed>,
    pub(super) target_placed: Vec<Placed>,
}

impl Retarget {
    /// Prepares it for two skeletons and a map between them.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if the map is of other skeletons, a rest pose
    /// has not one transform a joint or is not finite, or an option is out of its range.
    pub fn new(
        source: &Skeleton,
        target: &Skeleton,
        map: &JointMap,
        options: &RetargetOptions,
    ) -> Result<Self> {
        Ok(Self {
            plan: Plan::new(source, target, map, options)?,
            source: source.clone(),
            target: target.clone(),
            source_placed: Vec::with_capacity(source.len()),
            target_placed: Vec::with_capacity(target.len()),
        })
    }

    /// What translations are multiplied by.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.plan.ratio
    }

    /// The rotation from the source's model space to the target's.
    #[must_use]
    pub fn turn(&self) -> glam::Quat {
        self.plan.turn.as_quat()
    }

    /// The target's local pose from the source's, one transform a joint each. Joints that come out
    /// as no finite transform stay at rest. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if a slice has another length; nothing is
    /// written then.
    pub fn pose(&mut self, source: &[Transform], target: &mut [Transform]) -> Result<()> {
        expect_len("source pose", source.len(), self.source.len())?;
        expect_len("target pose", target.len(), self.target.len())?;
        place(&self.source, source, &mut self.source_placed);
        self.target_placed.clear();
        let mut links = self.plan.links.iter().peekable();
        for (index, (joint, out)) in self.target.joints().iter().zip(target).enumerate() {
            let parent = match joint.parent_index() {
                NO_PARENT => Placed::ORIGIN,
                parent => self.target_placed[usize::from(parent)],
            };
            *out = joint.rest;
            if let Some(link) = links.next_if(|link| usize::from(link.target) == index) {
                let moved = self.plan.local(link, &self.source_placed, source, &parent);
                if is_finite(&moved) {
                    *out = moved;
                }
            }
            self.target_placed.push(parent.child(out));
        }
        Ok(())
    }
}

pub(super) fn is_finite(local: &Transform) -> bool {
    local.translation.is_finite() && local.rotation.is_finite() && local.scale.is_finite()
}

impl Plan {
    /// A target joint's local transform, below `parent`.
    pub(super) fn local(
        &self,
        link: &Link,
        placed: &[Placed],
        local: &[Transform],
        parent: &Placed,
    ) -> Transform {
        let mut rotation = self.turn * placed[link.source].rotation * link.behind;
        let mut scale = self.scale(link.source, &link.axes, local);
        if let Some(toward) = &link.toward {
            let other = self.turn * placed[toward.source].rotation * toward.behind;
            rotation = rotation.slerp(other, toward.part);
            let other = self.scale(toward.source, &toward.axes, local);
            scale = scale.lerp(other, toward.part);
        }
        let rest = &link.rest;
        let own = parent.rotation.inverse() * rotation * link.mirror.inverse();
        let parent_from_model = parent.affine.inverse();
        let translation = match (link.moves, link.above) {
            (true, _) => {
                let moved = placed[link.source].position() - link.source_at;
                let at = link.target_at + self.turn * moved * self.ratio;
                parent_from_model.transform_point3(at)
            }
            (false, Some(above)) => {
                let above = &placed[above].affine;
                let offset = above
                    .inverse()
                    .transform_point3(placed[link.source].position());
                let moved = above.transform_vector3(offset - link.source_offset);
                let moved = self.turn * moved * self.ratio;
                rest.translation.as_dvec3() + parent_from_model.transform_vector3(moved)
            }
            (false, None) => rest.translation.as_dvec3(),
        };
        let translation = translation.as_vec3();
        Transform {
            translation: if translation.is_finite() {
                translation
            } else {
                rest.translation
            },
            rotation: own.normalize().as_quat(),
            scale: rest.scale * scale.as_vec3(),
        }
    }

    /// By how much a joint of the source is scaled against its rest pose, along the target's axes.
    pub(super) fn scale(&self, source: usize, axes: &[DVec3; 3], local: &[Transform]) -> DVec3 {
        if !self.scales {
            return DVec3::ONE;
        }
        let (now, rest) = (local[source].scale.as_dvec3(), self.source_scales[source]);
        let part = |axis: usize| {
            if rest[axis] == 0.0 {
                1.0
            } else {
                now[axis] / rest[axis]
            }
        };
        let parts = DVec3::new(part(0), part(1), part(2));
        if parts == DVec3::ONE {
            return parts;
        }
        DVec3::from_array(axes.map(|squares| squares.dot(parts)))
    }
}
