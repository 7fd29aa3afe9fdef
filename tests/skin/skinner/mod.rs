//! The fast skin stage, compared with the plain one.
//!
//! The tests cover every method, number of influences and set of streams, on generated characters
//! and on all models.

mod contract;
mod layout;
pub(crate) mod load;
mod morphs;

use crate::reference::rng::Rng;
use load::{COUNTS, Streams, both, each_format, made, models, palettes, posed, rest_weights};
use throng::character::Character;
use throng::glam::{Affine3A, Vec3, Vec4};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset};
use throng::skin::PosedVertices;

/// The largest error of a rounding: half a unit in the last place of numbers from 1 to 2.
const UNIT: f32 = 1.0 / 16_777_216.0;

/// The largest magnitudes of the terms of a position.
fn magnitude(character: &Character, palette: &[Affine3A]) -> f32 {
    let reach = |p: &Vec3| p.abs().max_element();
    let points = character.primitives().iter().flat_map(|p| &p.positions);
    let point = points.map(reach).fold(0.0, f32::max);
    let sums = palette
        .iter()
        .flat_map(|entry| Mat3x4::from_affine(entry).rows)
        .map(|row| {
            let [x, y, z, t] = row.map(f32::abs);
            (x + y + z) * point + t
        });
    sums.fold(0.0, f32::max)
}

/// The largest differences of positions and directions.
#[derive(Debug, Default, Clone, Copy)]
struct Apart {
    positions: f32,
    directions: f32,
}

impl Apart {
    fn of(got: &PosedVertices, want: &PosedVertices) -> Self {
        assert_eq!(got.positions.len(), want.positions.len());
        assert_eq!(got.normals.len(), want.normals.len());
        assert_eq!(got.tangents.len(), want.tangents.len());
        let furthest = |got: &[Vec3], want: &[Vec3]| {
            let pairs = got.iter().zip(want);
            pairs
                .map(|(a, b)| (*a - *b).abs().max_element())
                .fold(0.0, f32::max)
        };
        for (got, want) in got.tangents.iter().zip(&want.tangents) {
            assert_eq!(got.w, want.w);
        }
        let flat = |list: &[Vec4]| list.iter().map(|t| t.truncate()).collect::<Vec<_>>();
        let tangents = furthest(&flat(&got.tangents), &flat(&want.tangents));
        Self {
            positions: furthest(&got.positions, &want.positions),
            directions: furthest(&got.normals, &want.normals).max(tangents),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            positions: self.positions.max(other.positions),
            directions: self.directions.max(other.directions),
        }
    }
}

/// The matrices that the entries represent.
fn affines<P: PaletteEntry>(palette: &[P]) -> Vec<Affine3A> {
    palette.iter().map(P::to_affine).collect()
}

fn apart<P: PaletteEntry>(character: &Character, palette: &[P], weights: &[f32]) -> Apart {
    let (mut got, mut want) = (PosedVertices::default(), PosedVertices::default());
    let mut most = Apart::default();
    for skinner in both(character) {
        for (number, primitive) in character.primitives().iter().enumerate() {
            character
                .skin_primitive(primitive, palette, weights, &mut want)
                .unwrap();
            skinner
                .skin_primitive(number, palette, weights, &mut got)
                .unwrap();
            most = most.max(Apart::of(&got, &want));
        }
    }
    most
}

/// The bound of a position's error.
///
/// Both sides round every difference, product and sum by one unit of the magnitudes of its terms.
/// There are `2 K + 8` roundings for a blend of `K` entries and a point, and 16 more for the
/// rotation of a quaternion. The bound is twice that, for two sides.
fn position_bound(influences: usize, magnitude: f32) -> f32 {
    2.0 * (2.0 * influences as f32 + 24.0) * UNIT * magnitude
}

/// Measured: at most 3e-7 over all generated characters, whose blends keep half of their length.
const DIRECTION_BOUND: f32 = 2e-6;

#[test]
fn it_agrees_with_the_plain_code() {
    let mut rng = Rng::new(41);
    let mut most = Apart::default();
    for influences in COUNTS {
        for vertices in (1..41).chain([100, 777]) {
            for streams in Streams::ALL {
                let character = made(&mut rng, vertices, influences, streams);
                let all = palettes(&mut rng, character.palette().len());
                each_format!(all, |palette| {
                    let affines = affines(palette);
                    let bound = position_bound(influences, magnitude(&character, &affines));
                    let apart = apart(&character, palette, &[]);
                    assert!(
                        apart.positions <= bound,
                        "{influences} {vertices} {apart:?} {bound}"
                    );
                    assert!(
                        apart.directions <= DIRECTION_BOUND,
                        "{influences} {vertices} {apart:?}"
                    );
                    most = most.max(apart);
                });
            }
        }
    }
    println!("{most:?}");
}

/// Measured: at most 6e-7 over the models.
const MODEL_DIRECTION_BOUND: f32 = 4e-6;

