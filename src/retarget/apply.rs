//! Applies a retarget to poses, and its options.

use super::frame::{Placed, place};
use super::map::JointMap;
use super::plan::{Link, Plan};
use crate::error::{Result, expect_len};
use crate::skeleton::{NO_PARENT, Skeleton, Transform};
use glam::DVec3;

/// The source translations that the target follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Translations {
    /// Translations of the hips, or of the highest joints that follow one. Limbs keep the target's
    /// lengths.
    #[default]
    Root,
    /// All translations, times the ratio of sizes.
    ///
    /// A joint's translation is its movement relative to the nearest joint above that follows one.
    All,
}

/// The source scales that the target follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scales {
    /// None: the target keeps its own scales.
    Keep,
    /// The ratio of the source joint's scale to its rest scale.
    #[default]
    Ratio,
}

/// The options of a [`Retarget`].
///
/// Minor versions may add fields. Name the fields that you set and take the others from the
/// default.
#[derive(Debug, Clone, PartialEq)]
pub struct RetargetOptions {
    /// If true, limbs point where the source's do.
    ///
    /// This holds even if the two rest poses differ.
    ///
    /// If false, they turn by the same amount as the source's turn from rest. Limbs are arms,
    /// hands, legs and fingers if the map knows roles. Otherwise, a limb is a joint with exactly
    /// one joint below it that follows one.
    pub align: bool,
    /// The rotation `F` from the source's model space to the target's. `None` computes it.
    pub turn: Option<glam::Quat>,
    /// The factor for translations, finite and not negative. `None` computes it.
    pub ratio: Option<f32>,
    /// The translations to follow.
    pub translations: Translations,
    /// The scales to follow.
    pub scales: Scales,
    /// The source's rest pose, one transform per joint.
    ///
    /// If empty, the skeleton's rest pose is used. Set it if a file's nodes rest in mid-step, for
    /// example.
    pub source_rest: Vec<Transform>,
    /// The same for the target. Joints that follow none keep the skeleton's rest transform.
    pub target_rest: Vec<Transform>,
    /// The largest allowed error of a clip between its keys.
    ///
    /// It is a fraction of the target's size. The error is the distance of a joint from its exact
    /// pose. Keys are added until it is small enough.
    pub max_error: f32,
    /// The most keys of one clip, over all of its tracks.
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

/// Transfers motion from one skeleton to another; see the [module documentation](crate::retarget).
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
            source_placed: Vec::with_capacity(source.len()),
            target_placed: Vec::with_capacity(target.len()),
        })
    }

    /// The factor for translations.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.plan.ratio
    }

    /// The rotation from the source's model space to the target's.
    #[must_use]
    pub fn turn(&self) -> glam::Quat {
        self.plan.turn.as_quat()
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
    /// The local transform of a target joint below `parent`.
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
