//! The crowd as throng has it: spawned once, and moved where someone goes.

use std::f32::consts::TAU;

use throng::glam::{Quat, Vec2, Vec3};
use throng::gpu_allocator::vulkan::Allocator;
use throng::palette::SkinningMethod;
use throng::skeleton::Affine;
use throng::skin::SkinnedLayout;
use throng::{
    Capacity, CharacterDesc, CharacterId, ClipRef, Crowd, InstanceEvent, Play, SkinningStage, Spawn,
};

use super::director::{self, Director};
use super::layout::{self, Layout, Motion, Person};
use super::model::Model;
use super::rng::Rng;
use super::roles::Fades;
use super::{Result, scenery};

/// How long people have been there before time 0, in seconds.
const LEAD_UP_S: f64 = 20.0;
/// How many steps of all of them together that takes at most.
const LEAD_UP_STEPS: usize = 3_000_000;

/// Everything that is drawn.
pub(crate) struct Scene {
    models: Vec<Model>,
    layout: Layout,
    director: Director,
    /// By model, as soon as they are loaded.
    characters: Vec<CharacterId>,
    /// Who comes first, and how many have come.
    order: Vec<usize>,
    spawned: usize,
    /// Who is not shown.
    hidden: Vec<usize>,
    /// Instances of each model.
    pub(crate) counts: Vec<u32>,
    skinning: Skinning,
}

/// How everyone is skinned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Skinning {
    /// Where.
    pub(crate) mode: SkinningStage,
    /// By which method.
    pub(crate) method: SkinningMethod,
}

impl Scene {
    pub(crate) fn new(
        models: Vec<Model>,
        layout: Layout,
        skinning: Skinning,
        fades: Fades,
    ) -> Self {
        let mut counts = vec![0; models.len()];
        for person in &layout.persons {
            counts[person.model] += 1;
        }
        let mut order: Vec<usize> = (0..layout.persons.len()).collect();
        Rng::new(layout.persons.len() as u64).shuffle(&mut order);
        Self {
            director: Director::new(&layout, fades),
            models,
            layout,
            characters: Vec::new(),
            order,
            spawned: 0,
            hidden: Vec::new(),
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

    #[cfg(test)]
    pub(crate) fn director(&self) -> &Director {
        &self.director
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

    /// What a picture has to show: points around everyone, on the ground and as high as the
    /// tallest.
    pub(crate) fn outline(&self) -> Vec<Vec3> {
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
            skinned_words: words(self.skinning.mode != SkinningStage::Vertex),
            cpu_skinned_words: words(self.skinning.mode == SkinningStage::Cpu),
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

    /// Brings models and surroundings to the device. The people come as [`Self::direct`] takes them
    /// through the first seconds.
    pub(crate) fn load(
        &mut self,
        crowd: &mut Crowd,
        scenery: &mut Crowd,
        allocator: &mut Allocator,
    ) -> Result<()> {
        let desc = CharacterDesc {
            method: self.skinning.method,
            cpu_skinning: self.skinning.mode == SkinningStage::Cpu,
        };
        for model in &self.models {
            let added = crowd.add_character_with(allocator, &model.character, &desc);
            let added = added.map_err(|why| format!("{}: {why}", model.name))?;
            self.characters.push(added);
        }
        let rim = self.layout.rim();
        let reach_m = rim.iter().map(|point| point.length()).fold(0.0, f32::max);
        let surroundings =
            scenery.add_character(allocator, &scenery::surroundings(reach_m)?.character)?;
        scenery.spawn(surroundings, &Spawn::default())?;
        Ok(())
    }

    /// The times that lead up to time 0, the first at which everybody is there and about something.
    pub(crate) fn lead_up(&self) -> impl Iterator<Item = f64> + use<> {
        let steps = LEAD_UP_STEPS / self.layout.persons.len().max(1);
        let steps = steps.clamp(10, 400) as u32;
        (0..steps).map(move |step| LEAD_UP_S * (f64::from(step) / f64::from(steps) - 1.0))
    }

    /// Someone comes into the world.
    fn spawn(&mut self, crowd: &mut Crowd, index: usize) -> Result<()> {
        let person = &self.layout.persons[index];
        let model = &self.models[person.model];
        let driven = model.roles.has_machine();
        let act = &model.acts[person.act];
        let clip = act.clip.filter(|_| !driven);
        let spawn = Spawn {
            world_from_model: self.world_from_model(index, act.floor),
            tint: person.tint,
            user: index as u32,
            play: Play {
                clip: clip.map_or(ClipRef::Rest, ClipRef::Id),
                start_s: Some(0.0),
                offset_s: person.phase_s,
                speed: person.speed,
                ..Play::REST
            },
            driven,
            skin: self.skinning.mode,
            ..Spawn::default()
        };
        let instance = crowd.spawn(self.characters[person.model], &spawn)?;
        let known = (&self.models[..], &self.layout);
        self.director.enter(crowd, known, index, instance)
    }

    /// Takes everyone to this time: what they do, and where those are who go.
    pub(crate) fn direct(&mut self, crowd: &mut Crowd, time_s: f64) -> Result<()> {
        let known = (&self.models[..], &self.layout);
        self.director.direct(crowd, known, time_s)?;
        // Not all at once, so that they are not in step.
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
                let records = crowd.play_records(mind.instance)?;
                let (_, floor) = director::ground(&self.models[person.model], records, time_s);
                let place = self.world_from_model(index, floor);
                crowd.set_transform(mind.instance, &place)?;
            }
        }
        Ok(())
    }

    /// Hides all but those `count` who are nearest to the middle.
    pub(crate) fn show_only(&mut self, crowd: &mut Crowd, count: usize) -> Result<()> {
        let middle_m = |index: &usize| self.place(*index).0.length();
        let mut order: Vec<usize> = (0..self.layout.persons.len()).collect();
        order.sort_by(|a, b| middle_m(a).total_cmp(&middle_m(b)));
        self.hidden = order.split_off(count.min(order.len()));
        for index in &self.hidden {
            if let Some(mind) = self.director.mind(*index) {
                crowd.set_view_mask(mind.instance, 0)?;
            }
        }
        Ok(())
    }

    /// How many people are not hidden.
    pub(crate) fn shown(&self) -> usize {
        self.layout.persons.len() - self.hidden.len()
    }

    /// What happened to people in the frame that was begun.
    pub(crate) fn hear(&mut self, events: impl Iterator<Item = InstanceEvent>) {
        self.director.hear(events);
    }

    /// Where someone stands (x, z), and the angle about +Y from +Z to where it looks or goes.
    fn place(&self, index: usize) -> (Vec2, f32) {
        match self.layout.persons[index].motion {
            Motion::Stands { at, yaw } => (at, yaw),
            Motion::Travels { lane, .. } => {
                let (at, direction) = self.layout.lanes[lane].at(self.director.way_m(index));
                (at, direction.x.atan2(direction.y))
            }
        }
    }

    /// The middle of what it covers where it is, and this height of the model on the ground.
    fn world_from_model(&self, index: usize, floor: f32) -> Affine {
        let (at, way) = self.place(index);
        let person = &self.layout.persons[index];
        let act = &self.models[person.model].acts[person.act];
        let heading = act.gait.map_or(0.0, |gait| gait.heading_rad);
        let turned = Affine::from_scale_rotation_translation(
            Vec3::splat(person.scale),
            Quat::from_rotation_y(way - heading),
            Vec3::new(at.x, 0.0, at.y),
        );
        turned * Affine::from_translation(Vec3::new(-act.center.x, -floor, -act.center.y))
    }
}
