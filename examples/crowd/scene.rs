//! The crowd in throng: spawned once, then moved as people walk.

use std::f32::consts::TAU;

use throng::ash::vk;
use throng::glam::{Affine3A, Quat, Vec2, Vec3};
use throng::gpu::MemoryAllocator;
use throng::mesh::PartId;
use throng::palette::SkinningMethod;
use throng::skin::SkinnedLayout;
use throng::{
    AnimationEvent, Capacity, CharacterDesc, CharacterId, Crowd, InstanceId, NameOrId, Play,
    SkinningStage, Spawn,
};

use super::camera::Camera;
use super::director::{self, Director};
use super::layout::{self, Layout, Motion, Person};
use super::looks::Looks;
use super::model::Model;
use super::rng::Rng;
use super::roles::Fades;
use super::{Result, scenery};

/// Simulated time before time 0, in seconds.
const LEAD_UP_S: f64 = 20.0;
/// Persons for whose palettes there is memory, if others share poses.
const NEAR_PERSONS: u64 = 20_000;
/// Limit on the steps of that simulation, for all people together.
const LEAD_UP_STEPS: usize = 3_000_000;

/// Everything that is drawn.
pub(crate) struct Scene {
    models: Vec<Model>,
    layout: Layout,
    /// The largest distance of the crowd's outline from the middle, in metres.
    reach_m: f32,
    director: Director,
    /// Character of each model, once they are loaded.
    characters: Vec<CharacterId>,
    /// The order of entry, and the number of people who have entered.
    order: Vec<usize>,
    spawned: usize,
    /// People who are hidden.
    hidden: Vec<usize>,
    /// Number of instances of each model.
    pub(crate) counts: Vec<u32>,
    skinning: Skinning,
    /// True if nobody changes what they do from time 0 on.
    still: bool,
}

/// The skinning of all characters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Skinning {
    /// The stage that skins.
    pub(crate) mode: SkinningStage,
    /// The skinning method.
    pub(crate) method: SkinningMethod,
    /// True if characters can be picked.
    pub(crate) picks: bool,
}

impl Scene {
    pub(crate) fn new(
        models: Vec<Model>,
        layout: Layout,
        skinning: Skinning,
        fades: Fades,
        still: bool,
    ) -> Self {
        let mut counts = vec![0; models.len()];
        for person in &layout.persons {
            counts[person.model] += 1;
        }
        let mut order: Vec<usize> = (0..layout.persons.len()).collect();
        Rng::new(layout.persons.len() as u64).shuffle(&mut order);
        let rim = layout.rim();
        Self {
            director: Director::new(&layout, fades),
            models,
            reach_m: rim.iter().map(|point| point.length()).fold(0.0, f32::max),
            layout,
            characters: Vec::new(),
            order,
            spawned: 0,
            hidden: Vec::new(),
            counts,
            skinning,
            still,
        }
    }

    /// The largest number of levels of detail of a model, with the full one.
    pub(crate) fn levels(&self) -> usize {
        let levels = self
            .models
            .iter()
            .map(|model| model.character.levels().len());
        1 + levels.max().unwrap_or(0)
    }

    pub(crate) fn models(&self) -> &[Model] {
        &self.models
    }

    /// Lets a test move someone before the crowd is spawned.
    #[cfg(test)]
    pub(crate) fn layout_mut(&mut self) -> &mut Layout {
        &mut self.layout
    }

