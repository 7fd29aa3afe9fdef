//! The characters and instances of a crowd, apart from their animators.

use crate::animator::{ActorId, Animator, PoseChange};
use crate::crowd::SkinningStage;
use crate::crowd::animators::Animators;
use crate::crowd::characters::list::Characters;
use crate::crowd::characters::loaded::{LoadedCharacter, NewInstance};
use crate::crowd::instances::attachments::{Attachments, SavedAttachment};
use crate::crowd::instances::picture::Picture;
use crate::crowd::instances::state::{InstanceState, is_flipped, may_flip};
use crate::crowd::instances::table::Instances;
use crate::crowd::memory::work::{GrownCounts, WorkLayout};
use crate::crowd::origin::Origin;
use crate::crowd::poses::Poses;
use crate::crowd::poses::gpu_poses::GpuPoses;
use crate::crowd::poses::pose_scratch::PoseScratch;
use crate::crowd::skin::cpu_skinning::CpuSkinning;
use crate::crowd::visibility::cull::WorldSphere;
use crate::crowd::visibility::shown::Shown;
use crate::crowd::visibility::{Look, Visibility};
use crate::crowd::{Capacity, InstanceId};
use crate::error::{Error, Result, expect_placement};
use crate::gpu::{CpuReason, GpuInstance};
use crate::grow::reserve_all;
use glam::Affine3A;

/// The characters and instances of a crowd, apart from their animators.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) characters: Characters,
    pub(crate) instances: Instances,
    pub(crate) attachments: Attachments,
    pub(crate) picture: Picture,
    pub(crate) origin: Origin,
    pub(crate) visibility: Visibility,
    /// The instances that the views of the frame show.
    pub(crate) shown: Shown,
    pub(crate) poses: Poses,
    /// Flags by index, while a snapshot is checked.
    pub(crate) flags: Vec<u8>,
}

impl Scene {
    pub(crate) fn new(capacity: &Capacity, frames_in_flight: u32) -> Self {
        Self {
            characters: Characters::default(),
            instances: Instances::new(capacity),
            attachments: Attachments::default(),
            picture: Picture::default(),
            origin: Origin::default(),
            visibility: Visibility::default(),
            shown: Shown::default(),
            poses: Poses {
                scratch: PoseScratch::new(frames_in_flight),
                gpu: None,
                skinning: CpuSkinning::default(),
            },
            flags: Vec::new(),
        }
    }

    /// Adds an instance, which has been checked to fit: at a free index, or put back where it was.
    pub(crate) fn insert(
        &mut self,
        character: u32,
        new: &NewInstance,
        index: Option<u32>,
    ) -> InstanceId {
        let loaded = &mut self.characters[character];
        let on_cpu = loaded.slot.is_none();
        let state = loaded.instance(character, new);
        loaded.flipped += usize::from(state.flipped);
        let index = index.unwrap_or_else(|| self.instances.take_index());
        let id = self.instances.add(index, state);
        self.instances.set_colors(index, new.colors);
        loaded.add_member(id.index);
        loaded.set_instance_of(new.actor, id.index);
        self.characters.make_room(character);
        self.poses.scratch.spawned(id.index);
        self.visibility.spawned(id.index, on_cpu);
        self.reserve_deformed();
        id
    }

    /// Detaches and removes a living instance. Returns its character and its actor, which has to be
    /// removed, too.
    pub(crate) fn remove(&mut self, id: InstanceId) -> (u32, ActorId) {
        let index = id.index;
        let InstanceState {
            character,
            actor,
            member,
            flipped,
            ..
        } = self.instances[index];
        self.attachments.unlink(index);
        self.instances.remove(index);
        let look = self.visibility.despawned(index);
        if let Some(poses) = &mut self.poses.gpu {
            poses.leave((character, index), CpuReason::Chosen);
        }
        let loaded = &mut self.characters[character];
        loaded.flipped -= usize::from(flipped);
        loaded.count_look(&look, false);
        if let Some(moved) = loaded.remove_member(member) {
            self.instances[moved].member = member;
        }
        (character, actor)
    }

    /// Replaces a character, whose instances have been checked to fit. Returns the old one.
    pub(crate) fn replace(&mut self, id: u32, new: LoadedCharacter) -> LoadedCharacter {
        let old = self.characters.replace(id, new);
        if let Some(slot) = &old.slot {
            self.characters.chunks.remove(slot);
        }
        self.characters.make_room(id);
        let new = &self.characters[id];
        self.instances.resize(id, &new.members, new.kind());
        for member in &new.members {
            self.visibility.set_on_cpu(*member, new.slot.is_none());
            self.visibility.activate(*member);
            if let Some(poses) = &mut self.poses.gpu {
                // Their plays have other numbers now.
                poses.leave((id, *member), CpuReason::Chosen);
            }
        }
        self.poses.scratch.forget();
        self.reserve_deformed();
        old
    }

