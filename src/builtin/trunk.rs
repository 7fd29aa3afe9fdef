//! The cage of trunk, neck and head: the left half, as open rows of five points from the front
//! middle over the side to the back middle.

use super::cage::{Bind, Cage, Paint};
use super::rig::{CHEST, HEAD, HIPS, NECK, Part, SPINE, Side, UPPER_CHEST};
use glam::Vec3;

const SHOULDER: usize = 7;
const UPPER_LEG: usize = 28;

/// A row of the cage, metres. The refinement draws it in by about a tenth.
struct Row {
    /// Heights at the front, the side and the back.
    y: [f32; 3],
    /// Half of the width.
    width: f32,
    /// Depth at the front and at the back.
    z: [f32; 2],
    /// Where the points between front and side and between side and back stand: parts of the width,
    /// and of the depth.
    quarter: [f32; 2],
    bind: Bind<'static>,
    /// Of the faces below.
    paint: Paint,
    /// Whether its edge stays sharp.
    sharp: bool,
}

const fn row(y: [f32; 3], width: f32, z: [f32; 2], quarter: [f32; 2], bind: Bind<'static>, paint: Paint) -> Row {
    Row { y, width, z, quarter, bind, paint, sharp: false }
}

const fn sharp(row: Row) -> Row {
    Row { sharp: true, ..row }
}

impl Row {
    fn points(&self) -> [Vec3; 5] {
        let [front, side, back] = self.y;
        let [near, far] = self.z;
        let [kx, kz] = self.quarter;
        let middle = 0.5 * (near + far);
        let at = |z: f32| middle + kz * (z - middle);
        [
            Vec3::new(0.0, front, near),
            Vec3::new(kx * self.width, front + 0.45 * (side - front), at(near)),
            Vec3::new(self.width, side, middle),
            Vec3::new(kx * self.width, back + 0.45 * (side - back), at(far)),
            Vec3::new(0.0, back, far),
        ]
    }
}

use Paint::{Hair, Shirt, Skin, Trousers};

/// From the hips to the lower end of the arm's hole.
const WAIST: [Row; 7] = [
    row([0.925; 3], 0.180, [0.108, -0.128], [0.72, 0.78], &[(HIPS, 1.0)], Trousers),
    row([0.978; 3], 0.170, [0.108, -0.118], [0.74, 0.76], &[(HIPS, 1.0)], Trousers),
    sharp(row([0.975; 3], 0.178, [0.115, -0.124], [0.74, 0.76], &[(HIPS, 1.0)], Shirt)),
    row([1.045; 3], 0.160, [0.112, -0.110], [0.74, 0.76], &[(HIPS, 0.6), (SPINE, 0.4)], Shirt),
    row([1.125; 3], 0.150, [0.108, -0.102], [0.74, 0.76], &[(SPINE, 0.75), (CHEST, 0.15), (HIPS, 0.1)], Shirt),
    row([1.210; 3], 0.162, [0.116, -0.116], [0.74, 0.78], &[(SPINE, 0.2), (CHEST, 0.7), (UPPER_CHEST, 0.1)], Shirt),
    row([1.290, 1.285, 1.295], 0.172, [0.126, -0.132], [0.76, 0.80], &[(CHEST, 0.45), (UPPER_CHEST, 0.55)], Shirt),
];

/// The rows beside the arm's hole; their side points are left out in the lower one.
const BESIDE_ARM: [Row; 2] = [
    row([1.365; 3], 0.186, [0.120, -0.138], [0.82, 0.76], &[(UPPER_CHEST, 1.0)], Shirt),
    row([1.428, 1.462, 1.455], 0.176, [0.076, -0.112], [0.82, 0.72], &[(UPPER_CHEST, 0.9), (NECK, 0.1)], Shirt),
];

/// From the shoulders to the crown.
const NECK_AND_HEAD: [Row; 11] = [
    row([1.452, 1.486, 1.486], 0.092, [0.056, -0.096], [0.74, 0.72], &[(UPPER_CHEST, 0.8), (NECK, 0.2)], Shirt),
    sharp(row([1.458, 1.497, 1.502], 0.070, [0.046, -0.084], [0.72, 0.72], &[(UPPER_CHEST, 0.6), (NECK, 0.4)], Shirt)),
    row([1.455, 1.494, 1.499], 0.063, [0.040, -0.078], [0.72, 0.72], &[(UPPER_CHEST, 0.45), (NECK, 0.55)], Skin),
    row([1.520, 1.540, 1.545], 0.058, [0.044, -0.070], [0.74, 0.74], &[(NECK, 0.7), (HEAD, 0.3)], Skin),
    row([1.528, 1.568, 1.572], 0.068, [0.098, -0.082], [0.72, 0.76], &[(NECK, 0.15), (HEAD, 0.85)], Skin),
    row([1.556, 1.592, 1.598], 0.076, [0.112, -0.096], [0.74, 0.76], HEAD_ONLY, Skin),
    row([1.592, 1.616, 1.625], 0.082, [0.112, -0.108], [0.76, 0.76], HEAD_ONLY, Skin),
    row([1.630, 1.644, 1.655], 0.085, [0.110, -0.116], [0.78, 0.76], HEAD_ONLY, Skin),
    row([1.668, 1.680, 1.690], 0.086, [0.113, -0.118], [0.78, 0.76], HEAD_ONLY, Skin),
    row([1.712, 1.722, 1.728], 0.083, [0.106, -0.110], [0.76, 0.76], HEAD_ONLY, Skin),
    row([1.755, 1.755, 1.752], 0.058, [0.066, -0.070], [0.74, 0.74], HEAD_ONLY, Hair),
];
const HEAD_ONLY: Bind<'static> = &[(HEAD, 1.0)];
/// The first row of [`NECK_AND_HEAD`] above which each of the four columns is hair.
const HAIRLINE: [usize; 4] = [9, 8, 6, 4];
/// How thick the hair is, metres.
const HAIR_M: f32 = 0.011;
const CROWN: Vec3 = Vec3::new(0.0, 1.772, -0.004);

