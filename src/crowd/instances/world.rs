//! The current transforms of instances, even if the GPU places them.

use crate::animator::Animator;
use crate::crowd::Crowd;
use crate::crowd::scene::Scene;
use crate::crowd::visibility::cull::WorldSphere;
use crate::error::expect_transform;
use crate::palette::Mat3x4;
use glam::Affine3A;

/// The moment at which a transform is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    /// The last update, or what it says of this time in seconds.
    Game(f64),
    /// The picture.
    Picture,
}

/// The transform that an instance was given last: by the picture, if it moves it.
fn stored<'a>(
    scene: &Scene,
    animator: impl Fn(u32) -> &'a Animator,
    moment: Moment,
    index: u32,
) -> Affine3A {
    let state = &scene.instances[index];
    let has_record = state.pictured || scene.attachments.of(index).is_some();
    if has_record && matches!(moment, Moment::Picture) {
        return state.record.world_from_model.to_affine();
    }
    let animator = animator(state.character);
    let world = match moment {
        Moment::Game(time_s) => animator.transform_at(state.actor, time_s),
        Moment::Picture => animator.actor(state.actor).map(|actor| actor.transform()),
    };
    world.unwrap_or(Affine3A::IDENTITY)
}

/// The transform of an attached instance, whose parent has the transform `above`. If it overflows,
/// that is the last one that it was given.
fn step<'a>(
    scene: &Scene,
    animator: impl Fn(u32) -> &'a Animator,
    moment: Moment,
    (child, above): (u32, Affine3A),
) -> Affine3A {
    let place = || {
        let attachment = scene.attachments.of(child)?;
        let state = &scene.instances[attachment.parent.index];
        let (animator, socket) = (animator(state.character), attachment.socket);
        let joint = match moment {
            Moment::Picture => animator.shown_joint(state.actor, socket.joint),
            Moment::Game(time_s) => {
                let actor = animator.actor(state.actor).ok()?;
                actor.joint_model(socket.joint, time_s)
            }
        };
        let world = above * (joint.ok()? * socket.offset) * attachment.socket_from_child;
        expect_transform("", &world).ok().map(|()| world)
    };
    place().unwrap_or_else(|| stored(scene, animator, moment, child))
}

impl Crowd {
    /// World space from the character space of an instance: where it was put, or where what it is
    /// attached to has it.
    pub(crate) fn world(&self, moment: Moment, index: u32) -> Affine3A {
        let (scene, animator) = (&self.scene, |character: u32| &self.animators[character]);
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
        chain.fold(stored(scene, animator, moment, root), |above, child| {
            step(scene, animator, moment, (child, above))
        })
    }

    /// Brings the CPU's copy of what the GPU places, and what can be picked, up to date.
    pub(crate) fn update_gpu_worlds(&mut self) {
        let edits = self.animators.edit_count();
        if !self.scene.attachments.gpu.are_new(edits, self.shown_s) {
            return;
        }
        let placed = self.scene.attachments.gpu.placed();
        let can_be_picked = |index: &u32| {
            let character = self.scene.instances[*index].character;
            self.scene.characters[character].cpu_skin.is_some()
        };
        let placed: Vec<u32> = placed.filter(can_be_picked).collect();
        for index in placed {
            let world = self.shown_world(index);
            // This is no change: the GPU has it.
            let record = &mut self.scene.instances[index].record;
            record.world_from_model = Mat3x4::from_affine(&world);
        }
    }

    /// The bounding sphere of an instance in world space, even if the GPU places it.
    pub(crate) fn sphere(&self, index: u32) -> WorldSphere {
        if self.scene.attachments.on_gpu(index) {
            return self.sphere_at(index, &self.shown_world(index));
        }
        let state = &self.scene.instances[index];
        state.sphere(&self.animators[state.character])
    }

    /// The bounding sphere of an instance with a transform.
    fn sphere_at(&self, index: u32, world: &Affine3A) -> WorldSphere {
        let state = &self.scene.instances[index];
        let sphere = self.animators[state.character].sphere(state.actor.index);
        WorldSphere::new(&sphere, &Mat3x4::from_affine(world))
    }

    /// The transform of an instance in the picture, even if the GPU places it.
    pub(crate) fn shown_world(&self, index: u32) -> Affine3A {
        let animator = |character: u32| &self.animators[character];
        let (scene, attachments) = (&self.scene, &self.scene.attachments);
        match attachments.of(index).filter(|_| attachments.on_gpu(index)) {
            // This deep at most: GpuAttachment::LEVELS.
            Some(to) => {
                let above = self.shown_world(to.parent.index);
                step(scene, animator, Moment::Picture, (index, above))
            }
            None => stored(scene, animator, Moment::Picture, index),
        }
    }
}