    /// Removes a character without instances.
    pub(crate) fn remove_character(&mut self, id: u32) -> Option<LoadedCharacter> {
        let character = self.characters.take(id)?;
        if let Some(slot) = &character.slot {
            self.characters.chunks.remove(slot);
        }
        Some(character)
    }

    /// Takes over the table and the attachments of a snapshot. What it does not have was removed.
    pub(crate) fn restore_table(
        &mut self,
        generations: impl ExactSizeIterator<Item = u32>,
        free_indices: &[u32],
        attachments: &[SavedAttachment],
    ) {
        let len = generations.len();
        self.instances.set_table(generations, free_indices);
        self.visibility.set_len(len);
        self.poses.scratch.retain(len);
        self.picture.clear();
        if !self.attachments.are(attachments) {
            let mut placed = core::mem::take(&mut self.poses.scratch.actors);
            placed.clear();
            placed.extend(self.attachments.gpu.placed());
            self.attachments.restore(attachments);
            for index in &placed {
                if let Some(id) = self.instances.id(*index) {
                    // The CPU's record is not what the GPU has, and its flag was a guess.
                    let world = self.instances[*index].record.world_from_model;
                    self.set_flipped(id, is_flipped(&world.to_affine()));
                    self.instances.changed.add(*index);
                }
            }
            self.poses.scratch.actors = placed;
        }
    }

    /// Grows to capacities, those of the work buffer among them, so that frames allocate nothing.
    pub(crate) fn grow(&mut self, capacity: &Capacity, work: Option<&WorkLayout>) {
        if let Some(work) = work {
            self.characters.chunks.grow(work);
        }
        self.instances.grow(capacity);
        self.poses.scratch.reserve(capacity.instances as usize);
        if let Some(poses) = &mut self.poses.gpu {
            poses.grow(capacity);
            self.attachments.gpu.grow(capacity.attachments);
        }
        self.reserve_visibility();
    }

    /// Reserves memory for the instances that are skinned on the CPU.
    pub(crate) fn reserve_deformed(&mut self) {
        let cpu_skinned = self.instances.cpu_skinned();
        self.poses.skinning.reserve(cpu_skinned);
        self.poses
            .scratch
            .reserve_deformed(cpu_skinned.count as usize);
        let computed = self.instances.computed();
        self.poses
            .scratch
            .reserve_lists(computed, self.characters.len());
    }

    /// Changes the skinning stage of a living instance. It has been checked to fit.
    pub(crate) fn set_skin(&mut self, id: InstanceId, stage: SkinningStage) {
        let character = self.instances[id.index].character;
        self.characters[character].deforms |= stage != SkinningStage::Vertex;
        self.instances.set_skin(id.index, stage);
        self.visibility.activate(id.index);
        // The CPU may have to know where it is.
        self.attachments.queue_update(id.index);
        self.reserve_deformed();
    }

    /// Reserves memory for the morph weights of an instance.
    pub(crate) fn reserve_weights(&mut self, weights: usize) {
        let scratch = &mut self.poses.scratch;
        reserve_all(&mut scratch.weights, weights);
        reserve_all(&mut scratch.own, 1 + 2 * weights);
    }

    /// Reserves memory for what views show.
    pub(crate) fn reserve_visibility(&mut self) {
        let capacity = self.instances.capacity();
        self.visibility.reserve(capacity);
        let characters = self.characters.len();
        self.shown.reserve(&self.visibility, capacity, characters);
        self.characters.reserve_slots();
        if let Some(poses) = &mut self.poses.gpu {
            poses.reserve_characters(self.characters.len());
        }
        let computed = self.instances.computed();
        self.poses
            .scratch
            .reserve_lists(computed, self.characters.len());
    }

    /// Notes that every instance may have a new pose.
    pub(crate) fn activate_all(&mut self) {
        for id in self.instances.ids() {
            self.visibility.activate(id.index);
        }
    }

    /// Begins a frame.
    pub(crate) fn begin_frame(&mut self) {
        self.shown.begin_frame();
    }

