//! Clips of a VRM Animation on the skeleton of a VRM model.

use super::clips;
use super::morphs::Morphs;
use crate::clip::CurveClip;
use crate::error::{Object, ObjectKind, Result};
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, RepairKind};
use crate::import::{RawCharacter, RawKeys};
use crate::retarget::{JointMap, Retarget, RetargetOptions};
use crate::skeleton::role::Role;
use crate::skeleton::{NameMatch, Skeleton};

/// A file with its skeleton, and the joint that each node is.
pub(super) type File<'a> = (&'a RawCharacter, &'a Skeleton, &'a [Option<u16>]);

/// Builds and retargets the clips. Joints match if they are the same bone of a humanoid.
pub(super) fn retargeted(
    (raw, from, joint_of): File<'_>,
    to: &Skeleton,
    morphs: &Morphs,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<(NameMatch, Vec<CurveClip>)> {
    let joints = clips::JointOf {
        nodes: raw.nodes.len(),
        of: &|_, node| joint_of.get(node).copied().flatten(),
    };
    let own = clips::build(&raw.animations, from, &joints, morphs, repairs)?;
    let (names, clips) = retarget(own, (from, to), morphs.len(), options)?;
    note_unused(raw, joint_of, &names, repairs);
    Ok((names, clips))
}

/// Retargets clips of the file.
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
        max_keys: options.limits.keys,
        ..RetargetOptions::default()
    };
    let retarget = map.map(|map| Retarget::new(from, to, &map, &retarget));
    let mut retarget = retarget.transpose()?;
    // The file could ask for many poses with a few keys.
    let mut spare = options.limits.keys / to.len().max(1);
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
        roles.any(|of| *of == (Role::Hips, node))
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
        let object = Object::new(ObjectKind::Animation, index, part);
        Repair::note(repairs, &object, RepairKind::LeftOut, unused.count() as u64);
    }
}
