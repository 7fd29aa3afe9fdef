//! The cage of neck and head (the left half) and the parts of the face.

use super::cage::{Bind, Cage, Paint};
use super::rig::{HEAD, NECK, UPPER_CHEST};
use super::row::{Row, add_row, row, sharp};
use Paint::{Hair, Shirt, Skin};
use throng::glam::Vec3;

/// The rows from the shoulders to the crown.
///
/// The hairline runs along a row that is high in front and low behind.
#[rustfmt::skip]
const NECK_AND_HEAD: [Row; 15] = [
    row([1.452, 1.486, 1.486], 0.092, [0.056, -0.096], [0.74, 0.72],
        &[(UPPER_CHEST, 0.8), (NECK, 0.2)], Shirt),
    sharp(row([1.458, 1.497, 1.502], 0.070, [0.044, -0.086], [0.72, 0.72],
        &[(UPPER_CHEST, 0.6), (NECK, 0.4)], Shirt)),
    row([1.455, 1.494, 1.499], 0.062, [0.037, -0.079], [0.72, 0.72],
        &[(UPPER_CHEST, 0.45), (NECK, 0.55)], Skin),
    row([1.517, 1.534, 1.532], 0.057, [0.030, -0.075], [0.74, 0.74],
        &[(NECK, 0.7), (HEAD, 0.3)], Skin),
    row([1.526, 1.558, 1.545], 0.066, [0.082, -0.083], [0.74, 0.76],
        &[(NECK, 0.15), (HEAD, 0.85)], Skin),
    row([1.540, 1.576, 1.553], 0.075, [0.117, -0.088], [0.68, 0.76], HEAD_ONLY, Skin),
    row([1.570, 1.598, 1.560], 0.082, [0.119, -0.092], [0.72, 0.76], HEAD_ONLY, Skin),
    row([1.604, 1.620, 1.567], 0.087, [0.116, -0.096], [0.76, 0.77], HEAD_ONLY, Skin),
    row([1.640, 1.642, 1.574], 0.089, [0.113, -0.099], [0.78, 0.78], HEAD_ONLY, Skin),
    row([1.678, 1.660, 1.581], 0.090, [0.118, -0.102], [0.78, 0.79], HEAD_ONLY, Skin),
    row([1.726, 1.682, 1.588], 0.090, [0.113, -0.105], [0.78, 0.80], HEAD_ONLY, Skin),
    sharp(row([1.724, 1.679, 1.584], 0.0945, [0.119, -0.111], [0.78, 0.80], HEAD_ONLY, Hair)),
    row([1.748, 1.720, 1.655], 0.0965, [0.119, -0.134], [0.78, 0.78], HEAD_ONLY, Hair),
    row([1.774, 1.758, 1.728], 0.087, [0.098, -0.124], [0.77, 0.76], HEAD_ONLY, Hair),
    row([1.792, 1.787, 1.775], 0.055, [0.056, -0.072], [0.74, 0.74], HEAD_ONLY, Hair),
];
const HEAD_ONLY: Bind<'static> = &[(HEAD, 1.0)];
const CROWN: Vec3 = Vec3::new(0.0, 1.796, -0.008);

/// Continues the trunk from its highest row to the crown.
pub(super) fn add(cage: &mut Cage, shoulders: &[usize]) {
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

/// Adds the left ear, eye, brow and half of the mouth. Call this before mirroring.
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

/// Adds the nose. Call this after mirroring.
pub(super) fn add_nose(cage: &mut Cage) {
    let nose = [
        Vec3::X * 0.0145,
        Vec3::new(0.0, 0.021, -0.007),
        Vec3::new(0.0, -0.004, 0.014),
    ];
    cage.blob(Vec3::new(0.0, 1.618, 0.110), nose, HEAD_ONLY, Skin);
}
