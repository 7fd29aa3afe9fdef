//! Brings a crowd back to a snapshot: what is alive in both stays, and what differs is changed.

use crate::animator::{ActorId, Animator, AnimatorSnapshot};
use crate::crowd::characters::loaded::NewInstance;
use crate::crowd::instances::snapshot::{CrowdSnapshot, Members, SavedAppearance, SavedInstance};
use crate::crowd::scene::Scene;
use crate::crowd::{Crowd, InstanceId};
#[cfg(doc)]
use crate::crowd::{Instance, SkinningStage};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::palette::Mat3x4;
use glam::Affine3A;

/// The flag of an instance that stays, while a crowd is restored.
const STAYS: u8 = 1;

impl Crowd {
    /// Brings all instances back to a snapshot of this or another crowd.
    ///
    /// The crowd must have the same characters, added in the same order, and the same solvers for
    /// each. It may have more characters. Instance ids are then those of the snapshot. An instance
    /// that was spawned since is gone. The next instances get the ids that they would have got
    /// then, so ids of the time that was undone can name others.
    ///
    /// # Time
    /// The crowd's time ([`Crowd::time_s`]) is then that of the snapshot. Let the clock that
    /// [`Crowd::update`] gets go on from there: set it to that time, and add the length of each
    /// step as before. If it does not, the next update plays everything between the two times at
    /// once, with all events. To go on at another time of the clock, restore the instances one by
    /// one with [`Instance::restore`], which moves them to the crowd's present.
    ///
    /// # Origin
    /// [`Crowd::origin`] stays, and positions are taken to it from that of the snapshot
    /// ([`Crowd::shift_origin`]). For a saved game, bring the origin of the new crowd to that of
    /// the snapshot first, so that positions have few digits:
    /// `crowd.shift_origin(saved.origin() - crowd.origin())`.
    ///
    /// # Motion vectors
    /// An instance that is alive with the same id and character stays the same one: only what
    /// differs is uploaded, and motion vectors are those from its transform in the view's last
    /// frame, as after [`Instance::set_transform`]. Others are as after a spawn. For a cut to
    /// another scene, leave out [`View::history`](crate::View::history) in the first frame.
    ///
    /// # Memory
    /// It is within the present [`Capacity`](crate::Capacity). Nothing is allocated that the crowd
    /// did not need before.
    ///
    /// # Errors
    /// If there is an error, nothing changes.
    ///
    /// - [`Error::Capacity`] if the instances do not fit (see [`Crowd::reserve`]).
    /// - [`Error::At`] with the index of the character: [`Error::NotFound`] if it does not exist,
    ///   and what [`Animator::restore`](crate::animator::Animator::restore) says.
    /// - [`Error::Argument`] for data that was altered, and for [`SkinningStage::Cpu`] if the
    ///   character was added without
    ///   [`CharacterDesc::cpu_skinning`](crate::CharacterDesc::cpu_skinning).
    pub fn restore(&mut self, from: &CrowdSnapshot) -> Result<()> {
        let mut flags = core::mem::take(&mut self.scene.flags);
        let checked = self.check_snapshot(from, &mut flags);
        self.scene.flags = flags;
        checked?;
        (self.time_s, self.shown_s) = (from.time_s, from.time_s);
        let none = Members {
            animator: AnimatorSnapshot::empty(from.time_s),
            list: Vec::new(),
        };
        let (scene, animators) = (&mut self.scene, &mut self.animators);
        let shift = scene.origin.from(from.origin);
        scene.remove_others(from);
        for (character, animator) in animators.iter_mut() {
            let members = from.characters.get(character as usize);
            let members = members.filter(|members| !members.list.is_empty());
            let members = members.unwrap_or(&none);
            animator.restore_checked(&members.animator, shift.as_ref());
            scene.put_back((character, animator), members, &from.instances)?;
        }
        scene.reserve_visibility();
        Ok(())
    }
}