    #[cfg(test)]
    pub(crate) fn director(&self) -> &Director {
        &self.director
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Height of the tallest person, in metres.
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

    /// A camera for those who are shown. See [`Camera::new`] for the factor.
    pub(crate) fn camera(&self, distance: Option<f32>) -> Camera {
        Camera::new(&self.outline(), distance, self.layout.is_plaza)
    }

    /// The distance from the middle of a plaza to its edge, in metres.
    pub(crate) fn plaza_m(&self) -> Option<f32> {
        self.layout.is_plaza.then_some(self.reach_m)
    }

    /// Points that a picture must show: around everyone, on the ground and as high as the tallest.
    fn outline(&self) -> Vec<Vec3> {
        const SECTORS: usize = 48;
        let mut is_shown = vec![true; self.layout.persons.len()];
        self.hidden
            .iter()
            .for_each(|index| is_shown[*index] = false);
        let shown = || (0..is_shown.len()).filter(|index| is_shown[*index]);
        let places = || shown().map(|index| self.place(index).0);
        let low = places().reduce(Vec2::min).unwrap_or_default();
        let high = places().reduce(Vec2::max).unwrap_or_default();
        let center = 0.5 * (low + high);
        let mut reach_m = [0.5_f32; SECTORS];
        for (index, at) in shown().zip(places()) {
            let person = &self.layout.persons[index];
            let away = at - center;
            let sector = (away.to_angle().rem_euclid(TAU) / TAU * SECTORS as f32) as usize;
            let reach_m = &mut reach_m[sector % SECTORS];
            *reach_m = reach_m.max(away.length() + person.radius_m.min(1.0));
        }
        let points = reach_m
            .into_iter()
            .enumerate()
            .flat_map(|(sector, reach_m)| {
                let angle = (sector as f32 + 0.5) / SECTORS as f32 * TAU;
                let at = center + Vec2::from_angle(angle) * reach_m;
                [0.0, self.height_m()].map(|height_m| Vec3::new(at.x, height_m, at.y))
            });
        points.collect()
    }

    /// Capacity for all characters. Far ones may share poses. `walls` is the size of a picture with
    /// walls.
    pub(crate) fn capacity(
        &self,
        shares_poses: bool,
        walls: Option<vk::Extent2D>,
    ) -> Result<Capacity> {
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
        let persons = self.layout.persons.len() as u64;
        // If far persons share poses, the near ones need palettes.
        let entries = match shares_poses {
            true => entries * persons.min(NEAR_PERSONS) / persons.max(1),
            false => entries,
        };
        Ok(Capacity {
            instances: persons as u32,
            palette_entries: u32::try_from(entries).unwrap_or(u32::MAX),
            views: 3,
            // All views may sort everyone.
            blended: self.layout.persons.len() as u32 * 3,
            morph_weights: u32::try_from(weights).unwrap_or(u32::MAX),
            skinned_words: words(self.skinning.mode != SkinningStage::Vertex),
            // Windows may grow.
            depth_pixels: walls.map_or(0, |size| 2 * size.width * size.height),
            cpu_skinned_words: words(self.skinning.mode == SkinningStage::Cpu),
            ..Capacity::default()
        })
    }

    /// Capacity for the ground and the sky.
    pub(crate) fn scenery_capacity(&self) -> Capacity {
        Capacity {
            instances: 1 + 2 * self.layout.houses.len() as u32,
            palette_entries: 1 + 2 * self.layout.houses.len() as u32,
            views: 3,
            // The haze, and houses that are seen through.
            blended: 1 + self.layout.houses.len() as u32,
            ..Capacity::default()
        }
    }

    /// Loads models and surroundings onto the device.
    ///
    /// The people enter while [`Self::direct`] simulates the time before 0.
    pub(crate) fn load(
        &mut self,
        crowd: &mut Crowd,
        scenery: &mut Crowd,
        allocator: &mut dyn MemoryAllocator,
    ) -> Result<()> {
        let desc = CharacterDesc {
            method: self.skinning.method,
            cpu_skinning: self.skinning.mode == SkinningStage::Cpu || self.skinning.picks,
            ..CharacterDesc::default()
        };
        for model in &self.models {
            let added = crowd.add_character(allocator, &model.character, &desc);
            let added = added.map_err(|why| format!("{}: {why}", model.name))?;
            self.characters.push(added);
        }
        let surroundings = scenery::surroundings(self.reach_m)?;
        let surroundings = scenery.add_character(
            allocator,
            &surroundings.character,
            &CharacterDesc::default(),
        )?;
        let ground = Spawn {
            view_mask: scenery::GROUND_MASK,
            ..Spawn::default()
        };
        scenery.spawn(surroundings, &ground)?;
        self.build_houses(scenery, allocator)
    }

    /// Builds each house twice: one that hides, and one to see through.
    fn build_houses(&self, scenery: &mut Crowd, allocator: &mut dyn MemoryAllocator) -> Result<()> {
        if self.layout.houses.is_empty() {
            return Ok(());
        }
        for (is_clear, view_mask) in [(false, scenery::HOUSES_MASK), (true, scenery::CLEAR_MASK)] {
            let house = scenery::house(is_clear)?.character;
            let kind = scenery.add_character(allocator, &house, &CharacterDesc::default())?;
            for house in &self.layout.houses {
                let spawn = Spawn {
                    world_from_model: Affine3A::from_scale_rotation_translation(
                        house.size_m,
                        Quat::from_rotation_y(house.yaw),
                        Vec3::new(house.at.x, 0.0, house.at.y),
                    ),
                    tint: house.tint,
                    view_mask,
                    ..Spawn::default()
                };
                scenery.spawn(kind, &spawn)?;
            }
        }
        Ok(())
    }

    /// The times that lead up to time 0, when everybody is present and active.
    pub(crate) fn lead_up(&self) -> impl Iterator<Item = f64> + use<> {
        let steps = LEAD_UP_STEPS / self.layout.persons.len().max(1);
        let steps = steps.clamp(10, 400) as u32;
        (0..steps).map(move |step| LEAD_UP_S * (f64::from(step) / f64::from(steps) - 1.0))
    }

    /// Spawns a person.
    fn spawn(&mut self, crowd: &mut Crowd, index: usize) -> Result<()> {
        let person = &self.layout.persons[index];
        let model = &self.models[person.model];
        let driven = model.roles.has_machine();
        let act = &model.acts[person.act];
        let clip = act.clip.filter(|_| !driven);
        let looks = &model.looks;
        let hidden = looks.hidden(person.seed);
        let hidden: Vec<NameOrId<'_, PartId>> = hidden.into_iter().map(Into::into).collect();
        let spawn = Spawn {
            world_from_model: self.world_from_model(index, act.floor),
            hidden_parts: &hidden,
            variant: looks.variant(person.seed).map(Into::into),
            tint: person.tint,
            second_tint: Looks::second_tint(person.seed),
            user_data: index as u32,
            play: Play {
                clip: clip.map(Into::into),
                start_s: Some(0.0),
                offset_s: person.phase_s,
                speed: person.speed,
                ..Play::REST
            },
            state_machine: driven,
            skinning_stage: self.skinning.mode,
            ..Spawn::default()
        };
        let instance = crowd.spawn(self.characters[person.model], &spawn)?;
        let known = (&self.models[..], &self.layout);
        self.director.enter(crowd, known, index, instance)
    }

    /// Advances everyone to this time: their activities, and the positions of walking people.
    pub(crate) fn direct(&mut self, crowd: &mut Crowd, time_s: f64) -> Result<()> {
        if self.still && time_s > 0.0 {
            return Ok(());
        }
        let known = (&self.models[..], &self.layout);
        self.director.direct(crowd, known, time_s)?;
        // People enter one after another, so that they are not in step.
        let part = (time_s + LEAD_UP_S) / (0.4 * LEAD_UP_S);
        let persons = self.layout.persons.len();
        let there = (part.clamp(0.0, 1.0) * persons as f64).ceil() as usize;
        while self.spawned < there {
            self.spawn(crowd, self.order[self.spawned])?;
            self.spawned += 1;
        }
        for (index, mind) in self.director.minds() {
            let person = &self.layout.persons[index];
            if let Motion::Travels { .. } = person.motion {
                let instance = crowd.instance(mind.instance)?;
                let records = instance.records();
                let (_, floor) = director::ground(&self.models[person.model], records, time_s);
                let place = self.world_from_model(index, floor);
                crowd.instance_mut(mind.instance)?.set_transform(&place)?;
            }
        }
        Ok(())
    }

    /// Hides everyone except the `count` people nearest to the middle.
    pub(crate) fn show_only(&mut self, crowd: &mut Crowd, count: usize) -> Result<()> {
        let middle_m = |index: &usize| self.place(*index).0.length();
        let mut order: Vec<usize> = (0..self.layout.persons.len()).collect();
        order.sort_by(|a, b| middle_m(a).total_cmp(&middle_m(b)));
        self.hidden = order.split_off(count.min(order.len()));
        for index in &self.hidden {
            if let Some(mind) = self.director.mind(*index) {
                crowd.instance_mut(mind.instance)?.set_view_mask(0);
            }
        }
        Ok(())
    }

    /// Number of people who are visible.
    pub(crate) fn shown(&self) -> usize {
        self.layout.persons.len() - self.hidden.len()
    }

    /// Handles the events of the frame that was begun.
    pub(crate) fn hear(&mut self, events: impl Iterator<Item = AnimationEvent<InstanceId>>) {
        self.director.hear(events);
    }

    /// Position (x, z) of a person, and the angle about +Y from +Z to its direction.
    fn place(&self, index: usize) -> (Vec2, f32) {
        match self.layout.persons[index].motion {
            Motion::Stands { at, yaw } => (at, yaw),
            Motion::Travels { lane, .. } => {
                let (at, direction) = self.layout.lanes[lane].at(self.director.way_m(index));
                (at, direction.x.atan2(direction.y))
            }
        }
    }

    /// Transform that puts the middle of the covered ground at the person's position, and the
    /// height `floor` of the model on the ground.
    fn world_from_model(&self, index: usize, floor: f32) -> Affine3A {
        let (at, way) = self.place(index);
        let person = &self.layout.persons[index];
        let act = &self.models[person.model].acts[person.act];
        let heading = act.gait.map_or(0.0, |gait| gait.heading_rad);
        let turned = Affine3A::from_scale_rotation_translation(
            Vec3::splat(person.scale),
            Quat::from_rotation_y(way - heading),
            Vec3::new(at.x, 0.0, at.y),
        );
        turned * Affine3A::from_translation(Vec3::new(-act.center.x, -floor, -act.center.y))
    }
}
