//! Who stands where: groups that talk, a loop of those who walk around among them, and nobody in
//! anybody's way.

use std::collections::HashMap;
use std::f32::consts::{PI, TAU};

use throng::glam::{IVec2, Vec2, Vec3};

use super::model::{Act, Model};
use super::path::{Lane, Loop};
use super::rng::Rng;

/// No one takes more of the ground than this, metres: a clip that travels far would.
const MAX_RADIUS_M: f32 = 3.0;
/// How much of the ground the groups cover.
const DENSITY: f32 = 0.5;
/// Part of those standing who are inside of the loop.
const INSIDE: f32 = 0.35;

/// One character of the crowd.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) model: usize,
    pub(crate) act: usize,
    /// Metres per unit of the model.
    pub(crate) scale: f32,
    /// Metres around the middle of what it takes of the ground.
    pub(crate) radius_m: f32,
    pub(crate) tint: [f32; 4],
    /// Where in its clip it is at time 0.
    pub(crate) phase_s: f64,
    /// Clip seconds a second.
    pub(crate) speed: f64,
    pub(crate) motion: Motion,
}

/// Where a character is, and where it goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Motion {
    Stands { at: Vec2, yaw: f32 },
    Travels { lane: usize, start_m: f32 },
}

/// The whole crowd.
pub(crate) struct Layout {
    pub(crate) persons: Vec<Person>,
    pub(crate) lanes: Vec<Lane>,
}

/// Some who stand in a circle and face each other; or one alone.
struct Group {
    members: Vec<usize>,
    /// Of the circle that they stand on, metres.
    ring_m: f32,
    /// Of the ground that they take, metres.
    radius_m: f32,
}

impl Layout {
    /// The same for the same seed.
    pub(crate) fn new(models: &[Model], count: u32, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut persons: Vec<Person> = (0..count).map(|_| cast(models, &mut rng)).collect();
        let travels = |person: &Person| act(models, person).is_some_and(|act| act.gait.is_some());
        let (travellers, standers): (Vec<usize>, Vec<usize>) =
            (0..persons.len()).partition(|index| travels(&persons[*index]));
        let groups = gather(&persons, standers, &mut rng);
        let standing_m2: f32 = groups
            .iter()
            .map(|g| PI * g.radius_m.powi(2) / DENSITY)
            .sum();
        let (around, band_m, lanes) = walk(models, &mut persons, travellers, standing_m2, &mut rng);
        let outer_m = ((around.radius + band_m).powi(2) + standing_m2 * (1.0 - INSIDE) / PI).sqrt();
        stand(&mut persons, groups, &around, band_m, outer_m, &mut rng);
        Self { persons, lanes }
    }

    /// Points around the crowd: how far it reaches in several directions, on the ground.
    pub(crate) fn rim(&self) -> Vec<Vec3> {
        const SECTORS: usize = 48;
        let mut reach = [0.0_f32; SECTORS];
        let mut add = |at: Vec2, radius: f32| {
            let sector = (at.to_angle().rem_euclid(TAU) / TAU * SECTORS as f32) as usize % SECTORS;
            reach[sector] = reach[sector].max(at.length() + radius);
        };
        for person in &self.persons {
            if let Motion::Stands { at, .. } = person.motion {
                add(at, person.radius_m);
            }
        }
        self.lanes
            .iter()
            .flat_map(Lane::points)
            .for_each(|point| add(*point, 0.6));
        let at = |(sector, reach): (usize, &f32)| {
            let at = Vec2::from_angle((sector as f32 + 0.5) / SECTORS as f32 * TAU) * *reach;
            Vec3::new(at.x, 0.0, at.y)
        };
        reach.iter().enumerate().map(at).collect()
    }
}

pub(crate) fn act<'a>(models: &'a [Model], person: &Person) -> Option<&'a Act> {
    models.get(person.model)?.acts.get(person.act)
}