    /// True if a frame was prepared.
    pub(crate) fn has_prepared(&self) -> bool {
        self.visibility.prepared_in() > 0
    }

    /// The numbers of things that frames have uploaded: those that growth copies.
    pub(crate) fn uploaded(&self) -> GrownCounts {
        let [records, counters] = self.instances.uploaded();
        let chunks = self.characters.chunks.copied();
        GrownCounts {
            records,
            counters,
            chunks,
        }
    }

    /// Notes that a frame has uploaded all changes.
    pub(crate) fn mark_uploaded(&mut self) {
        self.visibility.end_posing();
        self.origin.mark_uploaded();
        self.instances.mark_uploaded();
        self.attachments.gpu.changed.mark_uploaded();
        self.characters.mark_uploaded();
    }

    /// Notes that instances whose actors changed may have a new pose, and their new bounding
    /// spheres.
    pub(crate) fn activate_changed(&mut self, animators: &mut Animators) {
        self.attachments.sort();
        let scratch = &mut self.poses.scratch;
        for (character, animator) in animators.untracked_mut().iter_mut() {
            let loaded = &self.characters[character];
            scratch.actors.clear();
            scratch
                .actors
                .extend(animator.take_changed().map(|actor| actor.index));
            for actor in &scratch.actors {
                // Each living actor is that of an instance.
                let index = loaded.instance_of_actor[*actor as usize];
                let state = &self.instances[index];
                self.visibility.activate(index);
                if self.attachments.on_gpu(index) {
                    // Its bounding sphere may be another one.
                    self.attachments.queue_update(index);
                }
                let only_gpu = only_gpu(self.poses.gpu.as_ref(), &self.visibility, index);
                let changed = self
                    .visibility
                    .set_sphere(index, &state.kept_sphere(animator, only_gpu));
                if changed || self.instances.moved.has(index) {
                    self.visibility.note_actor(index);
                }
                if animator.pose_change(state.actor) == PoseChange::Rests {
                    scratch.resting.push(index);
                }
            }
        }
    }

    /// Sets the bounding spheres of the instances whose records this frame writes.
    pub(crate) fn update_spheres(&mut self, animators: &Animators) {
        let poses = self.poses.gpu.as_ref();
        let Instances { changed, moved, .. } = &self.instances;
        for (moved, list) in [(false, changed.list()), (true, moved.list())] {
            for index in list {
                let only_gpu = only_gpu(poses, &self.visibility, *index);
                if moved && only_gpu {
                    continue;
                }
                let state = &self.instances[*index];
                if state.alive {
                    let sphere = state.kept_sphere(&animators[state.character], only_gpu);
                    self.visibility.set_sphere(*index, &sphere);
                }
            }
        }
    }

    /// True if all views of the prepared frame that show an instance may show a shared pose with
    /// this error in metres.
    pub(crate) fn may_share(&self, index: u32, sphere: &WorldSphere, error_m: f32) -> bool {
        self.shown
            .may_share(&self.visibility, index, sphere, error_m)
    }

    /// True if a view of the prepared frame shows an instance, or without views, if it is visible.
    /// `sphere` is its bounding sphere now.
    pub(crate) fn shows(&self, index: u32, sphere: impl FnOnce() -> WorldSphere) -> bool {
        let on_gpu = self.poses.gpu.as_ref();
        if on_gpu.is_some_and(|poses| poses.poses(index)) {
            return self
                .shown
                .shows_somewhere(&self.visibility, index, &sphere());
        }
        self.shown.is_shown(index)
    }

    /// Undoes the uploads of the frame prepared last, which is never submitted.
    pub(crate) fn mark_lost(&mut self) {
        self.instances.mark_lost();
        self.origin.mark_lost();
        self.attachments.gpu.changed.mark_lost();
        self.characters.mark_lost();
        self.visibility.abandon_frame();
        self.wake_rested();
    }

    /// Lets the instances be posed again that the last frame left to rest.
    pub(crate) fn wake_rested(&mut self) {
        for index in self.poses.scratch.rested.drain(..) {
            self.visibility.activate(index);
        }
        // The CPU's writes may not have been copied to the device.
        self.poses.scratch.forget();
    }

    /// Lets palettes and morph weights be written again whose ranges moved. Deformed vertices are
    /// written in every frame.
    pub(crate) fn rewrite_moved(&mut self) {
        let [rows, morphs, _] = self.instances.take_moved();
        if rows {
            self.poses.scratch.forget();
            self.visibility.activate_kept();
        }
        if morphs {
            for id in self.instances.ids() {
                if self.instances[id.index].has_morphs() {
                    self.visibility.activate(id.index);
                }
            }
        }
    }

