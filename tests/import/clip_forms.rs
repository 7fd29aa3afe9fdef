//! The forms in which an import keeps clips: packed, as curves, or both.

use crate::reference::poser::Poser;
use crate::reference::random;
use crate::reference::words::{Fails, Says};
use std::sync::LazyLock;
use throng::builtin;
use throng::character::Character;
use throng::clip::{Clip, ClipOptions, CurveClip};
use throng::error::Error;
use throng::glam::Affine3A;
use throng::import::{ImportLimits, ImportOptions, RawCharacter};
use throng::palette::{PaletteFormat, SkinningMethod};
use throng::skeleton::Transform;

fn names(character: &Character) -> Vec<&str> {
    character.clips().iter().map(Clip::name).collect()
}

/// The built-in character with packed clips, with curves, and with both.
struct Forms {
    packed: Character,
    curves: Character,
    both: Character,
}

fn forms() -> &'static Forms {
    static FORMS: LazyLock<Forms> = LazyLock::new(|| {
        let with = |options| RawCharacter::mannequin().build(&options).unwrap().character;
        Forms {
            packed: builtin::mannequin().unwrap().character,
            curves: with(ImportOptions::curves_only()),
            both: with(with_curves()),
        }
    });
    &FORMS
}

fn packed_with(error_m: f32) -> ImportOptions {
    ImportOptions {
        packing: Some(ClipOptions {
            error_m: Some(error_m),
            ..ClipOptions::default()
        }),
        ..ImportOptions::default()
    }
}

#[test]
fn clips_are_packed_and_curves_are_kept_on_request() {
    let Forms {
        packed,
        curves,
        both,
    } = forms();
    assert_eq!(names(packed), ["Idle", "Walk", "Run", "Wave"]);
    assert!(packed.curves().is_empty());

    assert_eq!(both.clips(), packed.clips());
    let options = ClipOptions::default();
    for (clip, curve) in both.clips().iter().zip(both.curves()) {
        assert_eq!(clip.name(), curve.name());
        assert_eq!(clip.duration_s(), f64::from(curve.duration_s()));
        assert_eq!(*clip, Clip::new(both, curve, &options).unwrap());
    }

    assert!(curves.clips().is_empty());
    assert_eq!(curves.curves(), both.curves());
    // Each form answers to the same names, with the same index.
    for name in ["Idle", "Walk", "Run", "Wave"] {
        let index = packed.clip(name).unwrap().index();
        assert_eq!(both.clip(name).unwrap().index(), index);
        assert_eq!(curves.clip(name).unwrap().index(), index);
    }
    curves.clip("Jump").fails("…Idle, Walk, Run, Wave…");
}

#[test]
fn the_tolerance_of_packing_is_the_callers() {
    let fine = &forms().packed;
    let coarse = RawCharacter::mannequin()
        .build(&packed_with(0.01))
        .unwrap()
        .character;
    for (fine, coarse) in fine.clips().iter().zip(coarse.clips()) {
        assert!(coarse.report().error_m <= 0.01);
        assert!(
            coarse.report().bytes < fine.report().bytes,
            "{}",
            fine.name()
        );
    }
    for wrong in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let error = RawCharacter::mannequin()
            .build(&packed_with(wrong))
            .unwrap_err();
        assert!(matches!(error, Error::Argument { .. }), "{error}");
    }
}

/// A packed character has the poses of its clips. A character with curves has the poses of these.
#[test]
fn a_poser_takes_what_there_is() {
    let Forms {
        packed,
        curves,
        both,
    } = forms();
    let walk = packed.clip("Walk").unwrap().index();
    let (mut poser, mut exact) = (Poser::new(), Poser::new());
    let mut local = vec![Transform::IDENTITY; packed.skeleton().len()];
    let mut model = vec![Affine3A::IDENTITY; packed.skeleton().len()];
    for step in 0..50 {
        let time_s = 0.021 * f64::from(step);
        packed.clips()[walk].sample(time_s, &mut local).unwrap();
        packed.skeleton().model_pose(&local, &mut model).unwrap();
        assert_eq!(poser.pose(packed, Some((walk, time_s))).unwrap(), model);
        exact.pose(curves, Some((walk, time_s))).unwrap();
        poser.pose(both, Some((walk, time_s))).unwrap();
        assert_eq!(poser.model(), exact.model());
        // The bound of packing is for points 3 cm from a joint, and so for the joint itself.
        let error_m = packed.clips()[walk].report().error_m;
        for (packed, exact) in model.iter().zip(exact.model()) {
            let off = (packed.translation - exact.translation).length();
            // Between the measured times, it may be a little more.
            assert!(off <= 1.5 * error_m, "{off} of {error_m}");
        }
    }
}

