//! The fast skin stage against the plain one: every method, number of influences and set of streams, on made
//! characters and on all models.

#[path = "skinner/load.rs"]
mod load;
mod reference;

use load::{COUNTS, Streams, made, palettes};
use reference::rng::Rng;
use throng::Error;
use throng::character::Character;
use throng::error::ArgumentFault;
use throng::glam::{Affine3A, Vec3, Vec4};
use throng::import::ImportOptions;
use throng::pose::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteRef, PosedVertices, Poser, QuatOffset,
    SkinJob, Skinner, WriteOnly, palette_projected, skin, skin_many,
};

/// One unit in the last place of numbers from 1 to 2, halved: what a rounding can be off by.
const UNIT: f32 = 1.0 / 16_777_216.0;

fn both(character: &Character) -> [Skinner; 2] {
    [
        Skinner::new(character).unwrap(),
        Skinner::new(character).unwrap().portable(),
    ]
}

fn rest_weights(character: &Character) -> Vec<f32> {
    let weights = character.morph_weights().iter();
    weights.map(|weight| weight.rest).collect()
}

/// The largest magnitudes that a position is added up from.
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

/// How far positions and directions are apart at most.
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

fn apart(character: &Character, palette: PaletteRef<'_>, weights: &[f32]) -> Apart {
    let (mut got, mut want) = (PosedVertices::default(), PosedVertices::default());
    let mut most = Apart::default();
    for skinner in both(character) {
        for (number, primitive) in character.primitives().iter().enumerate() {
            skin(character, primitive, palette, weights, &mut want).unwrap();
            skinner
                .skin_primitive(number, palette, weights, &mut got)
                .unwrap();
            most = most.max(Apart::of(&got, &want));
        }
    }
    most
}

/// Both sides round every difference, product and sum by a unit each of the magnitudes that go in: `2 K + 8` times for a
/// blend of `K` entries and a point, and for a quaternion's rotation 16 times more. Twice that, for two sides.
fn position_bound(influences: usize, magnitude: f32) -> f32 {
    2.0 * (2.0 * influences as f32 + 24.0) * UNIT * magnitude
}

/// Measured: 3e-7 at most over all made characters, whose blends lose no more than half of their length.
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
                for (palette, affines) in all.refs().into_iter().zip(all.affines()) {
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
                }
            }
        }
    }
    println!("{most:?}");
}

/// A palette of the character's own in every format, of a clip or of the rest pose.
fn posed(character: &Character, clip: Option<(usize, f64)>) -> load::Palettes {
    fn all<E: PaletteEntry>(character: &Character, model: &[Affine3A], nothing: E) -> Vec<E> {
        let mut list = vec![nothing; character.palette().len()];
        palette_projected(character, model, WriteOnly::over(&mut list)).unwrap();
        list
    }
    let mut poser = Poser::new();
    let model = poser.pose(character, clip).unwrap();
    load::Palettes {
        matrices: all(character, model, Mat3x4::IDENTITY),
        duals: all(character, model, DualQuat::IDENTITY),
        stretched: all(character, model, DualQuatStretch::IDENTITY),
        offsets: all(character, model, QuatOffset::IDENTITY),
    }
}

/// All models, and the built-in one.
fn models() -> Vec<Character> {
    let mut models = vec![throng::builtin::mannequin().unwrap().character];
    for file in reference::assets::files() {
        let imported = throng::import::gltf_file(&file, &ImportOptions::default());
        models.push(imported.unwrap_or_else(|e| panic!("{e}")).character);
    }
    models
}

/// Measured: 6e-7 at most over the models.
const MODEL_DIRECTION_BOUND: f32 = 4e-6;

#[test]
fn it_agrees_with_the_plain_code_on_all_models() {
    for character in models() {
        let mut most = Apart::default();
        let influences = character
            .primitives()
            .iter()
            .map(|p| p.influences.per_vertex);
        let influences = influences.max().unwrap_or(1) as usize;
        let times = (0..character.clips().len()).flat_map(|clip| {
            let duration_s = f64::from(character.clips()[clip].duration_s());
            [0.0, 0.37, 0.81].map(|part| Some((clip, part * duration_s)))
        });
        for at in times.chain([None]) {
            let all = posed(&character, at);
            for (palette, affines) in all.refs().into_iter().zip(all.affines()) {
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
            }
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
            for palette in identities.refs() {
                for (number, primitive) in character.primitives().iter().enumerate() {
                    skinner
                        .skin_primitive(number, palette, &weights, &mut got)
                        .unwrap();
                    assert_eq!(got.positions, primitive.positions, "{}", character.name());
                    assert_eq!(got.normals, primitive.normals, "{}", character.name());
                    assert_eq!(got.tangents, primitive.tangents, "{}", character.name());
                }
            }
        }
    }
}

