//! Attached instances follow their parents, and are despawned with them.

use crate::animator::{Animator, PoseChange};
use crate::crowd::crowd::Crowd;
use crate::crowd::instances::state::{InstanceState, SkinningStage, may_flip};
use crate::crowd::scene::Scene;
use crate::crowd::visibility::cull::Placed;
use crate::crowd::{Attachment, InstanceId};
use crate::error::{Result, expect_transform};
use crate::gpu::animation::words;
use crate::gpu::layout::GpuAttachment;
use crate::gpu::{CpuReason, Producer};
use crate::palette::Mat3x4;
use glam::Affine3A;

/// The animators of a crowd beside the one of an instance, and the time of the frame begun last.
#[derive(Debug, Clone, Copy)]
pub struct Others<'a> {
    /// Those of the characters before the instance's own, or of all.
    pub(in crate::crowd) before: &'a [Option<Animator>],
    /// Those of the characters after it.
    pub(in crate::crowd) after: &'a [Option<Animator>],
    pub(in crate::crowd) time_s: f64,
}

impl<'a> Others<'a> {
    /// The animator of a character. `own` is that of the instance, with its character.
    fn of(&self, character: u32, own: (u32, &'a Animator)) -> Option<&'a Animator> {
        let at = character as usize;
        if character == own.0 {
            Some(own.1)
        } else if let Some(before) = self.before.get(at) {
            before.as_ref()
        } else {
            let after = at.checked_sub(self.before.len() + 1)?;
            self.after.get(after)?.as_ref()
        }
    }

    /// World space from the character space of an instance: where it was put, or where what it is
    /// attached to has it now. `own` is the animator of its character, with that.
    pub(in crate::crowd) fn world(
        &self,
        scene: &Scene,
        index: u32,
        own: (u32, &'a Animator),
    ) -> Affine3A {
        let animator = |character| self.of(character, own);
        let parent = |child: &u32| scene.attachments.of(*child).map(|to| to.parent.index);
        // The instance and those above it: usually few, which take no memory, but maybe more than
        // the stack would allow for.
        let (mut few, mut count, mut more) = ([0; 8], 0, Vec::new());
        for above in core::iter::successors(Some(index), parent) {
            match few.get_mut(count) {
                Some(place) => *place = above,
                None => more.push(above),
            }
            count += 1;
        }
        let few = few.iter().take(count).rev();
        let mut chain = more.iter().rev().chain(few).copied();
        let root = chain.next().unwrap_or(index);
        chain.fold(stored(scene, animator, root), |above, child| {
            step(scene, animator, self.time_s, (child, above))
        })
    }
}

/// The transform that an instance was given last.
fn stored<'a>(
    scene: &Scene,
    animator: impl Fn(u32) -> Option<&'a Animator>,
    index: u32,
) -> Affine3A {
    let actor = scene.instances.state(index).and_then(|state| {
        let animator = animator(state.character)?;
        animator.actor(state.actor).ok()
    });
    actor.map_or(Affine3A::IDENTITY, |actor| actor.transform())
}

/// The transform of an attached instance, whose parent has the transform `above`. If it overflows,
/// that is the last one.
fn step<'a>(
    scene: &Scene,
    animator: impl Fn(u32) -> Option<&'a Animator>,
    time_s: f64,
    (child, above): (u32, Affine3A),
) -> Affine3A {
    let place = || {
        let attachment = scene.attachments.of(child)?;
        let state = scene.instances.state(attachment.parent.index)?;
        let actor = animator(state.character)?.actor(state.actor).ok()?;
        let socket = attachment.socket;
        let model = actor.joint_model(socket.joint, time_s).ok()? * socket.offset;
        let world = above * model * attachment.socket_from_child;
        expect_transform("", &world).ok().map(|()| world)
    };
    place().unwrap_or_else(|| stored(scene, animator, child))
}

impl Crowd {
    /// Moves attached instances to their transforms at the time of the frame begun last, or lets
    /// the GPU do that, and hides those whose parents are hidden.
    ///
    /// It looks only at children of instances that moved, changed, or may have a new pose that the
    /// GPU does not know.
    pub(in crate::crowd) fn follow_all(&mut self) -> Result<()> {
        span!("attachments");
        let scene = &mut self.scene;
        let attachments = &mut scene.attachments;
        if attachments.is_empty() {
            return Ok(());
        }
        attachments.open_noted();
        for parent in scene.visibility.active() {
            attachments.open_children(parent, false);
        }
        attachments.open_moving();
        while let Some(index) = self.scene.attachments.take_open() {
            if let Some(child) = self.scene.instances.id(index) {
                self.follow(child)?;
                // Whoever moved or was hidden has noted it.
                self.scene.attachments.open_noted();
            }
        }
        Ok(())
    }

