//! Figures of rays for the engine.

use crate::crowd::rays::desc::RayStats;
use crate::crowd::{CharacterId, Crowd};
use crate::error::Result;
use ash::vk;

impl Crowd {
    /// The figures of rays, if [`CrowdDesc::rays`](crate::CrowdDesc::rays) asks for them.
    ///
    /// Counts of people are those of the last frame that recorded rays with the frame index begun
    /// last. If frame indices take turns, that is
    /// [`CrowdDesc::frames_in_flight`](crate::CrowdDesc::frames_in_flight) frames ago. The others
    /// are those of the frame begun last, so far.
    #[must_use]
    pub fn ray_stats(&self) -> Option<RayStats> {
        let rays = self.rays.as_ref()?;
        Some(rays.stats(&self.scene.characters))
    }

    /// The layout of [`RayCrowd::set`](crate::RayCrowd::set), for the engine's pipeline layouts, if
    /// the crowd has rays.
    #[must_use]
    pub fn ray_set_layout(&self) -> Option<vk::DescriptorSetLayout> {
        Some(self.rays.as_ref()?.pass.hit_layout())
    }

    /// The levels of detail at which rays meet a character: in slots, and in shared poses. `None`
    /// if they do not meet it.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if the character does not exist.
    pub fn ray_levels(&self, character: CharacterId) -> Result<Option<[u32; 2]>> {
        let loaded = self.scene.characters.get(character)?;
        Ok(loaded.rays.as_ref().map(|rays| {
            let shared = rays.mesh.level;
            let slots = rays.slots.as_ref();
            [slots.map_or(shared, |slots| slots.mesh.level), shared]
        }))
    }
}