impl Scene {
    /// Removes what a snapshot does not have, and takes over its table and its attachments.
    fn remove_others(&mut self, from: &CrowdSnapshot) {
        let mut flags = core::mem::take(&mut self.flags);
        flags.clear();
        flags.resize(self.instances.table_len(), 0);
        for (character, members) in (0..).zip(&from.characters) {
            for [index, actor] in &members.list {
                let saved = from.instances.get(*index as usize);
                let actor = members.animator.actor(*actor);
                if let (Some(saved), Some(actor)) = (saved, actor)
                    && self.has((*index, saved.generation), (character, actor))
                    && let Some(flags) = flags.get_mut(*index as usize)
                {
                    *flags = STAYS;
                }
            }
        }
        for (index, flags) in (0..).zip(&flags) {
            if let Some(id) = self.instances.id(index)
                && *flags != STAYS
            {
                self.remove(id);
            }
        }
        self.flags = flags;
        let generations = from.instances.iter().map(|saved| saved.generation);
        self.restore_table(generations, &from.free, &from.attachments);
    }

    /// Returns true if an instance of this generation and character is alive, with this actor.
    fn has(&self, (index, generation): (u32, u32), (character, actor): (u32, ActorId)) -> bool {
        let state = self.instances.get(InstanceId { index, generation });
        state.is_ok_and(|state| (state.character, state.actor) == (character, actor))
    }

    /// Inserts or changes the instances of a character, whose animator is restored.
    fn put_back(
        &mut self,
        (character, animator): (u32, &mut Animator),
        members: &Members,
        instances: &[SavedInstance],
    ) -> Result<()> {
        self.characters[character].reserve_members(members.list.len());
        for [index, actor] in &members.list {
            let (Some(saved), Some(actor)) = (
                instances.get(*index as usize),
                members.animator.actor(*actor),
            ) else {
                continue;
            };
            let world_from_model = animator.actor(actor)?.transform();
            let appearance = &saved.appearance;
            if let Some(id) = self.instances.id(*index) {
                self.change_back(id, &world_from_model, appearance);
                continue;
            }
            let new = NewInstance {
                actor,
                world_from_model,
                colors: appearance.colors(),
                user_data: appearance.user_data,
                skin: appearance.skinning_stage,
            };
            self.insert(character, &new, Some(*index));
            animator.list_again(actor);
            self.visibility
                .change(*index, |marks| appearance.mark(marks));
            let id = self.instances.any_id(*index);
            self.change_look(id, |look| *look = appearance.look());
        }
        let order = members.list.iter().map(|[index, _]| *index);
        for (member, index) in (0..).zip(order) {
            self.characters[character].set_member(member, index);
            self.instances[index].member = member;
        }
        Ok(())
    }

    /// Changes what differs of an instance that stays.
    fn change_back(&mut self, id: InstanceId, world: &Affine3A, saved: &SavedAppearance) {
        let index = id.index;
        let state = &mut self.instances[index];
        state.pictured = false;
        let (record, stage) = (state.record, state.skin);
        if stage != saved.skinning_stage {
            self.set_skin(id, saved.skinning_stage);
        }
        if record.user != saved.user_data {
            let user = saved.user_data;
            self.instances
                .change(index, |state| state.record.user = user);
        }
        if self.instances.colors(index) != saved.colors() {
            self.instances.set_colors(index, saved.colors());
        }
        let is_attached = self.attachments.of(index).is_some();
        if !is_attached && record.world_from_model != Mat3x4::from_affine(world) {
            self.put_record(id, world, false);
        }
        let (before, mut after) = (self.visibility.marks(index), self.visibility.marks(index));
        saved.mark(&mut after);
        after.parent_hidden &= is_attached;
        if before.views() != after.views() || before.mask != after.mask {
            self.visibility.change(index, |marks| {
                saved.mark(marks);
                marks.parent_hidden = after.parent_hidden;
            });
            self.attachments.note(index);
        }
        self.change_look(id, |look| *look = saved.look());
    }
}
