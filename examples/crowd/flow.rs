//! Walking people, sorted by pace into lanes around the crowd.
//!
//! Nobody overtakes within a lane. A small crowd has one band of lanes. On a plaza there are many,
//! with ground between them for people who stand.

use std::f32::consts::{PI, TAU};
use std::mem;

use super::layout::{Motion, Person, act};
use super::model::Model;
use super::path::{Lane, Loop};
use super::rng::Rng;
use super::roles::Fades;

/// Largest ratio between the natural paces of people who share a lane.
const PACES: f32 = 1.35;
/// Number of adjacent lanes that lead the same way.
const ABREAST: usize = 3;
/// Number of lanes of a band on a plaza, and of those that lead the same way.
const BAND: usize = 4;
const BAND_ABREAST: usize = 2;
/// Additional space on a plaza, in metres: between lanes, and between people on a lane.
const BESIDE_M: f32 = 0.35;
const APART_M: f32 = 1.2;
/// The smallest gap between two people who have stopped, in metres.
pub(crate) const MARGIN_M: f32 = 0.15;
/// The gap that a person needs to start walking, beyond its stopping distance, in metres.
pub(crate) const START_M: f32 = 0.8;
/// Additional space per person, so that lanes do not come to a standstill, in metres.
const SPARE_M: f32 = 0.9;

/// All lanes, from the loop outwards.
pub(crate) struct Flows {
    pub(crate) around: Loop,
    /// Bands that the lanes cover: distances from the loop at which they begin and end.
    pub(crate) bands: Vec<[f32; 2]>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) plaza: Option<Plaza>,
}

/// The ground that standing people need, for many people who do not crowd together.
#[derive(Clone, Copy)]
pub(crate) struct Plaza {
    pub(crate) standing_m2: f32,
}

/// The distance that a person covers during the fade to standing.
pub(crate) fn stopping_m(pace_m_s: f32, fade_s: f32) -> f32 {
    // The mean weight during a fade is one half.
    0.5 * pace_m_s * fade_s
}

/// A person who walks around.
#[derive(Clone, Copy)]
struct Walker {
    person: usize,
    /// Half of its extent on the ground, along its way and across.
    along_m: f32,
    across_m: f32,
    natural_m_s: f32,
    stops: bool,
}

impl Walker {
    fn new(models: &[Model], person: usize, persons: &[Person]) -> Option<Self> {
        let scale = persons.get(person)?.scale;
        let act = act(models, persons.get(person)?)?;
        let half_m = |units: f32| (units * scale + 0.06).min(2.0);
        Some(Self {
            person,
            along_m: half_m(act.along),
            across_m: half_m(act.across),
            natural_m_s: act.gait?.speed_m_s * scale,
            stops: models.get(persons[person].model)?.roles.has_machine(),
        })
    }

    /// The length that it needs on a lane.
    fn needs_m(&self, plaza: Option<Plaza>) -> f32 {
        let apart_m = plaza.map_or(0.0, |_| APART_M);
        2.0 * self.along_m + self.gap_m() + SPARE_M + apart_m
    }

    fn gap_m(&self) -> f32 {
        let stopping_m = stopping_m(self.natural_m_s, Fades::default().run_s);
        let stopping_m = if self.stops { stopping_m } else { 0.0 };
        stopping_m + MARGIN_M + START_M
    }
}

