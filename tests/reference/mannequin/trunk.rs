//! The left half of the trunk's cage, as open rows.

use super::cage::{Cage, Paint};
use super::rig::{BodyPart, CHEST, HIPS, NECK, SPINE, Side, UPPER_CHEST};
use super::row::{Row, add_row, row, sharp};
use Paint::{Shirt, Trousers};

const SHOULDER: usize = Side::Left.of(BodyPart::Shoulder);
const UPPER_TWIST: usize = Side::Left.of(BodyPart::UpperArmTwist);
const UPPER_LEG: usize = Side::Left.of(BodyPart::UpperLeg);

/// The rows from the hips to the lower end of the arm's opening.
#[rustfmt::skip]
const WAIST: [Row; 7] = [
    row([0.925; 3], 0.180, [0.108, -0.128], [0.72, 0.78], &[(HIPS, 1.0)], Trousers),
    row([0.978; 3], 0.170, [0.108, -0.118], [0.74, 0.76], &[(HIPS, 1.0)], Trousers),
    sharp(row([0.975; 3], 0.178, [0.115, -0.124], [0.74, 0.76], &[(HIPS, 1.0)], Shirt)),
    row([1.045; 3], 0.160, [0.112, -0.110], [0.74, 0.76], &[(HIPS, 0.6), (SPINE, 0.4)], Shirt),
    row([1.125; 3], 0.150, [0.108, -0.102], [0.74, 0.76],
        &[(SPINE, 0.75), (CHEST, 0.15), (HIPS, 0.1)], Shirt),
    row([1.210; 3], 0.162, [0.116, -0.116], [0.74, 0.78],
        &[(SPINE, 0.2), (CHEST, 0.7), (UPPER_CHEST, 0.1)], Shirt),
    row([1.290, 1.285, 1.295], 0.172, [0.126, -0.132], [0.76, 0.80],
        &[(CHEST, 0.45), (UPPER_CHEST, 0.55)], Shirt),
];

/// The rows beside the arm's opening. The lower one has no side points.
#[rustfmt::skip]
const BESIDE_ARM: [Row; 2] = [
    row([1.365; 3], 0.186, [0.120, -0.138], [0.82, 0.76], &[(UPPER_CHEST, 1.0)], Shirt),
    row([1.428, 1.462, 1.455], 0.176, [0.076, -0.112], [0.82, 0.72],
        &[(UPPER_CHEST, 0.9), (NECK, 0.1)], Shirt),
];

/// The open edges of the left half of the trunk.
pub(super) struct Openings {
    /// Eight points: the front lower one first, then over the bottom and the back.
    pub(super) arm: Vec<usize>,
    /// The lowest row, front to back.
    pub(super) hip: Vec<usize>,
    /// The highest row, front to back.
    pub(super) shoulders: Vec<usize>,
}

/// Adds the left half of the trunk.
pub(super) fn add(cage: &mut Cage) -> Openings {
    let waist: Vec<_> = WAIST.iter().map(|row| add_row(cage, row)).collect();
    for (rows, above) in waist.windows(2).zip(&WAIST[1..]) {
        cage.strip(&rows[0], &rows[1], above.paint);
    }
    cage.bind(waist[0][2], &[(HIPS, 0.75), (UPPER_LEG, 0.25)]);
    let low = waist[WAIST.len() - 1].clone();
    cage.bind(
        low[2],
        &[(CHEST, 0.30), (UPPER_CHEST, 0.52), (UPPER_TWIST, 0.18)],
    );

    let middle = add_row_without_side(cage, &BESIDE_ARM[0]);
    let high = add_row(cage, &BESIDE_ARM[1]);
    for (a, b) in [(&low, &middle), (&middle, &high)] {
        cage.strip(&a[..2], &b[..2], Shirt);
        cage.strip(&a[3..], &b[3..], Shirt);
    }
    for quarter in [middle[1], middle[3]] {
        cage.bind(
            quarter,
            &[(UPPER_CHEST, 0.66), (SHOULDER, 0.22), (UPPER_TWIST, 0.12)],
        );
    }
    for quarter in [high[1], high[3]] {
        cage.bind(
            quarter,
            &[(UPPER_CHEST, 0.50), (SHOULDER, 0.36), (UPPER_TWIST, 0.14)],
        );
    }
    cage.bind(
        high[2],
        &[(UPPER_CHEST, 0.28), (SHOULDER, 0.46), (UPPER_TWIST, 0.26)],
    );
    Openings {
        arm: vec![
            low[1], low[2], low[3], middle[3], high[3], high[2], high[1], middle[1],
        ],
        hip: waist[0].clone(),
        shoulders: high,
    }
}

/// Adds the row's points, except for the side point.
///
/// Index 2 of the result repeats index 1, and must not be used.
fn add_row_without_side(cage: &mut Cage, row: &Row) -> Vec<usize> {
    let [front, quarter, _, rear, back] = row.points();
    let ring = cage.ring([front, quarter, rear, back], row.bind);
    vec![ring[0], ring[1], ring[1], ring[2], ring[3]]
}
