//! The crowd as throng has it: spawned once, and moved where someone walks.

use throng::character::{Affine, ClipId};
use throng::crowd::{ClipRef, Play, SkinMode};
use throng::glam::{Quat, Vec2, Vec3};
use throng::gpu_allocator::vulkan::Allocator;
use throng::pose::{Method, SkinnedLayout};
use throng::{Capacity, CharacterDesc, CharacterId, Crowd, InstanceId, Spawn};

use super::layout::{self, Layout, Motion, Person};
use super::model::Model;
use super::{Result, scenery};

/// Everything that is drawn.
pub(crate) struct Scene {
    models: Vec<Model>,
    layout: Layout,
    /// Characters that walk: index of the person, its instance.
    walkers: Vec<(usize, InstanceId)>,
    /// Instances of each model.
    pub(crate) counts: Vec<u32>,
    skinning: Skinning,
}

/// How everyone is skinned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Skinning {
    /// Where.
    pub(crate) mode: SkinMode,
    /// By which method.
    pub(crate) method: Method,
}

impl Scene {
    pub(crate) fn new(models: Vec<Model>, layout: Layout, skinning: Skinning) -> Self {
        let mut counts = vec![0; models.len()];
        for person in &layout.persons {
            counts[person.model] += 1;
        }
        Self {
            models,
            layout,
            walkers: Vec::new(),
            counts,
            skinning,
        }
    }

    pub(crate) fn models(&self) -> &[Model] {
        &self.models
    }

    /// To move someone before the crowd is spawned.
    #[cfg(test)]
    pub(crate) fn layout_mut(&mut self) -> &mut Layout {
        &mut self.layout
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Of the tallest, metres.
    pub(crate) fn height_m(&self) -> f32 {
        let height = |person: &Person| {
            layout::act(&self.models, person).map_or(0.0, |act| act.height * person.scale)
        };
        self.layout
            .persons
            .iter()
            .map(height)
            .fold(1.0, f32::max)
            .min(10.0)
    }

    /// Room for all characters.
    pub(crate) fn capacity(&self) -> Result<Capacity> {
        let (mut words, mut weights) = (0_u64, 0_u64);
        for (model, count) in self.models.iter().zip(&self.counts) {
            let layout = SkinnedLayout::new(&model.character)?;
            words += u64::from(layout.words) * u64::from(*count);
            weights += model.character.morph_weights().len() as u64 * u64::from(*count);
        }
        let words = |wanted: bool| match wanted {
            true => u32::try_from(words).unwrap_or(u32::MAX),
            false => 0,
        };
        let entries = |(model, count): (&Model, &u32)| {
            (model.character.palette().len() as u64).saturating_mul(u64::from(*count))
        };
        let entries: u64 = self.models.iter().zip(&self.counts).map(entries).sum();
        Ok(Capacity {
            instances: (self.layout.persons.len() as u32).max(1),
            palette_entries: u32::try_from(entries).unwrap_or(u32::MAX).max(1),
            views: 2,
            // Both views may sort everyone.
            blended: (self.layout.persons.len() as u32).max(1) * 2,
            morph_weights: u32::try_from(weights).unwrap_or(u32::MAX),
            skinned_words: words(self.skinning.mode != SkinMode::Vertex),
            cpu_skinned_words: words(self.skinning.mode == SkinMode::Cpu),
            ..Capacity::default()
        })
    }

    /// Room for ground and sky.
    pub(crate) fn scenery_capacity(&self) -> Capacity {
        Capacity {
            instances: 1,
            palette_entries: 1,
            views: 1,
            ..Capacity::default()
        }
    }

    /// Brings everyone into the world, as they are at time 0.
    pub(crate) fn spawn(
        &mut self,
        crowd: &mut Crowd,
        scenery: &mut Crowd,
        allocator: &mut Allocator,
    ) -> Result<()> {
        let skinning = self.skinning;
        let desc = CharacterDesc {
            method: skinning.method,
            cpu_skinning: skinning.mode == SkinMode::Cpu,
        };
        let mut add = |model: &Model| {
            let added = crowd.add_character_with(allocator, &model.character, &desc);
            added.map_err(|why| format!("{}: {why}", model.name))
        };
        let characters: Result<Vec<CharacterId>, String> =
            self.models.iter().map(&mut add).collect();
        let characters = characters?;
        let reach_m = self
            .layout
            .rim()
            .iter()
            .map(|point| point.length())
            .fold(0.0, f32::max);
        let surroundings =
            scenery.add_character(allocator, &scenery::surroundings(reach_m)?.character)?;
        scenery.spawn(surroundings, &Spawn::default())?;
        for (index, person) in self.layout.persons.iter().enumerate() {
            let (at, way) = self.place(person, 0.0);
            let spawn = Spawn {
                world_from_model: self.world_from_model(person, at, way),
                tint: person.tint,
                play: self.play(person),
                skin: skinning.mode,
                ..Spawn::default()
            };
            let instance = crowd.spawn(characters[person.model], &spawn)?;
            if let Motion::Travels { .. } = person.motion {
                self.walkers.push((index, instance));
            }
        }
        Ok(())
    }

    /// Moves those who walk to where they are at this time.
    pub(crate) fn walk(&self, crowd: &mut Crowd, time_s: f64) -> Result<()> {
        for (index, instance) in &self.walkers {
            let person = &self.layout.persons[*index];
            let (at, way) = self.place(person, time_s);
            crowd.set_transform(*instance, &self.world_from_model(person, at, way))?;
        }
        Ok(())
    }

    /// Where someone stands (x, z), and the angle about +Y from +Z to where it looks or goes.
    fn place(&self, person: &Person, time_s: f64) -> (Vec2, f32) {
        match person.motion {
            Motion::Stands { at, yaw } => (at, yaw),
            Motion::Travels {
                stream,
                start_m,
                beside_m,
            } => {
                let (at, direction) = self.layout.streams[stream].at(start_m, beside_m, time_s);
                (at, direction.x.atan2(direction.y))
            }
        }
    }

    /// The middle of what it covers at `at`, its lowest point on the ground.
    fn world_from_model(&self, person: &Person, at: Vec2, way: f32) -> Affine {
        let act = layout::act(&self.models, person);
        let (center, floor) = act.map_or((Vec2::ZERO, 0.0), |act| (act.center, act.floor));
        let gait = act.and_then(|act| act.gait);
        let heading = gait.map_or(0.0, |gait| gait.heading_rad);
        let turned = Affine::from_scale_rotation_translation(
            Vec3::splat(person.scale),
            Quat::from_rotation_y(way - heading),
            Vec3::new(at.x, 0.0, at.y),
        );
        turned * Affine::from_translation(Vec3::new(-center.x, -floor, -center.y))
    }

    fn play(&self, person: &Person) -> Play<'static> {
        let clip = layout::act(&self.models, person).and_then(|act| act.clip);
        Play {
            clip: clip.map_or(ClipRef::Rest, |clip| ClipRef::Id(ClipId(clip as u16))),
            start_s: Some(0.0),
            offset_s: person.phase_s,
            speed: person.speed,
            ..Play::REST
        }
    }
}
