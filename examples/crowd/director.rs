//! Directs the people over time: they walk, stop, stand and wave, each at their own time.

use throng::animator::{AnimationEventKind, PlayRecord};
use throng::clip::Clip;
use throng::{AnimationEvent, Crowd, Id, InstanceId, Play};

use super::Result;
use super::flow::{MARGIN_M, START_M, stopping_m};
use super::layout::{Layout, Motion, Person};
use super::model::Model;
use super::rng::Rng;
use super::roles::{Fades, PACE, SPEED, UPPER_BODY, WAVE_LAYER};

/// Ranges of durations in seconds: walking until a stop, standing until the next walk, and the
/// pause between waves.
const GOES_S: [f32; 2] = [5.0, 18.0];
const STANDS_S: [f32; 2] = [2.5, 6.0];
const STILL_S: [f32; 2] = [4.0, 22.0];

/// The intentions of one person.
pub(crate) struct Mind {
    pub(crate) instance: InstanceId,
    rng: Rng,
    /// Progress along the lane. `None` for people who stay at their place.
    way: Option<Way>,
    /// Time of the next wave.
    waves_s: f64,
    waving: bool,
}

/// The movement of one person along a lane.
struct Way {
    /// Speed in metres per second, which matches the gait at `speed`.
    pace_m_s: f32,
    /// Value of the state machine's speed parameter while walking.
    speed: f32,
    fade_s: f32,
    aim: Aim,
}

#[derive(Clone, Copy, PartialEq)]
enum Aim {
    /// Never stops.
    Strides,
    Goes {
        until_s: f64,
    },
    Stands {
        until_s: f64,
    },
    /// Somebody blocks the way.
    Queues,
}

/// Directs all people.
pub(crate) struct Director {
    /// One entry per person. `None` for people who have not entered yet.
    minds: Vec<Option<Mind>>,
    /// Distance that each person has covered on its lane, in metres.
    ways_m: Vec<f64>,
    /// Instances whose wave has ended.
    waved: Vec<InstanceId>,
    fades: Fades,
    now_s: f64,
}

impl Director {
    pub(crate) fn new(layout: &Layout, fades: Fades) -> Self {
        let persons = layout.persons.iter();
        let starts_m = persons.clone().map(|person| match person.motion {
            Motion::Travels { start_m, .. } => start_m.into(),
            Motion::Stands { .. } => 0.0,
        });
        Self {
            minds: persons.map(|_| None).collect(),
            ways_m: starts_m.collect(),
            waved: Vec::new(),
            fades,
            now_s: 0.0,
        }
    }

    pub(crate) fn minds(&self) -> impl Iterator<Item = (usize, &Mind)> {
        let minds = self.minds.iter().enumerate();
        minds.filter_map(|(person, mind)| Some((person, mind.as_ref()?)))
    }

    pub(crate) fn mind(&self, person: usize) -> Option<&Mind> {
        self.minds.get(person)?.as_ref()
    }

    /// Adds a person who has just entered.
    pub(crate) fn enter(
        &mut self,
        crowd: &mut Crowd,
        (models, layout): (&[Model], &Layout),
        index: usize,
        instance: InstanceId,
    ) -> Result<()> {
        let person = &layout.persons[index];
        let model = &models[person.model];
        let mut rng = Rng::new(person.seed);
        let way = match person.motion {
            Motion::Stands { .. } => None,
            Motion::Travels { .. } => Some(Way::new(model, person, self.fades)),
        };
        if model.roles.has_machine() {
            let mut guard = crowd.instance_mut(instance)?;
            guard.set_parameter(PACE, person.speed as f32)?;
        }
        let waves_s = match model.roles.can_wave() {
            Some(_) => self.now_s + f64::from(rng.range(0.0, STILL_S[1])),
            None => f64::INFINITY,
        };
        self.minds[index] = Some(Mind {
            instance,
            rng,
            way,
            waves_s,
            waving: false,
        });
        Ok(())
    }

    /// The distance that a person has covered on its lane, in metres.
    pub(crate) fn way_m(&self, person: usize) -> f64 {
        self.ways_m[person]
    }

    /// Records whose wave has ended.
    pub(crate) fn hear(&mut self, events: impl Iterator<Item = AnimationEvent<InstanceId>>) {
        for event in events {
            let ended = matches!(event.kind, AnimationEventKind::Finished { .. });
            if ended && event.layer == WAVE_LAYER {
                self.waved.push(event.id);
            }
        }
    }

    /// Advances everyone to this time.
    pub(crate) fn direct(
        &mut self,
        crowd: &mut Crowd,
        (models, layout): (&[Model], &Layout),
        time_s: f64,
    ) -> Result<()> {
        for instance in self.waved.drain(..) {
            crowd
                .instance_mut(instance)?
                .stop(WAVE_LAYER, self.fades.wave_s)?;
            let mind = self
                .minds
                .get_mut(crowd.instance(instance)?.user_data() as usize);
            if let Some(Some(mind)) = mind {
                mind.waving = false;
                let [from_s, to_s] = STILL_S;
                mind.waves_s = time_s + f64::from(mind.rng.range(from_s, to_s));
            }
        }
        let step_s = time_s - self.now_s;
        for index in 0..self.minds.len() {
            let person = &layout.persons[index];
            let model = &models[person.model];
            let gap_m = self.gap_m(layout, index);
            let Some(mind) = &mut self.minds[index] else {
                continue;
            };
            let instance = crowd.instance(mind.instance)?;
            let records = instance.records();
            let (speed_m_s, _) = ground(model, records, self.now_s + 0.5 * step_s);
            let gone_m = f64::from(speed_m_s * person.scale) * step_s;
            self.ways_m[index] += gone_m;
            let stands = mind.go(crowd, gap_m - gone_m as f32, (time_s, step_s))?;
            if !mind.waving && time_s >= mind.waves_s && (stands || model.roles.waves_above()) {
                mind.wave(crowd, model.roles.can_wave(), (model, self.fades))?;
            }
        }
        self.now_s = time_s;
        Ok(())
    }

