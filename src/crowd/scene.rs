//! The characters and instances of a crowd, apart from their animators.

use super::characters::entry::Entry;
use super::instance::CrowdMut;
use super::instances::attachments::Attachments;
use super::instances::table::Instances;
use super::producers::animate::Animated;
use super::producers::deform::Deforms;
use super::visibility::marks::Visibility;
use super::{Capacity, CharacterId, InstanceId};
use crate::animator::Animator;
use crate::error::{Error, Result};
use crate::palette::Mat3x4;
use glam::Affine3A;

/// The characters and instances of a crowd, apart from their animators.
#[derive(Debug)]
pub struct Scene {
    pub(super) characters: Vec<Option<Entry>>,
    pub(super) instances: Instances,
    pub(super) attachments: Attachments,
    pub(super) visibility: Visibility,
    pub(super) animated: Animated,
    pub(super) deforms: Deforms,
    /// Flags by index, while a snapshot is checked.
    pub(super) flags: Vec<u8>,
}

impl Scene {
    pub(super) fn new(capacity: &Capacity, frames_in_flight: u32) -> Self {
        Self {
            characters: Vec::new(),
            instances: Instances::new(capacity),
            attachments: Attachments::default(),
            visibility: Visibility::default(),
            animated: Animated::new(frames_in_flight),
            deforms: Deforms::default(),
            flags: Vec::new(),
        }
    }

    pub(super) fn entry(&self, id: CharacterId) -> Result<&Entry> {
        let entry = self.characters.get(id.0 as usize).and_then(Option::as_ref);
        entry.ok_or_else(|| no_character(id, self.characters.len()))
    }

    pub(super) fn entry_mut(&mut self, id: CharacterId) -> Result<&mut Entry> {
        let count = self.characters.len();
        let entry = self.characters.get_mut(id.0 as usize);
        let entry = entry.and_then(Option::as_mut);
        entry.ok_or_else(|| no_character(id, count))
    }

    /// Reserves memory for the instances that are skinned on the CPU.
    pub(super) fn reserve_deformed(&mut self) {
        let cpu_skinned = self.instances.cpu_skinned();
        self.deforms.reserve(cpu_skinned);
        self.animated.reserve_deformed(cpu_skinned.count as usize);
    }

    /// Reserves memory for what views show.
    pub(super) fn reserve_visibility(&mut self, capacity: &Capacity) {
        self.visibility.reserve(capacity, self.characters.len());
    }

    /// Rows of the palette ring that this frame may use: none if nothing plays.
    pub(super) fn rows_in_use(&self) -> u32 {
        if self.animated.any_in_ring() {
            self.instances.rows_end()
        } else {
            0
        }
    }
}

impl CrowdMut<'_> {
    /// Sets the transform of an instance, which must be finite. `jump` leaves motion vectors out.
    pub(super) fn put(&mut self, world_from_model: &Affine3A, jump: bool) -> Result<()> {
        let Self {
            animator,
            scene,
            id,
        } = self;
        animator.put(scene.instances.alive(*id).actor, world_from_model, jump);
        scene.put(*id, world_from_model, jump)
    }
}

impl Scene {
    /// Hides or shows the primitives of these bits of a living instance.
    pub(super) fn hide(&mut self, id: InstanceId, bits: u128, hide: bool) -> Result<()> {
        let [before, after] = self.visibility.hide(id.index, bits, hide);
        if before != after {
            let character = CharacterId(self.instances.alive(id).record.character);
            let entry = self.entry_mut(character)?;
            entry.hiding = entry.hiding + usize::from(after) - usize::from(before);
            let capacity = *self.instances.capacity();
            self.reserve_visibility(&capacity);
        }
        Ok(())
    }

    /// Writes the transform of an instance to its record. `jump` leaves motion vectors out.
    pub(super) fn put(
        &mut self,
        id: InstanceId,
        world_from_model: &Affine3A,
        jump: bool,
    ) -> Result<()> {
        let scene = self;
        let instance = scene.instances.alive(id);
        let (before, now) = (instance.flipped, is_flipped(world_from_model));
        let character = CharacterId(instance.record.character);
        if before != now {
            let entry = scene.entry_mut(character)?;
            entry.flipped = entry.flipped + usize::from(now) - usize::from(before);
        }
        let stamp = jump.then(|| scene.instances.new_stamp());
        scene.instances.change(id.index, |instance| {
            instance.record.world_from_model = Mat3x4::from_affine(world_from_model);
            instance.record.stamp = stamp.unwrap_or(instance.record.stamp);
            instance.flipped = now;
        });
        Ok(())
    }
}

/// The animator of a character.
pub(super) fn animator_mut(
    animators: &mut [Option<Animator>],
    id: CharacterId,
) -> Result<&mut Animator> {
    let count = animators.len();
    let animator = animators.get_mut(id.0 as usize).and_then(Option::as_mut);
    animator.ok_or_else(|| no_character(id, count))
}

pub(super) fn no_character(id: CharacterId, count: usize) -> Error {
    Error::NotFound {
        what: "character",
        index: id.0.into(),
        count: count as u64,
    }
}

pub(super) fn is_flipped(transform: &Affine3A) -> bool {
    transform.matrix3.determinant() < 0.0
}
