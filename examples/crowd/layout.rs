//! Positions of the people: groups that stand and talk, lanes of people who walk, no collisions.

use std::collections::HashMap;
use std::f32::consts::{PI, TAU};

use throng::glam::{Vec2, Vec3};

use super::flow::{self, Flows, Plaza};
use super::model::{Act, Model};
use super::path::Lane;
use super::rng::Rng;

/// Largest radius of a person on the ground, in metres. It limits clips that travel far.
const MAX_RADIUS_M: f32 = 3.0;
/// A crowd with more people than this spreads over a plaza.
const PLAZA: u32 = 1000;
/// Fraction of the ground that the groups cover, and the same on a plaza.
const DENSITY: f32 = 0.62;
const PLAZA_DENSITY: f32 = 0.4;
/// Fraction of the standing people who are inside of all lanes, and the same on a plaza.
const INSIDE: f32 = 0.35;
const PLAZA_INSIDE: f32 = 0.02;

/// Houses for each person, at least this many, and the radius of their ground in metres.
const HOUSES: f32 = 0.03;
const FEWEST_HOUSES: usize = 6;
const HOUSE_M: [f32; 2] = [2.5, 4.5];

/// One character of the crowd.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) model: usize,
    pub(crate) act: usize,
    /// Metres per unit of the model.
    pub(crate) scale: f32,
    /// Radius of the ground that it occupies around its middle, in metres.
    pub(crate) radius_m: f32,
    pub(crate) tint: [f32; 4],
    /// Time in its clip at time 0, if it has only one clip.
    pub(crate) phase_s: f64,
    /// Playback speed: seconds of the clip per second.
    pub(crate) speed: f64,
    /// Seed of its random numbers.
    pub(crate) seed: u64,
    pub(crate) motion: Motion,
}

/// The position of a character, and its way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Motion {
    Stands {
        at: Vec2,
        yaw: f32,
    },
    Travels {
        lane: usize,
        /// Starting position on the lane.
        start_m: f32,
        /// Half of the length that it occupies on the lane.
        half_m: f32,
        /// Index of the person that it follows, or its own index if it is alone.
        behind: usize,
    },
}

/// A house that nobody stands or walks in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct House {
    /// Its middle on the ground (x, z), and the angle about +Y.
    pub(crate) at: Vec2,
    pub(crate) yaw: f32,
    /// Its edges, in metres.
    pub(crate) size_m: Vec3,
    pub(crate) tint: [f32; 4],
}

/// The layout of the whole crowd.
pub(crate) struct Layout {
    pub(crate) persons: Vec<Person>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) houses: Vec<House>,
    /// True if the people spread over a plaza.
    pub(crate) is_plaza: bool,
}

/// People who stand in a circle and face each other, or one person alone. Or a house.
struct Group {
    /// Nobody in a house.
    members: Vec<usize>,
    /// Radius of the circle that they stand on, in metres.
    ring_m: f32,
    /// Radius of the ground that they occupy, in metres.
    radius_m: f32,
}

impl Layout {
    /// Creates a layout, with houses if `walls`. The same seed gives the same layout.
    pub(crate) fn new(models: &[Model], count: u32, seed: u64, walls: bool) -> Self {
        let mut rng = Rng::new(seed);
        let mut persons: Vec<Person> = (0..count).filter_map(|_| cast(models, &mut rng)).collect();
        let travels = |person: &Person| act(models, person).is_some_and(|act| act.gait.is_some());
        let (travellers, standers): (Vec<usize>, Vec<usize>) =
            (0..persons.len()).partition(|index| travels(&persons[*index]));
        let mut groups = gather(&persons, standers, &mut rng);
        if walls {
            groups.splice(0..0, plots(count, &mut rng));
        }
        let is_plaza = count > PLAZA;
        let (density, inside) = match is_plaza {
            true => (PLAZA_DENSITY, PLAZA_INSIDE),
            false => (DENSITY, INSIDE),
        };
        let standing_m2: f32 = groups
            .iter()
            .map(|g| PI * g.radius_m.powi(2) / density)
            .sum();
        let inside_m2 = standing_m2 * inside;
        let plaza = is_plaza.then_some(Plaza { standing_m2 });
        let flows = flow::walk(models, &mut persons, travellers, inside_m2, plaza, &mut rng);
        let edge_m = flows.bands.last().map_or(0.0, |[_, to_m]| *to_m);
        let edge_m = flows.around.radius_m + edge_m;
        let outer_m = match is_plaza {
            true => edge_m,
            false => (edge_m.powi(2) + standing_m2 * (1.0 - inside) / PI).sqrt(),
        };
        let houses = stand(&mut persons, groups, &flows, outer_m, &mut rng);
        Self {
            persons,
            houses,
            lanes: flows.lanes,
            is_plaza,
        }
    }

