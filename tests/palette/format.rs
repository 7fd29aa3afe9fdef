//! Conversion between matrices and palette formats: exact, refused with an amount, or projected.

use crate::reference::rng::Rng;
use throng::error::Unrepresentable;
use throng::glam::{Affine3A, Mat3, Quat, Vec3};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset};

fn affine(scale: Vec3, rotation: Quat, translation: Vec3) -> Affine3A {
    Affine3A::from_scale_rotation_translation(scale, rotation, translation)
}

/// The largest difference of two matrices' elements, relative to the largest element.
fn apart(a: &Affine3A, b: &Affine3A) -> f32 {
    let (a, b) = (a.to_cols_array(), b.to_cols_array());
    let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    let largest = a.iter().fold(0.0_f32, |max, v| max.max(v.abs()));
    differences.fold(0.0, f32::max) / largest
}

/// The way from a matrix to a quaternion and back takes about twenty roundings of 2⁻²⁴.
const CONVERSION: f32 = 20.0 / 16_777_216.0;

#[test]
fn what_a_format_holds_comes_back() {
    let mut rng = Rng::new(41);
    for _ in 0..2000 {
        let (r, t) = (rng.rotation(), rng.vector(-5.0, 5.0));
        let rigid = affine(Vec3::ONE, r, t);
        let uniform = affine(Vec3::splat(rng.range(0.01, 9.0)), r, t);
        let stretched = affine(rng.vector(0.1, 4.0), r, t);
        let held = DualQuat::try_from_affine(&rigid).unwrap();
        assert!(apart(&rigid, &held.to_affine()) < CONVERSION);
        assert!((Quat::from_array(held.real).length() - 1.0).abs() < 1e-6);
        for matrix in [rigid, uniform] {
            let held = QuatOffset::try_from_affine(&matrix).unwrap();
            assert!(apart(&matrix, &held.to_affine()) < CONVERSION);
        }
        for matrix in [rigid, uniform, stretched] {
            let held = DualQuatStretch::try_from_affine(&matrix).unwrap();
            assert!(apart(&matrix, &held.to_affine()) < CONVERSION);
            assert_eq!(held.stretch[3], 0.0);
            let held = Mat3x4::try_from_affine(&matrix).unwrap();
            assert_eq!(PaletteEntry::to_affine(&held), matrix);
        }
    }
    assert_eq!(DualQuat::project(&Affine3A::IDENTITY), DualQuat::IDENTITY);
    assert_eq!(
        DualQuatStretch::project(&Affine3A::IDENTITY),
        DualQuatStretch::IDENTITY
    );
    assert_eq!(
        QuatOffset::project(&Affine3A::IDENTITY),
        QuatOffset::IDENTITY
    );
}

#[test]
fn what_a_format_cannot_hold_is_named_with_its_amount() {
    let r = Quat::from_rotation_y(0.7);
    let mirror = affine(Vec3::new(-2.0, 1.0, 1.0), r, Vec3::X);
    let fault = DualQuatStretch::try_from_affine(&mirror).unwrap_err();
    let is_minus_2 = |determinant: f32| (determinant + 2.0).abs() < 1e-5;
    assert!(matches!(fault, Unrepresentable::Flipped { determinant } if is_minus_2(determinant)));
    assert_eq!(QuatOffset::try_from_affine(&mirror).unwrap_err(), fault);

    let shear = affine(Vec3::new(1.0, 3.0, 1.0), Quat::IDENTITY, Vec3::ZERO)
        * Affine3A::from_quat(r * Quat::from_rotation_z(0.5));
    let fault = DualQuatStretch::try_from_affine(&shear).unwrap_err();
    assert!(
        matches!(fault, Unrepresentable::Shear { cosine } if cosine > 0.1 && cosine < 1.0),
        "{fault}"
    );

    let stretched = affine(Vec3::new(1.0, 2.0, 3.0), r, Vec3::X);
    let fault = QuatOffset::try_from_affine(&stretched).unwrap_err();
    assert!(
        matches!(
            fault,
            Unrepresentable::NonUniformScale { least, greatest }
                if (least - 1.0).abs() < 1e-5 && (greatest - 3.0).abs() < 1e-5
        ),
        "{fault}"
    );
    let scaled = affine(Vec3::splat(2.0), r, Vec3::X);
    let fault = DualQuat::try_from_affine(&scaled).unwrap_err();
    assert!(
        matches!(fault, Unrepresentable::Scale { greatest, .. } if (greatest - 2.0).abs() < 1e-5)
    );

    let flat = affine(Vec3::new(1.0, 0.0, 1.0), r, Vec3::X);
    let fault = DualQuatStretch::try_from_affine(&flat).unwrap_err();
    assert_eq!(
        fault,
        Unrepresentable::ZeroScale {
            axis: 1,
            scale: 0.0
        }
    );
    let gone = affine(Vec3::ZERO, r, Vec3::X);
    assert!(matches!(
        QuatOffset::try_from_affine(&gone),
        Err(Unrepresentable::ZeroScale { .. })
    ));

    let infinite = affine(Vec3::ONE, r, Vec3::new(f32::INFINITY, 0.0, 0.0));
    assert_eq!(
        DualQuat::try_from_affine(&infinite),
        Err(Unrepresentable::NotFinite)
    );
    assert!(
        Mat3x4::try_from_affine(&mirror).is_ok(),
        "matrices hold everything"
    );
}