/// What no stream's word has after skinning.
const UNTOUCHED: u32 = 0x7FC0_BEEF;

fn words(skinner: &Skinner, palette: PaletteRef<'_>, weights: &[f32]) -> Vec<u32> {
    let mut out = vec![f32::from_bits(UNTOUCHED); skinner.layout().words as usize];
    skinner
        .skin(palette, weights, WriteOnly::over(&mut out))
        .unwrap();
    out.into_iter().map(f32::to_bits).collect()
}

#[test]
fn an_instance_is_laid_out_as_the_layout_says() {
    let mut rng = Rng::new(47);
    let mut all = models();
    all.extend((1..20).map(|vertices| made(&mut rng, vertices, 4, Streams::ALL[vertices % 3])));
    for character in all {
        let palettes = posed(&character, None);
        let weights = rest_weights(&character);
        let mut posed = PosedVertices::default();
        for skinner in both(&character) {
            for palette in palettes.refs() {
                let got = words(&skinner, palette, &weights);
                let mut want = vec![UNTOUCHED; got.len()];
                for (number, part) in skinner.layout().primitives.iter().enumerate() {
                    skinner
                        .skin_primitive(number, palette, &weights, &mut posed)
                        .unwrap();
                    assert_eq!(part.vertex_count as usize, posed.positions.len());
                    assert_eq!(part.normals.is_none(), posed.normals.is_empty());
                    assert_eq!(part.tangents.is_none(), posed.tangents.is_empty());
                    let mut put = |at: u32, list: Vec<f32>| {
                        for (to, from) in want[at as usize..].iter_mut().zip(list) {
                            *to = from.to_bits();
                        }
                    };
                    put(
                        part.positions,
                        posed.positions.iter().flat_map(|v| v.to_array()).collect(),
                    );
                    if let Some(at) = part.normals {
                        put(
                            at,
                            posed.normals.iter().flat_map(|v| v.to_array()).collect(),
                        );
                    }
                    if let Some(at) = part.tangents {
                        put(
                            at,
                            posed.tangents.iter().flat_map(|v| v.to_array()).collect(),
                        );
                    }
                }
                assert_eq!(got, want, "{}", character.name());
            }
        }
    }
}

#[test]
fn bounds_are_those_of_the_positions() {
    let mut rng = Rng::new(53);
    let mut all = models();
    all.extend((1..20).map(|vertices| made(&mut rng, vertices, 8, Streams::ALL[vertices % 3])));
    for character in all {
        let palettes = palettes(&mut rng, character.palette().len());
        let weights = rest_weights(&character);
        let mut posed = PosedVertices::default();
        for skinner in both(&character) {
            for palette in palettes.refs() {
                let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
                for number in 0..character.primitives().len() {
                    skinner
                        .skin_primitive(number, palette, &weights, &mut posed)
                        .unwrap();
                    for position in &posed.positions {
                        (min, max) = (min.min(*position), max.max(*position));
                    }
                }
                let bounds = skinner.bounds(palette, &weights).unwrap();
                assert_eq!((bounds.min, bounds.max), (min, max), "{}", character.name());
            }
        }
    }
}

/// Of every kind that has no inverse, is mirrored, or would over- or underflow.
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
            // One kind at a time, and all of them mixed in a block.
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
                for palette in [
                    PaletteRef::Mat3x4(&matrices),
                    PaletteRef::DualQuatStretch(&stretched),
                ] {
                    check_directions(&character, palette);
                }
            }
        }
    }
}

fn check_directions(character: &Character, palette: PaletteRef<'_>) {
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

/// Mirrors and single joints under every matrix: nothing is blended, so both sides do the same but for rounding.
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
        let apart = apart(&character, PaletteRef::Mat3x4(&matrices), &[]);
        assert!(apart.directions <= DIRECTION_BOUND, "{apart:?}");
    }
}

fn length(what: &'static str, got: usize, need: usize) -> Error {
    Error::Argument {
        what,
        why: ArgumentFault::Length { got, need },
    }
}

