//! What [`throng::Crowd`] has under the same names, without an allocator.

use crate::crowd::Crowd;
use crate::error::Result;
use throng::character::Character;
use throng::glam::Affine3A;
use throng::skin::{Faces, Ray};
use throng::{
    Capacity, CharacterDesc, CharacterId, CrowdSnapshot, Id, IkSolver, InstanceHit, InstanceId,
    InstanceMut, Misfit, MoreInstances, Spawn, WarmUp,
};

/// What [`throng::Crowd`] has under the same names.
impl Crowd {
    /// Adds a character, skinned by linear blending. See [`throng::Crowd::add_character`].
    ///
    /// # Errors
    /// As there.
    pub fn add_character(&mut self, character: &Character) -> Result<CharacterId> {
        self.add_character_with(character, &CharacterDesc::default())
    }

    /// Adds a character with options. See [`throng::Crowd::add_character_with`].
    ///
    /// # Errors
    /// As there.
    pub fn add_character_with(
        &mut self,
        character: &Character,
        desc: &CharacterDesc,
    ) -> Result<CharacterId> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.add_character_with(allocator, character, desc)?)
    }

    /// Replaces a character by another one. See [`throng::Crowd::replace_character`].
    ///
    /// # Errors
    /// As there.
    pub fn replace_character(
        &mut self,
        id: CharacterId,
        character: &Character,
    ) -> Result<Vec<Misfit>> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.replace_character(allocator, id, character)?)
    }

    /// Removes a character that has no instances. See [`throng::Crowd::remove_character`].
    ///
    /// # Errors
    /// As there.
    pub fn remove_character(&mut self, id: CharacterId) -> Result<()> {
        Ok(self.inner.remove_character(id)?)
    }

    /// Adds an inverse kinematics solver to a character. See [`throng::Crowd::add_solver`].
    ///
    /// # Errors
    /// As there.
    pub fn add_solver(
        &mut self,
        character: CharacterId,
        solver: impl Into<IkSolver>,
    ) -> Result<Id<IkSolver>> {
        Ok(self.inner.add_solver(character, solver)?)
    }

    /// Grows the crowd to at least `capacity`. See [`throng::Crowd::reserve`].
    ///
    /// # Errors
    /// As there.
    pub fn reserve(&mut self, capacity: &Capacity) -> Result<()> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.reserve(allocator, capacity)?)
    }

    /// Grows the crowd for more instances. See [`throng::Crowd::reserve_for`].
    ///
    /// # Errors
    /// As there.
    pub fn reserve_for(&mut self, more: &[MoreInstances]) -> Result<()> {
        let allocator = &mut self.gpu.shared.allocator();
        Ok(self.inner.reserve_for(allocator, more)?)
    }

    /// Creates the pipelines of characters that are added later. See [`throng::Crowd::warm_up`].
    ///
    /// # Errors
    /// As there.
    pub fn warm_up(&mut self, desc: &WarmUp<'_>) -> Result<()> {
        Ok(self.inner.warm_up(desc)?)
    }

    /// Adds an instance. See [`throng::Crowd::spawn`].
    ///
    /// # Errors
    /// As there.
    pub fn spawn(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<InstanceId> {
        Ok(self.inner.spawn(character, spawn)?)
    }

    /// Removes an instance. See [`throng::Crowd::despawn`].
    ///
    /// # Errors
    /// As there.
    pub fn despawn(&mut self, id: InstanceId) -> Result<()> {
        Ok(self.inner.despawn(id)?)
    }

    /// An instance, to read and control. See [`throng::Crowd::instance_mut`].
    ///
    /// # Errors
    /// As there.
    pub fn instance_mut(&mut self, id: InstanceId) -> Result<InstanceMut<'_>> {
        Ok(self.inner.instance_mut(id)?)
    }

    /// Moves many instances. See [`throng::Crowd::set_transforms`].
    ///
    /// # Errors
    /// As there.
    pub fn set_transforms(&mut self, transforms: &[(InstanceId, Affine3A)]) -> Result<()> {
        Ok(self.inner.set_transforms(transforms)?)
    }

    /// Finds the nearest hit of a ray. See [`throng::Crowd::pick`].
    ///
    /// # Errors
    /// As there.
    pub fn pick(&mut self, ray: &Ray, faces: Faces, view_mask: u32) -> Result<Option<InstanceHit>> {
        Ok(self.inner.pick(ray, faces, view_mask)?)
    }

    /// Finds all hits of a ray. See [`throng::Crowd::pick_all`].
    ///
    /// # Errors
    /// As there.
    pub fn pick_all(
        &mut self,
        ray: &Ray,
        faces: Faces,
        view_mask: u32,
    ) -> Result<Vec<InstanceHit>> {
        Ok(self.inner.pick_all(ray, faces, view_mask)?)
    }

    /// Goes back to a snapshot. See [`throng::Crowd::restore`].
    ///
    /// # Errors
    /// As there.
    pub fn restore(&mut self, from: &CrowdSnapshot) -> Result<()> {
        Ok(self.inner.restore(from)?)
    }
}
