//! Snapshots of a crowd and of single instances, as plain data.

use crate::animator::{ActorSnapshot, AnimatorSnapshot};
use crate::crowd::Crowd;
use crate::crowd::capacity::Need;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::instances::attachments::{Link, SavedAttachment};
use crate::crowd::instances::handle::Instance;
use crate::crowd::instances::state::Colors;
use crate::crowd::instances::table::Instances;
use crate::crowd::origin::check_offset;
use crate::crowd::visibility::{Look, Marks, Visibility};
use crate::crowd::{CharacterId, SkinningStage};
use crate::error::{
    Error, Result, expect, expect_finite, expect_index, expect_placement, expect_transform,
};
use crate::hash;
use core::ops::{Deref, DerefMut};
use glam::DVec3;

/// All instances of a [`Crowd`] at a moment: ids, what they play, transforms, attachments, and
/// everything else that decides their future.
///
/// It is plain data, which serde can read and write with the feature `serde`. See
/// [`AnimatorSnapshot`] for what it is used for, which characters it fits, and what a text format
/// needs. It does not have characters, solvers, passes or capacities.
///
/// ```no_run
/// use throng::{Crowd, CrowdSnapshot, Result};
///
/// /// Goes back, and returns the time from which the engine's clock must go on.
/// fn load(crowd: &mut Crowd, saved: &CrowdSnapshot) -> Result<f64> {
///     crowd.restore(saved)?;
///     Ok(crowd.time_s())
/// }
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[doc(alias("save", "saved game", "rollback", "replay"))]
pub struct CrowdSnapshot {
    /// The time of the last [`Crowd::update`] before it was taken, in seconds.
    pub(super) time_s: f64,
    /// That of the crowd then.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) origin: DVec3,
    /// By character. One that was removed has no members.
    pub(super) characters: Vec<Members>,
    /// By table index.
    pub(super) instances: Vec<SavedInstance>,
    /// The indices of the next instances, last first.
    pub(super) free: Vec<u32>,
    pub(super) attachments: Vec<SavedAttachment>,
    /// See [`Self::sum_of_ids`].
    ids: u64,
}

/// One instance of a [`Crowd`] at a moment. See [`CrowdSnapshot`].
///
/// It can be restored to any instance of the same character, in any crowd. It does not have the
/// attachment to another instance: attach the instance again, if it is in another crowd.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InstanceSnapshot {
    /// That of the crowd then.
    #[cfg_attr(feature = "serde", serde(default))]
    origin: DVec3,
    actor: ActorSnapshot,
    appearance: SavedAppearance,
}

/// The instances of a character.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Members {
    pub(super) animator: AnimatorSnapshot,
    /// Table index and actor of each, in the order in which they are drawn.
    pub(super) list: Vec<[u32; 2]>,
}

#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SavedInstance {
    pub(super) generation: u32,
    pub(super) character: u32,
    pub(super) appearance: SavedAppearance,
}

/// The state of an instance besides its actor.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SavedAppearance {
    pub(super) tint: [f32; 4],
    #[cfg_attr(feature = "serde", serde(default = "white"))]
    pub(super) second_tint: [f32; 3],
    pub(super) user_data: u32,
    pub(super) skinning_stage: SkinningStage,
    visible: bool,
    view_mask: u32,
    /// A bit for each primitive that it hides, the low ones first.
    hidden: [u32; 4],
    /// 0, or one more than the index of its material variant.
    #[cfg_attr(feature = "serde", serde(default))]
    variant: u16,
}

/// The second tint in snapshots from before there was one.
#[cfg(feature = "serde")]
fn white() -> [f32; 3] {
    Colors::default().second_tint
}

