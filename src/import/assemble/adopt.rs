//! Clips of one file on the skeleton of another.

use super::morphs::Morphs;
use super::{clips, roles, skeleton, wanted};
use crate::character::EventDesc;
use crate::clip::CurveClip;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::fault::{fault, object};
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, RepairKind, note};
use crate::import::{RawCharacter, RawKeys};
use crate::mesh::MorphWeight;
use crate::retarget::{JointMap, Retarget, RetargetOptions, is_vrm_pair};
use crate::skeleton::role::{Role, VrmKind};
use crate::skeleton::{NameMatch, Skeleton, match_names};

/// The clips of a file and the joints that they drive.
#[derive(Debug)]
pub(in crate::import) struct Adopted {
    /// The file's own skeleton: the joints of its skins, the nodes that its animations drive, and
    /// their ancestors. Those of a VRM Animation have the nodes of all humanoid bones, too.
    pub(in crate::import) skeleton: Skeleton,
    /// The matching joints of the other skeleton.
    pub(in crate::import) names: NameMatch,
    /// True if the clips were retargeted, so that rest poses may differ.
    pub(in crate::import) retargeted: bool,
    /// The number of tracks that drive each joint of the file, not counting weights.
    pub(in crate::import) tracks: Vec<u64>,
    /// One per animation. Joints are those of the other skeleton, morph weights those of the file.
    pub(in crate::import) clips: Vec<CurveClip>,
    /// The events of each clip.
    pub(in crate::import) events: Vec<Vec<EventDesc>>,
    /// The file's morph weights.
    pub(in crate::import) weights: Vec<MorphWeight>,
}

/// Reads the animations of `raw` for `to`, ignoring everything that it draws.
pub(in crate::import) fn adopt(
    mut raw: RawCharacter,
    to: &Skeleton,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<Adopted> {
    raw.primitives.clear();
    if raw.animations.is_empty() {
        let why = AssetFault::Missing("animations");
        return Err(fault(ObjectKind::File, None, "", why));
    }
    let is_vrm_animation = raw.vrm == Some(VrmKind::Animation);
    let mut nodes = wanted::posed(&raw)?;
    if is_vrm_animation {
        wanted::add_roles(&raw, &mut nodes);
    }
    let (mut skeleton, joint_of) = skeleton::build(&raw.nodes, nodes, options, repairs)?;
    if is_vrm_animation {
        skeleton.roles = roles::roles(&raw, &joint_of, repairs);
        skeleton.vrm = raw.vrm;
    }
    let retargeted = is_vrm_pair(&skeleton, to);
    let morphs = Morphs::every(&raw)?;
    let (names, clips) = if retargeted {
        let own = clips::build(&raw.animations, &skeleton, &joint_of, &morphs, repairs)?;
        let (names, clips) = retarget(own, (&skeleton, to), morphs.len(), options)?;
        note_unused(&raw, &joint_of, &names, repairs);
        (names, clips)
    } else {
        let names = match_names(&skeleton, to);
        let own = |node: &Option<u16>| names.of.get(usize::from((*node)?)).copied().flatten();
        let there: Vec<Option<u16>> = joint_of.iter().map(own).collect();
        let clips = clips::build(&raw.animations, to, &there, &morphs, repairs)?;
        (names, clips)
    };
    let events = clips::events(&raw.animations, &clips, repairs);
    let mut tracks = vec![0; skeleton.len()];
    for channel in raw.animations.iter().flat_map(|a| &a.channels) {
        if let (false, Some(joint)) = (
            matches!(channel.values, RawKeys::Weights(_)),
            joint_of.get(channel.node).copied().flatten(),
        ) {
            tracks[usize::from(joint)] += 1;
        }
    }
    Ok(Adopted {
        skeleton,
        names,
        retargeted,
        tracks,
        clips,
        events,
        weights: morphs.into_weights(),
    })
}

/// Retargets the clips of a VRM Animation. Joints match if they are the same bone of a humanoid.
fn retarget(
    clips: Vec<CurveClip>,
    (from, to): (&Skeleton, &Skeleton),
    weights: usize,
    options: &ImportOptions,
) -> Result<(NameMatch, Vec<CurveClip>)> {
    let mut of = vec![None; from.len()];
    // If no bone matches, no track does, which is an error later.
    let map = JointMap::humanoid(from, to).ok();
    for link in map.iter().flat_map(JointMap::links) {
        of[link.source.index()] = Some(link.target.into());
    }
    let retarget = RetargetOptions {
        max_keys: options.max_keys,
        ..RetargetOptions::default()
    };
    let retarget = map.map(|map| Retarget::new(from, to, &map, &retarget));
    let mut retarget = retarget.transpose()?;
    // The file could ask for many poses with a few keys.
    let mut spare = options.max_keys / to.len().max(1);
    let clips = clips.into_iter().map(|clip| {
        let made = match &mut retarget {
            Some(retarget) => {
                retarget.set_max_times(spare);
                let (made, report) = retarget.clip(&clip)?;
                spare = spare.saturating_sub(report.times);
                made
            }
            None => CurveClip::of_aligned(clip.name(), Vec::new(), to)?.with_range_of(&clip),
        };
        made.with_weight_tracks(clip.weight_tracks().to_vec(), weights)
    });
    let clips = clips.collect::<Result<_>>()?;
    let ties = Vec::new();
    Ok((NameMatch { of, ties }, clips))
}

/// Reports the channels that a VRM Animation must not have.
fn note_unused(
    raw: &RawCharacter,
    joint_of: &[Option<u16>],
    names: &NameMatch,
    repairs: &mut Vec<Repair>,
) {
    let is_hips = |node: usize| {
        let mut roles = raw.roles.iter();
        roles.any(|of| of.node == node && of.role == Role::Hips)
    };
    let is_matched = |node: usize| {
        let joint = joint_of.get(node).copied().flatten();
        joint.is_some_and(|joint| names.of[usize::from(joint)].is_some())
    };
    for (index, animation) in raw.animations.iter().enumerate() {
        let unused = animation.channels.iter().filter(|channel| {
            let is_unused = match channel.values {
                RawKeys::Scale(_) => true,
                RawKeys::Translation(_) => !is_hips(channel.node),
                RawKeys::Rotation(_) | RawKeys::Weights(_) => false,
            };
            is_unused && is_matched(channel.node)
        });
        let part = "scales of humanoid bones, and translations of all but the hips";
        let object = object(ObjectKind::Animation, index, part);
        note(repairs, &object, RepairKind::LeftOut, unused.count() as u64);
    }
}
