//! The cage of trunk, neck and head: the left half, as open rows of five points from the front
//! middle over the side to the back middle.

use super::cage::{Bind, Cage, Paint};
use super::rig::{CHEST, HEAD, HIPS, NECK, Part, SPINE, Side, UPPER_CHEST};
use Paint::{Hair, Shirt, Skin, Trousers};
use glam::Vec3;

const SHOULDER: usize = Side::Left.of(Part::Shoulder);
const UPPER_TWIST: usize = Side::Left.of(Part::UpperArmTwist);
const UPPER_LEG: usize = Side::Left.of(Part::UpperLeg);

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

const fn row(
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

/// From the hips to the lower end of the arm's hole.
const WAIST: [Row; 7] = [
    row(
        [0.925; 3],
        0.180,
        [0.108, -0.128],
        [0.72, 0.78],
        &[(HIPS, 1.0)],
        Trousers,
    ),
    row(
        [0.978; 3],
        0.170,
        [0.108, -0.118],
        [0.74, 0.76],
        &[(HIPS, 1.0)],
        Trousers,
    ),
    sharp(row(
        [0.975; 3],
        0.178,
        [0.115, -0.124],
        [0.74, 0.76],
        &[(HIPS, 1.0)],
        Shirt,
    )),
    row(
        [1.045; 3],
        0.160,
        [0.112, -0.110],
        [0.74, 0.76],
        &[(HIPS, 0.6), (SPINE, 0.4)],
        Shirt,
    ),
    row(
        [1.125; 3],
        0.150,
        [0.108, -0.102],
        [0.74, 0.76],
        &[(SPINE, 0.75), (CHEST, 0.15), (HIPS, 0.1)],
        Shirt,
    ),
    row(
        [1.210; 3],
        0.162,
        [0.116, -0.116],
        [0.74, 0.78],
        &[(SPINE, 0.2), (CHEST, 0.7), (UPPER_CHEST, 0.1)],
        Shirt,
    ),
    row(
        [1.290, 1.285, 1.295],
        0.172,
        [0.126, -0.132],
        [0.76, 0.80],
        &[(CHEST, 0.45), (UPPER_CHEST, 0.55)],
        Shirt,
    ),
];

/// The rows beside the arm's hole; their side points are left out in the lower one.
const BESIDE_ARM: [Row; 2] = [
    row(
        [1.365; 3],
        0.186,
        [0.120, -0.138],
        [0.82, 0.76],
        &[(UPPER_CHEST, 1.0)],
        Shirt,
    ),
    row(
        [1.428, 1.462, 1.455],
        0.176,
        [0.076, -0.112],
        [0.82, 0.72],
        &[(UPPER_CHEST, 0.9), (NECK, 0.1)],
        Shirt,
    ),
];

/// From the shoulders to the crown. The hairline runs along a row, high in front and low behind.
const NECK_AND_HEAD: [Row; 15] = [
    row(
        [1.452, 1.486, 1.486],
        0.092,
        [0.056, -0.096],
        [0.74, 0.72],
        &[(UPPER_CHEST, 0.8), (NECK, 0.2)],
        Shirt,
    ),
    sharp(row(
        [1.458, 1.497, 1.502],
        0.070,
        [0.044, -0.086],
        [0.72, 0.72],
        &[(UPPER_CHEST, 0.6), (NECK, 0.4)],
        Shirt,
    )),
    row(
        [1.455, 1.494, 1.499],
        0.062,
        [0.037, -0.079],
        [0.72, 0.72],
        &[(UPPER_CHEST, 0.45), (NECK, 0.55)],
        Skin,
    ),
    row(
        [1.517, 1.534, 1.532],
        0.057,
        [0.030, -0.075],
        [0.74, 0.74],
        &[(NECK, 0.7), (HEAD, 0.3)],
        Skin,
    ),
    row(
        [1.526, 1.558, 1.545],
        0.066,
        [0.082, -0.083],
        [0.74, 0.76],
        &[(NECK, 0.15), (HEAD, 0.85)],
        Skin,
    ),
    row(
        [1.540, 1.576, 1.553],
        0.075,
        [0.117, -0.088],
        [0.68, 0.76],
        HEAD_ONLY,
        Skin,
    ),
    row(
        [1.570, 1.598, 1.560],
        0.082,
        [0.119, -0.092],
        [0.72, 0.76],
        HEAD_ONLY,
        Skin,
    ),
    row(
        [1.604, 1.620, 1.567],
        0.087,
        [0.116, -0.096],
        [0.76, 0.77],
        HEAD_ONLY,
        Skin,
    ),
    row(
        [1.640, 1.642, 1.574],
        0.089,
        [0.113, -0.099],
        [0.78, 0.78],
        HEAD_ONLY,
        Skin,
    ),
    row(
        [1.678, 1.660, 1.581],
        0.090,
        [0.118, -0.102],
        [0.78, 0.79],
        HEAD_ONLY,
        Skin,
    ),
    row(
        [1.726, 1.682, 1.588],
        0.090,
        [0.113, -0.105],
        [0.78, 0.80],
        HEAD_ONLY,
        Skin,
    ),
    sharp(row(
        [1.724, 1.679, 1.584],
        0.0945,
        [0.119, -0.111],
        [0.78, 0.80],
        HEAD_ONLY,
        Hair,
    )),
    row(
        [1.748, 1.720, 1.655],
        0.0965,
        [0.119, -0.134],
        [0.78, 0.78],
        HEAD_ONLY,
        Hair,
    ),
    row(
        [1.774, 1.758, 1.728],
        0.087,
        [0.098, -0.124],
        [0.77, 0.76],
        HEAD_ONLY,
        Hair,
    ),
    row(
        [1.792, 1.787, 1.775],
        0.055,
        [0.056, -0.072],
        [0.74, 0.74],
        HEAD_ONLY,
        Hair,
    ),
];
const HEAD_ONLY: Bind<'static> = &[(HEAD, 1.0)];
const CROWN: Vec3 = Vec3::new(0.0, 1.796, -0.008);

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
    for (rows, above) in waist.windows(2).zip(&WAIST[1..]) {
        cage.strip(&rows[0], &rows[1], above.paint);
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
    cage.bind(
        high[2],
        &[(UPPER_CHEST, 0.3), (SHOULDER, 0.6), (UPPER_TWIST, 0.1)],
    );
    add_head(cage, &high);
    Openings {
        arm: vec![
            low[1], low[2], low[3], middle[3], high[3], high[2], high[1], middle[1],
        ],
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
    for row in &NECK_AND_HEAD {
        let here = add_row(cage, row);
        cage.strip(&below, &here, row.paint);
        below = here;
    }
    let crown = cage.point(CROWN, HEAD_ONLY);
    for column in [0, 2] {
        cage.face(
            &[below[column], below[column + 1], below[column + 2], crown],
            Hair,
        );
    }
}

/// Ear, eye, brow and half of the mouth on the left; call before mirroring.
pub(super) fn add_face(cage: &mut Cage) {
    let ear = [
        Vec3::new(0.009, 0.0, 0.005),
        Vec3::new(0.004, 0.029, -0.007),
        Vec3::new(-0.005, 0.004, 0.017),
    ];
    cage.blob(Vec3::new(0.086, 1.640, -0.006), ear, HEAD_ONLY, Skin);
    let eye = [
        Vec3::new(0.0122, 0.0, -0.004),
        Vec3::Y * 0.0145,
        Vec3::new(0.002, 0.0, 0.006),
    ];
    cage.blob(Vec3::new(0.036, 1.647, 0.1005), eye, HEAD_ONLY, Paint::Eye);
    let brow = [
        Vec3::new(0.018, 0.0006, -0.006),
        Vec3::new(0.0, 0.0042, 0.0),
        Vec3::new(0.002, 0.0, 0.007),
    ];
    cage.blob(Vec3::new(0.037, 1.677, 0.1005), brow, HEAD_ONLY, Hair);
    let mouth = [
        Vec3::new(0.0135, 0.0030, -0.0022),
        Vec3::new(-0.0008, 0.0036, 0.0),
        Vec3::new(0.001, 0.0, 0.006),
    ];
    cage.blob(
        Vec3::new(0.0098, 1.5755, 0.107),
        mouth,
        HEAD_ONLY,
        Paint::Lips,
    );
}

/// The nose; call after mirroring.
pub(super) fn add_nose(cage: &mut Cage) {
    let nose = [
        Vec3::X * 0.0145,
        Vec3::new(0.0, 0.021, -0.007),
        Vec3::new(0.0, -0.004, 0.014),
    ];
    cage.blob(Vec3::new(0.0, 1.618, 0.110), nose, HEAD_ONLY, Skin);
}
