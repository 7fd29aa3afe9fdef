//! The contract of the fast skin stage besides the right numbers.
//!
//! - its layout and its bounds,
//! - the arguments that it refuses,
//! - the same bits from any number of threads.

use super::load::{Streams, both, each_format, made, models, palettes, posed, rest_weights};
use crate::reference::rng::Rng;
use rayon::prelude::*;
use throng::Error;
use throng::error::ArgumentFault;
use throng::glam::Vec3;
use throng::import::ImportOptions;
use throng::palette::{DualQuat, Mat3x4, PaletteEntry, WriteOnly};
use throng::skin::{PosedVertices, Skinner};

/// A bit pattern that no word of a stream has after skinning.
const UNTOUCHED: u32 = 0x7FC0_BEEF;

fn words<P: PaletteEntry>(skinner: &Skinner, palette: &[P], weights: &[f32]) -> Vec<u32> {
    let mut out = vec![f32::from_bits(UNTOUCHED); skinner.layout().words as usize];
    skinner
        .skin(palette, weights, WriteOnly::from(&mut out))
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
            each_format!(palettes, |palette| {
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
            });
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
            each_format!(palettes, |palette| {
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
            });
        }
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
    let mut out = vec![f32::from_bits(UNTOUCHED); words + 1];
    let none: &[f32] = &[];
    for (what, entries, weights, len, got, need) in [
        ("palette", joints - 1, none, words, joints - 1, joints),
        ("palette", joints + 1, none, words, joints + 1, joints),
        ("morph weights", joints, &[0.5], words, 1, 0),
        ("skinned words", joints, none, words - 1, words - 1, words),
        ("skinned words", joints, none, words + 1, words + 1, words),
    ] {
        let palette = &matrices[..entries];
        let result = skinner.skin(palette, weights, WriteOnly::from(&mut out[..len]));
        let wanted = Err(length(what, got, need));
        assert_eq!(result, wanted, "{what}: {got} instead of {need}");
        assert!(
            out.iter().all(|word| word.to_bits() == UNTOUCHED),
            "{what}: {got} instead of {need}"
        );
    }
    let palette = &matrices[..joints];
    let missing = skinner.skin_primitive(1, palette, &[], &mut PosedVertices::default());
    let not_found = Error::NotFound {
        what: "primitive",
        index: 1,
        count: 1,
    };
    assert_eq!(missing, Err(not_found));
    assert_eq!(
        skinner.bounds(&matrices, &[]),
        Err(length("palette", joints + 1, joints))
    );
}

/// Bounds of positions that are not finite are refused. They are not an empty box either.
#[test]
fn bounds_want_a_finite_palette() {
    let character = made(&mut Rng::new(72), 9, 2, Streams::ALL[1]);
    let skinner = Skinner::new(&character).unwrap();
    let joints = character.palette().len();
    for broken in [f32::NAN, f32::INFINITY] {
        let mut matrices = vec![Mat3x4::IDENTITY; joints];
        matrices[joints - 1].rows[2][3] = broken;
        let mut quats = vec![DualQuat::IDENTITY; joints];
        quats[joints - 1].dual[3] = broken;
        for bounds in [skinner.bounds(&matrices, &[]), skinner.bounds(&quats, &[])] {
            match bounds {
                Err(Error::Argument {
                    what: "palette",
                    why: ArgumentFault::NotFinite(value),
                }) => assert!(!value.is_finite()),
                other => panic!("{other:?}"),
            }
        }
    }
}

/// One, three and eight threads give the same bits as single calls.
///
/// The instances are of two characters, and in all formats.
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
    let want: Vec<Vec<u32>> = (0..40)
        .map(|instance| {
            let (skinner, pose) = (skinner(instance), &poses[instance]);
            match instance / 2 % 4 {
                0 => words(skinner, &pose.matrices, &[]),
                1 => words(skinner, &pose.duals, &[]),
                2 => words(skinner, &pose.stretched, &[]),
                _ => words(skinner, &pose.offsets, &[]),
            }
        })
        .collect();
    for threads in [1, 3, 8] {
        let mut out: Vec<Vec<f32>> = want
            .iter()
            .map(|words| vec![f32::from_bits(UNTOUCHED); words.len()])
            .collect();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let skin = |(instance, out): (usize, &mut Vec<f32>)| {
            let (skinner, pose) = (skinner(instance), &poses[instance]);
            let out = WriteOnly::from(out);
            match instance / 2 % 4 {
                0 => skinner.skin(&pose.matrices, &[], out),
                1 => skinner.skin(&pose.duals, &[], out),
                2 => skinner.skin(&pose.stretched, &[], out),
                _ => skinner.skin(&pose.offsets, &[], out),
            }
        };
        pool.install(|| out.par_iter_mut().enumerate().try_for_each(skin))
            .unwrap();
        let got: Vec<Vec<u32>> = out
            .into_iter()
            .map(|words| words.into_iter().map(f32::to_bits).collect())
            .collect();
        assert!(got == want, "{threads} threads");
    }
}

#[test]
fn a_character_without_vertices_is_no_trouble() {
    let character = ImportOptions::curves_only();
    let raw = throng::import::RawCharacter::default();
    if let Ok(made) = raw.build(&character) {
        let skinner = Skinner::new(&made.character).unwrap();
        assert_eq!(skinner.layout().words, 0);
        assert!(skinner.bounds::<Mat3x4>(&[], &[]).unwrap().is_empty());
    }
}