#[test]
fn wrong_lengths_are_refused_and_nothing_is_written() {
    let mut rng = Rng::new(67);
    let character = made(&mut rng, 20, 2, Streams::ALL[2]);
    let skinner = Skinner::new(&character).unwrap();
    let joints = character.palette().len();
    let words = skinner.layout().words as usize;
    let matrices = vec![Mat3x4::IDENTITY; joints + 1];
    let untouched = vec![f32::from_bits(UNTOUCHED); words + 1];
    let mut out = untouched.clone();
    let mut attempt = |entries: usize, weights: &[f32], words: usize| {
        let palette = PaletteRef::Mat3x4(&matrices[..entries]);
        let error = skinner
            .skin(palette, weights, WriteOnly::over(&mut out[..words]))
            .unwrap_err();
        assert!(out.iter().all(|word| word.to_bits() == UNTOUCHED));
        error
    };
    for wrong in [joints - 1, joints + 1] {
        assert_eq!(attempt(wrong, &[], words), length("palette", wrong, joints));
    }
    assert_eq!(
        attempt(joints, &[0.5], words),
        length("morph weights", 1, 0)
    );
    for wrong in [words - 1, words + 1] {
        assert_eq!(
            attempt(joints, &[], wrong),
            length("skinned words", wrong, words)
        );
    }
    let palette = PaletteRef::Mat3x4(&matrices[..joints]);
    let missing = skinner.skin_primitive(1, palette, &[], &mut PosedVertices::default());
    let not_found = Error::NotFound {
        what: "primitive",
        index: 1,
        count: 1,
    };
    assert_eq!(missing, Err(not_found));
    assert_eq!(
        skinner.bounds(PaletteRef::Mat3x4(&matrices), &[]),
        Err(length("palette", joints + 1, joints))
    );
}

#[test]
fn many_say_which_job_is_wrong() {
    let mut rng = Rng::new(71);
    let character = made(&mut rng, 9, 2, Streams::ALL[1]);
    let skinner = Skinner::new(&character).unwrap();
    let joints = character.palette().len();
    let matrices = vec![Mat3x4::IDENTITY; joints];
    let size = skinner.layout().words as usize;
    let mut out = vec![f32::from_bits(UNTOUCHED); size * 5];
    let mut jobs: Vec<_> = out
        .chunks_exact_mut(size)
        .enumerate()
        .map(|(number, out)| SkinJob {
            skinner: &skinner,
            palette: PaletteRef::Mat3x4(&matrices[..joints - usize::from(number >= 3)]),
            weights: &[],
            out: WriteOnly::over(out),
        })
        .collect();
    let wrong = Error::Each {
        what: "skin job",
        index: 3,
        why: Box::new(length("palette", joints - 1, joints)),
    };
    assert_eq!(skin_many(&mut jobs), Err(wrong));
    drop(jobs);
    assert!(out.iter().all(|word| word.to_bits() == UNTOUCHED));
}

/// Instances of two characters, in all formats; the same bits from one thread, three and eight as from single calls.
#[test]
fn the_number_of_threads_changes_no_bit() {
    let mut rng = Rng::new(73);
    let made =
        [(301, 4), (57, 8)].map(|(vertices, k)| made(&mut rng, vertices, k, Streams::ALL[2]));
    let skinners = made
        .each_ref()
        .map(|character| Skinner::new(character).unwrap());
    let poses: Vec<_> = (0..40)
        .map(|instance| palettes(&mut rng, made[instance % 2].palette().len()))
        .collect();
    let skinner = |instance: usize| &skinners[instance % 2];
    let palette = |instance: usize| poses[instance].refs()[instance / 2 % 4];
    let want: Vec<Vec<u32>> = (0..40)
        .map(|instance| words(skinner(instance), palette(instance), &[]))
        .collect();
    for threads in [1, 3, 8] {
        let mut out: Vec<Vec<f32>> = want
            .iter()
            .map(|words| vec![f32::from_bits(UNTOUCHED); words.len()])
            .collect();
        let mut jobs: Vec<_> = out
            .iter_mut()
            .enumerate()
            .map(|(instance, out)| SkinJob {
                skinner: skinner(instance),
                palette: palette(instance),
                weights: &[],
                out: WriteOnly::over(out),
            })
            .collect();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| skin_many(&mut jobs)).unwrap();
        drop(jobs);
        let got: Vec<Vec<u32>> = out
            .into_iter()
            .map(|words| words.into_iter().map(f32::to_bits).collect())
            .collect();
        assert!(got == want, "{threads} threads");
    }
}

#[test]
fn a_character_without_vertices_is_no_trouble() {
    let character = ImportOptions::default();
    let raw = throng::import::RawCharacter::default();
    if let Ok(made) = raw.build(&character) {
        let skinner = Skinner::new(&made.character).unwrap();
        assert_eq!(skinner.layout().words, 0);
        assert!(
            skinner
                .bounds(PaletteRef::Mat3x4(&[]), &[])
                .unwrap()
                .is_empty()
        );
    }
}