    /// The gap to the person ahead, from edge to edge, in metres.
    pub(crate) fn gap_m(&self, layout: &Layout, index: usize) -> f32 {
        let half_m = |index: usize| match layout.persons[index].motion {
            Motion::Travels { half_m, .. } => half_m,
            Motion::Stands { .. } => 0.0,
        };
        match layout.persons[index].motion {
            Motion::Travels { lane, behind, .. } if behind != index => {
                let apart_m = self.ways_m[behind] - self.ways_m[index];
                let apart_m = apart_m.rem_euclid(layout.lanes[lane].length_m().into());
                apart_m as f32 - half_m(index) - half_m(behind)
            }
            _ => f32::MAX,
        }
    }
}

impl Mind {
    /// Returns true if the person waves.
    #[cfg(test)]
    pub(crate) fn is_waving(&self) -> bool {
        self.waving
    }

    /// Returns true if the person walks. `None` for people who have no lane.
    #[cfg(test)]
    pub(crate) fn is_going(&self) -> Option<bool> {
        let way = self.way.as_ref()?;
        Some(matches!(way.aim, Aim::Strides | Aim::Goes { .. }))
    }

    /// Continues or stops, depending on the gap ahead. Returns true if the person stands by choice.
    fn go(&mut self, crowd: &mut Crowd, gap_m: f32, times_s: (f64, f64)) -> Result<bool> {
        let Some(way) = &mut self.way else {
            return Ok(true);
        };
        let aim = way.decide(gap_m, times_s, &mut self.rng);
        if aim != way.aim {
            way.aim = aim;
            let goes = matches!(aim, Aim::Goes { .. });
            crowd
                .instance_mut(self.instance)?
                .set_parameter(SPEED, if goes { way.speed } else { 0.0 })?;
        }
        Ok(matches!(aim, Aim::Stands { .. }))
    }

    fn wave(
        &mut self,
        crowd: &mut Crowd,
        clip: Option<Id<Clip>>,
        (model, fades): (&Model, Fades),
    ) -> Result<()> {
        let Some(clip) = clip else { return Ok(()) };
        let wave = Play::new(clip).layer(WAVE_LAYER).once();
        let wave = wave.fade_s(fades.wave_s);
        let wave = match model.roles.waves_above() {
            true => wave.mask(UPPER_BODY),
            false => wave,
        };
        crowd.instance_mut(self.instance)?.play(wave)?;
        self.waving = true;
        Ok(())
    }
}

impl Way {
    fn new(model: &Model, person: &Person, fades: Fades) -> Self {
        let act = &model.acts[person.act];
        let speed = act.gait.map_or(0.0, |gait| gait.speed_m_s);
        let runs = act.clip.is_some() && act.clip == model.roles.run;
        Self {
            pace_m_s: speed * person.scale * person.speed as f32,
            speed,
            fade_s: if runs { fades.run_s } else { fades.walk_s },
            aim: match model.roles.has_machine() {
                true => Aim::Queues,
                false => Aim::Strides,
            },
        }
    }

    /// The intention from `time_s` on, given the gap ahead.
    fn decide(&self, gap_m: f32, (time_s, step_s): (f64, f64), rng: &mut Rng) -> Aim {
        let mut until = |[from_s, to_s]: [f32; 2]| time_s + f64::from(rng.range(from_s, to_s));
        // A stop takes effect one step later at the earliest.
        let step_m = 2.0 * self.pace_m_s * step_s as f32;
        let stop_m = stopping_m(self.pace_m_s, self.fade_s) + step_m + MARGIN_M;
        let is_free = gap_m > stop_m + START_M;
        match self.aim {
            Aim::Goes { .. } if gap_m < stop_m => Aim::Queues,
            Aim::Goes { until_s } if time_s >= until_s => Aim::Stands {
                until_s: until(STANDS_S),
            },
            Aim::Stands { until_s } if time_s >= until_s && is_free => Aim::Goes {
                until_s: until(GOES_S),
            },
            Aim::Queues if is_free => Aim::Goes {
                until_s: until(GOES_S),
            },
            same => same,
        }
    }
}

/// The ground speed and the lowest point of the clips that play at a time, in the model's units.
///
/// Both are averages over the clips, by their weights.
pub(crate) fn ground(model: &Model, records: &[PlayRecord], time_s: f64) -> (f32, f32) {
    let (mut speed, mut floor, mut weights) = (0.0, 0.0, 0.0);
    for record in records.iter().filter(|record| record.layer == 0) {
        let (clip, weight) = (Id::new(record.clip), record.weight_at(time_s));
        let gait = model.character.gait(clip);
        let rate = record.speed_at(time_s) as f32;
        speed += weight * rate * gait.map_or(0.0, |gait| gait.speed_m_s);
        floor += weight * model.floor(clip);
        weights += weight;
    }
    match weights > 0.0 {
        true => (speed / weights.max(1.0), floor / weights),
        false => (0.0, model.acts[0].floor),
    }
}
