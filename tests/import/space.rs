//! The options for the up axis and the scale.

use crate::builder::arm;
use crate::help::options;
use crate::reference::words::Fails;
use crate::samples::{WGL_CLIP, WGL_MODEL, ezm_text, import_wgl, wgl_triangle};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{ImportOptions, Imported, RepairKind, UpAxis};

fn with(up: Option<UpAxis>, scale: f32) -> ImportOptions {
    ImportOptions {
        up,
        scale,
        ..options()
    }
}

/// Z up becomes Y up.
fn upright() -> Quat {
    Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2)
}

/// All positions of the model at these times of each clip, and at rest.
fn positions(character: &Character) -> Vec<Vec3> {
    let skeleton = character.skeleton();
    let mut all = Vec::new();
    let mut add = |pose: &[throng::skeleton::Transform]| {
        let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
        skeleton.model_pose(pose, &mut model).unwrap();
        all.extend(model.iter().map(|joint| Vec3::from(joint.translation)));
        let palette: Vec<Affine3A> = character
            .palette()
            .iter()
            .map(|entry| model[entry.joint.index()] * entry.inverse_bind)
            .collect();
        for primitive in character.primitives() {
            for position in &primitive.positions {
                let matrix = &palette[primitive.palette.start as usize];
                all.push(matrix.transform_point3(*position));
            }
        }
    };
    add(&skeleton.rest_pose());
    for clip in character.curves() {
        for step in 0..5 {
            let mut pose = skeleton.rest_pose();
            clip.sample(f64::from(step) * 0.25, &mut pose).unwrap();
            add(&pose);
        }
    }
    all
}

#[track_caller]
fn check(name: &str, plain: &Imported, converted: &Imported, by: impl Fn(Vec3) -> Vec3) {
    let (from, to) = (positions(plain), positions(converted));
    assert!(!from.is_empty() && from.len() == to.len(), "{name}");
    let size = to.iter().map(|p| p.length()).fold(0.0, f32::max);
    for (from, to) in from.into_iter().zip(to) {
        // Several products of rotations in 32 bits.
        assert!(
            by(from).abs_diff_eq(to, 1e-5 * size),
            "{name}: {} {to}",
            by(from)
        );
    }
    let scales = |of: &Imported| -> Vec<Vec3> {
        of.skeleton()
            .joints()
            .iter()
            .map(|joint| joint.rest.scale)
            .collect()
    };
    assert_eq!(
        scales(plain),
        scales(converted),
        "{name}: no joint gets a scale"
    );
}

#[test]
fn everything_turns_and_scales() {
    type Read<'a> = &'a dyn Fn(&ImportOptions) -> throng::Result<Imported>;
    let read: [(&str, Read<'_>); 3] = [
        ("ezm", &|options| {
            throng_import::bytes(ezm_text().as_bytes(), options)
        }),
        ("wgl", &|options| {
            import_wgl(WGL_MODEL.as_bytes(), &wgl_triangle(), options)
        }),
        ("glb", &|options| {
            throng_import::bytes(&arm().glb(), options)
        }),
    ];
    for (name, read) in read {
        let plain = read(&options()).unwrap();
        let turned = read(&with(Some(UpAxis::Z), 1.0)).unwrap();
        check(name, &plain, &turned, |p| upright() * p);
        let scaled = read(&with(None, 0.01)).unwrap();
        check(name, &plain, &scaled, |p| p * 0.01);
        let both = read(&with(Some(UpAxis::Z), 2.5)).unwrap();
        check(name, &plain, &both, |p| upright() * p * 2.5);
        let same = read(&with(Some(UpAxis::Y), 1.0)).unwrap();
        assert_eq!(same, plain, "{name}");
        // The format of glTF states an axis.
        let replaced = RepairKind::UpReplaced {
            stated: UpAxis::Y,
            up: UpAxis::Z,
        };
        let is_told = turned.repairs.iter().any(|repair| repair.kind == replaced);
        assert_eq!(is_told, name == "glb", "{name}");
    }
}

#[test]
fn added_clips_are_converted_too() {
    let read = |options: &ImportOptions| {
        let model = import_wgl(WGL_MODEL.as_bytes(), &wgl_triangle(), options).unwrap();
        let clip_options = ImportOptions {
            name: "c.wglanim".into(),
            ..options.clone()
        };
        throng_import::add_clips_bytes(&model, WGL_CLIP.as_bytes(), &clip_options).unwrap()
    };
    let plain = read(&options());
    assert_eq!(plain.curves().len(), 1);
    let converted = read(&with(Some(UpAxis::Z), 0.5));
    check("wgl", &plain, &converted, |p| upright() * p * 0.5);
    let differs = |of: &Imported| {
        let kinds = of.repairs.iter().map(|repair| &repair.kind);
        kinds
            .filter(|kind| matches!(kind, RepairKind::RestDiffers { .. }))
            .count()
    };
    assert_eq!(differs(&plain), differs(&converted));
}

#[test]
fn conversions_that_are_not_possible_are_errors() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-45] {
        throng_import::bytes(&arm().glb(), &with(None, scale)).fails("scale: …");
    }
    let saved = throng_import::bytes(&arm().glb(), &options())
        .unwrap()
        .to_bytes();
    assert!(throng_import::bytes(&saved, &with(Some(UpAxis::Y), 1.0)).is_ok());
    for (options, what) in [
        (with(Some(UpAxis::Z), 1.0), "up"),
        (with(None, 2.0), "scale"),
    ] {
        let error = throng_import::bytes(&saved, &options)
            .unwrap_err()
            .to_string();
        let words = "a saved character cannot be converted: import its file";
        assert_eq!(error, format!("{what}: {words}"));
    }
    // Numbers that become too large are errors, not infinities.
    let error = throng_import::bytes(&arm().glb(), &with(None, 1e38));
    assert!(error.is_err() || error.unwrap().rest_bounds().size().is_finite());
}
