//! Measured gaits.

use throng::builtin;
use throng::character::AnimationDesc;
use throng::import::ImportOptions;

/// The built-in character states its speeds, and the measured ones agree.
#[test]
fn what_is_measured_is_what_the_mannequin_says() {
    let measured = ImportOptions {
        animation: Some(AnimationDesc::default()),
        ..ImportOptions::default()
    };
    let measured = builtin::mannequin_with(&measured).unwrap();
    let said = builtin::mannequin().unwrap();
    for name in ["Idle", "Walk", "Run", "Wave"] {
        let clip = said.clip(name).unwrap();
        match (
            said.animations().gait(clip),
            measured.animations().gait(clip),
        ) {
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
    use throng::import::{RawNode, RawTransform};
    let turn = 0.9;
    let mut raw = builtin::raw();
    let root = RawNode {
        name: "turned".into(),
        parent: None,
        transform: RawTransform::Matrix(Mat4::from_quat(Quat::from_rotation_y(turn))),
    };
    let above = raw.nodes.len();
    for node in &mut raw.nodes {
        node.parent.get_or_insert(above);
    }
    raw.nodes.push(root);
    let turned = raw.build(&ImportOptions::default()).unwrap();
    let gait = turned
        .animations()
        .gait(turned.clip("Walk").unwrap())
        .unwrap();
    assert!((gait.heading_rad - turn).abs() < 0.05, "{gait:?}");
}