impl SavedAppearance {
    fn new(visibility: &Visibility, instances: &Instances, index: u32) -> Self {
        let state = &instances[index];
        let (marks, look) = (visibility.marks(index), visibility.look(index));
        let colors = instances.colors(index);
        Self {
            tint: colors.tint,
            second_tint: colors.second_tint,
            user_data: state.record.user,
            skinning_stage: state.skin,
            visible: marks.visible,
            view_mask: marks.mask,
            hidden: [0, 32, 64, 96].map(|bit| (look.hidden >> bit) as u32),
            variant: look.variant,
        }
    }

    pub(super) fn colors(&self) -> Colors {
        Colors {
            tint: self.tint,
            second_tint: self.second_tint,
        }
    }

    pub(super) fn look(&self) -> Look {
        let words = self.hidden.iter().rev();
        Look {
            hidden: words.fold(0, |bits, word| bits << 32 | u128::from(*word)),
            variant: self.variant,
        }
    }

    pub(super) fn mark(&self, marks: &mut Marks) {
        (marks.mask, marks.visible) = (self.view_mask, self.visible);
    }

    fn check(&self, loaded: &LoadedCharacter) -> Result<()> {
        self.colors().check()?;
        loaded.check_stage(self.skinning_stage)?;
        let parts = loaded.primitives.iter();
        let parts = parts.fold(0, |bits, primitive| bits | primitive.bit);
        if self.look().hidden & !parts != 0 {
            return Err(Error::invalid(
                "hidden parts",
                "are not parts of the character",
            ));
        }
        let variants = loaded.rig.variants().len();
        let why = "is not one of the character";
        expect("variant", usize::from(self.variant) <= variants, why)
    }
}

/// Flags of indices of a snapshot, while it is checked.
mod flag {
    /// The index of the table has an instance.
    pub(crate) const INSTANCE: u8 = 1;
    /// The actor of the present character has an instance.
    pub(crate) const ACTOR: u8 = 2;
    /// The index of the table is free.
    pub(crate) const FREE: u8 = 4;
    /// The instance is attached.
    pub(crate) const CHILD: u8 = 8;
    /// The instance is attached, and its parent was seen to be.
    pub(crate) const PARENT_SEEN: u8 = 16;
}

/// Sets a flag. Returns false if it was set before, or if there is no such index.
fn mark(flags: &mut [u8], index: u32, flag: u8) -> bool {
    let flags = flags
        .get_mut(index as usize)
        .filter(|flags| **flags & flag == 0);
    flags.map(|flags| *flags |= flag).is_some()
}

impl CrowdSnapshot {
    /// A sum of what decides the ids of instances and of those that are spawned later.
    ///
    /// With altered generations, an id that the game holds could name another instance.
    fn sum_of_ids(&self) -> u64 {
        let generations = self.instances.iter().map(|saved| saved.generation);
        let words = generations.chain(self.free.iter().copied());
        // 0 if there are no instances, as in the default.
        words.fold(0, |sum, word| hash::add(sum, u64::from(word) + 1))
    }

    /// [`Crowd::origin`] when it was taken, in metres.
    #[must_use]
    pub fn origin(&self) -> DVec3 {
        self.origin
    }
}

/// Save and restore.
impl Crowd {
    /// Saves all instances. See [`CrowdSnapshot`].
    #[must_use]
    pub fn snapshot(&self) -> CrowdSnapshot {
        let mut snapshot = CrowdSnapshot::default();
        self.snapshot_into(&mut snapshot);
        snapshot
    }