#[test]
fn it_agrees_with_the_plain_code_on_all_models() {
    for character in models() {
        let mut most = Apart::default();
        let influences = character
            .primitives()
            .iter()
            .map(|p| p.influences_per_vertex);
        let influences = influences.max().unwrap_or(1) as usize;
        let times = (0..character.curves().len()).flat_map(|clip| {
            let duration_s = f64::from(character.curves()[clip].duration_s());
            [0.0, 0.37, 0.81].map(|part| Some((clip, part * duration_s)))
        });
        for at in times.chain([None]) {
            let all = posed(&character, at);
            each_format!(all, |palette| {
                let affines = affines(palette);
                let bound = position_bound(influences, magnitude(&character, &affines));
                let apart = apart(&character, palette, &rest_weights(&character));
                assert!(
                    apart.positions <= bound,
                    "{} {at:?} {apart:?} {bound}",
                    character.name()
                );
                assert!(
                    apart.directions <= MODEL_DIRECTION_BOUND,
                    "{} {at:?} {apart:?}",
                    character.name()
                );
                most = most.max(apart);
            });
        }
        println!("{}: {most:?}", character.name());
    }
}

#[test]
fn identities_give_the_rest_pose_back_bit_for_bit() {
    let mut rng = Rng::new(43);
    let mut all = models();
    for influences in COUNTS {
        all.push(made(&mut rng, 61, influences, Streams::ALL[2]));
    }
    for character in all {
        let len = character.palette().len();
        let identities = load::Palettes {
            matrices: vec![Mat3x4::IDENTITY; len],
            duals: vec![DualQuat::IDENTITY; len],
            stretched: vec![DualQuatStretch::IDENTITY; len],
            offsets: vec![QuatOffset::IDENTITY; len],
        };
        let weights = vec![0.0; character.morph_weights().len()];
        let mut got = PosedVertices::default();
        for skinner in both(&character) {
            each_format!(identities, |palette| {
                for (number, primitive) in character.primitives().iter().enumerate() {
                    skinner
                        .skin_primitive(number, palette, &weights, &mut got)
                        .unwrap();
                    assert_eq!(got.positions, primitive.positions, "{}", character.name());
                    assert_eq!(got.normals, primitive.normals, "{}", character.name());
                    assert_eq!(got.tangents, primitive.tangents, "{}", character.name());
                }
            });
        }
    }
}

/// Matrices without an inverse, flipped ones, and ones that would overflow or underflow.
fn extremes(rng: &mut Rng) -> Vec<Affine3A> {
    let scales = [
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::ZERO,
        Vec3::splat(1e-30),
        Vec3::splat(1e30),
        Vec3::splat(-1e-18),
        Vec3::new(1e-20, 1.0, 1e20),
        Vec3::new(-1.0, 1.0, 0.0),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(-1e-9, 1e-9, -1e-9),
    ];
    let of =
        |scale: Vec3| Affine3A::from_scale_rotation_translation(scale, rng.rotation(), Vec3::ONE);
    scales.into_iter().map(of).collect()
}

#[test]
fn directions_stay_unit_vectors_under_extreme_matrices() {
    let mut rng = Rng::new(59);
    for influences in [1, 4] {
        let character = made(&mut rng, 83, influences, Streams::ALL[2]);
        for _ in 0..20 {
            let kinds = extremes(&mut rng);
            // One kind at a time, and all kinds mixed in a block.
            for kind in 0..=kinds.len() {
                let pick = |rng: &mut Rng| {
                    kinds[if kind < kinds.len() {
                        kind
                    } else {
                        rng.below(kinds.len())
                    }]
                };
                let list: Vec<Affine3A> =
                    character.palette().iter().map(|_| pick(&mut rng)).collect();
                let matrices: Vec<Mat3x4> = list.iter().map(Mat3x4::from_affine).collect();
                let stretched: Vec<DualQuatStretch> =
                    list.iter().map(DualQuatStretch::project).collect();
                check_directions(&character, &matrices);
                check_directions(&character, &stretched);
            }
        }
    }
}

fn check_directions<P: PaletteEntry>(character: &Character, palette: &[P]) {
    let mut got = PosedVertices::default();
    for skinner in both(character) {
        skinner.skin_primitive(0, palette, &[], &mut got).unwrap();
        for normal in &got.normals {
            assert!(normal.is_normalized(), "{normal}");
        }
        for tangent in &got.tangents {
            assert!(tangent.truncate().is_normalized(), "{tangent}");
            assert_eq!(tangent.w.abs(), 1.0);
        }
    }
}

/// Flips and single joints under every matrix: without a blend, both sides differ by rounding only.
#[test]
fn mirrors_turn_normals_and_tangents_as_the_plain_code_does() {
    let mut rng = Rng::new(61);
    let character = made(&mut rng, 64, 1, Streams::ALL[2]);
    for _ in 0..50 {
        let entry = |_| {
            let mut scale = rng.vector(0.3, 2.0);
            for axis in 0..3 {
                scale[axis] *= if rng.chance(2) { -1.0 } else { 1.0 };
            }
            let affine =
                Affine3A::from_scale_rotation_translation(scale, rng.rotation(), Vec3::ZERO);
            Mat3x4::from_affine(&(affine * Affine3A::from_quat(rng.rotation())))
        };
        let matrices: Vec<Mat3x4> = character.palette().iter().map(entry).collect();
        let apart = apart(&character, &matrices, &[]);
        assert!(apart.directions <= DIRECTION_BOUND, "{apart:?}");
    }
}