/// What the trunk leaves open for the limbs on the left.
pub(super) struct Openings {
    /// Eight points, the front lower one first, then over the bottom and the back.
    pub(super) arm: Vec<usize>,
    /// The lowest row, front to back.
    pub(super) hip: Vec<usize>,
}

/// Adds the left half of the trunk and the head.
pub(super) fn add(cage: &mut Cage) -> Openings {
    let waist: Vec<_> = WAIST.iter().map(|row| add_row(cage, row)).collect();
    for (below, above) in waist.windows(2).zip(&WAIST[1..]).map(|(rows, row)| ((&rows[0], &rows[1]), row.paint)).map(|(rows, paint)| ((rows.0.clone(), rows.1.clone()), paint)) {
        cage.strip(&below.0, &below.1, above);
    }
    cage.bind(waist[0][2], &[(HIPS, 0.75), (UPPER_LEG, 0.25)]);
    let low = waist[WAIST.len() - 1].clone();
    cage.bind(low[2], &[(CHEST, 0.35), (UPPER_CHEST, 0.65)]);

    let middle = add_row_without_side(cage, &BESIDE_ARM[0]);
    let high = add_row(cage, &BESIDE_ARM[1]);
    for (a, b) in [(&low, &middle), (&middle, &high)] {
        cage.strip(&a[..2], &b[..2], Shirt);
        cage.strip(&a[3..], &b[3..], Shirt);
    }
    for quarter in [middle[1], middle[3]] {
        cage.bind(quarter, &[(UPPER_CHEST, 0.75), (SHOULDER, 0.25)]);
    }
    for quarter in [high[1], high[3]] {
        cage.bind(quarter, &[(UPPER_CHEST, 0.6), (SHOULDER, 0.4)]);
    }
    cage.bind(high[2], &[(UPPER_CHEST, 0.3), (SHOULDER, 0.6), (Side::Left.of(Part::UpperArmTwist), 0.1)]);
    add_head(cage, &high);
    Openings {
        arm: vec![low[1], low[2], low[3], middle[3], high[3], high[2], high[1], middle[1]],
        hip: waist[0].clone(),
    }
}

fn add_row(cage: &mut Cage, row: &Row) -> Vec<usize> {
    let ring = cage.ring(row.points(), row.bind);
    if row.sharp {
        cage.crease(&ring);
    }
    ring
}

/// Index 2 of the result repeats index 1: nothing may use it.
fn add_row_without_side(cage: &mut Cage, row: &Row) -> Vec<usize> {
    let [front, quarter, _, rear, back] = row.points();
    let ring = cage.ring([front, quarter, rear, back], row.bind);
    vec![ring[0], ring[1], ring[1], ring[2], ring[3]]
}

fn add_head(cage: &mut Cage, shoulders: &[usize]) {
    let mut below = shoulders.to_vec();
    for (index, row) in NECK_AND_HEAD.iter().enumerate() {
        let here = add_row(cage, row);
        for column in 0..4 {
            let paint = if index > HAIRLINE[column] { Hair } else { row.paint };
            cage.strip(&below[column..column + 2], &here[column..column + 2], paint);
        }
        below = here;
    }
    let crown = cage.point(CROWN, HEAD_ONLY);
    for column in [0, 2] {
        cage.face(&[below[column], below[column + 1], below[column + 2], crown], Hair);
    }
    let _ = HAIR_M;
}

/// Ear, eye and brow on the left; call before mirroring.
pub(super) fn add_face(cage: &mut Cage) {
    let ear = [Vec3::new(0.009, 0.0, 0.004), Vec3::new(0.003, 0.031, -0.006), Vec3::new(-0.004, 0.004, 0.018)];
    cage.blob(Vec3::new(0.080, 1.637, -0.008), ear, HEAD_ONLY, Skin);
    let eye = [Vec3::new(0.0125, 0.0, -0.004), Vec3::Y * 0.0125, Vec3::new(0.002, 0.0, 0.007)];
    cage.blob(Vec3::new(0.034, 1.642, 0.092), eye, HEAD_ONLY, Paint::Eye);
    let brow = [Vec3::new(0.019, -0.002, -0.007), Vec3::new(0.0, 0.0038, 0.0), Vec3::new(0.002, 0.0, 0.007)];
    cage.blob(Vec3::new(0.036, 1.668, 0.093), brow, HEAD_ONLY, Hair);
}

/// The nose; call after mirroring.
pub(super) fn add_nose(cage: &mut Cage) {
    let nose = [Vec3::X * 0.0125, Vec3::new(0.0, 0.024, -0.008), Vec3::new(0.0, -0.004, 0.017)];
    cage.blob(Vec3::new(0.0, 1.618, 0.106), nose, HEAD_ONLY, Skin);
}
