//! The map for a clip of a file with several armatures.

use super::map::JointMap;
use super::words::{loose, without_number};
use crate::clip::CurveClip;
use crate::error::Result;
use crate::id::Id;
use crate::skeleton::{Armatures, Joint, Skeleton};
use std::collections::HashSet;

impl JointMap {
    /// The map for one clip of a source with several armatures whose joints have the same names.
    ///
    /// `map` is [`Self::by_names`] or [`Self::humanoid`]. Files that are libraries of clips have
    /// one armature for each clip or character. Only the armatures that the clip moves are mapped,
    /// with the joints above them, if it then moves more of the target. Of two that it moves, the
    /// one that it moves more may be mapped alone.
    ///
    /// # Errors
    /// As `map`.
    pub fn for_clip(
        clip: &CurveClip,
        source: &Skeleton,
        target: &Skeleton,
        map: fn(&Skeleton, &Skeleton) -> Result<Self>,
    ) -> Result<Self> {
        let tracks = clip.tracks().iter();
        let moves: Vec<_> = tracks.map(|track| (track.joint, track.moves())).collect();
        let mut best = map(source, target);
        let mut unused = best
            .as_ref()
            .map_or([usize::MAX; 2], |map| map.unused(&moves));
        if unused == [0, 0] {
            return best;
        }
        let names = |skeleton: &Skeleton| {
            let joints = skeleton.joints().iter();
            let joints = joints.map(|joint| loose(without_number(&joint.name).0));
            let names = joints.map(|name| (!name.is_empty()).then_some(name));
            names.collect::<Vec<_>>().into_iter()
        };
        let armatures = Armatures::new(source, names(source), names(target), 1);
        let moved = armatures.moved_by(&moves);
        for some in [&moved[..], moved.get(..1).unwrap_or_default()] {
            if some.is_empty() {
                break;
            }
            let joints = armatures.joints(source, some);
            let Ok(own) = map(&source.of_some(&joints), target) else {
                continue;
            };
            let own = own.of_whole(joints, source);
            if own.unused(&moves) < unused {
                unused = own.unused(&moves);
                best = Ok(own);
            }
        }
        best
    }

    /// The numbers of tracks that move no joint of the target: those that change, and all.
    fn unused(&self, moves: &[(Id<Joint>, bool)]) -> [usize; 2] {
        let links = self.links.iter();
        let sources = links.flat_map(|link| [Some(link.source), link.second_source]);
        let sources: HashSet<Id<Joint>> = sources.flatten().collect();
        let unused = moves.iter().filter(|(joint, _)| !sources.contains(joint));
        let changing = unused.clone().filter(|(_, changes)| *changes);
        [changing.count(), unused.count()]
    }

    /// The same map for a source of which it has these joints.
    fn of_whole(mut self, joints: Vec<u16>, source: &Skeleton) -> Self {
        let whole = |joint: Id<Joint>| Id::new(joints[joint.index()]);
        for link in &mut self.links {
            link.source = whole(link.source);
            link.second_source = link.second_source.map(whole);
        }
        self.joints[0] = source.len();
        self.part = Some(joints.into());
        self
    }
}