    /// Points on the ground at the crowd's outline, in several directions.
    pub(crate) fn rim(&self) -> Vec<Vec3> {
        const SECTORS: usize = 48;
        let mut reach = [0.0_f32; SECTORS];
        let mut widest = vec![0.0_f32; self.lanes.len()];
        let mut add = |at: Vec2, radius: f32| {
            let sector = (at.to_angle().rem_euclid(TAU) / TAU * SECTORS as f32) as usize % SECTORS;
            reach[sector] = reach[sector].max(at.length() + radius);
        };
        for person in &self.persons {
            match person.motion {
                Motion::Stands { at, .. } => add(at, person.radius_m),
                Motion::Travels { lane, .. } => widest[lane] = widest[lane].max(person.radius_m),
            }
        }
        for (lane, beside_m) in self.lanes.iter().zip(widest) {
            lane.edge(beside_m).for_each(|point| add(point, 0.0));
        }
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

/// A character with its own phase, speed, size and tint.
fn cast(models: &[Model], rng: &mut Rng) -> Option<Person> {
    let number = rng.below(models.len());
    let model = models.get(number)?;
    let choice = rng.weighted(model.acts.iter().map(|act| act.weight));
    let act = model.acts.get(choice)?;
    let scale = model.scale * rng.range(0.94, 1.06);
    let half_m = |units: f32| (units * scale).min(MAX_RADIUS_M);
    let radius_m = half_m(act.radius);
    Some(Person {
        model: number,
        act: choice,
        scale,
        radius_m,
        tint: tint(model.tint, rng),
        phase_s: f64::from(act.duration_s * rng.unit()),
        speed: f64::from(rng.range(0.85, 1.15)),
        seed: rng.next(),
        motion: Motion::Stands {
            at: Vec2::ZERO,
            yaw: 0.0,
        },
    })
}

/// A light colour of any hue, linear, with a saturation of at most `strength`.
fn tint(strength: f32, rng: &mut Rng) -> [f32; 4] {
    let (hue, saturation, value) = (
        rng.range(0.0, 6.0),
        strength * rng.unit(),
        rng.range(0.75, 1.0),
    );
    let channel = |offset: f32| {
        let distance = ((hue + offset).rem_euclid(6.0) - 3.0).abs() - 1.0;
        let full = distance.clamp(0.0, 1.0);
        value * (1.0 - saturation * (1.0 - full))
    };
    [channel(0.0), channel(4.0), channel(2.0), 1.0]
}

/// Divides the standing people into groups of one to five.
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
            radius_m: ring_m + widest + rng.range(0.0, 0.25),
        });
    }
    // The large groups first, while there is free space.
    groups.sort_by(|a, b| b.radius_m.total_cmp(&a.radius_m));
    groups
}

/// The ground of houses for this number of people.
fn plots(count: u32, rng: &mut Rng) -> Vec<Group> {
    let houses = (count as f32 * HOUSES) as usize;
    let plot = |_| Group {
        members: Vec::new(),
        ring_m: 0.0,
        radius_m: rng.range(HOUSE_M[0], HOUSE_M[1]),
    };
    let mut plots: Vec<_> = (0..houses.max(FEWEST_HOUSES)).map(plot).collect();
    plots.sort_by(|a, b| b.radius_m.total_cmp(&a.radius_m));
    plots
}

/// A house on round ground.
fn house(at: Vec2, radius_m: f32, rng: &mut Rng) -> House {
    let edges = Vec2::from_angle(rng.range(0.6, 0.97)) * (2.0 * radius_m);
    House {
        at,
        yaw: rng.range(0.0, TAU),
        size_m: Vec3::new(edges.x, rng.range(4.0, 9.0), edges.y),
        tint: tint(0.12, rng),
    }
}

/// Places the groups at random, apart from the lanes and from each other. Returns the houses.
///
/// If no space is left, the ground grows.
fn stand(
    persons: &mut [Person],
    groups: Vec<Group>,
    flows: &Flows,
    mut outer_m: f32,
    rng: &mut Rng,
) -> Vec<House> {
    let mut houses = Vec::new();
    let widest_m = groups.first().map_or(1.0, |group| group.radius_m).max(0.1);
    let cell = |at: Vec2| {
        (at / (2.0 * widest_m))
            .floor()
            .to_array()
            .map(|axis| axis as i32)
    };
    let growth = if flows.plaza.is_some() {
        1.000_01
    } else {
        1.000_5
    };
    let mut taken: HashMap<_, Vec<(Vec2, f32)>> = HashMap::new();
    for group in groups {
        let at = loop {
            let at = Vec2::from_angle(rng.range(0.0, TAU)) * (rng.unit().sqrt() * outer_m);
            let outside_m = at.length() - flows.around.radius_at(at.to_angle());
            let margin_m = 1.05 * group.radius_m;
            let blocked = flows.bands.iter().any(|[from_m, to_m]| {
                outside_m + margin_m > *from_m && outside_m - margin_m < *to_m
            });
            let near = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (x, y)));
            let [cell_x, cell_y] = cell(at);
            let mut near = near.filter_map(|(x, y)| taken.get(&[cell_x + x, cell_y + y]));
            let hits =
                |(other, radius_m): &(Vec2, f32)| at.distance(*other) < radius_m + group.radius_m;
            if !blocked && !near.any(|list| list.iter().any(hits)) {
                break at;
            }
            outer_m *= growth;
        };
        taken
            .entry(cell(at))
            .or_default()
            .push((at, group.radius_m));
        if group.members.is_empty() {
            houses.push(house(at, group.radius_m, rng));
            continue;
        }
        let turn = rng.range(0.0, TAU);
        for (place, member) in group.members.iter().enumerate() {
            let out = Vec2::from_angle(turn + place as f32 / group.members.len() as f32 * TAU);
            persons[*member].motion = Motion::Stands {
                at: at + out * group.ring_m,
                yaw: (-out.x).atan2(-out.y) + rng.range(-0.25, 0.25),
            };
        }
    }
    houses
}