    /// Saves all instances, and reuses the memory of an earlier snapshot.
    pub fn snapshot_into(&self, to: &mut CrowdSnapshot) {
        let scene = &self.scene;
        (to.time_s, to.origin) = (self.time_s, scene.origin.at);
        to.characters
            .resize_with(scene.characters.len(), Members::default);
        for (index, members) in (0..).zip(&mut to.characters) {
            members.list.clear();
            let animator = self.animators.get(index);
            let (Some(loaded), Some(animator)) = ((*scene.characters).get(index), animator) else {
                members.animator = AnimatorSnapshot::default();
                continue;
            };
            animator.snapshot_into(&mut members.animator);
            members.list.extend(
                loaded
                    .members
                    .iter()
                    .map(|index| [*index, scene.instances[*index].actor.index]),
            );
        }
        let (states, free) = scene.instances.all();
        to.instances.clear();
        let saved = (0..).zip(states).map(|(index, state)| match state.alive {
            true => SavedInstance {
                generation: state.generation,
                character: state.character,
                appearance: SavedAppearance::new(&scene.visibility, &scene.instances, index),
            },
            // Equal crowds have equal snapshots, whatever had the index before.
            false => SavedInstance {
                generation: state.generation,
                ..SavedInstance::default()
            },
        });
        to.instances.extend(saved);
        to.free.clear();
        to.free.extend_from_slice(free);
        scene.attachments.save(&mut to.attachments);
        to.ids = to.sum_of_ids();
    }

    pub(super) fn check_snapshot(
        &mut self,
        from: &CrowdSnapshot,
        flags: &mut Vec<u8>,
    ) -> Result<()> {
        expect_finite("time_s", from.time_s)?;
        check_offset("origin", from.origin)?;
        let invalid = |why| Err(Error::invalid("snapshot", why));
        if from.ids != from.sum_of_ids() {
            return invalid("has generations or free indices that were altered");
        }
        flags.clear();
        flags.resize(from.instances.len(), 0);
        let (mut need, mut count) = (Need::default(), from.free.len());
        for (index, members) in from.characters.iter().enumerate() {
            count += members.list.len();
            if members.list.is_empty() && members.animator.len() == 0 {
                continue;
            }
            let checked = self.check_members((index as u32, members), from, flags, &mut need);
            checked.map_err(|why| why.at("character", index))?;
        }
        if count != from.instances.len() || !from.free.iter().all(|at| mark(flags, *at, flag::FREE))
        {
            return invalid("has a wrong list of free indices");
        }
        let both = flag::INSTANCE | flag::FREE;
        if flags.iter().any(|flags| flags & both == both) {
            return invalid("has instances at free indices");
        }
        self.scene
            .instances
            .check_all(from.instances.len(), &need)?;
        self.check_attachments(from, flags)
    }

    /// Checks the instances of a character, and adds up what they need.
    fn check_members(
        &mut self,
        (index, members): (u32, &Members),
        from: &CrowdSnapshot,
        flags: &mut Vec<u8>,
        need: &mut Need,
    ) -> Result<()> {
        let character = CharacterId(index);
        let loaded = self.scene.characters.get(character)?;
        self.animators.of_mut(character)?.check(&members.animator)?;
        if members.list.len() != members.animator.len() {
            return Err(Error::invalid(
                "snapshot",
                "must have exactly one actor for each instance",
            ));
        }
        for [at, actor] in &members.list {
            let Some(saved) = from.instances.get(*at as usize) else {
                return Err(Error::invalid(
                    "snapshot",
                    "lists an instance that it does not have",
                ));
            };
            let alive = members.animator.actor(*actor).is_some();
            if alive && flags.len() <= *actor as usize {
                flags.resize(*actor as usize + 1, 0);
            }
            if !alive
                || saved.character != index
                || !mark(flags, *actor, flag::ACTOR)
                || !mark(flags, *at, flag::INSTANCE)
            {
                return Err(Error::invalid(
                    "snapshot",
                    "has instances that do not belong to its actors",
                ));
            }
            saved
                .appearance
                .check(loaded)
                .map_err(|why| why.at("instance", *at as usize))?;
            *need = need.plus(&loaded.need(saved.appearance.skinning_stage), 1);
        }
        flags.truncate(from.instances.len());
        for flags in flags {
            *flags &= !flag::ACTOR;
        }
        Ok(())
    }

