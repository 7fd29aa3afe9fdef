//! Figures of rays for the engine.

use crate::crowd::rays::batch::Step;
use crate::crowd::rays::desc::RayStats;
use crate::crowd::{CharacterId, Crowd};
use crate::error::Result;
use crate::gpu::constants::RAY_PEOPLE;
use crate::mesh::Material;
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
        let counter = |at: usize| rays.counters.get(RAY_PEOPLE + at).copied().unwrap_or(0);
        let [people, approximated, without_structure, left_out, near] =
            [0, 1, 2, 3, 4].map(counter);
        let [built, refitted] = rays.plan.counts();
        let mut stats = RayStats {
            people,
            near,
            approximated,
            without_structure,
            left_out,
            built,
            refitted,
            ..RayStats::default()
        };
        let characters = self.scene.characters.iter();
        for own in characters.filter_map(|(_, it)| it.rays.as_ref()) {
            stats.waiting += own.queue.len() as u32;
            stats.structures += own.slots.count();
            stats.bytes += own.slots.bytes();
            for batch in &own.batches {
                stats.bytes += batch.structures.bytes() + batch.spare.bytes();
                let count = match batch.step {
                    Step::Wanted => &mut stats.waiting,
                    _ => &mut stats.structures,
                };
                *count += batch.structures.count();
            }
        }
        Some(stats)
    }

    /// The layout of [`RayCrowd::set`](crate::RayCrowd::set), for the engine's pipeline layouts, if
    /// the crowd has rays.
    #[must_use]
    pub fn ray_set_layout(&self) -> Option<vk::DescriptorSetLayout> {
        Some(self.rays.as_ref()?.pass.hit_layout.handle)
    }

    /// The textures of a character's materials, in the order of
    /// [`Material::textures`](crate::mesh::Material::textures), for the engine's own array. What a
    /// material lacks is a white texel.
    ///
    /// A hit has the number of its material, and `throng_hit_uv`
    /// (`shaders/include/throng_hit.glsl`) the coordinates. Shaders of every stage may read them
    /// after the next [`Frame::record_prepare`](crate::Frame::record_prepare), as long as the
    /// character lives.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if the character does not exist.
    pub fn ray_textures(
        &self,
        character: CharacterId,
    ) -> Result<Vec<[vk::DescriptorImageInfo; Material::TEXTURES]>> {
        let loaded = self.scene.characters.get(character)?;
        Ok(loaded.mesh.material_textures())
    }

    /// The levels of detail at which rays meet a character: in slots, and in shared poses. `None`
    /// if they do not meet it.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if the character does not exist.
    pub fn ray_levels(&self, character: CharacterId) -> Result<Option<[u32; 2]>> {
        let loaded = self.scene.characters.get(character)?;
        let rays = loaded.rays.as_ref();
        Ok(rays.map(|rays| [true, false].map(|slot| rays.mesh(slot).level)))
    }
}