#[test]
fn projections_are_finite_rotations_whatever_the_matrix() {
    let mut rng = Rng::new(43);
    let scales = [
        Vec3::ZERO,
        Vec3::new(0.0, 1.0, 1.0),
        Vec3::new(1.0, 0.0, 1.0),
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(0.0, 0.0, 2.0),
        Vec3::new(0.0, 2.0, 0.0),
        Vec3::new(2.0, 0.0, 0.0),
        Vec3::splat(-1.0),
        Vec3::new(1e-30, 1.0, 1e30),
        Vec3::splat(1e-38),
        Vec3::splat(1e38),
        Vec3::splat(f32::NAN),
        Vec3::new(1.0, f32::INFINITY, 1.0),
    ];
    let unit = |q: [f32; 4]| (Quat::from_array(q).length() - 1.0).abs() < 1e-6;
    for scale in scales {
        for _ in 0..100 {
            // Scaled, rotated, and sheared by another scale.
            let once = affine(scale, rng.rotation(), rng.vector(-1.0, 1.0));
            for matrix in [once, Affine3A::from_scale(scale) * once] {
                let (dual, stretch, offset) = (
                    DualQuat::project(&matrix),
                    DualQuatStretch::project(&matrix),
                    QuatOffset::project(&matrix),
                );
                assert!(unit(dual.real) && unit(stretch.rigid.real) && unit(offset.rotation));
                assert!(dual.dual.iter().all(|v| v.is_finite()), "{matrix:?}");
                assert!(stretch.stretch.iter().all(|v| v.is_finite() && *v >= 0.0));
                assert!(
                    offset.scale.is_finite() && offset.scale >= 0.0,
                    "{matrix:?}"
                );
                assert!(offset.offset.iter().all(|v| v.is_finite()));
            }
        }
    }
}

#[test]
fn a_projection_undoes_shear_and_mirror_as_documented() {
    let mut rng = Rng::new(47);
    for _ in 0..500 {
        let (r, t) = (rng.rotation(), rng.vector(-5.0, 5.0));
        let scale = rng.vector(0.2, 3.0);
        // The projection removes a flip from the third axis.
        let mirrored = affine(scale * Vec3::new(1.0, 1.0, -1.0), r, t);
        let held = DualQuatStretch::project(&mirrored);
        assert!(apart(&affine(scale, r, t), &held.to_affine()) < CONVERSION);
        // The projection of a sheared matrix keeps the first column and the plane of the second.
        let sheared = Affine3A::from_scale(rng.vector(0.5, 2.0)) * affine(Vec3::ONE, r, t);
        let held = Mat3::from_quat(Quat::from_array(DualQuat::project(&sheared).real));
        let m = Mat3::from(sheared.matrix3);
        assert!(held.x_axis.dot(m.x_axis.normalize()) > 1.0 - 1e-6);
        assert!(held.z_axis.dot(m.y_axis).abs() < 1e-5);
        assert!(held.y_axis.dot(m.y_axis) > 0.0);
    }
}
