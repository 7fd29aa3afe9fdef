//! Lanes: closed paths through the crowd, on which nobody turns back.

use std::f32::consts::TAU;

use throng::glam::Vec2;

/// Number of points of a loop.
const STEPS: usize = 256;

/// A loop around the middle: a circle, bent enough that it does not look like one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) radius_m: f32,
    pub(crate) phases: [f32; 2],
}

impl Loop {
    /// Distance from the middle, in the direction of `angle`.
    pub(crate) fn radius_at(&self, angle: f32) -> f32 {
        let [two, three] = self.phases;
        let bend = 0.08 * (2.0 * angle + two).sin() + 0.01 * (3.0 * angle + three).sin();
        self.radius_m * (1.0 + bend)
    }

    fn at(&self, angle: f32, offset_m: f32) -> Vec2 {
        Vec2::from_angle(angle) * (self.radius_at(angle) + offset_m)
    }
}

/// A path that runs beside a loop, all the way around.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    around: Loop,
    /// Distance from the loop.
    offset_m: f32,
    /// Distance along the lane to each of its points, and the total length, in metres.
    arc_m: Vec<f32>,
    /// Direction: 1, or -1 for clockwise as seen from above.
    turn: f32,
}

impl Lane {
    pub(crate) fn new(around: Loop, offset_m: f32, back: bool) -> Self {
        let mut arc_m = vec![0.0];
        let mut length = 0.0;
        for step in 0..STEPS {
            let [from, to] = [step, step + 1].map(|step| around.at(angle(step as f32), offset_m));
            length += from.distance(to);
            arc_m.push(length);
        }
        Self {
            around,
            offset_m,
            arc_m,
            turn: if back { -1.0 } else { 1.0 },
        }
    }

    pub(crate) fn length_m(&self) -> f32 {
        self.arc_m.last().copied().unwrap_or(0.0).max(1e-3)
    }

    /// The position (x, z) and direction at this distance along the lane.
    pub(crate) fn at(&self, way_m: f64) -> (Vec2, Vec2) {
        let along = way_m * f64::from(self.turn);
        let along = along.rem_euclid(self.length_m().into()) as f32;
        let next = self.arc_m.partition_point(|m| *m <= along).clamp(1, STEPS);
        let (from_m, to_m) = (self.arc_m[next - 1], self.arc_m[next]);
        let part = ((along - from_m) / (to_m - from_m).max(1e-6)).clamp(0.0, 1.0);
        let angle = angle((next - 1) as f32 + part);
        let at = |angle| self.around.at(angle, self.offset_m);
        let forward = (at(angle + 1e-2) - at(angle - 1e-2)).normalize_or(Vec2::Y);
        (at(angle), forward * self.turn)
    }

    /// Points at this distance outside of the lane.
    pub(crate) fn edge(&self, beside_m: f32) -> impl Iterator<Item = Vec2> {
        (0..STEPS).map(move |step| self.around.at(angle(step as f32), self.offset_m + beside_m))
    }
}

fn angle(step: f32) -> f32 {
    step / STEPS as f32 * TAU
}