/// Assigns the walkers to lanes, the slow ones further inside, and leaves `inside_m2` free in the
/// middle.
pub(crate) fn walk(
    models: &[Model],
    persons: &mut [Person],
    travellers: Vec<usize>,
    inside_m2: f32,
    plaza: Option<Plaza>,
    rng: &mut Rng,
) -> Flows {
    let walkers = travellers.into_iter();
    let mut walkers: Vec<Walker> = walkers
        .filter_map(|index| Walker::new(models, index, persons))
        .collect();
    let beside_m = plaza.map_or(0.0, |_| BESIDE_M);
    let ground_m2 = |walker: &Walker| walker.needs_m(plaza) * (2.0 * walker.across_m + beside_m);
    let all_m2: f32 = walkers.iter().map(ground_m2).sum();
    let least_m = if persons.len() < 20 { 1.2 } else { 3.0 };
    let inside_m2 = match plaza {
        Some(_) => inside_m2,
        None => inside_m2.max(0.06 * all_m2),
    };
    let mut flows = Flows {
        around: Loop {
            radius_m: (inside_m2 / PI).sqrt().max(least_m),
            phases: [rng.range(0.0, TAU), rng.range(0.0, TAU)],
        },
        bands: Vec::new(),
        lanes: Vec::new(),
        plaza,
    };
    // Separated, because people who never stop would run into those who do.
    let key = |walker: &Walker| (walker.stops, walker.natural_m_s);
    walkers.sort_by(|a, b| {
        let order = key(a).0.cmp(&key(b).0);
        order.then(a.natural_m_s.total_cmp(&b.natural_m_s))
    });
    // Each class, and whether it is in random order yet.
    let mut classes: Vec<(&mut [Walker], bool)> = Vec::new();
    let mut left = &mut walkers[..];
    while let Some(slowest) = left.first().map(key) {
        let alike =
            |walker: &Walker| walker.stops == slowest.0 && walker.natural_m_s <= PACES * slowest.1;
        let end = left.partition_point(alike);
        let (class, rest) = left.split_at_mut(end.max(1));
        left = rest;
        classes.push((class, false));
    }
    // Ground for those who stand, relative to the ground of those who walk.
    let free = plaza.map_or(0.0, |plaza| plaza.standing_m2 / all_m2.max(1.0));
    while classes.iter().any(|(class, _)| !class.is_empty()) {
        let chosen = match plaza {
            // The slow ones are further inside, or anywhere on a plaza.
            None => classes.iter().position(|(class, _)| !class.is_empty()),
            Some(_) => Some(rng.weighted(classes.iter().map(|(class, _)| class.len() as f32))),
        };
        let Some((class, shuffled)) = chosen.and_then(|chosen| classes.get_mut(chosen)) else {
            break;
        };
        if !mem::replace(shuffled, true) {
            rng.shuffle(class);
        }
        let count = flows.add_lane(class, persons, free, rng);
        *class = &mut mem::take(class)[count..];
    }
    flows
}

impl Flows {
    /// Adds a lane outside of the others and fills it with the first of these walkers.
    ///
    /// On a plaza, `free` times as much ground as a band covers lies outside of it. Returns the
    /// number of walkers that fit.
    fn add_lane(
        &mut self,
        walkers: &[Walker],
        persons: &mut [Person],
        free: f32,
        rng: &mut Rng,
    ) -> usize {
        let plaza = self.plaza;
        let across_m = walkers.iter().map(|walker| walker.across_m);
        let across_m = across_m.fold(0.0, f32::max) + plaza.map_or(0.0, |_| 0.5 * BESIDE_M);
        let number = self.lanes.len();
        let abreast = plaza.map_or(ABREAST, |_| BAND_ABREAST);
        let back = (number / abreast) % 2 == 1;
        let from_m = match self.bands.last() {
            None => 0.0,
            Some([from_m, to_m]) if plaza.is_some() && number.is_multiple_of(BAND) => {
                to_m + free * (to_m - from_m)
            }
            Some([_, to_m]) => *to_m,
        };
        let to_m = from_m + 2.0 * across_m;
        match self.bands.last_mut() {
            Some([_, end_m]) if *end_m == from_m => *end_m = to_m,
            _ => self.bands.push([from_m, to_m]),
        }
        let lane = Lane::new(self.around, from_m + across_m, back);
        let mut left_m = lane.length_m();
        let fits = |walker: &&Walker| {
            left_m -= walker.needs_m(plaza);
            left_m >= 0.0
        };
        let count = walkers.iter().take_while(fits).count().max(1);
        let members = &walkers[..count];
        let pace_m_s = members.iter().map(|walker| walker.natural_m_s).sum::<f32>() / count as f32;
        let takes_m = |walker: &Walker| 2.0 * walker.along_m + walker.gap_m();
        let spare_m = lane.length_m() - members.iter().map(takes_m).sum::<f32>();
        let shares: Vec<f32> = members.iter().map(|_| rng.range(0.1, 1.0)).collect();
        let all: f32 = shares.iter().sum();
        let mut start_m = 0.0;
        for (place, (walker, share)) in members.iter().zip(shares).enumerate() {
            let person = &mut persons[walker.person];
            person.speed = f64::from(pace_m_s / walker.natural_m_s);
            person.motion = Motion::Travels {
                lane: number,
                start_m: start_m + walker.along_m,
                half_m: walker.along_m,
                behind: members[(place + 1) % count].person,
            };
            start_m += takes_m(walker) + spare_m.max(0.0) * share / all;
        }
        self.lanes.push(lane);
        count
    }
}
