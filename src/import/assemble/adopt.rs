//! Clips of one file on the skeleton of another.

use super::adopt_vrm::{self, File};
use super::morphs::Morphs;
use super::{avatar, clips, names, skeleton, wanted};
use crate::character::EventDesc;
use crate::clip::CurveClip;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::id::Id;
use crate::import::fault::{check_cap, fault, file_part};
use crate::import::options::ImportOptions;
use crate::import::repair::Repair;
use crate::import::{RawAnimation, RawCharacter, RawKeys};
use crate::mesh::MorphWeight;
use crate::retarget::is_vrm_pair;
use crate::skeleton::role::VrmKind;
use crate::skeleton::{Armatures, Joint, NameMatch, Skeleton, match_names};
use std::collections::{HashMap, HashSet};

/// The clips of a file and the joints that they drive.
#[derive(Debug)]
pub(in crate::import) struct Adopted {
    /// The file's own skeleton: the joints of its skins, the nodes that its animations drive, and
    /// their ancestors. Those of a VRM Animation have the nodes of all humanoid bones, too.
    pub(in crate::import) skeleton: Skeleton,
    /// The matches that clips use, each once.
    pub(in crate::import) matches: Vec<Matched>,
    /// True if the clips were retargeted, so that rest poses may differ.
    pub(in crate::import) retargeted: bool,
    /// The number of tracks of each joint of the file that drive nothing, not counting weights.
    pub(in crate::import) unmatched: Vec<u64>,
    /// One per animation. Joints are those of the other skeleton, morph weights those of the file.
    pub(in crate::import) clips: Vec<CurveClip>,
    /// The events of each clip.
    pub(in crate::import) events: Vec<Vec<EventDesc>>,
    /// The file's morph weights.
    pub(in crate::import) weights: Vec<MorphWeight>,
}

/// Some joints of a file, matched with those of another skeleton.
#[derive(Debug)]
pub(in crate::import) struct Matched {
    /// The joints, ascending.
    joints: Vec<u16>,
    /// The matching joints of the other skeleton, in the order of `joints`.
    pub(in crate::import) names: NameMatch,
}

impl Matched {
    /// A match of all joints of a file.
    fn whole(names: NameMatch) -> Self {
        Self {
            joints: (0..names.of.len()).map(|joint| joint as u16).collect(),
            names,
        }
    }

    fn new(from: &Skeleton, to: &Skeleton, joints: Vec<u16>) -> Self {
        let names = match_names(&from.of_some(&joints), to);
        Self { joints, names }
    }

    /// The joint of the other skeleton that a joint matches.
    pub(in crate::import) fn of(&self, joint: Id<Joint>) -> Option<u16> {
        let at = self.joints.binary_search(&joint.0).ok()?;
        self.names.of.get(at).copied().flatten()
    }

    /// The joints that are matched, and their partners.
    pub(in crate::import) fn pairs(&self) -> impl Iterator<Item = (u16, u16)> {
        let pairs = self.joints.iter().zip(&self.names.of);
        pairs.filter_map(|(joint, found)| Some((*joint, (*found)?)))
    }

    /// The numbers of tracks that drive nothing, those that change and all, and of names that
    /// several joints have.
    fn misfits(&self, moves: &[(Id<Joint>, bool)]) -> [usize; 3] {
        let unmatched = moves.iter().filter(|(joint, _)| self.of(*joint).is_none());
        let changing = unmatched.clone().filter(|(_, changes)| *changes);
        [changing.count(), unmatched.count(), self.names.ties.len()]
    }
}

/// Reads the animations of `raw` for `to`, ignoring everything that it draws.
pub(in crate::import) fn adopt(
    mut raw: RawCharacter,
    to: &Skeleton,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<Adopted> {
    raw.primitives.clear();
    raw.materials.clear();
    names::note_controls(&raw, repairs);
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
        skeleton.roles = avatar::roles(&raw, &joint_of, repairs);
        skeleton.vrm = raw.vrm;
    }
    let retargeted = is_vrm_pair(&skeleton, to);
    let morphs = Morphs::every(&raw)?;
    let (matches, of_clip, clips) = if retargeted {
        let file = (&raw, &skeleton, &joint_of[..]);
        let (names, clips) = adopt_vrm::retargeted(file, to, &morphs, options, repairs)?;
        let of_clip = vec![0; raw.animations.len()];
        (vec![Matched::whole(names)], of_clip, clips)
    } else {
        by_names((&raw, &skeleton, &joint_of), to, &morphs, options, repairs)?
    };
    let mut unmatched = vec![0; skeleton.len()];
    for (animation, of) in raw.animations.iter().zip(&of_clip) {
        for (joint, _) in moves(animation, &joint_of) {
            unmatched[joint.index()] += u64::from(matches[*of].of(joint).is_none());
        }
    }
    let events = clips::events(&raw.animations, &clips, repairs);
    let used: HashSet<usize> = of_clip.into_iter().collect();
    let matches = matches.into_iter().enumerate();
    let matches = matches.filter_map(|(index, one)| used.contains(&index).then_some(one));
    Ok(Adopted {
        matches: matches.collect(),
        retargeted,
        skeleton,
        unmatched,
        clips,
        events,
        weights: morphs.into_weights(),
    })
}