    /// Checks that attachments form trees of instances that the snapshot has.
    fn check_attachments(&self, from: &CrowdSnapshot, flags: &mut [u8]) -> Result<()> {
        let has = |flags: &[u8], at: u32, flag: u8| {
            flags
                .get(at as usize)
                .is_some_and(|flags| flags & flag != 0)
        };
        for saved in &from.attachments {
            if !has(flags, saved.child, flag::INSTANCE) || !mark(flags, saved.child, flag::CHILD) {
                return Err(Error::invalid(
                    "attachments",
                    "must each have an instance of its own",
                ));
            }
        }
        for saved in &from.attachments {
            let Link {
                parent,
                socket,
                socket_from_child,
                ..
            } = saved.link;
            let at = parent.index;
            let above = from.instances.get(at as usize);
            let above = above.filter(|above| {
                has(flags, at, flag::INSTANCE) && above.generation == parent.generation
            });
            let why = "must have parents that the snapshot has";
            let parent = above.ok_or(Error::invalid("attachments", why))?;
            if has(flags, at, flag::CHILD) && !has(flags, at, flag::PARENT_SEEN) {
                return Err(Error::invalid(
                    "attachments",
                    "must be in order, parents first",
                ));
            }
            mark(flags, saved.child, flag::PARENT_SEEN);
            let joints = self
                .scene
                .characters
                .get(CharacterId(parent.character))?
                .rig
                .skeleton()
                .len();
            expect_index("joint", socket.joint.index(), joints)?;
            expect_transform("Socket::offset", &socket.offset)?;
            expect_placement("socket_from_child", &socket_from_child)?;
        }
        Ok(())
    }
}

impl<C: Deref<Target = Crowd>> Instance<C> {
    /// Saves the instance. See [`InstanceSnapshot`].
    #[must_use]
    pub fn snapshot(&self) -> InstanceSnapshot {
        let mut actor = self.actor.snapshot();
        if self.attachment().is_some() {
            actor.set_transform(&self.transform());
        }
        let scene = self.scene();
        InstanceSnapshot {
            actor,
            origin: scene.origin.at,
            appearance: SavedAppearance::new(&scene.visibility, &scene.instances, self.id().index),
        }
    }
}

impl<C: DerefMut<Target = Crowd>> Instance<C> {
    /// Brings the instance to a snapshot of this or another instance of the same character.
    ///
    /// It keeps its id and its attachment. What it plays goes on from the moment of the snapshot.
    /// Motion vectors are those of a [teleport](Self::teleport).
    ///
    /// # Errors
    /// If there is an error, the instance does not change.
    ///
    /// - As [`Animator::restore`](crate::animator::Animator::restore).
    /// - As [`Self::set_skinning_stage`].
    pub fn restore(&mut self, from: &InstanceSnapshot) -> Result<()> {
        let (id, before) = (self.id(), self.state().clone());
        let crowd = &mut *self.actor.animator.crowd;
        let (scene, animator) = (&mut crowd.scene, &mut crowd.animators[before.character]);
        animator.check_one(&from.actor)?;
        check_offset("origin", from.origin)?;
        let loaded = scene.characters.get(CharacterId(before.character))?;
        from.appearance.check(loaded)?;
        let (stage, appearance) = (from.appearance.skinning_stage, &from.appearance);
        scene.instances.check_skin(id.index, stage)?;
        let shift = scene.origin.from(from.origin);
        animator.restore_one(before.actor.index, &from.actor, shift.as_ref());
        let world = animator.actor(before.actor)?.transform();
        scene.set_skin(id, stage);
        scene.instances.change(id.index, |state| {
            state.record.user = appearance.user_data;
        });
        scene.instances.set_colors(id.index, appearance.colors());
        scene.put_record(id, &world, true);
        scene.attachments.queue_update(id.index);
        scene.change_look(id, |look| *look = appearance.look());
        let visibility = &mut scene.visibility;
        visibility.change(id.index, |marks| appearance.mark(marks));
        Ok(())
    }
}
