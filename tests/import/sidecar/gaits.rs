//! Measured gaits.

use throng::Id;
use throng::builtin;
use throng::character::AnimationDesc;
use throng::clip::{Clip, ClipOptions};
use throng::import::{ImportOptions, RawCharacter};

/// The built-in character states its speeds, and the measured ones agree.
#[test]
fn what_is_measured_is_what_the_mannequin_says() {
    let measured = ImportOptions {
        animation: Some(AnimationDesc::default()),
        ..ImportOptions::default()
    };
    let measured = RawCharacter::mannequin().build(&measured).unwrap();
    let said = builtin::mannequin().unwrap();
    for name in ["Idle", "Walk", "Run", "Wave"] {
        let clip = said.clip(name).unwrap();
        match (said.gait(clip), measured.gait(clip)) {
            (Some(said), Some(measured)) => {
                let ratio = measured.speed_m_s / said.speed_m_s;
                assert!((0.9..1.1).contains(&ratio), "{name}: {ratio}");
                let heading = measured.heading_rad;
                assert!(heading.abs() < 0.05, "{name}: {heading}");
            }
            (None, None) => {}
            (said, measured) => panic!("{name}: {said:?}, measured {measured:?}"),
        }
    }
}

/// The heading follows the direction of the model in the file.
#[test]
fn headings_turn_with_the_model() {
    use throng::glam::{Mat4, Quat};
    use throng::import::RawNode;
    use throng::skeleton::Transform;
    let turn = 0.9;
    let mut raw = RawCharacter::mannequin();
    raw.animation = None;
    let root = RawNode {
        name: "turned".into(),
        parent: None,
        transform: Transform::IDENTITY,
        matrix: Some(Mat4::from_quat(Quat::from_rotation_y(turn))),
    };
    let above = raw.nodes.len();
    for node in &mut raw.nodes {
        node.parent.get_or_insert(above);
    }
    raw.nodes.push(root);
    let turned = raw.build(&ImportOptions::default()).unwrap();
    let gait = turned.gait(turned.clip("Walk").unwrap()).unwrap();
    assert!((gait.heading_rad - turn).abs() < 0.05, "{gait:?}");
}

/// Every clip that walks or runs has a gait, and no other. "Throw" slides a foot once.
#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn models_walk_and_run_at_these_speeds() {
    let expected: [(&str, &[(&str, f32)]); 3] = [
        ("CesiumMan.glb", &[("", 0.79)]),
        ("Fox.glb", &[("Walk", 122.4), ("Run", 321.5)]),
        (
            "Knight.glb",
            &[
                ("Running_A", 4.59),
                ("Running_B", 2.92),
                ("Running_Strafe_Left", 4.51),
                ("Running_Strafe_Right", 4.51),
                ("Walking_A", 0.897),
                ("Walking_B", 0.849),
                ("Walking_Backwards", 0.896),
                ("Walking_C", 0.579),
            ],
        ),
    ];
    let options = ImportOptions {
        packing: Some(ClipOptions {
            quantise: false,
            ..ClipOptions::default()
        }),
        ..ImportOptions::default()
    };
    for path in crate::reference::assets::files() {
        let file = path.file_name().and_then(|name| name.to_str());
        let Some((name, gaits)) = expected.iter().find(|(name, _)| Some(*name) == file) else {
            continue;
        };
        let model = throng_import::file(&path, &options).unwrap();
        let gait = |(number, clip): (usize, &Clip)| {
            let gait = model.gait(Id::new(number as u16))?;
            Some((clip.name().to_owned(), gait.speed_m_s))
        };
        let found: Vec<_> = model.clips().iter().enumerate().filter_map(gait).collect();
        assert_eq!(found.len(), gaits.len(), "{name}: {found:?}");
        for ((clip, speed), (wanted, wanted_speed)) in found.iter().zip(*gaits) {
            assert_eq!(clip, wanted, "{name}");
            assert!((speed / wanted_speed - 1.0).abs() < 0.01, "{clip}: {speed}");
        }
    }
}