/// A character with a clip, a phase, a speed, a size and a tint of its own.
fn cast(models: &[Model], rng: &mut Rng) -> Person {
    let model = rng.below(models.len());
    let acts = models.get(model).map_or(&[][..], |model| &model.acts);
    let act = rng.weighted(acts.iter().map(|act| act.weight));
    let (unit, duration_s, radius) = acts.get(act).map_or((1.0, 0.0, 0.0), |act| {
        (models[model].scale, act.duration_s, act.radius)
    });
    let scale = unit * rng.range(0.94, 1.06);
    Person {
        model,
        act,
        scale,
        radius_m: (radius * scale).min(MAX_RADIUS_M),
        tint: tint(rng),
        phase_s: f64::from(duration_s * rng.unit()),
        speed: f64::from(rng.range(0.85, 1.15)),
        motion: Motion::Stands {
            at: Vec2::ZERO,
            yaw: 0.0,
        },
    }
}

/// A light colour of any hue, linear.
fn tint(rng: &mut Rng) -> [f32; 4] {
    let (hue, saturation, value) = (
        rng.range(0.0, 6.0),
        rng.range(0.1, 0.6),
        rng.range(0.75, 1.0),
    );
    let channel = |offset: f32| {
        let distance = ((hue + offset).rem_euclid(6.0) - 3.0).abs() - 1.0;
        let full = distance.clamp(0.0, 1.0);
        value * (1.0 - saturation * (1.0 - full))
    };
    [channel(0.0), channel(4.0), channel(2.0), 1.0]
}

/// Parts those who stand into groups of one to five.
fn gather(persons: &[Person], mut standers: Vec<usize>, rng: &mut Rng) -> Vec<Group> {
    rng.shuffle(&mut standers);
    let mut groups = Vec::new();
    let mut left = &standers[..];
    while !left.is_empty() {
        let size = 1 + rng.weighted([0.3, 0.25, 0.25, 0.15, 0.05].into_iter());
        let (members, rest) = left.split_at(size.min(left.len()));
        left = rest;
        let widest = members
            .iter()
            .map(|m| persons[*m].radius_m)
            .fold(0.0, f32::max);
        let ring_m = match members.len() {
            1 => 0.0,
            count => (widest + rng.range(0.08, 0.2)) / (PI / count as f32).sin(),
        };
        groups.push(Group {
            members: members.to_vec(),
            ring_m,
            radius_m: ring_m + widest + rng.range(0.05, 0.35),
        });
    }
    // The large ones first, while there is room.
    groups.sort_by(|a, b| b.radius_m.total_cmp(&a.radius_m));
    groups
}

/// Sends the travellers around, the slow ones on the inner lanes. Returns the loop's inner edge, its width and
/// its lanes.
fn walk(
    models: &[Model],
    persons: &mut [Person],
    mut travellers: Vec<usize>,
    standing_m2: f32,
    rng: &mut Rng,
) -> (Loop, f32, Vec<Lane>) {
    let natural = |person: &Person| {
        let gait = act(models, person).and_then(|act| act.gait);
        gait.map_or(1.0, |gait| gait.speed * person.scale)
    };
    travellers.sort_by(|a, b| natural(&persons[*a]).total_cmp(&natural(&persons[*b])));
    let walking_m2: f32 = travellers
        .iter()
        .map(|t| 6.0 * persons[*t].radius_m.powi(2))
        .sum();
    let hole_m2 = (standing_m2 * INSIDE).max(0.25 * walking_m2);
    let around = Loop {
        radius: (hole_m2 / PI)
            .sqrt()
            .max(if persons.len() < 20 { 1.2 } else { 3.0 }),
        phases: [rng.range(0.0, TAU), rng.range(0.0, TAU)],
    };
    let (mut lanes, mut edge_m, mut left) = (Vec::<Lane>::new(), 0.0, &travellers[..]);
    while let Some(first) = left.first() {
        let slowest = natural(&persons[*first]);
        let (mut taken, mut used_m, mut widest_m, mut speed) = (0, 0.0, 0.0_f32, 0.0);
        for index in left {
            let person = &persons[*index];
            let need_m = 2.0 * person.radius_m + 0.25;
            let room_m = TAU * (around.radius + edge_m) * 0.9;
            if taken > 0 && (used_m + need_m > room_m || natural(person) > 1.35 * slowest) {
                break;
            }
            (taken, used_m) = (taken + 1, used_m + need_m);
            widest_m = widest_m.max(2.0 * person.radius_m);
            speed += natural(person);
        }
        let (members, rest) = left.split_at(taken);
        left = rest;
        // A bent loop's lanes are somewhat closer than their distances from the middle.
        let width_m = 1.06 * widest_m + 0.1;
        let turn = if lanes.len() % 2 == 0 { 1.0 } else { -1.0 };
        let lane = Lane::new(&around, edge_m + 0.5 * width_m, turn * speed / taken as f32);
        edge_m += width_m;
        line_up(persons, members, lanes.len(), &lane, used_m, rng);
        for member in members {
            let person = &mut persons[*member];
            person.speed = f64::from(lane.speed_m_s.abs() / natural(person));
        }
        lanes.push(lane);
    }
    (around, edge_m, lanes)
}

