//! Points of a surface in several poses, four poses at once.

use crate::character::levels::surface::SurfacePoint;
use glam::{Vec3A, Vec4};

/// The number of poses.
pub(super) const POSES: usize = 36;
const FOURS: usize = POSES / 4;

/// One point in all poses, in metres.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Track {
    x: [Vec4; FOURS],
    y: [Vec4; FOURS],
    z: [Vec4; FOURS],
}

impl Track {
    /// The point at these positions.
    pub(super) fn new(at: impl Fn(usize) -> Vec3A) -> Self {
        let mut track = Self::default();
        for pose in 0..POSES {
            track.set(pose, at(pose));
        }
        track
    }

    pub(super) fn set(&mut self, pose: usize, at: Vec3A) {
        let (four, lane) = (pose / 4, pose % 4);
        self.x[four][lane] = at.x;
        self.y[four][lane] = at.y;
        self.z[four][lane] = at.z;
    }

    #[inline]
    pub(super) fn at(&self, pose: usize) -> Vec3A {
        let (four, lane) = (pose / 4, pose % 4);
        Vec3A::new(self.x[four][lane], self.y[four][lane], self.z[four][lane])
    }

    /// Adds another point, times a factor.
    #[inline]
    pub(super) fn add(&mut self, other: &Self, factor: f32) {
        for at in 0..FOURS {
            self.x[at] += other.x[at] * factor;
            self.y[at] += other.y[at] * factor;
            self.z[at] += other.z[at] * factor;
        }
    }

    /// A point of a surface whose vertices have these tracks.
    #[inline]
    pub(super) fn of(point: &SurfacePoint, tracks: &[Self]) -> Self {
        let mut track = Self::default();
        for (corner, weight) in point.parts() {
            track.add(&tracks[corner as usize], weight);
        }
        track
    }

    /// The largest squared distance between this and a point of a triangle in any pose, or a
    /// number that is not less than `least`, if that is none.
    #[inline]
    pub(super) fn distance_squared(
        &self,
        [a, b, c]: [&Self; 3],
        [u, v, w]: [f32; 3],
        least: f32,
    ) -> f32 {
        let mut most = 0.0;
        for at in 0..FOURS {
            let x = a.x[at] * u + b.x[at] * v + c.x[at] * w - self.x[at];
            let y = a.y[at] * u + b.y[at] * v + c.y[at] * w - self.y[at];
            let z = a.z[at] * u + b.z[at] * v + c.z[at] * w - self.z[at];
            most = (x * x + y * y + z * z).max_element().max(most);
            if most >= least {
                break;
            }
        }
        most
    }
}
