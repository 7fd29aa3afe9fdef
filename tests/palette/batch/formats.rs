//! Palettes in every format, compared with the matrices and with `PaletteEntry::project`.

use super::load::{Model, clips, codes, list, models};
use super::stages::{clips_for, crowd, tree};
use crate::reference::rng::Rng;
use std::fmt::Debug;
use throng::Id;
use throng::animate::BatchPoser;
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::{Affine3A, EulerRot, Mat3A, Quat, Vec3, Vec3A};
use throng::motion::ClipSample;
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset, WriteOnly};

/// The largest difference between an entry and the projected one, relative to the largest number.
///
/// The numbers are those of the matrices that both represent. Both come from the same matrix.
/// Directions are worse conditioned by at most ten times, which is a few times 6e-7, and the
/// product with the stretch adds as much. Measured: 1.6e-6.
const APART: f32 = 5e-6;

/// An entry before and after every palette, which no code writes.
fn guard<E: PaletteEntry>() -> E {
    bytemuck::pod_read_unaligned(&vec![0xA5; size_of::<E>()])
}

/// The palettes of a crowd with guards around them, and the same computed from model poses.
fn both<E: PaletteEntry>(
    poser: &BatchPoser,
    character: &Character,
    clips: &[Clip],
    crowd: &[Vec<ClipSample>],
) -> Vec<E> {
    let count = crowd.len() * character.palette().len();
    let mut models = vec![Affine3A::IDENTITY; crowd.len() * character.skeleton().len()];
    let crowd = list(crowd);
    poser.model_poses(clips, &crowd, &mut models).unwrap();
    let mut direct = vec![guard::<E>(); count + 2];
    let to = WriteOnly::over(&mut direct[1..=count]);
    poser.palettes(clips, &crowd, to).unwrap();
    let mut finished = vec![guard::<E>(); count + 2];
    let to = WriteOnly::over(&mut finished[1..=count]);
    poser.finish(&models, to).unwrap();
    let bytes = |list: &[E]| bytemuck::cast_slice::<E, u8>(list).to_vec();
    assert!(bytes(&direct) == bytes(&finished), "{}", poser.simd_level());
    for end in [&direct[0], &direct[count + 1]] {
        assert!(bytemuck::bytes_of(end).iter().all(|byte| *byte == 0xA5));
    }
    direct.pop();
    direct.remove(0);
    direct
}

/// The difference between the matrices of two entries, relative to the largest number.
fn apart<E: PaletteEntry>(a: &E, b: &E) -> f32 {
    let [a, b] = [a, b].map(|entry| Mat3x4::from_affine(&entry.to_affine()));
    let pairs = a.rows.as_flattened().iter().zip(b.rows.as_flattened());
    let (mut off, mut most) = (0.0_f32, 0.0_f32);
    for (a, b) in pairs {
        assert!(a.is_finite() == b.is_finite());
        off = off.max((a - b).abs());
        most = most.max(b.abs());
    }
    off / most.max(f32::MIN_POSITIVE)
}

/// The largest difference from the projected matrices of the palette.
fn worst<E: PaletteEntry>(matrices: &[Mat3x4], got: &[E]) -> f32 {
    let want = matrices
        .iter()
        .map(|matrix| E::project(&matrix.to_affine()));
    want.zip(got)
        .fold(0.0, |worst, (want, got)| worst.max(apart(got, &want)))
}

/// Compares all formats, for one crowd and every level. Returns the largest difference.
fn all_formats(character: &Character, clips: &[Clip], crowd: &[Vec<ClipSample>]) -> f32 {
    let mut most = 0.0_f32;
    for poser in codes(character) {
        let matrices = both::<Mat3x4>(&poser, character, clips, crowd);
        let off = [
            worst(
                &matrices,
                &both::<DualQuat>(&poser, character, clips, crowd),
            ),
            worst(
                &matrices,
                &both::<DualQuatStretch>(&poser, character, clips, crowd),
            ),
            worst(
                &matrices,
                &both::<QuatOffset>(&poser, character, clips, crowd),
            ),
        ];
        most = off.into_iter().fold(most, f32::max);
    }
    most
}

