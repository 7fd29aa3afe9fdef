//! A row of the trunk's and the head's cage.
//!
//! A row is the left half of a ring: five points from the front middle over the side to the back
//! middle.

use super::cage::{Bind, Cage, Paint};
use throng::glam::Vec3;

/// A row of the cage, in metres. The refinement shrinks it by about a tenth.
pub(super) struct Row {
    /// Heights at the front, at the side and at the back.
    y: [f32; 3],
    /// Half of the width.
    width: f32,
    /// Depth at the front and at the back.
    z: [f32; 2],
    /// Positions of the points between front and side and between side and back.
    ///
    /// They are fractions of the width and of the depth.
    quarter: [f32; 2],
    pub(super) bind: Bind<'static>,
    /// Paint of the faces below.
    pub(super) paint: Paint,
    /// True if its edge stays sharp.
    sharp: bool,
}

pub(super) const fn row(
    y: [f32; 3],
    width: f32,
    z: [f32; 2],
    quarter: [f32; 2],
    bind: Bind<'static>,
    paint: Paint,
) -> Row {
    Row {
        y,
        width,
        z,
        quarter,
        bind,
        paint,
        sharp: false,
    }
}

pub(super) const fn sharp(row: Row) -> Row {
    Row { sharp: true, ..row }
}

impl Row {
    pub(super) fn points(&self) -> [Vec3; 5] {
        let [front, side, back] = self.y;
        let [near, far] = self.z;
        let [kx, kz] = self.quarter;
        let middle = 0.5 * (near + far);
        let at = |z: f32| middle + kz * (z - middle);
        [
            Vec3::new(0.0, front, near),
            Vec3::new(kx * self.width, front + 0.45 * (side - front), at(near)),
            Vec3::new(self.width, side, middle),
            Vec3::new(kx * self.width, back + 0.28 * (side - back), at(far)),
            Vec3::new(0.0, back, far),
        ]
    }
}

/// Adds the row's points.
pub(super) fn add_row(cage: &mut Cage, row: &Row) -> Vec<usize> {
    let ring = cage.ring(row.points(), row.bind);
    if row.sharp {
        cage.crease(&ring);
    }
    ring
}
