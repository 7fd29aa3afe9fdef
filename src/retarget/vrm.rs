//! The rules of VRM Animations; see [the module](crate::retarget#vrm-animations).

use crate::clip::{CurveClip, TrackValues};
use crate::skeleton::role::VrmKind;
use crate::skeleton::{NO_PARENT, Skeleton};

/// True for a VRM Animation whose clips are for a VRM model.
pub(crate) fn is_vrm_pair(source: &Skeleton, target: &Skeleton) -> bool {
    source.vrm() == Some(VrmKind::Animation) && target.vrm().is_some()
}

/// For each joint, true if the clip may move its origin in model space.
pub(super) fn moving(clip: &CurveClip, skeleton: &Skeleton) -> Vec<bool> {
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
