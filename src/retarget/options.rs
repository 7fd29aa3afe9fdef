//! The options of a retarget, and the rules of VRM Animations.

use crate::clip::{CurveClip, TrackValues};
use crate::skeleton::role::VrmKind;
use crate::skeleton::{NO_PARENT, Skeleton, Transform};

/// The options of a [`Retarget`](crate::retarget::Retarget).
///
/// Minor versions may add fields. Name the fields that you set and take the others from the
/// default.
#[derive(Debug, Clone, PartialEq)]
pub struct RetargetOptions {
    /// If true, limbs point where the source's do.
    ///
    /// This holds even if the two rest poses differ, except for a VRM Animation on a VRM model.
    ///
    /// If false, they turn by the same amount as the source's turn from rest. Limbs are arms,
    /// hands, legs and fingers if the map knows roles. Otherwise, a limb is a joint with exactly
    /// one joint below it that follows one.
    pub align: bool,
    /// The rotation `F` from the source's model space to the target's. `None` computes it.
    pub turn: Option<glam::Quat>,
    /// The factor for translations, finite and not negative. `None` computes it.
    pub ratio: Option<f32>,
    /// If true, all joints follow the source's translations, times the ratio of sizes.
    ///
    /// A joint's translation is its movement relative to the nearest joint above that follows one.
    ///
    /// If false, only the hips do, or the highest joints that follow one. Limbs keep the target's
    /// lengths.
    pub all_translations: bool,
    /// If true, joints take on the ratio of the source joint's scale to its rest scale.
    ///
    /// If false, and for a VRM Animation on a VRM model, the target keeps its own scales.
    pub scales: bool,
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
            all_translations: false,
            scales: true,
            source_rest: Vec::new(),
            target_rest: Vec::new(),
            max_error: 1e-3,
            max_keys: 4 << 20,
        }
    }
}

/// True for a VRM Animation whose clips are for a VRM model.
pub(crate) fn is_vrm_pair(source: &Skeleton, target: &Skeleton) -> bool {
    source.vrm() == Some(VrmKind::Animation) && target.vrm().is_some()
}

/// For each joint, true if the clip may move its origin in model space.
pub(super) fn moving_in_vrm(clip: &CurveClip, skeleton: &Skeleton) -> Vec<bool> {
    let mut driven = vec![false; skeleton.len()];
    let mut moving = vec![false; skeleton.len()];
    for track in clip.tracks() {
        let joint = usize::from(track.joint);
        let translates = matches!(track.values, TrackValues::Translation(_));
        driven[joint] = true;
        moving[joint] |= translates;
    }
    for (index, joint) in skeleton.joints().iter().enumerate() {
        if joint.parent_index() != NO_PARENT {
            let parent = usize::from(joint.parent_index());
            moving[index] |= moving[parent] | driven[parent];
            driven[index] |= driven[parent];
        }
    }
    moving
}