/// Facts that depend on exact curves are found before the clips are packed.
///
/// The characters are random, with scales of either sign. Every fourth is quantised, which takes
/// most of the time.
#[test]
fn facts_about_curves_do_not_depend_on_the_form() {
    let mut flips = 0;
    for seed in 0..20 {
        let quantise = seed % 4 == 0;
        let options = ImportOptions {
            packing: Some(ClipOptions {
                quantise,
                ..ClipOptions::default()
            }),
            ..ImportOptions::default()
        };
        let built = |options| random::character(seed).build(options).unwrap().character;
        let packed = built(&options);
        let curves = built(&ImportOptions::curves_only());
        assert_eq!(packed.palette(), curves.palette());
        for (one, other) in packed.primitives().iter().zip(curves.primitives()) {
            let flips = |c: &Character, of| c.flipping_triangles(of);
            assert_eq!(flips(&packed, one), flips(&curves, other));
        }
        flips += packed.palette().iter().filter(|e| e.may_flip).count();
    }
    assert!(flips > 0, "no scale changes its sign");
}

#[test]
fn clips_that_join_take_the_form_of_the_others() {
    for (options, packed, kept) in [
        (ImportOptions::default(), 5, 0),
        (with_curves(), 5, 5),
        (ImportOptions::curves_only(), 0, 5),
    ] {
        let character = RawCharacter::mannequin().build(&options).unwrap().character;
        let nod = CurveClip::new("Nod", Vec::new(), character.skeleton()).unwrap();
        let more = character.with_clips(vec![nod]).unwrap();
        assert_eq!((more.clips().len(), more.curves().len()), (packed, kept));
        assert_eq!(more.clip("Nod").unwrap().index(), 4);
    }
}

/// A file's clips can be left out, to use those of other files alone.
#[test]
fn clips_in_neither_form_are_left_out() {
    let options = ImportOptions {
        packing: None,
        ..ImportOptions::default()
    };
    let unnamed = RawCharacter {
        animation: None,
        ..RawCharacter::mannequin()
    };
    let bare = unnamed.build(&options).unwrap().character;
    let packed = &forms().packed;
    assert_eq!(bare.skeleton(), packed.skeleton());
    assert_eq!((bare.clips().len(), bare.curves().len()), (0, 0));
    assert_eq!(
        Character::from_bytes(&bare.to_bytes(), &Default::default()).unwrap(),
        bare
    );

    let added = RawCharacter::mannequin().add_clips(&bare, &ImportOptions::default());
    assert_eq!(added.unwrap().clips(), packed.clips());

    let named = RawCharacter::mannequin().build(&options).unwrap_err();
    assert!(matches!(named, Error::Description { .. }), "{named}");
}

#[test]
fn methods_are_checked_against_the_packed_clips() {
    let Forms { packed, curves, .. } = forms();
    for method in [
        SkinningMethod::Linear,
        SkinningMethod::DualQuat,
        SkinningMethod::QuatOffset,
    ] {
        let of_packed = PaletteFormat::of(packed, method).unwrap();
        assert_eq!(of_packed, PaletteFormat::of(curves, method).unwrap());
    }
}

/// Packing takes memory for each joint of each clip, so it has its own cap. Curves have none.
#[test]
fn joints_of_packed_clips_are_capped() {
    let capped = |max_clip_joints, options| ImportOptions {
        limits: ImportLimits {
            clip_joints: max_clip_joints,
            ..ImportLimits::default()
        },
        ..options
    };
    // Four clips on 57 joints.
    assert!(
        RawCharacter::mannequin()
            .build(&capped(228, ImportOptions::default()))
            .is_ok()
    );
    let error = RawCharacter::mannequin()
        .build(&capped(227, ImportOptions::default()))
        .unwrap_err();
    error.to_string().says("…228 exceeds the limit of 227");
    assert!(
        RawCharacter::mannequin()
            .build(&capped(227, ImportOptions::curves_only()))
            .is_ok()
    );
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
