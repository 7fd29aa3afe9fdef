//! The cage of the left leg, from the lowest row of the hips to the toes.

use super::cage::{Bind, Cage, Paint};
use super::rig::{BodyPart, HIPS, Side};
use Paint::{Shoe, Sole, Trousers};
use throng::glam::{Vec2, Vec3};

const UPPER_LEG: usize = Side::Left.of(BodyPart::UpperLeg);
const LOWER_LEG: usize = Side::Left.of(BodyPart::LowerLeg);
const FOOT: usize = Side::Left.of(BodyPart::Foot);
const TOES: usize = Side::Left.of(BodyPart::Toes);

/// A loop around the leg, in metres: centre, and half extent to the side and to the front.
struct LegLoop {
    center: Vec3,
    half: [f32; 2],
    bind: Bind<'static>,
    paint: Paint,
    sharp: bool,
    /// True if the foot joins at its front, which is then as wide as the foot.
    open: bool,
}

const fn leg(center: [f32; 3], half: [f32; 2], bind: Bind<'static>, paint: Paint) -> LegLoop {
    LegLoop {
        center: Vec3::from_array(center),
        half,
        bind,
        paint,
        sharp: false,
        open: false,
    }
}

#[rustfmt::skip]
const LEG_LOOPS: [LegLoop; 11] = [
    leg([0.092, 0.775, -0.006], [0.083, 0.096], &[(HIPS, 0.08), (UPPER_LEG, 0.92)], Trousers),
    leg([0.094, 0.660, -0.002], [0.077, 0.086], &[(UPPER_LEG, 1.0)], Trousers),
    leg([0.096, 0.562, 0.003], [0.068, 0.074], &[(UPPER_LEG, 0.94), (LOWER_LEG, 0.06)], Trousers),
    leg([0.096, 0.502, 0.006], [0.064, 0.070], &[(UPPER_LEG, 0.5), (LOWER_LEG, 0.5)], Trousers),
    leg([0.097, 0.442, 0.001], [0.062, 0.068], &[(UPPER_LEG, 0.06), (LOWER_LEG, 0.94)], Trousers),
    leg([0.098, 0.345, -0.012], [0.063, 0.070], &[(LOWER_LEG, 1.0)], Trousers),
    leg([0.100, 0.210, -0.014], [0.055, 0.060], &[(LOWER_LEG, 1.0)], Trousers),
    LegLoop { sharp: true, ..leg([0.100, 0.082, -0.016], [0.053, 0.058],
        &[(LOWER_LEG, 0.92), (FOOT, 0.08)], Trousers) },
    leg([0.100, 0.094, -0.018], [0.043, 0.052], &[(LOWER_LEG, 0.8), (FOOT, 0.2)], Trousers),
    leg([0.101, 0.074, -0.022], [0.044, 0.056], &[(LOWER_LEG, 0.25), (FOOT, 0.75)], Shoe),
    LegLoop { open: true, ..leg([0.101, 0.046, -0.024], [0.044, 0.058], &[(FOOT, 1.0)], Shoe) },
];
/// The last two loops of the heel: the upper edge of the sole, and the ground.
#[rustfmt::skip]
const HEEL_LOOPS: [LegLoop; 2] = [
    LegLoop { open: true, ..leg([0.101, 0.020, -0.026], [0.046, 0.062], &[(FOOT, 1.0)], Shoe) },
    LegLoop { open: true, sharp: true, ..leg([0.101, 0.000, -0.026], [0.045, 0.061],
        &[(FOOT, 1.0)], Sole) },
];

impl LegLoop {
    fn add(&self, cage: &mut Cage) -> Vec<usize> {
        let around = (2..8).map(|k| Vec2::from_angle(k as f32 * core::f32::consts::FRAC_PI_3));
        let [wide, deep] = self.half;
        let points = around.map(|v| {
            let front = if self.open && v.y > 0.1 {
                Vec2::new(1.75, 0.6)
            } else {
                Vec2::ONE
            };
            self.center + Vec3::new(v.x * wide * front.x * 1.1, 0.0, v.y * deep * front.y * 1.1)
        });
        let ring = cage.ring(points, self.bind);
        if self.sharp && self.open {
            cage.crease(&ring);
        } else if self.sharp {
            cage.crease_loop(&ring);
        }
        ring
    }
}