    /// Gathers the active instances that the frame shows.
    pub(crate) fn gather_active(&mut self) {
        let Poses { scratch, gpu, .. } = &mut self.poses;
        let (instances, visibility) = (&self.instances, &self.visibility);
        let on_gpu = |index| gpu.as_ref().is_some_and(|poses| poses.poses(index));
        let shown = || {
            let shown = visibility
                .active()
                .filter(|index| self.shown.is_shown(*index) && !on_gpu(*index));
            shown.map(|index| (instances[index].character, index))
        };
        scratch.gather(self.characters.len(), shown);
    }

    /// The instance of an actor of a character's animator.
    pub(crate) fn instance_of(&self, character: u32, actor: u32) -> Option<InstanceId> {
        let loaded = (*self.characters).get(character)?;
        let index = loaded.instance_of_actor.get(actor as usize)?;
        self.instances.id(*index)
    }

    /// Rows of the palette ring that this frame may use: none if nothing plays.
    pub(crate) fn rows_in_use(&self) -> u32 {
        let on_gpu = self.poses.gpu.as_ref().is_some_and(GpuPoses::poses_any);
        if on_gpu {
            // The GPU decides which rows it writes.
            self.instances.rows_capacity()
        } else if self.poses.scratch.any_in_ring || self.visibility.keeps_any() {
            self.instances.rows_end()
        } else {
            0
        }
    }

    /// Changes the look of a living instance.
    pub(crate) fn change_look(&mut self, id: InstanceId, change: impl FnOnce(&mut Look)) {
        let [before, after] = self.visibility.change_look(id.index, change);
        let instance = &self.instances[id.index];
        let (character, colors) = (instance.character, instance.record.colors);
        let packed = GpuInstance::with_variant(colors, after.variant);
        if packed != colors {
            self.instances
                .change(id.index, |instance| instance.record.colors = packed);
        }
        if before != after {
            let character = &mut self.characters[character];
            character.count_look(&after, true);
            character.count_look(&before, false);
            self.reserve_visibility();
        }
    }

    /// Checks that a living instance can be moved to this transform.
    #[inline]
    pub(crate) fn check_move(&self, id: InstanceId, world_from_model: &Affine3A) -> Result<()> {
        let what = "world_from_model";
        let placed = expect_placement(what, world_from_model);
        let checked = placed.and_then(|()| match self.attachments.of(id.index) {
            None => Ok(()),
            Some(_) => Err(Error::invalid(
                what,
                "of an attached instance follows from its parent: see attach_to and detach",
            )),
        });
        checked.map_err(|why| why.at("instance", id.index as usize))
    }

    /// Sets the transform of an instance of this animator, which is alive.
    ///
    /// The transform must be finite. `jump` leaves motion vectors out.
    pub(crate) fn put(
        &mut self,
        animator: &mut Animator,
        id: InstanceId,
        world_from_model: &Affine3A,
        jump: bool,
    ) {
        animator.put(self.instances[id.index].actor, world_from_model, jump);
        self.put_record(id, world_from_model, jump);
    }

    /// Writes the transform of an instance to its record. `jump` leaves motion vectors out.
    #[inline]
    pub(crate) fn put_record(&mut self, id: InstanceId, world_from_model: &Affine3A, jump: bool) {
        self.set_flipped(id, is_flipped(world_from_model));
        let may_flip = || may_flip(world_from_model);
        self.attachments.note_moved(id.index, may_flip);
        self.instances.put(id.index, world_from_model);
        if jump {
            self.instances.restamp(id.index);
        }
    }

    /// Notes whether the transform of an instance is flipped, or if the GPU places it, may be.
    #[inline]
    pub(crate) fn set_flipped(&mut self, id: InstanceId, now: bool) {
        let instance = &self.instances[id.index];
        let (before, character) = (instance.flipped, instance.character);
        if before != now {
            let character = &mut self.characters[character];
            character.flipped = character.flipped + usize::from(now) - usize::from(before);
            self.instances
                .change(id.index, |instance| instance.flipped = now);
            self.attachments.note(id.index);
        }
    }
}

/// True if the CPU needs the bounding sphere of an instance only to notice that it changed.
fn only_gpu(poses: Option<&GpuPoses>, visibility: &Visibility, index: u32) -> bool {
    poses.is_some_and(|poses| poses.poses(index)) && !visibility.is_on_cpu(index)
}
