//! Applies a retarget to poses.

use super::fit::RetargetFit;
use super::frame::{ModelJoint, model_pose};
use super::map::JointMap;
use super::options::RetargetOptions;
use super::plan::{Link, Plan};
use crate::error::{Result, expect_len};
use crate::skeleton::{NO_PARENT, Skeleton, Transform};
use glam::DVec3;

/// Transfers motion from one skeleton to another; see the [module documentation](crate::retarget).
///
/// ```
/// use throng::builtin;
/// use throng::import::{ImportOptions, RawCharacter};
/// use throng::retarget::{JointMap, Retarget, RetargetOptions};
///
/// let options = ImportOptions { meshes: false, ..ImportOptions::curves_only() };
/// let source = RawCharacter::mannequin().build(&options)?;
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
    pub(super) source_pose: Vec<ModelJoint>,
    pub(super) target_pose: Vec<ModelJoint>,
}

impl Retarget {
    /// Prepares a retarget for two skeletons and a map between them.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if the map belongs to other skeletons, a
    /// rest pose does not have one transform per joint or is not finite, or an option is out of
    /// range.
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
            source_pose: Vec::with_capacity(source.len()),
            target_pose: Vec::with_capacity(target.len()),
        })
    }

    /// Limits the number of times at which a clip gets keys.
    pub(crate) fn set_max_times(&mut self, max_times: usize) {
        self.plan.max_times = max_times;
    }

    /// The share of joints that found a partner, how the spines differ, and what scales and turns
    /// the motion.
    #[must_use]
    pub fn fit(&self) -> &RetargetFit {
        &self.plan.fit
    }

    /// Computes the target's local pose from the source's.
    ///
    /// Each pose has one transform per joint.
    ///
    /// A joint whose transform would not be finite stays at rest. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if a slice has the wrong length. Nothing
    /// is written then.
    pub fn pose(&mut self, source: &[Transform], target: &mut [Transform]) -> Result<()> {
        expect_len("source pose", source.len(), self.source.len())?;
        expect_len("target pose", target.len(), self.target.len())?;
        model_pose(&self.source, source, &mut self.source_pose);
        self.target_pose.clear();
        let mut links = self.plan.links.iter().peekable();
        for (index, (joint, out)) in self.target.joints().iter().zip(target).enumerate() {
            let parent = match joint.parent_index() {
                NO_PARENT => ModelJoint::ORIGIN,
                parent => self.target_pose[usize::from(parent)],
            };
            *out = joint.rest;
            if let Some(link) = links.next_if(|link| usize::from(link.target) == index) {
                let moved = self.plan.local(link, &self.source_pose, source, &parent);
                if moved.is_finite() {
                    *out = moved;
                }
            }
            self.target_pose.push(parent.child(out));
        }
        Ok(())
    }
}

impl Plan {
    /// The local transform of a target joint below `parent`.
    pub(super) fn local(
        &self,
        link: &Link,
        placed: &[ModelJoint],
        local: &[Transform],
        parent: &ModelJoint,
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

    /// The ratio of a source joint's scale to its rest scale, along the target's axes.
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
