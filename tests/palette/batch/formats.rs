//! Palettes in every format, compared with the matrices and with `PaletteEntry::project`.

use super::load::{Model, models};
use super::stages::{crowd, moving_tree, tree};
use crate::reference::batch::{Batch, Sample};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use std::fmt::Debug;
use throng::SimdLevel;
use throng::animator::{Pose, ShowPose};
use throng::character::Character;
use throng::glam::{Affine3A, EulerRot, Mat3A, Quat, Vec3, Vec3A};
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

/// The palettes of a batch, with guards around them.
fn guarded<E: PaletteEntry>(batch: &mut Batch) -> Vec<E> {
    let count = batch.palettes(guard::<E>()).len();
    let mut direct = vec![guard::<E>(); count + 2];
    let to = WriteOnly::from(&mut direct[1..=count]);
    batch.animator.palettes(&batch.actors, to).unwrap();
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
fn all_formats(character: &Character, crowd: &[Vec<Sample>]) -> f32 {
    let mut most = 0.0_f32;
    for level in SimdLevel::available() {
        let batch = &mut Batch::new(character, level, crowd);
        let matrices = guarded::<Mat3x4>(batch);
        let off = [
            worst(&matrices, &guarded::<DualQuat>(batch)),
            worst(&matrices, &guarded::<DualQuatStretch>(batch)),
            worst(&matrices, &guarded::<QuatOffset>(batch)),
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
        let clips = character.clips().len();
        let mut play = |_| {
            let clip = rng.below(clips.max(1));
            let time_s = rng.range(0.0, 3.0).into();
            vec![Sample::new(clip, time_s); clips.min(1)]
        };
        let crowd: Vec<_> = (0..21).map(&mut play).collect();
        let off = all_formats(character, &crowd);
        assert!(off < APART, "{name}: {off:e}");
        most = most.max(off);
    }
    println!("{most:e}");
}

#[test]
fn formats_agree_for_skeletons_and_batches_of_any_size() {
    let mut rng = Rng::new(12);
    for joints in [1, 2, 7, 8, 9, 24, 65] {
        let character = moving_tree(joints, &mut rng);
        for count in [0, 1, 3, 4, 5, 8, 9, 15, 16, 17, 33] {
            let crowd = crowd(&mut rng, count);
            let off = all_formats(&character, &crowd);
            assert!(off < APART, "{joints} joints, {count}: {off:e}");
        }
    }
}

/// An instance has the same bits at any place in a batch, beside any others.
#[test]
fn an_instance_has_the_same_bits_in_any_batch() {
    let mut rng = Rng::new(13);
    let character = moving_tree(19, &mut rng);
    let crowd = crowd(&mut rng, 41);
    for level in SimdLevel::available() {
        in_any_batch::<Mat3x4>(&character, level, &crowd);
        in_any_batch::<DualQuat>(&character, level, &crowd);
        in_any_batch::<DualQuatStretch>(&character, level, &crowd);
    }
}

fn in_any_batch<E: PaletteEntry>(character: &Character, level: SimdLevel, crowd: &[Vec<Sample>]) {
    let palettes = |crowd: &[Vec<Sample>]| {
        let palettes = guarded::<E>(&mut Batch::new(character, level, crowd));
        let palettes = palettes.chunks(character.palette().len());
        let bytes = palettes.map(|entries| bytemuck::cast_slice::<_, u8>(entries).to_vec());
        bytes.collect::<Vec<_>>()
    };
    let all = palettes(crowd);
    for (first, count) in [(0, 1), (3, 2), (1, 7), (5, 11), (2, 17), (40, 1)] {
        let part = first..first + count;
        let got = palettes(&crowd[part.clone()]);
        assert!(got == all[part], "{first} {count}");
    }
    // Those that play the same at the same time are computed once.
    for (number, count) in [(4, 3), (1, 2), (2, 8), (3, 9), (7, 37)] {
        let got = palettes(&vec![crowd[number].clone(); count]);
        assert!(got == vec![all[number].clone(); count], "{number} {count}");
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
    ];
    for matrix3 in matrices {
        // One joint among valid ones. It must not change their palette entries.
        let mut model = vec![Affine3A::IDENTITY; 9];
        for odd in [1, 8] {
            let translation = Vec3A::new(0.3, -2.0, 5.0);
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

/// A model pose's palette has the projected entries, up to the sign of the quaternion.
fn same<E: PaletteEntry + Debug>(character: &Character, model: &[Affine3A]) {
    let mut want = vec![guard::<E>(); character.palette().len()];
    character
        .write_palette(model, WriteOnly::from(&mut want))
        .unwrap();
    for level in SimdLevel::available() {
        let mut batch = Batch::new(character, level, &[[]]);
        let mut actor = batch.animator.live_mut(batch.actors[0]);
        actor
            .set_pose(Pose::Model(model), &ShowPose::default())
            .unwrap();
        for (got, want) in guarded::<E>(&mut batch).iter().zip(&want) {
            let off = apart(got, want);
            assert!(off < APART, "{got:?} {want:?}: {off:e}");
        }
    }
}