    /// Brings the CPU's copy of what the GPU places, and what can be picked, up to date.
    pub(in crate::crowd) fn find_places(&mut self) {
        let placed = self.scene.attachments.gpu_places.placed();
        let can_be_picked = |index: &u32| {
            let state = self.scene.instances.state(*index);
            let loaded = state.and_then(|state| self.scene.characters.at(state.character));
            loaded.is_some_and(|loaded| loaded.cpu_skin.is_some())
        };
        let placed: Vec<u32> = placed.filter(can_be_picked).collect();
        for index in placed {
            let world = self.world_on_gpu(index);
            let placed = self.placed_at(index, &world);
            self.scene.visibility.place_quietly(index, &placed);
            self.scene.instances.place_quietly(index, &world);
        }
    }

    /// The bounding sphere of an instance in world space, even if the GPU places it.
    pub(in crate::crowd) fn placed(&self, index: u32) -> Placed {
        if self.scene.attachments.on_gpu(index) {
            return self.placed_at(index, &self.world_on_gpu(index));
        }
        self.scene.visibility.placed(index)
    }

    /// The bounding sphere of an instance with a transform.
    fn placed_at(&self, index: u32, world: &Affine3A) -> Placed {
        let state = self.scene.instances.state(index);
        let animator = state.and_then(|state| self.animators.get(state.character as usize));
        match (state, animator) {
            (Some(state), Some(Some(animator))) => {
                Placed::new(&animator.sphere(state.actor.index), world)
            }
            _ => self.scene.visibility.placed(index),
        }
    }

    /// The transform of an instance, even if the GPU places it.
    pub(in crate::crowd) fn world_on_gpu(&self, index: u32) -> Affine3A {
        let animator = |character: u32| self.animators.get(character as usize)?.as_ref();
        let (scene, attachments) = (&self.scene, &self.scene.attachments);
        match attachments.of(index).filter(|_| attachments.on_gpu(index)) {
            // This deep at most: GpuAttachment::LEVELS.
            Some(to) => {
                let above = self.world_on_gpu(to.parent.index);
                step(scene, animator, self.time_s, (index, above))
            }
            None => stored(scene, animator, index),
        }
    }

    /// Notes that instances whose actors changed may have a new pose, and their new bounding
    /// spheres.
    pub(in crate::crowd) fn activate_changed(&mut self) {
        let scene = &mut self.scene;
        scene.attachments.sort();
        for (character, animator) in (0..).zip(&mut self.animators) {
            let (Some(loaded), Some(animator)) = (scene.characters.at(character), animator) else {
                continue;
            };
            let changed = &mut scene.animated.actors;
            changed.clear();
            changed.extend(animator.take_changed().map(|actor| actor.index));
            for actor in &*changed {
                let index = loaded.instance_of_actor.get(*actor as usize);
                let state = index.and_then(|index| scene.instances.state(*index));
                if let (Some(index), Some(state)) = (index, state) {
                    scene.visibility.activate(*index);
                    if scene.attachments.on_gpu(*index) {
                        // Its bounding sphere may be another one.
                        scene.attachments.open(*index);
                    }
                    scene.visibility.place(*index, &placed(animator, state));
                    if animator.pose_change(state.actor) == PoseChange::Rests {
                        scene.animated.resting.push(*index);
                    }
                }
            }
        }
    }

    fn follow(&mut self, child: InstanceId) -> Result<()> {
        let Some(attachment) = self.scene.attachments.of(child.index).copied() else {
            return Ok(());
        };
        let Attachment { parent, socket, .. } = attachment;
        let above = self.scene.visibility.marks(parent.index);
        let parent_hidden = above.parent_hidden || !above.visible;
        let visibility = &mut self.scene.visibility;
        if visibility.marks(child.index).parent_hidden != parent_hidden {
            visibility.change(child.index, |marks| marks.parent_hidden = parent_hidden);
            self.scene.attachments.note(child.index);
        }
        let jumps = self.scene.attachments.take_jump(child.index);
        let (follows_gpu, on_gpu) = self.gpu_attachment(child.index, &attachment);
        let attachments = &mut self.scene.attachments;
        if let Some((record, may_flip)) = on_gpu
            && attachments.place_on_gpu(child.index, &record)
        {
            self.scene.set_flipped(child, may_flip);
            if jumps {
                self.scene.instances.restamp(child.index);
                self.scene.attachments.note(child.index);
            }
            return Ok(());
        }
        attachments.leave_gpu(child.index);
        if follows_gpu {
            attachments.keep_moving(child.index);
        }
        let model = self
            .instance(parent)?
            .joint_model(socket.joint, self.time_s)?
            * socket.offset;
        let above = self.world_on_gpu(parent.index);
        let world_from_child = above * model * attachment.socket_from_child;
        if expect_transform("", &world_from_child).is_err() {
            return Ok(());
        }
        let was_on_gpu = self.scene.attachments.take_left(child.index);
        let record = self.scene.instances.alive(child).record;
        let same = record.world_from_model == Mat3x4::from_affine(&world_from_child);
        if same && !jumps && !was_on_gpu {
            return Ok(());
        }
        self.access(child)?.put(&world_from_child, jumps);
        Ok(())
    }

