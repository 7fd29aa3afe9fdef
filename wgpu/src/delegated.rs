//! Methods of [`throng::Crowd`] under the same names, without an allocator.
//!
//! Parts of Vulkan are left out. Safe code could use them after the device is gone, because they do
//! not keep it alive. So none of these compiles:
//!
//! ```compile_fail,E0599
//! fn device(crowd: &throng_wgpu::Crowd) {
//!     crowd.device();
//! }
//! ```
//! ```compile_fail,E0599
//! fn layout(crowd: &throng_wgpu::Crowd) {
//!     crowd.set_layout();
//! }
//! ```
//! ```compile_fail,E0599
//! fn crowd(frame: &throng_wgpu::Frame<'_>) {
//!     frame.crowd();
//! }
//! ```
//! ```compile_fail,E0308
//! fn dereference(crowd: &throng_wgpu::Crowd) -> &throng_wgpu::throng::Crowd {
//!     crowd
//! }
//! ```
//! ```compile_fail,E0308
//! fn dereference<'a>(
//!     frame: &'a throng_wgpu::Frame<'a>,
//! ) -> &'a throng_wgpu::throng::Frame<'a> {
//!     frame
//! }
//! ```
//!
//! This does:
//!
//! ```
//! fn read(crowd: &throng_wgpu::Crowd, frame: &throng_wgpu::Frame<'_>) {
//!     (crowd.gpu(), frame.stats());
//! }
//! ```

use crate::crowd::Crowd;
use crate::error::Result;
use throng::animator::{AnimationEvent, Animator, EventName};
use throng::character::Character;
use throng::glam::Affine3A;
use throng::gpu::{PosedBy, ScopeTime};
use throng::skin::{Faces, Ray};
use throng::{
    Capacity, CharacterDesc, CharacterId, CrowdSnapshot, Id, IkSolver, InstanceHit, InstanceId,
    InstanceMut, InstanceRef, Misfit, MoreInstances, Spawn, Stages, Stats, ViewStats, WarmUp,
};

/// Methods that change a [`throng::Crowd`], under the same names.
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

/// Methods that read a [`throng::Crowd`], under the same names.
impl Crowd {
    /// The processors that run the stages. See [`throng::Crowd::stages`].
    #[must_use]
    pub fn stages(&self) -> Stages {
        self.inner.stages()
    }

    /// The present capacities. See [`throng::Crowd::capacity`].
    #[must_use]
    pub fn capacity(&self) -> Capacity {
        self.inner.capacity()
    }

    /// Statistics of the frame begun last. See [`throng::Crowd::stats`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }

    /// The figures of each view. See [`throng::Crowd::view_stats`].
    #[must_use]
    pub fn view_stats(&self) -> &[ViewStats] {
        self.inner.view_stats()
    }

    /// GPU times of an earlier frame, by scope. See [`throng::Crowd::gpu_times`].
    #[must_use]
    pub fn gpu_times(&self) -> &[ScopeTime] {
        self.inner.gpu_times()
    }

    /// All characters. See [`throng::Crowd::characters`].
    pub fn characters(&self) -> impl Iterator<Item = CharacterId> + '_ {
        self.inner.characters()
    }

    /// The CPU data of a character. See [`throng::Crowd::character`].
    ///
    /// # Errors
    /// As there.
    pub fn character(&self, id: CharacterId) -> Result<&Character> {
        Ok(self.inner.character(id)?)
    }

    /// The name of a character. See [`throng::Crowd::character_name`].
    ///
    /// # Errors
    /// As there.
    pub fn character_name(&self, id: CharacterId) -> Result<&str> {
        Ok(self.inner.character_name(id)?)
    }

    /// The first character with this name. See [`throng::Crowd::find_character`].
    ///
    /// # Errors
    /// As there.
    pub fn find_character(&self, name: &str) -> Result<CharacterId> {
        Ok(self.inner.find_character(name)?)
    }

    /// The animator of a character. See [`throng::Crowd::animator`].
    ///
    /// # Errors
    /// As there.
    pub fn animator(&self, character: CharacterId) -> Result<&Animator> {
        Ok(self.inner.animator(character)?)
    }

    /// The number of living instances.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Returns true if no instance is alive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Returns true if an instance is alive. See [`throng::Crowd::is_alive`].
    #[must_use]
    pub fn is_alive(&self, id: InstanceId) -> bool {
        self.inner.is_alive(id)
    }

    /// All instances that are alive. See [`throng::Crowd::instances`].
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> + '_ {
        self.inner.instances()
    }

    /// The instances of a character. See [`throng::Crowd::instances_of`].
    ///
    /// # Errors
    /// As there.
    pub fn instances_of(
        &self,
        character: CharacterId,
    ) -> Result<impl ExactSizeIterator<Item = InstanceId> + '_> {
        Ok(self.inner.instances_of(character)?)
    }

    /// The living instance at an index of the table. See [`throng::Crowd::instance_at`].
    #[must_use]
    pub fn instance_at(&self, table_index: u32) -> Option<InstanceId> {
        self.inner.instance_at(table_index)
    }

    /// An instance, to read. See [`throng::Crowd::instance`].
    ///
    /// # Errors
    /// As there.
    pub fn instance(&self, id: InstanceId) -> Result<InstanceRef<'_>> {
        Ok(self.inner.instance(id)?)
    }

    /// The processor that poses an instance. See [`throng::Crowd::posed_by`].
    ///
    /// # Errors
    /// As there.
    pub fn posed_by(&self, id: InstanceId) -> Result<PosedBy> {
        Ok(self.inner.posed_by(id)?)
    }

    /// True if an instance shows a pose that others share. See [`throng::Crowd::shares_pose`].
    ///
    /// # Errors
    /// As there.
    pub fn shares_pose(&self, id: InstanceId) -> Result<bool> {
        Ok(self.inner.shares_pose(id)?)
    }

    /// The events of the frame begun last. See [`throng::Crowd::events`].
    pub fn events(&self) -> impl Iterator<Item = AnimationEvent<InstanceId>> + '_ {
        self.inner.events()
    }

    /// The name of what happened in an event. See [`throng::Crowd::event_name`].
    ///
    /// # Errors
    /// As there.
    pub fn event_name(&self, event: &AnimationEvent<InstanceId>) -> Result<EventName<'_>> {
        Ok(self.inner.event_name(event)?)
    }

    /// Saves all instances. See [`throng::Crowd::snapshot`].
    #[must_use]
    pub fn snapshot(&self) -> CrowdSnapshot {
        self.inner.snapshot()
    }

    /// Saves all instances into an earlier snapshot. See [`throng::Crowd::snapshot_into`].
    pub fn snapshot_into(&self, to: &mut CrowdSnapshot) {
        self.inner.snapshot_into(to);
    }
}