/// Builds the clips for joints of the same names. Returns matches, the match of each clip, and the
/// clips.
fn by_names(
    (raw, skeleton, joint_of): File<'_>,
    to: &Skeleton,
    morphs: &Morphs,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<(Vec<Matched>, Vec<usize>, Vec<CurveClip>)> {
    let mut matching = Matching::new(skeleton, to, options);
    let animations = raw.animations.iter();
    let of_clip = animations.map(|animation| matching.of_clip(&moves(animation, joint_of)));
    let of_clip: Vec<usize> = of_clip.collect::<Result<_>>()?;
    let there = |animation: usize, node: usize| {
        let own = joint_of.get(node).copied().flatten()?;
        matching.all.get(of_clip[animation])?.of(Id::new(own))
    };
    let joints = clips::JointOf {
        nodes: raw.nodes.len(),
        of: &there,
    };
    let clips = clips::build(&raw.animations, to, &joints, morphs, repairs)?;
    Ok((matching.all, of_clip, clips))
}

/// The joint of each track, and true if its keys differ.
fn moves(animation: &RawAnimation, joint_of: &[Option<u16>]) -> Vec<(Id<Joint>, bool)> {
    let tracks = animation.channels.iter().filter_map(|channel| {
        let changes = match &channel.values {
            RawKeys::Translation(keys) | RawKeys::Scale(keys) => keys.windows(2).any(differ),
            RawKeys::Rotation(keys) => keys.windows(2).any(differ),
            RawKeys::Weights(_) => return None,
        };
        let joint = joint_of.get(channel.node).copied().flatten()?;
        Some((Id::new(joint), changes))
    });
    tracks.collect()
}

fn differ<T: PartialEq>(pair: &[T]) -> bool {
    pair[0] != pair[1]
}

/// Matches the joints of a file by name, for one clip after the other.
///
/// A file may have several armatures with equal names: one for each clip, or one for each of
/// several characters. The joints that a clip moves tell which of them it is for.
struct Matching<'a> {
    from: &'a Skeleton,
    to: &'a Skeleton,
    armatures: Option<Armatures>,
    /// First that of all joints.
    all: Vec<Matched>,
    /// By armatures, the index in `all`.
    made: HashMap<Vec<u32>, usize>,
    /// The joints of all matches, and their cap.
    joints: u64,
    cap: u64,
}

impl<'a> Matching<'a> {
    fn new(from: &'a Skeleton, to: &'a Skeleton, options: &ImportOptions) -> Self {
        Self {
            from,
            to,
            armatures: None,
            all: vec![Matched::whole(match_names(from, to))],
            made: HashMap::new(),
            joints: 0,
            cap: options.limits.clip_joints,
        }
    }

    /// The index of the match that lets a clip drive most: that of all joints, of the armatures
    /// that the clip moves, or of the one that it moves most.
    fn of_clip(&mut self, moves: &[(Id<Joint>, bool)]) -> Result<usize> {
        let mut best = (self.all[0].misfits(moves), 0);
        if best.0 == [0; 3] {
            return Ok(0);
        }
        let armatures = self.armatures.get_or_insert_with(|| {
            let names = |skeleton: &'a Skeleton| {
                let joints = skeleton.joints().iter();
                joints.map(|joint| (!joint.name.is_empty()).then_some(&*joint.name))
            };
            Armatures::new(self.from, names(self.from), names(self.to), usize::MAX)
        });
        let moved = armatures.moved_by(moves);
        for some in [&moved[..], moved.get(..1).unwrap_or_default()] {
            if some.is_empty() || best.0 == [0; 3] {
                break;
            }
            let index = self.of_armatures(some)?;
            let misfits = self.all[index].misfits(moves);
            if misfits < best.0 {
                best = (misfits, index);
            }
        }
        Ok(best.1)
    }

    /// The index of the match of some armatures.
    fn of_armatures(&mut self, some: &[u32]) -> Result<usize> {
        let mut some = some.to_vec();
        some.sort_unstable();
        if let Some(index) = self.made.get(&some) {
            return Ok(*index);
        }
        let joints = match &self.armatures {
            Some(armatures) => armatures.joints(self.from, &some),
            None => Vec::new(),
        };
        self.joints += (joints.len() + self.to.len()) as u64;
        let at = || file_part("animations");
        check_cap(at, "joints of all clips", self.joints, self.cap)?;
        self.all.push(Matched::new(self.from, self.to, joints));
        self.made.insert(some, self.all.len() - 1);
        Ok(self.all.len() - 1)
    }
}