    /// Returns true if the place of an attached instance changes on the GPU, and what the GPU needs
    /// to place it, if it can, with whether it may be flipped then.
    ///
    /// It cannot if the CPU has to know whether views show the instance.
    fn gpu_attachment(
        &self,
        child: u32,
        attachment: &Attachment,
    ) -> (bool, Option<(GpuAttachment, bool)>) {
        let scene = &self.scene;
        let (parent, socket) = (attachment.parent.index, attachment.socket);
        let Some(poses) = &scene.gpu_poses else {
            return (false, None);
        };
        let (producer, level) = (poses.producer(parent), scene.attachments.level(parent));
        if producer != Producer::Gpu && level == 0 {
            return (false, None);
        }
        let record = || {
            let state = scene.instances.state(child)?;
            let above = scene.instances.state(parent)?;
            let (own, of_parent) = (
                scene.characters.at(state.character)?,
                scene.characters.at(above.character)?,
            );
            let rests = Producer::Cpu(CpuReason::Rest);
            let is_seen_by_gpu = own.slot.is_some()
                && match poses.producer(child) {
                    Producer::Gpu => true,
                    other if other == rests => {
                        state.skin == SkinningStage::Vertex && !state.has_morphs()
                    }
                    Producer::Cpu(_) => false,
                };
            let knows_parent = producer == Producer::Gpu || producer == rests;
            if !is_seen_by_gpu || !knows_parent || level >= GpuAttachment::LEVELS {
                return None;
            }
            let animator = self.animators.get(state.character as usize)?.as_ref()?;
            let sphere = animator.sphere(state.actor.index);
            let joint_from_child = socket.offset * attachment.socket_from_child;
            let record = GpuAttachment {
                joint_from_child: Mat3x4::from_affine(&joint_from_child),
                center: sphere.center.to_array(),
                radius: sphere.radius,
                child,
                parent,
                joint: socket.joint.index() as u32,
                level: level + 1,
                tables: words(of_parent.animation.as_ref().ok()?.address()),
                reserved: [0; 2],
            };
            let world = above.record.world_from_model.to_affine();
            let flips = [world, joint_from_child].iter().any(may_flip);
            Some((record, above.flipped || of_parent.mirrors || flips))
        };
        (true, record())
    }

    /// Detaches an instance that is about to be despawned. Returns the instances that are despawned
    /// with it, parents first.
    pub(in crate::crowd) fn release_family(&mut self, id: InstanceId) -> Result<Vec<InstanceId>> {
        let mut despawned = Vec::new();
        self.scene.instances.get(id)?;
        if self.scene.attachments.children(id.index).next().is_none() {
            self.scene.attachments.unlink(id.index);
            return Ok(despawned);
        }
        let mut open = vec![id];
        while let Some(parent) = open.pop() {
            let children: Vec<InstanceId> = self.instance(parent)?.attached().collect();
            for id in children {
                let mut child = self.instance_mut(id)?;
                if child.attachment().is_some_and(|to| to.outlives_parent) {
                    child.detach();
                } else {
                    despawned.push(id);
                    open.push(id);
                }
            }
        }
        // Those that stay were where the others took them.
        for gone in core::iter::once(&id).chain(&despawned) {
            self.scene.attachments.unlink(gone.index);
        }
        Ok(despawned)
    }
}

/// The bounding sphere of an instance in world space.
pub(in crate::crowd) fn placed(animator: &Animator, state: &InstanceState) -> Placed {
    let sphere = animator.sphere(state.actor.index);
    Placed::new(&sphere, &state.record.world_from_model.to_affine())
}
