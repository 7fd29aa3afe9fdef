//! Lanes: closed ways through the crowd, on which walkers never meet and never turn back.

use std::f32::consts::TAU;

use throng::glam::Vec2;

/// Points of a lane.
const STEPS: usize = 256;

/// A loop around the middle: a circle, somewhat bent, so that nobody takes it for one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) radius: f32,
    pub(crate) phases: [f32; 2],
}

impl Loop {
    /// Distance from the middle, in the direction of `angle`.
    pub(crate) fn radius_at(&self, angle: f32) -> f32 {
        let [two, three] = self.phases;
        self.radius * (1.0 + 0.09 * (2.0 * angle + two).sin() + 0.04 * (3.0 * angle + three).sin())
    }
}

/// A lane beside the middle of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    points: Vec<Vec2>,
    /// Metres from the first point to each, and around.
    arc_m: Vec<f32>,
    /// Negative: clockwise seen from above.
    pub(crate) speed_m_s: f32,
}

impl Lane {
    pub(crate) fn new(around: &Loop, offset_m: f32, speed_m_s: f32) -> Self {
        let at = |step: usize| {
            let angle = step as f32 / STEPS as f32 * TAU;
            Vec2::from_angle(angle) * (around.radius_at(angle) + offset_m)
        };
        let points: Vec<Vec2> = (0..=STEPS).map(at).collect();
        let mut arc_m = vec![0.0];
        let mut length = 0.0;
        for pair in points.windows(2) {
            if let [from, to] = pair {
                length += from.distance(*to);
                arc_m.push(length);
            }
        }
        Self {
            points,
            arc_m,
            speed_m_s,
        }
    }

    pub(crate) fn length_m(&self) -> f32 {
        self.arc_m.last().copied().unwrap_or(0.0)
    }

    /// The place (x, z) and the direction of travel of one who started at `start_m`.
    pub(crate) fn at(&self, start_m: f32, time_s: f64) -> (Vec2, Vec2) {
        let length = f64::from(self.length_m()).max(1e-3);
        let along = f64::from(start_m) + time_s * f64::from(self.speed_m_s);
        let along = along.rem_euclid(length) as f32;
        let next = self.arc_m.partition_point(|m| *m <= along).clamp(1, STEPS);
        let (from_m, to_m) = (self.arc_m[next - 1], self.arc_m[next]);
        let (from, to) = (self.points[next - 1], self.points[next]);
        let u = ((along - from_m) / (to_m - from_m).max(1e-6)).clamp(0.0, 1.0);
        // Between the directions at both ends, so that nobody turns by jerks.
        let direction = self.direction(next - 1).lerp(self.direction(next), u);
        (
            from.lerp(to, u),
            direction.normalize_or(Vec2::Y) * self.speed_m_s.signum(),
        )
    }

    /// Along the lane at a point.
    fn direction(&self, point: usize) -> Vec2 {
        let point = point % STEPS;
        let before = self.points[(point + STEPS - 1) % STEPS];
        (self.points[(point + 1) % STEPS] - before).normalize_or(Vec2::Y)
    }

    pub(crate) fn points(&self) -> &[Vec2] {
        &self.points
    }
}
