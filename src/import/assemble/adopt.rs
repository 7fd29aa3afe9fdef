//! Clips of one file on the skeleton of another.

use super::morphs::Morphs;
use super::{clips, skeleton, wanted};
use crate::character::EventDesc;
use crate::clip::CurveClip;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::fault::fault;
use crate::import::options::ImportOptions;
use crate::import::repair::Repair;
use crate::import::{RawCharacter, RawKeys};
use crate::mesh::MorphWeight;
use crate::skeleton::{NameMatch, Skeleton, match_names};

/// The clips of a file and the joints that they drive.
#[derive(Debug)]
pub(in crate::import) struct Adopted {
    /// The file's own skeleton: the joints of its skins, the nodes that its animations drive, and
    /// their ancestors.
    pub(in crate::import) skeleton: Skeleton,
    /// The matching joints of the other skeleton.
    pub(in crate::import) names: NameMatch,
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
    let nodes = wanted::posed(&raw)?;
    let (skeleton, joint_of) = skeleton::build(&raw.nodes, nodes, options, repairs)?;
    let names = match_names(&skeleton, to);
    let own = |node: usize| joint_of.get(node).copied().flatten();
    let there: Vec<Option<u16>> = (0..raw.nodes.len())
        .map(|node| names.of.get(usize::from(own(node)?)).copied().flatten())
        .collect();
    let morphs = Morphs::every(&raw)?;
    let clips = clips::build(&raw.animations, to, &there, &morphs, repairs)?;
    let events = clips::events(&raw.animations, &clips, repairs);
    let mut tracks = vec![0; skeleton.len()];
    for channel in raw.animations.iter().flat_map(|a| &a.channels) {
        if let (false, Some(joint)) = (
            matches!(channel.values, RawKeys::Weights(_)),
            own(channel.node),
        ) {
            tracks[usize::from(joint)] += 1;
        }
    }
    Ok(Adopted {
        skeleton,
        names,
        tracks,
        clips,
        events,
        weights: morphs.into_weights(),
    })
}