/// Spreads the members over a lane, of which they need `used_m`, in no order.
fn line_up(
    persons: &mut [Person],
    members: &[usize],
    number: usize,
    lane: &Lane,
    used_m: f32,
    rng: &mut Rng,
) {
    let mut order = members.to_vec();
    rng.shuffle(&mut order);
    let gaps: Vec<f32> = order.iter().map(|_| rng.range(0.1, 1.0)).collect();
    let stretch = (lane.length_m() - used_m).max(0.0) / gaps.iter().sum::<f32>().max(1e-6);
    let mut at_m = rng.range(0.0, lane.length_m());
    for (member, gap) in order.into_iter().zip(gaps) {
        let person = &mut persons[member];
        let half_m = person.radius_m + 0.125;
        person.motion = Motion::Travels {
            lane: number,
            start_m: at_m + half_m,
        };
        at_m += 2.0 * half_m + gap * stretch;
    }
}

/// Throws the groups onto the ground, beside the loop and beside each other; the ground grows where
/// there is no room left.
fn stand(
    persons: &mut [Person],
    groups: Vec<Group>,
    around: &Loop,
    band_m: f32,
    mut outer_m: f32,
    rng: &mut Rng,
) {
    let widest_m = groups.first().map_or(1.0, |group| group.radius_m).max(0.1);
    let cell = |at: Vec2| (at / (2.0 * widest_m)).floor().as_ivec2();
    let mut taken: HashMap<_, Vec<(Vec2, f32)>> = HashMap::new();
    for group in groups {
        let at = loop {
            let at = Vec2::from_angle(rng.range(0.0, TAU)) * (rng.unit().sqrt() * outer_m);
            let (from_m, inner_m) = (at.length(), around.radius_at(at.to_angle()));
            let margin_m = 1.05 * group.radius_m;
            let blocked =
                band_m > 0.0 && from_m + margin_m > inner_m && from_m - margin_m < inner_m + band_m;
            let near = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (x, y)));
            let mut near = near.filter_map(|(x, y)| taken.get(&(cell(at) + IVec2::new(x, y))));
            let hits =
                |(other, radius_m): &(Vec2, f32)| at.distance(*other) < radius_m + group.radius_m;
            if !blocked && !near.any(|list| list.iter().any(hits)) {
                break at;
            }
            outer_m *= 1.0005;
        };
        taken
            .entry(cell(at))
            .or_default()
            .push((at, group.radius_m));
        let turn = rng.range(0.0, TAU);
        for (place, member) in group.members.iter().enumerate() {
            let out = Vec2::from_angle(turn + place as f32 / group.members.len() as f32 * TAU);
            persons[*member].motion = Motion::Stands {
                at: at + out * group.ring_m,
                yaw: (-out.x).atan2(-out.y) + rng.range(-0.25, 0.25),
            };
        }
    }
}
