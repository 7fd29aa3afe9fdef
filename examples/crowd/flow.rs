//! Those who walk: sorted by pace into streams, each of which goes around the crowd as one.

use std::f32::consts::{PI, TAU};

use super::layout::{Motion, Person, act};
use super::model::Model;
use super::path::{Loop, Stream};
use super::rng::Rng;

/// How much of the ground walkers cover.
const DENSITY: f32 = 0.36;
/// The usual width of a stream, metres.
const WIDE_M: f32 = 2.6;
/// Walkers whose natural paces differ by more than this do not go together.
const PACES: f32 = 1.35;
/// Tries to find a place, until the stream becomes wider.
const TRIES: usize = 30;

/// All streams, from the loop outwards.
pub(crate) struct Flows {
    pub(crate) around: Loop,
    pub(crate) width_m: f32,
    pub(crate) streams: Vec<Stream>,
}

/// One who walks.
struct Walker {
    person: usize,
    /// Half of what it takes of the ground along its way and across.
    along_m: f32,
    across_m: f32,
    natural_m_s: f32,
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
        })
    }

    fn ground_m2(&self) -> f32 {
        PI * self.along_m * self.across_m / DENSITY
    }
}

/// Sends the travellers around, the slow ones further inside, and leaves `inside_m2` free within.
pub(crate) fn walk(
    models: &[Model],
    persons: &mut [Person],
    travellers: Vec<usize>,
    inside_m2: f32,
    rng: &mut Rng,
) -> Flows {
    let walkers = travellers.into_iter();
    let mut walkers: Vec<Walker> = walkers
        .filter_map(|index| Walker::new(models, index, persons))
        .collect();
    let all_m2: f32 = walkers.iter().map(Walker::ground_m2).sum();
    let least_m = if persons.len() < 20 { 1.2 } else { 3.0 };
    let around = Loop {
        radius_m: (inside_m2.max(0.06 * all_m2) / PI).sqrt().max(least_m),
        phases: [rng.range(0.0, TAU), rng.range(0.0, TAU)],
    };
    let (mut streams, mut width_m) = (Vec::new(), 0.0);
    walkers.sort_by(|a, b| a.natural_m_s.total_cmp(&b.natural_m_s));
    let mut left = &mut walkers[..];
    while let Some(slowest) = left.first().map(|walker| walker.natural_m_s) {
        let end = left.partition_point(|walker| walker.natural_m_s <= PACES * slowest);
        let (class, rest) = left.split_at_mut(end.max(1));
        left = rest;
        rng.shuffle(class);
        let class_m2: f32 = class.iter().map(Walker::ground_m2).sum();
        let wide_m = class_m2 / (TAU * (around.radius_m + width_m));
        let count = (wide_m / WIDE_M).round().max(1.0) as usize;
        for members in class.chunks(class.len().div_ceil(count)) {
            let bed = Bed::new(around, width_m, members, streams.len());
            let (stream, wide_m) = bed.fill(persons, rng);
            streams.push(stream);
            width_m += wide_m;
        }
    }
    Flows {
        around,
        width_m,
        streams,
    }
}

/// A stream that is being filled.
struct Bed<'a> {
    number: usize,
    stream: Stream,
    members: &'a [Walker],
    width_m: f32,
    /// By place along the stream: where, how far beside its middle, and who.
    taken: Vec<Vec<(f32, f32, &'a Walker)>>,
}

impl<'a> Bed<'a> {
    /// The next stream outside of `edge_m`, against the direction of the one before.
    fn new(around: Loop, edge_m: f32, members: &'a [Walker], number: usize) -> Self {
        let ground_m2: f32 = members.iter().map(Walker::ground_m2).sum();
        let radius_m = around.radius_m + edge_m;
        let needed_m = (radius_m.powi(2) + ground_m2 / PI).sqrt() - radius_m;
        let widest_m = members.iter().map(|m| 2.0 * m.across_m).fold(0.0, f32::max);
        let width_m = needed_m.max(1.02 * widest_m);
        let pace = members.iter().map(|m| m.natural_m_s).sum::<f32>() / members.len().max(1) as f32;
        let turn = if number.is_multiple_of(2) { 1.0 } else { -1.0 };
        let stream = Stream::new(around, edge_m + 0.5 * width_m, turn * pace);
        let longest_m = members.iter().map(|m| 2.0 * m.along_m).fold(0.1, f32::max);
        let buckets = (stream.length_m() / longest_m).floor().max(1.0) as usize;
        Self {
            number,
            stream,
            members,
            width_m,
            taken: vec![Vec::new(); buckets],
        }
    }

    /// Gives everyone a place. Returns the stream and its width.
    fn fill(mut self, persons: &mut [Person], rng: &mut Rng) -> (Stream, f32) {
        let inner_m = -0.5 * self.width_m;
        for walker in self.members {
            let (start_m, beside_m) = self.find(walker, inner_m, rng);
            let bucket = self.bucket(start_m);
            self.taken[bucket].push((start_m, beside_m, walker));
            let person = &mut persons[walker.person];
            person.speed = f64::from(self.stream.pace(beside_m) / walker.natural_m_s);
            person.motion = Motion::Travels {
                stream: self.number,
                start_m,
                beside_m,
            };
        }
        (self.stream, self.width_m)
    }

    /// A free place; where there is none the stream becomes wider, outwards.
    fn find(&mut self, walker: &Walker, inner_m: f32, rng: &mut Rng) -> (f32, f32) {
        loop {
            for _ in 0..TRIES {
                let start_m = rng.range(0.0, self.stream.length_m());
                let outer_m = inner_m + self.width_m - walker.across_m;
                let beside_m = rng.range(inner_m + walker.across_m, outer_m);
                if self.is_free(walker, start_m, beside_m) {
                    return (start_m, beside_m);
                }
            }
            self.width_m += 0.05;
        }
    }

    /// Whether nobody is there: everyone takes an ellipse.
    fn is_free(&self, walker: &Walker, start_m: f32, beside_m: f32) -> bool {
        let (count, length_m) = (self.taken.len(), self.stream.length_m());
        let bucket = self.bucket(start_m);
        // Buckets are at least as long as the longest two may be apart.
        let mut near = [bucket + count - 1, bucket, bucket + 1]
            .map(|bucket| bucket % count)
            .to_vec();
        near.dedup();
        let mut near = near.into_iter().flat_map(|bucket| &self.taken[bucket]);
        near.all(|(other_m, other_beside_m, other)| {
            let apart_m = (other_m - start_m).abs();
            let apart_m = apart_m.min(length_m - apart_m);
            let along = apart_m / (walker.along_m + other.along_m);
            let across = (other_beside_m - beside_m) / (walker.across_m + other.across_m);
            along * along + across * across > 1.0
        })
    }

    fn bucket(&self, start_m: f32) -> usize {
        let part = start_m / self.stream.length_m().max(1e-6);
        ((part * self.taken.len() as f32) as usize).min(self.taken.len() - 1)
    }
}
