//! Replaced characters, and restores.

use super::frames::expect_near;
use super::{Member, Model};
use crate::reference::handles::Handles;
use crate::reference::words::Fails;
use crate::support::Setup;
use throng::animator::{Animator, AnimatorSnapshot};
use throng::glam::Affine3A;
use throng::skeleton::Socket;
use throng::{Crowd, CrowdSnapshot, Id, InstanceId};

/// A crowd and the model of it at a moment.
pub(super) struct Saved {
    crowd: CrowdSnapshot,
    versions: Vec<usize>,
    animators: Vec<AnimatorSnapshot>,
    members: Vec<Member>,
    dead: Vec<InstanceId>,
    now_s: f64,
}

/// The fate of an attached instance whose parent has another character.
enum Child {
    /// It follows the joint of the same name.
    Moved(u16),
    /// It stays at this transform, within a bound.
    Freed(Affine3A, f32),
}

impl Model {
    /// The fates of a character's attached instances if a variant replaces it.
    fn children(&self, kind: usize, version: usize) -> Vec<(InstanceId, Child)> {
        let skeletons = [&self.kinds[kind], &self.variants[kind][version]].map(|it| it.skeleton());
        let attached = self.members.iter().filter_map(|child| {
            let to = child.attached?;
            let parent = self.members.iter().find(|it| it.id == to.parent)?;
            (parent.character == kind).then_some((child.id, to.joint))
        });
        let fate = |(id, joint_before)| {
            let name = &skeletons[0].joints()[usize::from(joint_before)].name;
            // Variants differ in the number of joints. Names can be equal within a character.
            let same = version == self.versions[kind];
            let joint = skeletons[1].joint(name).map(u16::from);
            let joint = if same { Ok(joint_before) } else { joint };
            let freed = || {
                let (world, bound) = self.world(id);
                Child::Freed(world, bound)
            };
            (id, joint.map_or_else(|_| freed(), Child::Moved))
        };
        attached.map(fate).collect()
    }

    /// Replaces a character by one of its variants.
    pub(super) fn replace(&mut self, setup: &mut Setup, crowd: &mut Crowd) {
        let kind = self.rng.below(self.kinds.len());
        let version = self.rng.below(self.variants[kind].len());
        let after = self.variants[kind][version].clone();
        let lengths = [&self.kinds[kind], &after].map(|it| it.palette().len() as u32);
        let of_kind = self.members.iter().filter(|it| it.character == kind);
        let entries = self.entries() + of_kind.count() as u32 * lengths[1]
            - self
                .members
                .iter()
                .filter(|it| it.character == kind)
                .count() as u32
                * lengths[0];
        let children = self.children(kind, version);
        let allocator = &mut setup.allocator();
        let got = crowd.replace_character(allocator, self.ids[kind], &after);
        if entries > self.capacity.palette_entries {
            got.fails("…: … requested, at most … allowed");
            return;
        }
        got.unwrap();
        self.animators[kind].replace(&after).unwrap();
        (self.versions[kind], self.kinds[kind]) = (version, after);
        self.replaced += 1;
        for (id, child) in children {
            let told = crowd.live(id).transform();
            let member = self.members.iter_mut().find(|it| it.id == id).unwrap();
            match (child, &mut member.attached) {
                (Child::Moved(joint), Some(to)) => to.joint = joint,
                (Child::Freed(world, bound), _) => {
                    expect_near(&told, &world, bound);
                    (member.world_from_model, member.attached) = (told, None);
                }
                _ => unreachable!("it was attached"),
            }
        }
        for member in self.members.iter_mut().filter(|it| it.character == kind) {
            // From now on, only the animator knows the pose that the joints had.
            member.mixed |= member.model.take().is_some();
        }
    }

    /// Keeps a snapshot.
    pub(super) fn save(&mut self, crowd: &Crowd) {
        assert_eq!(crowd.time_s(), self.now_s);
        let crowd = crowd.snapshot();
        self.saved.push(Saved {
            crowd,
            versions: self.versions.clone(),
            animators: self.animators.iter().map(Animator::snapshot).collect(),
            members: self.members.clone(),
            dead: self.dead.clone(),
            now_s: self.now_s,
        });
    }

    /// Goes back to a snapshot. One of the characters before they were replaced is refused.
    pub(super) fn restore(&mut self, crowd: &mut Crowd) {
        let saved = &self.saved[self.rng.below(self.saved.len())];
        let fits = |kind: usize| saved.versions[kind] == self.versions[kind];
        let got = crowd.restore(&saved.crowd);
        if !saved.members.iter().all(|member| fits(member.character)) {
            assert!(got.is_err());
            return;
        }
        got.unwrap();
        for (kind, animator) in self.animators.iter_mut().enumerate() {
            if fits(kind) {
                animator.restore(&saved.animators[kind]).unwrap();
            } else {
                *animator = Animator::new(&self.kinds[kind]).unwrap();
                animator.update(saved.now_s).unwrap();
            }
        }
        let before = std::mem::replace(&mut self.members, saved.members.clone());
        self.dead.clone_from(&saved.dead);
        self.now_s = saved.now_s;
        self.restored += 1;
        for member in &mut self.members {
            // What is alive in both stays.
            let same = |it: &&Member| (it.id, it.character) == (member.id, member.character);
            member.born = before.iter().find(same).map_or(self.restored, |it| it.born);
        }
        for (id, member) in self.members.iter().map(|it| (it.id, it)) {
            let Some(to) = member.attached else { continue };
            let told = crowd.live(id).attachment().unwrap();
            assert_eq!(
                (told.parent, told.socket),
                (to.parent, Socket::at(Id::new(to.joint)).into())
            );
        }
    }
}