/// The row where the leg meets the trunk, front to back, and the point between the legs.
const GROIN: [[f32; 3]; 5] = [
    [0.0, 0.850, 0.070],
    [0.108, 0.862, 0.098],
    [0.186, 0.872, -0.006],
    [0.112, 0.845, -0.118],
    [0.0, 0.848, -0.090],
];
const CROTCH: Vec3 = Vec3::new(0.0, 0.812, -0.010);

/// Adds the leg and the foot below the lowest row of the trunk.
pub(super) fn add(cage: &mut Cage, hip: &[usize]) {
    let both: Bind<'_> = &[(HIPS, 0.8), (UPPER_LEG, 0.2)];
    let groin = cage.ring(GROIN.map(Vec3::from_array), both);
    for outer in &groin[1..4] {
        cage.bind(*outer, &[(HIPS, 0.5), (UPPER_LEG, 0.5)]);
    }
    cage.strip(&groin, hip, Trousers);
    let crotch = cage.point(CROTCH, both);
    let mut above = vec![groin[0], crotch, groin[4], groin[3], groin[2], groin[1]];
    let mut loops = Vec::new();
    for spec in &LEG_LOOPS {
        let here = spec.add(cage);
        if loops.len() + 1 == LEG_LOOPS.len() {
            // From here on, the last quad of the loops is left open for the foot.
            cage.strip(&above, &here, spec.paint);
        } else {
            cage.tube(&above, &here, spec.paint);
        }
        loops.push(here.clone());
        above = here;
    }
    let [edge, ground] = HEEL_LOOPS.map(|spec| {
        let here = spec.add(cage);
        cage.strip(&above, &here, spec.paint);
        above = here.clone();
        here
    });
    cage.face(&ground, Sole);
    let [top, middle] = [&loops[LEG_LOOPS.len() - 2], &loops[LEG_LOOPS.len() - 1]];
    add_foot(
        cage,
        vec![
            top[5], top[0], middle[0], edge[0], ground[0], ground[5], edge[5], middle[5],
        ],
    );
}

/// A loop around the foot, in metres.
///
/// - depth and offset to the side,
/// - half widths at the top and at the sole,
/// - heights of the top and of its sides.
struct FootLoop {
    z: f32,
    x: f32,
    half: [f32; 2],
    y: [f32; 2],
    bind: Bind<'static>,
}

#[rustfmt::skip]
const FOOT_LOOPS: [FootLoop; 4] = [
    FootLoop { z: 0.055, x: 0.103, half: [0.024, 0.044], y: [0.082, 0.048], bind: &[(FOOT, 1.0)] },
    FootLoop { z: 0.112, x: 0.107, half: [0.028, 0.051], y: [0.060, 0.040],
        bind: &[(FOOT, 0.5), (TOES, 0.5)] },
    FootLoop { z: 0.160, x: 0.108, half: [0.026, 0.047], y: [0.050, 0.036], bind: &[(TOES, 1.0)] },
    FootLoop { z: 0.196, x: 0.105, half: [0.020, 0.032], y: [0.038, 0.030], bind: &[(TOES, 1.0)] },
];

fn add_foot(cage: &mut Cage, opening: Vec<usize>) {
    let mut behind = opening;
    for spec in &FOOT_LOOPS {
        let [top, side] = spec.y;
        let [narrow, wide] = spec.half;
        let right = [(narrow, top), (wide, side), (wide, 0.020), (wide, 0.0)];
        let left = [(wide, 0.0), (wide, 0.020), (wide, side)];
        let outline = [(-narrow, top)]
            .into_iter()
            .chain(right[1..].iter().map(|(x, y)| (-x, *y)))
            .chain(left);
        let outline = core::iter::once((narrow, top)).chain(outline);
        let here = cage.ring(
            outline.map(|(x, y)| Vec3::new(spec.x + x, y, spec.z)),
            spec.bind,
        );
        for k in 0..8 {
            let paint = if (3..6).contains(&k) { Sole } else { Shoe };
            cage.strip(
                &[behind[k], behind[(k + 1) % 8]],
                &[here[k], here[(k + 1) % 8]],
                paint,
            );
        }
        for k in [4, 5] {
            cage.crease(&[behind[k], here[k]]);
        }
        behind = here;
    }
    cage.crease(&[behind[4], behind[5]]);
    cage.face(&[behind[0], behind[1], behind[2], behind[7]], Shoe);
    cage.face(&[behind[7], behind[2], behind[3], behind[6]], Shoe);
    cage.face(&[behind[6], behind[3], behind[4], behind[5]], Sole);
}