#[test]
fn formats_agree_for_every_model() {
    let mut rng = Rng::new(11);
    let mut most = 0.0_f32;
    for Model {
        character, name, ..
    } in models()
    {
        let clips = clips(&character);
        let mut play = |_| {
            let clip = rng.below(clips.len().max(1));
            let time_s = rng.range(0.0, 3.0).into();
            vec![ClipSample::new(Id::new(clip as u16), time_s); clips.len().min(1)]
        };
        let crowd: Vec<_> = (0..21).map(&mut play).collect();
        let off = all_formats(&character, &clips, &crowd);
        assert!(off < APART, "{name}: {off:e}");
        most = most.max(off);
    }
    println!("{most:e}");
}

#[test]
fn formats_agree_for_skeletons_and_batches_of_any_size() {
    let mut rng = Rng::new(12);
    for joints in [1, 2, 7, 8, 9, 24, 65] {
        let character = tree(joints);
        let clips = clips_for(&character, &mut rng);
        for count in [0, 1, 3, 4, 5, 8, 9, 15, 16, 17, 33] {
            let crowd = crowd(&mut rng, count);
            let off = all_formats(&character, &clips, &crowd);
            assert!(off < APART, "{joints} joints, {count}: {off:e}");
        }
    }
}

/// An instance has the same bits at any place in a batch, beside any others.
#[test]
fn an_instance_has_the_same_bits_in_any_batch() {
    let mut rng = Rng::new(13);
    let character = tree(19);
    let clips = clips_for(&character, &mut rng);
    let crowd = crowd(&mut rng, 41);
    let entries = character.palette().len();
    for poser in codes(&character) {
        let all = both::<DualQuatStretch>(&poser, &character, &clips, &crowd);
        for (first, count) in [(0, 1), (3, 2), (1, 7), (5, 11), (2, 17), (40, 1)] {
            let part = &crowd[first..first + count];
            let got = both::<DualQuatStretch>(&poser, &character, &clips, part);
            let want = &all[first * entries..(first + count) * entries];
            let bytes = |list: &[DualQuatStretch]| bytemuck::cast_slice::<_, u8>(list).to_vec();
            assert!(bytes(&got) == bytes(want), "{first} {count}");
        }
    }
}

/// Matrices that only the matrix format can represent, and matrices that no format can.
#[test]
fn degenerate_matrices_are_projected_as_the_plain_code_does() {
    let character = tree(9);
    let turn = Mat3A::from_quat(Quat::from_euler(EulerRot::XYZ, 0.4, -1.1, 2.0));
    let diagonal = |x, y, z| turn * Mat3A::from_diagonal(Vec3::new(x, y, z));
    let sheared = Mat3A::from_cols(Vec3A::X, Vec3A::new(1.0, 1e-4, 0.0), Vec3A::Z);
    let matrices = [
        Mat3A::IDENTITY,
        diagonal(1.0, -1.0, 1.0),
        diagonal(0.0, 1.0, 2.0),
        diagonal(1.0, 0.0, 2.0),
        diagonal(1.0, 2.0, 0.0),
        Mat3A::ZERO,
        sheared,
        diagonal(1e-20, 1e-20, 1e-20),
        diagonal(1e20, 1e20, 1e20),
        diagonal(f32::INFINITY, 1.0, 1.0),
        diagonal(1.0, f32::NAN, 1.0),
    ];
    let places = [Vec3A::ZERO, Vec3A::new(f32::NAN, 0.0, f32::INFINITY)];
    for matrix3 in matrices {
        for translation in places {
            // One joint among valid ones. It must not change their palette entries.
            let mut model = vec![Affine3A::IDENTITY; 9];
            for odd in [1, 8] {
                model[odd] = Affine3A {
                    matrix3,
                    translation,
                };
                same::<DualQuat>(&character, &model);
                same::<DualQuatStretch>(&character, &model);
                same::<QuatOffset>(&character, &model);
            }
        }
    }
}

/// A model pose's palette has the projected entries, up to the sign of the quaternion.
fn same<E: PaletteEntry + Debug>(character: &Character, model: &[Affine3A]) {
    let mut want = vec![guard::<E>(); character.palette().len()];
    character
        .write_palette(model, WriteOnly::over(&mut want))
        .unwrap();
    for poser in codes(character) {
        let mut got = vec![guard::<E>(); character.palette().len()];
        poser.finish(model, WriteOnly::over(&mut got)).unwrap();
        for (got, want) in got.iter().zip(&want) {
            let off = apart(got, want);
            assert!(off < APART, "{got:?} {want:?}: {off:e}");
        }
    }
}
